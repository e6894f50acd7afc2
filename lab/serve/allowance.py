"""Token bucket that limits one sender, so that a flood does not delay others."""

from __future__ import annotations

import time


class Allowance:
    """Allow `rate` units per second, and `burst` units at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._available, self._refilled_at = burst, time.monotonic()

    def wait(self, much: float = 1.0) -> float:
        """Take units and return the seconds to wait for them."""
        self._refill()
        self._available -= much
        return max(0.0, -self._available / self._rate)

    def allows(self) -> bool:
        """Take one unit and return True if it is available without waiting. Otherwise take nothing."""
        self._refill()
        if self._available < 1:
            return False
        self._available -= 1
        return True

    def _refill(self) -> None:
        now = time.monotonic()
        self._available = min(self._burst, self._available + (now - self._refilled_at) * self._rate)
        self._refilled_at = now
