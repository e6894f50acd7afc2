"""Coefficients of agreement over categories, each as sums that add over traces."""

from __future__ import annotations

from annotators.agreement.additive import Additive
from annotators.agreement.ratings import Floats, Ratings


def percent(ratings: Ratings) -> Additive:
    """Mean pairwise agreement over places that at least two raters rated."""
    raise NotImplementedError


def percent_exact(ratings: Ratings) -> Additive:
    """The share of places (two raters or more) at which all said the same."""
    raise NotImplementedError


def cohen_kappa(ratings: Ratings, weights: Floats | None = None) -> Additive:
    """Cohen's kappa of exactly two raters, over places that both rated.

    `weights` (q x q) are of agreement: 1 is all.
    """
    raise NotImplementedError


def scott_pi(ratings: Ratings, weights: Floats | None = None) -> Additive:
    raise NotImplementedError


def fleiss_kappa(ratings: Ratings, weights: Floats | None = None) -> Additive:
    """Fleiss' kappa; with missing answers as Gwet generalises it."""
    raise NotImplementedError


def conger_kappa(ratings: Ratings, weights: Floats | None = None) -> Additive:
    raise NotImplementedError


def light_kappa(ratings: Ratings) -> Additive:
    """The mean of all pairs' Cohen's kappas."""
    raise NotImplementedError


def brennan_prediger(ratings: Ratings, weights: Floats | None = None) -> Additive:
    raise NotImplementedError


def krippendorff_alpha(ratings: Ratings, level: str = "nominal") -> Additive:
    """Alpha; `level` nominal, ordinal, interval or ratio (the latter two by `ratings.scores`)."""
    raise NotImplementedError


def gwet_ac(ratings: Ratings, weights: Floats | None = None) -> Additive:
    """AC1; AC2 with weights."""
    raise NotImplementedError


def linear(q: int) -> Floats:
    """Weights 1 - |i - j| / (q - 1)."""
    raise NotImplementedError


def quadratic(q: int) -> Floats:
    """Weights 1 - ((i - j) / (q - 1))^2."""
    raise NotImplementedError
