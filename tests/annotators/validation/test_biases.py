"""What sways a judge: sides, lengths, its own family; its consistency, and its drift."""

from __future__ import annotations

import numpy as np
import pytest

from annotators.agreement.intervals.distributions import binomial_two_sided, wilson
from annotators.validation.biases import (
    FIRST,
    NONE,
    SECOND,
    TIE,
    partial_correlation,
    position_bias,
    self_preference,
    verbosity_bias,
)
from annotators.validation.drift import drift, has_fallen, has_fallen_between
from annotators.validation.study_validation import entropy, self_consistency
from lab.core.study.agreement import IntervalTerms
from tests.annotators.agreement.rated import drawn, ratings, value, why
from tests.loaded_late import LoadedLate

inter_rater = LoadedLate("statsmodels.stats.inter_rater")
stats = LoadedLate("scipy.stats")

HOW = IntervalTerms("bootstrap", resamples=400)


# -- sides ----------------------------------------------------------------------------------------------------


def test_sides_by_hand() -> None:
    sides = [FIRST] * 6 + [FIRST] * 3 + [SECOND] * 1 + [TIE] * 2 + [TIE, FIRST, FIRST]
    swapped = [SECOND] * 6 + [FIRST] * 3 + [SECOND] * 1 + [TIE] * 2 + [FIRST, TIE, NONE]
    found = position_bias(sides, swapped)
    assert found.pairs == 14
    assert found.flips.value == pytest.approx(6 / 14)  # 3 always first, 1 always second, 2 ties that are none
    assert (found.flips.low, found.flips.high) == pytest.approx(wilson(6, 14))
    assert found.first.value == pytest.approx((6 + 6 + 1 + 1) / (12 + 8 + 1 + 1))
    assert found.first_of_flips.value == pytest.approx(3 / 4)
    assert (found.first_of_flips.low, found.first_of_flips.high) == pytest.approx(wilson(3, 4))
    assert found.p == pytest.approx(binomial_two_sided(3, 4))


def test_a_judge_without_a_side_flips_never() -> None:
    steady = position_bias([FIRST, SECOND, TIE] * 5, [SECOND, FIRST, TIE] * 5)
    assert steady.flips.value == 0.0
    assert steady.first.value == 0.5
    assert steady.first_of_flips.undefined
    assert steady.p is None
    none = position_bias([FIRST, NONE], [NONE, FIRST])
    assert none.flips.undefined == "no pair was judged with its sides swapped"
    with pytest.raises(ValueError, match="a side is none of"):
        position_bias([3], [0])
    with pytest.raises(ValueError, match="not the same pairs"):
        position_bias([1, 0], [0])


def test_always_the_first_is_told() -> None:
    found = position_bias([FIRST] * 20, [FIRST] * 20)
    assert (found.flips.value, found.first.value, found.first_of_flips.value) == (1.0, 1.0, 1.0)
    assert found.p is not None
    assert found.p < 1e-5


# -- lengths --------------------------------------------------------------------------------------------------


def pairs(seed: int, leans: float) -> tuple[list[int], list[int], list[list[float]]]:
    """A judge who prefers the longer answer by chance `leans`, else what people prefer."""
    dice = np.random.default_rng(seed)
    lengths = np.exp(dice.normal(4, 0.6, (400, 2)))
    people = dice.integers(0, 2, 400)
    longer = (lengths[:, 1] > lengths[:, 0]).astype(int)
    judge = np.where(dice.random(400) < leans, longer, np.where(dice.random(400) < 0.85, people, 1 - people))
    return judge.tolist(), people.tolist(), lengths.tolist()


def test_lengths_by_hand() -> None:
    judge, people, lengths = pairs(1, 0.4)
    found = verbosity_bias(judge, people, lengths)
    long = np.array(lengths)
    longer = (long[:, 1] > long[:, 0]).astype(int)
    short = np.array(people) != longer
    wrong = np.array(judge) != np.array(people)
    assert found.wrong_where_short.value == pytest.approx(wrong[short].mean())
    assert found.wrong_where_long.value == pytest.approx(wrong[~short].mean())
    assert found.parity.value == pytest.approx(wrong[short].mean() - wrong[~short].mean())
    assert found.parity.low > 0  # type: ignore[operator]
    assert found.longer.value == pytest.approx((np.array(judge) == longer).mean() - (~short).mean())
    assert found.longer.low > 0  # type: ignore[operator]
    assert found.partial.low > 0  # type: ignore[operator]
    fair = verbosity_bias(*pairs(2, 0.0))
    assert fair.parity.low < 0 < fair.parity.high  # type: ignore[operator]
    assert fair.partial.low < 0 < fair.partial.high  # type: ignore[operator]


def test_ties_and_equal_lengths_are_no_longer_answer() -> None:
    judge = [FIRST, FIRST, TIE, SECOND, FIRST, SECOND]
    people = [FIRST, SECOND, FIRST, SECOND, NONE, FIRST]
    lengths = [[9, 5], [9, 5], [9, 5], [5, 5], [9, 5], [4, 8]]
    found = verbosity_bias(judge, people, lengths)
    assert found.pairs == 5
    assert found.wrong_where_long.value == 0.0  # the first pair alone
    assert found.wrong_where_short.value == 1.0  # the second and the last
    with pytest.raises(ValueError, match="pair 0 has a length that is not above 0"):
        verbosity_bias([0], [0], [[0, 1]])
    with pytest.raises(ValueError, match="are not the same pairs"):
        verbosity_bias([0], [0, 1], [[1, 1]])
    assert verbosity_bias([NONE], [FIRST], [[1, 2]]).parity.undefined


def test_partial_correlation_as_residuals_have_it() -> None:
    dice = np.random.default_rng(4)
    z = dice.normal(size=80)
    x, y = z + dice.normal(size=80), 0.5 * z + dice.normal(size=80)
    at = np.arange(80, dtype=np.int32)
    apart = [one - np.polyval(np.polyfit(z, one, 1), z) for one in (x, y)]
    assert value(partial_correlation(x, y, z, at)) == pytest.approx(stats.pearsonr(*apart)[0])
    assert value(partial_correlation(x, y, np.ones(80), at)) == pytest.approx(stats.pearsonr(x, y)[0])
    assert why(partial_correlation(z, y, z, at)).startswith("preference or length is the same")


# -- its own family -------------------------------------------------------------------------------------------


def test_own_family_by_hand() -> None:
    judge = [1, 1, 1, 0, 1, 0, 0, 1, 0, np.nan]
    truth = [1, 0, 0, 0, 1, 0, 1, 1, 0, 1]
    own = [True] * 4 + [False] * 6
    found = self_preference(judge, truth, own)
    assert found.own.value == pytest.approx(2 / 4)
    assert found.others.value == pytest.approx(-1 / 5)
    assert found.apart.value == pytest.approx(0.7)
    assert (found.own_units, found.other_units) == (4, 5)
    alone = self_preference([1, 0, 1], [1, 1, 1], [False] * 3)
    assert alone.own.undefined == alone.apart.undefined == "no agent of its own family"
    assert alone.others.value == pytest.approx(-1 / 3)
    with pytest.raises(ValueError, match="judge and truth are 0 or 1"):
        self_preference([0.5], [1], [True])
    with pytest.raises(ValueError, match="not the same units"):
        self_preference([1, 0], [1], [True])


def test_kindness_to_ones_own_is_found_and_else_not() -> None:
    dice = np.random.default_rng(6)
    truth, own = (dice.random(600) < 0.5), dice.random(600) < 0.5
    kind = np.where(own & ~truth, dice.random(600) < 0.4, truth)
    assert self_preference(kind, truth, own).apart.low > 0.05  # type: ignore[operator]
    fair = np.where(dice.random(600) < 0.9, truth, ~truth)
    found = self_preference(fair, truth, own).apart
    assert found.low < 0 < found.high  # type: ignore[operator]


# -- its own runs ---------------------------------------------------------------------------------------------


def test_consistency_by_hand() -> None:
    runs = ratings([[0, 0, 0, 0], [1, 1, 0, 0], [2, 2, 2, 1], [1, 1, 1, None], [0, None, None, None]], ("a", "b", "c"))
    bits = [0, 1, -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25)), 0]
    assert np.nan_to_num(entropy(runs), nan=-1) == pytest.approx([*bits, -1])
    found = self_consistency(runs, HOW)
    assert found.items == 4
    assert found.identical.value == pytest.approx(2 / 4)
    assert (found.identical.low, found.identical.high) == pytest.approx(wilson(2, 4))
    assert found.entropy.value == pytest.approx(np.mean(bits))
    assert self_consistency(ratings([[0], [1]]), HOW).identical.undefined == "one rater"


def test_kappa_over_runs_as_statsmodels_has_it() -> None:
    for seed in range(10):
        runs = drawn(seed, 50, 5, 3, 50)
        found = self_consistency(runs, HOW)
        assert found.kappa.value == pytest.approx(
            inter_rater.fleiss_kappa(inter_rater.aggregate_raters(runs.codes, 3)[0])
        )
        assert found.kappa.low < found.kappa.value < found.kappa.high  # type: ignore[operator]


# -- drift ----------------------------------------------------------------------------------------------------


def test_a_judge_that_fell_and_one_that_did_not() -> None:
    dice = np.random.default_rng(8)
    truth = dice.integers(0, 2, 200)

    def version(right: float) -> list[list[int | None]]:
        said = np.where(dice.random(200) < right, truth, 1 - truth)
        return [[int(one), int(other)] for one, other in zip(truth, said, strict=True)]

    before, worse, alike = ratings(version(0.9)), ratings(version(0.75)), ratings(version(0.89))
    found = drift(before, worse, HOW)
    assert found.accuracy.value == pytest.approx((found.won - found.lost) / 200)
    assert found.accuracy.value == pytest.approx(found.after.value - found.before.value)  # type: ignore[operator]
    assert found.p == pytest.approx(stats.binomtest(found.lost, found.lost + found.won).pvalue)
    assert found.same.value == pytest.approx((before.codes[:, 1] == worse.codes[:, 1]).mean())
    assert has_fallen_between(before, worse, HOW)
    assert not has_fallen_between(worse, before, HOW)
    assert not has_fallen_between(before, alike, HOW)
    assert not has_fallen_between(before, before, HOW)


def test_drift_is_over_items_that_both_versions_answered() -> None:
    before = ratings([[1, 1], [1, 1], [0, 0], [0, None], [1, 0]])
    after = ratings([[1, 1], [1, None], [0, 1], [0, 0], [1, 1]])
    found = drift(before, after, HOW)
    assert (found.items, found.lost, found.won) == (3, 1, 1)
    assert found.p == 1.0
    lost = ratings([[1, 0]] * 8)
    assert has_fallen_between(ratings([[1, 1]] * 8), lost, HOW)  # all of them: no interval, but McNemar's p
    assert not has_fallen(drift(ratings([[1, 1]] * 4), ratings([[1, 0]] * 4), HOW))


def test_gold_that_changed_is_refused() -> None:
    with pytest.raises(ValueError, match="not about the same gold"):
        drift(ratings([[1, 1], [0, 0]]), ratings([[1, 1], [1, 0]]))
    with pytest.raises(ValueError, match="not about the same gold"):
        drift(ratings([[1, 1], [0, 0]]), ratings([[1, 1]]))
