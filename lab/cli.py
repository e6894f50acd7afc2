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
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _run_commands(commands)
    _record_commands(commands)
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


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print exactly one JSON document")


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return value


def _run_commands(commands: Commands) -> None:
    demo = _command(commands, "demo", "lab.commands.runs:demo", "run one episode on the embedded phone")
    demo.add_argument("--headless", action="store_true", help="no screen: a script answers; print the result")
    _json(demo)

    live = _command(commands, "live", "lab.commands.runs:live", "run a task: an agent works, a person answers")
    live.add_argument("task", nargs="?", metavar="TASK", help="a built-in task's name or a task file")
    live.add_argument("--resume", metavar="ID", help="go on with an open run: phone, dialogue and draft as they were")
    live.add_argument("--agent", metavar="NAME", help="rule (default), or recorded:ID to do again what a run did")
    live.add_argument("--user", metavar="WHO", help="human (default on a screen), script, or script:FILE")
    live.add_argument("--persona", metavar="NAME", help="another persona: a built-in name or a profile file")
    live.add_argument("--log", choices=("clean", "noise", "none"), help="which history the agent sees")
    live.add_argument("--gate", choices=("pass", "ask"), help="ask: each action waits for your word")
    live.add_argument("--seat", choices=("participant", "developer"), help="who sits here, and so what is shown")
    live.add_argument("--as", dest="person", metavar="CODE", help="your study code (never a name)")
    live.add_argument("--no-mirror", action="store_true", help="the person does not see the phone (recorded)")
    live.add_argument("--seed", type=int, metavar="N", help="shuffles the phone's menus and lists (default 0)")
    live.add_argument("--pace", type=_seconds, metavar="S", help="least seconds between two turns")
    live.add_argument("--headless", action="store_true", help="no screen; print the result")
    output = live.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print exactly one JSON document")
    output.add_argument("--events", action="store_true", help="print each event as a JSON line after its commit")

    replay = _command(commands, "replay", "lab.commands.runs:replay", "play a run back, step by step")
    replay.add_argument("run_id", metavar="ID[@STEP]", help="a run's id or its beginning, and the step to open at")


def _record_commands(commands: Commands) -> None:
    traces = _command(commands, "traces", "lab.commands.records:traces", "list the runs in a database")
    traces.add_argument("--limit", type=int, metavar="N", help="only the newest N")
    _json(traces)

    show = _command(commands, "show", "lab.commands.records:show", "print one run")
    show.add_argument("run_id", metavar="ID", help="a run's id or its beginning")
    _json(show)

    bring = _command(commands, "import", "lab.commands.records:bring", "bring in recorded runs")
    bring.add_argument("paths", nargs="+", metavar="PATH", help="folders or files; runs are found inside folders")
    bring.add_argument("--format", choices=("knowu",), help="read as this format instead of detecting it")
    _json(bring)

    pack = _command(commands, "pack", "lab.commands.records:pack", "copy a database whole, safe while it is in use")
    pack.add_argument("out", metavar="OUT.db", help="the copy; must not exist")
    pack.add_argument("--no-images", action="store_true", help="leave the screenshots out")
    _json(pack)


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
