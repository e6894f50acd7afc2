"""One run of a unit: its steps, the phone, and what is said there in words, laid out in whatever room there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from textual import on
from textual.content import Content
from textual.events import Resize

from lab.core.protocol import Show
from lab.core.step import Observation
from lab.studies.blinded_runs import Blinded, RaterReel
from screens.annotate.phone_pane import Evidence, PhonePane
from screens.annotate.unit_context import place_words
from screens.mirror.marks import PhoneMark
from screens.replay.run_player import RunPlayer
from screens.replay.timeline import Timeline
from screens.widgets.border_words import write_title
from screens.widgets.text_page import TextPage

Wanted = Literal["", "words", "phone"]
"""What is asked to be seen of a step: both, or one of them with all the room."""

_LOW = 18
"""Rows under which the steps stand beside the words, and not above them."""
_SPLIT = 60
"""Columns that they need there."""
_BROAD = 64
"""Columns from which the phone stands beside the words."""
_STEPS = 0.38


class RunPane(RunPlayer):
    """One run, blinded, scrubbed by whoever holds it; it takes no focus."""

    DEFAULT_CSS = """
    RunPane { width: 1fr; height: 1fr; }
    RunPane.-both > PhonePane { dock: right; height: 100%; }
    """

    def __init__(self, *, overlay: bool, id: str) -> None:
        self.phone = PhonePane("phone", overlay=overlay, pictures=True, interactive=True)
        self.page = TextPage(id="step-words", classes="pane")
        super().__init__(Timeline(id="steps"), self.phone, self.page, id=id)
        self.shows: tuple[Show, ...] = ()
        self.named = "Steps"
        """What its steps are called: which side of a pair they are."""
        self.wants: Wanted = ""
        self.closely = False
        self._evidence: list[Evidence] = []
        self._bare = False
        for part in (self.timeline, self.page, self.phone.mirror):
            part.can_focus = False

    # -- opening ---------------------------------------------------------------------------------------------

    def lay(self, runs: Blinded, run: str, name: str, at: int = 0) -> None:
        """Shows a run of a unit from a step on (from 0)."""
        self.shows, self.named = runs.shows, name
        self._bare, self._evidence = "screens" not in runs.shows, []
        self.page.show(Content(""))
        self.page.border_title = ""
        self.phone.draw_also(())
        self.phone.mirror.show_still(None, None, None)
        self.phone.mirror.mark([])
        self.timeline.cover(frozenset())
        self.open(RaterReel(runs, run), at)
        self.entitle()
        self.take_room()

    @on(RunPlayer.Listed)
    def _grown(self) -> None:
        self.entitle()
        if self.whole:
            self.take_room()

    @on(RunPlayer.Refused)
    def _not_read(self) -> None:
        if self.view is None:
            self._bare = True
            self.take_room()

    # -- where it is -----------------------------------------------------------------------------------------

    @property
    def place(self) -> str:
        """The current place as evidence names it; empty where the run has none."""
        ready = self.seeking or self.timeline.count
        return f"{self.run}@{self.number + 1}" if self.run is not None and ready else ""

    @property
    def place_words(self) -> str:
        """Where this is, in a few words."""
        if self.timeline.count and not self.seeking:
            return "the end" if self.at_end else f"step {self.number + 1} of {self.steps}"
        return "reading ..." if self.seeking else "no step"

    @on(RunPlayer.Moved)
    def _stood(self) -> None:
        self.entitle()
        self._draw_evidence()

    def entitle(self) -> None:
        """Says above the steps which is the current one, of how many."""
        where = f"{min(self.number + 1, self.steps)}/{self.steps}" if self.timeline.count else ""
        mark = "▸ " if self.has_class("-active") and self.has_class("-of-two") else ""
        self.timeline.entitle(f"{mark}{self.named}  {where}".strip())

    @on(RunPlayer.Looked)
    def _read(self) -> None:
        """Tells as much of the place as the study shows; without a picture and a tree there is no phone."""
        view, observation = self.view, self.seen
        if view is None:
            return
        over = view.number < self.timeline.count and self.timeline.rows[view.number].kind == "end"
        write_title(self.page, "The end" if over else f"Step {view.number + 1}")
        words = place_words(view, self.shows, after=self.after)
        self.page.show(words, from_top=words.plain != self.page.content.plain)
        self.entitle()
        bare = "screens" not in self.shows or (view.image is None and (observation is None or observation.tree is None))
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
        """The picture with all the room, or as before."""
        if closely is not self.closely:
            self.closely = closely
            self.take_room()
            if closely:
                self.phone.show_picture(True)

    # -- evidence --------------------------------------------------------------------------------------------

    def mark_evidence(self, evidence: Sequence[Evidence]) -> None:
        """Marks what answers rest on: steps in the list, regions on the phone."""
        self._evidence = [mark for mark in evidence if mark.place.rpartition("@")[0] == self.run]
        self.cover([mark.place for mark in self._evidence])
        self._draw_evidence()

    def _draw_evidence(self) -> None:
        here = self.screen_place
        marks = [
            PhoneMark("evidence", mark.region[:2], mark.region[2:], mark.label)
            for mark in self._evidence
            if mark.region is not None and mark.place == here
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
