"""A confusion matrix: shaded counts of pairs of answers, with a cursor that moves from cell to cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from lab.core.study.report import Grid
from lab.core.text.text_charts import shade
from lab.core.values.rounding import format_number
from lab.runs.descriptions import one_line
from screens.theme import MUTED
from screens.widgets.lines import MOVE, to_strip
from screens.widgets.table import TableColumn, cell

_SAME = ("", "on $success 15%", "on $success 30%", "on $success 45%", "on $success 60%")
_OTHER = ("", "on $warning 15%", "on $warning 30%", "on $warning 45%", "on $warning 60%")
_LEAST, _MOST = 6, 16
"""Minimum and maximum columns of a cell."""
_NAME = 18
"""Maximum columns of a row's name."""


class ConfusionGrid(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows are one side's answers, columns the other side's. On the diagonal both are the same."""

    HELP = """\
# Grid

How often one answer (down) came together with another (across). Between the brackets, from the upper left to the lower
right, both are the same; all else is disagreement. Numbers are counts; darker is more often. Arrows go from cell to
cell, **{grid.open}** lists the items of a cell.
"""
    DEFAULT_CSS = """
    ConfusionGrid { overflow: hidden hidden; scrollbar-size: 0 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1, 0)", "Up", show=False, group=MOVE, id="grid.up", tooltip="One cell up"),
        Binding("down,j", "move(1, 0)", "Down", show=False, group=MOVE, id="grid.down", tooltip="One cell down"),
        Binding("left,h", "move(0, -1)", "Left", show=False, group=MOVE, id="grid.left", tooltip="One cell left"),
        Binding("right,l", "move(0, 1)", "Right", show=False, group=MOVE, id="grid.right", tooltip="One cell right"),
        Binding("home,g", "edge(0)", "First", show=False, group=MOVE, id="grid.first", tooltip="The first cell"),
        Binding("end,G", "edge(-1)", "Last", show=False, group=MOVE, id="grid.last", tooltip="The last cell"),
        Binding("enter", "choose", "Open", show=False, group=MOVE, id="grid.open", tooltip="List this cell's items"),
    ]

    @dataclass
    class Chosen(Message):
        """Message: Enter or a double click on a cell, with both answers."""

        grid: ConfusionGrid
        down: str
        across: str

    @dataclass
    class Moved(Message):
        """Message: the cursor moved to another cell."""

        grid: ConfusionGrid

    def __init__(self, id: str) -> None:
        super().__init__(id=id, classes="pane")
        self.grid: Grid | None = None
        self.at = (0, 0)
        self.empty = ""
        """Text if there is no grid."""

    def show(self, grid: Grid | None, empty: str = "") -> None:
        """Show another grid. The cursor stays at its cell if that exists."""
        self.grid, self.empty = grid, empty
        self.virtual_size = Size(self.scrollable_content_region.width, self.scrollable_content_region.height)
        self._go(*self.at)
        self.refresh()

    @property
    def has_cells(self) -> bool:
        """True if there is at least one cell."""
        return self.grid is not None and bool(self.grid.down) and bool(self.grid.across)

    def cell_words(self) -> str:
        """Return the cell under the cursor in words."""
        if self.grid is None or not self.has_cells:
            return ""
        row, column = self.at
        count = self.grid.counts[row][column]
        down, across = one_line(self.grid.down[row], 40), one_line(self.grid.across[column], 40)
        one, other = one_line(self.grid.down_is, 24) or "one", one_line(self.grid.across_is, 24) or "another"
        return f"{one}: {down}, {other}: {across}, {_count_words(count)} times"

    # -- painting --------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        return to_strip(self, self._content(y, width), width, self.visual_style)

    def _content(self, y: int, width: int) -> Content:
        grid = self.grid
        if grid is None or not self.has_cells:
            lines = Content.styled(self.empty, MUTED).wrap(width) if self.empty and width > 0 else []
            return lines[y] if y < len(lines) else Content("")
        name, side = self._cell_sizes(width)
        left, columns = self._visible_columns(width)
        if y == 0:
            return self._heading(grid, name, side, left, columns)
        index = y - 1 + self._top_row()
        if index < len(grid.down):
            return self._row(grid, index, name, side, range(left, left + columns))
        return Content("")

    def _heading(self, grid: Grid, name: int, side: int, left: int, columns: int) -> Content:
        more = "◂" if left else " "
        after = " ▸" if left + columns < len(grid.across) else ""
        heads = "".join(cell(one_line(word), TableColumn("", side - 1, 0, right=True)) + " "
                        for word in grid.across[left : left + columns])  # fmt: skip
        return Content.styled(" " * (name - 1) + more + " " + heads + after, f"bold {MUTED}")

    def _row(self, grid: Grid, row: int, name: int, side: int, columns: range) -> Content:
        most = max((count for line in grid.counts for count in line), default=0.0)
        parts: list[tuple[str, str]] = [(cell(one_line(grid.down[row]), TableColumn("", name, 0)) + " ", MUTED)]
        for column in columns:
            count = grid.counts[row][column]
            same = grid.down[row] == grid.across[column]
            count_text = _count_words(count) if count else "·"
            text = f"[{count_text}]" if same else f"{count_text} "
            style = (_SAME if same else _OTHER)[shade(count, most)]
            if (row, column) == self.at:
                cursor = "bold $block-cursor-foreground on $block-cursor-background"
                text, style = (text, cursor) if self.has_focus else (f"›{text}", f"bold {style}")
            parts.append((text.rjust(side), style))
        return Content.assemble(*parts)

    def _cell_sizes(self, width: int) -> tuple[int, int]:
        """Return the columns of the rows' names, and of a cell."""
        assert self.grid is not None
        name = min(_NAME, max(6, width // 3), max(map(_text_width, self.grid.down)))
        most = max(len(_count_words(count)) for line in self.grid.counts for count in line) + 2
        ideal = max(_LEAST, most, min(_MOST, max(map(_text_width, self.grid.across)) + 1))
        room = max(1, width - name - 4)
        fits = room // max(1, len(self.grid.across))
        return name, max(most, _LEAST, min(ideal, fits)) if fits >= max(most, _LEAST) else max(most, _LEAST)

    def _visible_columns(self, width: int) -> tuple[int, int]:
        """Return the first visible column, and the number of visible columns."""
        assert self.grid is not None
        name, side = self._cell_sizes(width)
        fit = max(1, (width - name - 4) // side)
        left = max(0, min(self.at[1] - fit + 1 if self.at[1] >= fit else 0, len(self.grid.across) - fit))
        return left, min(fit, len(self.grid.across))

    def _top_row(self) -> int:
        height = max(1, self.scrollable_content_region.height - 1)
        return max(0, self.at[0] - height + 1)

    # -- keys and mouse --------------------------------------------------------------------------------------

    def _go(self, row: int, column: int) -> None:
        if self.grid is None or not self.has_cells:
            self.at = (0, 0)
            return
        self.at = (
            max(0, min(row, len(self.grid.down) - 1)),
            max(0, min(column, len(self.grid.across) - 1)),
        )
        self.refresh()
        self.post_message(self.Moved(self))

    def action_move(self, down: int, across: int) -> None:
        self._go(self.at[0] + down, self.at[1] + across)

    def action_edge(self, which: int) -> None:
        if self.grid is not None:
            self._go(*((0, 0) if which == 0 else (len(self.grid.down) - 1, len(self.grid.across) - 1)))

    def action_choose(self) -> None:
        if self.grid is not None and self.has_cells:
            row, column = self.at
            self.post_message(self.Chosen(self, self.grid.down[row], self.grid.across[column]))

    def on_click(self, event: events.Click) -> None:
        if self.grid is None or not self.has_cells:
            return
        offset = event.get_content_offset_capture(self)
        width = self.scrollable_content_region.width
        name, side = self._cell_sizes(width)
        left, columns = self._visible_columns(width)
        row, column = offset.y - 1 + self._top_row(), (offset.x - name - 1) // side
        if offset.y < 1 or offset.x <= name or not 0 <= column < columns or row >= len(self.grid.down):
            return
        self._go(row, left + column)
        if event.chain == 2:
            self.action_choose()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        self.refresh()


def _count_words(count: float) -> str:
    return f"{int(count):,}" if count == int(count) else format_number(count, 1)


def _text_width(text: str) -> int:
    return Content(one_line(text)).cell_length
