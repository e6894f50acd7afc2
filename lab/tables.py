"""What commands print for people as a table that fits their terminal."""

from __future__ import annotations

import sys

from lab.plain import plain

_WIDEST = 60
"""Most columns of a cell that does not fold: what is longer would take the others' place."""

_FOLDED = 20
"""Least columns in which a cell is folded; with less it stands below its row."""


def print_table(columns: list[str], rows: list[list[str]], *, wide: str = "") -> None:
    """A table for people; cells are plain characters, whatever they hold.

    The first column, which one types again, is never cut. `wide` names the column that folds; where nearly no place is
    left for it, its cells stand below their rows. Of the others the longest are cut first.
    """
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 240)
    cells = [[Text(plain(cell, lines=False)) for cell in row] for row in rows]
    needs = [max(Text(name).cell_len, *(row[at].cell_len for row in cells), 0) for at, name in enumerate(columns)]
    folds = columns.index(wide) if wide else None
    widths = _widths(needs, folds, console.width)

    def table(some: list[list[Text]], header: bool) -> Table:
        out = Table(box=None, pad_edge=False, show_header=header, header_style="bold")
        for at, width in widths.items():
            out.add_column(
                columns[at], width=width, no_wrap=at != folds, overflow="fold" if at == folds else "ellipsis"
            )
        for row in some:
            out.add_row(*(row[at] for at in widths))
        return out

    if folds is None or folds in widths:
        console.print(table(cells, True))
        return
    for number, row in enumerate(cells):
        console.print(table([row], number == 0), Padding(row[folds], (0, 0, 0, 4)))


def _widths(needs: list[int], folds: int | None, whole: int) -> dict[int, int]:
    """The columns of each cell by its place, two blanks between them; without `folds` where that stands below."""
    widths = {at: need if at in (0, folds) else min(need, _WIDEST) for at, need in enumerate(needs)}
    rest = whole - 2 * (len(widths) - 1)
    if folds is not None:
        left = rest - sum(width for at, width in widths.items() if at != folds)
        if left >= min(_FOLDED, needs[folds]):
            return {**widths, folds: min(left, needs[folds])}
        del widths[folds]
        rest += 2
    while sum(widths.values()) > rest and (longest := max(list(widths)[1:], key=widths.__getitem__, default=None)):
        if widths[longest] <= 1:
            break
        widths[longest] -= 1
    return widths
