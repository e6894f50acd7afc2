"""Ignore keys that arrive right after the screen changed: held or doubled keys were meant for what was there before."""

from __future__ import annotations

from math import inf

from lab.core.run.screen_clock import Clock

GUARD_SECONDS = 0.3
"""Seconds in which a key still belongs to what was there before."""


class KeyGuard:
    """The moment after something new appeared in the place of something else."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._began = -inf

    def begin(self) -> None:
        """Start the moment: something new receives the keys."""
        self._began = self.clock.seconds()

    @property
    def active(self) -> bool:
        """True while a key is not meant for the new thing."""
        return self.clock.seconds() - self._began < GUARD_SECONDS
