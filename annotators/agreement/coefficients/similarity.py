"""Similarity of answers that are not categories (texts, steps, boxes, numbers), for each pair of raters."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from annotators.agreement.coefficients.additive import AdditiveStatistic
from annotators.agreement.coefficients.judge_accuracy import centre_in_box, same_box
from annotators.agreement.coefficients.numbers import mean
from annotators.agreement.ratings.fields import text_key
from annotators.agreement.ratings.ratings import Floats, NumericRatings
from annotators.study_data import StudyData
from lab.core.study.protocol import Field

Alike = Callable[[Floats, Floats], Floats]
"""Similarity of two columns, row by row."""

_BOX_TESTS: tuple[tuple[str, Callable[[Any, Any], bool]], ...] = (
    ("box iou>=.5", same_box), ("centre in box", centre_in_box),
)  # fmt: skip


def pairwise_mae(numbers: NumericRatings, name: str = "mae") -> AdditiveStatistic:
    """Return the mean absolute difference of pairs of raters."""
    return pairwise(numbers, name, lambda one, other: np.abs(one - other), None)


def pairwise_share_within(numbers: NumericRatings, name: str, band: float) -> AdditiveStatistic:
    """Return the share of pairs of raters whose numbers are within +- `band` (inclusive)."""
    return pairwise(numbers, name, lambda one, other: (np.abs(one - other) <= band + 1e-9).astype(np.float64), 1.0)


def same_text(numbers: NumericRatings) -> AdditiveStatistic:
    """Return the share of pairs of raters with equal texts. `numbers` come from `answer_codes`."""
    return pairwise(numbers, "same text", lambda one, other: (one == other).astype(np.float64), 1.0)


def box_statistics(study_data: StudyData, numbers: NumericRatings) -> list[tuple[str, Callable[[], AdditiveStatistic]]]:
    """Return the shares of pairs of raters whose boxes are equal, and whose boxes contain each other's centre."""
    values = study_data.columns.values

    def alike(which: Callable[[Any, Any], bool]) -> Alike:
        # The same two boxes are compared in many places, and once more for each pair of raters.
        results: dict[tuple[float, float], bool] = {}

        def one_by_one(one: Floats, other: Floats) -> Floats:
            for pair in zip(one.tolist(), other.tolist(), strict=True):
                if pair not in results:
                    results[pair] = which(values[int(pair[0])], values[int(pair[1])])
            return np.array(
                [results[pair] for pair in zip(one.tolist(), other.tolist(), strict=True)], dtype=np.float64
            )

        return one_by_one

    def share(name: str, which: Callable[[Any, Any], bool]) -> Callable[[], AdditiveStatistic]:
        return lambda: pairwise(numbers, name, alike(which), 1.0)

    return [(name, share(name, which)) for name, which in _BOX_TESTS]


def answer_codes(study_data: StudyData, field: Field, value: npt.NDArray[np.int32]) -> Floats:
    """Return answers as numbers that are equal if the answers are. Texts ignore case and white space."""
    codes: dict[bytes, int] = {}
    if field.kind == "text":
        code_by_value = [float(codes.setdefault(text_key(one), len(codes))) for one in study_data.columns.values]
    else:
        code_by_value = [float(at) for at in range(len(study_data.columns.values))]
    # The two appended values belong to index -1 (no answer) and to the number after the last value.
    return np.array([*code_by_value, np.nan, np.nan])[value]


def pairwise(numbers: NumericRatings, name: str, alike: Alike, most: float | None) -> AdditiveStatistic:
    """Return the mean over places of the mean over all pairs of raters who answered there, at least 0."""
    values = numbers.values
    total, pairs = np.zeros(len(values)), np.zeros(len(values))
    for one, other in combinations(range(values.shape[1]), 2):
        rows = np.flatnonzero(~np.isnan(values[:, one]) & ~np.isnan(values[:, other]))
        if len(rows):
            total[rows] += alike(values[rows, one], values[rows, other])
            pairs[rows] += 1
    # Each item weighs the same, however many pairs of raters it has.
    means = np.full(len(values), np.nan)
    np.divide(total, pairs, out=means, where=pairs > 0)
    return mean(means, numbers.trace, len(numbers.traces), name, most, least=0.0)
