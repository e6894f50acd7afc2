"""Screens that were packed as PNG before, by the state that they show: runs of one task see the same ones again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import msgspec

from simulators.phone.app import State
from simulators.phone.sized_cache import SizedCache

MOST = 8_000_000
"""Bytes of PNG files that are kept; a screen has some 130,000."""


class PackedScreens:
    """PNG files of screens by the phone's state, up to `most` bytes; the one that was used longest ago goes first."""

    def __init__(self, most: int = MOST) -> None:
        self._files: SizedCache[bytes] = SizedCache(most, len)

    @property
    def size(self) -> int:
        """Bytes that are kept now."""
        return self._files.size

    def png(self, state: State, pack: Callable[[], bytes]) -> bytes:
        """The PNG of a state's screen: the one that is kept, or else what `pack` makes."""
        key = hashlib.blake2b(msgspec.json.encode(state), digest_size=32).digest()
        png = self._files.get(key)
        if png is None:
            png = pack()
            self._files.put(key, png)
        return png
