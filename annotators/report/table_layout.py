"""Tables as lines of limited width: each row on one line, else folded, else as a block."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rich.cells import cell_len

from annotators.report.number_words import cell_of, interval_of, value_of
from lab.core.study.report import Cell, Number
from lab.core.text.text_table import GAP, Lines, clean, join_cells, wrap_cells

_COUNT = re.compile(r"^(?:[-+]?[\d,.]+(?: %)?|—|-)?$")
"""A count, a share, a dash, or nothing."""
_LEAST = 10
"""Minimum width of a folded cell of words."""
_HEAD = 3
"""Maximum lines of a column's name."""
_NARROW = 12
"""Width to which an undefined number is folded if it shares its column with intervals."""


def number_columns(rows: Sequence[Sequence[Cell]], columns: int) -> list[bool]:
    """Return True for each column of numbers, which is right-aligned. The first column names the rows."""
    cells_by_column = [[row[at] for row in rows] for at in range(columns)]
    return [
        at > 0
        and any(cells)
        and (
            any(isinstance(cell, Number) for cell in cells)
            or all(_COUNT.match(cell) for cell in cells if isinstance(cell, str))
        )
        for at, cells in enumerate(cells_by_column)
    ]


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[Cell]], width: int) -> list[str]:
    """Return a table's lines, each at most `width` wide.

    A table that is too wide continues below with further columns.
    """
    # The first form that fits wins: numbers beside their interval, else above it.
    for cells in (_in_one_line, _over_its_interval):
        if (grid := _grid(columns, rows, cells, width)) is not None:
            return grid
    out: list[str] = []
    for part in _parts(columns, rows, width):
        grid = _grid(
            [columns[at] for at in part], [[row[at] for at in part] for row in rows], _over_its_interval, width
        )
        if grid is None:
            return _blocks(columns, rows, width)
        out += ["", *grid] if out else grid
    return out


def _parts(columns: Sequence[str], rows: Sequence[Sequence[Cell]], width: int) -> list[list[int]]:
    """Return groups of columns that fit side by side, each with the first column."""
    parts = [[0]]
    for at in range(1, len(columns)):
        wider = [*parts[-1], at]
        grid = _grid([columns[i] for i in wider], [[row[i] for i in wider] for row in rows], _over_its_interval, width)
        # A group has at least one column beside the first, even if it is too wide.
        if grid is None and len(parts[-1]) > 1:
            parts.append([0, at])
        else:
            parts[-1] = wider
    return parts


def _in_one_line(cell: Cell) -> Lines:
    return [clean(cell_of(cell))]


def _over_its_interval(cell: Cell) -> Lines:
    if isinstance(cell, str):
        return [clean(cell)]
    if cell.agreement.value is None:
        return wrap_cells(value_of(cell), _NARROW)
    return [clean(part) for part in (value_of(cell), interval_of(cell)) if part]


def _grid(
    columns: Sequence[str], rows: Sequence[Sequence[Cell]], form: Callable[[Cell], Lines], width: int
) -> list[str] | None:
    """Return rows below their column names, or None if they do not fit."""
    cells = [[form(cell) for cell in row] for row in rows]
    fixed = [any(isinstance(row[at], Number) for row in rows) for at in range(len(columns))]
    needs = [
        max([_header(name, fixed[at]), *(cell_len(line) for row in cells for line in row[at])])
        for at, name in enumerate(columns)
    ]
    widths = _widths(columns, needs, fixed, width)
    if widths is None:
        return None
    right = number_columns(rows, len(columns))
    out = join_cells([wrap_cells(name, widths[at]) for at, name in enumerate(columns)], widths, right, heads=True)
    out.append("─" * (sum(widths) + GAP * (len(widths) - 1)))
    for row in cells:
        out += join_cells(
            [lines if fixed[at] and len(lines) > 1 else
             [part for line in lines for part in wrap_cells(line, widths[at])]
             for at, lines in enumerate(row)],
            widths, right,
        )  # fmt: skip
    return [line.rstrip() for line in out]


def _header(name: str, fixed: bool) -> int:
    """Return the width of a column's name, over numbers folded at blanks into at most three lines."""
    full_width = cell_len(clean(name))
    if not fixed:
        return full_width
    least = max(map(cell_len, clean(name).split(" ")))
    return next((wide for wide in range(least, full_width) if len(wrap_cells(name, wide)) <= _HEAD), max(least, 1))


def _widths(columns: Sequence[str], needs: Sequence[int], fixed: Sequence[bool], width: int) -> list[int] | None:
    """Return the width of each column, None if the total is too small.

    Numbers get their full width, words share the rest.
    """
    space_for_words = (
        width - GAP * (len(needs) - 1) - sum(need for need, holds in zip(needs, fixed, strict=True) if holds)
    )
    words = [at for at, holds in enumerate(fixed) if not holds]
    widths = list(needs)
    if sum(needs[at] for at in words) <= space_for_words:
        return widths
    for at in words:
        widths[at] = min(needs[at], _LEAST)
    spare = space_for_words - sum(widths[at] for at in words)
    if spare < 0:
        return None
    # One column at a time to the narrowest, so that words end up as even as possible.
    while spare > 0:
        tight = [at for at in words if widths[at] < needs[at]]
        if not tight:
            break
        at = min(tight, key=lambda at: (widths[at], at))
        widths[at] += 1
        spare -= 1
    return widths


def _blocks(columns: Sequence[str], rows: Sequence[Sequence[Cell]], width: int) -> list[str]:
    """Return each row as a block: its name, then a line for each column."""
    out: list[str] = []
    for row in rows:
        out += wrap_cells(cell_of(row[0]), width)
        for name, cell in zip(columns[1:], row[1:], strict=True):
            text = cell_of(cell)
            if text:
                out += [f"    {line}" for line in wrap_cells(f"{name}: {text}", width - 4)]
    return out
