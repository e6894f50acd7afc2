"""A statistic bound to its data as sums that add over traces, so that a resample is one matrix product."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.ratings.ratings import Floats
from lab.core.study.agreement import IntervalBy

EPSILON = 1e-12
"""Differences of shares below this count as zero, because sums of thirds are not exact."""


FIRST_OF_SECOND = np.array([1.0, 0.0]), np.array([0.0, 1.0])
"""Weights of a share whose sums are hits and total."""

AT_MOST = "it is the largest it can be"
"""Reason why a value at its maximum has no interval."""


class AdditiveStatistic(NamedTuple):
    """A statistic as sums that add over traces, with the function that computes its value from them.

    `sums` is (traces x p). `evaluate` maps summed rows (..., p) to values (...), nan if undefined. `explain` returns
    the reason for an undefined value, from the total sums. `most` is the largest possible value (1 for every kappa,
    alpha and share): intervals are computed on the log of the distance from it, or in the value's own unit if it is
    None. `least` is the smallest possible value, at which intervals are clipped. `places` is the number of items that
    count. `share` holds two weight vectors (p) of the sums if the statistic is a ratio of counts: hits and total.
    `f_interval` returns the F interval from the total sums and a level, or the reason if there is none. It holds if no
    trace has more than one item, and then the first column of the sums counts items.
    """

    name: str
    sums: Floats
    evaluate: Callable[[Floats], Floats]
    explain: Callable[[Floats], str]
    most: float | None = 1.0
    least: float | None = None
    places: int = 0
    share: tuple[Floats, Floats] | None = None
    f_interval: Callable[[Floats, float], tuple[float, float] | str] | None = None


class Estimate(NamedTuple):
    """A value with its interval, or the reason why there is none, in words for a reader.

    `standard_error` is the jackknife's, over traces, of the value itself (not of its log). `interval` names the method
    if it differs from the requested one.
    """

    value: float | None
    undefined: str = ""
    low: float | None = None
    high: float | None = None
    no_interval: str = ""
    standard_error: float | None = None
    interval: IntervalBy = ""


def totals_by_trace(columns: Floats, trace: npt.NDArray[np.int32], traces: int) -> Floats:
    """Sum rows (places x p) by the trace of each place, in the order of places: (traces x p)."""
    out = np.zeros((traces, columns.shape[1]))
    # `bincount` adds one by one in the order of places, so that equal data always give equal sums.
    for at in range(columns.shape[1]):
        out[:, at] = np.bincount(trace, weights=columns[:, at], minlength=traces)
    return out


def ratio(above: Floats, below: Floats, least: float | Floats = 0.0) -> Floats:
    """Divide `above` by `below`, nan if `below` is not more than `least`."""
    is_defined = below > least
    out = np.full(np.broadcast(above, below).shape, np.nan)
    np.divide(above, below, out=out, where=is_defined)
    return out


def undefined(
    name: str, traces: int, why: str, most: float | None = 1.0, least: float | None = None
) -> AdditiveStatistic:
    """Return a statistic without a value, for a reason that holds in every resample."""

    def nowhere(sums: Floats) -> Floats:
        return np.full(sums.shape[:-1], np.nan)

    return AdditiveStatistic(name, np.zeros((traces, 1)), nowhere, lambda sums: why, most, least)


def value_of(one: AdditiveStatistic) -> float | None:
    """Return the value over all traces, or None if undefined."""
    value = float(one.evaluate(one.sums.sum(axis=0)))
    return value if np.isfinite(value) else None
