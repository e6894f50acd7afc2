"""One judge against settled answers: the confusion matrix, and each rate with its interval, overall and by slices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.coefficients import numbers
from annotators.agreement.coefficients.additive import AdditiveStatistic, Estimate, ratio, undefined
from annotators.agreement.coefficients.categorical import cohen_kappa
from annotators.agreement.coefficients.counts import rated_by_all, select_places, sum_by_trace, why_not_comparable
from annotators.agreement.coefficients.judge_accuracy import Judged, judge_statistic
from annotators.agreement.intervals.intervals import estimate, estimates
from annotators.agreement.ratings.ratings import Floats, Ratings
from lab.core.study.agreement import IntervalTerms

OF_CATEGORY: tuple[Judged, ...] = ("recall", "specificity", "precision", "f1")
"""Rates reported for each category against the rest: true positive rate, true negative rate, precision and F1."""
NO_COSTS = "no costs"


class Confusion(NamedTuple):
    """Frequencies of pairs of answers: `counts` (q x q) of truth (down) and judge (across).

    `unanswered` counts places with a truth but no answer by the judge, `unsettled` those with an answer but no truth.
    """

    categories: tuple[str, ...]
    counts: npt.NDArray[np.int64]
    unanswered: int
    unsettled: int


class JudgeRate(NamedTuple):
    """A statistic of a judge.

    It is about a category against the rest, or about all (empty `category`), and about a slice, or everything (empty
    `slice`). `places` and `units` are its n.
    """

    statistic: str
    estimate: Estimate
    category: str = ""
    criterion: str = ""
    slice: str = ""
    places: int = 0
    units: int = 0


class Validation(NamedTuple):
    """Numbers about one judge: confusion matrix, rates, rates by slice, and cost per item."""

    confusion: Confusion
    rates: tuple[JudgeRate, ...]
    slices: tuple[JudgeRate, ...]
    cost: Estimate | None
    parts: tuple[tuple[str, str, Confusion], ...] = ()
    """The confusion matrix of each slice, by criterion and slice."""


def validation(
    two: Ratings,
    positive: str = "",
    slices: Mapping[str, Mapping[str, str]] | None = None,
    costs: Floats | None = None,
    how: IntervalTerms = IntervalTerms("bootstrap"),  # noqa: B008  # frozen
    weights: Floats | None = None,
) -> Validation:
    """Return a judge's rates against the truth. `two` has the columns truth and judge (`truth.truth_and_other`).

    Rates have Wilson's interval if each cluster has one item, else the jackknife-t. Kappa and macro averages follow
    `how`, by default the bootstrap over clusters. `positive` is the category for the rates: with two categories by
    default `yes`, else the first. With more, each is reported against the rest, and their means (macro). `slices` map a
    criterion (app, difficulty ...) to units' slices. A unit may have none. `costs` (places) are in one currency, nan if
    unknown. Raise `ValueError` if there are not two columns, or `positive` is not a category.
    """
    if positive and positive not in two.categories:
        raise ValueError(f"{two.field}: {positive} is none of {', '.join(two.categories)}")
    categories = _reported_categories(two.categories, positive)
    slice_rates = [
        one._replace(criterion=criterion, slice=name)
        for criterion, names in (slices or {}).items()
        for name, part in slices_of(two, names)
        for one in rates(part, categories, how)
    ]
    parts = tuple(
        (criterion, name, confusion(part))
        for criterion, names in (slices or {}).items()
        for name, part in slices_of(two, names)
    )
    all = tuple(rates(two, categories, how, weights))
    return Validation(confusion(two), all, tuple(slice_rates), cost_per_item(two, costs, how), parts)


def _reported_categories(categories: tuple[str, ...], positive: str) -> tuple[str, ...]:
    if positive or len(categories) != 2:
        return (positive,) if positive else categories
    return ("yes",) if "yes" in categories else categories[:1]


def confusion(two: Ratings) -> Confusion:
    """Return the confusion matrix of truth and judge, over places that have both."""
    q, there = len(two.categories), rated_by_all(two)
    truth, judge = two.codes[there].T.astype(np.int64)
    grid = np.bincount(truth * q + judge, minlength=q * q).reshape(q, q)
    has_answer = two.codes >= 0
    return Confusion(
        two.categories, grid, int((has_answer[:, 0] & ~has_answer[:, 1]).sum()),
        int((~has_answer[:, 0] & has_answer[:, 1]).sum()),
    )  # fmt: skip


def rates(
    two: Ratings, categories: tuple[str, ...], how: IntervalTerms, weights: Floats | None = None
) -> list[JudgeRate]:
    """Return accuracy, kappa, the rates of `OF_CATEGORY` for each category, and macro means of several."""
    there = rated_by_all(two)
    units = len({two.places[at].unit for at in np.flatnonzero(there).tolist()})
    several = OF_CATEGORY if len(categories) > 1 else ()
    plain, resampled = (
        IntervalTerms(level=how.level),
        estimates([cohen_kappa(two), *(macro(two, what) for what in several)], how),
    )
    rows = [
        ("accuracy", "", estimate(judge_statistic(two, "accuracy", "", weights), plain)),
        ("kappa", "", resampled[0]),
    ]
    for what in OF_CATEGORY:
        rows += [
            (what, category, estimate(judge_statistic(two, what, category, weights), plain)) for category in categories
        ]
    rows += [(f"macro {what}", "", one) for what, one in zip(several, resampled[1:], strict=True)]
    return [
        JudgeRate(name, one, category, places=int(there.sum()), units=units) for name, category, one in rows
    ]  # fmt: skip


def macro(two: Ratings, what: Judged) -> AdditiveStatistic:
    """Return the mean of a rate over all categories against the rest.

    It is undefined if one category has no rate. A category that neither truth nor judge contains is left out, because
    it was not part of the task.
    """
    if why := why_not_comparable(two):
        return undefined(f"macro {what}", len(two.traces), why, least=0.0)
    pair = select_places(two, rated_by_all(two))
    present = np.unique(pair.codes)
    truth, judge = (pair.codes[:, at, None] == present for at in (0, 1))
    columns = np.concatenate((np.ones((len(truth), 1)), truth & judge, truth, judge), axis=1)
    q = len(present)

    def evaluate(sums: Floats) -> Floats:
        n, both_yes, yes, judge_yes = (
            sums[..., :1],
            sums[..., 1 : 1 + q],
            sums[..., 1 + q : 1 + 2 * q],
            sums[..., 1 + 2 * q :],
        )
        above, below = {
            "recall": (both_yes, yes), "precision": (both_yes, judge_yes), "f1": (2 * both_yes, yes + judge_yes),
            "specificity": (n - yes - judge_yes + both_yes, n - yes),
        }[what]  # fmt: skip
        return np.asarray(ratio(above, below).mean(axis=-1))

    return AdditiveStatistic(
        f"macro {what}", sum_by_trace(pair, columns.astype(np.float64)), evaluate,
        lambda sums: f"one of the categories has no {what}", least=0.0, places=len(truth),
    )  # fmt: skip


def slices_of(two: Ratings, names: Mapping[str, str]) -> list[tuple[str, Ratings]]:
    """Return the ratings of each slice of one criterion, sorted by name."""
    slice_of = np.array([names.get(place.unit, "") for place in two.places], dtype=np.str_)
    return [(name, select_places(two, slice_of == name)) for name in sorted(set(names.values()) - {""})]


def cost_per_item(two: Ratings, costs: Floats | None, how: IntervalTerms) -> Estimate | None:
    """Return the mean cost of an item that the judge answered, or None if no costs are given."""
    if costs is None:
        return None
    place_costs = np.asarray(costs, np.float64)
    if place_costs.shape != (len(two.codes),):
        raise ValueError(f"{two.field}: costs {place_costs.shape} are not of {len(two.codes)} places")
    judged_costs = np.where(two.codes[:, 1] >= 0, place_costs, np.nan)
    if not np.isfinite(judged_costs).any():
        return Estimate(None, NO_COSTS)
    return estimate(
        numbers.mean(judged_costs, two.trace, len(two.traces), "cost", least=0.0), IntervalTerms(level=how.level)
    )
