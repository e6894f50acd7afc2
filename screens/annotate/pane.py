"""Where a sheet stands: its lines, the item under the cursor, and what waits there for an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message

from lab.errors import LabError
from lab.label import Label
from lab.labels import Sheet, Spot
from screens.annotate.clashing import clash_words
from screens.annotate.desk import Desk, Drafts, HandedIn, next_open
from screens.annotate.entry import Line
from screens.annotate.items import Item
from screens.annotate.keying import Keying
from screens.annotate.keys import SHEET_KEYS
from screens.annotate.menu import Menu
from screens.annotate.pace import Pace
from screens.annotate.rows import Items, Options
from screens.annotate.words import Way, clash_at, item_words
from screens.author.told import Told
from screens.clock import Clock
from screens.lines import Lines

SEARCH = "search"
"""What the line is for where words are looked for beside the sheet: they are no answer, and not kept."""
_SETTLES = 1.0
"""Seconds of rest after which it is kept where the rater is, and what they have typed."""


class OpenSheet(Vertical):
    """A desk's sheet as it stands, and where on it the rater is."""

    BINDING_GROUP_TITLE = "Sheet"
    BINDINGS: ClassVar[list[BindingType]] = SHEET_KEYS

    @dataclass
    class Answered(Message):
        """Something was kept; `label` is it."""

        label: Label

    @dataclass
    class HandedIn(Message):
        """The unit is handed in."""

        handed: HandedIn

    @dataclass
    class Settled(Message):
        """Of a unit that is handed in, the clashes are settled, or left for later."""

    @dataclass
    class At(Message):
        """Another line is the current one; `item` is None on the last."""

        item: Item | None

    @dataclass
    class Turned(Message):
        """The keys lead elsewhere: a menu or a line was opened, or left."""

    @dataclass
    class Wanted(Message):
        """Something that only the room has: `guide`, `region`, `undo` (nothing is left on this sheet), or a place."""

        what: str
        place: str = ""

    def __init__(self, desk: Desk | None = None, clock: Clock | None = None, pace: Pace | None = None) -> None:
        super().__init__(id="answer-sheet")
        self.desk = desk
        self.clock = clock or Clock()
        self.pace = pace or Pace(self.clock)
        self.place = ""
        """What is shown beside the sheet, as evidence names it; empty where nothing is."""
        self.drafts: Drafts = {}
        self.typing = ""
        """What the line that is open is for: `answer`, `note`; empty while it is not."""
        self.keying = Keying()
        self.drawing = ""
        """What the next region that is drawn beside the sheet is: `answer`, `region`; empty where none is wanted."""
        self.items = Items()
        self.ask = Told("ask")
        self.options = Options()
        self.wrong = Told("wrong")
        self.line = Line(self.clock, self.pace)
        self.menu = Menu()
        self._kept: tuple[Spot | None, str, Drafts] | None = None

    def compose(self) -> ComposeResult:
        yield self.items
        with VerticalScroll(id="item", classes="pane", can_focus=False):
            yield self.ask
            yield self.options
            yield self.wrong
        yield self.line
        yield self.menu

    def on_mount(self) -> None:
        self._rest = self.set_interval(_SETTLES, self.keep, pause=True)  # a timer that rests between
        if self.desk is not None and self.desk.sheet is not None:
            self.open()

    # -- which unit ------------------------------------------------------------------------------------------

    @property
    def item(self) -> Item | None:
        """The current item; None on the line that hands in."""
        return self.items.item

    @property
    def clash(self) -> list[Label]:
        """The answers that clash at the current item."""
        return clash_at(self.sheet, self.item) if self.item is not None else []

    @property
    def way(self) -> Way:
        desk = self.at_desk
        swap = desk.assignment.swap if desk.assignment is not None else False
        return Way(desk.study.protocol, desk.locale, swap)

    @property
    def at_desk(self) -> Desk:
        assert self.desk is not None
        return self.desk

    @property
    def sheet(self) -> Sheet:
        """What this rater has said of the unit so far."""
        found = self.at_desk.sheet
        assert found is not None
        return found

    def open(self, desk: Desk | None = None) -> str:
        """Shows the unit that is open at the desk, where its rater left it; gives the place in the run they were at."""
        self.desk = desk or self.desk
        rest = self.at_desk.rest()
        self.drafts = dict(rest.drafts)
        self.close_line()
        self.items.show(self.sheet, self.way)
        self.items.changed()
        spot = rest.spot if rest.known and not self.sheet.committed else next_open(self.sheet, None)
        self._kept = (spot, rest.place, dict(self.drafts))
        self.keying = Keying()
        self.go(spot)
        self.items.scroll_to(y=max(0, self.items.cursor - 2), animate=False)
        self.items.focus()
        return rest.place

    def go(self, spot: Spot | None) -> None:
        """Makes a place the current one; None is the line that hands in."""
        self.items.go(self.items.index_of(spot))
        self._current()

    @on(Lines.Highlighted, "#items")
    def _moved(self, message: Lines.Highlighted) -> None:
        message.stop()
        self._current()

    def _current(self) -> None:
        """The line under the cursor is the current one from now on."""
        item = self.item
        spot = item.spot if item is not None else None
        if spot != self.keying.spot:
            self.close_line()
        if spot == self.keying.spot and self.keying.shown_at is not None:
            return
        self.keying = Keying(spot, self.clock.now(), self.pace.away)
        self.drawing = ""
        self.post_message(self.At(item))
        self.say("")
        self._settle()

    # -- keeping where one is --------------------------------------------------------------------------------

    def _settle(self) -> None:
        self._rest.reset()
        self._rest.resume()

    def looked(self, place: str) -> None:
        """Another place is shown beside the sheet."""
        if place != self.place:
            self.place = place
            self._settle()

    def keep(self) -> None:
        """Keeps where the rater is and what they typed, where that is not kept yet."""
        self._rest.pause()
        desk = self.desk
        if desk is None or desk.sheet is None or desk.sheet.committed:
            return
        self._hold()
        state = (self.keying.spot, self.place, dict(self.drafts))
        if state == self._kept:
            return
        try:
            desk.look(*state)
        except LabError as error:
            self.say(error.said)
            return
        self._kept = state

    def _hold(self) -> None:
        """What stands in the open line is held as a draft."""
        line, spot = self.line, self.keying.spot
        if self.typing in ("", SEARCH) or spot is None or not line.begun:
            return
        self.drafts.pop((spot, self.typing), None)
        if line.text.strip():
            self.drafts[spot, self.typing] = line.text

    def close_line(self) -> None:
        """Leaves the line that is open; what was typed there stays a draft."""
        if self.typing:
            self._hold()
            self.typing = ""
            self.line.close()
            self.refresh_bindings()

    def take_pace(self, pace: Pace) -> None:
        """Another sitting begins."""
        self.pace = pace
        self.line.pace = pace

    # -- painting --------------------------------------------------------------------------------------------

    def renew(self) -> None:
        """Paints the sheet as it stands."""
        self.items.show(self.sheet, self.way)
        self.say("")

    def say(self, wrong: str) -> None:
        """Paints the current item, and what was refused of it."""
        item = self.item
        answered = len([one for one in self.items.items if self.sheet.head(one.spot) is not None])
        self.items.entitle("Sheet", f"{answered} of {len(self.items.items)}")
        self.wrong.say(Content.styled(wrong, "$text-error"))
        if item is None:
            left = len(self.sheet.unanswered)
            said = self.way.sheet("_some_open", left) if left else self.way.sheet("_all_said")
            self.ask.say(Content.styled(self.way.sheet("_hand_in"), "bold"))
            self.options.show((), says=self.way.sheet("_is_handed_in") if self.sheet.committed else said)
            return
        two = clash_words(self.way, self.sheet, item)
        self.ask.say(Content.assemble(item_words(self.way, self.sheet, item, self.drafts), two))
        head = self.sheet.head(item.spot)
        choices = self.way.choices(item) if self.keying.way(item) == "choice" else []
        stand = [one.value for one in self.sheet.clashes.get(item.spot, [head] if head is not None else [])]
        standing = {one.key for one in choices if one.value in stand}
        flags = self.way.flags(item)
        raised = {one.key for one in flags if self.sheet.value(Spot(item.spot.target, one.value))}
        how = self.keying.how(item, head is not None)
        if flags and head is None:
            how = f"{how} {self.way.sheet('_flag_first')}".strip()
        self.options.show(choices, flags, standing | raised, how)

    @property
    def saved(self) -> str:
        """What is kept, and when."""
        sheet = self.desk.sheet if self.desk is not None else None
        rows = sheet.rows if sheet is not None else []
        return f"✓ saved {self.clock.shown(rows[-1].at)}" if rows else "Every answer is saved as you give it."

    @property
    def next_words(self) -> str:
        """What Enter does now."""
        item = self.item
        if self.menu.display:
            return "A digit or Enter chooses, Esc leaves."
        if self.typing:
            return "Enter keeps what you typed, Esc leaves it for later."
        if self.desk is None or self.desk.sheet is None:
            return ""
        if item is None and self.sheet.committed:
            return "Enter goes on."
        if item is None:
            return "Enter hands in." if not self.sheet.unanswered else "Enter goes to the first that is open."
        if self.clash and not self.keying.digits:
            return "Enter: settle which answer stands."
        return self.keying.enter_words(item, self.sheet.head(item.spot) is not None, bool(self.place))

    def turned(self) -> None:
        """The keys lead elsewhere now."""
        self.refresh_bindings()
        self.post_message(self.Turned())
