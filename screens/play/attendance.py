"""Times that a participant is at their study and away from it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from lab.core.errors import LabError
from lab.core.screen_clock import Clock
from lab.studies.play_session import Participation
from lab.studies.rating_pace import REST, Pace


class Attendance:
    """Times at the study and away from it, recorded for a `participation` that has agreed."""

    def __init__(self, clock: Clock) -> None:
        self.pace = Pace(clock)
        self.participation: Participation | None = None

    def set_focused(self, here: bool) -> None:
        """Note that the terminal gained or lost the keyboard focus."""
        (self.pace.touch if here else self.pace.blur)()

    def tick(self, *, at_run: bool) -> None:
        """Record the absences that ended.

        Count the time in a run as presence, because its own events hold the times.
        """
        if at_run:
            self.pace.touch()
        for seconds in self.pace.ended():
            if self.participation is not None:
                self._record(partial(self.participation.record_absence, seconds, pause=seconds >= REST))

    def end(self) -> None:
        """Record how long the person was here, and how long away."""
        if self.participation is not None:
            self._record(partial(self.participation.end_sitting, self.pace.worked, self.pace.away))

    def _record(self, verb: Callable[[], None]) -> None:
        """Record it if possible. A failure here must not stop the person."""
        with suppress(LabError):
            verb()
