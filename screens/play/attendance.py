"""How long a participant is at their study and away from it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from lab.core.errors import LabError
from lab.core.screen_clock import Clock
from lab.studies.play_session import Participation
from lab.studies.rating_pace import REST, Pace


class Attendance:
    """Times at the study and away from it. They are kept of `part`, the participation of a person who has agreed."""

    def __init__(self, clock: Clock) -> None:
        self.pace = Pace(clock)
        self.part: Participation | None = None

    def turn(self, here: bool) -> None:
        """The terminal has the keyboard again, or lost it."""
        (self.pace.touch if here else self.pace.blur)()

    def tick(self, *, at_run: bool) -> None:
        """Keeps the times away that ended; how long a person took in a run, its own events say."""
        if at_run:
            self.pace.touch()
        for seconds in self.pace.ended():
            if self.part is not None:
                self._keep(partial(self.part.rested, seconds, pause=seconds >= REST))

    def end(self) -> None:
        """Keeps how long the person was here, and how long of it away."""
        if self.part is not None:
            self._keep(partial(self.part.rose, self.pace.worked, self.pace.away))

    def _keep(self, verb: Callable[[], None]) -> None:
        """Does it where it is still possible: nobody is stopped by it."""
        with suppress(LabError):
            verb()
