"""How a command reads what was typed: its parser, which is filled when it is needed, and what several commands take."""

from __future__ import annotations

import argparse
import math
import os
import sys

from lab.core.whole_number import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself costs a tenth of the time of `hitlab --help`
    from collections.abc import Callable, Sequence
    from typing import Any, Literal, NoReturn, TypeVar

    A = TypeVar("A", bound="Arguments")
    NameKind = Literal[
        "agent", "column", "group", "persona", "plan", "protocol", "rater", "run", "schema", "shadow", "study", "task",
        "user",
    ]  # fmt: skip
    """What a name that is typed may be of; `lab.cli.name_completion` knows which there are."""


MOST = 1_000_000_000
"""The most that a number of seconds, dollars, tokens or minutes may be."""
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

    def __init__(self, **options: Any) -> None:
        self.described = options
        self.fill: Callable[[Parser], None]

    def __repr__(self) -> str:
        return f"Command({self.described['prog']!r})"

    def parser(self) -> Parser:
        """The parser with all that the command takes; its module is imported."""
        parser = Parser(**self.described)
        self.fill(parser)
        return parser

    def parse_known_args(  # type: ignore[override]  # argparse itself calls it in this way alone
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        return self.parser().parse_known_args(args, namespace)


class Parser(argparse.ArgumentParser):
    """A command line's reader, of which each command's is one, too."""

    loose = ""
    """The positional that takes words from anywhere, `-word` among them; not `-h`, and not what begins with `--`."""
    takes: type[Arguments] = Arguments
    """What the command's function is given."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", formatter)
        super().__init__(**options)
        self.names: dict[str, NameKind] = {}
        """Of what the names are that are typed for an argument, by its `dest`: what a shell completes them with."""
        self.may_be_empty: frozenset[str] = frozenset()
        """Arguments, by their `dest`, of which an empty word says something; of any other it is a slip."""
        self.elsewhere: dict[str, str] = {}
        """Commands that are not here, by the name that somebody may type for them: how they are really typed."""

    def runs(self, function: Callable[[A], int], arguments: type[A]) -> None:
        """Names what does this command, and the class of what it is given; it takes --db as every command does."""

        def run(namespace: Arguments) -> int:
            values = arguments()
            vars(values).update(vars(namespace))
            return function(values)

        self.takes = arguments
        self.set_defaults(run=run)
        self.database()

    def parse_known_args(  # type: ignore[override]  # argparse itself calls it in this way alone
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        if not self.loose or args is None:
            namespace_read, rest = super().parse_known_args(args, namespace)
        else:
            args = [f" {word}" if word[:1] == "-" != word[1:2] and word not in ("-", "-h") else word for word in args]
            namespace_read, rest = super().parse_known_args(args, namespace)
            getattr(namespace_read, self.loose).extend(word for word in rest if not word.startswith("-"))
            rest = [word for word in rest if word.startswith("-")]
        if rest:
            self._refuse_rest(rest)
        return namespace_read, rest

    def _refuse_rest(self, rest: Sequence[str]) -> None:
        """Exits with what this command does not take: said here, where its own options are known."""
        from lab.core.suggestion import suggestion

        actions = [action for action in self._actions if action.help != argparse.SUPPRESS]
        options = [option for action in actions for option in action.option_strings]
        near = next(filter(None, (suggestion(word.partition("=")[0], options) for word in rest if word[:1] == "-")), "")
        self.error(f"unrecognized arguments: {' '.join(rest)}{near}")

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """As argparse reads all values of an argument; an empty one is refused, for it is not the same as none."""
        if not isinstance(action, argparse._SubParsersAction) and action.dest not in self.may_be_empty:
            nothing = " \t\r\n" if action.type is typed_words else ", \t\r\n"
            if (empty := next((word for word in arg_strings if not word.strip(nothing)), None)) is not None:
                raise argparse.ArgumentError(action, f"{empty!r} says nothing; leave it out, or say what is meant")
        return super()._get_values(action, arg_strings)

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """As argparse reads a value; what is no number is told as that, not by the name of the function that reads."""
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError as error:
            if not str(error.message).startswith("invalid "):
                raise
            returns = getattr(action.type, "__annotations__", {}).get("return")
            whole = "whole " if action.type is int or returns == "int" else ""
            raise argparse.ArgumentError(action, f"{arg_string!r} is no {whole}number") from error

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """As argparse checks a value among choices, with the one that may have been meant; a sentence on a command."""
        if action.choices is None or value in action.choices:
            return
        from lab.core.suggestion import question, suggestion

        names = [str(choice) for choice in action.choices]
        near = question([self.elsewhere[value]]) if value in self.elsewhere else suggestion(str(value), names)
        if isinstance(action, argparse._SubParsersAction):
            problem = f"there is no {value!r}{near or '.'} `{self.prog} --help` lists what is."
            raise argparse.ArgumentError(None, problem)
        raise argparse.ArgumentError(action, f"invalid choice: {value!r} (choose from {', '.join(names)}){near}")

    def error(self, message: str) -> NoReturn:
        """Exits with the sentence alone, and how to see what the command takes."""
        from lab.core.errors import shortened
        from lab.core.plain_text import plain

        sentence = plain(shortened(message), lines=False)
        self.exit(2, f"{self.prog}: error: {sentence}\n`{self.prog} --help` says what it takes.\n")

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

    def tagged(self) -> None:
        """--tag, of a command that takes a file's runs."""
        self.add_argument("--tag", metavar="NAME", help="only runs that bear this tag")

    def archived(self) -> None:
        """--archived, of a command that lists runs."""
        self.add_argument("--archived", action="store_true", help="those that are archived, and no others")

    def study(self, nargs: str | None = None) -> None:
        """STUDY, of a command about one."""
        self.add_argument(
            "study",
            nargs=nargs,
            metavar="STUDY",
            help="the study's name, or NAME@2 for that version of it (default: the newest)",
        )
        self.completes(study="study")

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

    def on_phones(self) -> None:
        """--device and --harness, each as often as there are phones that runs are made on."""
        self.add_argument(
            "--device", dest="devices", action="append", metavar="SERIAL",
            help="a phone's serial or HOST:PORT, as `hitlab devices` lists it; or embedded (may be given again)",
        )  # fmt: skip
        self.add_argument(
            "--harness", dest="harnesses", action="append", metavar="URL",
            help="a served phone's harness, which resets and scores it; one for each --device, in the same order",
        )  # fmt: skip

    def environment(self) -> None:
        """--env: the environment that runs are made in."""
        self.add_argument(
            "--env", dest="environments", action="append", metavar="URL",
            help="an environment, whose tasks, phone and scores they are: http://HOST:PORT or androidworld:PYTHON",
        )  # fmt: skip

    def environments(self) -> None:
        """--env, with as many environments as runs are made in at a time."""
        self.add_argument(
            "--env", dest="environments", action="extend", nargs="+", metavar="URL",
            help="environments, whose tasks, phone and scores they are: http://HOST:PORT or androidworld:PYTHON",
        )  # fmt: skip

    def breaks(self) -> None:
        """--break, as often as it is given."""
        self.add_argument(
            "--break", dest="breaks", action="append", metavar="WHERE",
            help="stand still before step:7, action:input_text, app:NAME, text:WORDS or ask (may be given again)",
        )  # fmt: skip

    def agent_name(self) -> None:
        """What the agent is called in every table, in place of what it says of itself."""
        self.add_argument("--agent-name", metavar="NAME", default="", help="what the agent is called in tables")
        self.add_argument("--agent-version", metavar="V", default="", help="its version: another one is another agent")

    def traceback(self) -> None:
        """--traceback: where hitlab or an agent failed, for whoever mends it."""
        self.add_argument(
            "--traceback", action="store_true", help="where a run without a screen failed, as Python tells it"
        )

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
        self.add_argument("--seed", type=seed, default=0, metavar="N", help="the bootstrap's seed (default: 0)")

    def completes(self, **names: NameKind) -> None:
        """Says of what the names are that are typed for arguments, by their `dest`."""
        self.names.update(names)

    def examples(self, lines: str, before: str = "") -> None:
        """What stands below a command's help, as it is written: one to four lines to type, after what is `before`."""
        self.epilog, self.formatter_class = f"{before}examples:\n{lines}", as_written


# -- how help is laid out -----------------------------------------------------------------------------------------


def formatter(prog: str) -> argparse.HelpFormatter:
    """argparse's own layout, in as many columns as `shutil` would find, whose import it spares."""
    return _Layout(prog, width=_columns() - 2)


def as_written(prog: str) -> argparse.HelpFormatter:
    """The same, with texts above and below as they are written."""
    return _LayoutAsWritten(prog, width=_columns() - 2)


class _Layout(argparse.HelpFormatter):
    """argparse's own layout; commands stand below headings, and not once more where they are taken."""

    def add_argument(self, action: argparse.Action) -> None:
        if not isinstance(action, argparse._SubParsersAction):
            super().add_argument(action)


class _LayoutAsWritten(_Layout, argparse.RawDescriptionHelpFormatter):
    """The same, with texts above and below as they are written."""


def _columns() -> int:
    columns = os.environ.get("COLUMNS", "")
    if width := whole_number(columns):
        return width
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80 if sys.__stdout__ is not None else 80
    except (OSError, ValueError):
        return 80


# -- how words are read --------------------------------------------------------------------------------------------


def typed_words(text: str) -> str:
    """What a person says: it is kept, without control characters."""
    from lab.core.typed_text import clean

    return clean(text)


def up_to(most: int) -> Callable[[str], int]:
    """Reads a whole number of no more than `most`, above 0 or below; what is too small its command tells."""

    def read(text: str) -> int:
        value = int(text)
        if abs(value) > most:
            raise argparse.ArgumentTypeError(f"{text!r} is more than {most:,}")
        return value

    return read


seed = up_to((1 << 63) - 1)
"""Reads what draws are made by."""


def seconds(text: str) -> float:
    """A number of seconds; argparse tells what is none."""
    value = float(text)
    if not 0 <= value < MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds below {MOST:,}")
    return value


def amount(text: str) -> float:
    """A number of dollars or minutes; its command tells what is too little."""
    value = float(text)
    if not abs(value) < MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is more than {MOST:,}")
    return value


def duration(text: str) -> float:
    """Seconds, from `90s`, `30m`, `2h` or `1d`."""
    number, factor = whole_number(text[:-1]), {"s": 1, "m": 60, "h": 3600, "d": 86_400}.get(text[-1:])
    if factor is None or number is None or not 0 < number < 100_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration, such as 90s, 30m, 2h or 1d")
    return float(number * factor)


def at_least_one(text: str) -> int:
    """A number of things, at least one."""
    value = up_to(10_000)(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is less than one")
    return value


def above_zero(text: str) -> float:
    """A number above 0; of golden steps, `1.4x` is 1.4."""
    value = float(text.removesuffix("x"))
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    if value > MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is more than {MOST:,}")
    return value


def share(text: str) -> float:
    """A number from 0 to 1."""
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to 1")
    return value


def port(text: str) -> int:
    """A port of this machine; 0 is any free one."""
    number = whole_number(text)
    if number is None or number >= 1 << 16:
        raise argparse.ArgumentTypeError(f"{text!r} is no port from 0 to 65535")
    return number


def _resamples(text: str) -> int:
    value = int(text)
    if not 100 <= value <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 100 to 1,000,000")
    return value
