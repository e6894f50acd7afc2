"""Intraclass correlation as sums that add over traces, with F intervals for independent items.

Source: McGraw & Wong, Forming inferences about some intraclass correlation coefficients, 1996.
"""

from __future__ import annotations

from math import inf
from typing import Literal

import numpy as np

from annotators.agreement.coefficients.additive import (
    AT_MOST,
    EPSILON,
    AdditiveStatistic,
    ratio,
    totals_by_trace,
    undefined,
)
from annotators.agreement.coefficients.numeric_range import NO_SPREAD, centre_values, why_numbers_not_comparable
from annotators.agreement.intervals.distributions import f_quantile
from annotators.agreement.ratings.ratings import Floats, NumericRatings

Icc = Literal["1", "A,1", "C,1", "1,k", "A,k", "C,k"]

NO_FULL = "fewer than two items that all rated"
NO_TWO = "fewer than two items that two rated"
NO_FREEDOM = "no degrees of freedom are left for its interval"


def icc(numbers: NumericRatings, form: Icc) -> AdditiveStatistic:
    """Return McGraw and Wong's intraclass correlation over the items that all raters rated.

    The one-way forms do not compare raters across items, so they include every item that at least two raters rated.
    """
    name = f"icc_{form}"
    if why := why_numbers_not_comparable(numbers):
        return undefined(name, len(numbers.traces), why)
    return _one_way(name, numbers, form) if form.startswith("1") else _two_way(name, numbers, form)


def _lower_bound(form: Icc) -> float | None:
    """Return the lower bound of an interval: -1 for the correlation of single ratings, None for that of means."""
    return -1.0 if form.endswith("1") else None


def _one_way(name: str, numbers: NumericRatings, form: Icc) -> AdditiveStatistic:
    """Return a one-way ICC.

    Sums: items, answers, answers squared, x, x^2, and (sum of an item)^2 / its answers.
    """
    is_given = np.isfinite(numbers.values)
    pairable = is_given.sum(axis=1) >= 2
    values = np.where(is_given, centre_values(numbers.values), 0.0)[pairable]
    answers = is_given[pairable].sum(axis=1).astype(np.float64)
    place = values.sum(axis=1)
    columns = (np.ones(len(place)), answers, answers**2, place, (values**2).sum(axis=1), place**2 / answers)
    sums = totals_by_trace(np.column_stack(columns), numbers.trace[pairable], len(numbers.traces))

    def parts(sums: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        places, answers, squares, x, xx, between = np.moveaxis(sums, -1, 0)
        mean = ratio(x * x, answers)
        among = ratio(between - mean, places - 1)
        within = np.where(answers - places > 0, ratio(xx - between, answers - places), 0.0)
        return among, within, ratio(answers - ratio(squares, answers), places - 1), xx - mean

    def evaluate(sums: Floats) -> Floats:
        among, within, each, spread = parts(sums)
        below = among + (each - 1) * within if form == "1" else among
        return np.where(spread > EPSILON * sums[..., 4], ratio(among - within, below, EPSILON * sums[..., 4]), np.nan)

    def by_f(sums: Floats, level: float) -> tuple[float, float] | str:
        if sums[0] < 2:
            return NO_TWO
        among, within, each, _ = (float(part) for part in parts(sums))
        return _by_one_ratio(among, within, each, sums[0] - 1, sums[1] - sums[0], level, mean=form == "1,k")

    return AdditiveStatistic(
        name,
        sums,
        evaluate,
        lambda sums: NO_SPREAD if sums[0] > 1 else NO_TWO,
        least=_lower_bound(form),
        places=int(pairable.sum()),
        f_interval=by_f,
    )


def _two_way(name: str, numbers: NumericRatings, form: Icc) -> AdditiveStatistic:
    """Return a two-way ICC. Sums: items, x^2, (sum of an item)^2, and x of each rater."""
    complete = np.isfinite(numbers.values).all(axis=1)
    # Centring does not change any mean square, and keeps the squares exact.
    values = centre_values(numbers.values[complete])
    columns = np.column_stack((np.ones(len(values)), (values**2).sum(axis=1), values.sum(axis=1) ** 2, values))
    sums = totals_by_trace(columns, numbers.trace[complete], len(numbers.traces))

    def evaluate(sums: Floats) -> Floats:
        rows, raters, residual, spread = _squares(sums)
        places, k = sums[..., 0], sums.shape[-1] - 3
        below = {
            "A,1": rows + (k - 1) * residual + k * ratio(raters - residual, places),
            "C,1": rows + (k - 1) * residual,
            "A,k": rows + ratio(raters - residual, places),
            "C,k": rows,
        }[form]
        return np.where(spread, ratio(rows - residual, below, EPSILON * sums[..., 1]), np.nan)

    return AdditiveStatistic(
        name,
        sums,
        evaluate,
        lambda sums: NO_SPREAD if sums[0] > 1 else NO_FULL,
        least=_lower_bound(form),
        places=int(complete.sum()),
        f_interval=lambda sums, level: _two_way_by_f(sums, form, level),
    )


def _squares(sums: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the mean squares of items, raters and residual, and True if there is any spread."""
    places, xx, rows, each = sums[..., 0], sums[..., 1], sums[..., 2], sums[..., 3:]
    k = each.shape[-1]
    mean = ratio(each.sum(axis=-1) ** 2, k * places)
    of_places = rows / k - mean
    of_raters = ratio((each**2).sum(axis=-1), places) - mean
    residual = xx - mean - of_places - of_raters
    return (
        ratio(of_places, places - 1),
        np.asarray(of_raters / (k - 1)),
        # Rounding can make the residual slightly negative if raters agree fully.
        ratio(np.maximum(residual, 0.0), (places - 1) * (k - 1)),
        np.asarray(xx - mean > EPSILON * xx),
    )


def icc_interval(numbers: NumericRatings, form: Icc, level: float = 0.95) -> tuple[float, float] | str:
    """Return McGraw and Wong's F interval, which holds for independent items, or the reason if there is none."""
    one = icc(numbers, form)
    if one.f_interval is None:
        return one.explain(one.sums.sum(axis=0))
    return one.f_interval(one.sums.sum(axis=0), level)


def _by_one_ratio(
    among: float, within: float, k: float, above: float, below: float, level: float, *, mean: bool
) -> tuple[float, float] | str:
    """Return the interval of a correlation that depends on one F ratio with these degrees of freedom (Table 7)."""
    if among <= 0 or above < 1 or below < 1:
        return NO_FREEDOM
    if within <= EPSILON * among:
        return AT_MOST
    tail = (1 + level) / 2
    low = among / within / f_quantile(tail, above, below)
    high = among / within * f_quantile(tail, below, above)
    if mean:
        return 1 - 1 / low, 1 - 1 / high
    return (low - 1) / (low + k - 1), (high - 1) / (high + k - 1)


def _two_way_by_f(sums: Floats, form: Icc, level: float) -> tuple[float, float] | str:
    rows, raters, residual, spread = _squares(sums)
    n, k = float(sums[0]), float(sums.shape[0] - 3)
    if n < 2 or not bool(spread):
        return NO_FULL if n < 2 else NO_SPREAD
    if form.startswith("C"):
        return _by_one_ratio(float(rows), float(residual), k, n - 1, (n - 1) * (k - 1), level, mean=form == "C,k")
    ends = _absolute_by_f(float(rows), float(raters), float(residual), n, k, level)
    if isinstance(ends, str) or form == "A,1":
        return ends
    # Spearman and Brown's formula turns the bounds of one rating into those of the mean of k, as in Table 7.
    low, high = (k * end / (1 + (k - 1) * end) if 1 + (k - 1) * end > EPSILON else -inf for end in ends)
    return low, high


def _absolute_by_f(
    rows: float, raters: float, rest: float, n: float, k: float, level: float
) -> tuple[float, float] | str:
    """Return the interval of ICC(A,1), with Satterthwaite's degrees of freedom."""
    below = rows + (k - 1) * rest + k * (raters - rest) / n
    if below <= EPSILON * (rows + raters + rest):
        return NO_FREEDOM
    value = (rows - rest) / below
    if value >= 1 - EPSILON:
        return AT_MOST
    of_raters = k * value / (n * (1 - value)) * raters
    of_rest = (1 + k * value * (n - 1) / (n * (1 - value))) * rest
    squared_parts = of_raters**2 / (k - 1) + of_rest**2 / ((n - 1) * (k - 1))
    squared_total = (of_raters + of_rest) ** 2
    if squared_total <= EPSILON * squared_parts:
        return NO_FREEDOM
    # Satterthwaite: the freedom of a sum of mean squares, which is not a whole number.
    tail, freedom = (1 + level) / 2, squared_total / squared_parts
    most, least = f_quantile(tail, n - 1, freedom), f_quantile(tail, freedom, n - 1)
    residual_part = k * raters + (k * n - k - n) * rest
    if not np.isfinite(most) or most * residual_part + n * rows <= 0 or residual_part + n * least * rows <= 0:
        return NO_FREEDOM
    return n * (rows - most * rest) / (most * residual_part + n * rows), n * (least * rows - rest) / (
        residual_part + n * least * rows
    )
