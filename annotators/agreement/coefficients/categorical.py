"""Coefficients of agreement over categories, each computed from sums that add over traces.

Missing answers follow Gwet (Handbook of Inter-Rater Reliability): observed agreement comes from items that at least two
raters rated, margins come from every item that anyone rated, and each item weighs the same. Cohen's kappa and Scott's
pi compare two raters over the items that both rated. Krippendorff's alpha is in `alpha`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from annotators.agreement.coefficients.additive import EPSILON, FIRST_OF_SECOND, AdditiveStatistic, ratio, undefined
from annotators.agreement.coefficients.alpha import krippendorff_alpha
from annotators.agreement.coefficients.counts import (
    NO_PAIR,
    ONE_CATEGORY,
    answer_counts,
    category_counts,
    pairwise_agreement,
    rated_by_all,
    rated_twice,
    select_places,
    sum_by_trace,
    why_not_comparable,
)
from annotators.agreement.coefficients.weights import bilinear_form, identity, linear, quadratic
from annotators.agreement.ratings.ratings import Floats, Ratings

__all__ = [
    "brennan_prediger", "cohen_kappa", "conger_kappa", "fleiss_kappa", "gwet_ac", "krippendorff_alpha", "light_kappa",
    "linear", "percent", "percent_exact", "quadratic", "scott_pi",
]  # fmt: skip

MOST_PAIRED = 20
"""Maximum number of raters for Light's kappa, which stores sums for each pair of raters."""


def percent(ratings: Ratings) -> AdditiveStatistic:
    """Return the mean pairwise agreement over items that at least two raters rated."""
    return _share_statistic("percent", ratings, pairwise_agreement(category_counts(ratings)))


def percent_exact(ratings: Ratings) -> AdditiveStatistic:
    """Return the share of items (two raters or more) on which all raters agree."""
    tally = category_counts(ratings)
    return _share_statistic("percent_exact", ratings, _unanimity(tally))


def _unanimity(tally: Floats) -> Floats:
    # Column by column: numpy reduces short rows many times slower than it compares long columns.
    most = np.zeros(len(tally))
    for column in tally.T:
        np.maximum(most, column, out=most)
    return np.asarray(most == answer_counts(tally), dtype=np.float64)


def _share_statistic(name: str, ratings: Ratings, agreement: Floats) -> AdditiveStatistic:
    pairable = rated_twice(ratings)
    sums = sum_by_trace(ratings, np.column_stack((agreement * pairable, pairable)))
    why = why_not_comparable(ratings)
    return AdditiveStatistic(
        name, sums, lambda sums: ratio(sums[..., 0], sums[..., 1]), lambda sums: why, least=0.0,
        places=int(pairable.sum()), share=FIRST_OF_SECOND,
    )  # fmt: skip


def _beyond_chance(observed: Floats, expected: Floats) -> Floats:
    """Return agreement beyond chance as a share of what is possible beyond chance, nan if chance leaves no room."""
    return ratio(observed - expected, 1 - expected, EPSILON)


def cohen_kappa(ratings: Ratings, weights: Floats | None = None) -> AdditiveStatistic:
    """Return Cohen's kappa of exactly two raters over the items that both rated.

    `weights` (q x q) are agreement weights: 1 is full agreement. Sums: agreement, items, both margins.
    """
    pair = _shared_places(ratings)
    if isinstance(pair, str):
        return undefined("cohen_kappa", len(ratings.traces), pair, least=-1.0)
    q = len(ratings.categories)
    w = identity(q) if weights is None else weights
    one, other = pair.codes[:, 0], pair.codes[:, 1]
    indicator = np.eye(q)
    sums = sum_by_trace(pair, np.column_stack((w[one, other], np.ones(len(one)), indicator[one], indicator[other])))

    def evaluate(sums: Floats) -> Floats:
        places = sums[..., 1]
        # One matrix of margins per rater: expected agreement is the weighted product of both, over n squared.
        expected = ratio(bilinear_form(sums[..., 2 : 2 + q], w, sums[..., 2 + q :]), places * places)
        return _beyond_chance(ratio(sums[..., 0], places), expected)

    return AdditiveStatistic("cohen_kappa", sums, evaluate, lambda sums: ONE_CATEGORY, least=-1.0, places=len(one))


def scott_pi(ratings: Ratings, weights: Floats | None = None) -> AdditiveStatistic:
    """Return Scott's pi of exactly two raters over the items that both rated."""
    pair = _shared_places(ratings)
    if isinstance(pair, str):
        return undefined("scott_pi", len(ratings.traces), pair, least=-1.0)
    # Scott's pi is Fleiss' kappa of two raters if no answer is missing.
    return fleiss_kappa(pair, weights)._replace(name="scott_pi")


def _shared_places(ratings: Ratings) -> Ratings | str:
    """Return the items that both raters rated, or the reason if there are none."""
    if len(ratings.raters) > 2:
        raise ValueError(f"{ratings.field}: two raters are compared, not {len(ratings.raters)}")
    return why_not_comparable(ratings) or select_places(ratings, rated_by_all(ratings))


def fleiss_kappa(ratings: Ratings, weights: Floats | None = None) -> AdditiveStatistic:
    """Return Fleiss' kappa, with missing answers as in Gwet's generalisation."""
    q = len(ratings.categories)
    w = identity(q) if weights is None else weights
    return _by_margin("fleiss_kappa", ratings, weights, lambda share: bilinear_form(share, w, share))


def brennan_prediger(ratings: Ratings, weights: Floats | None = None) -> AdditiveStatistic:
    """Return Brennan and Prediger's coefficient: chance is uniform over all declared categories."""
    q = len(ratings.categories)
    w = identity(q) if weights is None else weights
    # A chance of 1 leaves no room for agreement, which makes the coefficient undefined.
    chance = float(w.sum()) / (q * q) if q else 1.0
    return _by_margin("brennan_prediger", ratings, weights, lambda share: np.full(share.shape[:-1], chance))


def gwet_ac(ratings: Ratings, weights: Floats | None = None) -> AdditiveStatistic:
    """Return Gwet's AC1, or AC2 if weights are given. Chance depends on the number of declared categories."""
    q = len(ratings.categories)
    all_weights = float(q if weights is None else weights.sum())
    if q < 2:
        return undefined("gwet_ac", len(ratings.traces), why_not_comparable(ratings) or ONE_CATEGORY, least=-1.0)
    times = all_weights / (q * (q - 1))
    return _by_margin("gwet_ac", ratings, weights, lambda share: times * (share * (1 - share)).sum(axis=-1))


def _by_margin(
    name: str, ratings: Ratings, weights: Floats | None, chance: Callable[[Floats], Floats]
) -> AdditiveStatistic:
    """Return a coefficient whose chance term is computed from the margin of all raters together.

    Sums: agreement, number of items that two raters rated, then for each category the summed share of raters who chose
    it.
    """
    why = why_not_comparable(ratings)
    tally = category_counts(ratings)
    raters = answer_counts(tally)
    pairable = raters >= 2
    # Each item contributes shares of its raters, so that items with more raters do not weigh more.
    shares = tally / np.maximum(raters, 1)[:, None]
    sums = sum_by_trace(ratings, np.column_stack((pairwise_agreement(tally, weights), pairable, shares)))

    def evaluate(sums: Floats) -> Floats:
        margin = sums[..., 2:]
        expected = chance(ratio(margin, margin.sum(axis=-1, keepdims=True)))
        return _beyond_chance(ratio(sums[..., 0], sums[..., 1]), expected)

    return AdditiveStatistic(
        name, sums, evaluate, lambda sums: why or ONE_CATEGORY, least=-1.0, places=int(pairable.sum())
    )


def conger_kappa(ratings: Ratings, weights: Floats | None = None) -> AdditiveStatistic:
    """Return Conger's kappa: chance is the mean over each pair of raters' own margins.

    A rater without answers does not count. Sums: agreement, number of items that two raters rated, then each rater's
    count of each category.
    """
    why = why_not_comparable(ratings)
    q, r = len(ratings.categories), len(ratings.raters)
    w = identity(q) if weights is None else weights
    tally = category_counts(ratings)
    pairable = answer_counts(tally) >= 2
    rater_margins = (
        np.stack([sum_by_trace(ratings, _marginals(ratings, at)) for at in range(r)], axis=1)
        if r
        else np.zeros((1, 0, q))
    )
    first = sum_by_trace(ratings, np.column_stack((pairwise_agreement(tally, weights), pairable)))
    sums = np.concatenate((first, rater_margins.reshape(len(ratings.traces), r * q)), axis=1)

    def evaluate(sums: Floats) -> Floats:
        margins = sums[..., 2:].reshape(*sums.shape[:-1], r, q)
        totals = margins.sum(axis=-1, keepdims=True)
        shares = np.where(totals > 0, ratio(margins, totals), 0.0)
        # A resample may drop every answer of a rater, so the number of raters is counted anew for each row of sums.
        active_raters = (totals[..., 0] > 0).sum(axis=-1)
        share_sums = shares.sum(axis=-2)
        # Sum over all ordered pairs of different raters = (sum of raters) squared minus each rater with themselves.
        expected_pairs = bilinear_form(share_sums, w, share_sums) - bilinear_form(shares, w, shares).sum(axis=-1)
        return _beyond_chance(
            ratio(sums[..., 0], sums[..., 1]), ratio(expected_pairs, active_raters * (active_raters - 1.0))
        )

    return AdditiveStatistic(
        "conger_kappa", sums, evaluate, lambda sums: why or ONE_CATEGORY, least=-1.0, places=int(pairable.sum())
    )


def _marginals(ratings: Ratings, rater: int) -> Floats:
    """Return an indicator (places x q): 1 for the category that the rater chose."""
    column = ratings.codes[:, rater]
    return np.asarray(column[:, None] == np.arange(len(ratings.categories)), dtype=np.float64)


def light_kappa(ratings: Ratings) -> AdditiveStatistic:
    """Return the mean of Cohen's kappa over all pairs of raters.

    Pairs that share no item are left out. If a pair that shares items has no kappa, the mean is undefined too.
    """
    why = why_not_comparable(ratings)
    if not why and len(ratings.raters) > MOST_PAIRED:
        why = f"more than {MOST_PAIRED} raters"
    if why:
        return undefined("light_kappa", len(ratings.traces), why, least=-1.0)
    pairs: list[AdditiveStatistic] = []
    names: list[str] = []
    for one, other in combinations(range(len(ratings.raters)), 2):
        pair = cohen_kappa(ratings._replace(codes=ratings.codes[:, [one, other]], raters=_names(ratings, one, other)))
        if pair.places:
            pairs.append(pair)
            names.append(" and ".join(_names(ratings, one, other)))
    width = pairs[0].sums.shape[1]

    def each(sums: Floats) -> Floats:
        return np.stack(
            [pair.evaluate(sums[..., at * width : (at + 1) * width]) for at, pair in enumerate(pairs)], axis=-1
        )

    # A pair's second column counts its shared items.
    def mean_kappa(sums: Floats) -> Floats:
        # A resample may leave a pair without shared items: then the mean is over the other pairs.
        kappas, has_pairs = each(sums), sums[..., 1::width] > 0
        return ratio(np.where(has_pairs, kappas, 0.0).sum(axis=-1), has_pairs.sum(axis=-1))

    def undefined_for(sums: Floats) -> str:
        none = [name for name, kappa in zip(names, each(sums), strict=True) if not np.isfinite(kappa)]
        return f"{ONE_CATEGORY} ({'; '.join(none)})" if none else NO_PAIR

    return AdditiveStatistic(
        "light_kappa", np.concatenate([pair.sums for pair in pairs], axis=1), mean_kappa,
        undefined_for, least=-1.0, places=int(rated_twice(ratings).sum()),
    )  # fmt: skip


def _names(ratings: Ratings, one: int, other: int) -> tuple[str, str]:
    return ratings.raters[one], ratings.raters[other]
