"""What several commands take on the command line, and how it is read."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any, TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
"""Where commands are added."""


class Parser(argparse.ArgumentParser):
    """A command line's reader, of which each command's is one, too."""

    loose = ""
    """The positional that takes words from anywhere, `-word` among them; not `-h`, and not what begins with `--`."""

    def parse_known_args(  # type: ignore[override]  # argparse itself calls it in this way alone
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        if not self.loose or args is None:
            return super().parse_known_args(args, namespace)
        args = [f" {word}" if word[:1] == "-" != word[1:2] and word not in ("-", "-h") else word for word in args]
        found, rest = super().parse_known_args(args, namespace)
        getattr(found, self.loose).extend(word for word in rest if not word.startswith("-"))
        return found, [word for word in rest if word.startswith("-")]


def command(commands: Commands, name: str, run: str, help: str) -> Parser:
    """A command whose parsed words go to `run`, written `module:function`; it takes --db as every one does."""
    parser: Parser = commands.add_parser(name, help=help, description=help)
    parser.set_defaults(run=run)
    database(parser)
    return parser


def database(parser: argparse.ArgumentParser) -> None:
    """--db, before the command or after it."""
    parser.add_argument("--db", metavar="PATH", default=argparse.SUPPRESS, help="the database file")


def window(parser: argparse.ArgumentParser) -> None:
    """--window."""
    parser.add_argument(
        "--window",
        action="store_true",
        default=argparse.SUPPRESS,
        help="also show the pictures on a page of this machine, for a browser beside the terminal",
    )


def json(parser: argparse._ActionsContainer) -> None:
    """--json, of a command that prints."""
    parser.add_argument("--json", action="store_true", help="print exactly one JSON document")


def on_phone(parser: argparse.ArgumentParser) -> None:
    """--device and --harness: the phone that runs are made on."""
    parser.add_argument(
        "--device", metavar="SERIAL", help="a phone's serial or HOST:PORT, as `hitlab devices` lists it; or embedded"
    )
    parser.add_argument(
        "--harness", metavar="URL", help="a served phone's harness, which resets and scores it (see `hitlab phone`)"
    )


def breaks(parser: argparse.ArgumentParser) -> None:
    """--break, as often as it is given."""
    parser.add_argument(
        "--break", dest="breaks", action="append", metavar="WHERE",
        help="stand still before step:7, action:input_text, app:NAME, text:WORDS or ask (may be given again)",
    )  # fmt: skip


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
