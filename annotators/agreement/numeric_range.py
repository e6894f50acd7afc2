"""Answers that are numbers: what keeps any statistic from having a value, and where they are counted from."""

from __future__ import annotations

import numpy as np

from annotators.agreement.counts import NO_ANSWERS, NO_PAIR, ONE_RATER
from annotators.agreement.ratings import Floats, NumericRatings

NO_SPREAD = "no spread"


def centred(values: Floats) -> Floats:
    """Counted from their median, so that squares lose nothing and what is all alike is exactly nothing."""
    there = values[np.isfinite(values)]
    return values - np.median(there) if there.size else values


def too_few_numbers(numbers: NumericRatings) -> str:
    """Why nobody can agree with anybody here; empty where somebody can."""
    there = np.isfinite(numbers.values)
    has_answers = there.any(axis=0)
    if has_answers.sum() < 2:
        return ONE_RATER if has_answers.sum() else NO_ANSWERS
    return "" if (there.sum(axis=1) >= 2).any() else NO_PAIR
