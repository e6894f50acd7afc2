"""Closed-form standard errors for independent places: for verified cases that name them, never for a report.

Sources: Fleiss 1971 (null), Fleiss, Cohen & Everitt 1969 (Cohen's), Gwet 2008 (linearised).
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from annotators.agreement.coefficients.additive import value_of
from annotators.agreement.coefficients.categorical import fleiss_kappa, gwet_ac
from annotators.agreement.coefficients.counts import category_counts, pairwise_agreement
from annotators.agreement.ratings.ratings import Floats, Ratings


def fleiss_z(ratings: Ratings) -> float | None:
    """Return Fleiss' kappa over its standard error under chance, or None if places differ in numbers of answers."""
    kappa = value_of(fleiss_kappa(ratings))
    tally = category_counts(ratings)
    raters = tally.sum(axis=1)
    if kappa is None or not (raters == raters[0]).all():
        return None
    share = tally.sum(axis=0) / tally.sum()
    other = 1 - share
    variance_sum = float((share * other).sum())
    spread = variance_sum * variance_sum - float((share * other * (other - share)).sum())
    if spread <= 0:
        return None
    error = sqrt(2) * sqrt(spread) / (variance_sum * sqrt(len(tally) * raters[0] * (raters[0] - 1)))
    return kappa / error


def fleiss_error(ratings: Ratings, weights: Floats | None = None) -> float | None:
    """Return Gwet's linearised standard error of Fleiss' kappa."""
    w = np.eye(len(ratings.categories)) if weights is None else weights
    share, shares = _margin(ratings)
    middle = (w @ share + w.T @ share) / 2
    return _linearised_error(
        ratings, value_of(fleiss_kappa(ratings, weights)), float(share @ w @ share), shares @ middle, w
    )


def gwet_error(ratings: Ratings, weights: Floats | None = None) -> float | None:
    """Return Gwet's linearised standard error of AC1, or of AC2 if weights are given."""
    q = len(ratings.categories)
    if q < 2:
        return None
    w = np.eye(q) if weights is None else weights
    share, shares = _margin(ratings)
    times = float(w.sum()) / (q * (q - 1))
    chance = times * float((share * (1 - share)).sum())
    return _linearised_error(ratings, value_of(gwet_ac(ratings, weights)), chance, times * (shares @ (1 - share)), w)


def _margin(ratings: Ratings) -> tuple[Floats, Floats]:
    """Return each category's mean share over places that anyone rated, and the shares at each such place."""
    tally = category_counts(ratings)
    tally = tally[tally.sum(axis=1) > 0]
    shares = tally / tally.sum(axis=1, keepdims=True)
    return shares.mean(axis=0), shares


def _linearised_error(
    ratings: Ratings, value: float | None, chance: float, each: Floats, weights: Floats
) -> float | None:
    """Return a linearised standard error. `each` is the chance agreement at each place by itself."""
    tally = category_counts(ratings)
    tally = tally[tally.sum(axis=1) > 0]
    n = len(tally)
    if value is None or n < 2:
        return None
    pairable = tally.sum(axis=1) >= 2
    place = n / pairable.sum() * (pairwise_agreement(tally, weights) - chance * pairable) / (1 - chance)
    place = place - 2 * (1 - value) * (each - chance) / (1 - chance)
    return sqrt(float(((place - value) ** 2).sum()) / (n * (n - 1)))


def cohen_error(table: Floats, weights: Floats | None = None) -> float | None:
    """Return the standard error of Cohen's kappa if it is not 0, from counts (one rater's answers by the other's)."""
    w = np.eye(len(table)) if weights is None else weights
    n = float(table.sum())
    share = table / n
    one, other = share.sum(axis=1), share.sum(axis=0)
    observed, chance = float((w * share).sum()), float(one @ w @ other)
    if 1 - chance < 1e-12:
        return None
    margins = (w @ other)[:, None] + (one @ w)[None, :]
    weighted_squares = float((share * (w * (1 - chance) - margins * (1 - observed)) ** 2).sum())
    spread = max(0.0, weighted_squares - (observed * chance - 2 * chance + observed) ** 2)
    return sqrt(spread / n) / (1 - chance) ** 2
