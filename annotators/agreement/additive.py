"""A statistic bound to its data as sums that add over traces, so that a resample is one matrix product."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.ratings import Floats
from lab.core.agreement import IntervalBy

NOTHING = 1e-12
"""A difference of shares below this is none: sums of thirds never come out even."""


FIRST_OF_SECOND = np.array([1.0, 0.0]), np.array([0.0, 1.0])
"""The weights of a share whose sums are how many are so, and of how many."""

AT_MOST = "it is the largest it can be"
"""Why a value that is as large as it can be has no interval."""


class AdditiveStatistic(NamedTuple):
    """`sums` (traces x p) are added over traces; `of` maps (..., p) of such sums to (...), nan where undefined.

    `why` says of the sums of all why there is no value. `most` is the largest value it can have where it is bounded
    above (1 for every kappa, alpha and share): intervals are made on the log of its distance from there, in its own
    unit where it has no such bound. `least` is the smallest: no interval reaches below it. `places` count in it.
    `share` are weights (p and p) of the sums where it is one count of another: how many are so, of how many.
    `by_f` gives the interval by F from the sums of all and a level, or why there is none; it holds if no trace has more
    than one place, and then the first column of the sums counts places.
    """

    name: str
    sums: Floats
    of: Callable[[Floats], Floats]
    why: Callable[[Floats], str]
    most: float | None = 1.0
    least: float | None = None
    places: int = 0
    share: tuple[Floats, Floats] | None = None
    by_f: Callable[[Floats, float], tuple[float, float] | str] | None = None


class Estimate(NamedTuple):
    """A value with its interval, or why there is none; the words are a reader's.

    `standard_error` is the jackknife's of the value itself (not of its log), over traces. `interval` is how it
    came about where that is not as was asked for.
    """

    value: float | None
    undefined: str = ""
    low: float | None = None
    high: float | None = None
    no_interval: str = ""
    standard_error: float | None = None
    interval: IntervalBy = ""


def over_traces(columns: Floats, trace: npt.NDArray[np.int32], traces: int) -> Floats:
    """(places x p) added up by the trace of each place, in the order of places: (traces x p)."""
    out = np.zeros((traces, columns.shape[1]))
    for at in range(columns.shape[1]):
        out[:, at] = np.bincount(trace, weights=columns[:, at], minlength=traces)
    return out


def ratio(above: Floats, below: Floats, least: float | Floats = 0.0) -> Floats:
    """One over the other, nan where what is below is not more than `least`."""
    there = below > least
    out = np.full(np.broadcast(above, below).shape, np.nan)
    np.divide(above, below, out=out, where=there)
    return out


def undefined(
    name: str, traces: int, why: str, most: float | None = 1.0, least: float | None = None
) -> AdditiveStatistic:
    """A statistic that has no value for a reason that no resample changes."""

    def nowhere(sums: Floats) -> Floats:
        return np.full(sums.shape[:-1], np.nan)

    return AdditiveStatistic(name, np.zeros((traces, 1)), nowhere, lambda sums: why, most, least)


def value_of(one: AdditiveStatistic) -> float | None:
    """The value over all traces; None where it is undefined."""
    value = float(one.of(one.sums.sum(axis=0)))
    return value if np.isfinite(value) else None
