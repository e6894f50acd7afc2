"""Agreement on evidence: the distance between the steps that raters with the same answer cite.

Only pairs of people count who gave one answer to an item and both cite a step. Two coefficients correct for chance,
both by squared distances. Krippendorff's alpha of step numbers (interval; Computing Krippendorff's Alpha-Reliability,
2011) takes chance within each run: the distance of any two steps that people cited in that run. Chance over all runs
together would compare long runs with short ones, and any two steps of one run would look alike. A run with a single
item says nothing about chance. For that there is Brennan and Prediger's kappa (Coefficient Kappa: Some Uses, Misuses,
and Alternatives, 1981), for which every position of a run is equally likely, its end included.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.coefficients.additive import EPSILON, AdditiveStatistic, ratio, totals_by_trace, value_of
from annotators.agreement.coefficients.numbers import mean
from annotators.agreement.intervals.estimates import EstimateMaker, SampleCounts
from annotators.agreement.ratings.answers import FieldAnswers, answers_of
from annotators.agreement.ratings.ratings import Floats
from annotators.study_data import StudyData
from lab.core.study.agreement import Agreement
from lab.core.study.protocol import Field

Ints = npt.NDArray[np.int64]

EVIDENCE = "evidence"
"""Part name of these numbers."""
NO_STEP = "no_step"
NO_PAIR = "no two people gave the same answer with a step"
TWO_RUNS = "its steps are of two runs, whose numbers cannot be compared"
ONE_ITEM = "no run has two items with steps; chance within a run cannot be told"
ONE_STEP = "all steps of a run are the same"
NO_RUN = "none of the runs is in this file, so that nobody knows how long they are"
BRENNAN = "brennan prediger of steps"
NO_MEDIAN = "a median has none by leaving out runs; --bootstrap gives one"
BANDS = (("same step", 0), ("within one step", 1), ("within three steps", 3))


class StepPairs(NamedTuple):
    """Pairs of people with the same answer who both cite a step, one row per pair in each array.

    `place` indexes the places of `answers`. `apart` is the number of steps between the two. `lacking` counts pairs with
    the same answer of which at least one cites no step. `raters` counts the people in any pair.
    """

    answers: FieldAnswers
    place: Ints
    apart: Ints
    lacking: int
    raters: int


def agreements_of_evidence(study_data: StudyData) -> list[Agreement]:
    """Return the numbers of each field with evidence: shares near each other, median distance, alpha and kappa."""
    numbers: list[Agreement] = []
    for field in study_data.study.protocol.fields:
        if field.evidence:
            numbers += _agreements_of_field(study_data, field)
    return numbers


def _agreements_of_field(study_data: StudyData, field: Field) -> list[Agreement]:
    pairs = step_pairs(study_data, field)
    maker = EstimateMaker(study_data, field.id, _sample_counts(pairs, pairs.place), EVIDENCE)
    if study_data.study.protocol.unit == "pair of runs":
        # Step numbers of two different runs have no common scale.
        return [maker.undefined(TWO_RUNS)]
    if not len(pairs.place):
        return [maker.undefined(NO_PAIR)]
    numbers = [maker.number(name, share_within(pairs, name, band)) for name, band in BANDS]
    distance = median_distance(pairs)
    # The delete-one jackknife is inconsistent for a median.
    if study_data.how.interval == "bootstrap":
        numbers.append(maker.number("median distance", distance))
    else:
        numbers.append(maker.without_interval("median distance", value_of(distance), NO_MEDIAN))
    alpha, places = alpha_within_runs(pairs)
    own = EstimateMaker(study_data, field.id, _sample_counts(pairs, places), EVIDENCE)
    numbers.append(own.number("alpha within runs", alpha))
    kappa, places = brennan_prediger(study_data, pairs)
    return [
        *numbers,
        EstimateMaker(study_data, field.id, _sample_counts(pairs, places), EVIDENCE).number(BRENNAN, kappa),
    ]


def step_pairs(study_data: StudyData, field: Field) -> StepPairs:
    """Return the pairs of a field: people with the same answer and a step, in each person's first rating."""
    answers = answers_of(study_data, field, study_data.people, 1)
    value, step = answers.value, answers.step
    places, apart, lacking, raters = [], [], 0, set[int]()
    for one, other in combinations(range(value.shape[1]), 2):
        same = (value[:, one] >= 0) & (value[:, one] == value[:, other])
        rows = np.flatnonzero(same & (step[:, one] >= 0) & (step[:, other] >= 0))
        lacking += int(same.sum()) - len(rows)
        places.append(rows)
        apart.append(np.abs(step[rows, one].astype(np.int64) - step[rows, other]))
        raters |= {one, other} if len(rows) else set()
    none = np.zeros(0, dtype=np.int64)
    return StepPairs(
        answers, np.concatenate([none, *places]), np.concatenate([none, *apart]), lacking, len(raters)
    )  # fmt: skip


def _sample_counts(pairs: StepPairs, place: Ints) -> SampleCounts:
    """Return the sample size of a statistic over the pairs at these items.

    The missing share is that of agreeing pairs in which someone named no step.
    """
    field_places = pairs.answers.places
    places = np.unique(place)
    every = len(pairs.place) + pairs.lacking
    reasons = {NO_STEP: pairs.lacking} if pairs.lacking else {}
    return SampleCounts(
        len(places), len(np.unique(field_places.unit[places])), len(np.unique(field_places.trace[places])),
        pairs.raters, pairs.lacking / every if every else 0.0, reasons,
    )  # fmt: skip


def _sum_by_index(at: npt.NDArray[np.signedinteger[Any]], weights: Floats, count: int) -> Floats:
    """Return the sum of the weights at each index below `count`."""
    return np.bincount(at, weights=weights, minlength=count).astype(np.float64)


# -- how near ----------------------------------------------------------------------------------------------------


def share_within(pairs: StepPairs, name: str, band: int) -> AdditiveStatistic:
    """Return the mean over places of the share of pairs that are at most `band` steps apart."""
    field_places = pairs.answers.places
    near = _sum_by_index(pairs.place, (pairs.apart <= band).astype(np.float64), len(field_places.places))
    of = _sum_by_index(pairs.place, np.ones(len(pairs.place)), len(field_places.places))
    return mean(ratio(near, of), field_places.trace, len(field_places.traces), name, 1.0)


def median_distance(pairs: StepPairs) -> AdditiveStatistic:
    """Return the median distance of pairs in steps, each place with the same weight.

    The median of an even number is the mean of both middle values. Sums: the weight of each distance, by trace.
    """
    field_places = pairs.answers.places
    distances, which = np.unique(pairs.apart, return_inverse=True)
    weight = 1 / np.bincount(pairs.place, minlength=len(field_places.places))[pairs.place]
    sums = np.zeros((len(field_places.traces), len(distances)))
    np.add.at(sums, (field_places.trace[pairs.place], which.reshape(-1)), weight)

    def evaluate(sums: Floats) -> Floats:
        upto = np.cumsum(sums, axis=-1)
        # Weights are fractions such as 1/3, so sums that should equal the half miss it by rounding.
        half = upto[..., -1:] / 2
        low = (upto >= half - 1e-9).argmax(axis=-1)
        high = (upto > half + 1e-9).argmax(axis=-1)
        middle = (distances[low] + distances[high]) / 2
        return np.where(half[..., 0] > 0, middle, np.nan)

    places = len(np.unique(pairs.place))
    return AdditiveStatistic("median_distance", sums, evaluate, lambda sums: NO_PAIR, None, 0.0, places)


# -- beyond chance -----------------------------------------------------------------------------------------------


def _beyond_chance(sums: Floats) -> Floats:
    return 1 - ratio(sums[..., 0], sums[..., 1], EPSILON)


def alpha_within_runs(pairs: StepPairs) -> tuple[AdditiveStatistic, Ints]:
    """Return alpha of step numbers with chance within each run, and its places: those of units with two or more.

    As in Krippendorff, the observed part is the squared distance of all pairs of answers of an item over its answers
    minus one. The expected part is the same for all pairs of answers of a run. Sums: both, by trace.
    """
    field_places = pairs.answers.places
    place, steps = _groups(pairs)
    unit = field_places.unit[place].astype(np.int64)
    has_two = np.bincount(unit, minlength=int(unit.max(initial=0)) + 1)[unit] > 1
    place, steps, unit = place[has_two], steps[has_two], unit[has_two]
    units, at = np.unique(unit, return_inverse=True)
    of_unit = np.column_stack([_sum_by_index(at.reshape(-1), column, len(units)) for column in steps.T])
    traces = np.zeros(len(units), dtype=np.int32)
    traces[at.reshape(-1)] = field_places.trace[place]
    within = _sum_by_index(at.reshape(-1), _squared_distances(steps), len(units))
    sums = totals_by_trace(np.column_stack((within, _squared_distances(of_unit))), traces, len(field_places.traces))

    why = ONE_STEP if len(place) else ONE_ITEM
    places = len(np.unique(place))
    return AdditiveStatistic("alpha_within_runs", sums, _beyond_chance, lambda sums: why, places=places), place


def brennan_prediger(study_data: StudyData, pairs: StepPairs) -> tuple[AdditiveStatistic, Ints]:
    """Return Brennan and Prediger's kappa of steps, and its places: those whose run is in the file.

    It is 1 minus the squared distance of pairs over its expectation if every position of the run is equally likely. A
    run of n steps has n + 1 positions, because an answer may rest on its end. The mean squared distance of two random
    positions out of K is (K^2 - 1) / 6. Sums: the mean squared distance of each place's pairs, and its expectation, by
    trace.
    """
    field_places, units = pairs.answers.places, {unit.id: unit for unit in study_data.units}
    chance = np.full(len(field_places.places), np.nan)
    for place in np.unique(pairs.place).tolist():
        runs = units[field_places.places[place].unit].runs
        steps = _steps_of(study_data, runs[0]) if runs else None
        chance[place] = np.nan if steps is None else ((steps + 1) ** 2 - 1) / 6
    of = _sum_by_index(pairs.place, np.ones(len(pairs.place)), len(field_places.places))
    squared_distance = ratio(
        _sum_by_index(pairs.place, (pairs.apart * pairs.apart).astype(np.float64), len(field_places.places)), of
    )
    is_finite = ~np.isnan(chance) & ~np.isnan(squared_distance)
    sums = totals_by_trace(
        np.column_stack((squared_distance, chance))[is_finite], field_places.trace[is_finite], len(field_places.traces)
    )

    name = "brennan_prediger_of_steps"
    kappa = AdditiveStatistic(name, sums, _beyond_chance, lambda sums: NO_RUN, places=int(is_finite.sum()))
    return kappa, np.flatnonzero(is_finite)


def _steps_of(study_data: StudyData, run: str) -> int | None:
    """Return a run's number of steps, cached, or None if the run is not in the file."""
    steps: int | None = study_data.cached(("steps", run), lambda: study_data.further.steps(run))
    return steps


def _groups(pairs: StepPairs) -> tuple[Ints, Floats]:
    """Group the answers that two or more raters gave at a place with a step.

    Return the place of each group, and its moments (groups x 3): count, sum of steps, sum of squares.
    """
    value, step = pairs.answers.value, pairs.answers.step
    row, who = np.nonzero((value >= 0) & (step >= 0))
    key = row.astype(np.int64) * (int(value.max(initial=0)) + 1) + value[row, who]
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    step_numbers = step[row, who].astype(np.float64)
    moments = (np.ones(len(step_numbers)), step_numbers, step_numbers * step_numbers)
    steps = np.column_stack([_sum_by_index(group.reshape(-1), weights, len(first)) for weights in moments])
    several = steps[:, 0] > 1
    return row[first][several].astype(np.int64), steps[several]


def _squared_distances(steps: Floats) -> Floats:
    """Return the squared distances of all ordered pairs of steps over the count minus one (groups).

    `steps` holds the moments that `_groups` returns.
    """
    n, total, squares = steps.T
    return np.asarray(2 * (n * squares - total * total) / np.maximum(n - 1, 1))
