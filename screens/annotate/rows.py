"""The sheet's list of items, and the options of the item under the cursor."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from lab.core.study.rating_sheet import FieldReference, Sheet
from lab.studies.rating.rating_session import may_stay_open
from lab.studies.rating.sheet_items import AnswerChoice, SheetItem, items_of
from lab.studies.rating.sheet_wording import Wording, clash_at
from screens.annotate.sheet_text import line_words
from screens.theme import MUTED
from screens.widgets.lines import MOVE, LineList


class SheetItems(LineList, inherit_bindings=False):
    """List of a unit's items, with a last line to hand it in."""

    HELP = """\
# The sheet

Each line is an item: **✓** answered, **–** skipped or not judged, **·** open. Digits answer the item under the cursor
and go on to the next open one; **{answer.next}** goes on, too. **{answer.other}** shows the *other answers*: skip,
cannot judge, a note, how sure you are, flags; so do **{answer.next}** on an open item and **{answer.0}** where it is
no answer. On the last line **{answer.next}** hands in. **{list.up}** **{list.down}** change items,
**{annotate.previous_step}** **{annotate.next_step}** the run's steps, **{annotate.scroll_up:pageup}**
**{annotate.scroll_down:pagedown}** (or **{annotate.scroll_up}** **{annotate.scroll_down}**) read on;
**{answer.evidence}** lets an answer rest on the step shown, **{answer.region}** on a part of its screen,
**{answer.to_evidence}** goes there, **{answer.undo}** takes the last answer back, **{annotate.header}** unfolds the
instruction, **{annotate.guide}** is the guideline, **{annotate.past}** lists your own
sheets so far. Every answer is on the disk before it is shown here.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, group=MOVE, id="list.up", tooltip="One line up"),
        Binding("down,j", "move(1)", "Down", show=False, group=MOVE, id="list.down", tooltip="One line down"),
        Binding("pageup", "page(-1)", "Page up", show=False, group=MOVE, id="list.page_up", tooltip="One page up"),
        Binding("pagedown", "page(1)", "Page down", show=False, group=MOVE, id="list.page_down",
                tooltip="One page down"),
        Binding("home", "edge(0)", "First", show=False, group=MOVE, id="list.first", tooltip="The first line"),
        Binding("end,G", "edge(-1)", "Last", show=False, group=MOVE, id="list.last", tooltip="The last line"),
    ]  # fmt: skip

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Use the page keys for the question and the texts beside it first, then for the list."""
        if action != "page" or not self.max_scroll_y:
            return action != "page"
        reads: Callable[[int], bool] = getattr(self.screen, "has_more", lambda by: False)
        return not reads(int(str(parameters[0])))

    def __init__(self) -> None:
        super().__init__(id="items", classes="pane")
        self.items: list[SheetItem] = []
        self.sheet: Sheet | None = None
        self.way: Wording | None = None
        self._digits = 0
        self._line_states: list[Hashable] = []

    def show(self, sheet: Sheet, way: Wording) -> None:
        """Show the sheet's present state. Only lines that differ are painted again."""
        before, same = self.sheet, self.sheet is not None and (self.sheet.unit, self.way) == (sheet.unit, way)
        self.sheet, self.way = sheet, way
        if not same or before is None or before.spots != sheet.spots:
            self.items = items_of(sheet)
        self._digits = len(str(len(sheet.unit.targets))) if sheet.unit.targets else 0
        previous_states, self._line_states = (
            self._line_states,
            [*map(self._line_state, self.items), self._last_line_state],
        )
        if self.virtual_size.height != self.count or self.virtual_size.width != self.scrollable_content_region.width:
            self.changed()
        elif same and len(previous_states) == len(self._line_states):
            pairs = enumerate(zip(previous_states, self._line_states, strict=True))
            self.repaint_lines(*(index for index, (then, now) in pairs if then != now))
        else:
            self.refresh()

    @property
    def _last_line_state(self) -> Hashable:
        """State of the sheet that the last line shows."""
        assert self.sheet is not None
        return (len(self.sheet.unanswered), len(may_stay_open(self.sheet)), self.sheet.committed)

    def _line_state(self, item: SheetItem) -> Hashable:
        """Return the state of the sheet that an item's line shows. The line changes only with it."""
        assert self.sheet is not None
        spots = [item.spot, *(FieldReference(item.spot.target, flag.id) for flag in item.flags)]
        heads = [self.sheet.heads.get(spot) for spot in spots]
        return (*spots, *(head.id if head is not None else "" for head in heads), bool(clash_at(self.sheet, item)))

    @property
    def item(self) -> SheetItem | None:
        """Item under the cursor, or None on the last line."""
        return self.items[self.cursor] if self.cursor < len(self.items) else None

    def index_of(self, spot: FieldReference | None) -> int:
        """Return the line of a place. A flag's line is that of its item, None is the last line."""
        if spot is None:
            return len(self.items)
        for index, item in enumerate(self.items):
            if item.spot == spot or (item.spot.target == spot.target and spot.field in [f.id for f in item.flags]):
                return index
        return next((index for index, item in enumerate(self.items) if item.spot.target == spot.target), 0)

    @property
    def count(self) -> int:
        return len(self.items) + 1 if self.sheet is not None else 0

    def _keep_in_sight(self) -> None:
        """Scroll by most of a page when the next item is out of view, otherwise do not move the list.

        While the current item is visible, paint the answer before it first, since scrolling paints the whole list.
        """
        height, top = max(1, self.scrollable_content_region.height), self.scroll_offset.y
        if self.cursor < top:
            self.scroll_to(y=self.cursor - height + 1 + height // 4, animate=False)
        elif self.cursor >= top + height:
            self._scroll_at_edge()
        elif self._at_edge:
            self.call_after_refresh(self._scroll_at_edge)

    @property
    def _at_edge(self) -> bool:
        """True if the line after the current one is out of view."""
        height = max(1, self.scrollable_content_region.height)
        return min(self.cursor + 1, self.count - 1) >= self.scroll_offset.y + height

    def _scroll_at_edge(self) -> None:
        if self._at_edge:
            height = max(1, self.scrollable_content_region.height)
            self.scroll_to(y=self.cursor - height // 4, animate=False)

    def paint(self, index: int, width: int) -> Content:
        assert self.sheet is not None
        assert self.way is not None
        if index < len(self.items):
            return line_words(self.way, self.sheet, self.items[index], width, self._digits)
        open_count = len(self.sheet.unanswered)
        if self.sheet.committed:
            return Content.styled(f"  {self.way.sheet('_handed_in')}", MUTED)
        optional = len(may_stay_open(self.sheet))
        state = self.way.sheet("_open", open_count) if open_count else self.way.sheet("_answered")
        if optional and not open_count:
            state = self.way.sheet("_optional", optional)
        return Content.assemble(f"» {self.way.sheet('_hand_in')}", (f"   {state}", MUTED))


_INDENT = 4
"""Columns by which an answer of several lines is indented below its sign and digit."""


class AnswerOptions(Widget):
    """Answers of the current item with their digits, side by side if they fit. A click gives one."""

    DEFAULT_CSS = "AnswerOptions { height: auto; width: 1fr; }"
    _GAP = 3

    @dataclass
    class Picked(Message):
        """Message: an option was clicked."""

        key: str

    def __init__(self) -> None:
        super().__init__(id="options")
        self.choices: Sequence[AnswerChoice] = ()
        self.flags: Sequence[AnswerChoice] = ()
        self.marked: Collection[str] = ()
        self.hint = ""
        self.many = False

    def show(
        self,
        choices: Sequence[AnswerChoice],
        flags: Sequence[AnswerChoice] = (),
        standing: Collection[str] = (),
        says: str = "",
        *,
        many: bool = False,
    ) -> None:
        """Show these options with the keys in `marked` marked, without options, how to answer the item.

        If `many`, several may be marked.
        """
        current = (self.choices, self.flags, self.marked, self.hint, self.many)
        if (choices, flags, standing, says, many) == current:
            return
        self.choices, self.flags, self.marked, self.hint, self.many = choices, flags, standing, says, many
        before, width = self.size.height, self.size.width
        self.refresh(layout=not width or self.rows(width) != before)

    @property
    def all(self) -> list[AnswerChoice]:
        """Options and then flags."""
        return [*self.choices, *self.flags]

    def _cell(self, choice: AnswerChoice, signs: str) -> Content:
        stands = choice.key in self.marked
        style = "bold" if stands else ""
        sign = f"{signs[stands]} "
        return Content.assemble((sign, style), (choice.key, "bold underline"), (f" {choice.says}", style))

    def _lines(self, width: int) -> list[list[Content]]:
        """Return rows of cells: options side by side if all fit, else stacked. Flags have rows of their own."""
        lines: list[list[Content]] = []
        for choices, signs in ((self.choices, "☐☑" if self.many else "○●"), (self.flags, "☐☑")):
            cells = [self._cell(choice, signs) for choice in choices]
            wide = sum(cell.cell_length for cell in cells) + self._GAP * (len(cells) - 1)
            lines += [cells] if cells and wide <= width else [[cell] for cell in cells]
        return lines

    def _hint_lines(self, width: int) -> list[Content]:
        return Content(self.hint).wrap(max(1, width)) if self.hint else []

    def _wrap_row(self, cells: Sequence[Content], width: int) -> list[Content]:
        """Return the lines of a row of cells. A cell wider than the width continues with an indent."""
        if len(cells) > 1 or cells[0].cell_length <= width:
            return [Content(" " * self._GAP).join(cells)]
        first, *others = cells[0].wrap(max(1, width - _INDENT))
        return [first, *(Content(" " * _INDENT) + line for line in others)]

    def rows(self, width: int) -> int:
        """Return the rows that everything takes in so many columns."""
        return len(self._hint_lines(width)) + sum(len(self._wrap_row(cells, width)) for cells in self._lines(width))

    def render(self) -> Content:
        width = max(1, self.size.width)
        lines = [line for cells in self._lines(width) for line in self._wrap_row(cells, width)]
        return Content("\n").join([*self._hint_lines(width), *lines])

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self.rows(width)

    def on_click(self, event: events.Click) -> None:
        width = self.size.width
        choices = iter(self.all)
        row = len(self._hint_lines(width))
        for cells in self._lines(width):
            left, rows = 0, len(self._wrap_row(cells, width))
            for cell in cells:
                choice = next(choices)
                if row <= event.y < row + rows and (left <= event.x < left + cell.cell_length or len(cells) == 1):
                    self.post_message(self.Picked(choice.key))
                left += cell.cell_length + self._GAP
            row += rows
