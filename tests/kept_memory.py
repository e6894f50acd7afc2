"""What a test frees, the next one uses: most of what the system did in a run was to fetch pictures' memory anew."""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Parameters of glibc's `mallopt` (malloc.h)."""
_BLOCK = 32 * 1024**2
"""Bytes from which on a block is a map of its own; glibc takes no more. A phone's picture has about 8 MB."""
_FREE = 128 * 1024**2
"""Bytes that a worker keeps at the end of its heap."""


def keep_freed_memory() -> None:
    """Keeps freed memory in the process, in one heap for all threads; without glibc it does nothing.

    The app does the contrary (`give_pictures_back`), since people look at how much memory it holds. In tests each of
    some thousand pictures then costs two thousand page faults, which is up to a sixth of what a room's tests take.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_ARENA_MAX, 1)
        mallopt(_MMAP_THRESHOLD, _BLOCK)
        mallopt(_TRIM_THRESHOLD, _FREE)
