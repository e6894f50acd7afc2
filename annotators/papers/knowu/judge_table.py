"""KnowU-Bench 4.3: distance of evaluators from experts. MAE against their mean, the scatter, and ICC of the experts.

Choices that the paper leaves open: the truth is the mean of all experts who rated a run. Evaluators are those of the
run itself (hybrid and rules alone, if its source or its checks give them), every judge in the study, and each judge's
hybrid: the weighted mean of its criteria, combined with the rules' score by the task's lambda (3.4). A difference of
two evaluators is over the runs that both scored, with both kinds of interval, because runs are few.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from annotators.agreement.coefficients.additive import AdditiveStatistic
from annotators.agreement.coefficients.numbers import alpha_numbers, icc, mae, mean
from annotators.agreement.intervals.estimates import as_agreement, sample_counts
from annotators.agreement.intervals.intervals import difference
from annotators.agreement.judges import mean_of
from annotators.agreement.ratings.fields import derived_numbers, numbers_of
from annotators.agreement.ratings.ratings import MissingAnswers, NumericRatings
from annotators.papers.cells import coefficient, few_runs_warning, undefined_number
from annotators.papers.field_answers import cases_of
from annotators.papers.knowu.runs import hybrid_of, rule_of
from annotators.papers.metrics import DEFAULTS
from annotators.study_data import StudyData
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.agreement import Agreement, IntervalTerms
from lab.core.study.report import Cell, Number, Point, Scatter, Section, Table
from lab.core.values.rounding import count

WHOLE, EACH = "task_score", "score"
_EXPERTS = "experts"
_NOT_SCORED = "not_scored"
"""Reason why an evaluator has no score of a run: its source or its rules give none."""
_SOURCE = "KnowU-Bench 4.3"

Mask = npt.NDArray[np.bool_]


class Evaluator(NamedTuple):
    """One evaluator beside the experts' mean: two columns over the runs that the experts rated."""

    name: str
    numbers: NumericRatings


def sections(study_data: StudyData) -> list[Section]:
    """Return each evaluator's distance from the experts, the scatter, and the experts' agreement."""
    experts = numbers_of(study_data, WHOLE)
    evaluator_list = evaluators(study_data, experts)
    cluster_count = len(experts.traces)
    runs = len(experts.places)
    by = count(len(experts.raters), "expert")
    says = [f"{runs:,} {'run was' if runs == 1 else 'runs were'} rated by {by}; their mean is the truth."]
    if not evaluator_list:
        says.append("No evaluator has scored these runs: none of them has a score by rules, and no judge rated here.")
    tables = [
        _errors(study_data, evaluator_list),
        _differences(study_data, evaluator_list),
        _agreement(study_data, experts),
    ]
    pictures = [_scatter(evaluator_list)] if any(_scored_mask(one).any() for one in evaluator_list) else []
    return [
        Section(
            "How far evaluators are from experts", (*says, *few_runs_warning(cluster_count)),
            tuple(table for table in tables if table.rows), tuple(pictures),
        )
    ]  # fmt: skip


def evaluators(study_data: StudyData, experts: NumericRatings) -> list[Evaluator]:
    """Return the evaluators that scored any of the runs that experts rated."""
    truth = mean_of(experts).values[:, 0]
    cases = cases_of(study_data)
    scores: dict[str, dict[str, float]] = {"hybrid": {}, "rules alone": {}}
    for unit, case in cases.items():
        for name, value in (("hybrid", hybrid_of(case, DEFAULTS).value), ("rules alone", rule_of(case, DEFAULTS))):
            if value is not None:
                scores[name][unit] = value
    for judge in study_data.judges:
        own = numbers_of(study_data, WHOLE, (judge,))
        name = study_data.columns.raters[judge].id
        scores[name] = {place.unit: float(own.values[at, 0]) for at, place in enumerate(own.places)}
        scores[f"hybrid, judged by {name}"] = _hybrid_by(study_data, cases, judge)
    rows = []
    for name, by_unit in scores.items():
        missing = _missing_scores(study_data, experts, name, by_unit)
        own_column = np.array([by_unit.get(place.unit, np.nan) for place in experts.places], dtype=np.float64)
        if not np.isnan(own_column).all():
            values = np.column_stack((truth, own_column))
            rows.append(Evaluator(name, experts._replace(values=values, raters=(_EXPERTS, name), missing=missing)))
    return rows


def _hybrid_by(study_data: StudyData, cases: Mapping[str, MeasuredRun], judge: int) -> dict[str, float]:
    """Return the hybrid score of each unit's run with a judge's rating of the rubric, if rules and lambda exist."""
    rubric = derived_numbers(study_data, "score", (judge,))
    scores: dict[str, float] = {}
    for place, score in zip(rubric.places, rubric.values[:, 0].tolist(), strict=True):
        case = cases.get(place.unit)
        if case is not None and score == score:
            value = hybrid_of(case._replace(marks={**case.marks, "llm": score}), DEFAULTS).value
            scores |= {place.unit: value} if value is not None else {}
    return scores


def _missing_scores(
    study_data: StudyData, experts: NumericRatings, name: str, scores: Mapping[str, float]
) -> MissingAnswers:
    """Return the runs that experts rated and an evaluator did not score, with a judge's own reasons."""
    judges = {study_data.columns.raters[one].id: one for one in study_data.judges}
    missing = numbers_of(study_data, WHOLE, (judges[name],)).missing.by_place() if name in judges else {}
    rows = [(place, missing.get(place, _NOT_SCORED)) for place in experts.places if place.unit not in scores]
    return MissingAnswers.one_each(rows, name, by_item=True)


def _scored_mask(one: Evaluator) -> Mask:
    return np.asarray(~np.isnan(one.numbers.values).any(axis=1))


# -- tables ----------------------------------------------------------------------------------------------------


def _errors(study_data: StudyData, evaluator_list: list[Evaluator]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in evaluator_list:
        between = f"{one.name} against the mean of experts"
        off = coefficient(study_data, mae(one.numbers), one.numbers, between=between)
        bias = coefficient(study_data, _bias(one.numbers), one.numbers, between=between)
        rows.append((one.name, Number(off, 3), Number(bias, 3), f"{off.places:,}"))
    columns = ("Evaluator", "MAE", "Mean error", "Runs")
    notes = ("Mean error is the evaluator's score minus the experts': above 0 it is kinder than they are.",)
    return Table("evaluators", "Error of evaluators", columns, tuple(rows), _SOURCE, notes)


def _bias(numbers: NumericRatings) -> AdditiveStatistic:
    in_both = ~np.isnan(numbers.values).any(axis=1)
    off = numbers.values[in_both, 1] - numbers.values[in_both, 0]
    return mean(off, numbers.trace[in_both], len(numbers.traces), "mean error")


def _differences(study_data: StudyData, evaluator_list: list[Evaluator]) -> Table:
    """Return the difference of MAE for each pair of evaluators, over the runs that both scored."""
    rows: list[tuple[Cell, ...]] = []
    jackknife = IntervalTerms(level=study_data.how.level)
    bootstrap = replace(study_data.how, interval="bootstrap")
    for one, other in combinations(evaluator_list, 2):
        in_both = _scored_mask(one) & _scored_mask(other)
        cells = [_difference(one, other, in_both, how) for how in (jackknife, bootstrap)]
        rows.append((f"{one.name} minus {other.name}", *(Number(cell, 3) for cell in cells), f"{int(in_both.sum()):,}"))
    columns = ("Difference of MAE", "Jackknife-t", "Bootstrap", "Runs")
    notes = (
        "Paired by run: both errors are of the same runs. Below 0 the first is nearer to the experts.",
        f"The bootstrap draws {bootstrap.resamples:,} times, seed {bootstrap.seed}.",
    )
    return Table("differences", "Evaluators against one another", columns, tuple(rows), _SOURCE, notes)


def _difference(one: Evaluator, other: Evaluator, in_both: Mask, how: IntervalTerms) -> Agreement:
    between = f"{one.name} minus {other.name}"
    if not in_both.any():
        return undefined_number(WHOLE, "difference of mae", "no run was scored by both", between=between)
    first, second = (mae(_select_places(each.numbers, in_both)) for each in (one, other))
    apart = other.numbers.missing.by_place() | one.numbers.missing.by_place()
    both = _select_places(one.numbers, in_both)._replace(missing=MissingAnswers.one_each(apart.items(), by_item=True))
    return as_agreement(
        difference(first, second, how),
        how,
        WHOLE,
        "difference of mae",
        between=between,
        **sample_counts(both)._asdict(),
    )


def _select_places(numbers: NumericRatings, mask: Mask) -> NumericRatings:
    """Return only these items, over the same clusters."""
    values = np.where(mask[:, None], numbers.values, np.nan)
    places = tuple(place for place, keep in zip(numbers.places, mask.tolist(), strict=True) if keep)
    return numbers._replace(values=values[mask], trace=numbers.trace[mask], places=places)


def _agreement(study_data: StudyData, experts: NumericRatings) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, numbers in (("the whole run", experts), ("each criterion", numbers_of(study_data, EACH))):
        if not numbers.places:
            continue
        agreements = [coefficient(study_data, one, numbers) for one in (icc(numbers, "A,1"), icc(numbers, "A,k"))]
        agreements.append(coefficient(study_data, alpha_numbers(numbers), numbers))
        rows.append(
            (name, *(Number(one, 3) for one in agreements), f"{agreements[0].places:,}", str(len(numbers.raters)))
        )
    columns = ("Rated", "ICC(A,1)", "ICC(A,k)", "alpha, interval", "Items", "Experts")
    notes = ("ICC(A,1) is how far one expert can be relied on, ICC(A,k) how far the mean of all of them.",)
    return Table("experts", "Agreement of the experts", columns, tuple(rows), notes=notes)


def _scatter(evaluator_list: list[Evaluator]) -> Scatter:
    points = [
        Point(float(one.numbers.values[at, 0]), float(one.numbers.values[at, 1]), one.numbers.places[at].unit, one.name)
        for one in evaluator_list
        for at in np.flatnonzero(_scored_mask(one)).tolist()
    ]
    title = "Evaluators against the mean of experts, run by run"
    return Scatter("evaluators-scatter", title, tuple(points), "mean of the experts", "the evaluator's score")
