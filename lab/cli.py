"""The `hitlab` command: reads the command line, runs one command, turns what went wrong into a sentence.

Exit codes: 0 done (whatever the score), 1 refused, 2 usage, 3 done in part.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from lab.errors import LabError
from lab.options import about, agreeing, common, comparing, keeping, measuring, people, phones, running, studying

EXAMPLES = """\
examples:
  hitlab                                    the lab itself: runs, tasks, devices
  hitlab demo                               one episode on the embedded phone; you are the user
  hitlab live usual_lunch --headless        the same without a screen, a script answers
  hitlab live task.yaml --device R58M       the same on your own phone, over adb
  hitlab record --intent "Mute the phone"   do it yourself, step by step: a demonstration
  hitlab run --all --attempts 3             an agent over every task, three times each: pass@k
  hitlab import runs/ --db study.db         bring in the runs you have, of fifteen formats
  hitlab replay 019a@7                      a run, opened at step 7
  hitlab metrics --by agent                 the five papers' numbers over them, each with its n
  hitlab agreement tdg                      how far raters agree; hitlab report tdg: the paper's table
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
    parser = common.Parser(
        prog="hitlab",
        description="A terminal lab for the humans in the loop of mobile GUI agents.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    parser.set_defaults(run=None)
    common.database(parser)
    common.window(parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for group in (running, people, studying, agreeing, keeping, comparing, measuring, phones, about):
        group.add(commands)
    return parser


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"hitlab {version('hitlab')}")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
