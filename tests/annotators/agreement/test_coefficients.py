"""What must hold of every coefficient: who rated first or what a place is called changes nothing, perfect is 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotators.agreement.coefficients.additive import AdditiveStatistic, value_of
from annotators.agreement.coefficients.categorical import (
    brennan_prediger,
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    light_kappa,
    linear,
    percent,
    percent_exact,
    quadratic,
    scott_pi,
)
from annotators.agreement.ratings.ratings import Ratings
from tests.annotators.agreement.rated import drawn, ratings, value, why
from tests.fuzzing_examples import examples

Coefficient = Callable[[Ratings], AdditiveStatistic]

NOMINAL: dict[str, Coefficient] = {
    "percent": percent, "percent_exact": percent_exact, "fleiss": fleiss_kappa, "conger": conger_kappa,
    "light": light_kappa, "brennan_prediger": brennan_prediger, "ac1": gwet_ac, "alpha": krippendorff_alpha,
}  # fmt: skip
ORDERED: dict[str, Coefficient] = {
    "fleiss.linear": lambda some: fleiss_kappa(some, linear(len(some.categories))),
    "conger.quadratic": lambda some: conger_kappa(some, quadratic(len(some.categories))),
    "bp.linear": lambda some: brennan_prediger(some, linear(len(some.categories))),
    "ac2": lambda some: gwet_ac(some, quadratic(len(some.categories))),
    "alpha.ordinal": lambda some: krippendorff_alpha(some, "ordinal"),
    "alpha.interval": lambda some: krippendorff_alpha(some, "interval"),
    "alpha.ratio": lambda some: krippendorff_alpha(some, "ratio"),
}
ALL = NOMINAL | ORDERED
OF_TWO: dict[str, Coefficient] = {
    "cohen": cohen_kappa, "scott": scott_pi,
    "cohen.linear": lambda some: cohen_kappa(some, linear(len(some.categories))),
    "scott.quadratic": lambda some: scott_pi(some, quadratic(len(some.categories))),
}  # fmt: skip

seeds = st.integers(0, 10_000)


def some(seed: int, raters: int = 4) -> Ratings:
    return drawn(seed, 30, raters, 4, 8, missing=0.25 if raters > 2 else 0.1)


def two(seed: int) -> Ratings:
    return some(seed, 2)


def same(one: AdditiveStatistic, other: AdditiveStatistic) -> bool:
    first, second = value_of(one), value_of(other)
    return first is second if first is None or second is None else abs(first - second) < 1e-9


@pytest.mark.parametrize("name", ALL | OF_TWO)
@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds)
def test_order_of_raters_and_places_and_names_change_nothing(name: str, seed: int) -> None:
    of = (ALL | OF_TWO)[name]
    was = two(seed) if name in OF_TWO else some(seed)
    dice = np.random.default_rng(seed)
    raters = dice.permutation(len(was.raters))
    assert same(of(was), of(was._replace(codes=was.codes[:, raters])))
    places = dice.permutation(len(was.codes))
    mixed = was._replace(
        codes=was.codes[places], trace=was.trace[places], places=tuple(was.places[at] for at in places)
    )  # fmt: skip
    assert same(of(was), of(mixed))
    renamed = was._replace(field="x", raters=tuple(f"other {one}" for one in was.raters), traces=was.traces[::-1])
    assert same(of(was), of(renamed))


@pytest.mark.parametrize("name", NOMINAL | {"cohen": cohen_kappa, "scott": scott_pi})
@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds)
def test_what_nominal_categories_are_called_changes_nothing(name: str, seed: int) -> None:
    of = (ALL | OF_TWO)[name]
    was = two(seed) if name in OF_TWO else some(seed)
    to = np.random.default_rng(seed).permutation(len(was.categories)).astype(np.int16)
    assert same(of(was), of(was._replace(codes=np.where(was.codes < 0, was.codes, to[was.codes]))))


@pytest.mark.parametrize("name", ORDERED | {"cohen.linear": 0, "scott.quadratic": 0})
@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds)
def test_an_order_read_from_its_other_end_changes_nothing_but_ratios(name: str, seed: int) -> None:
    of = (ALL | OF_TWO)[name]
    was = two(seed) if name in OF_TWO else some(seed)
    assert was.scores is not None
    turned = was._replace(
        codes=np.where(was.codes < 0, was.codes, len(was.categories) - 1 - was.codes).astype(np.int16),
        scores=tuple(10 - one for one in was.scores),
    )
    assert same(of(was), of(turned)) == (name != "alpha.ratio")


@pytest.mark.parametrize("name", ALL | OF_TWO)
@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds)
def test_perfect_agreement_is_one(name: str, seed: int) -> None:
    was = two(seed) if name in OF_TWO else some(seed)
    first = np.random.default_rng(seed).permutation(np.arange(len(was.codes)) % 4).astype(np.int16)
    alike = was._replace(codes=np.repeat(first[:, None], was.codes.shape[1], axis=1))
    assert value((ALL | OF_TWO)[name](alike)) == pytest.approx(1.0, abs=1e-12)


@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds)
def test_weights_that_agree_only_with_themselves_are_none(seed: int) -> None:
    for of in (fleiss_kappa, conger_kappa, brennan_prediger, gwet_ac):
        assert same(of(some(seed), np.eye(4)), of(some(seed)))
    assert same(cohen_kappa(two(seed), np.eye(4)), cohen_kappa(two(seed)))
    yes_no = drawn(seed, 30, 2, 2, 8)
    for weights in (linear(2), quadratic(2)):
        assert same(cohen_kappa(yes_no, weights), cohen_kappa(yes_no))


@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds)
def test_two_raters_have_one_kappa_by_many_names(seed: int) -> None:
    whole = drawn(seed, 30, 2, 3, 8)
    assert same(conger_kappa(whole), cohen_kappa(whole))
    assert same(light_kappa(whole), cohen_kappa(whole))
    assert same(scott_pi(whole), fleiss_kappa(whole))
    assert same(percent(whole), percent_exact(whole))


@pytest.mark.parametrize("name", ALL)
def test_a_declared_category_that_nobody_used_counts_where_chance_is_all_of_them(name: str) -> None:
    was = some(3)
    assert was.scores is not None
    last = was._replace(categories=(*was.categories, "never"), scores=(*was.scores, 5.0))
    by_all = {"brennan_prediger", "ac1", "bp.linear", "ac2"}
    assert same(ALL[name](was), ALL[name](last)) == (name not in by_all)
    between = was._replace(
        categories=("c0", "never", "c1", "c2", "c3"), scores=(1, 1.5, 2, 3, 4),
        codes=(was.codes + (was.codes >= 1)).astype(np.int16),
    )  # fmt: skip
    by_distance = {"fleiss.linear", "conger.quadratic"}
    assert same(ALL[name](was), ALL[name](between)) == (name not in by_all | by_distance)


@pytest.mark.parametrize("name", ALL)
def test_a_place_that_one_rated_counts_for_margins_alone(name: str) -> None:
    was = some(5, 3)
    none = np.full((1, 3), -1, np.int16)
    lone = none.copy()
    lone[0, 1] = 2
    unrated, rated = (
        was._replace(codes=np.concatenate((was.codes, row)), trace=np.append(was.trace, np.int32(0)),
                     places=(*was.places, was.places[0]))
        for row in (none, lone)
    )  # fmt: skip
    of = ALL[name]
    assert same(of(was), of(unrated))
    from_margins = name in {"fleiss", "conger", "ac1", "fleiss.linear", "conger.quadratic", "ac2"}
    assert same(of(was), of(rated)) == (not from_margins)
    assert of(rated).places == of(was).places


@pytest.mark.parametrize("name", ALL | OF_TWO)
def test_what_is_undefined_says_why_and_is_no_number(name: str) -> None:
    of = (ALL | OF_TWO)[name]
    scores = (1.0, 2.0)
    assert why(of(ratings([], scores=scores))) == "no answers"
    assert why(of(ratings([[None, None]], scores=scores))) == "no answers"
    assert why(of(ratings([[1], [0]], scores=scores))) == "one rater"
    assert why(of(ratings([[1, None], [0, None]], scores=scores))) == "one rater"
    assert why(of(ratings([[1, None], [None, 0]], scores=scores))) == "no item that two rated"
    constant = of(ratings([[1, 1], [1, 1], [1, 1]], scores=scores))
    if name in {"percent", "percent_exact", "brennan_prediger", "ac1", "bp.linear", "ac2"}:
        assert value(constant) == 1.0
    else:
        assert why(constant).startswith("one category")


def test_one_declared_category_leaves_nothing_to_agree_on() -> None:
    only = ratings([[0, 0], [0, 0]], ["yes"])
    for of in (brennan_prediger, gwet_ac, fleiss_kappa, krippendorff_alpha):
        assert why(of(only)) == "one category"
    assert value(percent(only)) == 1.0


def test_kappa_is_defined_where_one_rater_is_constant() -> None:
    assert value(cohen_kappa(ratings([[0, 1]] * 5 + [[0, 0]] * 15))) == 0.0
    assert value(cohen_kappa(ratings([[0, 1], [0, 1]]))) == 0.0
    assert value(fleiss_kappa(ratings([[0, 1], [0, 1]]))) == -1.0


def test_light_names_the_pair_that_has_no_kappa() -> None:
    assert why(light_kappa(ratings([[1, 1, 0], [1, 1, 1], [1, 1, 0]]))) == "one category (R1 and R2)"
    apart = ratings([[1, 1, None], [0, 0, None], [None, 1, 1], [None, 0, 1]])
    assert value(light_kappa(apart)) == pytest.approx((1 + 0) / 2)
    crowd = ratings([[at % 2] * 21 for at in range(4)])
    assert why(light_kappa(crowd)) == "more than 20 raters"


def test_statistics_of_two_refuse_three() -> None:
    for of in (cohen_kappa, scott_pi):
        with pytest.raises(ValueError, match="two raters are compared, not 3"):
            of(ratings([[1, 1, 1]]))


def test_exact_is_all_the_same_where_two_or_more_rated() -> None:
    rows: list[list[int | None]] = [[1, 1, 1], [1, 1, None], [1, 0, 1], [1, None, None], [None, None, None]]
    assert value(percent_exact(ratings(rows))) == pytest.approx(2 / 3)
    assert percent_exact(ratings(rows)).places == 3
    assert value(percent(ratings(rows))) == pytest.approx((1 + 1 + 1 / 3) / 3)


def test_weights_are_as_named() -> None:
    assert linear(3).tolist() == [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]
    assert quadratic(3).tolist() == [[1, 0.75, 0], [0.75, 1, 0.75], [0, 0.75, 1]]
    assert linear(1).tolist() == quadratic(1).tolist() == [[1]]


def test_alpha_knows_its_levels() -> None:
    with pytest.raises(ValueError, match="no level 'cubic'"):
        krippendorff_alpha(some(1), "cubic")
    with pytest.raises(ValueError, match="its categories are no numbers"):
        krippendorff_alpha(some(1)._replace(scores=None), "interval")


@pytest.mark.parametrize("name", ALL | OF_TWO)
@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds)
def test_sums_are_of_traces_so_that_how_often_each_comes_is_a_product(name: str, seed: int) -> None:
    """What a product of weights and sums says is what the rows themselves say, written down as often."""
    of = (ALL | OF_TWO)[name]
    was = two(seed) if name in OF_TWO else some(seed)
    times = np.random.default_rng(seed).integers(0, 3, (4, len(was.traces)))
    one = of(was)
    values = one.evaluate(times.astype(float) @ one.sums)
    assert values.shape == (4,)
    for weights, got in zip(times, values, strict=True):
        rows = np.repeat(np.arange(len(was.codes)), weights[was.trace])
        again = was._replace(
            codes=was.codes[rows], trace=was.trace[rows], places=tuple(was.places[at] for at in rows)
        )  # fmt: skip
        expected = value_of(of(again))
        assert (expected is None) == (not np.isfinite(got))
        assert expected is None or got == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ALL | OF_TWO)
def test_the_same_answers_make_the_same_bits(name: str) -> None:
    of = (ALL | OF_TWO)[name]
    was = two(7) if name in OF_TWO else some(7)
    assert of(was).sums.tobytes() == of(was).sums.tobytes()
    assert value(of(was)) == value(of(was))
