"""The sheet's list of items, and the options of the one under the cursor."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from lab.labels import Sheet, Spot
from screens.annotate.items import Choice, Item, items_of
from screens.annotate.words import Way, clash_at, line_words
from screens.lines import MOVE, Lines


class Items(Lines, inherit_bindings=False):
    """Every item of a unit, and at last the line that hands it in."""

    HELP = """\
# The sheet

Each line is an item: **✓** answered, **–** skipped or not judged, **·** open. Digits answer the item under the cursor
and go on to the next open one; **Enter** goes on, too, and on an open item shows the *other answers*: skip, cannot
judge, a note, how sure you are, flags. On the last line **Enter** hands in. **↑** **↓** change items, **←** **→** the
run's steps; `e` lets an answer rest on the step shown, `r` on a part of its screen, `g` goes there, `z` takes the last
answer back, `t` is the guideline. Every answer is on the disk before it is shown here.
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

    def __init__(self) -> None:
        super().__init__(id="items", classes="pane")
        self.items: list[Item] = []
        self.sheet: Sheet | None = None
        self.way: Way | None = None
        self._digits = 0
        self._stood: list[Hashable] = []

    def show(self, sheet: Sheet, way: Way) -> None:
        """Shows how the sheet stands now; only lines that say another thing are painted anew."""
        before, same = self.sheet, self.sheet is not None and (self.sheet.unit, self.way) == (sheet.unit, way)
        self.sheet, self.way = sheet, way
        if not same or before is None or before.spots != sheet.spots:
            self.items = items_of(sheet)
        self._digits = len(str(len(sheet.unit.targets))) if sheet.unit.targets else 0
        stood, self._stood = self._stood, [*map(self._stands, self.items), (len(sheet.unanswered), sheet.committed)]
        if self.virtual_size.height != self.count or self.virtual_size.width != self.scrollable_content_region.width:
            self.changed()
        elif same and len(stood) == len(self._stood):
            pairs = enumerate(zip(stood, self._stood, strict=True))
            self.changed_at(*(index for index, (then, now) in pairs if then != now))
        else:
            self.refresh()

    def _stands(self, item: Item) -> Hashable:
        """All of the sheet that a line shows; as long as it is the same, so is the line."""
        assert self.sheet is not None
        spots = [item.spot, *(Spot(item.spot.target, flag.id) for flag in item.flags)]
        heads = [self.sheet.heads.get(spot) for spot in spots]
        return (*spots, *(head.id if head is not None else "" for head in heads), bool(clash_at(self.sheet, item)))

    @property
    def item(self) -> Item | None:
        """The one under the cursor; None on the last line."""
        return self.items[self.cursor] if self.cursor < len(self.items) else None

    def index_of(self, spot: Spot | None) -> int:
        """The line of a place; of a flag the line it stands on; the last for None."""
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
        """The list stands still while items are answered, and turns by most of a page where the next is not seen.

        As long as the current item is seen the answer before it is painted first: a turn paints the whole list.
        """
        height, top = max(1, self.scrollable_content_region.height), self.scroll_offset.y
        if self.cursor < top:
            self.scroll_to(y=self.cursor - height + 1 + height // 4, animate=False)
        elif self.cursor >= top + height:
            self._turn()
        elif self._at_edge:
            self.call_after_refresh(self._turn)

    @property
    def _at_edge(self) -> bool:
        """Whether what comes after the current line is not in sight."""
        height = max(1, self.scrollable_content_region.height)
        return min(self.cursor + 1, self.count - 1) >= self.scroll_offset.y + height

    def _turn(self) -> None:
        if self._at_edge:
            height = max(1, self.scrollable_content_region.height)
            self.scroll_to(y=self.cursor - height // 4, animate=False)

    def paint(self, index: int, width: int) -> Content:
        assert self.sheet is not None
        assert self.way is not None
        if index < len(self.items):
            return line_words(self.way, self.sheet, self.items[index], width, self._digits)
        left = len(self.sheet.unanswered)
        if self.sheet.committed:
            return Content.styled(f"  {self.way.sheet('_handed_in')}", "$foreground-muted")
        state = self.way.sheet("_open", left) if left else self.way.sheet("_answered")
        return Content.assemble(f"» {self.way.sheet('_hand_in')}", (f"   {state}", "$foreground-muted"))


class Options(Widget):
    """The answers of the current item with their digits, side by side where they fit; a click gives one."""

    DEFAULT_CSS = "Options { height: auto; width: 1fr; }"
    _GAP = 3

    @dataclass
    class Picked(Message):
        """An option was clicked."""

        key: str

    def __init__(self) -> None:
        super().__init__(id="options")
        self.choices: Sequence[Choice] = ()
        self.flags: Sequence[Choice] = ()
        self.standing: Collection[str] = ()
        self.says = ""

    def show(
        self,
        choices: Sequence[Choice],
        flags: Sequence[Choice] = (),
        standing: Collection[str] = (),
        says: str = "",
    ) -> None:
        """Shows these, the keys of those that stand marked; where there are none, how the item is answered."""
        if (choices, flags, standing, says) == (self.choices, self.flags, self.standing, self.says):
            return
        self.choices, self.flags, self.standing, self.says = choices, flags, standing, says
        before, width = self.size.height, self.size.width
        self.refresh(layout=not width or self._rows(width) != before)

    @property
    def all(self) -> list[Choice]:
        """Options and then flags."""
        return [*self.choices, *self.flags]

    def _cell(self, choice: Choice, signs: str) -> Content:
        stands = choice.key in self.standing
        style = "bold" if stands else ""
        sign = f"{signs[stands]} "
        return Content.assemble((sign, style), (choice.key, "bold underline"), (f" {choice.says}", style))

    def _lines(self, width: int) -> list[list[Content]]:
        """Rows of cells: options side by side where all fit, else one below the other; flags in rows of their own."""
        found: list[list[Content]] = []
        for choices, signs in ((self.choices, "○●"), (self.flags, "☐☑")):
            cells = [self._cell(choice, signs) for choice in choices]
            wide = sum(cell.cell_length for cell in cells) + self._GAP * (len(cells) - 1)
            found += [cells] if cells and wide <= width else [[cell] for cell in cells]
        return found

    def _says(self, width: int) -> list[Content]:
        return Content(self.says).wrap(max(1, width)) if self.says else []

    def _rows(self, width: int) -> int:
        return len(self._says(width)) + len(self._lines(width))

    def render(self) -> Content:
        width = max(1, self.size.width)
        gap = Content(" " * self._GAP)
        lines = [gap.join(cells).truncate(width, ellipsis=True) for cells in self._lines(width)]
        return Content("\n").join([*self._says(width), *lines])

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._rows(width)

    def on_click(self, event: events.Click) -> None:
        width = self.size.width
        choices = iter(self.all)
        for row, cells in enumerate(self._lines(width), len(self._says(width))):
            left = 0
            for cell in cells:
                choice = next(choices)
                if event.y == row and (left <= event.x < left + cell.cell_length or len(cells) == 1):
                    self.post_message(self.Picked(choice.key))
                left += cell.cell_length + self._GAP
