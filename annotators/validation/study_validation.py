"""A study's judges against its people, field by field: all numbers that show how far a judge can be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotators.agreement.coefficients.additive import AdditiveStatistic, Estimate, ratio, totals_by_trace
from annotators.agreement.coefficients.categorical import cohen_kappa, fleiss_kappa, percent_exact
from annotators.agreement.coefficients.counts import answer_counts, category_counts, rated_twice, why_not_comparable
from annotators.agreement.coefficients.judge_accuracy import judge_statistic
from annotators.agreement.intervals.intervals import estimate, estimates, minus
from annotators.agreement.ratings.fields import join_columns
from annotators.agreement.ratings.ratings import Floats, Ratings
from annotators.study_data import StudyData
from annotators.validation.active_order import ActiveOrder, labelled_probability, order_in, weights_of
from annotators.validation.alternative_annotator import (
    AlternativeAnnotatorTest,
    alternative_annotator_test,
    numbers_of_codes,
)
from annotators.validation.biases import (
    FIRST,
    NONE,
    SECOND,
    TIE,
    PositionBias,
    SelfPreference,
    VerbosityBias,
    position_bias,
)
from annotators.validation.judge_config import judge_configs
from annotators.validation.judged_ratings import JudgedRatings, judged_ratings
from annotators.validation.prediction_powered import CorrectedEstimate, corrected_estimate, labelled_units
from annotators.validation.rates import Validation, validation
from annotators.validation.study_agents import AgentDifference, agent_differences, by_length, own_family
from annotators.validation.truth import majority_of_others, truth_and_other
from lab.core.study.agreement import IntervalTerms
from lab.core.study.label import Act
from lab.core.study.protocol import Field

_MOST_SLICES = 8
"""Maximum slices of a criterion. More are too small to say anything."""
_SIDES = {"A": FIRST, "B": SECOND, "tie": TIE}


class SheetCost(NamedTuple):
    """Cost in US dollars per sheet and per answer: means over `sheets` with a known cost, and over their `answers`."""

    mean: float
    sheets: int
    answer: float | None
    answers: int


class JudgedField(NamedTuple):
    """One judge at one field: against settled answers, against each person, against itself, and corrected rates.

    `corrected` are pairs (category, estimate) of the category's share among all items that the judge answered.
    """

    judge: str
    field: Field
    validation: Validation
    persons: Sequence[PersonComparison]
    alternative: AlternativeAnnotatorTest | None
    consistency: SelfConsistency | None
    position: PositionBias | None
    corrected: Sequence[tuple[str, CorrectedEstimate]]
    sheet_cost: SheetCost | None
    order: ActiveOrder | None = None
    """Order of labelling if it followed judges' doubt. Rates and corrected shares are then weighted."""
    agents: Sequence[tuple[str, AgentDifference]] = ()
    """Pairs (category, difference of two agents), for the reported categories."""
    family: Sequence[tuple[str, SelfPreference]] = ()
    length: VerbosityBias | None = None


def judged_fields(study_data: StudyData, judge: str = "") -> Iterator[JudgedField]:
    """Yield each judge (or the named one) at each categorical field that it answered, in order.

    Each option of a field of many options is a field by itself.
    """
    for at in study_data.judges:
        name = study_data.columns.raters[at].id
        if not judge or name == judge:
            yield from (_judged_field(study_data, one, name) for one in judged_ratings(study_data, at))


def _judged_field(study_data: StudyData, these: JudgedRatings, name: str) -> JudgedField:
    field, judge_ratings, runs, people, truth = these
    how = IntervalTerms("bootstrap", level=study_data.how.level, seed=study_data.how.seed)
    two = join_columns(truth, judge_ratings)
    order = order_in(study_data.acts)
    weights = (
        weights_of(order, [place.unit for place in two.places], np.asarray(two.is_given.all(axis=1))) if order else None
    )
    rates = validation(two, slices=_slices(study_data), how=how, weights=weights)
    pair_count = int(two.is_given.all(axis=1).sum())
    # `two` covers the truth's places alone, so places without a truth are counted from the judge's answers.
    judge_confusion = rates.confusion._replace(unsettled=int(judge_ratings.is_given.sum()) - pair_count)
    both = join_columns(people, judge_ratings)
    judge_codes = both.codes[:, -1]
    several = len(people.raters) > 1
    return JudgedField(
        name,
        field,
        rates._replace(confusion=judge_confusion),
        compare_with_persons(people, judge_codes, how) if several else (),
        _alternative(people, judge_codes, field) if several else None,
        self_consistency(runs, how) if len(runs.raters) > 1 else None,
        _position(runs) if field.sided and _swaps_sides(study_data.acts, name) else None,
        list(corrected_shares(judge_ratings, truth, order)),
        _sheet_cost(study_data, name),
        order,
        *_agent_biases(study_data, name, judge_ratings, truth, order, how),
    )


def _agent_biases(
    study_data: StudyData,
    name: str,
    judge_ratings: Ratings,
    truth: Ratings,
    order: ActiveOrder | None,
    how: IntervalTerms,
) -> tuple[Sequence[tuple[str, AgentDifference]], Sequence[tuple[str, SelfPreference]], VerbosityBias | None]:
    """Return differences of agents, bias to the own family and bias to the longer side, as far as they are known."""
    settled_codes = join_columns(judge_ratings, truth).codes[:, -1]
    categories = reported_categories(judge_ratings.categories)
    if not (settled_codes >= 0).any():
        return (), (), None
    agents = [
        (category, one)
        for category in categories
        for one in agent_differences(study_data, judge_ratings, settled_codes, category, order)
    ]
    family = [
        (category, one)
        for category in categories
        if (one := own_family(study_data, name, judge_ratings, settled_codes, category, IntervalTerms(level=how.level)))
        is not None
    ]
    sided = any(
        category in _SIDES for category in judge_ratings.categories[:2]
    ) and study_data.study.protocol.unit.startswith("pair")
    return (
        agents,
        family,
        by_length(study_data, judge_ratings, settled_codes, _SIDES, IntervalTerms(level=how.level)) if sided else None,
    )


def reported_categories(categories: tuple[str, ...]) -> tuple[str, ...]:
    """Return the categories to report: of two the positive one (`yes`, else the first), else all."""
    if len(categories) != 2:
        return categories
    return ("yes",) if "yes" in categories else categories[:1]


def _alternative(people: Ratings, judge: np.ndarray, field: Field) -> AlternativeAnnotatorTest:
    codes = numbers_of_codes(people._replace(codes=np.column_stack((people.codes, judge))))
    alignment = "rmse" if field.kind == "ordinal" and people.scores is not None else "accuracy"
    return alternative_annotator_test(codes[:, -1], codes[:, :-1], people.raters, alignment)  # type: ignore[arg-type]


def corrected_shares(
    judge_ratings: Ratings, truth: Ratings, order: ActiveOrder | None = None, level: float = 0.95
) -> Iterator[tuple[str, CorrectedEstimate]]:
    """Yield the share of each reported category among all that the judge answered, corrected by settled answers.

    `judge_ratings` is the judge's column, `truth` the settled answers. If people labelled in an `order`, labels have
    inverse probabilities as weights.
    """
    settled_codes = join_columns(judge_ratings, truth).codes[:, -1]
    has_answer = judge_ratings.codes[:, 0] >= 0
    categories = reported_categories(judge_ratings.categories)
    if not has_answer.any() or not (settled_codes[has_answer] >= 0).any():
        return
    likely = None
    if order is not None:
        units = [judge_ratings.places[at].unit for at in np.flatnonzero(has_answer).tolist()]
        there = settled_codes[has_answer] >= 0
        likely = labelled_probability(order, units, {unit for unit, is_so in zip(units, there, strict=True) if is_so})
    for category in categories:
        code = judge_ratings.categories.index(category)
        judge = (judge_ratings.codes[has_answer, 0] == code).astype(np.float64)
        people = np.where(
            settled_codes[has_answer] >= 0, (settled_codes[has_answer] == code).astype(np.float64), np.nan
        )
        yield (
            category,
            corrected_estimate(
                labelled_units(judge, people, likely, _renumber(judge_ratings.trace[has_answer])), level
            ),
        )


def _renumber(trace: np.ndarray) -> np.ndarray:
    """Return clusters as numbers from 0 without gaps."""
    numbers: np.ndarray = np.unique(trace, return_inverse=True)[1]
    return numbers


def _slices(study_data: StudyData) -> Mapping[str, Mapping[str, str]]:
    """Return slices of units by kind of task, by traits of the task (difficulty, app ...), and by length."""
    slices: dict[str, dict[str, str]] = {}
    lengths: dict[str, int] = {}
    for unit in study_data.units:
        case = study_data.case(unit.runs[0]) if unit.runs else None
        if case is None:
            continue
        lengths[unit.id] = len(case.steps)
        for criterion, name in {"task": case.task.kind, **case.task.traits}.items():
            slices.setdefault(criterion, {})[unit.id] = str(name)
    if lengths:
        middle = float(np.median(list(lengths.values())))
        words = (f"up to {middle:g} steps", "longer")
        slices["length"] = {unit: words[steps > middle] for unit, steps in lengths.items()}
    # A single slice is the study itself.
    return {criterion: names for criterion, names in slices.items() if 1 < len(set(names.values())) <= _MOST_SLICES}


def _position(runs: Ratings) -> PositionBias:
    """Return position bias from the first run, in which A is first, and the second, in which B is."""
    sides = np.array([_SIDES.get(name, NONE) for name in runs.categories] + [NONE], dtype=np.int32)
    swapped_sides = np.array([{FIRST: SECOND, SECOND: FIRST}.get(side, side) for side in sides], dtype=np.int32)
    return position_bias(sides[runs.codes[:, 0]], swapped_sides[runs.codes[:, 1]], _renumber(runs.trace))


def _swaps_sides(acts: Sequence[Act], judge: str) -> bool:
    """Return True if a judge's configuration swaps sides in every second run."""
    return any(config.get("swaps") is True for config in judge_configs(acts, judge))


def _sheet_cost(study_data: StudyData, judge: str) -> SheetCost | None:
    units = {unit.id for unit in study_data.units}
    every = study_data.further.costs().items()
    costs = {
        (unit, run): cost for (unit, kind, id, run), cost in every if (kind, id) == ("model", judge) and unit in units
    }
    if not costs:
        return None
    columns = study_data.columns
    own = [at for at in study_data.judges if columns.raters[at].id == judge]
    rows = np.flatnonzero(np.isin(columns.rater, own))
    sheets = zip(columns.unit[rows].tolist(), columns.run[rows].tolist(), strict=True)
    answers = sum((columns.units[unit], run) in costs for unit, run in sheets)
    total = sum(costs.values())
    return SheetCost(total / len(costs), len(costs), total / answers if answers else None, answers)


class SelfConsistency(NamedTuple):
    """A judge's agreement with itself over its runs.

    `identical` is the share of items that all runs answered alike. `kappa` is Fleiss' over runs. `entropy` is the mean
    entropy of the runs' answers per item, in bits. `items` were answered by at least two runs.
    """

    identical: Estimate
    kappa: Estimate
    entropy: Estimate
    items: int


def self_consistency(
    runs: Ratings,
    how: IntervalTerms = IntervalTerms("bootstrap"),  # noqa: B008  # frozen
) -> SelfConsistency:
    """Return the self-consistency of a judge's runs (`codes`: places x runs).

    The interval of kappa follows `how`. The others have Wilson's if each cluster has one item, else the jackknife-t.
    """
    plain = IntervalTerms(level=how.level)
    return SelfConsistency(
        estimate(percent_exact(runs), plain), estimate(fleiss_kappa(runs), how), estimate(mean_entropy(runs), plain),
        int(rated_twice(runs).sum()),
    )  # fmt: skip


def entropy(runs: Ratings) -> Floats:
    """Return the entropy of the runs' answers in bits (places), nan if fewer than two runs answered."""
    tally = category_counts(runs)
    shares = tally / np.maximum(answer_counts(tally), 1)[:, None]
    bits = -(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1)
    # Adding 0.0 turns -0.0 into 0.0.
    return np.where(rated_twice(runs), bits + 0.0, np.nan)


def mean_entropy(runs: Ratings) -> AdditiveStatistic:
    """Return the mean of `entropy` over places that at least two runs answered."""
    each = entropy(runs)
    there = np.isfinite(each)
    columns = np.column_stack((np.where(there, each, 0.0), there)).astype(np.float64)
    why = why_not_comparable(runs)
    return AdditiveStatistic(
        "entropy", totals_by_trace(columns, runs.trace, len(runs.traces)),
        lambda sums: ratio(sums[..., 0], sums[..., 1]), lambda sums: why, None, 0.0, int(there.sum()),
    )  # fmt: skip


class PersonComparison(NamedTuple):
    """A judge and one person, each against the majority of the other people, over the items that both answered.

    `agreement` is the share of equal answers of judge and person, without a truth. Accuracies and kappas are against
    the others' majority. `ahead` and `kappa_ahead` are the judge's minus the person's, paired over clusters.
    """

    person: str
    items: int
    agreement: Estimate
    judge: Estimate
    own: Estimate
    judge_kappa: Estimate
    own_kappa: Estimate
    ahead: Estimate
    kappa_ahead: Estimate


def compare_with_persons(
    people: Ratings,
    judge: npt.ArrayLike,
    how: IntervalTerms = IntervalTerms("bootstrap"),  # noqa: B008  # frozen
) -> list[PersonComparison]:
    """Return the comparison of the judge with each person. Differences follow `how`, by default the paired bootstrap.

    `people` (places x raters) and `judge` (places) are codes of the same categories, -1 if missing. No person is
    compared with a majority that includes them, and the judge is compared with the same one
    (`truth.majority_of_others`). Raise `ValueError` if the judge is not of these places.
    """
    codes = np.asarray(judge, np.int16)
    others = majority_of_others(people)
    has_others = (others >= 0) & (codes[:, None] >= 0) & people.is_given
    own = [_statistics(people, codes, column, np.where(has_others, others, -1)) for column in range(len(people.raters))]
    plain = IntervalTerms(level=how.level)
    apart = iter(estimates([one for _, differences in own for one in differences], how))
    comparisons = []
    for column, name in enumerate(people.raters):
        together, right, also, kappa, other = (estimate(one, plain) for one in own[column][0])
        comparisons.append(
            PersonComparison(
                name, int(has_others[:, column].sum()), together, right, also, kappa, other, next(apart), next(apart)
            )
        )
    return comparisons


def _statistics(
    people: Ratings, judge: npt.NDArray[np.int16], column: int, others: npt.NDArray[np.int16]
) -> tuple[list[AdditiveStatistic], list[AdditiveStatistic]]:
    """Return one person's statistics and differences, in the order of `PersonComparison`."""
    own, truth = people.codes[:, column], others[:, column]
    theirs, mine = truth_and_other(people, truth, judge), truth_and_other(people, truth, own, people.raters[column])
    right, also = judge_statistic(theirs, "accuracy", ""), judge_statistic(mine, "accuracy", "")
    kappa, other = cohen_kappa(theirs), cohen_kappa(mine)
    together = judge_statistic(truth_and_other(people, own, judge), "accuracy", "")
    return [together, right, also, kappa, other], [minus(right, also), minus(kappa, other)]
