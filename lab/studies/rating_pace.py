"""How long a rater is at work, and how long away: blurred terminals and long silences are not work."""

from __future__ import annotations

from statistics import median

from lab.core.screen_clock import Clock

SILENCE = 60.0
"""Seconds without a key or the mouse from which on a person counts as away."""
REST = 300.0
"""Seconds away that count as a break."""


class Pace:
    """A sitting: work, time away, and how long each unit took."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = self._last = clock.seconds()
        self._blurred: float | None = None
        self._gone = 0.0
        self._rested = 0.0
        self._unit = 0.0
        self._ended: list[float] = []
        self.units: list[float] = []
        """Seconds of work on each unit that was handed in."""

    @property
    def away(self) -> float:
        """Seconds away until now."""
        return self._gone + self._absent(self._clock.seconds())

    @property
    def worked(self) -> float:
        """Seconds of work until now."""
        return self._clock.seconds() - self._began - self.away

    @property
    def since_rest(self) -> float:
        """Seconds of work since the last break."""
        return self.worked - self._rested

    @property
    def median(self) -> float | None:
        """Seconds of work that a unit takes; None before the first."""
        return median(self.units) if self.units else None

    def touch(self) -> float:
        """Something was pressed or pointed at: gives the seconds away that this ends, 0 where there were none."""
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
        """The terminal lost the keyboard: work stands still."""
        self.touch()
        self._blurred = self._clock.seconds()

    def ended(self) -> list[float]:
        """Seconds of each time away that ended since this was asked last."""
        ended, self._ended = self._ended, []
        return ended

    def rested(self) -> None:
        """A break was taken."""
        self._rested = self.worked

    def begin_unit(self) -> None:
        """A unit is laid out now."""
        self._unit = self.worked

    def end_unit(self) -> None:
        """It is handed in."""
        self.units.append(self.worked - self._unit)

    def _absent(self, now: float) -> float:
        """Seconds away that are going on."""
        if self._blurred is not None:
            return now - self._blurred
        return max(0.0, now - self._last - SILENCE)
