"""Quantiles and closed intervals of shares, against scipy."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotators.agreement.intervals.distributions import binomial_two_sided, f_quantile, t_quantile, t_share, wilson
from tests.fuzzing_examples import examples
from tests.loaded_late import LoadedLate

proportion = LoadedLate("statsmodels.stats.proportion")
stats = LoadedLate("scipy.stats")


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 9.5, 30, 99, 999, 100_000])
@pytest.mark.parametrize("share", [0.0001, 0.025, 0.3, 0.5, 0.8, 0.95, 0.975, 0.999, 0.999999])
def test_t_as_scipy_has_it(freedom: float, share: float) -> None:
    assert t_quantile(share, freedom) == pytest.approx(stats.t.ppf(share, freedom), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("freedom", [1, 2.5, 9, 29, 400, 100_000])
@pytest.mark.parametrize("t", [-40.0, -5.0, -1.9, -0.3, -1e-9, 0.0, 0.7, 3.2, 25.0])
def test_shares_of_t_as_scipy_has_them(t: float, freedom: float) -> None:
    assert t_share(t, freedom) == pytest.approx(stats.t.cdf(t, freedom), rel=1e-9, abs=1e-14)


def test_shares_of_t_at_its_ends() -> None:
    assert (t_share(float("-inf"), 3), t_share(float("inf"), 3)) == (0.0, 1.0)


@pytest.mark.parametrize("above", [1, 3, 5, 40])
@pytest.mark.parametrize("below", [1.5, 4.7863, 20, 300])
@pytest.mark.parametrize("share", [0.025, 0.5, 0.975])
def test_f_as_scipy_has_it(above: float, below: float, share: float) -> None:
    assert f_quantile(share, above, below) == pytest.approx(stats.f.ppf(share, above, below), rel=1e-9)


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(1, 400).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))), st.floats(0.05, 0.95))
def test_binomial_as_scipy_has_it(counted: tuple[int, int], share: float) -> None:
    right, of = counted
    assert binomial_two_sided(right, of, share) == pytest.approx(stats.binomtest(right, of, share).pvalue, rel=1e-6)


def test_binomial_at_its_ends() -> None:
    assert binomial_two_sided(5, 10) == 1.0
    assert binomial_two_sided(0, 10) == pytest.approx(2 / 1024)
    assert binomial_two_sided(10, 10) == pytest.approx(2 / 1024)
    assert binomial_two_sided(0, 0) == 1.0
    assert binomial_two_sided(3, 3, 1.0) == 1.0
    assert binomial_two_sided(2, 3, 1.0) == 0.0


@pytest.mark.parametrize(("right", "of"), [(0, 20), (1, 20), (5, 20), (20, 20), (121, 400)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_wilson_as_statsmodels_has_it(right: int, of: int, level: float) -> None:
    low, high = wilson(right, of, level)
    expected = proportion.proportion_confint(right, of, alpha=1 - level, method="wilson")
    assert (low, high) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("work", [
    lambda: wilson(3, 2), lambda: wilson(0, 0), lambda: wilson(-1, 2), lambda: binomial_two_sided(3, 2),
    lambda: t_share(float("nan"), 5), lambda: t_share(1.0, 0),
    lambda: t_quantile(1.0, 5), lambda: t_quantile(0.5, 0), lambda: f_quantile(0.0, 1, 1),
])  # fmt: skip
def test_what_is_no_share_is_refused(work: object) -> None:
    with pytest.raises(ValueError, match="no "):
        work()  # type: ignore[operator]
