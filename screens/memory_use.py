"""What the app's process keeps in memory, and when it stops to look for what nothing refers to."""

from __future__ import annotations

import gc

_FIRST, _SECOND, _THIRD = 5_000, 10, 10
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
"""Parameters of glibc's `mallopt` (malloc.h)."""
_PICTURE = 512 * 1024
"""Bytes from which on a block is given back when it is freed: a phone's picture has about 8 MB, a dish in it 1 MB."""


def spare_pauses() -> None:
    """Leaves what is loaded by now out of the looks for what nothing refers to, and looks less often.

    Measured with 60 items and 500 steps: each hundred answers stopped twice for 100 ms, and do so for 30 ms no more.
    """
    gc.freeze()
    gc.set_threshold(_FIRST, _SECOND, _THIRD)
    gc.enable()


def give_pictures_back() -> None:
    """Has the C library give the memory of a freed picture back to the system; without glibc it does nothing.

    Otherwise each thread that handles pictures keeps room for some of them: measured in Live, 194 MB instead of 138.
    """
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_ARENA_MAX, 1)
        mallopt(_MMAP_THRESHOLD, _PICTURE)
