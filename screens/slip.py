"""A key that comes right behind another was meant for what stood there before: held keys, and keys pressed twice."""

from __future__ import annotations

from math import inf

from lab.core.screen_clock import Clock

SLIP = 0.3
"""Seconds in which a key is rather meant for what stood there before."""


class Slip:
    """The moment after something took the place of something else."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._began = -inf

    def begin(self) -> None:
        """Another thing takes the keys from now on."""
        self._began = self.clock.seconds()

    @property
    def lasts(self) -> bool:
        """Whether a key that comes now is not meant for it."""
        return self.clock.seconds() - self._began < SLIP
