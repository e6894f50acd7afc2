"""A cache that is bounded by the memory of its values instead of their number."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Kept = TypeVar("Kept")


class SizedCache(Generic[Kept]):
    """A mapping of up to `most` bytes as `size_of` counts them. It evicts the least recently used value first."""

    def __init__(self, most: int, size_of: Callable[[Kept], int]) -> None:
        self._most, self._size_of, self._size = most, size_of, 0
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        """Bytes in the cache."""
        return self._size

    def get(self, key: Hashable) -> Kept | None:
        """Return the value of a key, or None if it is not cached."""
        with self._lock:
            value = self._kept.get(key)
            if value is not None:
                self._kept.move_to_end(key)
            return value

    def store(self, key: Hashable, value: Kept) -> None:
        """Store a value and evict others until the total fits. A value that alone exceeds the bound is not stored."""
        with self._lock:
            # A replaced value must release its size.
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
