"""How alike answers are that are no categories: texts, steps, boxes, numbers; of each two raters, over places."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from annotators.agreement.additive import AdditiveStatistic
from annotators.agreement.fields import text_key
from annotators.agreement.judge_accuracy import centre_in_box, same_box
from annotators.agreement.numbers import mean
from annotators.agreement.ratings import Floats, NumericRatings
from annotators.study_data import StudyData
from lab.core.protocol import Field

Alike = Callable[[Floats, Floats], Floats]
"""How alike two columns are, row by row."""

_LEAST: tuple[tuple[str, Callable[[Any, Any], bool]], ...] = (
    ("box iou>=.5", same_box), ("centre in box", centre_in_box),
)  # fmt: skip


def apart(numbers: NumericRatings, name: str = "mae") -> AdditiveStatistic:
    """The mean difference of each two raters, without its sign."""
    return pairwise(numbers, name, lambda one, other: np.abs(one - other), None)


def near(numbers: NumericRatings, name: str, band: float) -> AdditiveStatistic:
    """The share of each two raters' numbers that are within +- `band` (inclusive)."""
    return pairwise(numbers, name, lambda one, other: (np.abs(one - other) <= band + 1e-9).astype(np.float64), 1.0)


def same_text(numbers: NumericRatings) -> AdditiveStatistic:
    """The share of each two raters' texts that are the same; `numbers` are those of `coded`."""
    return pairwise(numbers, "same text", lambda one, other: (one == other).astype(np.float64), 1.0)


def boxes(study_data: StudyData, numbers: NumericRatings) -> list[tuple[str, Callable[[], AdditiveStatistic]]]:
    """The shares of each two raters' boxes that are the same, and whose centres lie in one another."""
    values = study_data.columns.values

    def alike(which: Callable[[Any, Any], bool]) -> Alike:
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

    return [(name, share(name, which)) for name, which in _LEAST]


def coded(study_data: StudyData, field: Field, value: npt.NDArray[np.int32]) -> Floats:
    """Answers as numbers that are the same where they are: of texts but for case and spaces, else values' own."""
    codes: dict[bytes, int] = {}
    if field.kind == "text":
        of = [float(codes.setdefault(text_key(one), len(codes))) for one in study_data.columns.values]
    else:
        of = [float(at) for at in range(len(study_data.columns.values))]
    return np.array([*of, np.nan, np.nan])[value]


def pairwise(numbers: NumericRatings, name: str, alike: Alike, most: float | None) -> AdditiveStatistic:
    """The mean over places of the mean over each two raters who answered there; never below 0."""
    values = numbers.values
    total, pairs = np.zeros(len(values)), np.zeros(len(values))
    for one, other in combinations(range(values.shape[1]), 2):
        both = np.flatnonzero(~np.isnan(values[:, one]) & ~np.isnan(values[:, other]))
        if len(both):
            total[both] += alike(values[both, one], values[both, other])
            pairs[both] += 1
    means = np.full(len(values), np.nan)
    np.divide(total, pairs, out=means, where=pairs > 0)
    return mean(means, numbers.trace, len(numbers.traces), name, most, least=0.0)
