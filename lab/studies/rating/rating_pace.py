"""A rater's time at work and away. A blurred terminal or a long silence is not work."""

from __future__ import annotations

from statistics import median

from lab.core.run.screen_clock import Clock

SILENCE = 60.0
"""Seconds without a key or the mouse after which a person counts as away."""
REST = 300.0
"""Seconds away that count as a break."""


class Pace:
    """One sitting: work, time away, and the time of each unit."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = self._last = clock.seconds()
        self._blurred: float | None = None
        self._gone = 0.0
        self._rested = 0.0
        self._unit = 0.0
        self._ended: list[float] = []
        self.units: list[float] = []
        """Seconds of work on each unit handed in."""

    @property
    def seconds_away(self) -> float:
        """Seconds away until now."""
        return self._gone + self._absent(self._clock.seconds())

    @property
    def worked(self) -> float:
        """Seconds of work until now."""
        return self._clock.seconds() - self._began - self.seconds_away

    @property
    def since_rest(self) -> float:
        """Seconds of work since the last break."""
        return self.worked - self._rested

    @property
    def median(self) -> float | None:
        """Median seconds of work on a unit, None before the first."""
        return median(self.units) if self.units else None

    def touch(self) -> float:
        """Register a key or the mouse. Return the seconds away that this ends, 0 if none."""
        now = self._clock.seconds()
        absent = self._absent(now)
        self._gone += absent
        if absent:
            self._ended.append(absent)
        self._last, self._blurred = now, None
        if absent >= REST:
            self.rested()
        return absent

    def blur(self) -> None:
        """Register that the terminal lost focus: work pauses."""
        self.touch()
        self._blurred = self._clock.seconds()

    def take_absences(self) -> list[float]:
        """Return the seconds of each time away that ended since the last call."""
        ended, self._ended = self._ended, []
        return ended

    def rested(self) -> None:
        """Register a break."""
        self._rested = self.worked

    def begin_unit(self) -> None:
        """Start timing a unit."""
        self._unit = self.worked

    def end_unit(self) -> None:
        """Add the time of the unit handed in."""
        self.units.append(self.worked - self._unit)

    def _absent(self, now: float) -> float:
        """Return the seconds of an absence in progress."""
        if self._blurred is not None:
            return now - self._blurred
        return max(0.0, now - self._last - SILENCE)
