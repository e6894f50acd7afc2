"""Parsers of commands, filled on demand, and the arguments that several commands share."""

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
    """Kind of a name that arguments take. `lab.cli.name_completion` lists the names of each."""


MOST = 1_000_000_000
"""Maximum of a number of seconds, dollars, tokens or minutes."""
AGENTS = "playbook[:NAME] (default), model:NAME, model+memory:NAME, process:COMMAND, recorded:ID"
"""Help of `--agent`."""


class Arguments:
    """Values of a command line. Each command's own class adds its options with their types."""

    db: str | None = None
    json: bool = False
    window: bool | None = None
    """True if the page of pictures was requested, None if not given."""
    run: Callable[[Arguments], int] | None = None
    """The command's function, None without a command."""


class StudyArguments(Arguments):
    """Values of a command that takes one study and nothing else."""

    study: str


class Command(argparse.ArgumentParser):
    """A command known by name only. It becomes a parser with all its arguments once that command is used."""

    def __init__(self, **options: Any) -> None:
        self.described = options
        self.fill: Callable[[Parser], None]

    def __repr__(self) -> str:
        return f"Command({self.described['prog']!r})"

    def parser(self) -> Parser:
        """Import the command's module and return its parser."""
        parser = Parser(**self.described)
        self.fill(parser)
        return parser

    def parse_known_args(  # type: ignore[override]  # argparse itself calls it in this way alone
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        return self.parser().parse_known_args(args, namespace)


class Parser(argparse.ArgumentParser):
    """Parser of the whole command line and of each command."""

    loose = ""
    """Name of the positional that accepts stray words, `-word` among them, but not `-h` nor `--word`."""
    takes: type[Arguments] = Arguments
    """Class of the values for the command's function."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", formatter)
        super().__init__(**options)
        self.names: dict[str, NameKind] = {}
        """Kinds of names that arguments take, by `dest`, for a shell's completion."""
        self.may_be_empty: frozenset[str] = frozenset()
        """Arguments, by `dest`, for which an empty word has a meaning. Elsewhere it is refused."""
        self.elsewhere: dict[str, str] = {}
        """Commands that exist elsewhere: the name that somebody may try, and the right one."""

    def runs(self, function: Callable[[A], int], arguments: type[A]) -> None:
        """Set the command's function and the class of its values, and add --db."""

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
            # A leading blank keeps argparse from reading `-word` as an option.
            args = [f" {word}" if word[:1] == "-" != word[1:2] and word not in ("-", "-h") else word for word in args]
            namespace_read, rest = super().parse_known_args(args, namespace)
            getattr(namespace_read, self.loose).extend(word for word in rest if not word.startswith("-"))
            rest = [word for word in rest if word.startswith("-")]
        if rest:
            self._refuse_rest(rest)
        return namespace_read, rest

    def _refuse_rest(self, rest: Sequence[str]) -> None:
        """Exit with the unknown arguments, reported here, where the command's own options are known."""
        from lab.core.suggestion import suggestion

        actions = [action for action in self._actions if action.help != argparse.SUPPRESS]
        options = [option for action in actions for option in action.option_strings]
        near = next(filter(None, (suggestion(word.partition("=")[0], options) for word in rest if word[:1] == "-")), "")
        self.error(f"unrecognized arguments: {' '.join(rest)}{near}")

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Read an argument's values as argparse does, but refuse an empty one, since it differs from a missing one."""
        if not isinstance(action, argparse._SubParsersAction) and action.dest not in self.may_be_empty:
            nothing = " \t\r\n" if action.type is typed_words else ", \t\r\n"
            if (empty := next((word for word in arg_strings if not word.strip(nothing)), None)) is not None:
                raise argparse.ArgumentError(action, f"{empty!r} says nothing; leave it out, or say what is meant")
        return super()._get_values(action, arg_strings)

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Read a value as argparse does, but report a bad number without the name of the reading function."""
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError as error:
            if not str(error.message).startswith("invalid "):
                raise
            returns = getattr(action.type, "__annotations__", {}).get("return")
            whole = "whole " if action.type is int or returns == "int" else ""
            raise argparse.ArgumentError(action, f"{arg_string!r} is no {whole}number") from error

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Check a value against its choices as argparse does, but suggest a similar one."""
        if action.choices is None or value in action.choices:
            return
        from lab.core.suggestion import did_you_mean, suggestion

        names = [str(choice) for choice in action.choices]
        near = did_you_mean([self.elsewhere[value]]) if value in self.elsewhere else suggestion(str(value), names)
        if isinstance(action, argparse._SubParsersAction):
            problem = f"there is no {value!r}{near or '.'} `{self.prog} --help` lists what is."
            raise argparse.ArgumentError(None, problem)
        raise argparse.ArgumentError(action, f"invalid choice: {value!r} (choose from {', '.join(names)}){near}")

    def error(self, message: str) -> NoReturn:
        """Exit with the message alone and a hint to --help, without argparse's usage."""
        from lab.core.errors import shortened
        from lab.core.plain_text import plain

        sentence = plain(shortened(message), lines=False)
        self.exit(2, f"{self.prog}: error: {sentence}\n`{self.prog} --help` says what it takes.\n")

    # -- what several commands take ------------------------------------------------------------------------------

    def database(self) -> None:
        """Add --db, which may come before the command or after it."""
        self.add_argument("--db", metavar="PATH", default=argparse.SUPPRESS, help="the database file")

    def window(self) -> None:
        """Add --window."""
        self.add_argument(
            "--window",
            action="store_true",
            default=argparse.SUPPRESS,
            help="also show the pictures on a page of this machine, for a browser beside the terminal",
        )

    def json(self, beside: argparse._ActionsContainer | None = None) -> None:
        """Add --json, for commands that print. `beside` is a group of mutually exclusive options."""
        (beside or self).add_argument("--json", action="store_true", help="print exactly one JSON document")

    def tagged(self) -> None:
        """Add --tag, for commands that select runs."""
        self.add_argument("--tag", metavar="NAME", help="only runs that bear this tag")

    def archived(self) -> None:
        """Add --archived, for commands that list runs."""
        self.add_argument("--archived", action="store_true", help="those that are archived, and no others")

    def study(self, nargs: str | None = None) -> None:
        """Add STUDY."""
        self.add_argument(
            "study",
            nargs=nargs,
            metavar="STUDY",
            help="the study's name, or NAME@2 for that version of it (default: the newest)",
        )
        self.completes(study="study")

    def on_phone(self) -> None:
        """Add --device and --harness: the phone to run on."""
        self.add_argument(
            "--device",
            metavar="SERIAL",
            help="a phone's serial or HOST:PORT, as `hitlab devices` lists it; or embedded",
        )
        self.add_argument(
            "--harness", metavar="URL", help="a served phone's harness, which resets and scores it (see `hitlab phone`)"
        )

    def on_phones(self) -> None:
        """Add --device and --harness, repeatable: the phones to run on."""
        self.add_argument(
            "--device", dest="devices", action="append", metavar="SERIAL",
            help="a phone's serial or HOST:PORT, as `hitlab devices` lists it; or embedded (may be given again)",
        )  # fmt: skip
        self.add_argument(
            "--harness", dest="harnesses", action="append", metavar="URL",
            help="a served phone's harness, which resets and scores it; one for each --device, in the same order",
        )  # fmt: skip

    def environment(self) -> None:
        """Add --env: the environment to run in."""
        self.add_argument(
            "--env", dest="environments", action="append", metavar="URL",
            help="an environment, whose tasks, phone and scores they are: http://HOST:PORT or androidworld:PYTHON",
        )  # fmt: skip

    def environments(self) -> None:
        """Add --env for several environments at a time."""
        self.add_argument(
            "--env", dest="environments", action="extend", nargs="+", metavar="URL",
            help="environments, whose tasks, phone and scores they are: http://HOST:PORT or androidworld:PYTHON",
        )  # fmt: skip

    def breaks(self) -> None:
        """Add --break, repeatable."""
        self.add_argument(
            "--break", dest="breaks", action="append", metavar="WHERE",
            help="stand still before step:7, action:input_text, app:NAME, text:WORDS or ask (may be given again)",
        )  # fmt: skip

    def agent_name(self) -> None:
        """Add --agent-name and --agent-version, which override the agent's own in every table."""
        self.add_argument("--agent-name", metavar="NAME", default="", help="what the agent is called in tables")
        self.add_argument("--agent-version", metavar="V", default="", help="its version: another one is another agent")

    def traceback(self) -> None:
        """Add --traceback, which prints where hitlab or an agent failed."""
        self.add_argument(
            "--traceback", action="store_true", help="where a run without a screen failed, as Python tells it"
        )

    def no_read(self) -> None:
        """Add --no-read: a model as the agent gets no words recognized in pictures."""
        self.add_argument(
            "--no-read", action="store_true", help="a model is told no words read from pictures (recorded)"
        )

    def intervals(self) -> None:
        """Add --bootstrap and --seed: the kind of intervals."""
        self.add_argument(
            "--bootstrap", type=_resamples, metavar="N",
            help="intervals from N resamples of runs instead of the jackknife over runs",
        )  # fmt: skip
        self.add_argument("--seed", type=seed, default=0, metavar="N", help="the bootstrap's seed (default: 0)")

    def completes(self, **names: NameKind) -> None:
        """Set the kinds of names that arguments take, by `dest`."""
        self.names.update(names)

    def examples(self, lines: str, before: str = "") -> None:
        """Set the text below a command's help: one to four example lines, after `before`."""
        self.epilog, self.formatter_class = f"{before}examples:\n{lines}", as_written


# -- how help is laid out -----------------------------------------------------------------------------------------


def formatter(prog: str) -> argparse.HelpFormatter:
    """Return argparse's formatter with the terminal's width, for which argparse itself would import `shutil`."""
    return _Layout(prog, width=_columns() - 2)


def as_written(prog: str) -> argparse.HelpFormatter:
    """Return the same formatter, leaving the texts above and below as written."""
    return _LayoutAsWritten(prog, width=_columns() - 2)


class _Layout(argparse.HelpFormatter):
    """argparse's layout without the list of commands, which the texts below show under headings."""

    def add_argument(self, action: argparse.Action) -> None:
        if not isinstance(action, argparse._SubParsersAction):
            super().add_argument(action)


class _LayoutAsWritten(_Layout, argparse.RawDescriptionHelpFormatter):
    """The same layout, with the texts above and below as written."""


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
    """Return text without control characters."""
    from lab.core.typed_text import clean

    return clean(text)


def up_to(most: int) -> Callable[[str], int]:
    """Return a reader of whole numbers from -`most` to `most`. The command itself checks the minimum."""

    def read(text: str) -> int:
        value = int(text)
        if abs(value) > most:
            raise argparse.ArgumentTypeError(f"{text!r} is more than {most:,}")
        return value

    return read


seed = up_to((1 << 63) - 1)
"""Reader of a random seed."""


def seconds(text: str) -> float:
    """Read a number of seconds."""
    value = float(text)
    if not 0 <= value < MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds below {MOST:,}")
    return value


def amount(text: str) -> float:
    """Read a number of dollars or minutes. The command itself checks the minimum."""
    value = float(text)
    if not abs(value) < MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is more than {MOST:,}")
    return value


def duration(text: str) -> float:
    """Read a duration (`90s`, `30m`, `2h`, `1d`) as seconds."""
    number, factor = whole_number(text[:-1]), {"s": 1, "m": 60, "h": 3600, "d": 86_400}.get(text[-1:])
    if factor is None or number is None or not 0 < number < 100_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration, such as 90s, 30m, 2h or 1d")
    return float(number * factor)


def at_least_one(text: str) -> int:
    """Read a count of at least one."""
    value = up_to(10_000)(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is less than one")
    return value


def above_zero(text: str) -> float:
    """Read a number above 0. `1.4x` (of golden steps) is 1.4."""
    value = float(text.removesuffix("x"))
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    if value > MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is more than {MOST:,}")
    return value


def share(text: str) -> float:
    """Read a number from 0 to 1."""
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to 1")
    return value


def port(text: str) -> int:
    """Read a port number. 0 means any free one."""
    number = whole_number(text)
    if number is None or number >= 1 << 16:
        raise argparse.ArgumentTypeError(f"{text!r} is no port from 0 to 65535")
    return number


def _resamples(text: str) -> int:
    value = int(text)
    if not 100 <= value <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 100 to 1,000,000")
    return value
