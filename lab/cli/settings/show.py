"""The command settings show: each setting, its value, and where it comes from."""

from __future__ import annotations

from typing import Any

import msgspec

from lab.cli.arguments import Parser, TableArguments
from lab.cli.output import print_line, print_result, print_table, warn
from lab.core.errors import LabError
from lab.core.settings import Settings, load_or_default, set_in_settings_file, source_of


class SettingLine(msgspec.Struct, frozen=True):
    """One setting: `settings show`.

    `source` is default, option, environment, project or settings. `place` is the option, the variable or the file.
    """

    name: str
    value: Any
    source: str
    place: str = ""


def add_settings_show(parser: Parser) -> None:
    parser.runs(show, TableArguments, prints={"settings-show": list[SettingLine]})
    parser.examples(
        """\
  hitlab settings show
  hitlab settings show --db study.db --json
  hitlab settings show --format csv --output settings.csv
"""
    )


def show(args: TableArguments) -> int:
    """Print all settings in force with their sources."""
    lines, error = _setting_lines(args.db)
    print_result(lines, _print_lines, json=args.json)
    if error is None:
        return 0
    warn(f"{error.sentence} No command works until it is mended; the values above are the defaults.")
    return 3


def print_own_values() -> None:
    """Print the settings that are not at their defaults."""
    lines, error = _setting_lines(None)
    lines = [line for line in lines if line.source != "default"]
    if error is not None:
        warn(error.sentence)
        return
    print_line("\nin force here:")
    if lines:
        _print_lines(lines)
    else:
        print_line("every setting has its default; `hitlab settings show` lists them")


def _setting_lines(db: str | None) -> tuple[list[SettingLine], LabError | None]:
    """Return each setting, or the defaults and the error if a file or variable is wrong."""
    settings, error = load_or_default(db)
    if error is not None:
        return [SettingLine(name, getattr(settings, name), "default") for name in Settings.__struct_fields__], error
    lines, in_file = [], set_in_settings_file()
    for name in Settings.__struct_fields__:
        what, field = source_of(name)
        kind, _, path = what.partition(" file ")
        if name == "db" and db is not None:
            source, place = "option", "--db"
        elif what == "the environment":
            source, place = "environment", field
        elif kind == "project" or name in in_file:
            source, place = kind, path
        else:
            source, place = "default", ""
        lines.append(SettingLine(name, getattr(settings, name), source, place))
    return lines, None


def _print_lines(lines: list[SettingLine]) -> None:
    rows = [[line.name, _value_cell(line.value), " ".join(filter(None, (line.source, line.place)))] for line in lines]
    print_table(["setting", "value", "from"], rows, wide="from")


def _value_cell(value: Any) -> str:
    return str(value) if isinstance(value, str) and value else msgspec.json.encode(value).decode()
