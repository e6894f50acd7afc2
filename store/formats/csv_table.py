"""CSV tables as spreadsheets save them: other separators, a `sep=;` line, decimal commas."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from lab.core.errors import LabError
from store.formats import RunSource
from store.formats.values import decode_utf8

_SEPARATORS = ",;\t|"
"""Possible cell separators. Spreadsheets write semicolons in locales with decimal commas."""
_SEP = re.compile(r"\Asep=(.)\r?\n", re.I)
_COMMA = re.compile(r"[-+]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+")
_POINT = re.compile(r"[-+]?\d+\.\d+")


def table_of(source: RunSource, data: bytes, path: Path) -> list[dict[str, str]]:
    """Return the rows of a table by column, without surplus or missing cells.

    Decimal commas become points if the separator is not a comma and no cell has a point. Deviations from plain CSV are
    counted as fallbacks. Raise `LabError` if the data is not a table.
    """
    text = decode_utf8(data, str(path))
    sep_line = _SEP.match(text)
    text = text[sep_line.end() :] if sep_line else text
    separator = sep_line[1] if sep_line else max(_SEPARATORS, key=text.partition("\n")[0].count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    except csv.Error as error:
        raise LabError(str(path), f"is no table that can be read ({error})") from error
    names = [name.strip() for name in rows[0]] if rows else []
    if separator != ",":
        source.fallbacks.add("table", path, f"cells between {separator!r}")
        rows = _with_points(rows)
    return [dict(zip(names, row, strict=False)) for row in rows[1:] if any(row)]


def _with_points(rows: list[list[str]]) -> list[list[str]]:
    # A cell with a decimal point shows that commas are not decimal here.
    cells = [cell.strip() for row in rows for cell in row]
    if any(_POINT.fullmatch(cell) for cell in cells) or not any(_COMMA.fullmatch(cell) for cell in cells):
        return rows
    return [[_with_point(cell) for cell in row] for row in rows]


def _with_point(cell: str) -> str:
    return cell.strip().replace(".", "").replace(",", ".") if _COMMA.fullmatch(cell.strip()) else cell
