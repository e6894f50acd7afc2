"""A cache that is bounded by the memory of what it keeps, and not by how many things these are."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Kept = TypeVar("Kept")


class SizedCache(Generic[Kept]):
    """Things by key, up to `most` bytes as `size_of` counts them; the one that was used longest ago goes first."""

    def __init__(self, most: int, size_of: Callable[[Kept], int]) -> None:
        self._most, self._size_of, self._size = most, size_of, 0
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """Bytes that are kept now."""
        return self._size

    def get(self, key: Hashable) -> Kept | None:
        """What is kept by a key, or None."""
        with self._lock:
            value = self._kept.get(key)
            if value is not None:
                self._kept.move_to_end(key)
            return value

    def put(self, key: Hashable, value: Kept) -> None:
        """Keeps it, and forgets others while all together are too large; what is too large alone is not kept."""
        with self._lock:
            self._forget(key)
            size = self._size_of(value)
            if size > self._most:
                return
            self._kept[key] = value
            self._size += size
            while self._size > self._most:
                self._forget(next(iter(self._kept)))

    def _forget(self, key: Hashable) -> None:
        if (value := self._kept.pop(key, None)) is not None:
            self._size -= self._size_of(value)
