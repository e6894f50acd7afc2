"""Parsers of commands, filled on demand, and the arguments that several commands share."""

from __future__ import annotations

import argparse
import math
import os
import re
import sys

from lab.core.values.whole_number import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` itself costs a tenth of the time of `hitlab --help`
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Literal, NoReturn, TypeVar

    A = TypeVar("A", bound="Arguments")
    NameKind = Literal[
        "agent", "column", "group", "persona", "plan", "protocol", "rater", "run", "schema", "shadow", "study", "task",
        "user",
    ]  # fmt: skip
    """Kind of a name that arguments take. `lab.cli.settings.name_completion` lists the names of each."""


MOST = 1_000_000_000
"""Maximum of a number of seconds, dollars, tokens or minutes."""
AGENTS = "run this agent: playbook[:NAME] (default), model:NAME, model+memory:NAME, process:COMMAND, recorded:ID"
"""Help of `--agent`."""
STUDY_NAME = "name of the study, or NAME@2 for its version 2 (default: the newest version)"
"""Help of a required STUDY."""
STUDY = "name of the study, or NAME@2 for version 2 (default: the newest version; without a name the setting study)"
"""Help of a STUDY for which the setting stands in."""
NO_STUDY = "names no study, and neither does the setting study. `hitlab study status` lists them."
"""Message if a command needs a study."""
_WINDOW = "also show the pictures on a page of this machine, for a browser beside the terminal"


class Option:
    """One argument of a command as its class declares it. Read from an instance, it is its default."""

    def __init__(
        self, names: tuple[str, ...], settings: dict[str, Any], completes: NameKind | None = None, one_of: str = "",
        setting: str = "", *, is_positional: bool = False,
    ) -> None:  # fmt: skip
        self.names, self.settings, self.completes, self.one_of = names, settings, completes, one_of
        self.setting, self.is_positional = setting, is_positional

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        default = self.settings.get("default", False if self.settings.get("action") == "store_true" else None)
        return None if default == argparse.SUPPRESS else default


def argument(metavar: str, help: str, *, completes: NameKind | None = None, setting: str = "", **settings: Any) -> Any:
    """Declare a positional argument. If it is missing, the setting of the name `setting` stands in for it."""
    if setting:
        settings |= {"nargs": "?"}
    return Option((), {"metavar": metavar, "help": help, **settings}, completes, "", setting, is_positional=True)


def option(
    metavar: str | tuple[str, ...],
    help: str,
    *names: str,
    completes: NameKind | None = None,
    one_of: str = "",
    **settings: Any,
) -> Any:
    """Declare an option with a value, named as its field if no names are given.

    Of the options of a command with the same `one_of` only one may be typed. An exclamation mark makes one required.
    """
    named = {"metavar": metavar} if metavar else {}
    return Option(names, {**named, "help": help, **settings}, completes, one_of)


def flag(help: str, *names: str, one_of: str = "", **settings: Any) -> Any:
    """Declare an option without a value."""
    return Option(names, {"action": "store_true", "help": help, **settings}, None, one_of)


def declared_options(arguments: type[Arguments]) -> dict[str, Option]:
    """Return what a class and its bases declare, by field: the bases' positionals first, its own options first."""
    found: dict[str, Option] = {}
    for kind in arguments.__mro__:
        for field, value in vars(kind).items():
            if isinstance(value, Option):
                found.setdefault(field, value)
    positionals = {
        field: found[field] for kind in reversed(arguments.__mro__) for field in vars(kind) if field in found
    }
    return {field: one for field, one in positionals.items() if one.is_positional} | found


class Arguments:
    """Values of a command line. Each command's own class declares its options with their types."""

    db: str | None = None
    json: bool = False
    window: bool | None = None
    """True if the page of pictures was requested, None if not given."""
    run: Callable[[Arguments], int] | None = None
    """The command's function, None without a command."""


# -- readers of values ----------------------------------------------------------------------------------------------


def typed_words(text: str) -> str:
    """Return text without control characters."""
    from lab.core.text.typed_text import clean

    return clean(text)


def up_to(most: int) -> Callable[[str], int]:
    """Return a reader of whole numbers from -`most` to `most`. The command itself checks the minimum."""

    def read(text: str) -> int:
        value = int(text)
        if abs(value) > most:
            raise argparse.ArgumentTypeError(f"{text!r} is more than {most:,}")
        return value

    return read


def study_code(text: str) -> str:
    """Read a study code."""
    from lab.core.errors import LabError
    from lab.core.settings import check_code

    try:
        check_code(text, "", "")
    except LabError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no study code. {error.hint}") from error
    return text


def study_codes(text: str) -> list[str]:
    """Read study codes separated by commas."""
    return [study_code(code.strip()) for code in text.split(",") if code.strip()]


seed_number = up_to((1 << 63) - 1)
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


# -- options that several commands share -----------------------------------------------------------------------------


class JsonArguments(Arguments):
    json: bool = flag("print exactly one JSON document", one_of="form")


class TableArguments(JsonArguments):
    """Values of a command that prints tables."""

    table_form: Literal["table", "json", "csv", "md"] | None = option(
        "", "print a table (default), JSON, CSV or Markdown", "--format", choices=("table", "json", "csv", "md"),
        one_of="form",
    )  # fmt: skip
    output: str | None = option("FILE", "write the output to a new FILE (e.g. runs.csv) instead of printing it")

    def table_lines(self) -> str:
        """Return which lines of the command print a table, empty if this one does."""
        return ""


class WindowArguments(Arguments):
    window: bool | None = flag(_WINDOW, default=argparse.SUPPRESS)


class TaggedArguments(Arguments):
    """Values of a command that selects runs."""

    tag: str | None = option("NAME", "select only runs with this tag (e.g. smoke-test)")


class ArchivedArguments(Arguments):
    """Values of a command that lists what can be archived."""

    archived: bool = flag("list only what is archived")


class StudyArguments(Arguments):
    """Values of a command that takes one study."""

    study: str = argument("STUDY", STUDY, completes="study", setting="study")


class PersonArguments(Arguments):
    """Values of a command that somebody signs."""

    person: str | None = option(
        "CODE", "sign with this study code (e.g. P07), never a name (default: the setting person)", "--person", "--as",
        type=study_code, completes="rater",
    )  # fmt: skip


class DeviceArguments(Arguments):
    """Phone to run on."""

    device: str | None = option(
        "SERIAL", "run on this phone: a serial or HOST:PORT of `hitlab devices`, or embedded (default)"
    )
    harness: str | None = option(
        "URL", "reset and score a served phone by its harness, e.g. http://127.0.0.1:8500 (see `hitlab serve phone`)"
    )


class DevicesArguments(Arguments):
    """Phones to run on."""

    devices: list[str] | None = option(
        "SERIAL", "run on this phone: a serial or HOST:PORT of `hitlab devices`, or embedded (default); repeatable",
        "--device", action="append",
    )  # fmt: skip
    harnesses: list[str] | None = option(
        "URL", "reset and score a served phone by its harness; one for each --device, in the same order",
        "--harness", action="append",
    )  # fmt: skip


class EnvironmentArguments(Arguments):
    """Environment to run in."""

    environments: list[str] | None = option(
        "URL", "run in an environment, with its tasks, phone and scores: http://HOST:PORT or androidworld:PYTHON",
        "--env", action="append",
    )  # fmt: skip


class EnvironmentsArguments(Arguments):
    """Environments to run in."""

    environments: list[str] | None = option(
        "URL", "run in environments, with their tasks, phones and scores: http://HOST:PORT or androidworld:PYTHON",
        "--env", action="extend", nargs="+",
    )  # fmt: skip


class BreakArguments(Arguments):
    """Breakpoints of a run."""

    breaks: list[str] | None = option(
        "WHERE", "pause before step:7, action:input_text, app:NAME, text:WORDS or ask; repeatable",
        "--break", action="append",
    )  # fmt: skip


class AgentArguments(Arguments):
    """How an agent is named, asked, and reported if it fails."""

    agent_name: str = option("NAME", "call the agent NAME in tables (default: its own name)", default="")
    agent_version: str = option("V", "record the agent's version; another version is another agent", default="")
    traceback: bool = flag("print Python's traceback if a run without a screen fails")
    no_read: bool = flag("do not recognize text in pictures for the model (the run records this)")


class IntervalArguments(Arguments):
    """Kind of intervals."""

    bootstrap: int | None = option(
        "N", "compute intervals from N resamples of runs, e.g. 2000 (default: the jackknife over runs)", type=_resamples
    )
    seed: int = option("N", "seed of the bootstrap (default: 0)", type=seed_number, default=0)


# -- parsers -------------------------------------------------------------------------------------------------------


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
    prints: Mapping[str, Any] = {}
    """Types of the command's JSON documents, or their `module:Name`, by schema name."""
    default_verb: str | None = None
    """Verb of a noun for a line that has words but no verb, empty if the noun has none, None if this is not a noun."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", formatter)
        super().__init__(**options)
        # Coordinates may be negative, too: `-5,-5,5,5` is a value and no option.
        self._negative_number_matcher = re.compile(r"-\d[\d.,-]*$")
        self.names: dict[str, NameKind] = {}
        """Kinds of names that arguments take, by `dest`, for a shell's completion."""
        self.may_be_empty: frozenset[str] = frozenset()
        """Arguments, by `dest`, for which an empty word has a meaning. Elsewhere it is refused."""
        self.elsewhere: dict[str, str] = {}
        """Commands that exist elsewhere: the name that somebody may try, and the right one."""
        self.verbs: list[str] = []
        """Words of today that may follow."""
        self.tries: dict[str, str] = {}
        """Verbs that a noun does not have and people try: the right one by each."""
        self.name_hint = ""
        """Sentence on what to type if a name stands in place of a verb, with `{}` for the name."""

    def runs(
        self, function: Callable[[A], int], arguments: type[A], prints: Mapping[str, Any] | None = None, loose: str = ""
    ) -> None:
        """Set the command's function and the class that declares its options, and add them and --db.

        `prints` are the types of its JSON documents (or `module:Name`) by schema name. `loose` is the positional that
        takes stray words.
        """
        options = declared_options(arguments)

        def run(namespace: Arguments) -> int:
            values = arguments()
            vars(values).update(vars(namespace))
            self._fill_from_settings(values, options)
            if isinstance(values, TableArguments) and values.table_form in ("csv", "md") and values.table_lines():
                self.error(
                    f"--format {values.table_form}: only {values.table_lines()} prints a table; nothing was done"
                )
            return function(values)

        self.takes, self.prints, self.loose = arguments, prints or {}, loose
        self.set_defaults(run=run)
        groups: dict[str, argparse._ActionsContainer] = {"": self}
        for field, option in options.items():
            if option.one_of not in groups:
                groups[option.one_of] = self.add_mutually_exclusive_group(required=option.one_of.endswith("!"))
            self._declare(groups[option.one_of], field, option)
        self.database()

    @property
    def subcommands(self) -> Mapping[str, argparse.ArgumentParser]:
        """Parsers of the words that may follow, those of earlier versions among them."""
        actions = (action for action in self._actions if isinstance(action, argparse._SubParsersAction))
        return next((action._name_parser_map for action in actions), {})

    def become_noun(self, default_verb: str, bare: Callable[[], None] | None) -> None:
        """Print the help, and what `bare` prints, for a line without a verb."""

        def run(_: Arguments) -> int:
            self.print_help()
            if bare is not None:
                bare()
            return 0

        self.default_verb = default_verb
        self.set_defaults(run=run)

    def _put_verb_first(self, args: Sequence[str]) -> list[str]:
        """Return a noun's words with the verb first: --db may precede it, and the default one may be missing."""
        start = 0
        while start < len(args) and args[start].partition("=")[0] == "--db":
            start += 1 if "=" in args[start] else 2
        file, rest = [*args[:start]], [*args[start:]]
        if rest and rest[0] in self.subcommands:
            return [rest[0], *file, *rest[1:]]
        if self.default_verb and args and rest[:1] not in (["-h"], ["--help"]):
            if rest and rest[0].isalpha():
                self._refuse_slip(rest[0])
            return [self.default_verb, *args]
        return rest

    def _refuse_slip(self, word: str) -> None:
        """Exit with code 2 if a word may be a mistyped verb: a script must not go on with a word of the default one."""
        from lab.core.text.suggestion import did_you_mean, near_names

        near = [self.tries[word]] if word in self.tries else near_names(word, self.verbs)
        if near or word == "help":
            meant = did_you_mean(near) or f"; `{self.prog} --help` lists what is."
            self.error(f"there is no {word!r}{meant} As a word to look for: `{self.prog} {self.default_verb} {word}`.")

    def _declare(self, container: argparse._ActionsContainer, field: str, option: Option) -> None:
        settings = option.settings
        names = [field] if option.is_positional else option.names or (f"--{field.replace('_', '-')}",)
        if not option.is_positional:
            settings = {"dest": field, **settings}
        action = container.add_argument(*names, **settings)
        if option.names:
            # Spellings of earlier versions are read, and no help, error or completion names them.
            action.option_strings = action.option_strings[:1]
        if option.completes is not None:
            self.names[field] = option.completes

    def _fill_from_settings(self, values: Arguments, options: Mapping[str, Option]) -> None:
        """Fill missing positionals from the settings. Exit with code 2 if the settings name none."""
        for field, option in options.items():
            if not option.setting or getattr(values, field) is not None:
                continue
            from lab.core.settings import load

            value = getattr(load(db=values.db), option.setting)
            if not value:
                self.error(NO_STUDY)
            setattr(values, field, value)

    def parse_known_args(  # type: ignore[override]  # argparse itself calls it in this way alone
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        if self.default_verb is not None and args is not None:
            args = self._put_verb_first(args)
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
        from lab.core.text.suggestion import suggestion

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
        from lab.core.text.suggestion import did_you_mean, near_names, suggestion

        names = [str(choice) for choice in action.choices]
        near = suggestion(str(value), names)
        if isinstance(action, argparse._SubParsersAction):
            # Earlier names are no choices: nothing lists or completes them.
            if value in action._name_parser_map:
                return
            found = [value] if value in self.elsewhere else near_names(str(value), [*names, *self.elsewhere])
            near = did_you_mean([*dict.fromkeys(self.elsewhere.get(name, name) for name in found)])
            hint = f" {self.name_hint.format(value)}" if self.name_hint and not near else ""
            problem = f"there is no {value!r}{near or '.'}{hint} `{self.prog} --help` lists what is."
            raise argparse.ArgumentError(None, problem)
        raise argparse.ArgumentError(action, f"invalid choice: {value!r} (choose from {', '.join(names)}){near}")

    def error(self, message: str) -> NoReturn:
        """Exit with the message alone and a hint to --help, without argparse's usage."""
        from lab.core.errors import shortened
        from lab.core.text.plain_text import plain

        sentence, hint = plain(shortened(message), lines=False), f"`{self.prog} --help`"
        more = "" if hint in sentence else f"{hint} says what it takes.\n"
        self.exit(2, f"{self.prog}: error: {sentence}\n{more}")

    def database(self) -> None:
        """Add --db, which may come before the command or after it."""
        self.add_argument(
            "--db",
            metavar="PATH",
            default=argparse.SUPPRESS,
            help="use this database file (default: the setting db)",
        )

    def window(self) -> None:
        """Add --window, which may come before the command or after it."""
        self.add_argument("--window", action="store_true", default=argparse.SUPPRESS, help=_WINDOW)

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
