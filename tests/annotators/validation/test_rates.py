"""One judge against the truth: the matrix, rates beside scikit-learn's, slices, costs; and truth without one's own."""

from __future__ import annotations

import numpy as np
import pytest

from annotators.agreement.coefficients.additive import Estimate
from annotators.agreement.intervals.distributions import wilson
from annotators.agreement.ratings.ratings import Ratings
from annotators.validation.rates import JudgeRate, Validation, confusion, validation
from annotators.validation.study_validation import compare_with_persons
from annotators.validation.truth import majority, majority_of_others, truth_and_other
from lab.core.study.agreement import IntervalTerms
from tests.annotators.agreement.rated import drawn, ratings
from tests.crossed import crossed, spread
from tests.loaded_late import LoadedLate

metrics = LoadedLate("sklearn.metrics")

HOW = IntervalTerms("bootstrap", resamples=400)
ROWS = [[1, 1]] * 12 + [[1, 0]] * 3 + [[0, 1]] * 2 + [[0, 0]] * 8 + [[1, None], [None, 1], [None, 0]]


def of(found: Validation, statistic: str, category: str = "", part: str = "") -> Estimate:
    """One rate."""
    rows: list[JudgeRate] = [
        one for one in (*found.rates, *found.slices)
        if (one.statistic, one.category, one.slice) == (statistic, category, part)
    ]  # fmt: skip
    assert len(rows) == 1, (statistic, category, part)
    return rows[0].estimate


def test_two_categories_by_hand() -> None:
    found = validation(ratings(ROWS), how=HOW)
    assert found.confusion.counts.tolist() == [[8, 2], [3, 12]]
    assert (found.confusion.unanswered, found.confusion.unsettled) == (1, 2)
    expected = {
        ("accuracy", ""): (20, 25), ("recall", "yes"): (12, 15), ("specificity", "yes"): (8, 10),
        ("precision", "yes"): (12, 14),
    }  # fmt: skip
    for (statistic, category), (right, places) in expected.items():
        one = of(found, statistic, category)
        assert one.value == pytest.approx(right / places)
        assert (one.low, one.high) == pytest.approx(wilson(right, places))
        assert one.interval == "wilson"
    assert of(found, "f1", "yes").value == pytest.approx(24 / 29)
    kappa = of(found, "kappa")
    assert kappa.low is not None
    assert kappa.high is not None
    assert kappa.low < kappa.value < kappa.high  # type: ignore[operator]
    assert {one.category for one in found.rates} == {"", "yes"}
    assert all((one.places, one.units) == (25, 25) for one in found.rates)
    assert of(validation(ratings(ROWS), "no", how=HOW), "recall", "no").value == pytest.approx(8 / 10)
    with pytest.raises(ValueError, match="maybe is none of no, yes"):
        validation(ratings(ROWS), "maybe")


@crossed
@pytest.mark.parametrize("seed", spread(range(20), 5))
def test_more_categories_as_scikit_learn_has_them(seed: int) -> None:
    some = drawn(seed, 80, 2, 4, 80)
    truth, judge = some.codes.T
    found, q = validation(some, how=HOW), range(4)
    assert found.confusion.counts.tolist() == metrics.confusion_matrix(truth, judge, labels=q).tolist()
    each = metrics.precision_recall_fscore_support(truth, judge, labels=q)
    means = metrics.precision_recall_fscore_support(truth, judge, labels=q, average="macro")
    for name, values, mean in zip(("precision", "recall", "f1"), each, means, strict=False):
        assert [of(found, name, f"c{at}").value for at in q] == pytest.approx(values)
        assert of(found, f"macro {name}").value == pytest.approx(mean)
    true_negative = [((truth != at) & (judge != at)).sum() / (truth != at).sum() for at in q]
    assert [of(found, "specificity", f"c{at}").value for at in q] == pytest.approx(true_negative)
    assert of(found, "macro specificity").value == pytest.approx(np.mean(true_negative))
    assert of(found, "kappa").value == pytest.approx(metrics.cohen_kappa_score(truth, judge))


def test_slices_are_validated_for_themselves() -> None:
    some = ratings(ROWS)
    names = {f"u{at}": "shop" if at < 15 else "mail" for at in range(25)}
    found = validation(some, slices={"app": names, "length": {"u0": "short"}}, how=HOW)
    assert of(found, "accuracy", part="shop").value == pytest.approx(12 / 15)
    assert of(found, "accuracy", part="mail").value == pytest.approx(8 / 10)
    assert of(found, "recall", "yes", "mail").undefined == "nothing is yes"
    assert of(found, "accuracy", part="short").value == 1.0
    assert {(one.criterion, one.slice) for one in found.slices} == {
        ("app", "shop"),
        ("app", "mail"),
        ("length", "short"),
    }
    assert of(found, "accuracy").value == pytest.approx(20 / 25)


def test_what_an_item_costs() -> None:
    some = ratings(ROWS)
    assert validation(some, how=HOW).cost is None
    costs = np.where(np.arange(28) % 2, 0.02, 0.04)
    cost = validation(some, costs=costs, how=HOW).cost
    assert cost is not None
    assert cost.value == pytest.approx(costs[some.codes[:, 1] >= 0].mean())
    assert cost.low is not None
    assert validation(some, costs=np.full(28, np.nan), how=HOW).cost == Estimate(None, "no costs")
    with pytest.raises(ValueError, match=r"costs \(3,\) are not of 28 places"):
        validation(some, costs=np.ones(3))


def test_clusters_of_several_items_have_no_wilson() -> None:
    some = ratings(ROWS[:25], trace=[at // 3 for at in range(25)])
    found = of(validation(some, how=HOW), "accuracy")
    assert found.value == pytest.approx(20 / 25)
    assert found.interval == ""  # the jackknife-t that was asked for


def test_nothing_in_common_is_said() -> None:
    found = validation(ratings([[0, None], [None, 1]]), how=HOW)
    assert all(one.estimate.value is None and one.estimate.undefined for one in found.rates)
    assert found.confusion.counts.sum() == 0


# -- truth ----------------------------------------------------------------------------------------------------


def test_a_majority_is_more_than_half_of_those_who_answered() -> None:
    some = ratings([[1, 1, 0], [1, 0, None], [None, None, 0], [None] * 3, [0, 1, 2]], ("a", "b", "c"))
    assert majority(some).tolist() == [1, -1, 0, -1, -1]


def test_nobody_has_a_voice_in_what_they_are_compared_with() -> None:
    some = ratings([[1, 1, 0], [1, 0, None], [0, None, None], [1, 1, 1]])
    assert majority_of_others(some).tolist() == [[-1, -1, 1], [0, 1, -1], [-1, 0, 0], [1, 1, 1]]
    for seed in range(30):
        drawn_ones = drawn(seed, 40, 5, 3, missing=0.3)
        others = majority_of_others(drawn_ones)
        for at in range(5):
            changed = drawn_ones.codes.copy()
            changed[:, at] = -1
            expected = majority(drawn_ones._replace(codes=changed))
            assert others[:, at].tolist() == expected.tolist()


def test_columns_beside_a_truth_are_checked() -> None:
    some = ratings([[1, 1], [0, 1]])
    two = truth_and_other(some, [1, -1], [0, 1], "J")
    assert (two.codes.tolist(), two.raters) == ([[1, 0], [-1, 1]], ("truth", "J"))
    with pytest.raises(ValueError, match=r"\(3,\) is no column of 2 places"):
        truth_and_other(some, [1, 1, 1], [0, 1])
    with pytest.raises(ValueError, match="not of its 2 categories"):
        truth_and_other(some, [1, 1], [0, 2])
    assert confusion(two).counts.sum() == 1


# -- beside persons -------------------------------------------------------------------------------------------


def judged_by(seed: int, judge: float) -> tuple[Ratings, list[int]]:
    dice = np.random.default_rng(seed)
    truth = dice.integers(0, 2, 300)
    right = dice.random((300, 5)) < np.array([0.9, 0.85, 0.8, 0.6, judge])
    said = np.where(right, truth[:, None], 1 - truth[:, None])
    return ratings([[int(one) for one in row[:4]] for row in said]), said[:, 4].tolist()


def test_a_judge_beside_each_person() -> None:
    people, judge = judged_by(1, 0.85)
    found = compare_with_persons(people, judge, HOW)
    assert [one.person for one in found] == ["R1", "R2", "R3", "R4"]
    worst = found[3]
    rest = majority_of_others(people)[:, 3]
    met = rest >= 0
    own, theirs = people.codes[met, 3] == rest[met], np.array(judge)[met] == rest[met]
    assert worst.items == met.sum()
    assert worst.own.value == pytest.approx(own.mean())
    assert worst.judge.value == pytest.approx(theirs.mean())
    assert worst.ahead.value == pytest.approx(theirs.mean() - own.mean())
    assert worst.ahead.low is not None
    assert worst.ahead.low > 0  # it is better than somebody who guesses
    assert worst.agreement.value == pytest.approx((people.codes[:, 3] == judge).mean())
    assert worst.kappa_ahead.value == pytest.approx(worst.judge_kappa.value - worst.own_kappa.value)  # type: ignore[operator]
    assert compare_with_persons(people, judge, HOW) == found
    assert found[0].ahead.low < 0 < found[0].ahead.high or found[0].ahead.high < 0  # type: ignore[operator]


def test_one_person_alone_has_nobody_to_be_compared_with() -> None:
    people, judge = judged_by(2, 0.8)
    found = compare_with_persons(people.by_raters([0]), judge, HOW)
    assert found[0].items == 0
    assert found[0].ahead.value is None
    assert found[0].agreement.value is not None
