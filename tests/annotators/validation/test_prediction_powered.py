"""Prediction-powered inference: beside the paper's own program, by hand, unbiased, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from annotators.agreement.intervals.distributions import wilson
from annotators.agreement.ratings.ratings import Floats
from annotators.validation.double_sample import double_sample, interval, rate
from annotators.validation.label_queue import doubt_of_confidence, inclusion, label_queue
from annotators.validation.prediction_powered import (
    FEW_ERRORS,
    TOO_FEW,
    LabelledUnits,
    corrected_difference,
    corrected_estimate,
    difference_of_estimates,
    labelled_units,
    powered_mean,
)
from tests.crossed import crossed, soak, spread
from tests.loaded_late import LoadedLate

stats = LoadedLate("scipy.stats")


def drawn(seed: int, units: int = 400, labels: int = 60, right: float = 0.85, yes: float = 0.6) -> LabelledUnits:
    """A judge and people who say 0 or 1."""
    dice = np.random.default_rng(seed)
    truth = dice.random(units) < yes
    judge = np.where(dice.random(units) < right, truth, ~truth).astype(np.float64)
    return labelled_units(judge, np.where(np.arange(units) < labels, truth, np.nan))


def scores(seed: int, units: int = 400, labels: int = 60) -> LabelledUnits:
    """A judge and people who give numbers."""
    dice = np.random.default_rng(seed)
    truth = dice.normal(3, 1, units)
    return labelled_units(truth + dice.normal(0.4, 0.5, units), np.where(np.arange(units) < labels, truth, np.nan))


@crossed
@pytest.mark.parametrize("seed", spread(range(6), 2))
@pytest.mark.parametrize("power", [None, 0.0, 0.4, 1.0])
def test_ppi_as_its_authors_program_has_it(seed: int, power: float | None) -> None:
    ppi = pytest.importorskip("ppi_py", reason="ppi-python is not installed (pip install 'hitlab[test]')")
    for units in (drawn(seed, right=0.5 + seed / 12), scores(seed)):
        there = units.labelled
        parts = units.people[there], units.judge[there], units.judge[~there]
        ours = powered_mean(units, power, 0.9)
        low, high = ppi.ppi_mean_ci(*parts, alpha=0.1, lam=power)
        value = ppi.ppi_mean_pointestimate(*parts, lam=power)
        assert ours.value == pytest.approx(float(np.squeeze(value)), abs=1e-12)
        assert (ours.low, ours.high) == pytest.approx((float(low[0]), float(high[0])), abs=1e-9)


def test_power_as_its_authors_program_has_it() -> None:
    ppi = pytest.importorskip("ppi_py.ppi", reason="ppi-python is not installed (pip install 'hitlab[test]')")
    for seed in range(6):
        units = drawn(seed, right=0.5 + seed / 12)
        there = units.labelled
        truth, said, other = (part[:, None] for part in (units.people[there], units.judge[there], units.judge[~there]))
        plain = powered_mean(units, 1.0).value
        expected = ppi._calc_lam_glm(truth - plain, said - plain, other - plain, np.eye(1), clip=True)
        assert powered_mean(units).power == pytest.approx(float(expected), abs=1e-12)


def test_corrected_comes_to_ppi_where_labels_are_many() -> None:
    """4,000 of 20,000: estimate and interval of each are the asymptotic ones, but for digits that do not matter."""
    for units in (drawn(3, 20_000, 4_000), scores(3, 20_000, 4_000)):
        ours, theirs = corrected_estimate(units), powered_mean(units)
        width = theirs.high - theirs.low
        assert ours.corrected.value == pytest.approx(theirs.value, abs=0.02 * width)
        assert ours.corrected.low == pytest.approx(theirs.low, abs=0.03 * width)
        assert ours.corrected.high == pytest.approx(theirs.high, abs=0.03 * width)
        assert theirs.power == pytest.approx(ours.power * 0.8, rel=0.02)  # theirs is over the other units alone


def test_a_rate_is_the_double_samples() -> None:
    units = drawn(1)
    ours, sample = corrected_estimate(units, 0.9), double_sample(units.judge, units.people)
    assert ours.corrected.value == rate(sample)
    assert (ours.corrected.low, ours.corrected.high) == interval(sample, 0.9)
    assert ours.corrected.interval == "profile"
    said = units.judge
    assert ours.judge.value == said.mean()
    assert (ours.judge.low, ours.judge.high) == wilson(int(said.sum()), 400, 0.9)
    truth = units.people[units.labelled]
    assert (ours.people.low, ours.people.high) == wilson(int(truth.sum()), 60, 0.9)
    assert (ours.labelled, ours.units, ours.caution) == (60, 400, "")
    assert ours.worth is not None
    assert 80 < ours.worth < 250  # a judge that is right in 85 % is worth more than as many labels again


def test_a_mean_by_hand() -> None:
    units = scores(2, 50, 12)
    there = units.labelled
    truth, said = units.people[there], units.judge[there]
    ours = corrected_estimate(units, power=0.7)
    value = truth.mean() + 0.7 * (units.judge.mean() - said.mean())
    adds = np.where(
        there, (np.where(there, units.people, 0) - truth.mean() - 0.7 * (units.judge - said.mean())) / 12, 0
    )
    adds = adds + 0.7 * (units.judge - units.judge.mean()) / 50
    half = stats.t.ppf(0.975, 10) * np.sqrt((adds**2).sum() * 12 / 10)
    assert ours.corrected.value == pytest.approx(value)
    assert ours.corrected.low == pytest.approx(value - half)
    assert ours.corrected.high == pytest.approx(value + half)
    assert ours.corrected.interval == "t"
    assert corrected_estimate(units).corrected.standard_error < ours.corrected.standard_error * 1.001  # type: ignore[operator]
    assert ours.unit_variance == pytest.approx(0.49 * units.judge.var() / 50)


def test_a_useless_judge_leaves_what_people_say() -> None:
    units = labelled_units(np.ones(200), np.where(np.arange(200) < 30, np.arange(200) % 3 == 0, np.nan))
    ours = corrected_estimate(units)
    assert ours.power == 0.0
    assert ours.corrected.value == ours.people.value == pytest.approx(1 / 3)
    assert ours.worth == pytest.approx(30)


def test_few_errors_are_told_and_not_taken_for_none() -> None:
    truth = np.arange(300) % 2
    people = np.where(np.arange(300) < 30, truth, np.nan)
    exact = corrected_estimate(labelled_units(truth, people))
    assert exact.caution == FEW_ERRORS
    assert exact.corrected.high - exact.corrected.low > 0.1  # type: ignore[operator]
    weighted = corrected_estimate(labelled_units(truth, people, np.full(300, 0.1)))
    assert weighted.caution == FEW_ERRORS
    assert weighted.corrected.high - weighted.corrected.low > 0.1  # type: ignore[operator]


@pytest.mark.parametrize("n", [12, 25, 100])
def test_labels_that_are_all_alike_leave_less_open_than_where_one_differs(n: int) -> None:
    alike, other = np.zeros(n), np.arange(n) == 0
    none, one = (corrected_estimate(labelled_units(said, said, None, np.arange(n))) for said in (alike, other))
    for of_none, of_one in ((none.people, one.people), (none.judge, one.judge)):
        assert wilson(0, n, 0.95)[1] < (of_none.high or 0.0) < (of_one.high or 0.0)
    all_yes = corrected_estimate(labelled_units(1 - alike, 1 - alike, None, np.arange(n)))
    assert all_yes.people.low == pytest.approx(1 - (none.people.high or 0.0), abs=0.02)


def test_equal_probabilities_are_none_at_all() -> None:
    for units in (scores(5), drawn(5)):
        weighted = units._replace(probability=np.full(len(units.judge), 0.15))
        plain, other = corrected_estimate(units, power=0.6), corrected_estimate(weighted, power=0.6)
        assert other.corrected == pytest.approx(tuple(plain.corrected))
        assert other.people.value == pytest.approx(plain.people.value)


def active(seed: int, labels: int) -> tuple[LabelledUnits, float]:
    """Units labelled where the judge is unsure, and the rate of all."""
    dice = np.random.default_rng(7)
    sure = 0.5 + 0.5 * dice.beta(1.2, 0.8, 300)
    truth = (dice.random(300) < 0.35).astype(np.float64)
    judge = np.where(dice.random(300) < sure, truth, 1 - truth)
    queue = label_queue(inclusion(doubt_of_confidence(sure), labels), seed)
    people: Floats = np.full(300, np.nan)
    people[queue.order] = truth[queue.order]
    return labelled_units(judge, people, queue.probability), float(truth.mean())


@soak
def test_labels_where_the_judge_is_unsure_do_not_bias_the_rate() -> None:
    """The same 300 units, drawn 400 times: the mean is the rate of all; without weights it is not."""
    found, plain, labels_alone = [], [], []
    _, true = active(0, 60)
    for seed in range(400):
        units, _ = active(seed, 60)
        ours = corrected_estimate(units, power=1.0)
        found.append(ours.corrected.value)
        labels_alone.append(float(np.nanmean(units.people)))
        plain.append(corrected_estimate(units._replace(probability=None), power=1.0).corrected.value)
    error = np.std(np.array(found, np.float64)) / 20
    assert np.mean(np.array(found, np.float64)) == pytest.approx(true, abs=3 * error + 0.003)
    assert abs(np.mean(np.array(plain, np.float64)) - true) > 0.01 or abs(np.mean(labels_alone) - true) > 0.01


@soak
def test_weighted_intervals_hold_the_true_rate() -> None:
    covered = []
    for seed in range(300):
        dice = np.random.default_rng([9, seed])
        sure = 0.5 + 0.5 * dice.beta(0.9, 0.6, 500)
        truth = (dice.random(500) < 0.4).astype(np.float64)
        judge = np.where(dice.random(500) < sure, truth, 1 - truth)
        queue = label_queue(inclusion(doubt_of_confidence(sure), 50), seed)
        people: Floats = np.full(500, np.nan)
        people[queue.order] = truth[queue.order]
        one = corrected_estimate(labelled_units(judge, people, queue.probability)).corrected
        assert one.low is not None
        assert one.high is not None
        covered.append(one.low <= 0.4 <= one.high)
    assert 0.915 <= np.mean(covered) <= 0.985


# -- clusters -------------------------------------------------------------------------------------------------


def clustered(seed: int, labels: int = 20) -> LabelledUnits:
    """100 tasks of 5 runs that go together; people label all runs of some tasks. A rate of .4."""
    dice = np.random.default_rng([seed, labels])
    trace = np.repeat(np.arange(100), 5)
    truth = dice.random(500) < dice.beta(0.4, 0.6, 100)[trace]
    clear = (dice.random(100) < 0.7)[trace]
    judge = np.where(clear | (dice.random(500) < 0.5), truth, ~truth)
    return labelled_units(judge, np.where(trace < labels, truth, np.nan), None, trace)


def test_clusters_of_one_unit_are_none_at_all() -> None:
    units = drawn(3)
    each = corrected_estimate(units._replace(trace=np.arange(400, dtype=np.int32)))
    assert each.corrected.low == pytest.approx(corrected_estimate(units).corrected.low, abs=0.005)
    assert each.corrected.high == pytest.approx(corrected_estimate(units).corrected.high, abs=0.005)


@soak
def test_intervals_hold_where_units_go_together() -> None:
    """As if each run stood alone 95 % intervals hold in about 75 % of 160 studies; over tasks in 93 to 97.

    In 80 where the judge's answers are no whole numbers.
    """
    for exact in (True, False):
        covered: list[bool] = []
        alone: list[bool] = []
        for seed in range(160 if exact else 80):
            units = clustered(seed)
            if not exact:
                units = units._replace(judge=units.judge * 0.9 + 0.05)
            for found, one in ((covered, units), (alone, units._replace(trace=None))):
                interval_of = corrected_estimate(one).corrected
                found.append(interval_of.low <= 0.4 <= interval_of.high)  # type: ignore[operator]
        assert 0.91 <= np.mean(covered) <= 0.985
        assert np.mean(alone) < 0.85


def test_clusters_widen_what_stands_beside_too() -> None:
    units = clustered(1)
    over, alone = corrected_estimate(units), corrected_estimate(units._replace(trace=None))
    for name in ("judge", "people"):
        wide, narrow = getattr(over, name), getattr(alone, name)
        assert wide.value == pytest.approx(narrow.value)
        assert wide.high - wide.low > 1.2 * (narrow.high - narrow.low)
    assert over.corrected.value == alone.corrected.value
    assert over.unit_variance > 1.5 * alone.unit_variance
    two = corrected_estimate(labelled_units([1, 0, 1, 1], [1, 0, 1, np.nan], None, [0, 0, 1, 2]))
    assert two.corrected.undefined == TOO_FEW
    both = corrected_difference(units, units, paired=True).corrected
    assert (both.value, both.low, both.high) == pytest.approx((0, 0, 0), abs=0.1)
    with pytest.raises(ValueError, match="each alone"):
        powered_mean(units)
    with pytest.raises(ValueError, match=r"clusters \(1,\) are not"):
        labelled_units([1, 0], [1, 0], None, [0])


# -- differences ----------------------------------------------------------------------------------------------


def test_a_difference_is_newcombes() -> None:
    one, other = corrected_estimate(drawn(1, yes=0.7)), corrected_estimate(drawn(2, yes=0.4))
    found = corrected_difference(drawn(1, yes=0.7), drawn(2, yes=0.4))
    a, b = one.corrected, other.corrected
    assert found.corrected.value == a.value - b.value  # type: ignore[operator]
    down = np.hypot(a.value - a.low, b.high - b.value)  # type: ignore[operator]
    assert found.corrected.low == pytest.approx(a.value - b.value - down)  # type: ignore[operator]
    assert found.judge.value == one.judge.value - other.judge.value  # type: ignore[operator]
    assert found.people.interval == "newcombe"


def test_pairs_of_the_same_tasks_are_narrower() -> None:
    dice = np.random.default_rng(4)
    hard, noise = dice.random(400), dice.random((2, 400)) < 0.1
    pairs = []
    for at, yes in enumerate((0.6, 0.5)):
        truth = hard < yes
        people = np.where(np.arange(400) < 80, truth, np.nan)
        pairs.append(labelled_units(truth ^ noise[at], people))
    together, alone = (corrected_difference(pairs[0], pairs[1], paired=paired) for paired in (True, False))
    for name in ("corrected", "judge", "people"):
        narrow, wide = getattr(together, name), getattr(alone, name)
        assert narrow.value == wide.value
        assert narrow.high - narrow.low < 0.8 * (wide.high - wide.low)
    same = corrected_difference(pairs[0], pairs[0], paired=True).corrected
    assert (same.value, same.low, same.high) == pytest.approx((0, 0, 0), abs=0.08)
    with pytest.raises(ValueError, match="400 and 399 units are no pairs"):
        corrected_difference(pairs[0], labelled_units(np.ones(399), np.ones(399)), paired=True)


def test_what_is_undefined_stays_so() -> None:
    none = corrected_estimate(labelled_units([1, 0, 1], [np.nan, 1, 0]))
    assert (none.corrected.value, none.corrected.undefined) == (None, TOO_FEW)
    assert none.people.value == 0.5
    assert difference_of_estimates(none.corrected, none.judge).undefined == TOO_FEW
    flat = corrected_estimate(labelled_units(np.full(20, 2.5), np.where(np.arange(20) < 5, 4.0, np.nan)))
    assert (flat.corrected.value, flat.corrected.low) == (4.0, None)
    assert flat.corrected.no_interval


@pytest.mark.parametrize(
    ("judge", "people", "probability", "words"),
    [
        ([1, 0], [1], None, r"judge \(2,\) and people \(1,\) are no two columns"),
        ([1, np.nan], [1, 0], None, "unit 1: the judge says nothing"),
        ([1, 0], [1, np.nan], [0.0, 0.5], "unit 0 is labelled with a probability"),
        ([1, 0], [1, np.nan], [0.5], r"probability \(1,\) is not of the same units"),
    ],
)
def test_bad_arrays_are_named(judge: list[float], people: list[float], probability: list[float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        labelled_units(judge, people, probability)


def test_the_papers_interval_is_for_equal_probabilities_alone() -> None:
    with pytest.raises(ValueError, match="equal probabilities"):
        powered_mean(labelled_units([1, 0, 1], [1, 0, np.nan], [0.5, 0.6, 0.7]))
    with pytest.raises(ValueError, match="and units without"):
        powered_mean(labelled_units([1, 0], [1, 0]))
