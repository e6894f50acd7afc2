"""Times of day by name."""

from __future__ import annotations

import re
from typing import NamedTuple

PHASES = {
    "breakfast": (6, 10), "morning": (5, 11), "lunch": (11, 15), "noon": (11, 14), "afternoon": (12, 18),
    "dinner": (17, 22), "supper": (17, 22), "evening": (17, 22), "night": (21, 26), "bed": (21, 26),
    "bedtime": (21, 26), "sleep": (21, 26), "早餐": (6, 10), "早上": (5, 11), "午饭": (11, 15), "午餐": (11, 15),
    "晚饭": (17, 22), "晚餐": (17, 22), "晚上": (17, 24), "睡觉": (21, 26), "睡前": (21, 26),
}  # fmt: skip
"""Names of times of day, as hours from and to."""


class Phase(NamedTuple):
    """A time of day, from `start` to `end` minutes (past 24 h: overnight)."""

    name: str
    start: int
    end: int


def phase_in(text: str) -> Phase | None:
    """The time of day that a text names."""
    for name, (start, end) in PHASES.items():
        if re.search(rf"\b{name}s?\b" if name.isascii() else name, text, re.IGNORECASE):
            return Phase(name, start * 60, end * 60)
    return None
