"""How much may come from one place, so that no flood takes others' time."""

from __future__ import annotations

import time


class Allowance:
    """How much may come: `rate` a second, and as much as `burst` at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._left, self._at = burst, time.monotonic()

    def wait(self, much: float = 1.0) -> float:
        """Takes so much, and gives for how many seconds it has to wait."""
        self._refill()
        self._left -= much
        return max(0.0, -self._left / self._rate)

    def allows(self) -> bool:
        """Takes one where it need not wait; False, and nothing taken, where it had to."""
        self._refill()
        if self._left < 1:
            return False
        self._left -= 1
        return True

    def _refill(self) -> None:
        now = time.monotonic()
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
