"""How many generated examples a property is tried on: a share of them in `make test`, more than all in `make soak`."""

from __future__ import annotations

import os

SOAK = "HITLAB_SOAK"
"""The variable that `make soak` sets."""
LEAST = 10


def soaking() -> bool:
    """Whether this is `make soak`, which takes hours."""
    return bool(os.environ.get(SOAK))


def examples(count: int) -> int:
    """The examples of one run of a property: a quarter of `count`, or in a soak four times as many."""
    return count * 4 if soaking() else max(count // 4, LEAST)
