"""The sheet's list of items."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from lab.core.study.rating_sheet import FieldReference, Sheet
from lab.studies.rating.rating_session import may_stay_open
from lab.studies.rating.sheet_items import SheetItem
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

    def show(self, sheet: Sheet, way: Wording, items: list[SheetItem]) -> None:
        """Show the sheet's present state. Only lines that differ are painted again."""
        same = self.sheet is not None and (self.sheet.unit, self.way) == (sheet.unit, way)
        self.sheet, self.way, self.items = sheet, way, items
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
