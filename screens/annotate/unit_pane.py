"""The unit beside the sheet: one or two runs step by step, or texts. Everything is blinded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.events import Click, Resize
from textual.message import Message

from lab.core.run.trace import Started
from lab.core.settings import Settings
from lab.core.study.study import Study, Unit
from lab.studies.rating.blinded_runs import Blinded
from screens.annotate.keys import ActiveKeys
from screens.annotate.phone_pane import Evidence, PhonePane, Region
from screens.annotate.run_pane import RunPane
from screens.annotate.unit_plan import above_texts, columns_of, header_sections, titled_runs
from screens.annotate.unit_texts import GivenTexts, UnitHeader, paging_hint
from screens.lab import ReportsErrors
from screens.mirror.mirror import Mirror
from screens.mirror.touchscreen import Touchscreen
from screens.replay.run_player import RunPlayer
from screens.widgets.border_words import write_subtitle
from screens.widgets.text_page import TextPage

if TYPE_CHECKING:
    from store.store import Store

__all__ = ["Evidence", "UnitPane"]

_BORDER = 6
"""Columns of a border that hold no text."""
_TWO = (64, 18)
"""Columns and rows from which two runs are side by side. Below that one is shown, and a key switches."""


class UnitPane(ReportsErrors, Vertical):
    """Pane of one unit: the instruction above, its runs side by side or its texts in columns.

    The sheet's keys call its methods. It takes the focus only while a region is drawn. Of two runs one is active: keys
    move it, and evidence refers to it.
    """

    DEFAULT_CSS = """
    UnitPane > #sides { height: 1fr; }
    """

    @dataclass
    class PlaceChanged(Message, namespace="beside"):
        """Message: another step is shown. `place` is in evidence form (`ID@7`), empty for none."""

        place: str

    @dataclass
    class CloseUpShown(Message, namespace="beside"):
        """Message: a picture was opened in full at a place, or another step's replaced it."""

        place: str

    @dataclass
    class RegionDrawn(Message, namespace="beside"):
        """Message: the rater drew a region (left, top, right, bottom in pixels) on the screen before step `place`."""

        place: str
        region: Region

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__(id="beside")
        self.store = store
        self.runs_in = store
        """File with the unit's runs."""
        self.settings = settings
        self.header = UnitHeader()
        self.texts = GivenTexts()
        self.sides = [RunPane(overlay=settings.overlay, id=name) for name in ("first-run", "second-run")]
        self.study: Study | None = None
        self.unit: Unit | None = None
        self.drawing = False
        """True while a region is drawn."""
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
        self._lay_out(first=True)
        for page in self._pages:
            for attribute in ("virtual_size", "scroll_y", "size"):
                self.watch(page, attribute, self.tell_keys, init=False)

    # -- reading on ------------------------------------------------------------------------------------------

    @property
    def _pages(self) -> list[TextPage]:
        """All pages that can be scrolled here."""
        return [self.header.page, *self.texts.pages, *(side.page for side in self.sides)]

    def reading(self, by: int = 1) -> list[TextPage]:
        """Return the pages that scroll next, on (1) or back (-1): the unfolded header to its end, then the rest."""
        head = self.header.page
        below = [self._active_side.page] if self._active_side is not None else self.texts.pages
        if not (self.header.is_open and head.max_scroll_y):
            return below
        if by > 0:
            return [head] if head.scroll_offset.y < head.max_scroll_y else below
        return below if any(page.scroll_offset.y > 0 for page in below) else [head]

    @property
    def read_on(self) -> bool:
        """True if anything here was scrolled, so that it can be scrolled back."""
        return any(page.scroll_offset.y > 0 for page in self.reading(-1))

    def tell_keys(self) -> None:
        """Write on the borders which key scrolls a page, and which one folds the header."""
        reading, keys = self.reading(), ActiveKeys(self.screen)
        paging = keys.paging
        for page in self._pages:
            more = paging_hint(page, paging) if page in reading else ""
            fold = f"{keys.name('annotate.header') or 'w'}: fold" if page is self.header.page else ""
            short = more.partition(" (")[0]
            both = [f"{fold}   {more}".strip(), f"{fold}   {short}".strip(), short]
            words = next((words for words in both if len(words) + _BORDER <= page.size.width), short)
            write_subtitle(page, words)

    # -- opening ---------------------------------------------------------------------------------------------

    def open(self, study: Study, unit: Unit, *, swap: bool = False, runs_in: Store | None = None) -> None:
        """Show a unit from its beginning. With `swap` side B is in A's place.

        `runs_in` is the file with the unit's runs, if it is not the study's.
        """
        self.runs_in = runs_in or self.store
        first = self.study is None or self.study.protocol.id != study.protocol.id
        self.study, self.unit, self._swap = study, unit, swap and bool(_has_sides(study, unit))
        if self.is_mounted:
            self._lay_out(first=first)

    def _lay_out(self, *, first: bool) -> None:
        study, unit = self.study, self.unit
        if study is None or unit is None:
            return
        self.draw_region(on=False)
        self._runs = runs = Blinded(self.runs_in, study, unit)
        self._started, self._evidence, self._active = {}, [], 0
        self._close()
        names = titled_runs(study, unit, swap=self._swap)
        self._count = min(len(names), len(self.sides))
        for side, (run, name) in zip(self.sides, names, strict=False):
            side.show_run(runs, run, name, unit.step or 0)
        columns = columns_of(study, unit, swap=self._swap)
        self.texts.show_columns(columns)
        self.query_one("#sides").display = bool(self._count)
        self.texts.display = not self._count
        kind = study.protocol.unit
        unfolded = bool(columns) or kind == "question"
        self._update_header(unfolded if first or unfolded else None)
        self._take_room()

    def _update_header(self, unfolded: bool | None = None) -> None:
        study, unit, runs = self.study, self.unit, self._runs
        if study is None or unit is None or runs is None:
            return
        if not self._count and not any(material.side for material in unit.given):
            self.header.set_sections(above_texts(study, unit, swap=self._swap), unfolded=False, all=True)
            return
        sections = header_sections(study, unit, self._started, runs.ends, swap=self._swap)
        self.header.set_sections(sections, unfolded=unfolded)

    @on(RunPlayer.Opened)
    def _add_started(self, message: RunPlayer.Opened) -> None:
        side = message.footage
        if side in self._laid and side.run is not None and side.head is not None:
            self._started[side.run] = side.head.started
            self._update_header()

    @on(RunPlayer.Listed)
    def _go_to_question(self, message: RunPlayer.Listed) -> None:
        side = message.footage
        if not side.whole or side not in self._laid or self.unit is None or self._runs is None:
            return
        self._update_header()
        step_index = self._runs.asked.get(self.unit.question)
        if self.unit.step is None and step_index is not None:
            self.go_to(f"{side.run}@{step_index + 1}")

    # -- layout ----------------------------------------------------------------------------------------------

    @property
    def _laid(self) -> list[RunPane]:
        """The sides that this unit has."""
        return self.sides[: self._count]

    @property
    def _active_side(self) -> RunPane | None:
        """The side that the step keys move, or None without runs."""
        return self.sides[self._active] if self._active < self._count else None

    def on_resize(self, event: Resize) -> None:
        self._take_room()

    def _take_room(self) -> None:
        """Show two sides if there is room, else the active one."""
        width, height = self.size
        if not width or not height:
            return
        self.header.take_room(height)
        self.header.set_class(self._closely, "-away")
        two = self._count == 2 and width >= _TWO[0] and height >= _TWO[1] and not self._closely
        for n, side in enumerate(self.sides):
            side.display = n < self._count and (two or n == self._active)
            side.update_classes({"-active": n == self._active, "-of-two": self._count == 2})
            side.phone.feeds_page = n == self._active
            side.entitle()
        self.call_after_refresh(self.tell_keys)

    # -- where it is -----------------------------------------------------------------------------------------

    @property
    def place(self) -> str:
        """Place shown, in evidence form."""
        return self._active_side.place if self._active_side is not None else ""

    @property
    def has_steps(self) -> bool:
        """True if the unit shows a run."""
        return bool(self._count)

    @property
    def has_two(self) -> bool:
        """True if the unit shows two runs."""
        return self._count == len(self.sides)

    def has_use(self, action: str) -> bool:
        """Return True if a key for this pane has an effect on this unit."""
        match action:
            case "step" | "question" | "search":
                return self.has_steps
            case "pan" | "further":
                return self.enlarged
            case "view" | "after" | "closely" | "overlay" | "closer":
                return self.has_phone
            case "side":
                return self.has_two
            case "header":
                return self.header.turns
        return True

    @property
    def has_phone(self) -> bool:
        """True if there is a screen to show, as far as is known."""
        return any(side.has_phone for side in self._laid)

    @property
    def step(self) -> int | None:
        """Index of the step shown, or None at a run's end and without a run."""
        side = self._active_side
        return None if side is None or not side.place or side.at_end else side.number

    @property
    def words(self) -> str:
        """Place shown, in a few words, with the side if there are two."""
        side = self._active_side
        if side is None:
            return ""
        return f"{side.title}, {side.place_words}" if self._count == 2 else side.place_words

    @on(RunPlayer.Moved)
    def _follow_move(self, message: RunPlayer.Moved) -> None:
        message.stop()
        if message.footage is self._active_side:
            self._post_place()

    def _post_place(self) -> None:
        self.post_message(self.PlaceChanged(self.place))
        if self._closely:
            self.post_message(self.CloseUpShown(self.place))

    @on(RunPlayer.Looked)
    def _renew_keys(self, message: RunPlayer.Looked) -> None:
        message.stop()
        self.tell_keys()

    def go_to(self, place: str) -> bool:
        """Go to a place in evidence form. Return False if it is not in this unit."""
        for n, side in enumerate(self._laid):
            if side.go_to(place):
                self._activate(n)
                return True
        return False

    def _activate(self, which: int) -> None:
        if which != self._active:
            self._active = which
            self._take_room()
            self.tell_keys()
            self._post_place()

    def _close(self) -> None:
        self._closely = False
        for side in self.sides:
            side.look_closely(False)

    def on_click(self, event: Click) -> None:
        """Give the step keys to a run that is clicked."""
        for n, side in enumerate(self._laid):
            if side.display and side.region.contains(event.screen_x, event.screen_y):
                self._activate(n)

    # -- verbs -----------------------------------------------------------------------------------------------

    def move(self, by: int) -> None:
        """Move by steps."""
        if self._active_side is not None:
            self._active_side.move(by)

    def go_to_edge(self, which: int) -> None:
        """Go to the first step (0) or the end (-1)."""
        if self._active_side is not None:
            self._active_side.timeline.action_edge(which)

    def question(self, by: int) -> bool:
        """Go to the next or previous step with a question. Return False if there is none."""
        return self._active_side is not None and self._active_side.question(by)

    def search(self, words: str, by: int = 1) -> str:
        """Go to the next step with these words. Return in words which steps hold them."""
        side, needle = self._active_side, words.strip().casefold()
        if side is None or not needle:
            return ""
        step = side.timeline.next_holding(needle, by)
        if step is not None:
            side.timeline.go(step)
        return side.timeline.match_words(needle)

    def turn_side(self) -> None:
        """Give the step keys to the other run of a pair."""
        if self._count == 2:
            self._activate(1 - self._active)

    def turn_view(self) -> None:
        """Switch between texts and phone."""
        for side in self._laid:
            side.turn_view()

    def turn_after(self) -> None:
        """Switch between the screen after the step and the one before it."""
        if self._active_side is not None:
            self._active_side.toggle_after()

    def turn_overlay(self) -> None:
        """Switch the screen's texts over the phone on or off."""
        for side in self._laid:
            side.phone.turn_words()

    @property
    def enlarged(self) -> bool:
        """True if the view shows only a part of the phone, enlarged."""
        return self._active_side is not None and self._active_side.phone.mirror.enlarged

    def closer(self) -> None:
        """Enlarge the active side's phone, and make it visible."""
        if self._active_side is not None:
            self._active_side.show_phone()
            self._active_side.phone.zoom_in()

    def further(self) -> None:
        """Make the phone smaller by one level."""
        if self._active_side is not None:
            self._active_side.phone.mirror.further()

    def pan(self, across: int, down: int) -> None:
        """Move the visible part of the enlarged phone."""
        if self._active_side is not None:
            self._active_side.phone.mirror.action_pan(across, down)

    def turn_header(self) -> None:
        """Unfold or fold the header: instruction, context, persona, policy, rubric."""
        self.header.turn()
        self.call_after_refresh(self.tell_keys)

    def go_back(self) -> bool:
        """Close an enlarged phone, the picture in full, or the unfolded header. Return False if none is open."""
        if self.enlarged and self._active_side is not None:
            self._active_side.phone.mirror.show_whole()
            return True
        if self._closely:
            return self.toggle_close_up()
        if self.header.is_open and self.header.wanted:
            self.turn_header()
            return True
        return False

    def scroll(self, pages: int) -> None:
        """Scroll by pages: the unfolded header, or the words of a step."""
        for page in self.reading(pages):
            page.scroll_pages(pages)

    def toggle_close_up(self) -> bool:
        """Open or close the picture in full. Return False if there is none."""
        side = self._active_side
        if self._closely:
            self._close()
            self._take_room()
        elif side is not None and side.has_phone:
            self._closely = True
            side.look_closely(True)
            self._take_room()
            self.post_message(self.CloseUpShown(self.place))
        else:
            return False
        return True

    # -- evidence --------------------------------------------------------------------------------------------

    def mark_evidence(self, evidence: Sequence[Evidence]) -> None:
        """Mark the evidence of answers: steps in the list, regions on the phone."""
        if list(evidence) != self._evidence:
            self._evidence = list(evidence)
            for side in self._laid:
                side.mark_evidence(self._evidence)

    def draw_region(self, on: bool = True) -> bool:
        """Begin or end drawing a region: by a drag, a click on a thing, or keys. Return False without a picture."""
        side = self._active_side
        if on and (side is None or not side.has_phone):
            return False
        self.drawing = on
        if on and side is not None:
            side.show_phone()
        for pane_side in self._laid:
            pane_side.phone.draw_region(on)
        if on and side is not None:
            side.phone.focus()
        return True

    @on(Mirror.Dragged)
    def _box_drag(self, message: Mirror.Dragged) -> None:
        message.stop()
        (x0, x1), (y0, y1) = sorted((message.at[0], message.to[0])), sorted((message.at[1], message.to[1]))
        self._finish_region(self._side_of(message.mirror), (x0, y0, x1, y1))

    @on(Mirror.Tapped)
    def _box_tap(self, message: Mirror.Tapped) -> None:
        message.stop()
        side = self._side_of(message.mirror)
        tree = side.readable_screen.tree if side is not None and side.readable_screen is not None else None
        under = tree.nodes_at(*message.at) if tree is not None else []
        if under:
            left, top, right, bottom = min(under, key=lambda node: node.bounds.area).bounds
            self._finish_region(side, (left, top, right, bottom))

    @on(PhonePane.RegionTaken)
    def _box_frame(self, message: PhonePane.RegionTaken) -> None:
        message.stop()
        self._finish_region(self._side_of(message.phone.mirror), message.region)

    def _side_of(self, mirror: Touchscreen) -> RunPane | None:
        """Return the run whose phone it is, active or not."""
        return next((side for side in self._laid if side.phone.mirror is mirror), None)

    def _finish_region(self, side: RunPane | None, region: Region) -> None:
        if self.drawing and side is not None and side.view is not None:
            self.draw_region(on=False)
            self.post_message(self.RegionDrawn(side.screen_place, region))

    @on(Mirror.Wheeled)
    def _ignore_wheel(self, message: Mirror.Wheeled) -> None:
        message.stop()


def _has_sides(study: Study, unit: Unit) -> bool:
    """Return True if a unit has two sides that may be swapped."""
    return study.protocol.unit == "pair of runs" or any(material.side for material in unit.given)
