"""pspa: not measured yet."""

from __future__ import annotations

from collections.abc import Sequence

from annotators.metrics import Context, Number
from lab.case import Case


def measure(cases: Sequence[Case], context: Context) -> list[Number]:
    """Nothing yet."""
    return []
