"""A judge against the truth, and boxes against boxes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotators.agreement.coefficients.judge_accuracy import Box, centre_in_box, iou, judge_statistic, same_box
from tests.annotators.agreement.rated import ratings, value, why
from tests.fuzzing_examples import examples

ROWS = [[1, 1]] * 6 + [[1, 0]] * 2 + [[0, 1]] * 1 + [[0, 0]] * 3 + [[1, None], [None, 1]]


def test_shares_of_a_judge() -> None:
    some = ratings(ROWS)
    assert value(judge_statistic(some, "accuracy", "yes")) == pytest.approx(9 / 12)
    assert value(judge_statistic(some, "precision", "yes")) == pytest.approx(6 / 7)
    assert value(judge_statistic(some, "recall", "yes")) == pytest.approx(6 / 8)
    assert value(judge_statistic(some, "f1", "yes")) == pytest.approx(12 / 15)
    assert value(judge_statistic(some, "precision", "no")) == pytest.approx(3 / 5)
    assert value(judge_statistic(some, "kappa", "yes")) == pytest.approx(
        (0.75 - (8 * 7 + 4 * 5) / 144) / (1 - 76 / 144)
    )
    assert judge_statistic(some, "recall", "yes").places == 12


def test_what_was_never_said_has_no_share() -> None:
    assert why(judge_statistic(ratings([[1, 0], [0, 0]]), "precision", "yes")) == "the judge never said yes"
    assert why(judge_statistic(ratings([[0, 1], [0, 0]]), "recall", "yes")) == "nothing is yes"
    assert why(judge_statistic(ratings([[0, 0]]), "f1", "yes")) == "nothing is yes, nor did the judge say so"
    assert why(judge_statistic(ratings([[0, 0]]), "kappa", "yes")) == "one category"
    assert why(judge_statistic(ratings([[0, 0]]), "recall", "maybe")) == "nothing is maybe"
    assert why(judge_statistic(ratings([[0, None]]), "accuracy", "yes")) == "one rater"
    assert value(judge_statistic(ratings([[1, 0], [0, 1]]), "f1", "yes")) == 0.0
    with pytest.raises(ValueError, match="truth and one judge are compared, not 3"):
        judge_statistic(ratings([[1, 1, 1]]), "accuracy", "yes")


def test_boxes() -> None:
    assert iou((0, 0, 2, 2), (1, 0, 3, 2)) == pytest.approx(1 / 3)
    assert iou((0, 0, 2, 2), (2, 0, 4, 2)) == 0.0
    assert iou((0, 0, 2, 2), (5, 5, 9, 9)) == 0.0
    assert iou((0, 0, 0, 0), (0, 0, 0, 0)) == 0.0
    assert same_box((0, 0, 2, 1), (0, 0, 1, 1))
    assert not same_box((0, 0, 2, 1), (0, 0, 0.99, 1))
    assert not same_box((0, 0, 2, 1), (0, 0, 1, 1), 0.51)


def test_centres_lie_in_each_other() -> None:
    assert centre_in_box((0, 0, 10, 10), (4, 4, 6, 6))
    assert not centre_in_box((0, 0, 10, 10), (0, 0, 2, 2))
    assert not centre_in_box((0, 0, 2, 2), (0, 0, 10, 10))
    assert centre_in_box((0, 0, 2, 2), (1, 1, 3, 3))
    assert not centre_in_box((0, 0, 2, 2), (1.1, 0, 3.1, 2))


boxes = st.tuples(*[st.integers(0, 50)] * 4).map(
    lambda b: (min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3]))
)


@settings(max_examples=examples(40), deadline=None)
@given(boxes, boxes)
def test_neither_box_is_first(one: Box, other: Box) -> None:
    assert iou(one, other) == iou(other, one)
    assert 0 <= iou(one, other) <= 1
    assert centre_in_box(one, other) == centre_in_box(other, one)
    assert iou(one, one) == (1.0 if (one[2] - one[0]) * (one[3] - one[1]) else 0.0)
