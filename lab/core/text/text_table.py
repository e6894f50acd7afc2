"""Tables of text: wrap and pad cells to columns of a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, chop_cells, set_cell_size

from lab.core.text.plain_text import plain

GAP = 2
"""Blanks between two columns."""
Lines = list[str]
"""A cell's lines, none wider than its column."""


def clean(text: str) -> str:
    """Return a stranger's text in one line with every character visible."""
    return plain(text, lines=False)


def wrap_cells(text: str, width: int) -> list[str]:
    """Wrap text to lines of at most `width` columns, between words if possible."""
    lines = [""]
    for word in clean(text).split(" "):
        longer_line = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(longer_line) <= width:
            lines[-1] = longer_line
            continue
        pieces = chop_cells(word, max(width, 2)) or [""]
        lines += pieces if lines[-1] else []
        if not lines[-1]:
            lines[-1:] = pieces
    return lines


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Pad text to `width` columns."""
    fill = " " * max(0, width - cell_len(text))
    return fill + text if right else text + fill


def cut(text: str, width: int) -> str:
    """Cut text to at most `width` columns, with an ellipsis if something is cut."""
    return text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"


def join_cells(
    cells: Sequence[Lines], widths: Sequence[int], right: Sequence[bool] = (), *, heads: bool = False
) -> list[str]:
    """Return the lines of a row of cells. Cells of `heads` align at the bottom, others at the top.

    Cells for which `right` is true align to the right of their column.
    """
    high = max(len(lines) for lines in cells)
    out = []
    for line in range(high):
        parts = []
        for at, lines in enumerate(cells):
            place = line - (high - len(lines)) if heads else line
            text = lines[place] if 0 <= place < len(lines) else ""
            parts.append(pad(text, widths[at], right=at < len(right) and right[at]))
        out.append((" " * GAP).join(parts))
    return out
