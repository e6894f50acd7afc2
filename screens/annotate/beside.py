"""What a unit lays before the rater, beside the sheet: a run or two, step by step, or texts; blinded throughout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.events import Click, Resize
from textual.message import Message

from lab.settings import Settings
from lab.study import Study, Unit
from lab.trace import Started
from screens.annotate.blinded import Blinded
from screens.annotate.laid import Header, Texts, turn_pages
from screens.annotate.pinned import columns_of, names_of, pinned
from screens.annotate.side import Evidence, Region, Side
from screens.author.footage import Footage
from screens.phone.mirror import Mirror
from screens.replay.projector import Projector

if TYPE_CHECKING:
    from store.store import Store

__all__ = ["Beside", "Evidence"]

_TWO = (64, 18)
"""Columns and rows from which two runs stand side by side; with less, one of them, and a key turns to the other."""


class Beside(Vertical):
    """The evidence pane. It never takes focus from the sheet: its verbs are called by the sheet's keys."""

    DEFAULT_CSS = """
    Beside > #sides { height: 1fr; }
    """

    @dataclass
    class Looked(Message):
        """Another step is shown; `place` is it as evidence names it (`ID@7`), empty where there is none."""

        place: str

    @dataclass
    class Closely(Message):
        """A picture was opened in full at a place, or another step's is while one is."""

        place: str

    @dataclass
    class Boxed(Message):
        """The rater drew a region (left, top, right, bottom in pixels) on the screen before the step at `place`."""

        place: str
        region: Region

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__(id="beside")
        self.store = store
        self.settings = settings
        self.header = Header()
        self.texts = Texts()
        self.sides = [
            Side(overlay=settings.overlay, graphics=settings.graphics, id=name) for name in ("first-run", "second-run")
        ]
        self.study: Study | None = None
        self.unit: Unit | None = None
        self.drawing = False
        """Whether the next drag on the phone is a region."""
        self._runs: Blinded | None = None
        self._swap = False
        self._count = 0
        self._active = 0
        self._closely = False
        self._started: dict[str, Started] = {}
        self._evidence: list[Evidence] = []

    def compose(self) -> ComposeResult:
        yield self.header
        with Horizontal(id="sides"):
            yield from self.sides
        yield self.texts

    def on_mount(self) -> None:
        self._lay(first=True)

    # -- opening ---------------------------------------------------------------------------------------------

    def open(self, study: Study, unit: Unit, *, swap: bool = False) -> None:
        """Lays a unit out from its beginning; with `swap` side B stands where A does."""
        first = self.study is None or self.study.protocol.id != study.protocol.id
        self.study, self.unit, self._swap = study, unit, swap and bool(_sided(study, unit))
        if self.is_mounted:
            self._lay(first=first)

    def _lay(self, *, first: bool) -> None:
        study, unit = self.study, self.unit
        if study is None or unit is None:
            return
        self._runs = runs = Blinded(self.store, study, unit)
        self._started, self._evidence, self._active, self.drawing = {}, [], 0, False
        self._close()
        names = names_of(study, unit, swap=self._swap)
        self._count = min(len(names), len(self.sides))
        for side, (run, name) in zip(self.sides, names, strict=False):
            side.lay(runs, run, name, unit.step or 0)
        columns = columns_of(study, unit, swap=self._swap)
        self.texts.lay(columns)
        self.query_one("#sides").display = bool(self._count)
        self.texts.display = not self._count
        kind = study.protocol.unit
        unfolded = bool(columns) or kind == "question"
        self._tell(unfolded if first or unfolded else None)
        self._take_room()

    def _tell(self, unfolded: bool | None = None) -> None:
        study, unit, runs = self.study, self.unit, self._runs
        if study is None or unit is None or runs is None:
            return
        alone = not self._count and not any(given.side for given in unit.given)
        sections = [] if alone else pinned(study, unit, self._started, runs.ends, swap=self._swap)
        self.header.tell(sections, unfolded=unfolded)

    @on(Projector.Opened)
    def _opened(self, message: Projector.Opened) -> None:
        if any(message.reel is side.reel for side in self._laid):
            self._started[message.reel.id] = message.head.started
            self._tell()

    @on(Projector.Listed)
    def _listed(self, message: Projector.Listed) -> None:
        if not message.whole or self.unit is None or self._runs is None:
            return
        if any(message.reel is side.reel for side in self._laid):
            self._tell()
            asked = self._runs.asked.get(self.unit.question)
            if self.unit.step is None and asked is not None:
                self.go_to(f"{message.reel.id}@{asked + 1}")

    # -- layout ----------------------------------------------------------------------------------------------

    @property
    def _laid(self) -> list[Side]:
        """The sides that this unit has."""
        return self.sides[: self._count]

    @property
    def _side(self) -> Side | None:
        """The side that the steps' keys move."""
        return self.sides[self._active] if self._active < self._count else None

    def on_resize(self, event: Resize) -> None:
        self._take_room()

    def _take_room(self) -> None:
        """Two sides side by side where there is room, else the one that keys move."""
        width, height = self.size
        if not width or not height:
            return
        self.header.take_room(height)
        self.header.set_class(self._closely, "-away")
        two = self._count == 2 and width >= _TWO[0] and height >= _TWO[1] and not self._closely
        for n, side in enumerate(self.sides):
            side.display = n < self._count and (two or n == self._active)
            side.set_class(n == self._active, "-active")
            side.set_class(self._count == 2, "-of-two")
            side.phone.leads = n == self._active
            side.entitle()

    # -- where it is -----------------------------------------------------------------------------------------

    @property
    def place(self) -> str:
        """What is shown, as evidence names it."""
        return self._side.place if self._side is not None else ""

    @property
    def step(self) -> int | None:
        """The step that is shown, from 0; None at a run's end and without a run."""
        side = self._side
        return None if side is None or not side.place or side.at_end else side.number

    @property
    def words(self) -> str:
        """Where this is, in a few words; of two sides which one."""
        side = self._side
        if side is None:
            return ""
        return f"{side.named}, {side.words}" if self._count == 2 else side.words

    @on(Side.Stood)
    def _stood(self, message: Side.Stood) -> None:
        message.stop()
        if message.side is self._side:
            self._say_place()

    def _say_place(self) -> None:
        self.post_message(self.Looked(self.place))
        if self._closely:
            self.post_message(self.Closely(self.place))

    @on(Footage.Looked)
    def _read(self, message: Footage.Looked) -> None:
        message.stop()

    # -- verbs -----------------------------------------------------------------------------------------------

    def move(self, by: int) -> None:
        """Steps on or back."""
        if self._side is not None:
            self._side.move(by)

    def edge(self, which: int) -> None:
        """The first step (0) or the end (-1)."""
        if self._side is not None:
            self._side.timeline.action_edge(which)

    def go_to(self, place: str) -> bool:
        """Goes to a place named as evidence names it; False where it is not in this unit."""
        for n, side in enumerate(self._laid):
            if side.go_to(place):
                self._turn_to(n)
                return True
        return False

    def question(self, by: int) -> bool:
        """The next or the previous step with a question; False where there is none."""
        return self._side is not None and self._side.question(by)

    def search(self, words: str, by: int = 1) -> int:
        """Goes to the next step that holds these words; how many do."""
        side, needle = self._side, words.strip().casefold()
        if side is None or not needle:
            return 0
        found = side.timeline.next_holding(needle, by)
        if found is not None:
            side.timeline.go(found)
        return side.timeline.holding(needle)

    def turn_side(self) -> None:
        """Of two runs the other one takes the steps' keys."""
        if self._count == 2:
            self._turn_to(1 - self._active)

    def _turn_to(self, which: int) -> None:
        if which != self._active:
            self._active = which
            self._take_room()
            self._say_place()

    def turn_view(self) -> None:
        """Words instead of the phone, or back."""
        for side in self._laid:
            side.turn_view()

    def turn_after(self) -> None:
        """The screen after the step, or before it."""
        if self._side is not None:
            self._side.turn()

    def turn_overlay(self) -> None:
        """The screen's words as characters over the phone, or its pixels alone."""
        for side in self._laid:
            side.phone.mirror.overlay = not side.phone.mirror.overlay

    def turn_header(self) -> None:
        """Unfolds what is pinned above: instruction, context, persona, policy, rubric; or folds it to a line."""
        self.header.turn()

    def scroll(self, pages: int) -> None:
        """What is read (the words of a step, or what is unfolded above them) goes down so many pages, or up."""
        if self.header.is_open and self.header.page.max_scroll_y:
            turn_pages(self.header.page, pages)
        elif self._side is not None:
            turn_pages(self._side.page, pages)
        else:
            self.texts.scroll_pages(pages)

    def look_closely(self) -> None:
        """Opens the picture in full, or closes it."""
        side = self._side
        if self._closely:
            self._close()
            self._take_room()
        elif side is not None and side.has_phone:
            self._closely = True
            side.look_closely(True)
            self._take_room()
            self.post_message(self.Closely(self.place))

    def _close(self) -> None:
        self._closely = False
        for side in self.sides:
            side.look_closely(False)

    # -- evidence --------------------------------------------------------------------------------------------

    def cover(self, evidence: Sequence[Evidence]) -> None:
        """Marks what answers rest on: these steps in the list, their regions on the phone."""
        if list(evidence) != self._evidence:
            self._evidence = list(evidence)
            for side in self._laid:
                side.mark_evidence(self._evidence)

    def draw_region(self) -> None:
        """The next drag on the phone is a region, or a click the thing that is clicked; again: it is not."""
        self.drawing = not self.drawing
        if self.drawing and self._side is not None:
            self._side.show_phone()
        for side in self._laid:
            side.phone.draw_region(self.drawing)

    @on(Mirror.Dragged)
    def _dragged(self, message: Mirror.Dragged) -> None:
        message.stop()
        (x0, x1), (y0, y1) = sorted((message.at[0], message.to[0])), sorted((message.at[1], message.to[1]))
        self._boxed((x0, y0, x1, y1))

    @on(Mirror.Tapped)
    def _tapped(self, message: Mirror.Tapped) -> None:
        message.stop()
        side = self._side
        tree = side.screen_seen.tree if side is not None and side.screen_seen is not None else None
        under = tree.at(*message.at) if tree is not None else []
        if under:
            left, top, right, bottom = min(under, key=lambda node: node.bounds.area).bounds
            self._boxed((left, top, right, bottom))

    def _boxed(self, region: Region) -> None:
        side = self._side
        if self.drawing and side is not None and side.view is not None:
            self.draw_region()
            self.post_message(self.Boxed(side.screen_place, region))

    @on(Mirror.Wheeled)
    def _wheeled(self, message: Mirror.Wheeled) -> None:
        message.stop()

    def on_click(self, event: Click) -> None:
        """A click on one of two runs gives it the steps' keys."""
        for n, side in enumerate(self._laid):
            if side.display and side.region.contains(event.screen_x, event.screen_y):
                self._turn_to(n)


def _sided(study: Study, unit: Unit) -> bool:
    """Whether a unit has two sides that may be exchanged."""
    return study.protocol.unit == "pair of runs" or any(given.side for given in unit.given)
