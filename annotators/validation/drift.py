"""Drift of a judge: the change of its agreement with the same frozen gold between two versions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from annotators.agreement.coefficients.additive import Estimate
from annotators.agreement.coefficients.categorical import cohen_kappa
from annotators.agreement.coefficients.judge_accuracy import judge_statistic
from annotators.agreement.intervals.distributions import binomial_two_sided
from annotators.agreement.intervals.intervals import estimate, estimates, minus
from annotators.agreement.ratings.ratings import Ratings
from annotators.validation.truth import truth_and_other
from lab.core.study.agreement import IntervalTerms


class Drift(NamedTuple):
    """A judge's agreement with gold before and after, over the items that both versions answered.

    `accuracy` and `kappa` are after minus before, paired over clusters. `lost` items were right before and are wrong
    now, `won` items the reverse. `p` is McNemar's exact one. `same` is the share of items with the same answer of both
    versions.
    """

    before: Estimate
    after: Estimate
    accuracy: Estimate
    kappa: Estimate
    same: Estimate
    items: int
    lost: int
    won: int
    p: float


def drift(
    before: Ratings,
    after: Ratings,
    how: IntervalTerms = IntervalTerms("bootstrap"),  # noqa: B008  # frozen
) -> Drift:
    """Return the drift of two pairs of truth and judge (`truth.truth_and_other`) at the same places with equal truth.

    Raise `ValueError` if places or truths differ, because changed gold says nothing about the judge.
    """
    if before.places != after.places or not np.array_equal(before.codes[:, 0], after.codes[:, 0]):
        raise ValueError(f"{before.field}: before and after are not about the same gold")
    # Only items that both versions answered: the change is paired.
    there = (before.codes >= 0).all(axis=1) & (after.codes >= 0).all(axis=1)
    truth, was, now = before.codes[:, 0], before.codes[:, 1], after.codes[:, 1]
    one, other = (truth_and_other(before, np.where(there, truth, -1), codes) for codes in (was, now))
    lost_count = int((there & (was == truth) & (now != truth)).sum())
    won_count = int((there & (was != truth) & (now == truth)).sum())
    right_before, right_after = judge_statistic(one, "accuracy", ""), judge_statistic(other, "accuracy", "")
    plain = IntervalTerms(level=how.level)
    accuracy, kappa = estimates([minus(right_after, right_before), minus(cohen_kappa(other), cohen_kappa(one))], how)
    return Drift(
        estimate(right_before, plain), estimate(right_after, plain), accuracy, kappa,
        estimate(judge_statistic(truth_and_other(before, np.where(there, was, -1), now), "accuracy", ""), plain),
        int(there.sum()), lost_count, won_count, binomial_two_sided(lost_count, lost_count + won_count),
    )  # fmt: skip


def has_fallen_between(
    before: Ratings,
    after: Ratings,
    how: IntervalTerms = IntervalTerms("bootstrap"),  # noqa: B008  # frozen
) -> bool:
    """Return True if the judge's agreement fell: the interval of its change is below 0.

    If the change of accuracy has no interval (every item was lost), McNemar's exact p decides.
    """
    return has_fallen(drift(before, after, how), how.level)


def has_fallen(change: Drift, level: float = 0.95) -> bool:
    """Return the same as `has_fallen_between` for a drift that is already computed."""
    if change.accuracy.high is not None:
        return change.accuracy.high < 0
    return change.lost > change.won and change.p < 1 - level
