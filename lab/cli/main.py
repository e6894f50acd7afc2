"""The `hitlab` command: parses the command line, runs one command, turns errors into sentences.

Exit codes: 0 done (whatever the score), 1 refused, 2 usage, 3 done in part.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from contextlib import suppress
from importlib import import_module

from lab.cli.arguments import Arguments, Command, Parser, as_written
from lab.core.errors import LabError

# Not from `typing`, whose import --help would pay for. Type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EXAMPLES = """\
examples:
  hitlab                                the lab itself: runs, tasks, devices
  hitlab demo                           one episode; you are the user
  hitlab live task.yaml --device R58M   a task on your own phone, over adb
  hitlab run --all --attempts 3         an agent over every task: pass@k
  hitlab import runs/ --db study.db     the runs you have, of fifteen formats
  hitlab replay 019a@7                  a run, opened at step 7
  hitlab metrics --by agent             the five papers' numbers, with their n
  hitlab agreement tdg                  how far the raters of a study agree
"""

COMMANDS = (
    ("demo", "run one episode on the embedded phone", "live"),
    ("live", "run a task: an agent works, a person answers", "live"),
    ("run", "run an agent over many tasks: passes, pass@k, cost", "batch"),
    ("fork", "go on from a step of a run in another way", "fork"),
    ("record", "record how you do it: a demonstration", "record"),
    ("replay", "play a run back, step by step", "live"),
    ("traces", "list the runs in a database", "runs"),
    ("runs", "a table of runs: filtered, sorted, in groups", "runs"),
    ("tag", "put tags on runs and take them off; list the tags", "run_acts"),
    ("rename-agent", "name the agent of runs anew: a correction of an import", "run_acts"),
    ("archive", "take runs out of the lists; nothing is lost", "run_acts"),
    ("restore", "bring archived runs back", "run_acts"),
    ("show", "print one run", "runs"),
    ("compare", "two runs side by side, step by step", "compare"),
    ("family", "list the runs forked from one another", "fork"),
    ("metrics", "compute the five papers' numbers over stored runs", "metrics"),
    ("read", "read the words in pictures whose phone said none", "read"),
    ("review", "proofread demonstrations, two by two", "review"),
    ("privacy", "take out of runs what is private", "privacy"),
    ("author", "draft, verify and freeze a task's design", "author"),
    ("protocols", "what raters can be asked; or check a file", "protocols"),
    ("study", "plan, deal and follow studies", ""),
    ("serve", "serve studies to browsers, each person by a link", "serve"),
    ("answer", "answer as the user of any benchmark that takes a base URL", "answer"),
    ("label", "write answers from JSON lines, by the rules of the screen", "label"),
    ("judge", "have a language model judge a study, as one more rater", "judge"),
    ("labels", "print the answers of a study", "labels"),
    ("adjudicate", "settle what raters disagree on, with a reason", "adjudicate"),
    ("agreement", "how far a study's raters agree, each number with its n", "agreement"),
    ("raters", "each rater's pace, drift and agreement", "agreement"),
    ("report", "a study's tables in the paper's own form, to publish", "report"),
    ("withdraw", "a person withdraws: all that is theirs is erased", "withdraw"),
    ("import", "bring in recorded runs", "files"),
    ("export", "write whole runs into a folder", "files"),
    ("merge", "bring copies of a file together into one", "merge"),
    ("pack", "copy a database whole, safe while it is in use", "files"),
    ("device", "what a real phone needs", ""),
    ("devices", "list the phones that adb has on the line", "devices"),
    ("phone", "serve the embedded phone, as a phone for adb", "devices"),
    ("tasks", "list the built-in tasks, or check task files", "about"),
    ("personas", "list the built-in personas, or check profiles", "about"),
    ("where", "say where everything is kept", "about"),
    ("keys", "list every binding: its id, its keys, what it does", "about"),
    ("doctor", "check this machine, terminal and database", "doctor"),
    ("schema", "print a JSON Schema of an input or output", "schemas"),
    ("completion", "print what makes a shell complete commands and names (Tab)", "completion"),
)
"""Every command in the order of `--help`: its name, its help and its module (empty: it has subcommands).

Only the module of the typed command is imported. Its `add_NAME` defines the arguments.
"""

HEADINGS = {
    "demo": "make runs",
    "replay": "work with runs",
    "review": "demonstrations and designs",
    "protocols": "studies",
    "import": "the file",
    "device": "phones",
    "tasks": "the lab itself",
}
"""Headings in `--help`, by the first command below each."""

STUDY = (
    ("new", "freeze a study: who is asked what of which runs", "study_new"),
    ("extend", "add runs to a running study, as its next version; what was answered counts", "study_extend"),
    ("deal", "deal a study's runs to its raters, each in an order of their own", "study_deal"),
    ("status", "how far studies are, or everybody in one", "study_status"),
    ("watch", "watch studies under way: pace, time left, stragglers, disagreement", "study_watch"),
    ("show", "print a study's plan", "study_status"),
    ("open", "rate or play in a study, from the exact place where you left it", "study_play"),
    ("play", "play what is left to a script or a model, headless", "study_play"),
    ("runs", "what was played: who, under which condition, how", "study_runs"),
    ("lock", "close a study: nothing in it changes any more", "study_deal"),
    ("archive", "take a study out of the lists, as one made by mistake; nothing is lost", "study_deal"),
    ("restore", "bring an archived study back", "study_deal"),
    ("replace", "a rater leaves: what is left is dealt to another", "study_deal"),
    ("release", "let a rater go on who was held after the pilot", "study_deal"),
    ("links", "a link for each person, by which a browser opens their room", "study_links"),
    ("kit", "a file with what one rater may see, to rate elsewhere", "study_kits"),
    ("take", "take a kit's work back in, all of it or nothing", "study_kits"),
)
"""The commands of `study`, in the same form. `add_study_NAME` defines the arguments."""

DEVICE = (("scrcpy", "fetch scrcpy's server: fast pictures, any text", "devices"),)
"""The command of `device`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code, or answer a shell's completion request (Tab)."""
    if argv is None and "_ARGCOMPLETE" in os.environ:
        from lab.cli.name_completion import complete

        complete(build_parser())
    _ready_streams()
    try:
        return _run(argv)
    except ImportError:
        # A module of another package or of the working folder may hide one of hitlab's own.
        from lab.cli.doctor import shadowing

        shadows = shadowing()
        if not shadows:
            raise
        return _refuse(LabError(shadows[0].name, f"{shadows[0].found}.", shadows[0].do), as_json=False)


def _with_file(argv: Sequence[str]) -> Sequence[str]:
    """Return the command line. A file in place of a command becomes --db FILE."""
    first = argv[0] if argv else "-"
    known = first.startswith("-") or first in {command[0] for command in COMMANDS}
    return argv if known or not os.path.isfile(first) else ["--db", *argv]


def _run(argv: Sequence[str] | None) -> int:
    parser, args = build_parser(), Arguments()
    try:
        parser.parse_args(_with_file(sys.argv[1:] if argv is None else argv), args)
        _apply_file_mode()
        code = args.run(args) if args.run is not None else _home(parser, args)
        sys.stdout.flush()
        return code
    except LabError as error:
        return _refuse(error, as_json=args.json)
    except KeyboardInterrupt:
        # 128 + SIGINT, as shells report it.
        return 130
    except BrokenPipeError:
        # The reader of a pipe has had enough, such as `head`: not an error.
        _drop_output()
        return 0
    except OSError as error:
        _drop_output()
        what = str(error.filename or "standard output")
        return _refuse(LabError(what, f"cannot be used ({error.strerror})."), as_json=False)


def _apply_file_mode() -> None:
    """Apply the setting `file_mode`. Broken settings are left to the command that needs them to report."""
    from lab.core.made_files import set_file_mode
    from lab.core.settings import load

    with suppress(LabError):
        set_file_mode(load().file_mode)


def _ready_streams() -> None:
    """Replace closed output streams, and let them escape characters that their encoding lacks."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Redirect buffered output to nowhere, so that the exit does not fail on it again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse(error: LabError, *, as_json: bool) -> int:
    from lab.cli.output import Refused, print_json, warn

    warn(error.sentence)
    if as_json:
        print_json(Refused(error.title, error.message, error.hint))
    return error.code


def _home(parser: Parser, args: Arguments) -> int:
    """Open Home, or print the help without a terminal."""
    from lab.cli.app import has_terminal, is_dumb, no_terminal, show_home

    if has_terminal():
        return show_home(args.db, args.window)
    if is_dumb() and sys.stdin.isatty() and sys.stdout.isatty():
        hint = "Commands that print work here: `hitlab runs`, `hitlab show ID`; `hitlab --help` lists them."
        raise LabError("screens", f"{no_terminal()}.", hint)
    parser.print_help()
    return 0


def build_parser() -> Parser:
    """Return the parser with every command by name and help. A typed command adds its own arguments."""
    parser = Parser(
        prog="hitlab",
        description="A terminal lab for the humans in the loop of mobile GUI agents.\n"
        "`hitlab COMMAND --help` says what a command takes, with examples.",
        epilog=EXAMPLES,
        formatter_class=as_written,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    parser.database()
    parser.window()
    _add(parser, "COMMAND", COMMANDS)
    for group, commands in (("study", STUDY), ("device", DEVICE)):
        parser.elsewhere |= {name: f"{group} {name}" for name, _, _ in commands}
    return parser


def _add(parser: Parser, metavar: str, commands: tuple[tuple[str, str, str], ...], prefix: str = "") -> None:
    """Add commands to a parser, each listed under the last heading before it."""
    subparsers = parser.add_subparsers(metavar=metavar, required=bool(prefix), parser_class=Command)
    section = parser.add_argument_group("commands")
    for name, help, module in commands:
        if not prefix and name in HEADINGS:
            section = parser.add_argument_group(HEADINGS[name])
        command = subparsers.add_parser(name, help=help, description=help)
        command.fill = _filled_by(module, f"add_{prefix}{name}".replace("-", "_")) if module else _GROUPS[name]
        # argparse has no headings for subcommands: the last pseudo-action goes into the section's group.
        section._group_actions += subparsers._choices_actions[-1:]


def _filled_by(module: str, name: str) -> Callable[[Parser], None]:
    def fill(parser: Parser) -> None:
        getattr(import_module(f"lab.cli.{module}"), name)(parser)

    return fill


def _study(parser: Parser) -> None:
    parser.description = "plan and follow studies"
    parser.examples(
        """\
  hitlab study new tdg --runs all --raters R1,R2,R3 --overlap 3
  hitlab study deal tdg
  hitlab study open tdg --as R1        rate, from where you left it
  hitlab study status tdg              who has how much left
"""
    )
    _add(parser, "WHAT", STUDY, "study_")


def _device(parser: Parser) -> None:
    parser.examples("  hitlab device scrcpy          once, where a phone's pictures come slowly\n")
    _add(parser, "WHAT", DEVICE, "device_")


_GROUPS: dict[str, Callable[[Parser], None]] = {"study": _study, "device": _device}


class _Version(argparse.Action):
    """Looks up the version only on request, since that import is slow."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"hitlab {version('hitlab')}", flush=True)
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
