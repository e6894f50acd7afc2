"""One run of a unit: its steps, the phone, and what is said there in words, laid out in whatever room there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from textual import on
from textual.content import Content
from textual.events import Resize
from textual.message import Message

from lab.protocol import Show
from lab.turn import Observation
from screens.annotate.blinded import Blinded, RaterReel
from screens.annotate.phone import Evidence, Phone
from screens.annotate.told import place_words
from screens.author.footage import Footage
from screens.graphics import Graphics
from screens.phone.marks import Mark
from screens.replay.projector import Projector
from screens.replay.reel import Reel, View

Wanted = Literal["", "words", "phone"]
"""What is asked to be seen of a step: both, or one of them with all the room."""

_LOW = 18
"""Rows under which the steps stand beside the words, and not above them."""
_SPLIT = 60
"""Columns that they need there."""
_BROAD = 64
"""Columns from which the phone stands beside the words."""
_STEPS = 0.38


class Side(Footage):
    """One run, blinded, scrubbed by whoever holds it; it takes no focus."""

    DEFAULT_CSS = """
    Side { width: 1fr; height: 1fr; }
    Side.-both > Phone { dock: right; height: 100%; }
    """

    @dataclass
    class Stood(Message):
        """Another place of this side is the current one."""

        side: Side

    def __init__(self, *, overlay: bool, graphics: Graphics, id: str) -> None:
        super().__init__(None, overlay=overlay, id=id)  # type: ignore[arg-type]  # a unit brings its own
        self.phone = Phone("phone", overlay=overlay, graphics=graphics)
        self.stage = self.phone  # type: ignore[assignment]
        self.shows: tuple[Show, ...] = ()
        self.named = "Steps"
        """What its steps are called: which side of a pair they are."""
        self.wants: Wanted = ""
        self.closely = False
        self._evidence: list[Evidence] = []
        self._bare = False
        self._whole = False
        self.phone.mirror.interactive = True
        for part in (self.timeline, self.page, self.phone.mirror):
            part.can_focus = False

    # -- opening ---------------------------------------------------------------------------------------------

    def lay(self, runs: Blinded, run: str, name: str, at: int = 0) -> None:
        """Shows a run of a unit from a step on (from 0)."""
        self.store, self.shows, self.named = runs, runs.shows, name
        self._bare, self._evidence, self._whole = "screens" not in runs.shows, [], False
        self.page.show(Content(""))
        self.page.border_title = ""
        self.phone.draw_also(())
        self.phone.mirror.show_still(None, None, None)
        self.phone.mirror.mark([])
        self.timeline.cover(frozenset())
        self.open(run, at)
        self.entitle()
        self.take_room()

    def reel_of(self, run: str) -> Reel:
        return RaterReel(cast(Blinded, self.store), run)

    def begun(self, reel: Reel) -> None:
        """Nothing more is read of it."""

    @property
    def reel(self) -> Reel | None:
        """The run that is open."""
        return self._projector.reel

    def grown(self, *, whole: bool) -> None:
        self.entitle()
        if whole:
            self._whole, self._seek = True, None
            self.take_room()

    @on(Projector.Refused)
    def _not_read(self, message: Projector.Refused) -> None:
        if message.reel is self.reel and self.view is None:
            self._bare, self._whole, self._seek = True, True, None
            self.take_room()

    # -- where it is -----------------------------------------------------------------------------------------

    @property
    def number(self) -> int:
        """The place that is the current one, from 0: the one to be shown first, while the run is still read."""
        return self.timeline.cursor if self._seek is None else self._seek

    @property
    def place(self) -> str:
        """The current place as evidence names it; empty where the run has none."""
        ready = self._seek is not None or self.timeline.count
        return f"{self.run}@{self.number + 1}" if self.run is not None and ready else ""

    @property
    def at_end(self) -> bool:
        return self.timeline.count > 0 and self.timeline.rows[self.timeline.cursor].kind == "end"

    @property
    def words(self) -> str:
        """Where this is, in a few words."""
        if self.timeline.count and self._seek is None:
            return "the end" if self.at_end else f"step {self.number + 1} of {self.steps}"
        return "no step" if self._seek is None else "reading ..."

    def go_to(self, link: str) -> bool:
        """Goes to a step named as evidence names it; False where it is of another run, or there is no such step."""
        run, _, step = link.rpartition("@")
        if run != self.run or not step.isdecimal() or int(step) < 1:
            return False
        if self._seek is not None or (not self._whole and int(step) > self.timeline.count):
            self._seek = int(step) - 1  # it is gone to when it is listed
            self.post_message(self.Stood(self))
        elif int(step) > self.timeline.count:
            return False
        else:
            self.timeline.go(int(step) - 1)
        return True

    def move(self, by: int) -> None:
        """One step on or back; while the one to be shown is not listed yet, from that one."""
        if self._seek is None:
            super().move(by)
        else:
            self._seek = max(0, self._seek + by)

    def _look(self) -> None:
        """Has the place read, and tells of it at once: a key never waits for a picture."""
        super()._look()
        self.entitle()
        self._draw_evidence()
        self.post_message(self.Stood(self))

    def entitle(self) -> None:
        where = f"{min(self.number + 1, self.steps)}/{self.steps}" if self.timeline.count else ""
        mark = "▸ " if self.has_class("-active") and self.has_class("-of-two") else ""
        self.timeline.entitle(f"{mark}{self.named}  {where}".strip())

    def words_of(self, view: View) -> Content:
        """As much of a place as the study shows."""
        over = view.number < len(self.timeline.rows) and self.timeline.rows[view.number].kind == "end"
        self.page.border_title = "The end" if over else f"Step {view.number + 1}"
        return place_words(view, self.shows, after=self.after)

    @on(Projector.Looked)
    def _bare_or_not(self, message: Projector.Looked) -> None:
        """A run without pictures and trees has no phone; one step without does not take it away."""
        if message.reel is self.reel:
            seen = message.view.after if message.after and message.view.after is not None else message.view.before
            bare = "screens" not in self.shows or (message.view.image is None and seen.tree is None)
            if bare != self._bare:
                self._bare = bare
                self.take_room()

    # -- layout ----------------------------------------------------------------------------------------------

    def on_resize(self, event: Resize) -> None:
        self.take_room()

    def take_room(self) -> None:
        """Gives steps, words and phone the room there is."""
        width, height = self.size
        if not width or not height:
            return
        low = height < _LOW and width >= _SPLIT
        both = not low and width >= _BROAD and not self._bare and not self.wants and not self.closely
        phone = not self._bare and (both or self.closely or self.wants == "phone")
        words = not phone or both
        self.set_class(both, "-both")
        self.styles.layout = "horizontal" if low else "vertical"
        self.timeline.display = not self.closely
        self.page.display, self.phone.display = words, phone
        self.timeline.styles.width = max(20, round(width * _STEPS)) if low else "1fr"
        rows = max(5, min(round(height * _STEPS), self.timeline.count + 2))
        self.timeline.styles.height = "1fr" if low else rows
        self.page.styles.width = self.page.styles.height = "1fr"
        self.phone.styles.height = "100%" if both else "1fr"
        self.phone.alone, self.phone.area = not both, (width, height)
        self.phone.take_room()

    def turn_view(self) -> None:
        """Words and phone, words alone, the phone alone; where there is no room for both, one or the other."""
        if self._bare:
            return
        roomy = self.size.height >= _LOW and self.size.width >= _BROAD
        order: tuple[Wanted, ...] = ("", "words", "phone") if roomy else ("", "phone")
        self.wants = order[(order.index(self.wants) + 1) % len(order)] if self.wants in order else ""
        self.take_room()

    @property
    def shows_phone(self) -> bool:
        return bool(self.phone.display)

    def show_phone(self) -> None:
        """Has the phone in sight, where the run has pictures."""
        if not self.shows_phone and not self._bare:
            self.wants = "phone"
            self.take_room()

    def look_closely(self, closely: bool) -> None:
        """The picture with all the room, by the terminal's own graphics where it has them; or as before."""
        if closely is not self.closely:
            self.closely = closely
            self.take_room()
            self.phone.look_closely()

    # -- evidence --------------------------------------------------------------------------------------------

    def mark_evidence(self, evidence: Sequence[Evidence]) -> None:
        """Marks what answers rest on: steps in the list, regions on the phone."""
        self._evidence = [one for one in evidence if one.place.rpartition("@")[0] == self.run]
        self.cover([one.place for one in self._evidence])
        self._draw_evidence()

    def _draw_evidence(self) -> None:
        here = self.screen_place
        marks = [
            Mark("evidence", one.region[:2], one.region[2:], one.label)
            for one in self._evidence
            if one.region is not None and one.place == here
        ]
        self.phone.draw_also(marks)

    @property
    def has_phone(self) -> bool:
        """Whether there is a picture, or a tree, to look at."""
        return not self._bare

    @property
    def screen_seen(self) -> Observation | None:
        """What stands on the phone."""
        return self.seen

    @property
    def screen_place(self) -> str:
        """The place whose screen before it is the one on the phone: a step's, or the next one's where after is seen."""
        return f"{self.run}@{self.number + 1 + (self.after and not self.at_end)}" if self.run is not None else ""
