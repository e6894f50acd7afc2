"""Agreement on evidence: of raters who gave the same answer, how far apart the steps are that they point at.

Only pairs of people who gave one answer to an item and both name a step count. Two coefficients correct for chance,
both by squared distances. Krippendorff's alpha of step numbers (interval; Computing Krippendorff's Alpha-Reliability,
2011) takes chance within each run: what two steps that people named in the same run are apart. Over all runs at once,
long runs would be told from short ones, and any two steps of one run would seem alike. Where a run has one item alone
it tells nothing of that; Brennan and Prediger's kappa (Coefficient Kappa: Some Uses, Misuses, and Alternatives, 1981)
takes every place of the run to be as likely, its end among them.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.additive import NOTHING, AdditiveStatistic, over_traces, ratio, value_of
from annotators.agreement.answers import FieldAnswers, answers_of
from annotators.agreement.estimates import EstimateMaker, SampleCounts
from annotators.agreement.numbers import mean
from annotators.agreement.ratings import Floats
from annotators.study_data import StudyData
from lab.core.agreement import Agreement
from lab.core.protocol import Field

Ints = npt.NDArray[np.int64]

EVIDENCE = "evidence"
"""The part under which these numbers stand."""
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
    """Every two people who gave one answer at a place and both point at a step, a row of each array each.

    `place` indexes the places of `answers`, `apart` is how many steps lie between the two; `lacking` counts pairs with
    one answer of which one names no step, `raters` those who are in any of the pairs.
    """

    answers: FieldAnswers
    place: Ints
    apart: Ints
    lacking: int
    raters: int


def agreements_of_evidence(study_data: StudyData) -> list[Agreement]:
    """Each field's whose answers rest on steps: how often the same step and near it, the median distance, and alpha."""
    numbers: list[Agreement] = []
    for field in study_data.study.protocol.fields:
        if field.evidence:
            numbers += _of_field(study_data, field)
    return numbers


def _of_field(study_data: StudyData, field: Field) -> list[Agreement]:
    pairs = step_pairs(study_data, field)
    maker = EstimateMaker(study_data, field.id, _n(pairs, pairs.place), EVIDENCE)
    if study_data.study.protocol.unit == "pair of runs":
        return [maker.undefined(TWO_RUNS)]
    if not len(pairs.place):
        return [maker.undefined(NO_PAIR)]
    numbers = [maker.of(name, within(pairs, name, band)) for name, band in BANDS]
    distance = median_distance(pairs)
    if study_data.how.interval == "bootstrap":
        numbers.append(maker.of("median distance", distance))
    else:
        numbers.append(maker.without_interval("median distance", value_of(distance), NO_MEDIAN))
    alpha, places = alpha_within_runs(pairs)
    own = EstimateMaker(study_data, field.id, _n(pairs, places), EVIDENCE)
    numbers.append(own.of("alpha within runs", alpha))
    kappa, places = brennan_prediger(study_data, pairs)
    return [*numbers, EstimateMaker(study_data, field.id, _n(pairs, places), EVIDENCE).of(BRENNAN, kappa)]


def step_pairs(study_data: StudyData, field: Field) -> StepPairs:
    """What people point at in a field, by pairs who gave the same answer; of repeated ratings the first."""
    answers = answers_of(study_data, field, study_data.people, 1)
    value, step = answers.value, answers.step
    places, apart, lacking, raters = [], [], 0, set[int]()
    for one, other in combinations(range(value.shape[1]), 2):
        same = (value[:, one] >= 0) & (value[:, one] == value[:, other])
        both = np.flatnonzero(same & (step[:, one] >= 0) & (step[:, other] >= 0))
        lacking += int(same.sum()) - len(both)
        places.append(both)
        apart.append(np.abs(step[both, one].astype(np.int64) - step[both, other]))
        raters |= {one, other} if len(both) else set()
    none = np.zeros(0, dtype=np.int64)
    return StepPairs(
        answers, np.concatenate([none, *places]), np.concatenate([none, *apart]), lacking, len(raters)
    )  # fmt: skip


def _n(pairs: StepPairs, place: Ints) -> SampleCounts:
    """The n of numbers over these places; what is missing are steps of pairs who gave the same answer."""
    field_places = pairs.answers.laid
    places = np.unique(place)
    every = len(pairs.place) + pairs.lacking
    reasons = {NO_STEP: pairs.lacking} if pairs.lacking else {}
    return SampleCounts(
        len(places), len(np.unique(field_places.unit[places])), len(np.unique(field_places.trace[places])),
        pairs.raters, pairs.lacking / every if every else 0.0, reasons,
    )  # fmt: skip


def _summed(at: npt.NDArray[np.signedinteger[Any]], weights: Floats, count: int) -> Floats:
    """(count): weights added up by where they belong."""
    return np.bincount(at, weights=weights, minlength=count).astype(np.float64)


# -- how near ----------------------------------------------------------------------------------------------------


def within(pairs: StepPairs, name: str, band: int) -> AdditiveStatistic:
    """The mean over places of the share of their pairs that are at most `band` steps apart."""
    field_places = pairs.answers.laid
    near = _summed(pairs.place, (pairs.apart <= band).astype(np.float64), len(field_places.places))
    of = _summed(pairs.place, np.ones(len(pairs.place)), len(field_places.places))
    return mean(ratio(near, of), field_places.trace, len(field_places.traces), name, 1.0)


def median_distance(pairs: StepPairs) -> AdditiveStatistic:
    """The median of how many steps two people are apart, each place with the same weight; of two middle ones the mean.

    Sums: the weight of each distance that came, by trace.
    """
    field_places = pairs.answers.laid
    distances, which = np.unique(pairs.apart, return_inverse=True)
    weight = 1 / np.bincount(pairs.place, minlength=len(field_places.places))[pairs.place]
    sums = np.zeros((len(field_places.traces), len(distances)))
    np.add.at(sums, (field_places.trace[pairs.place], which.reshape(-1)), weight)

    def of(sums: Floats) -> Floats:
        upto = np.cumsum(sums, axis=-1)
        half = upto[..., -1:] / 2
        low = (upto >= half - 1e-9).argmax(axis=-1)
        high = (upto > half + 1e-9).argmax(axis=-1)
        middle = (distances[low] + distances[high]) / 2
        return np.where(half[..., 0] > 0, middle, np.nan)

    places = len(np.unique(pairs.place))
    return AdditiveStatistic("median_distance", sums, of, lambda sums: NO_PAIR, None, 0.0, places)


# -- beyond chance -----------------------------------------------------------------------------------------------


def alpha_within_runs(pairs: StepPairs) -> tuple[AdditiveStatistic, Ints]:
    """Alpha of step numbers with chance within each run, and the places it is over: those of runs that have two.

    Observed is, as Krippendorff has it, the squared distance of each two answers of an item over one less than its
    answers; expected the same of each two answers of a run. Sums: both, by trace.
    """
    field_places = pairs.answers.laid
    place, steps = _groups(pairs)
    unit = field_places.unit[place].astype(np.int64)
    has_two = np.bincount(unit, minlength=int(unit.max(initial=0)) + 1)[unit] > 1
    place, steps, unit = place[has_two], steps[has_two], unit[has_two]
    units, at = np.unique(unit, return_inverse=True)
    of_unit = np.column_stack([_summed(at.reshape(-1), column, len(units)) for column in steps.T])
    traces = np.zeros(len(units), dtype=np.int32)
    traces[at.reshape(-1)] = field_places.trace[place]
    within = _summed(at.reshape(-1), _squared(steps), len(units))
    sums = over_traces(np.column_stack((within, _squared(of_unit))), traces, len(field_places.traces))

    def of(sums: Floats) -> Floats:
        return 1 - ratio(sums[..., 0], sums[..., 1], NOTHING)

    why = ONE_STEP if len(place) else ONE_ITEM
    places = len(np.unique(place))
    return AdditiveStatistic("alpha_within_runs", sums, of, lambda sums: why, places=places), place


def brennan_prediger(study_data: StudyData, pairs: StepPairs) -> tuple[AdditiveStatistic, Ints]:
    """1 less the squared distance of pairs over what it is where every place of the run is as likely; and the places it
    is over, those whose run is in the file.

    A run of n steps has n + 1 places, since an answer may rest on its end; of K places two at random are (K^2 - 1) / 6
    apart, squared, in the mean. Sums: the mean squared distance of each place's pairs, and that, by trace.
    """
    field_places, units = pairs.answers.laid, {unit.id: unit for unit in study_data.units}
    chance = np.full(len(field_places.places), np.nan)
    for place in np.unique(pairs.place).tolist():
        runs = units[field_places.places[place].unit].runs
        steps = _steps_of(study_data, runs[0]) if runs else None
        chance[place] = np.nan if steps is None else ((steps + 1) ** 2 - 1) / 6
    of = _summed(pairs.place, np.ones(len(pairs.place)), len(field_places.places))
    squared_distance = ratio(
        _summed(pairs.place, (pairs.apart * pairs.apart).astype(np.float64), len(field_places.places)), of
    )
    is_finite = ~np.isnan(chance) & ~np.isnan(squared_distance)
    sums = over_traces(
        np.column_stack((squared_distance, chance))[is_finite], field_places.trace[is_finite], len(field_places.traces)
    )

    def value(sums: Floats) -> Floats:
        return 1 - ratio(sums[..., 0], sums[..., 1], NOTHING)

    name = "brennan_prediger_of_steps"
    return AdditiveStatistic(name, sums, value, lambda sums: NO_RUN, places=int(is_finite.sum())), np.flatnonzero(
        is_finite
    )


def _steps_of(study_data: StudyData, run: str) -> int | None:
    """How many steps a run has, looked up once."""
    steps: int | None = study_data.once(("steps", run), lambda: study_data.further.steps(run))
    return steps


def _groups(pairs: StepPairs) -> tuple[Ints, Floats]:
    """Each answer at a place that two or more gave with a step: the place, and (groups x 3) how many gave it, the sum
    of their steps and of the squares."""
    value, step = pairs.answers.value, pairs.answers.step
    row, who = np.nonzero((value >= 0) & (step >= 0))
    key = row.astype(np.int64) * (int(value.max(initial=0)) + 1) + value[row, who]
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    step_numbers = step[row, who].astype(np.float64)
    moments = (np.ones(len(step_numbers)), step_numbers, step_numbers * step_numbers)
    steps = np.column_stack([_summed(group.reshape(-1), weights, len(first)) for weights in moments])
    several = steps[:, 0] > 1
    return row[first][several].astype(np.int64), steps[several]


def _squared(steps: Floats) -> Floats:
    """(groups): the squared distances of each two steps, both ways, over one less than there are; steps are counted,
    summed and squared as `_groups` has them."""
    n, total, squares = steps.T
    return np.asarray(2 * (n * squares - total * total) / np.maximum(n - 1, 1))
