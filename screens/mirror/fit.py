"""Position of a phone in terminal cells: conversion between pixels and cells, with the aspect ratio kept."""

from __future__ import annotations

from typing import Literal, NamedTuple

Zoom = Literal["fit", "wide", "1.5x", "2x", "3x"]
"""Scale of the phone in the widget.

`fit`: the whole phone in its aspect ratio. `wide`: the whole phone, up to twice as wide as its ratio, so that texts fit
in a low terminal. `1.5x`, `2x`, `3x`: so many times `fit`, a part at a time.
"""

ZOOMS: tuple[Zoom, ...] = ("fit", "wide", "2x")
"""Zooms through which one key cycles."""
TIMES: dict[Zoom, float] = {"1.5x": 1.5, "2x": 2.0, "3x": 3.0}
"""Factor over `fit` of each enlarged zoom, in ascending order."""


_AS_WIDE = 1.1
"""An enlarged phone's cell may be wider than a whole phone's by this factor and still count as no wider."""
WORD_COLUMNS = 45
"""Columns in which nearly all texts of a phone fit on their lines."""


class Fit(NamedTuple):
    """A phone of `size` pixels, whose part from (x0, y0) to (x1, y1) is drawn in `cols` x `rows` cells at (left, top).

    A cell shows one pixel across and two (half blocks) down, and counts as twice as high as wide.
    """

    size: tuple[int, int]
    left: int
    top: int
    cols: int
    rows: int
    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def cell_width(self) -> float:
        """Phone pixels in one column."""
        return (self.x1 - self.x0) / self.cols

    @property
    def cell_height(self) -> float:
        """Phone pixels in one row."""
        return (self.y1 - self.y0) / self.rows

    def column(self, x: float) -> float:
        """Convert a pixel's x to columns from the phone's left edge. A whole number is a cell's left edge."""
        return (x - self.x0) / self.cell_width

    def row(self, y: float) -> float:
        """Convert a pixel's y to rows from the phone's top edge."""
        return (y - self.y0) / self.cell_height

    def pixel(self, column: int, row: int) -> tuple[int, int] | None:
        """Return the phone's pixel in the middle of a widget's cell, or None outside the phone."""
        if not (self.left <= column < self.left + self.cols and self.top <= row < self.top + self.rows):
            return None
        return self.nearest(column, row)

    def nearest(self, column: int, row: int) -> tuple[int, int]:
        """Return the same pixel as `pixel`. For a cell outside the phone return the nearest pixel of its edge."""
        column = min(max(column - self.left, 0), self.cols - 1)
        row = min(max(row - self.top, 0), self.rows - 1)
        x = self.x0 + (column + 0.5) * self.cell_width
        y = self.y0 + (row + 0.5) * self.cell_height
        return min(int(x), self.size[0] - 1), min(int(y), self.size[1] - 1)


def fit(size: tuple[int, int], cells: tuple[int, int], zoom: Zoom = "fit", pan: tuple[int, int] = (0, 0)) -> Fit | None:
    """Return the position of a phone of `size` pixels in `cells` (columns, rows), or None if either is empty.

    `pan` is the phone's pixel at the top left of an enlarged view. It is clamped to the phone.
    """
    width, height = size
    columns, lines = cells
    if min(width, height, columns, lines) < 1:
        return None
    cols = min(columns, max(1, round(lines * 2 * width / height)))
    rows = min(lines, max(1, round(cols * height / width / 2))) if cols == columns else lines
    if zoom == "wide":
        cols = min(columns, max(cols, round(lines * 4 * width / height)))
    times = TIMES.get(zoom)
    if times is None:
        return Fit(size, (columns - cols) // 2, (lines - rows) // 2, cols, rows, 0, 0, width, height)
    whole_cols, whole_rows = round(cols * times), round(rows * times)
    shown_cols, shown_rows = min(columns, whole_cols), min(lines, whole_rows)
    part_width, part_height = width * shown_cols / whole_cols, height * shown_rows / whole_rows
    x0 = min(max(0.0, pan[0]), width - part_width)
    y0 = min(max(0.0, pan[1]), height - part_height)
    left, top = (columns - shown_cols) // 2, (lines - shown_rows) // 2
    return Fit(size, left, top, shown_cols, shown_rows, x0, y0, x0 + part_width, y0 + part_height)


def available_zooms(size: tuple[int, int], cells: tuple[int, int], whole: Zoom) -> list[Zoom]:
    """Return the zooms from `whole` (`fit` or `wide`) to the largest, in ascending order.

    If the whole phone is drawn wider than its aspect ratio, zooms that would make its texts narrower are left out.
    """
    now = fit(size, cells, whole)
    views: list[Zoom] = [whole]
    for zoom in TIMES:
        larger = fit(size, cells, zoom)
        if now is not None and larger is not None and larger.cell_width <= now.cell_width * _AS_WIDE:
            views.append(zoom)
    return views


def phone_room(size: tuple[int, int], lines: int, most: int, widened: int) -> tuple[int, Zoom]:
    """Return the columns and the zoom for a phone beside other panes of `lines` rows.

    It gets the columns of its aspect ratio, at most `most`. If its texts need more it becomes wider, up to twice, at
    most `widened` columns. A phone in landscape takes `widened` columns if its ratio asks for them.
    """
    if size[0] > size[1]:
        most = max(most, widened)
    shaped = min(most, max(12, round(lines * 2 * size[0] / size[1])))
    wide = min(widened, WORD_COLUMNS, most * 2, round(lines * 4 * size[0] / size[1]))
    return (wide, "wide") if wide > shaped else (shaped, "fit")
