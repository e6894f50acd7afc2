"""Krippendorff's alpha for categories and for numbers, as sums that add over traces.

Source: Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011. Only items that at least two raters rated count.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from annotators.agreement.coefficients.additive import EPSILON, AdditiveStatistic, ratio, totals_by_trace, undefined
from annotators.agreement.coefficients.counts import (
    ONE_CATEGORY,
    answer_counts,
    category_counts,
    sum_by_trace,
    why_not_comparable,
)
from annotators.agreement.coefficients.numeric_range import NO_SPREAD, centre_values, why_numbers_not_comparable
from annotators.agreement.coefficients.weights import bilinear_form
from annotators.agreement.ratings.ratings import Floats, NumericRatings, Ratings

Codes = npt.NDArray[np.int64]

_MOST_CELLS = 50_000_000
"""Maximum size of a table of traces by distinct numbers, in cells: 400 MB."""


def krippendorff_alpha(ratings: Ratings, level: str = "nominal") -> AdditiveStatistic:
    """Return alpha at a `level`: nominal, ordinal, interval or ratio (the latter two use `ratings.scores`).

    The ordinal distance is that of the categories' mid-ranks among all answers, so it changes with each resample.
    """
    name = f"krippendorff_alpha_{level}"
    if why := why_not_comparable(ratings):
        return undefined(name, len(ratings.traces), why)
    tally = category_counts(ratings)
    pairable = answer_counts(tally) >= 2
    # An item that a single rater answered has nothing to agree with, so it does not count in the margin either.
    tally = np.where(pairable[:, None], tally, 0.0)
    divisor = np.maximum(answer_counts(tally) - 1, 1)
    if level == "ordinal":
        return _ordinal(name, ratings, tally, divisor, int(pairable.sum()))
    distances = _distances(ratings, level)
    disagreement = np.einsum("ij,ij->i", tally @ distances, tally) / divisor
    sums = sum_by_trace(ratings, np.column_stack((disagreement, tally)))

    def evaluate(sums: Floats) -> Floats:
        margin = sums[..., 1:]
        return _alpha(sums[..., 0], bilinear_form(margin, distances, margin), margin.sum(axis=-1))

    return AdditiveStatistic(name, sums, evaluate, lambda sums: ONE_CATEGORY, least=-1.0, places=int(pairable.sum()))


def _alpha(observed: Floats, expected: Floats, answers: Floats) -> Floats:
    """Return alpha from sums of squared distances.

    `observed` is summed within items, each divided by its answers minus one. `expected` is summed over all pairs of
    answers.
    """
    chance = ratio(expected, answers * (answers - 1))
    return np.where(chance > EPSILON, 1 - ratio(ratio(observed, answers), chance, EPSILON), np.nan)


def _distances(ratings: Ratings, level: str) -> Floats:
    """Return the squared distances of categories (q x q) for levels at which they do not depend on the answers."""
    q = len(ratings.categories)
    if level == "nominal":
        return 1 - np.eye(q)
    if level not in ("interval", "ratio"):
        raise ValueError(f"no level {level!r}")
    if ratings.scores is None:
        raise ValueError(f"{ratings.field}: its categories are no numbers")
    return squared_distances(np.asarray(ratings.scores, dtype=np.float64), level)


def squared_distances(scores: Floats, level: str) -> Floats:
    """Return squared distances of numbers: differences, for `ratio` divided by sums."""
    differences = scores[:, None] - scores[None, :]
    if level == "interval":
        # Scaling by the widest difference does not change alpha, and squares of tiny or huge differences stay exact.
        widest = float(np.abs(differences).max(initial=0.0))
        return (differences / (widest or 1.0)) ** 2
    totals = scores[:, None] + scores[None, :]
    return np.divide(differences, totals, out=np.zeros_like(differences), where=totals != 0) ** 2


def _ordinal(name: str, ratings: Ratings, tally: Floats, least: Floats, places: int) -> AdditiveStatistic:
    """Return ordinal alpha. Sums: answers by category, then how often each pair of categories occurs in one item."""
    q = tally.shape[1]
    one, other = np.triu_indices(q, 1)
    # Unequal pairs are stored in both directions, hence the factor 2. Equal ones have no distance.
    coincidences = 2 * tally[:, one] * tally[:, other] / least[:, None]
    sums = sum_by_trace(ratings, np.concatenate((tally, coincidences), axis=1))

    def evaluate(sums: Floats) -> Floats:
        margin = sums[..., :q]
        answers = margin.sum(axis=-1)
        rank = ratio(np.cumsum(margin, axis=-1) - margin / 2, answers[..., None])
        observed = (sums[..., q:] * (rank[..., one] - rank[..., other]) ** 2).sum(axis=-1)
        expected = 2 * (margin[..., one] * margin[..., other] * (rank[..., one] - rank[..., other]) ** 2).sum(axis=-1)
        return _alpha(observed, expected, answers)

    return AdditiveStatistic(name, sums, evaluate, lambda sums: ONE_CATEGORY, least=-1.0, places=places)


def alpha_numbers(numbers: NumericRatings, level: Literal["interval", "ratio"] = "interval") -> AdditiveStatistic:
    """Return Krippendorff's alpha of numbers that are not declared categories."""
    name = f"krippendorff_alpha_{level}"
    traces = len(numbers.traces)
    if why := why_numbers_not_comparable(numbers):
        return undefined(name, traces, why)
    is_given = np.isfinite(numbers.values)
    pairable = is_given.sum(axis=1) >= 2
    values, is_given, trace = numbers.values[pairable], is_given[pairable], numbers.trace[pairable]
    if level == "ratio":
        return _ratio(name, values, trace, traces)
    # Squares of uncentred numbers would lose their digits in the subtraction below.
    values = centre_values(values)
    answers = is_given.sum(axis=1)
    # Sums of x and x squared give all pairwise squared differences: alpha needs no table of distinct numbers.
    x, xx = np.where(is_given, values, 0.0).sum(axis=1), np.where(is_given, values * values, 0.0).sum(axis=1)
    disagreement = 2 * (answers * xx - x * x) / (answers - 1)
    sums = totals_by_trace(np.column_stack((disagreement, answers, x, xx)), trace, traces)

    def evaluate(sums: Floats) -> Floats:
        observed, answers, x, xx = np.moveaxis(sums, -1, 0)
        expected = 2 * (answers * xx - x * x)
        alpha = 1 - (answers - 1) * ratio(observed, expected, 0.0)
        return np.where(expected > EPSILON * answers * xx, alpha, np.nan)

    return AdditiveStatistic(name, sums, evaluate, lambda sums: NO_SPREAD, least=-1.0, places=int(pairable.sum()))


def _ratio(name: str, values: Floats, trace: npt.NDArray[np.int32], traces: int) -> AdditiveStatistic:
    """Return ratio-level alpha with each distinct number as a category."""
    values_used = np.unique(values[np.isfinite(values)])
    codes = np.where(np.isfinite(values), np.searchsorted(values_used, np.nan_to_num(values)), -1)
    if not _has_room(len(values_used), traces):
        return undefined(name, traces, "too many different numbers")
    return _by_distance(name, codes, squared_distances(values_used, "ratio"), trace, traces, NO_SPREAD)


def alpha_by_distance(name: str, codes: Codes, apart: Floats, numbers: NumericRatings) -> AdditiveStatistic:
    """Return Krippendorff's alpha of answers with custom distances.

    `codes` (places x raters, -1 is missing) index `apart` (q x q), which replaces squared differences. Raters, places
    and traces are those of `numbers`.
    """
    traces = len(numbers.traces)
    if why := why_numbers_not_comparable(numbers):
        return undefined(name, traces, why, least=-1.0)
    if not _has_room(len(apart), traces):
        return undefined(name, traces, "too many different answers", least=-1.0)
    pairable = (codes >= 0).sum(axis=1) >= 2
    one = _by_distance(name, codes[pairable], apart, numbers.trace[pairable], traces, ONE_CATEGORY)
    return one._replace(least=-1.0)


def _has_room(different: int, traces: int) -> bool:
    """Return True if tables of this many distinct answers (squared, and by trace) fit into `_MOST_CELLS`."""
    return different * max(traces, different) <= _MOST_CELLS


def _by_distance(
    name: str, codes: Codes, apart: Floats, trace: npt.NDArray[np.int32], traces: int, why: str
) -> AdditiveStatistic:
    """Return alpha from a matrix of distances. Sums: distances within items, then each answer's count, by trace.

    Each item must have at least two answers.
    """
    tally = np.zeros((traces, len(apart)))
    where, who = np.nonzero(codes >= 0)
    np.add.at(tally, (trace[where], codes[where, who]), 1.0)
    disagreement = np.zeros(len(codes))
    answers = (codes >= 0).sum(axis=1)
    for one in range(codes.shape[1]):
        for other in range(one):
            has_both = (codes[:, one] >= 0) & (codes[:, other] >= 0)
            disagreement[has_both] += 2 * apart[codes[has_both, one], codes[has_both, other]]
    disagreement = disagreement / (answers - 1)
    sums = np.concatenate((totals_by_trace(disagreement[:, None], trace, traces), tally), axis=1)

    def evaluate(sums: Floats) -> Floats:
        margin = sums[..., 1:]
        return _alpha(sums[..., 0], bilinear_form(margin, apart, margin), margin.sum(axis=-1))

    return AdditiveStatistic(name, sums, evaluate, lambda sums: why, places=len(codes))
