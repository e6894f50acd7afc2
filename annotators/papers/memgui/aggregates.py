"""MemGUI-Bench's numbers as means over tasks or attempts, with the number of exclusions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from annotators.papers.metrics import Number, mean

PAPER = "memgui"
Out = tuple[tuple[str, int], ...]
Unit = Literal["share", "ratio", "seconds", "usd"]


def mean_number(
    metric: str,
    unit: Unit,
    values: Sequence[float],
    part: str,
    version: Literal["", "paper", "script"],
    out: Out,
    why: str = "",
    note: str = "",
    of: str = "tasks",
) -> Number:
    """Return the mean of values, or an undefined number with the reason `why`."""
    reason = "" if values else why
    return Number(PAPER, metric, mean(values), unit, len(values), of, part, version, out, reason, note)


def add_reason(out: Out, reason: str, count: int) -> Out:
    """Return `out` with one more reason, if anything was left out for it."""
    return (*out, (reason, count)) if count else out
