"""Answers that are numbers: ICC against its analysis of variance written out, and what has no value."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from annotators.agreement.coefficients.additive import AdditiveStatistic, value_of
from annotators.agreement.coefficients.icc import Icc, icc_interval
from annotators.agreement.coefficients.numbers import (
    alpha_numbers,
    icc,
    joint_sums,
    mae,
    mean,
    mse,
    pearson,
    share_within,
    spearman,
    spearman_of,
)
from annotators.agreement.intervals.intervals import estimate
from annotators.agreement.ratings.ratings import NumericRatings
from lab.core.study.agreement import IntervalTerms
from tests.annotators.agreement.rated import drawn_numbers, numbers, value, why
from tests.fuzzing_examples import examples

FORMS: tuple[Icc, ...] = get_args(Icc)
OF_TWO: dict[str, Callable[[NumericRatings], AdditiveStatistic]] = {
    "pearson": pearson,
    "spearman": spearman,
    "mse": mse,
    "mae": mae,
    "within": lambda some: share_within(some, 1.0),
}
seeds = st.integers(0, 10_000)


def anova(x: np.ndarray[tuple[int, int], np.dtype[np.float64]], form: Icc) -> float:
    """By mean squares as textbooks write them."""
    n, k = x.shape
    rows = k * ((x.mean(axis=1) - x.mean()) ** 2).sum() / (n - 1)
    columns = n * ((x.mean(axis=0) - x.mean()) ** 2).sum() / (k - 1)
    within = ((x - x.mean(axis=1, keepdims=True)) ** 2).sum() / (n * (k - 1))
    rest = x - x.mean(axis=1, keepdims=True) - x.mean(axis=0) + x.mean()
    error = (rest**2).sum() / ((n - 1) * (k - 1))
    return float(
        {
            "1": (rows - within) / (rows + (k - 1) * within),
            "1,k": (rows - within) / rows,
            "C,1": (rows - error) / (rows + (k - 1) * error),
            "C,k": (rows - error) / rows,
            "A,1": (rows - error) / (rows + (k - 1) * error + k * (columns - error) / n),
            "A,k": (rows - error) / (rows + (columns - error) / n),
        }[form]
    )


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds, raters=st.integers(2, 5))
def test_icc_is_the_analysis_of_variance(form: Icc, seed: int, raters: int) -> None:
    some = drawn_numbers(seed, 12, raters, 4)
    assert value(icc(some, form)) == pytest.approx(anova(some.values, form), abs=1e-9)
    far = some._replace(values=some.values + 1e7)
    assert value(icc(far, form)) == pytest.approx(anova(some.values, form), abs=1e-5)


@pytest.mark.parametrize("form", ["A,1", "C,1", "A,k", "C,k"])
def test_two_way_forms_are_over_places_that_all_rated(form: Icc) -> None:
    some = drawn_numbers(1, 20, 3, 5)
    holes = some.values.copy()
    holes[:4, 1] = np.nan
    one = icc(some._replace(values=holes), form)
    assert value(one) == pytest.approx(anova(some.values[4:], form), abs=1e-9)
    assert one.places == 16


def test_one_way_forms_take_places_as_they_are_rated() -> None:
    """Against sums of squares between and within places with 2 and 3 answers; a single answer is left out."""
    rows: list[list[float | None]] = [
        [1.0, 2.0, None],
        [4.0, 5.0, 6.0],
        [7.0, None, 9.0],
        [3.0, 3.0, 2.0],
        [None, 8.0, None],
    ]
    groups = [[1.0, 2.0], [4.0, 5.0, 6.0], [7.0, 9.0], [3.0, 3.0, 2.0]]
    every = np.concatenate(groups)
    between = sum(len(g) * (np.mean(g) - every.mean()) ** 2 for g in groups) / 3
    inside = sum(((np.array(g) - np.mean(g)) ** 2).sum() for g in groups) / (len(every) - 4)
    each = (len(every) - sum(len(g) ** 2 for g in groups) / len(every)) / 3
    assert value(icc(numbers(rows), "1")) == pytest.approx((between - inside) / (between + (each - 1) * inside))
    assert value(icc(numbers(rows), "1,k")) == pytest.approx((between - inside) / between)
    assert icc(numbers(rows), "1").places == 4


@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds)
def test_order_of_raters_and_places_changes_nothing(seed: int) -> None:
    some = drawn_numbers(seed, 20, 3, 5, missing=0.1)
    dice = np.random.default_rng(seed)
    places = dice.permutation(20)
    mixed = some._replace(
        values=some.values[places][:, dice.permutation(3)], trace=some.trace[places],
        places=tuple(some.places[at] for at in places),
    )  # fmt: skip
    for form in FORMS:
        assert value(icc(some, form)) == pytest.approx(value(icc(mixed, form)), abs=1e-9)
    for level in ("interval", "ratio"):
        assert value(alpha_numbers(some, level)) == pytest.approx(value(alpha_numbers(mixed, level)), abs=1e-9)


def test_perfect_is_one_and_no_error() -> None:
    alike = numbers([[float(at)] * 2 for at in range(1, 8)])
    for form in FORMS:
        assert value(icc(alike, form)) == pytest.approx(1.0, abs=1e-12)
    for of in (pearson, spearman, alpha_numbers, share_within):
        assert value(of(alike)) == pytest.approx(1.0, abs=1e-12)
    assert value(mse(alike)) == value(mae(alike)) == 0.0


@pytest.mark.parametrize("at", [0.1, 1e8 + 0.1, 3.0])
def test_where_all_is_alike_there_is_no_spread(at: float) -> None:
    flat = numbers([[at, at]] * 7)
    for form in FORMS:
        assert why(icc(flat, form)) == "no spread"
    for of in (pearson, spearman, alpha_numbers):
        assert why(of(flat)) == "no spread"
    assert why(alpha_numbers(flat, "ratio")) == "no spread"
    one_flat = numbers([[at, 1.0], [at, 2.0], [at, 4.0]])
    assert why(pearson(one_flat)) == why(spearman(one_flat)) == "no spread"


@pytest.mark.parametrize(
    "of", [*OF_TWO.values(), alpha_numbers, *(lambda some, f=form: icc(some, f) for form in FORMS)]
)
def test_too_little_says_why(of: object) -> None:
    assert why(of(numbers([[None, None]]))) == "no answers"  # type: ignore[operator]
    assert why(of(numbers([[1.0, None], [2.0, None]]))) == "one rater"  # type: ignore[operator]
    assert why(of(numbers([[1.0, None], [None, 2.0]]))) == "no item that two rated"  # type: ignore[operator]


def test_icc_needs_two_items() -> None:
    assert why(icc(numbers([[1.0, 2.0]]), "A,1")) == "fewer than two items that all rated"
    assert why(icc(numbers([[1.0, 2.0], [1.0, None]]), "C,k")) == "fewer than two items that all rated"
    assert why(icc(numbers([[1.0, 2.0]]), "1")) == "fewer than two items that two rated"
    assert icc_interval(numbers([[1.0, 2.0]]), "A,1") == "fewer than two items that all rated"
    assert icc_interval(numbers([[1.0, 1.0], [2.0, 2.0]]), "A,1") == "it is the largest it can be"


def test_three_columns_are_no_pair() -> None:
    for of in OF_TWO.values():
        with pytest.raises(ValueError, match="two columns are compared, not 3"):
            of(numbers([[1.0, 2.0, 3.0]]))


def test_the_band_is_inclusive_in_decimal_numbers() -> None:
    some = numbers([[0.45, 0.4], [0.4, 0.45], [0.0, 0.051], [0.3, 0.3]])
    assert value(share_within(some)) == 0.75
    assert value(share_within(some, 0.06)) == 1.0
    assert value(share_within(some, 0.0)) == 0.25


def test_errors_are_means() -> None:
    some = numbers([[1.0, 2.0], [5.0, 2.0], [None, 4.0]])
    assert value(mse(some)) == 5.0
    assert value(mae(some)) == 2.0
    assert mse(some).places == 2
    assert mse(some).most is mae(some).most is None


def test_a_mean_leaves_out_what_is_not_there() -> None:
    values, trace = np.array([1.0, np.nan, 0.0, 1.0]), np.array([0, 0, 1, 2], np.int32)
    one = mean(values, trace, 4, "share", 1.0)
    assert value(one) == pytest.approx(2 / 3)
    assert (one.name, one.most, one.least, one.places) == ("share", 1.0, 0.0, 3)
    assert one.sums.tolist() == [[1, 1], [0, 1], [1, 1], [0, 0]]
    assert why(mean(np.array([np.nan]), np.array([0], np.int32), 1)) == "no answers"
    assert mean(values, trace, 4).least is None


def often(some: NumericRatings, weights: np.ndarray[tuple[int], np.dtype[np.int64]]) -> NumericRatings:
    rows = np.repeat(np.arange(len(some.values)), weights[some.trace])
    return some._replace(
        values=some.values[rows], trace=some.trace[rows], places=tuple(some.places[at] for at in rows)
    )  # fmt: skip


@pytest.mark.parametrize("name", [*FORMS, "interval", "ratio", *OF_TWO])
@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds)
@example(seed=690)  # what ICC(A,k) divides by is nothing but rounding there
def test_sums_are_of_traces_so_that_how_often_each_comes_is_a_product(name: str, seed: int) -> None:
    def of(some: NumericRatings) -> AdditiveStatistic:
        if name in OF_TWO:
            return OF_TWO[name](some)
        return alpha_numbers(some, name) if name in ("interval", "ratio") else icc(some, name)  # type: ignore[arg-type]

    some = drawn_numbers(seed, 24, 2 if name in OF_TWO else 3, 6, missing=0.1)
    some = some._replace(values=np.abs(np.round(some.values / (1 + seed % 3))))
    times = np.random.default_rng(seed).integers(0, 3, (3, 6))
    one = of(some)
    for weights, got in zip(times, one.evaluate(times.astype(float) @ one.sums), strict=True):
        expected = value_of(of(often(some, weights)))
        assert (expected is None) == (not np.isfinite(got))
        assert expected is None or got == pytest.approx(expected, abs=1e-8)


def test_ranks_are_the_same_from_pairs_and_from_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few different pairs are counted; many are told by the traces they are in. Both are exact."""
    some = drawn_numbers(4, 60, 2, 40)
    x, y = np.round(some.values).T
    counted, one, other, column = joint_sums(x, y, some.trace, 40)
    assert counted.shape[1] < 40
    weights = np.random.default_rng(1).integers(0, 3, (5, 40)).astype(float)
    by_pairs = spearman_of(weights @ counted, one, other, column)
    by_traces = spearman_of(weights @ np.eye(40), x, y, some.trace)
    assert by_pairs == pytest.approx(by_traces, abs=1e-12)
    monkeypatch.setattr("annotators.agreement.coefficients.numbers._PAIRED", 100)
    identity, _, _, at = joint_sums(some.values[:, 0], some.values[:, 1], some.trace, 40)
    assert identity.tolist() == np.eye(40).tolist()
    assert at is some.trace
    whole = spearman(some)
    assert whole.sums.tolist() == np.eye(40).tolist()
    rows = np.repeat(np.arange(60), weights[0].astype(int)[some.trace])
    expected = value(spearman(some._replace(values=some.values[rows], trace=some.trace[rows])))
    assert whole.evaluate(weights[0] @ whole.sums) == pytest.approx(expected, abs=1e-12)


PUBLISHED: dict[Icc, tuple[float, float]] = {
    "1": (-0.1329, 0.7226), "A,1": (0.0188, 0.7611), "C,1": (0.3425, 0.9459),
    "1,k": (-0.8844, 0.9124), "A,k": (0.0711, 0.9272), "C,k": (0.6757, 0.9859),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_the_intervals_of_icc_are_the_published_ones_of_four_judges_and_six_targets(form: Icc) -> None:
    """Shrout and Fleiss (1979), Table 2; by McGraw and Wong's F, as SPSS and R print them for these ratings."""
    rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    some = numbers(rows)
    assert icc_interval(some, form) == pytest.approx(PUBLISHED[form], abs=2e-3)
    found = estimate(icc(some, form), IntervalTerms())
    if form == "1,k":
        assert (found.low, found.no_interval) == (None, "too few to say")
    else:
        assert (found.low, found.high, found.interval) == (*icc_interval(some, form), "f")


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds, raters=st.integers(2, 5), items=st.integers(3, 9))
def test_an_interval_of_icc_holds_its_value_and_never_reaches_over_nearly_all(
    form: Icc, seed: int, raters: int, items: int
) -> None:
    found = estimate(icc(drawn_numbers(seed, items, raters, items), form), IntervalTerms())
    if found.low is not None and found.high is not None and found.value is not None:
        assert found.low <= found.value <= found.high <= 1
        assert found.high - found.low <= 1.5
