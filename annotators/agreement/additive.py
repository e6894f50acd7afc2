"""A statistic bound to its data as sums that add over traces, so that a resample is one matrix product."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from annotators.agreement.ratings import Floats


class Additive(NamedTuple):
    """`sums` (traces x p) are added over traces; `of` maps (..., p) of such sums to (...), nan where undefined.

    `why` says of the sums of all why there is no value. `most` is the largest value it can have where it is bounded
    above (1 for every kappa, alpha and share): intervals are made on the log of its distance from there, in its own
    unit where it has no such bound.
    """

    name: str
    sums: Floats
    of: Callable[[Floats], Floats]
    why: Callable[[Floats], str]
    most: float | None = 1.0


class Estimate(NamedTuple):
    """A value with its interval, or why there is none; the words are a reader's.

    `standard_error` is the jackknife's of the value itself (not of its log), over traces.
    """

    value: float | None
    undefined: str = ""
    low: float | None = None
    high: float | None = None
    no_interval: str = ""
    standard_error: float | None = None
