"""What commands print: one JSON document, or lines and tables for people."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from lab.core.codec import encode
from lab.core.plain_text import plain

T = TypeVar("T")


class Refused(msgspec.Struct, frozen=True):
    """Why a command with --json was refused (exit 1 or 2); what the command line's own reader refuses prints none."""

    error: str
    message: str
    hint: str


def emit(value: T, text: Callable[[T], object], *, json: bool, nothing: str = "") -> None:
    """What a command found: as one JSON document, or printed by `text` for people.

    Of a list that is empty people are told `nothing`, where that is given.
    """
    if json:
        print_json(value)
    elif nothing and not value:
        say(nothing)
    else:
        text(value)


def print_json(value: Any) -> None:
    """One JSON document on standard output, flushed."""
    sys.stdout.buffer.write(json_bytes(value))
    sys.stdout.flush()


def print_json_lines(value: Any) -> None:
    """One JSON document on standard output for people to read: a line for each of its values, set in."""
    sys.stdout.buffer.write(_escaped(msgspec.json.format(encode(value), indent=2) + b"\n"))
    sys.stdout.flush()


def json_bytes(value: Any) -> bytes:
    """One JSON document and a line feed; characters that a terminal obeys or that turn its lines are escaped in it."""
    return _escaped(encode(value) + b"\n")


def _escaped(data: bytes) -> bytes:
    if data.isascii():
        return data
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", data.decode()).encode()


_OBEYED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def say(text: str) -> None:
    """One line for people on standard output."""
    sys.stdout.write(plain(text) + "\n")


def write_table(text: str) -> None:
    """CSV, Markdown or HTML on standard output: as it is into a file or a pipe, in plain characters on a terminal."""
    if sys.stdout.isatty():
        sys.stdout.write(plain(text))
    else:
        sys.stdout.buffer.write(text.encode())


def warn(text: str) -> None:
    """One line for people on standard error."""
    sys.stderr.write(f"hitlab: {plain(text, lines=False)}\n")


def warn_lines(text: str) -> None:
    """A text of several lines on standard error, in plain characters."""
    sys.stderr.write(plain(text.rstrip("\n")) + "\n")


SHORT_ID = 13
"""Characters of an id that tell runs apart in a list: a uuid7's whole millisecond."""

_WIDEST = 60
"""Most columns of a cell that does not fold: what is longer would take the others' place."""

_FOLDED = 20
"""Least columns in which a cell is folded; with less it stands below its row."""


def print_table(columns: list[str], rows: list[list[str]], *, wide: str = "") -> None:
    """A table for people; cells are plain characters, whatever they hold.

    The first column, which one types again, is never cut. `wide` names the column that folds; where nearly no place is
    left for it, its cells stand below their rows. Of the others the longest are cut first.
    """
    from rich.cells import cell_len

    from lab.core.text_table import beside, cut, folded, padded

    whole = shutil.get_terminal_size().columns if sys.stdout.isatty() else 240
    cells = [[plain(cell, lines=False) for cell in row] for row in rows]
    needs = [max(cell_len(name), *(cell_len(row[at]) for row in cells), 0) for at, name in enumerate(columns)]
    folds = columns.index(wide) if wide else None
    widths = _widths(needs, folds, whole)

    def shown(row: list[str]) -> list[str]:
        lines = [folded(row[at], width) if at == folds else [cut(row[at], width)] for at, width in widths.items()]
        return beside(lines, list(widths.values()))

    bold = "\x1b[1m{}\x1b[0m" if sys.stdout.isatty() and os.environ.get("TERM") not in ("dumb", "unknown") else "{}"
    for line in shown(columns):
        sys.stdout.write(bold.format(line) + "\n")
    for row in cells:
        for line in shown(row):
            say(line)
        if folds is not None and folds not in widths:
            for line in folded(row[folds], whole - 4):
                say(" " * 4 + padded(line, whole - 4))


def _widths(needs: list[int], folds: int | None, whole: int) -> dict[int, int]:
    """The columns of each cell by its place, two blanks between them; without `folds` where that stands below."""
    widths = {at: need if at in (0, folds) else min(need, _WIDEST) for at, need in enumerate(needs)}
    rest = whole - 2 * (len(widths) - 1)
    if folds is not None:
        room = rest - sum(width for at, width in widths.items() if at != folds)
        if room >= min(_FOLDED, needs[folds]):
            return {**widths, folds: min(room, needs[folds])}
        del widths[folds]
        rest += 2
    while sum(widths.values()) > rest and (longest := max(list(widths)[1:], key=widths.__getitem__, default=None)):
        if widths[longest] <= 1:
            break
        widths[longest] -= 1
    return widths
