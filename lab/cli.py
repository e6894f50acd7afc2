"""The `hitlab` command: reads the command line, runs one command, turns what went wrong into a sentence.

Exit codes: 0 done (whatever the score), 1 refused, 2 usage, 3 done in part.
"""

from __future__ import annotations

import argparse
import io
import math
import os
import sys
from collections.abc import Sequence
from typing import TypeAlias

from lab.errors import LabError

EXAMPLES = """\
examples:
  hitlab                                    the lab itself: runs, tasks, devices
  hitlab demo                               one episode on the embedded phone; you are the user
  hitlab live usual_lunch --headless        the same without a screen, a script answers
  hitlab run --all --attempts 3             an agent over every task, three times each: pass@k
  hitlab import runs/ --db study.db         bring in KnowU-Bench or MobileWorld runs
  hitlab replay 019a@7                      a run, opened at step 7
  hitlab traces --json | jq '.[].score'     one JSON document, from each command that prints
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    _ready_streams()
    parser = build_parser()
    args = parser.parse_args(argv)
    try:
        from importlib import import_module

        module, _, function = (args.run or "lab.commands.runs:home").partition(":")
        code: int = getattr(import_module(module), function)(args)
        sys.stdout.flush()
        return code
    except LabError as error:
        return _refuse(error, as_json=getattr(args, "json", False))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _drop_output()
        return 0
    except OSError as error:
        _drop_output()
        what = str(error.filename or "standard output")
        return _refuse(LabError(what, f"cannot be used ({error.strerror})."), as_json=False)


def _ready_streams() -> None:
    """A closed standard output takes nothing; a character that an encoding lacks is written as its number."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """What is still buffered goes nowhere, so that leaving does not fail on it again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse(error: LabError, *, as_json: bool) -> int:
    from lab.plain import plain

    print(f"hitlab: {plain(error.sentence, lines=False)}", file=sys.stderr)
    if as_json:
        from lab.output import Refused, print_json

        print_json(Refused(error.title, error.message, error.hint))
    return error.code


def build_parser() -> argparse.ArgumentParser:
    """The parser with every command; it imports nothing that a command needs."""
    parser = argparse.ArgumentParser(
        prog="hitlab",
        description="A terminal lab for the humans in the loop of mobile GUI agents.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    parser.set_defaults(run=None)
    _database(parser)
    _window(parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _run_commands(commands)
    _batch_commands(commands)
    _debug_commands(commands)
    _demonstration_command(commands)
    _record_commands(commands)
    _export_command(commands)
    _review_command(commands)
    _privacy_command(commands)
    _author_command(commands)
    _device_command(commands)
    _devices_command(commands)
    _phone_command(commands)
    _about_commands(commands)
    return parser


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"hitlab {version('hitlab')}")
        parser.exit()


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _command(commands: Commands, name: str, run: str, help: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=help, description=help)
    parser.set_defaults(run=run)
    _database(parser)
    return parser


def _database(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--db", metavar="PATH", default=argparse.SUPPRESS, help="the database file")


def _window(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--window",
        action="store_true",
        default=argparse.SUPPRESS,
        help="also show the pictures on a page of this machine, for a browser beside the terminal",
    )


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print exactly one JSON document")


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return value


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to 1")
    return value


def _run_commands(commands: Commands) -> None:
    demo = _command(commands, "demo", "lab.commands.runs:demo", "run one episode on the embedded phone")
    _window(demo)
    demo.add_argument("--headless", action="store_true", help="no screen: a script answers; print the result")
    _json(demo)

    live = _command(commands, "live", "lab.commands.runs:live", "run a task: an agent works, a person answers")
    live.add_argument("task", nargs="?", metavar="TASK", help="a built-in task's name or a task file")
    live.add_argument("--resume", metavar="ID", help="go on with an open run: phone, dialogue and draft as they were")
    live.add_argument(
        "--agent", metavar="NAME", help="rule (default), model:NAME, model+memory:NAME, process:COMMAND, recorded:ID"
    )
    live.add_argument("--user", metavar="WHO", help="human (default on a screen), script, or script:FILE")
    live.add_argument("--persona", metavar="NAME", help="another persona: a built-in name or a profile file")
    live.add_argument("--log", choices=("clean", "noise", "none"), help="which history the agent sees")
    live.add_argument("--gate", choices=("pass", "ask"), help="ask: each action waits for your word")
    live.add_argument("--seat", choices=("participant", "developer"), help="who sits here, and so what is shown")
    live.add_argument("--as", dest="person", metavar="CODE", help="your study code (never a name)")
    _window(live)
    live.add_argument("--no-mirror", action="store_true", help="the person does not see the phone (recorded)")
    _phone(live)
    live.add_argument("--seed", type=int, metavar="N", help="shuffles the phone's menus and lists (default 0)")
    live.add_argument("--vary", type=int, metavar="N", help="the task in another world: names and prices by this seed")
    live.add_argument("--pace", type=_seconds, metavar="S", help="least seconds between two turns")
    live.add_argument("--headless", action="store_true", help="no screen; print the result")
    _breaks(live)
    output = live.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print exactly one JSON document")
    output.add_argument("--events", action="store_true", help="print each event as a JSON line after its commit")

    replay = _command(commands, "replay", "lab.commands.runs:replay", "play a run back, step by step")
    _window(replay)
    replay.add_argument("run_id", metavar="ID[@STEP]", help="a run's id or its beginning, and the step to open at")


def _batch_commands(commands: Commands) -> None:
    run = _command(commands, "run", "lab.commands.batch:run", "run an agent over many tasks: passes, pass@k, cost")
    run.add_argument("tasks", nargs="*", metavar="TASK", help="built-in tasks' names or task files")
    run.add_argument("--all", action="store_true", help="every built-in task")
    kinds = ("general", "personalized", "proactive")
    run.add_argument("--kind", dest="kinds", action="append", choices=kinds, help="only these (may be given again)")
    run.add_argument(
        "--agent",
        default="rule",
        metavar="NAME",
        help="rule (default), model:NAME, model+memory:NAME, process:COMMAND, recorded:ID",
    )
    run.add_argument("--user", default="script", metavar="WHO", help="script (default: the task's own) or script:FILE")
    run.add_argument("--persona", metavar="NAME", help="another persona: a built-in name or a profile file")
    run.add_argument("--log", choices=("clean", "noise", "none"), help="which history the agent sees")
    run.add_argument("--attempts", type=int, default=1, metavar="K", help="runs per task (default 1)")
    run.add_argument("--until-pass", action="store_true", help="no more attempts at a task once one passed")
    _phone(run)
    run.add_argument("--seed", type=int, metavar="N", help="shuffles the phone's menus and lists (default 0)")
    run.add_argument("--vary", type=int, metavar="N", help="the tasks in another world: names and prices by this seed")
    run.add_argument("--fail-under", type=_share, metavar="X", help="exit 1 where pass@K is under X (0 to 1)")
    _json(run)


def _phone(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--device", metavar="SERIAL", help="a phone's serial or HOST:PORT, as `hitlab devices` lists it; or embedded"
    )
    parser.add_argument(
        "--harness", metavar="URL", help="a served phone's harness, which resets and scores it (see `hitlab phone`)"
    )


def _breaks(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--break", dest="breaks", action="append", metavar="WHERE",
        help="stand still before step:7, action:input_text, app:NAME, text:WORDS or ask (may be given again)",
    )  # fmt: skip


def _debug_commands(commands: Commands) -> None:
    fork = _command(commands, "fork", "lab.commands.debugging:fork", "go on from a step of a run in another way")
    fork.add_argument("place", metavar="ID@STEP", help="a run, and the step (from 1) that is to go otherwise")
    fork.add_argument("--say", metavar="TEXT", help="another reply to the question of that step")
    decision = fork.add_mutually_exclusive_group()
    decision.add_argument("--accept", dest="decision", action="store_const", const="accept", help="accept the proposal")
    decision.add_argument("--reject", dest="decision", action="store_const", const="reject", help="reject the proposal")
    fork.add_argument("--action", metavar="JSON", help="another action, as `hitlab schema action` says")
    fork.add_argument("--agent", metavar="NAME", help="another agent, which proposes from that step on")
    fork.add_argument("--persona", metavar="NAME", help="another persona: a built-in name or a profile file")
    fork.add_argument("--log", choices=("clean", "noise", "none"), help="another history for the agent to see")
    fork.add_argument("--user", metavar="WHO", help="who answers from there on: human, script, or script:FILE")
    fork.add_argument("--gate", choices=("pass", "ask"), help="ask: each action waits for your word")
    fork.add_argument("--as", dest="person", metavar="CODE", help="your study code (never a name)")
    fork.add_argument("--pace", type=_seconds, metavar="S", help="least seconds between two turns")
    fork.add_argument("--headless", action="store_true", help="no screen; print the result")
    _breaks(fork)
    _json(fork)

    family = _command(commands, "family", "lab.commands.debugging:family", "list the runs forked from one another")
    family.add_argument("run_id", metavar="ID", help="any run of the family: its id or its beginning")
    _json(family)


def _demonstration_command(commands: Commands) -> None:
    record = _command(commands, "record", "lab.commands.recording:record", "record how you do it: a demonstration")
    record.add_argument("task", nargs="?", metavar="TASK", help="a built-in task's name or a task file")
    record.add_argument("--resume", metavar="ID", help="go on with an open recording")
    record.add_argument("--intent", metavar="TEXT", help="what you want to do, in one sentence (else it is asked for)")
    record.add_argument(
        "--place", metavar="CATEGORY", help="the kind of place you are in: residence, office, school ..."
    )
    record.add_argument("--quick", action="store_true", help="each touch acts at once, with a suggested instruction")
    record.add_argument("--seat", choices=("participant", "designer", "developer"), help="who sits here")
    record.add_argument("--as", dest="person", metavar="CODE", help="your study code (never a name)")
    _phone(record)


def _record_commands(commands: Commands) -> None:
    traces = _command(commands, "traces", "lab.commands.records:traces", "list the runs in a database")
    traces.add_argument("--limit", type=int, metavar="N", help="only the newest N")
    _json(traces)

    show = _command(commands, "show", "lab.commands.records:show", "print one run")
    show.add_argument("run_id", metavar="ID", help="a run's id or its beginning")
    _json(show)

    bring = _command(commands, "import", "lab.commands.records:bring", "bring in recorded runs")
    bring.add_argument("paths", nargs="+", metavar="PATH", help="folders or files; runs are found inside folders")
    bring.add_argument("--format", choices=("knowu", "jsonl"), help="read as this format instead of detecting it")
    _json(bring)

    pack = _command(commands, "pack", "lab.commands.records:pack", "copy a database whole, safe while it is in use")
    pack.add_argument("out", metavar="OUT.db", help="the copy; must not exist")
    pack.add_argument("--no-images", action="store_true", help="leave the screenshots out")
    _json(pack)


def _export_command(commands: Commands) -> None:
    export = _command(commands, "export", "lab.commands.exporting:export", "write whole runs into a folder")
    export.add_argument("run_ids", nargs="*", metavar="ID", help="runs' ids or their beginnings")
    export.add_argument("--all", action="store_true", help="every run (with --reviewed: every demonstration)")
    export.add_argument("--out", required=True, metavar="FOLDER", help="the folder; must not exist")
    export.add_argument("--format", default="jsonl", choices=("jsonl",), help="jsonl: our own, complete (default)")
    export.add_argument("--reviewed", action="store_true", help="demonstrations with what proofreaders agreed on")
    _json(export)


def _review_command(commands: Commands) -> None:
    review = _command(commands, "review", "lab.commands.reviewing:review", "proofread demonstrations, two by two")
    review.add_argument("run_id", nargs="?", metavar="ID", help="a demonstration: its id or its beginning")
    review.add_argument("--as", dest="person", metavar="CODE", help="your study code (never a name)")
    act = review.add_mutually_exclusive_group()
    act.add_argument("--list", action="store_true", help="every demonstration's state, and edit rates per annotator")
    act.add_argument("--show", action="store_true", help="print it as you may see it")
    act.add_argument("--accept", metavar="STEP", help="accept a step, `whole`, or `all` that you have not looked at")
    act.add_argument("--edit", nargs=3, metavar=("STEP", "FIELD", "VALUE"),
                     help="instruction or action (JSON) of a step; intent, place or impossible of `whole`")  # fmt: skip
    act.add_argument("--reject", nargs=2, metavar=("STEP", "REASON"), help="refuse a step, or `whole`")
    act.add_argument("--settle", nargs=3, metavar=("STEP", "FIELD", "VALUE"),
                     help="as a third person: what stands where two differ")  # fmt: skip
    review.add_argument("--note", metavar="TEXT", help="with --settle: why")
    review.add_argument("--commit", action="store_true", help="hand it in: nothing in it changes any more")
    _json(review)


def _privacy_command(commands: Commands) -> None:
    privacy = _command(commands, "privacy", "lab.commands.privacy:privacy", "take out of runs what is private")
    privacy.add_argument("run_id", nargs="?", metavar="ID", help="a run: its id or its beginning")
    privacy.add_argument("--as", dest="person", metavar="CODE", help="your study code (never a name)")
    privacy.add_argument("--box", dest="boxes", nargs=2, action="append", metavar=("STEP", "L,T,R,B"),
                         help="cover this part of a step's screen, in pixels (may be given again)")  # fmt: skip
    privacy.add_argument(
        "--text", dest="texts", action="append", metavar="WORDS", help="cover these words all over the run"
    )
    privacy.add_argument("--everywhere", action="store_true", help="also in other runs that hold the same pictures")
    privacy.add_argument("--clear", action="store_true", help="say that it now holds nothing private")
    act = privacy.add_mutually_exclusive_group()
    act.add_argument("--list", action="store_true", help="demonstrations that nobody has cleared")
    act.add_argument("--show", action="store_true", help="print what looks private in it")
    act.add_argument("--wipe", action="store_true", help="rewrite the file, where another program kept it open before")
    _json(privacy)


def _author_command(commands: Commands) -> None:
    author = _command(commands, "author", "lab.commands.authoring:author", "draft, verify and freeze a task's design")
    author.add_argument("target", nargs="?", metavar="TASK|ID", help="a task's name or file, or a run of it")
    author.add_argument("--run", dest="run_id", metavar="ID", help="the run to look at (default: the newest)")
    author.add_argument("--as", dest="person", metavar="CODE", help="your study code (never a name)")
    act = author.add_mutually_exclusive_group()
    act.add_argument("--show", action="store_true", help="print the design, what is wrong with it, and its history")
    act.add_argument("--list", action="store_true", help="list the designs in the database")
    act.add_argument("--begin", choices=("task", "golden", "run"), help="a draft from what is there already")
    act.add_argument("--draft", metavar="FILE", help="lay tdg, branches, units or rubric from a YAML file into a draft")
    act.add_argument("--submit", action="store_true", help="hand the draft to another person")
    act.add_argument("--verify", action="store_true", help="freeze what another person submitted")
    act.add_argument("--object", dest="objection", metavar="WORDS", help="send it back and say why")
    act.add_argument("--reopen", action="store_true", help="take it back into a draft; a frozen one as a new version")
    act.add_argument("--settle", metavar="REVISION", help="say which of two drafts made at once stands")
    act.add_argument("--out", metavar="FILE", help="write the frozen design as YAML that a task file can hold")
    author.add_argument("--even-draft", action="store_true", help="with --out: write it as it stands, frozen or not")
    _json(author)


def _device_command(commands: Commands) -> None:
    device = commands.add_parser("device", help="what a real phone needs", description="what a real phone needs")
    needs = device.add_subparsers(title="commands", metavar="WHAT", required=True)
    scrcpy = _command(needs, "scrcpy", "lab.commands.scrcpy:fetch", "fetch scrcpy's server: fast pictures, any text")
    scrcpy.add_argument("--version", metavar="V", help="3.3.4 (default), 3.3.3, 4.0 or 4.1")
    scrcpy.add_argument("--base", metavar="URL", help=argparse.SUPPRESS)
    _json(scrcpy)


def _devices_command(commands: Commands) -> None:
    _json(_command(commands, "devices", "lab.commands.devices:devices", "list the phones that adb has on the line"))


def _phone_command(commands: Commands) -> None:
    phone = _command(commands, "phone", "lab.commands.serving:phone", "serve the embedded phone, as a phone for adb")
    phone.add_argument("--adb-port", type=_port, default=0, metavar="N", help="adb's port of it (default: a free one)")
    phone.add_argument("--harness-port", type=_port, default=0, metavar="N", help="its harness's (default: a free one)")
    phone.add_argument("--task", metavar="TASK", help="laid out for this task: a built-in name or a task file")
    phone.add_argument("--persona", metavar="NAME", help="without a task: this persona's phone")
    phone.add_argument("--seed", type=int, metavar="N", help="shuffles the phone's menus and lists (default 0)")
    phone.add_argument("--vary", type=int, metavar="N", help="in another world: names and prices by this seed")
    _json(phone)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) < 1 << 16):
        raise argparse.ArgumentTypeError(f"{text!r} is no port from 0 to 65535")
    return int(text)


def _about_commands(commands: Commands) -> None:
    for name, help in (
        ("tasks", "list the built-in tasks, or check task files"),
        ("personas", "list the built-in personas, or check profiles"),
    ):
        lists = _command(commands, name, f"lab.commands.about:{name}", help)
        lists.add_argument("files", nargs="*", metavar="FILE", help="check and list these instead")
        _json(lists)
    _json(_command(commands, "where", "lab.commands.about:where", "say where everything is kept"))
    _json(_command(commands, "doctor", "lab.commands.about:doctor", "check this machine, terminal and database"))
    schema = _command(commands, "schema", "lab.commands.about:schema", "print a JSON Schema of an input or output")
    schema.add_argument("name", nargs="?", metavar="NAME", help="which one; without it, the names")
    _json(schema)


if __name__ == "__main__":
    sys.exit(main())
