"""Judges of information units beside people: by piece, and by the resulting rate (MemGUI-Bench A.11.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from annotators.agreement.coefficients import cohen_kappa, gwet_ac, percent
from annotators.agreement.fields import ratings_of, truth_and_rater, truth_of
from annotators.agreement.numbers import mae
from annotators.agreement.ratings import RatedItem, Ratings
from annotators.papers import cells
from annotators.papers.answer_arrays import AnswerRow, numbers_by
from annotators.papers.cells import UnitValue, average, coefficient, count, few_runs_warning
from annotators.papers.memgui.irr_rates import IRR, TYPES, USE, RunIrr, rated_of
from annotators.study_data import StudyData
from lab.core.report import Cell, Number, Section, Table

_SOURCE = "MemGUI-Bench A.6, Prompt 8"
_TYPES: Mapping[str, str] = {
    "success": "Success: 100 %", "explicit": "Written out: as used", "implicit": "Decision wrong: 0 %",
    "early": "Early failure: 0 %",
}  # fmt: skip


def judge_sections(
    study_data: StudyData, marks: Ratings, run_rates: Sequence[RunIrr], outcome_by_run: Mapping[str, bool | None]
) -> list[Section]:
    """Return each judge against the majority, its rate beside people's, and the rules behind the rates."""
    if not study_data.judges:
        return []
    by_judge = {judge: rated_of(study_data, outcome_by_run, (judge,))[0] for judge in study_data.judges}
    tables = (_against_people(study_data, marks, run_rates, by_judge), _types(study_data, run_rates, by_judge))
    return [Section("Judges of information units", tables=tables)]


def _against_people(
    study_data: StudyData, marks: Ratings, run_rates: Sequence[RunIrr], by_judge: Mapping[int, Sequence[RunIrr]]
) -> Table:
    truth = truth_of(study_data, marks)
    people = _means(run_rates)
    rows: list[tuple[Cell, ...]] = []
    for judge, own in by_judge.items():
        name = study_data.columns.raters[judge].shown
        between = f"{name} against most people"
        two_columns = truth_and_rater(truth, ratings_of(study_data, USE, (judge,)))
        kappa = coefficient(study_data, cohen_kappa(two_columns), two_columns, between=between)
        both = [one for one in own if one.unit.id in people]
        beside = numbers_by(IRR, ("people", name), [_rate_pair(one, people) for one in both])
        rows.append((
            name,
            cells.percent(coefficient(study_data, percent(two_columns), two_columns, between=between)),
            Number(kappa),
            Number(coefficient(study_data, gwet_ac(two_columns), two_columns, between=between)),
            count(kappa.places, USE, part=name, statistic="pieces"),
            _mean(study_data, name, [(one, one.irr) for one in own]),
            _mean(study_data, f"people where {name} has a rate", [(one, people[one.unit.id]) for one in both]),
            Number(coefficient(study_data, mae(beside), beside, between=f"{name} against people's mean"), 3),
            count(len(both), IRR, part=name, statistic="runs"),
        ))  # fmt: skip
    notes = (
        "The first run of each judge counts. Rates are worked out from its marks and the settled outcome, as people's "
        "are; it never types one.",
        *few_runs_warning(len(marks.traces)),
    )
    head = ("Judge", "Pieces agree", "Cohen's kappa", "AC1", "Pieces", "IRR", "People's IRR", "MAE", "Runs")
    return Table("memgui-irr-judges", "Judges against most people", head, tuple(rows), _SOURCE, notes)


def _rate_pair(one: RunIrr, people: Mapping[str, float]) -> AnswerRow:
    return AnswerRow(RatedItem(one.unit.id, ""), one.unit.clustered, (people[one.unit.id], one.irr))


def _means(run_rates: Sequence[RunIrr]) -> Mapping[str, float]:
    """Return the mean of the raters' rates by unit."""
    by_unit: dict[str, list[float]] = {}
    for one in run_rates:
        by_unit.setdefault(one.unit.id, []).append(one.irr)
    return {unit: float(np.mean(rates)) for unit, rates in by_unit.items()}


def _mean(study_data: StudyData, part: str, rates: Sequence[tuple[RunIrr, float]]) -> Number:
    items = [UnitValue(one.unit.id, one.unit.clustered, rate) for one, rate in rates]
    return cells.percent(
        average(study_data, items, IRR, "mean IRR", most=1.0, part=part, raters=1, why="no run has a rate")
    )


def _types(study_data: StudyData, run_rates: Sequence[RunIrr], by_judge: Mapping[int, Sequence[RunIrr]]) -> Table:
    """Return how many sheets fall under each of the four rules."""
    sheets = {"people": run_rates, **{study_data.columns.raters[judge].shown: own for judge, own in by_judge.items()}}
    rows: list[tuple[Cell, ...]] = []
    for name, own in sheets.items():
        counts = Counter(one.type for one in own)
        rows.append((name, *(count(counts[type], IRR, part=f"{name}, {type}") for type in TYPES)))
    head = ("By", *(_TYPES[type] for type in TYPES))
    return Table("memgui-irr-types", "Sheets by the rule that gave the rate", head, tuple(rows), _SOURCE)
