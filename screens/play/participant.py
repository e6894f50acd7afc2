"""A participant at their screen: which study, where in it, and for how long they are at it and away."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from textual.screen import Screen
from textual.widgets import Static

from lab.core.errors import LabError
from lab.core.plain_text import plain
from lab.core.screen_clock import Clock
from lab.studies.play_session import Participation, PlayPosition
from lab.studies.rating_pace import REST, Pace
from screens.lab import lab_of
from screens.play.pages import where_words
from screens.play.words import said

_TICK = 5.0
"""Seconds between two looks at the clock."""


class ParticipantScreen(Screen[None]):
    """The line above a participant's pages, and the times that are kept of those who agreed."""

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__()
        self.part: Participation | None = None
        self.here: PlayPosition | None = None
        self.clock = clock or Clock()
        self.pace = Pace(self.clock)
        self._page_title = ""

    def on_mount(self) -> None:
        self.set_interval(_TICK, self.tick)
        self.watch(self.app, "app_focus", self._turned_away, init=False)

    def entitle(self, page: str = "") -> None:
        """The study, who is here, where in it (`page` is what is read), and for how many minutes they are at it."""
        self._page_title = page
        if self.part is None or self.here is None:
            return
        study, minutes = self.part.study, int(self.pace.worked // 60)
        parts = [study.title or study.id, self.part.person.id, where_words(self.part, self.here, page)]
        parts += [said(self.part.locale, "minutes", minutes=minutes)] if minutes else []
        self.query_one("#play-title", Static).update(plain("   ".join(parts), lines=False))

    def on_key(self) -> None:
        self.pace.touch()

    def on_mouse_move(self) -> None:
        self.pace.touch()

    def _turned_away(self, here: bool) -> None:
        """The terminal lost the keyboard, or has it again."""
        (self.pace.touch if here else self.pace.blur)()

    def tick(self) -> None:
        """Time has gone on; times away that ended are kept."""
        if lab_of(self).run_is_live:
            self.pace.touch()  # how long somebody took in a run, its own events tell
        for seconds in self.pace.ended():
            if self.part is not None:
                self._keep(partial(self.part.rested, seconds, pause=seconds >= REST))
        self.entitle(self._page_title)

    def on_unmount(self) -> None:
        if self.part is not None:
            self._keep(partial(self.part.rose, self.pace.worked, self.pace.away))

    def _keep(self, verb: Callable[[], None]) -> None:
        """Does it for those who agreed, where it is still possible: nobody is stopped by it."""
        if self.here is not None and self.here.stage not in ("consent", "refused"):
            with suppress(LabError):
                verb()
