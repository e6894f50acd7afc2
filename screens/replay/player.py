"""Playback pace of a run: as recorded, or even."""

from __future__ import annotations

from collections.abc import Callable

from textual.timer import Timer
from textual.widget import Widget

from lab.runs.descriptions import seconds_between
from lab.runs.recorded_run import RecordedPlace

EVEN = 1.0
"""Seconds per step at even pace, and without recorded times."""
LONGEST, SHORTEST = 3.0, 0.15
"""Maximum and minimum seconds per step at recorded pace."""


class Player:
    """Calls `on_step` at the time of the next line. `owner` provides the timers."""

    def __init__(self, owner: Widget, on_step: Callable[[], None]) -> None:
        self._owner = owner
        self._on_step = on_step
        self._timer: Timer | None = None
        self.recorded = True
        """True to use the recorded pace if there is one."""

        self.timed = True
        """True if times were recorded."""

    @property
    def playing(self) -> bool:
        return self._timer is not None

    @property
    def words(self) -> str:
        """State and pace, and the key that changes the pace."""
        pace = "1 s a step (. for recorded pace)"
        if self.recorded:
            pace = "recorded pace (. for 1 s a step)" if self.timed else "1 s a step: no times were recorded"
        return f"{'▶ playing' if self.playing else '‖ standing still'}, {pace}"

    def schedule(self, here: RecordedPlace, following: RecordedPlace) -> None:
        """Start a timer for as long as `here` took."""
        self._timer = self._owner.set_timer(self.seconds(here, following), self._on_step)

    def pause(self) -> None:
        """Stop playing."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def seconds(self, here: RecordedPlace, following: RecordedPlace) -> float:
        """Return how long to show a step: from its start to the next one's start, or to its own end."""
        took = seconds_between(here.started, following.started) or seconds_between(here.started, here.ended)
        return EVEN if took is None or not self.recorded else min(max(took, SHORTEST), LONGEST)
