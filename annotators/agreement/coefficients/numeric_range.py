"""Numeric answers: centring, and the reasons why no statistic has a value."""

from __future__ import annotations

import numpy as np

from annotators.agreement.coefficients.counts import NO_ANSWERS, NO_PAIR, ONE_RATER
from annotators.agreement.ratings.ratings import Floats, NumericRatings

NO_SPREAD = "no spread"


def centre_values(values: Floats) -> Floats:
    """Return values minus their median, so that squares stay exact and equal values become exactly zero."""
    given_values = values[np.isfinite(values)]
    return values - np.median(given_values) if given_values.size else values


def why_numbers_not_comparable(numbers: NumericRatings) -> str:
    """Return why no two raters can be compared, empty if they can."""
    is_given = np.isfinite(numbers.values)
    has_answers = is_given.any(axis=0)
    if has_answers.sum() < 2:
        return ONE_RATER if has_answers.sum() else NO_ANSWERS
    return "" if (is_given.sum(axis=1) >= 2).any() else NO_PAIR
