"""Screens that were packed as PNG before, by the state that they show: runs of one task see the same ones again."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable

import msgspec

from simulators.phone.app import State

MOST = 8_000_000
"""Bytes of PNG files that are kept; a screen has some 130,000."""


class PackedScreens:
    """PNG files of screens by the phone's state, up to `most` bytes; the one that was used longest ago goes first."""

    def __init__(self, most: int = MOST) -> None:
        self._most, self._size = most, 0
        self._files: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """Bytes that are kept now."""
        return self._size

    def png(self, state: State, pack: Callable[[], bytes]) -> bytes:
        """The PNG of a state's screen: the one that is kept, or else what `pack` makes."""
        key = hashlib.blake2b(msgspec.json.encode(state), digest_size=32).digest()
        with self._lock:
            kept = self._files.get(key)
            if kept is not None:
                self._files.move_to_end(key)
                return kept
        png = pack()
        with self._lock:
            self._put(key, png)
        return png

    def _put(self, key: bytes, png: bytes) -> None:
        if key in self._files:
            return
        self._files[key] = png
        self._size += len(png)
        while self._size > self._most:
            self._size -= len(self._files.popitem(last=False)[1])
