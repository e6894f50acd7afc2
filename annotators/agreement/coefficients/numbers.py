"""Agreement of numeric answers: correlation and error, as sums that add over traces.

ICC is in `icc`, alpha in `alpha`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from annotators.agreement.coefficients.additive import (
    EPSILON,
    FIRST_OF_SECOND,
    AdditiveStatistic,
    ratio,
    totals_by_trace,
    undefined,
)
from annotators.agreement.coefficients.alpha import alpha_numbers
from annotators.agreement.coefficients.counts import NO_ANSWERS
from annotators.agreement.coefficients.icc import Icc, icc, icc_interval
from annotators.agreement.coefficients.numeric_range import NO_SPREAD, centre_values, why_numbers_not_comparable
from annotators.agreement.ratings.ratings import Floats, NumericRatings

__all__ = [
    "Icc",
    "alpha_numbers",
    "icc",
    "icc_interval",
    "mae",
    "mean",
    "mse",
    "pearson",
    "share_within",
    "spearman",
]  # fmt: skip

_SLACK = 1e-9
"""Slack of a band for differences of decimals: .45 - .4 is slightly more than .05 in binary floating point."""


def _paired_columns(numbers: NumericRatings) -> tuple[Floats, Floats, npt.NDArray[np.int32]]:
    """Return two columns over the places that have both, and the traces of these places."""
    if len(numbers.raters) > 2:
        raise ValueError(f"{numbers.field}: two columns are compared, not {len(numbers.raters)}")
    complete = np.isfinite(numbers.values).all(axis=1)
    return numbers.values[complete, 0], numbers.values[complete, 1], numbers.trace[complete]


def pearson(numbers: NumericRatings) -> AdditiveStatistic:
    """Return Pearson's correlation of two columns, over places that have both."""
    traces = len(numbers.traces)
    if why := why_numbers_not_comparable(numbers):
        return undefined("pearson", traces, why, least=-1.0)
    x, y, trace = _paired_columns(numbers)
    x, y = centre_values(x), centre_values(y)
    sums = totals_by_trace(np.column_stack((np.ones(len(x)), x, y, x * x, y * y, x * y)), trace, traces)

    def evaluate(sums: Floats) -> Floats:
        n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
        # A spread below rounding error counts as none.
        of_x, of_y = xx - ratio(x * x, n), yy - ratio(y * y, n)
        spread = (of_x > EPSILON * xx) & (of_y > EPSILON * yy)
        coefficient = ratio(xy - ratio(x * y, n), np.sqrt(np.where(spread, of_x * of_y, 0.0)))
        return np.clip(coefficient, -1.0, 1.0)

    return AdditiveStatistic("pearson", sums, evaluate, lambda sums: NO_SPREAD, least=-1.0, places=len(x))


def spearman(numbers: NumericRatings) -> AdditiveStatistic:
    """Return Spearman's correlation of two columns, over places that have both.

    Mid-ranks are computed anew in each resample, from the frequency of each pair of values.
    """
    traces = len(numbers.traces)
    if why := why_numbers_not_comparable(numbers):
        return undefined("spearman", traces, why, least=-1.0)
    x, y, trace = _paired_columns(numbers)
    sums, one, other, column = joint_sums(x, y, trace, traces)

    def evaluate(sums: Floats) -> Floats:
        return spearman_of(sums, one, other, column)

    return AdditiveStatistic("spearman", sums, evaluate, lambda sums: NO_SPREAD, least=-1.0, places=len(x))


def mse(numbers: NumericRatings) -> AdditiveStatistic:
    """Return the mean squared difference of two columns, over places that have both."""
    return _error_statistic("mse", numbers, lambda apart: apart * apart, None)


def mae(numbers: NumericRatings) -> AdditiveStatistic:
    """Return the mean absolute difference of two columns, over places that have both."""
    return _error_statistic("mae", numbers, np.abs, None)


def share_within(numbers: NumericRatings, band: float = 0.05) -> AdditiveStatistic:
    """Return the share of differences within +- `band` (inclusive, 1e-9 slack), over places that have both."""
    return _error_statistic(
        f"within_{band:g}", numbers, lambda apart: (np.abs(apart) <= band + _SLACK).astype(np.float64), 1.0
    )


def _error_statistic(
    name: str, numbers: NumericRatings, of: Callable[[Floats], Floats], most: float | None
) -> AdditiveStatistic:
    traces = len(numbers.traces)
    if why := why_numbers_not_comparable(numbers):
        return undefined(name, traces, why, most, least=0.0)
    x, y, trace = _paired_columns(numbers)
    return _mean_statistic(name, of(x - y), trace, traces, most, 0.0)


def mean(
    values: Floats,
    trace: npt.NDArray[np.int32],
    traces: int,
    name: str = "mean",
    most: float | None = None,
    least: float | None = None,
) -> AdditiveStatistic:
    """Return the mean of one column without nan. It is a share if the column holds zeros and ones (`most` 1)."""
    is_given = np.isfinite(values)
    return _mean_statistic(name, values[is_given], trace[is_given], traces, most, 0.0 if most == 1 else least)


def _mean_statistic(
    name: str, values: Floats, trace: npt.NDArray[np.int32], traces: int, most: float | None, least: float | None
) -> AdditiveStatistic:
    sums = totals_by_trace(np.column_stack((values, np.ones(len(values)))), trace, traces)
    return AdditiveStatistic(
        name, sums, lambda sums: ratio(sums[..., 0], sums[..., 1]), lambda sums: NO_ANSWERS, most, least, len(values),
        FIRST_OF_SECOND if most == 1 else None,
    )  # fmt: skip


Ints = npt.NDArray[np.int32]

_CELLS = 4_000_000
"""Maximum size of a table that is ranked at once, in cells: 32 MB."""

_PAIRED = 20_000_000
"""Maximum size of a table of traces by pairs if there are more pairs than traces, in cells: 160 MB."""


def joint_sums(x: Floats, y: Floats, trace: Ints, traces: int) -> tuple[Floats, Floats, Floats, Ints]:
    """Return sums that suffice to compute ranks, values x and y, and the column with the frequency of each pair.

    The sums are the frequencies of distinct pairs (traces x pairs) if that table fits into 160 MB or pairs are fewer
    than traces, else the identity (traces x traces): a resample then holds the frequency of each trace and so of its
    places. Both are exact.
    """
    pairs, which = np.unique(np.column_stack((x, y)), axis=0, return_inverse=True)
    if len(pairs) > traces and len(pairs) * traces > _PAIRED:
        return np.eye(traces), x, y, trace
    tally = np.zeros((traces, len(pairs)))
    np.add.at(tally, (trace, which.reshape(-1)), 1.0)
    return tally, pairs[:, 0], pairs[:, 1], np.arange(len(pairs), dtype=np.int32)


def spearman_of(sums: Floats, x: Floats, y: Floats, column: Ints) -> Floats:
    """Map sums (..., p) to the correlation of mid-ranks (...) of (x, y), each pair as frequent as its column says."""
    flat = sums.reshape(-1, sums.shape[-1])
    out = np.empty(len(flat))
    step = max(1, _CELLS // max(1, len(column)))
    for start in range(0, len(flat), step):
        out[start : start + step] = _rank_correlations(flat[start : start + step, column], x, y)
    return out.reshape(sums.shape[:-1])


def _rank_correlations(weights: Floats, x: Floats, y: Floats) -> Floats:
    n = weights.sum(axis=1, keepdims=True)
    one, other = _mid_ranks(weights, x) - (n + 1) / 2, _mid_ranks(weights, y) - (n + 1) / 2
    xx, yy = (weights * one * one).sum(axis=1), (weights * other * other).sum(axis=1)
    below = np.sqrt(xx * yy)
    return ratio((weights * one * other).sum(axis=1), np.where(below > EPSILON * n[:, 0] ** 3, below, 0.0))


def _mid_ranks(weights: Floats, values: Floats) -> Floats:
    """Return the mid-rank of each value (B x n), if value i occurs weights[:, i] times."""
    different, which = np.unique(values, return_inverse=True)
    order = np.argsort(which, kind="stable")
    ends = np.searchsorted(which[order], np.arange(len(different)), side="right") - 1
    upto = np.cumsum(weights[:, order], axis=1)[:, ends]
    before = np.concatenate((np.zeros((len(weights), 1)), upto[:, :-1]), axis=1)
    return np.asarray(((before + upto + 1) / 2)[:, which.reshape(-1)])
