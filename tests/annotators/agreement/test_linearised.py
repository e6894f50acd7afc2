"""Textbooks' standard errors over places, against how a coefficient moves when one place weighs a little more."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest

from annotators.agreement.coefficients.additive import AdditiveStatistic
from annotators.agreement.coefficients.categorical import fleiss_kappa, gwet_ac, quadratic
from annotators.agreement.intervals.linearised import fleiss_error, fleiss_z, gwet_error
from annotators.agreement.ratings.ratings import Floats, Ratings
from tests.annotators.agreement.rated import drawn, ratings

_LITTLE = 1e-6


def moved(one: AdditiveStatistic) -> float:
    """The standard error of what each place, a trace of its own, adds: the derivative by its weight."""
    n, whole = len(one.sums), one.sums.sum(axis=0)
    each = np.array(
        [(one.evaluate(whole + _LITTLE * place) - one.evaluate(whole - _LITTLE * place)) for place in one.sums]
    )
    influence = each / (2 * _LITTLE) * n
    return sqrt(float((influence**2).sum()) / (n * (n - 1)))


def places(seed: int) -> Ratings:
    some = drawn(seed, places=40, traces=40)
    return some._replace(trace=np.arange(40, dtype=np.int32), traces=tuple(f"t{at}" for at in range(40)))


@pytest.mark.parametrize("weights", [None, quadratic(3)])
@pytest.mark.parametrize(("of", "error"), [(fleiss_kappa, fleiss_error), (gwet_ac, gwet_error)])
def test_a_linearised_error_is_the_spread_of_what_each_place_moves(
    of: Callable[..., AdditiveStatistic], error: Callable[..., float | None], weights: Floats | None
) -> None:
    for seed in range(3):
        some = places(seed)
        assert error(some, weights) == pytest.approx(moved(of(some, weights)), rel=1e-4)


def test_fleiss_z_of_a_table_worked_out_by_hand() -> None:
    """Eight places, two raters, shares .5, six agreements: kappa .5; by chance alone its error is sqrt(2 / 16)."""
    assert fleiss_z(ratings([[0, 0], [1, 1], [0, 1], [0, 0], [1, 1], [1, 0], [0, 0], [1, 1]])) == pytest.approx(
        0.5 / (sqrt(2) * 0.5 / (0.5 * sqrt(8 * 2 * 1)))
    )
    assert fleiss_z(ratings([[0, 0], [1, 1], [0, None]])) is None
