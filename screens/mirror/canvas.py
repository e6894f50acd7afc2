"""Widget that shows painted cells: one strip a row. It redraws only the rows that differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from screens.mirror.glyphs import Codes
from screens.mirror.marks import PhoneMark, draw_marks
from screens.mirror.strips import CellStrip, strips

if TYPE_CHECKING:
    from screens.mirror.paint import Cells
    from screens.mirror.painter import PaintedPhone


class Canvas(Widget):
    """The painted phone with its marks on top; a notice until the first picture."""

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
