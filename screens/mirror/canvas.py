"""Widget that shows painted cells: one strip a row. It redraws only the rows that differ."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.color import Color
from textual.filter import ANSIToTruecolor, LineFilter
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from screens.mirror.glyphs import FIRST, Codes
from screens.mirror.marks import PhoneMark, draw_marks
from screens.widgets.paintable import PaintableFilter

if TYPE_CHECKING:
    from screens.mirror.paint import Cells
    from screens.mirror.painter import PaintedPhone


class Canvas(Widget):
    """The painted phone with its marks on top, or a notice until the first picture."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "Canvas { width: 1fr; height: 1fr; }"

    class Sized(Message):
        """Message: the size changed, so the painter must paint the phone again."""

    def __init__(self, notice: str) -> None:
        super().__init__()
        self.codes = Codes()
        self.notice = notice
        self.rows_drawn = 0
        """Number of rows redrawn so far, a measure of what pictures cost."""
        self.faded = False
        """True to draw without colours, for a picture that is out of date."""
        self._cells: Cells | None = None
        self._strips: list[CellStrip] = []

    def _on_resize(self, event: events.Resize) -> None:
        self.post_message(self.Sized())

    def draw(self, phone: PaintedPhone, marks: Sequence[PhoneMark]) -> int:
        """Show a painted phone with its marks. Return the number of rows that differ from those shown before."""
        from screens.mirror.paint import changed_rows, filled, greyed, pack

        cells = phone.cells
        if phone.fit is None or (phone.fit.rows, phone.fit.cols) != cells.shape:
            cells = filled(cells, pack(*self.background_colors[1].rgb))
        if self.faded:
            cells = greyed(cells)
        if marks and phone.fit is not None:
            cells = cells.copy()
            draw_marks(cells, phone.fit, marks, self.codes)
        rows = changed_rows(self._cells, cells)
        new_strips = strips(cells, rows, self.codes)
        if len(rows) == cells.shape[0]:
            self._strips = new_strips
        else:
            for row, strip in zip(rows, new_strips, strict=True):
                self._strips[row] = strip
        self._cells = cells
        self.rows_drawn += len(rows)
        if rows:
            width = self.size.width
            self.refresh(*(Region(0, first, width, last - first) for first, last in _ranges(rows)))
        return len(rows)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the strips of a region.

        Overrides Textual's method because a canvas has neither border nor padding to add.
        """
        width = self.size.width
        background = self.background_colors[1]
        filters = self.get_line_filters()
        lines: list[Strip] = []
        for y in crop.line_range:
            line: Strip = self._strips[y] if y < len(self._strips) else self._bare_row(y, width)
            if line.cell_length != width:
                line = line.adjust_cell_length(width, self.rich_style)
            for filter in filters:
                line = line.apply_filter(filter, background)
            lines.append(line if crop.column_span == (0, width) else line.crop(*crop.column_span))
        return lines

    def _bare_row(self, y: int, width: int) -> Strip:
        """Return a row without paint. The middle one holds the notice."""
        if y != self.size.height // 2 or self._strips:
            return Strip.blank(width, self.rich_style)
        return Strip([Segment(self.notice[:width].center(width), self.rich_style)], width)


def _ranges(rows: Sequence[int]) -> list[tuple[int, int]]:
    """Join sorted rows into ranges [first, last)."""
    ranges: list[tuple[int, int]] = []
    for row in rows:
        if ranges and ranges[-1][1] == row:
            ranges[-1] = ranges[-1][0], row + 1
        else:
            ranges.append((row, row + 1))
    return ranges


BOLD, RGB = 1 << 24, 0xFFFFFF
_FORE, _BACK, _WEIGHT = 1 << 50, 1 << 51, 1 << 52
"""Bits of a run's number: its foreground, background or boldness differs from the run before."""

Run = tuple[int, str]
"""A run's look as one number (background, foreground 25 bits higher, changes), and its text."""


class CellStrip(Strip):
    """One row of cells.

    Its segments are made only on demand (for a dialog over it, or an exported picture). A truecolor terminal gets its
    runs directly.
    """

    def __init__(self, runs: Sequence[Run], columns: int) -> None:
        self._runs = runs
        self._made: list[Segment] | None = None
        super().__init__((), columns)
        # `Strip.__init__` has set the segments: undo that, so that they are made on demand.
        self._made = None

    @property
    def _segments(self) -> list[Segment]:
        if self._made is None:
            self._made = [Segment(text, _style(look)) for look, text in self._runs]
        return self._made

    @_segments.setter
    def _segments(self, segments: list[Segment]) -> None:
        self._made = segments

    def apply_filter(self, filter: LineFilter, background: Color) -> Strip:
        """Apply a filter like any strip.

        Skip those for the terminal's own colours and for characters that it obeys: no cell uses either.
        """
        if isinstance(filter, ANSIToTruecolor | PaintableFilter):
            return self
        return super().apply_filter(filter, background)

    def render(self, console: Console) -> str:
        """Return the row as escape codes. Each run states only what differs from the run before it."""
        if self._render_cache is None:
            # With fewer colours Rich must map each style to its palette.
            if console._color_system not in (None, ColorSystem.TRUECOLOR):
                return super().render(console)
            self._render_cache = "".join([_code(look) + text for look, text in self._runs]) + "\x1b[0m"
        return self._render_cache


@lru_cache(maxsize=32768)
def _code(look: int) -> str:
    """Return the escape code at the start of a run."""
    fg, bg = look >> 25 & (BOLD | RGB), look & RGB
    codes = []
    if look & _WEIGHT:
        codes.append("1" if fg & BOLD else "22")
    if look & _FORE:
        codes.append(f"38;2;{fg & 255};{fg >> 8 & 255};{fg >> 16 & 255}")
    if look & _BACK:
        codes.append(f"48;2;{bg & 255};{bg >> 8 & 255};{bg >> 16 & 255}")
    return f"\x1b[{';'.join(codes)}m" if codes else ""


@lru_cache(maxsize=8192)
def _style(look: int) -> Style:
    fg, bg = look >> 25 & (BOLD | RGB), look & RGB
    return Style(
        color=RichColor.from_rgb(fg & 255, fg >> 8 & 255, fg >> 16 & 255),
        bgcolor=RichColor.from_rgb(bg & 255, bg >> 8 & 255, bg >> 16 & 255),
        bold=True if fg & BOLD else None,
    )


def strips(cells: Cells, rows: Sequence[int], codes: Codes) -> list[CellStrip]:
    """Return the strips of some rows of cells. None of their backgrounds may be NOTHING."""
    import numpy as np

    if not rows:
        return []
    columns = cells.shape[1]
    glyphs, fg, bg = (part[rows] for part in cells)
    fore, back = np.ones(fg.shape, np.bool_), np.ones(bg.shape, np.bool_)
    np.not_equal(fg[:, 1:], fg[:, :-1], out=fore[:, 1:])
    np.not_equal(bg[:, 1:], bg[:, :-1], out=back[:, 1:])
    heavy = fg & np.uint32(BOLD)
    weight = heavy != 0
    np.not_equal(heavy[:, 1:], heavy[:, :-1], out=weight[:, 1:])
    begins = np.flatnonzero(fore | back)
    looks = fg.ravel()[begins].astype(np.uint64) << np.uint64(25) | bg.ravel()[begins]
    for new, bit in ((fore, _FORE), (back, _BACK), (weight, _WEIGHT)):
        looks |= new.ravel()[begins] * np.uint64(bit)
    # One code point for each cell, so an offset in the text is an offset in the cells.
    text = glyphs.tobytes().decode("utf-32-le")
    own: list[bool] = (glyphs.max(axis=1) >= FIRST).tolist()
    places = [*begins.tolist(), len(text)]
    runs = [(look, text[start:end]) for look, start, end in zip(looks.tolist(), places[:-1], places[1:], strict=True)]
    bounds = np.searchsorted(begins, np.arange(len(rows) + 1) * columns).tolist()
    out: list[CellStrip] = []
    for number, first in enumerate(bounds[:-1]):
        row = runs[first : bounds[number + 1]]
        if own[number]:
            row = [(look, codes.text(part)) for look, part in row]
        out.append(CellStrip(row, columns))
    return out
