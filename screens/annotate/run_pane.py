"""One run of a unit: steps, phone and texts, laid out for the room available."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from textual import on
from textual.content import Content
from textual.events import Resize

from lab.core.study.protocol import Show
from lab.studies.rating.blinded_runs import Blinded, RaterReel
from screens.annotate.phone_pane import Evidence, PhonePane
from screens.annotate.unit_context import place_words
from screens.mirror.marks import PhoneMark
from screens.replay.run_player import RunPlayer
from screens.replay.timeline import Timeline
from screens.widgets.border_words import write_title
from screens.widgets.text_page import TextPage

WantedPanes = Literal["", "words", "phone"]
"""Panes that the rater asked for: both (empty), or one of them with all the room."""

_LOW = 18
"""Rows below which the steps go beside the texts, not above them."""
_SPLIT = 60
"""Columns required for that."""
_BROAD = 64
"""Columns from which the phone goes beside the texts."""
_STEPS = 0.38


class RunPane(RunPlayer):
    """Pane of one run, blinded. It takes no focus: its owner moves it."""

    DEFAULT_CSS = """
    RunPane { width: 1fr; height: 1fr; }
    RunPane.-both > PhonePane { dock: right; height: 100%; }
    """

    def __init__(self, *, overlay: bool, id: str) -> None:
        self.phone = PhonePane("phone", overlay=overlay, pictures=True, interactive=True)
        self.page = TextPage(id="step-words", classes="pane")
        super().__init__(Timeline(id="steps"), self.phone, self.page, id=id)
        self.shows: tuple[Show, ...] = ()
        self.title = "Steps"
        """Title of its steps, for a pair the side."""
        self.wanted_panes: WantedPanes = ""
        self.closely = False
        self._evidence: list[Evidence] = []
        self._bare = False
        for part in (self.timeline, self.page, self.phone.mirror):
            part.can_focus = False

    # -- opening ---------------------------------------------------------------------------------------------

    def show_run(self, runs: Blinded, run: str, name: str, at: int = 0) -> None:
        """Show a run of a unit from a step on (from 0)."""
        self.shows, self.title = runs.shows, name
        self._bare, self._evidence = "screens" not in runs.shows, []
        self.page.show(Content(""))
        self.page.border_title = ""
        self.phone.draw_marks(())
        self.phone.mirror.show_still(None, None, None)
        self.phone.mirror.mark([])
        self.timeline.mark_evidence(frozenset())
        self.open(RaterReel(runs, run), at)
        self.entitle()
        self.take_room()

    @on(RunPlayer.Listed)
    def _update_after_listing(self) -> None:
        self.entitle()
        if self.whole:
            self.take_room()

    @on(RunPlayer.Refused)
    def _hide_phone(self) -> None:
        if self.view is None:
            self._bare = True
            self.take_room()

    # -- where it is -----------------------------------------------------------------------------------------

    @property
    def place(self) -> str:
        """The current place in evidence form, empty if the run has none."""
        ready = self.is_locating or self.timeline.count
        return f"{self.run}@{self.number + 1}" if self.run is not None and ready else ""

    @property
    def place_words(self) -> str:
        """The current place in a few words."""
        if self.timeline.count and not self.is_locating:
            return "the end" if self.at_end else f"step {self.number + 1} of {self.steps}"
        return "reading ..." if self.is_locating else "no step"

    @on(RunPlayer.Moved)
    def _update_place(self) -> None:
        self.entitle()
        self._draw_evidence()

    def entitle(self) -> None:
        """Write the current step and the number of steps above the list."""
        where = f"{min(self.number + 1, self.steps)}/{self.steps}" if self.timeline.count else ""
        mark = "▸ " if self.has_class("-active") and self.has_class("-of-two") else ""
        self.timeline.write_titles(f"{mark}{self.title}  {where}".strip())

    @on(RunPlayer.Looked)
    def _show_place(self) -> None:
        """Show what the study shows of the place. Without picture and tree there is no phone."""
        view, observation = self.view, self.screen_shown
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
        """Divide the room between steps, texts and phone."""
        width, height = self.size
        if not width or not height:
            return
        low = height < _LOW and width >= _SPLIT
        both = not low and width >= _BROAD and not self._bare and not self.wanted_panes and not self.closely
        phone = not self._bare and (both or self.closely or self.wanted_panes == "phone")
        words = not phone or both
        self.set_class(both, "-both")
        self.styles.layout = "horizontal" if low else "vertical"
        self.timeline.display = not self.closely
        self.page.display, self.phone.display = words, phone
        self.timeline.styles.width = max(20, round(width * _STEPS)) if low else "1fr"
        # No more rows for the list than it has steps.
        rows = max(5, min(round(height * _STEPS), self.timeline.count + 2))
        self.timeline.styles.height = "1fr" if low else rows
        self.page.styles.width = self.page.styles.height = "1fr"
        self.phone.styles.height = "100%" if both else "1fr"
        self.phone.alone, self.phone.area = not both, (width, height)
        self.phone.fit_width()

    def turn_view(self) -> None:
        """Cycle through texts and phone, texts only, phone only. Without room for both, switch between the two."""
        if self._bare:
            return
        roomy = self.size.height >= _LOW and self.size.width >= _BROAD
        order: tuple[WantedPanes, ...] = ("", "words", "phone") if roomy else ("", "phone")
        self.wanted_panes = (
            order[(order.index(self.wanted_panes) + 1) % len(order)] if self.wanted_panes in order else ""
        )
        self.take_room()

    @property
    def shows_phone(self) -> bool:
        return bool(self.phone.display)

    def show_phone(self) -> None:
        """Make the phone visible, if the run has pictures."""
        if not self.shows_phone and not self._bare:
            self.wanted_panes = "phone"
            self.take_room()

    def look_closely(self, closely: bool) -> None:
        """Give the picture all the room, or restore the layout."""
        if closely is not self.closely:
            self.closely = closely
            self.take_room()
            if closely:
                self.phone.show_picture(True)

    # -- evidence --------------------------------------------------------------------------------------------

    def mark_evidence(self, evidence: Sequence[Evidence]) -> None:
        """Mark the evidence of answers: steps in the list, regions on the phone."""
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
        self.phone.draw_marks(marks)

    @property
    def has_phone(self) -> bool:
        """True if there is a picture or a tree to show."""
        return not self._bare

    @property
    def screen_place(self) -> str:
        """Place whose screen before the step is on the phone: this step, or the next one for the screen after."""
        return f"{self.run}@{self.number + 1 + (self.after and not self.at_end)}" if self.run is not None else ""
