"""The alternative annotator test: by hand, item by item in plain loops, and its tests beside scipy and statsmodels."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from annotators.agreement.ratings.ratings import Floats
from annotators.validation.alternative_annotator import (
    Alignment,
    alternative_annotator_test,
    benjamini_yekutieli,
    numbers_of_codes,
    paired_t,
    signed_ranks,
)
from tests.annotators.agreement.rated import ratings
from tests.crossed import crossed, spread
from tests.loaded_late import LoadedLate

multitest = LoadedLate("statsmodels.stats.multitest")
stats = LoadedLate("scipy.stats")

NAMES = ("A", "B", "C", "D")


def drawn(seed: int, items: int = 60, missing: float = 0.2, judge: float = 0.8) -> tuple[Floats, Floats]:
    """A judge and four people about a truth of three categories."""
    dice = np.random.default_rng(seed)
    truth = dice.integers(0, 3, items)
    right = np.array([judge, 0.7, 0.8, 0.6, 0.75])
    said = np.where(dice.random((items, 5)) < right, truth[:, None], dice.integers(0, 3, (items, 5))).astype(np.float64)
    said[:, 1:][dice.random((items, 4)) < missing] = np.nan
    said[dice.random(items) < missing / 4, 0] = np.nan
    return said[:, 0], said[:, 1:]


def by_loops(judge: Floats, people: Floats, alignment: Alignment, epsilon: float) -> list[tuple[int, float, float]]:
    """Each person's items, the judge's advantage and the t test's p, as the paper's text says it."""
    found = []
    for person in range(people.shape[1]):
        own, theirs = [], []
        for at in range(len(judge)):
            others = [people[at, k] for k in range(people.shape[1]) if k != person and not np.isnan(people[at, k])]
            if not others or np.isnan(judge[at]) or np.isnan(people[at, person]):
                continue
            scores = []
            for value in (judge[at], people[at, person]):
                if alignment == "accuracy":
                    scores.append(sum(value == other for other in others) / len(others))
                else:
                    scores.append(-(np.mean([(value - other) ** 2 for other in others]) ** 0.5))
            own.append(1 if scores[0] >= scores[1] else 0)
            theirs.append(1 if scores[1] >= scores[0] else 0)
        apart = [b - a for a, b in zip(own, theirs, strict=True)]
        p = float(stats.ttest_1samp(apart, epsilon, alternative="less").pvalue)
        found.append((len(own), float(np.mean(own)), p))
    return found


@crossed
@pytest.mark.parametrize("seed", spread(range(8), 3))
@pytest.mark.parametrize("alignment", ["accuracy", "rmse"])
def test_as_loops_over_items_have_it(seed: int, alignment: Alignment) -> None:
    judge, people = drawn(seed, judge=0.5 + seed / 16)
    ours = alternative_annotator_test(judge, people, NAMES, alignment, 0.15)
    expected = by_loops(judge, people, alignment, 0.15)
    for one, (items, share, p) in zip(ours.people, expected, strict=True):
        assert (one.items, one.test) == (items, "t")
        assert one.judge_share == pytest.approx(share)
        assert one.p == pytest.approx(p, abs=1e-12)
    won = multitest.multipletests([p for *_, p in expected], 0.05, "fdr_by")[0]
    assert [one.won for one in ours.people] == won.tolist()
    assert ours.winning_rate == won.mean()
    assert ours.advantage == pytest.approx(np.mean([share for _, share, _ in expected]))
    assert ours.passes == (won.mean() >= 0.5)


def test_by_hand() -> None:
    """Three people, four items: with A left out, the judge meets B and C in 1, 1/2, 0 and 1, A in 1, 1/2, 1/2, 0."""
    judge = np.array([1.0, 1.0, 0.0, 0.0])
    people = np.array([[1, 1, 1], [0, 0, 1], [1, 1, 2], [2, 0, 0]], dtype=np.float64)
    found = alternative_annotator_test(judge, people, ("A", "B", "C"), epsilon=0.1)
    first = found.people[0]
    assert (first.person, first.items) == ("A", 4)
    assert first.judge_share == pytest.approx(3 / 4)  # at least as good at items 1, 2 and 4
    assert first.person_share == pytest.approx(3 / 4)  # at 1, 2 and 3
    # 0, 0, 1, -1 minus .1: their ranks are 1.5, 1.5, 3 and 4, and that of .9 (3) alone is positive. Of 16 choices of
    # signs, positive ranks come to 3 or less in five: none, either 1.5, both, and the 3
    assert first.p == pytest.approx(5 / 16)
    assert not found.passes
    assert found.winning_rate == 0.0
    assert found.cautions == (
        "Fewer than 30 items with A (4), B (4), C (4): Wilcoxon's signed ranks, and little power.",
    )


def test_a_judge_as_good_as_people_passes_and_one_that_guesses_does_not() -> None:
    judge, people = drawn(1, 400, 0.1, 0.8)
    good = alternative_annotator_test(judge, people, NAMES)
    assert good.passes
    assert good.winning_rate == 1.0
    assert good.cautions == ()
    guesses = np.random.default_rng(3).integers(0, 3, 400).astype(np.float64)
    poor = alternative_annotator_test(guesses, people, NAMES, epsilon=0.1)
    assert not poor.passes
    assert poor.winning_rate == 0.0
    assert poor.advantage < good.advantage  # type: ignore[operator]


def test_the_same_answers_everywhere_win_everybody() -> None:
    same = np.ones(40)
    found = alternative_annotator_test(same, np.ones((40, 3)), NAMES[:3])
    assert [one.p for one in found.people] == [0.0, 0.0, 0.0]
    assert found.passes


def test_two_people_are_cautioned_and_one_is_compared_with_nobody() -> None:
    judge, people = drawn(2)
    two = alternative_annotator_test(judge, people[:, :2], NAMES[:2])
    assert two.cautions == ("The test is meant for 3 people or more; there are 2.",)
    one = alternative_annotator_test(judge, people[:, :1], NAMES[:1])
    assert (one.winning_rate, one.advantage, one.passes, one.people[0].p) == (None, None, False, None)


def test_bad_shapes_and_epsilons_are_named() -> None:
    with pytest.raises(ValueError, match="do not go together"):
        alternative_annotator_test(np.ones(3), np.ones((4, 2)), ("A", "B"))
    with pytest.raises(ValueError, match=r"epsilon 1\.0 is not"):
        alternative_annotator_test(np.ones(3), np.ones((3, 2)), ("A", "B"), epsilon=1.0)


def test_codes_become_numbers() -> None:
    some = ratings([[0, 2], [None, 1]], ("1", "3", "9"), scores=(1, 3, 9))
    assert np.nan_to_num(numbers_of_codes(some), nan=-1).tolist() == [[1, 9], [-1, 3]]
    assert np.nan_to_num(numbers_of_codes(some._replace(scores=None)), nan=-1).tolist() == [[0, 2], [-1, 1]]


@crossed
@pytest.mark.parametrize("seed", spread(range(30), 8))
def test_signed_ranks_as_scipy_has_them(seed: int) -> None:
    dice = np.random.default_rng(seed)
    values = dice.normal(-0.3, 1, int(dice.integers(3, 26)))
    expected = stats.wilcoxon(values, alternative="less", method="exact").pvalue
    assert signed_ranks(values) == pytest.approx(expected, abs=1e-12)


@crossed
@pytest.mark.parametrize("seed", spread(range(10), 4))
def test_tied_signed_ranks_as_all_signs_give_them(seed: int) -> None:
    values = np.random.default_rng(seed).choice([-1.2, -0.2, 0.8], 9)
    ranks = stats.rankdata(np.abs(values))
    sums = [ranks[np.array(signs)].sum() for signs in product([False, True], repeat=9)]
    assert signed_ranks(values) == pytest.approx(np.mean(np.array(sums) <= ranks[values > 0].sum() + 1e-9))


def test_tests_where_nothing_differs() -> None:
    assert signed_ranks(np.zeros(5)) == 1.0
    assert paired_t(np.full(5, -0.2)) == 0.0
    assert paired_t(np.full(5, 0.2)) == 1.0
    assert paired_t(np.array([-1.0])) == 1.0


def test_false_discoveries_as_statsmodels_has_them() -> None:
    for seed in range(100):
        ps = np.random.default_rng(seed).beta(0.3, 2, 1 + seed % 12)
        assert benjamini_yekutieli(ps.tolist(), 0.1) == multitest.multipletests(ps, 0.1, "fdr_by")[0].tolist()
    assert benjamini_yekutieli([]) == []
