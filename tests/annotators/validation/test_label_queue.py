"""The label queue: how likely each unit is, that draws are as likely as they say, and how many labels are wanted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotators.validation.label_queue import (
    doubt_of_confidence,
    doubt_of_runs,
    inclusion,
    label_queue,
    labels_wanted,
)
from annotators.validation.prediction_powered import corrected_estimate, labelled_units
from tests.fuzzing_examples import examples

DOUBTS = st.lists(st.floats(0, 100), min_size=1, max_size=60)


def test_doubt_is_the_spread_of_what_people_would_correct() -> None:
    assert doubt_of_confidence([0.5, 1.0, 0.9, np.nan]) == pytest.approx([0.5, 0.0, 0.3, 0.5])
    runs = [[1, 1, 1, 1], [0, 1, 1, 0], [2, 2, 2, 0], [-1, -1, 1, -1], [-1, -1, -1, -1]]
    shares = np.array([5 / 6, 3 / 6, 4 / 6, 2 / 3, 1 / 2])
    assert doubt_of_runs(runs) == pytest.approx(np.sqrt(shares * (1 - shares)))
    with pytest.raises(ValueError, match="not between 0 and 1"):
        doubt_of_confidence([1.2])


@settings(max_examples=examples(60), deadline=None)
@given(DOUBTS, st.integers(1, 60), st.floats(0.01, 1))
def test_probabilities_add_up_and_none_is_nothing(doubt: list[float], budget: int, uniform: float) -> None:
    if budget > len(doubt):
        with pytest.raises(ValueError, match="cannot be drawn"):
            inclusion(doubt, budget, uniform)
        return
    likely = inclusion(doubt, budget, uniform)
    assert likely.sum() == pytest.approx(budget)
    assert (likely > 0).all()
    assert (likely <= 1 + 1e-9).all()
    order = np.argsort(doubt, kind="stable")
    assert (np.diff(likely[order]) >= -1e-12).all()


def test_probabilities_in_proportion_to_doubt_make_the_variance_least() -> None:
    doubt = np.array([0.1, 0.2, 0.2, 0.4, 0.5, 0.3])
    best = inclusion(doubt, 2, 1e-9)
    assert best == pytest.approx(2 * doubt / doubt.sum())
    least = (doubt**2 / best).sum()
    dice = np.random.default_rng(0)
    for _ in range(200):
        other = 2 * dice.dirichlet(np.ones(6))
        assert (doubt**2 / other).sum() >= least - 1e-9
    assert inclusion(doubt, 2, 1.0) == pytest.approx(np.full(6, 1 / 3))
    assert inclusion(np.zeros(4), 1) == pytest.approx(np.full(4, 1 / 4))


def test_draws_are_as_likely_as_they_say() -> None:
    likely = inclusion([5, 0.2, 0.3, 0.1, 1, 0.6, 0, 0.4], 4, 0.2)
    assert likely[0] == 1.0
    drawn, early = np.zeros(8), np.zeros(8)
    for seed in range(4000):
        queue = label_queue(likely, seed)
        assert len(set(queue.order.tolist())) == 4
        drawn[queue.order] += 1
        early[queue.order[:2]] += 1
    assert drawn / 4000 == pytest.approx(likely, abs=0.03)
    assert early / 4000 == pytest.approx(label_queue(likely, 0).probabilities(2), abs=0.03)


def test_the_same_seed_draws_the_same() -> None:
    likely = inclusion(np.arange(20.0), 5)
    assert label_queue(likely, 3).order.tolist() == label_queue(likely, 3).order.tolist() == [16, 3, 15, 12, 18]
    assert label_queue(likely, 4).order.tolist() != label_queue(likely, 3).order.tolist()
    assert sorted(label_queue(np.ones(6), 1).order.tolist()) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("work", [
    lambda: label_queue(np.array([0.5, 0.7]), 0), lambda: label_queue(np.array([1.5, 0.5]), 0),
    lambda: label_queue(np.ones(3), 0).probabilities(4), lambda: label_queue(np.ones(3), 0).probabilities(0),
    lambda: inclusion([1, -1], 1), lambda: inclusion([1, np.nan], 1), lambda: inclusion([1, 1], 1, 0.0),
])  # fmt: skip
def test_what_cannot_be_drawn_is_refused(work: object) -> None:
    with pytest.raises(ValueError, match=r"units|doubt|cannot|not in"):
        work()  # type: ignore[operator]


def test_labels_wanted_come_to_the_width_that_was_planned() -> None:
    dice = np.random.default_rng(5)
    truth = (dice.random(4000) < 0.4).astype(np.float64)
    judge = np.where(dice.random(4000) < 0.85, truth, 1 - truth)
    now = corrected_estimate(labelled_units(judge, np.where(np.arange(4000) < 100, truth, np.nan)))
    assert now.corrected.low is not None
    assert now.corrected.high is not None
    more = labels_wanted(now, 0.08)
    assert more is not None
    then = corrected_estimate(labelled_units(judge, np.where(np.arange(4000) < 100 + more, truth, np.nan)))
    assert then.corrected.high - then.corrected.low == pytest.approx(0.08, rel=0.12)  # type: ignore[operator]
    assert labels_wanted(now, 0.5) == 0
    assert labels_wanted(now, 0.001) is None  # 4,000 units are never that narrow
    assert labels_wanted(now, 0.0) is None
    alike = np.zeros(4000)
    none = corrected_estimate(labelled_units(alike, np.where(np.arange(4000) < 40, 0.0, np.nan)))
    assert (none.variance, none.corrected.low) == (0.0, 0.0)
    assert none.corrected.high is not None
    more = labels_wanted(none, none.corrected.high / 2)
    assert more == 40, "a share that no label changed is known better by further ones, too"
    then = corrected_estimate(labelled_units(alike, np.where(np.arange(4000) < 40 + more, 0.0, np.nan)))
    assert then.corrected.high == pytest.approx(none.corrected.high / 2, rel=0.12)
    assert labels_wanted(corrected_estimate(labelled_units([1, 0], [1, np.nan])), 0.1) is None
