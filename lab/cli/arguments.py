"""How a command reads what was typed: its parser, which is filled when it is needed, and what several commands take."""

from __future__ import annotations

import argparse
import math
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself costs a tenth of the time of `hitlab --help`
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    A = TypeVar("A", bound="Arguments")


AGENTS = "playbook[:NAME] (default), model:NAME, model+memory:NAME, process:COMMAND, recorded:ID"
"""What `--agent` takes, as its help says it."""


class Arguments:
    """What was typed for a command. Each command's own class says what else it takes, and of which type."""

    db: str | None = None
    json: bool = False
    window: bool | None = None
    """Whether the page of pictures was asked for; None where it was not."""
    run: Callable[[Arguments], int] | None = None
    """What does the command; None where none was typed."""


class StudyArguments(Arguments):
    """What a command about one study takes that takes nothing else."""

    study: str


class Command(argparse.ArgumentParser):
    """A command by its name alone: it becomes a parser, with all that it takes, once it is the one that was typed."""

    def __init__(self, **described: Any) -> None:
        self.described = described
        self.fill: Callable[[Parser], None]

    def parse_known_args(  # type: ignore[override]  # argparse itself calls it in this way alone
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        parser = Parser(**self.described)
        self.fill(parser)
        return parser.parse_known_args(args, namespace)


class Parser(argparse.ArgumentParser):
    """A command line's reader, of which each command's is one, too."""

    loose = ""
    """The positional that takes words from anywhere, `-word` among them; not `-h`, and not what begins with `--`."""
    takes: type[Arguments] = Arguments
    """What the command's function is given."""

    def __init__(self, **described: Any) -> None:
        described.setdefault("formatter_class", formatter)
        super().__init__(**described)

    def runs(self, function: Callable[[A], int], arguments: type[A]) -> None:
        """Names what does this command, and the class of what it is given; it takes --db as every command does."""

        def run(typed: Arguments) -> int:
            values = arguments()
            vars(values).update(vars(typed))
            return function(values)

        self.takes = arguments
        self.set_defaults(run=run)
        self.database()

    def parse_known_args(  # type: ignore[override]  # argparse itself calls it in this way alone
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        if not self.loose or args is None:
            return super().parse_known_args(args, namespace)
        args = [f" {word}" if word[:1] == "-" != word[1:2] and word not in ("-", "-h") else word for word in args]
        namespace_read, rest = super().parse_known_args(args, namespace)
        getattr(namespace_read, self.loose).extend(word for word in rest if not word.startswith("-"))
        return namespace_read, [word for word in rest if word.startswith("-")]

    # -- what several commands take ------------------------------------------------------------------------------

    def database(self) -> None:
        """--db, before the command or after it."""
        self.add_argument("--db", metavar="PATH", default=argparse.SUPPRESS, help="the database file")

    def window(self) -> None:
        """--window."""
        self.add_argument(
            "--window",
            action="store_true",
            default=argparse.SUPPRESS,
            help="also show the pictures on a page of this machine, for a browser beside the terminal",
        )

    def json(self, beside: argparse._ActionsContainer | None = None) -> None:
        """--json, of a command that prints; `beside` others of which one alone may be given."""
        (beside or self).add_argument("--json", action="store_true", help="print exactly one JSON document")

    def study(self, nargs: str | None = None) -> None:
        """STUDY, of a command about one."""
        self.add_argument(
            "study", nargs=nargs, metavar="STUDY", help="the study's name, or NAME@2 for an older version"
        )

    def on_phone(self) -> None:
        """--device and --harness: the phone that runs are made on."""
        self.add_argument(
            "--device",
            metavar="SERIAL",
            help="a phone's serial or HOST:PORT, as `hitlab devices` lists it; or embedded",
        )
        self.add_argument(
            "--harness", metavar="URL", help="a served phone's harness, which resets and scores it (see `hitlab phone`)"
        )

    def breaks(self) -> None:
        """--break, as often as it is given."""
        self.add_argument(
            "--break", dest="breaks", action="append", metavar="WHERE",
            help="stand still before step:7, action:input_text, app:NAME, text:WORDS or ask (may be given again)",
        )  # fmt: skip

    def no_read(self) -> None:
        """--no-read: a model as the agent is told no words that were read from pictures."""
        self.add_argument(
            "--no-read", action="store_true", help="a model is told no words read from pictures (recorded)"
        )

    def intervals(self) -> None:
        """--bootstrap and --seed: how intervals are made."""
        self.add_argument(
            "--bootstrap", type=_resamples, metavar="N",
            help="intervals from N resamples of runs instead of the jackknife over runs",
        )  # fmt: skip
        self.add_argument("--seed", type=int, default=0, metavar="N", help="the bootstrap's seed (default: 0)")

    def examples(self, lines: str) -> None:
        """What stands below a command's help, as it is written."""
        self.epilog, self.formatter_class = f"examples:\n{lines}", as_written


# -- how help is laid out -----------------------------------------------------------------------------------------


def formatter(prog: str) -> argparse.HelpFormatter:
    """argparse's own layout, in as many columns as `shutil` would find, whose import it spares."""
    return argparse.HelpFormatter(prog, width=_columns() - 2)


def as_written(prog: str) -> argparse.HelpFormatter:
    """The same, with texts above and below as they are written."""
    return argparse.RawDescriptionHelpFormatter(prog, width=_columns() - 2)


def _columns() -> int:
    named = os.environ.get("COLUMNS", "")
    if named.isascii() and named.isdigit() and int(named):
        return int(named)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80 if sys.__stdout__ is not None else 80
    except (OSError, ValueError):
        return 80


# -- how words are read --------------------------------------------------------------------------------------------


def seconds(text: str) -> float:
    """A number of seconds; argparse tells what is none."""
    value = float(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return value


def share(text: str) -> float:
    """A number from 0 to 1."""
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to 1")
    return value


def port(text: str) -> int:
    """A port of this machine; 0 is any free one."""
    if not (text.isascii() and text.isdigit() and int(text) < 1 << 16):
        raise argparse.ArgumentTypeError(f"{text!r} is no port from 0 to 65535")
    return int(text)


def _resamples(text: str) -> int:
    value = int(text)
    if not 100 <= value <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 100 to 1,000,000")
    return value
