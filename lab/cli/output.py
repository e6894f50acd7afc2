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
from lab.core.text.plain_text import markdown_text, plain

T = TypeVar("T")
Record = TypeVar("Record", bound=msgspec.Struct)


class CommandRefusal(msgspec.Struct, frozen=True):
    """Refusal of a command with --json (exit 1 or 2). Usage errors from argparse print none."""

    error: str
    message: str
    hint: str


def record_of(shape: type[Record], source: object, **fields: Any) -> Record:
    """Return a printed record: the given fields, and all others from the attributes of `source` of the same name."""
    names = [name for name in shape.__struct_fields__ if name not in fields]
    return shape(**{name: getattr(source, name) for name in names}, **fields)


def print_result(value: T, text: Callable[[T], object], *, json: bool, nothing: str = "") -> None:
    """Print a result as one JSON document, or by `text` for people.

    For an empty list print `nothing`, if given, and as CSV or Markdown also the header of its table.
    """
    if json:
        print_json(value)
        return
    is_empty = bool(nothing) and not value
    if is_empty:
        print_line(nothing)
    if not is_empty or table_form.is_data:
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
    if table_form.is_data:
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

    @property
    def is_data(self) -> bool:
        """True if tables are printed for programs. Their header is then printed also without rows."""
        return self.name != "table"


table_form = TableForm()


def run_id_cell(run: str) -> str:
    """Return an id for a table: its beginning on a terminal, whole in a pipe or file."""
    return run[:SHORT_ID] if sys.stdout.isatty() and not table_form.is_data else run


def print_table(
    columns: list[str], rows: list[list[str]], *, wide: str = "", part: Mapping[str, str] | None = None,
    records: tuple[type[msgspec.Struct], Sequence[msgspec.Struct]] | None = None,
) -> None:  # fmt: skip
    """Print a table in the form of --format. All cells become plain characters.

    `part` says, by column name, what this table of several is about, for forms without headings between tables.
    `records` are a type and its values that CSV prints in place of the rows, each field as a column.

    A CSV file holds one table. A command's further tables with other columns go to standard error.

    In a pipe or file nothing is cut or folded. On a terminal the first column, which people type again, is never cut.
    `wide` names the column that folds. Of the others the longest are cut first. A cell that would be cut to a few
    letters goes below its row, after its column's name.
    """
    cells = [[plain(cell, lines=False) for cell in row] for row in rows]
    if not table_form.is_data:
        _print_aligned(columns, cells, wide, sys.stdout)
        return
    about, is_csv = part or {}, table_form.name == "csv"
    head = (*about, *(name.strip() for name in columns))
    if is_csv and records is not None:
        head = records[0].__struct_encode_fields__
    # Whoever reads the table picks columns by their names.
    assert len({*filter(None, head)}) == len(head), head
    # Parts with the same columns are one table.
    goes_on = table_form.head == head
    if is_csv and table_form.head is not None and not goes_on:
        _print_aligned(columns, cells, wide, sys.stderr)
        return
    sys.stdout.write("\n" if table_form.head is not None and not goes_on else "")
    table_form.head = head
    if is_csv and records is not None:
        names = records[0].__struct_fields__
        values = [[csv_cell(getattr(record, name)) for name in names] for record in records[1]]
        sys.stdout.write(_csv_lines(() if goes_on else head, values))
        return
    texts = [[plain(cell, lines=False).strip() for cell in (*about.values(), *row)] for row in rows]
    if is_csv:
        sys.stdout.write(_csv_lines(() if goes_on else head, _data_cells(texts)))
    else:
        sys.stdout.write(_markdown_lines(() if goes_on else head, texts))


def csv_cell(value: Any) -> Any:
    """Return a value as a cell of `csv_writer.line`: texts safe from formulas, all but single values as JSON."""
    from store.formats.tables.csv_writer import escape_formula

    if value is None or isinstance(value, bool | int | float):
        return value
    return escape_formula(value if isinstance(value, str) else encode(value).decode())


_NUMBER_CELL = re.compile(r"-?(?:0|[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d*)(?:\.\d+)?")


def _data_cells(rows: list[list[str]]) -> list[list[Any]]:
    """Return cells for people as data: numbers without commas, None for a dash, which stands for a missing value."""
    texts = [[None if cell == "-" else cell for cell in row] for row in rows]
    is_number = [
        all(not cell or _NUMBER_CELL.fullmatch(cell) for cell in column) for column in zip(*texts, strict=True)
    ]
    return [
        [_number(cell) if number else csv_cell(cell) for cell, number in zip(row, is_number, strict=True)]
        for row in texts
    ]


def _number(cell: str | None) -> float | None:
    number = (cell or "").replace(",", "")
    return None if not number else float(number) if "." in number else int(number)


def _csv_lines(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    from store.formats.tables.csv_writer import line

    return (line(head) if head else "") + "".join(line(row) for row in rows)


def _markdown_lines(head: Sequence[str], rows: list[list[str]]) -> str:
    lines = [[markdown_text(cell, begins_line=False) for cell in row] for row in ([head] if head else []) + rows]
    lines[1:1] = [["---"] * len(head)] if head else []
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _print_aligned(columns: list[str], cells: list[list[str]], wide: str, stream: TextIO) -> None:
    from rich.cells import cell_len

    from lab.core.text.text_table import cut, join_cells, wrap_cells

    needs = [max(cell_len(name), *(cell_len(row[at]) for row in cells), 0) for at, name in enumerate(columns)]
    folds = columns.index(wide) if wide else None
    whole = shutil.get_terminal_size().columns
    widths = _column_widths(needs, folds, whole) if stream.isatty() else dict(enumerate(needs))

    def cut_row(row: list[str]) -> list[str]:
        lines = [wrap_cells(row[at], width) if at == folds else [cut(row[at], width)] for at, width in widths.items()]
        return [line.rstrip() for line in join_cells(lines, list(widths.values()))]

    bold = "\x1b[1m{}\x1b[0m" if stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown") else "{}"
    for line in cut_row(columns):
        stream.write(bold.format(line) + "\n")
    for row in cells:
        below = [at for at in range(len(columns)) if at not in widths and row[at]]
        texts = [row[at] if at == folds else f"{columns[at]}: {row[at]}" for at in sorted(below, key=folds.__ne__)]
        lines = [*cut_row(row), *(" " * 4 + line for text in texts for line in wrap_cells(text, max(2, whole - 4)))]
        stream.write("".join(line + "\n" for line in lines))


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
