"""Comparison of a judge with each person: both against the majority of the other people, at the same items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.additive import AdditiveStatistic, Estimate
from annotators.agreement.coefficients import cohen_kappa
from annotators.agreement.intervals import estimate, estimates, minus
from annotators.agreement.judge_accuracy import judge_statistic
from annotators.agreement.ratings import Ratings
from annotators.validation.truth import majority_of_others, truth_and_other
from lab.core.agreement import IntervalTerms


class PersonComparison(NamedTuple):
    """A judge and one person, each against the majority of the other people, over the items that both answered.

    `agreement` is the share of equal answers of judge and person, without a truth. Accuracies and kappas are against
    the others' majority. `ahead` and `kappa_ahead` are the judge's minus the person's, paired over clusters.
    """

    person: str
    items: int
    agreement: Estimate
    judge: Estimate
    own: Estimate
    judge_kappa: Estimate
    own_kappa: Estimate
    ahead: Estimate
    kappa_ahead: Estimate


def compare_with_persons(
    people: Ratings,
    judge: npt.ArrayLike,
    how: IntervalTerms = IntervalTerms("bootstrap"),  # noqa: B008  # frozen
) -> list[PersonComparison]:
    """Return the comparison of the judge with each person. Differences follow `how`, by default the paired bootstrap.

    `people` (places x raters) and `judge` (places) are codes of the same categories, -1 if missing. No person is
    compared with a majority that includes them, and the judge is compared with the same one
    (`truth.majority_of_others`). Raise `ValueError` if the judge is not of these places.
    """
    codes = np.asarray(judge, np.int16)
    others = majority_of_others(people)
    has_others = (others >= 0) & (codes[:, None] >= 0) & people.there
    own = [_statistics(people, codes, column, np.where(has_others, others, -1)) for column in range(len(people.raters))]
    plain = IntervalTerms(level=how.level)
    apart = iter(estimates([one for _, differences in own for one in differences], how))
    comparisons = []
    for column, name in enumerate(people.raters):
        together, right, also, kappa, other = (estimate(one, plain) for one in own[column][0])
        comparisons.append(
            PersonComparison(
                name, int(has_others[:, column].sum()), together, right, also, kappa, other, next(apart), next(apart)
            )
        )
    return comparisons


def _statistics(
    people: Ratings, judge: npt.NDArray[np.int16], column: int, others: npt.NDArray[np.int16]
) -> tuple[list[AdditiveStatistic], list[AdditiveStatistic]]:
    """Return one person's statistics and differences, in the order of `PersonComparison`."""
    own, truth = people.codes[:, column], others[:, column]
    theirs, mine = truth_and_other(people, truth, judge), truth_and_other(people, truth, own, people.raters[column])
    right, also = judge_statistic(theirs, "accuracy", ""), judge_statistic(mine, "accuracy", "")
    kappa, other = cohen_kappa(theirs), cohen_kappa(mine)
    together = judge_statistic(truth_and_other(people, own, judge), "accuracy", "")
    return [together, right, also, kappa, other], [minus(right, also), minus(kappa, other)]
