"""A judge against the truth: accuracy, precision, recall, specificity, F1 and kappa. Also boxes against boxes."""

from __future__ import annotations

from typing import Literal

import numpy as np

from annotators.agreement.coefficients.additive import AdditiveStatistic, ratio, undefined
from annotators.agreement.coefficients.categorical import cohen_kappa
from annotators.agreement.coefficients.counts import rated_by_all, select_places, sum_by_trace, why_not_comparable
from annotators.agreement.ratings.ratings import Floats, Ratings

Judged = Literal["accuracy", "precision", "recall", "specificity", "f1", "kappa"]
NAMED: tuple[tuple[Judged, str], ...] = (
    ("accuracy", "accuracy"), ("precision", "precision"), ("recall", "recall"), ("f1", "f1"), ("kappa", "cohen kappa"),
)  # fmt: skip
"""Reported measures of a judge, and the names of the statistics."""


def judge_statistic(ratings: Ratings, what: Judged, positive: str, weights: Floats | None = None) -> AdditiveStatistic:
    """Return a judge's measure from two columns, truth and judge in this order, over places that have both.

    `positive` is the category for precision, recall (the true positive rate), specificity (the true negative rate) and
    F1. `weights` (places) correct for unequal probabilities of being rated. Kappa ignores them. Sums: places, equal,
    `positive` in both, in the truth, in the judge.
    """
    if len(ratings.raters) > 2:
        raise ValueError(f"{ratings.field}: truth and one judge are compared, not {len(ratings.raters)}")
    if what == "kappa":
        return cohen_kappa(ratings)
    if why := why_not_comparable(ratings):
        return undefined(what, len(ratings.traces), why, least=0.0)
    pair = select_places(ratings, rated_by_all(ratings))
    truth, judge = pair.codes[:, 0], pair.codes[:, 1]
    # An index beyond the last category matches nothing.
    positive_code = ratings.categories.index(positive) if positive in ratings.categories else len(ratings.categories)
    is_positive, is_predicted = truth == positive_code, judge == positive_code
    columns = np.column_stack(
        (np.ones(len(truth)), truth == judge, is_positive & is_predicted, is_positive, is_predicted)
    ).astype(np.float64)
    sums = sum_by_trace(pair, columns if weights is None else columns * weights[rated_by_all(ratings), None])
    above, below, why_undefined = {
        "accuracy": ((0, 1, 0, 0, 0), (1, 0, 0, 0, 0), "no answers"),
        "precision": ((0, 0, 1, 0, 0), (0, 0, 0, 0, 1), f"the judge never said {positive}"),
        "specificity": ((1, 0, 1, -1, -1), (1, 0, 0, -1, 0), f"everything is {positive}"),
        "recall": ((0, 0, 1, 0, 0), (0, 0, 0, 1, 0), f"nothing is {positive}"),
        "f1": ((0, 0, 2, 0, 0), (0, 0, 0, 1, 1), f"nothing is {positive}, nor did the judge say so"),
    }[what]
    above_weights, below_weights = np.asarray(above, np.float64), np.asarray(below, np.float64)

    def evaluate(sums: Floats) -> Floats:
        return ratio(np.asarray(sums @ above_weights), np.asarray(sums @ below_weights))

    # F1 is not a share of counts, and weighted sums are not counts: neither may use Wilson's interval.
    counts = (above_weights, below_weights) if what != "f1" and weights is None else None
    return AdditiveStatistic(
        what, sums, evaluate, lambda sums: why_undefined, least=0.0, places=len(truth), share=counts
    )


Box = tuple[float, float, float, float]


def iou(one: Box, other: Box) -> float:
    """Return the intersection over union of two boxes (left, top, right, bottom), 0 if both are empty."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    intersection = max(0.0, width) * max(0.0, height)
    union = _area(one) + _area(other) - intersection
    return intersection / union if union > 0 else 0.0


def same_box(one: Box, other: Box, least: float = 0.5) -> bool:
    """Return True if IoU is at least `least`."""
    return iou(one, other) >= least


def centre_in_box(one: Box, other: Box) -> bool:
    """Return True if the centre of each box lies in the other, edges included."""
    return _contains_centre(one, other) and _contains_centre(other, one)


def _contains_centre(box: Box, other: Box) -> bool:
    x, y = (other[0] + other[2]) / 2, (other[1] + other[3]) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _area(box: Box) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])
