"""Tables as spreadsheets save them: other separators, `sep=;`, decimal commas; read as the same numbers."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from lab.core.errors import LabError
from store.formats import RunSource
from store.formats.values import decoded

_SEPARATORS = ",;\t|"
"""What may stand between cells; spreadsheets of half the world write semicolons."""
_SEP = re.compile(r"\Asep=(.)\r?\n", re.I)
_COMMA = re.compile(r"[-+]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+")
_POINT = re.compile(r"[-+]?\d+\.\d+")


def table_of(source: RunSource, data: bytes, path: Path) -> list[dict[str, str]]:
    """The rows of a table by column; cells that a row has too many of, or none for, are left out.

    Decimal commas become points where the separator is another and no cell holds a point. What was read otherwise
    than a plain CSV is counted; a `LabError` where it is no table.
    """
    text = decoded(data, str(path))
    named = _SEP.match(text)
    text = text[named.end() :] if named else text
    separator = named[1] if named else _separator(text)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    except csv.Error as error:
        raise LabError(str(path), f"is no table that can be read ({error})") from error
    names = [name.strip() for name in rows[0]] if rows else []
    if separator != ",":
        source.fallbacks.add("table", path, f"cells between {separator!r}")
        rows = _with_points(rows)
    return [dict(zip(names, row, strict=False)) for row in rows[1:] if any(row)]


def _separator(text: str) -> str:
    """What stands between the names of the columns."""
    return max(_SEPARATORS, key=text.partition("\n")[0].count)


def _with_points(rows: list[list[str]]) -> list[list[str]]:
    cells = [cell.strip() for row in rows for cell in row]
    if any(_POINT.fullmatch(cell) for cell in cells) or not any(_COMMA.fullmatch(cell) for cell in cells):
        return rows
    return [[_point(cell) for cell in row] for row in rows]


def _point(cell: str) -> str:
    return cell.strip().replace(".", "").replace(",", ".") if _COMMA.fullmatch(cell.strip()) else cell
