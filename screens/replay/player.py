"""At which pace a run plays: as it was recorded, or evenly."""

from __future__ import annotations

from collections.abc import Callable

from textual.timer import Timer
from textual.widget import Widget

from lab.runs.descriptions import seconds_between
from lab.runs.recorded_run import RunPlace

EVEN = 1.0
"""Seconds a step at even pace, and where no times were recorded."""
LONGEST, SHORTEST = 3.0, 0.15
"""Seconds that a step takes at most and at least at recorded pace."""


class Player:
    """Calls `on_step` when it is time for the next line; `owner` lends its timers."""

    def __init__(self, owner: Widget, on_step: Callable[[], None]) -> None:
        self._owner = owner
        self._on_step = on_step
        self._timer: Timer | None = None
        self.recorded = True
        """Whether the recorded pace is kept, where there is one."""

        self.timed = True
        """Whether times were recorded."""

    @property
    def playing(self) -> bool:
        return self._timer is not None

    @property
    def words(self) -> str:
        """How it plays, and the key that changes it."""
        pace = "1 s a step (. for recorded pace)"
        if self.recorded:
            pace = "recorded pace (. for 1 s a step)" if self.timed else "1 s a step: no times were recorded"
        return f"{'▶ playing' if self.playing else '‖ standing still'}, {pace}"

    def wait(self, here: RunPlace, following: RunPlace) -> None:
        """Waits as long as `here` took."""
        self._timer = self._owner.set_timer(self.seconds(here, following), self._on_step)

    def stop(self) -> None:
        """Stands still."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def seconds(self, here: RunPlace, following: RunPlace) -> float:
        """How long a step is shown: from its start to the next one's start, or to its own end."""
        took = seconds_between(here.started, following.started) or seconds_between(here.started, here.ended)
        return EVEN if took is None or not self.recorded else min(max(took, SHORTEST), LONGEST)
