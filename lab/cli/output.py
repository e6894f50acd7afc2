"""Output of commands: one JSON document, or lines and tables for people."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO, TypeVar

import msgspec

from lab.core.codec import encode
from lab.core.text.plain_text import plain

T = TypeVar("T")


class CommandRefusal(msgspec.Struct, frozen=True):
    """Refusal of a command with --json (exit 1 or 2). Usage errors from argparse print none."""

    error: str
    message: str
    hint: str


def print_result(value: T, text: Callable[[T], object], *, json: bool, nothing: str = "") -> None:
    """Print a result as one JSON document, or by `text` for people.

    For an empty list print `nothing`, if given.
    """
    if json:
        print_json(value)
    elif nothing and not value:
        print_line(nothing)
    else:
        text(value)


def print_json(value: Any) -> None:
    """Print one JSON document on standard output and flush."""
    # Past the text layer, whose encoding may not be UTF-8.
    sys.stdout.buffer.write(json_bytes(value))
    sys.stdout.flush()


def print_json_lines(value: Any) -> None:
    """Print one indented JSON document on standard output, for people to read."""
    sys.stdout.buffer.write(_escape(msgspec.json.format(encode(value), indent=2) + b"\n"))
    sys.stdout.flush()


def json_bytes(value: Any) -> bytes:
    """Return a JSON document with a line feed, with control and direction characters escaped."""
    return _escape(encode(value) + b"\n")


def _escape(data: bytes) -> bytes:
    if data.isascii():
        return data
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", data.decode()).encode()


# Control characters, direction marks and line separators. A text of a stranger could use them to disguise a line.
_OBEYED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def print_line(text: str) -> None:
    """Print a line on standard output, on a terminal folded between words.

    Beside CSV or Markdown it goes to standard error, so that standard output holds tables alone.
    """
    if table_form.name != "table":
        sys.stderr.write(fold_for(sys.stderr, plain(text)) + "\n")
        return
    sys.stdout.write(fold_for(sys.stdout, plain(text)) + "\n")


def fold_for(stream: TextIO, text: str) -> str:
    """Return lines folded to a terminal's width, keeping their indentation, or unchanged for a file or pipe.

    A command to type stays on one line, so that it can be copied whole.
    """
    if not stream.isatty():
        return text
    from rich.cells import cell_len

    from lab.core.text.text_table import wrap_cells

    width = shutil.get_terminal_size().columns
    lines: list[str] = []
    for line in text.split("\n"):
        words = line.lstrip(" ")
        indent = line[: len(line) - len(words)]
        if cell_len(line) <= width or words.startswith("hitlab ") or len(indent) > width // 2:
            lines.append(line)
        else:
            lines += [indent + part for part in wrap_cells(words, width - len(indent))]
    return "\n".join(lines)


def write_table(text: str) -> None:
    """Print CSV, Markdown or HTML: unchanged into a file or pipe, as plain characters on a terminal."""
    if sys.stdout.isatty():
        sys.stdout.write(plain(text))
    else:
        sys.stdout.buffer.write(text.encode())


def warn(text: str) -> None:
    """Print one line on standard error."""
    sys.stderr.write(fold_for(sys.stderr, f"hitlab: {plain(text, lines=False)}") + "\n")


def warn_lines(text: str) -> None:
    """Print several lines on standard error as plain characters."""
    sys.stderr.write(plain(text.rstrip("\n")) + "\n")


SHORT_ID = 13
"""Characters that distinguish ids in a list: the milliseconds of a uuid7."""

_WIDEST = 60
"""Maximum columns of a cell that does not fold, so that it leaves room for the others."""

_SHORTEST = 10
"""Minimum columns of a cut cell. A narrower one goes below its row."""

_FOLDED = 20
"""Minimum columns of the folding cell. A narrower one goes below its row."""


class TableForm:
    """Form in which the running command prints its tables (--format)."""

    name = "table"
    head: tuple[str, ...] | None = None
    """Columns of the last table printed in this form, None before the first."""


table_form = TableForm()


def run_id_cell(run: str) -> str:
    """Return an id for a table: its beginning on a terminal, whole in a pipe or file."""
    return run[:SHORT_ID] if sys.stdout.isatty() else run


def print_table(
    columns: list[str], rows: list[list[str]], *, wide: str = "", part: Mapping[str, str] | None = None
) -> None:
    """Print a table in the form of --format. All cells become plain characters.

    `part` says, by column name, what this table of several is about, for forms without headings between tables.

    In a pipe or file nothing is cut or folded. On a terminal the first column, which people type again, is never cut.
    `wide` names the column that folds. Of the others the longest are cut first. A cell that would be cut to a few
    letters goes below its row, after its column's name.
    """
    cells = [[plain(cell, lines=False) for cell in row] for row in rows]
    if table_form.name == "table":
        _print_aligned(columns, cells, wide)
        return
    about = part or {}
    head = (*about, *(name.strip() for name in columns))
    cells = [[plain(cell, lines=False).strip() for cell in (*about.values(), *row)] for row in rows]
    # Parts with the same columns are one table.
    goes_on = table_form.head == head
    sys.stdout.write("\n" if table_form.head is not None and not goes_on else "")
    sys.stdout.write((_csv_lines if table_form.name == "csv" else _markdown_lines)(() if goes_on else head, cells))
    table_form.head = head


def _csv_lines(head: Sequence[str], rows: list[list[str]]) -> str:
    from store.formats.tables.csv_writer import escape_formula, line

    # A dash stands for a missing value in tables for people.
    cells = [[None if cell == "-" else escape_formula(cell) for cell in row] for row in rows]
    return (line(head) if head else "") + "".join(line(row) for row in cells)


def _markdown_lines(head: Sequence[str], rows: list[list[str]]) -> str:
    lines = [[cell.replace("|", "\\|") for cell in row] for row in ([head, ["---"] * len(head)] if head else [])]
    lines += [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _print_aligned(columns: list[str], cells: list[list[str]], wide: str) -> None:
    from rich.cells import cell_len

    from lab.core.text.text_table import cut, join_cells, wrap_cells

    needs = [max(cell_len(name), *(cell_len(row[at]) for row in cells), 0) for at, name in enumerate(columns)]
    folds = columns.index(wide) if wide else None
    whole = shutil.get_terminal_size().columns
    widths = _column_widths(needs, folds, whole) if sys.stdout.isatty() else dict(enumerate(needs))

    def cut_row(row: list[str]) -> list[str]:
        lines = [wrap_cells(row[at], width) if at == folds else [cut(row[at], width)] for at, width in widths.items()]
        return [line.rstrip() for line in join_cells(lines, list(widths.values()))]

    bold = "\x1b[1m{}\x1b[0m" if sys.stdout.isatty() and os.environ.get("TERM") not in ("dumb", "unknown") else "{}"
    for line in cut_row(columns):
        sys.stdout.write(bold.format(line) + "\n")
    for row in cells:
        below = [at for at in range(len(columns)) if at not in widths and row[at]]
        texts = [row[at] if at == folds else f"{columns[at]}: {row[at]}" for at in sorted(below, key=folds.__ne__)]
        lines = [*cut_row(row), *(" " * 4 + line for text in texts for line in wrap_cells(text, max(2, whole - 4)))]
        sys.stdout.write("".join(line + "\n" for line in lines))


def _column_widths(needs: list[int], folds: int | None, whole: int) -> dict[int, int]:
    """Return the width of each column by index, two blanks between them. Columns that go below the row are missing."""
    widths = {at: need if at in (0, folds) else min(need, _WIDEST) for at, need in enumerate(needs)}
    if folds is not None:
        room = whole - 2 * (len(widths) - 1) - sum(width for at, width in widths.items() if at != folds)
        if room >= min(_FOLDED, needs[folds]):
            return {**widths, folds: min(room, needs[folds])}
        del widths[folds]
    while (too_wide := _excess(widths, whole)) > sum(max(0, widths[at] - _SHORTEST) for at in list(widths)[1:]):
        longest = max(list(widths)[1:], key=needs.__getitem__, default=0)
        if needs[longest] <= _SHORTEST:
            break
        del widths[longest]
    for _ in range(too_wide):
        longest = max(list(widths)[1:], key=widths.__getitem__, default=0)
        widths[longest] -= longest > 0 and widths[longest] > 1
    return widths


def _excess(widths: dict[int, int], whole: int) -> int:
    return max(0, sum(widths.values()) + 2 * (len(widths) - 1) - whole)
