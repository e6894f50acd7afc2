"""Retention of information (MemGUI-Bench A.6, Prompt 8): IRR from each rater's marks, and agreement of raters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from annotators.agreement.coefficients.categorical import cohen_kappa, gwet_ac, krippendorff_alpha, percent
from annotators.agreement.coefficients.numbers import alpha_numbers, icc, mae
from annotators.agreement.ratings.answers import NOT_HANDED_IN
from annotators.agreement.ratings.derivations import NOTHING_FOLLOWS
from annotators.agreement.ratings.fields import ratings_of, truth_and_rater, truth_of
from annotators.agreement.ratings.ratings import NumericRatings, RatedItem, Ratings
from annotators.papers import cells
from annotators.papers.answer_arrays import AnswerRow, numbers_by, ratings_by
from annotators.papers.cells import UnitValue, average, coefficient, column_bars, count, few_runs_warning
from annotators.papers.field_answers import answers_in, cases_of, success_by_run
from annotators.papers.memgui.irr_rates import IRR, TYPES, USE, RunIrr, rated_of
from annotators.study_data import StudyData
from annotators.units.pairs import units_by_method
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.report import Cell, Number, Section, Table
from lab.core.task.design import Revision, subject_of

_SOURCE = "MemGUI-Bench A.6, Prompt 8"


def sections(study_data: StudyData) -> list[Section]:
    """Return IRR by agent, its agreement, and the agreement on the lists of information units."""
    cases = cases_of(study_data)
    outcome_by_run = success_by_run(study_data, cases.values())
    run_rates, left_out = rated_of(study_data, outcome_by_run)
    marks = ratings_of(study_data, USE)
    if not (marks.codes >= 0).any():
        return [Section("Information retention", ("Nobody has handed in a mark yet.",))]
    by_agent = _by_agent(study_data, run_rates, cases)
    first = Section("Information retention", _left_out_words(left_out), (by_agent,), column_bars(by_agent, "IRR"))
    second = Section("Agreement on information retention", tables=(_agreement(study_data, marks, run_rates),))
    third = _lists(study_data, cases)
    judges = judge_sections(study_data, marks, run_rates, outcome_by_run)
    return [first, second, *judges, *((third,) if third else ())]


def _left_out_words(left_out: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(f"{n} sheet{'' if n == 1 else 's'} left out, {why}." for why, n in sorted(left_out.items()))


# -- the rate --------------------------------------------------------------------------------------------------


def _by_agent(study_data: StudyData, run_rates: Sequence[RunIrr], cases: Mapping[str, MeasuredRun]) -> Table:
    """Return the mean rate over runs (each the mean of its raters), with the number of runs."""
    rows: list[tuple[Cell, ...]] = []
    for name, units in [*units_by_method(cases).items(), ("All", {one.unit.id for one in run_rates})]:
        some = [one for one in run_rates if one.unit.id in units]
        runs = count(len({one.unit.id for one in some}), IRR, part=name)
        marked = _mean(study_data, some, name, as_marked=True)
        rows.append((name, _mean(study_data, some, name), runs, marked))
    notes = (
        "IRR is worked out, never typed. A run that succeeded has 100 %. A run that failed has its written-out pieces "
        'marked "used correctly" over all of its pieces: a piece that only steers a decision counts as not retained '
        "there, even if it is marked so (Prompt 8: nobody can see which one the wrong decision got wrong).",
        'IRR as marked: pieces marked "used correctly" over all pieces, whatever the outcome and the kind of a piece '
        "(the paper's formula in its section on metrics).",
        "Rounded once, half up, at the table; a run's own rate is not rounded to an integer before, as the paper's "
        "prompt asks and its text does not do.",
        "A run beyond its budget counts as it is; the paper's constrained setting, where it is 0 %, is another.",
        "The paper has 39.5 % for Agent-S2, 39.3 % for M3A, 29.6 % for T3A over its memory tasks (Table 11).",
        *few_runs_warning(len({one.unit.clustered for one in run_rates})),
    )
    head = ("Agent", "IRR", "Runs", "IRR as marked")
    return Table("memgui-irr", "Information retention rate", head, tuple(rows), _SOURCE, notes)


def _mean(study_data: StudyData, run_rates: Iterable[RunIrr], part: str, *, as_marked: bool = False) -> Number:
    by_unit: dict[str, list[RunIrr]] = {}
    for one in run_rates:
        by_unit.setdefault(one.unit.id, []).append(one)
    items = [
        UnitValue(id, them[0].unit.clustered, float(np.mean([one.as_marked if as_marked else one.irr for one in them])))
        for id, them in by_unit.items()
    ]
    raters = len({one.rater for them in by_unit.values() for one in them})
    why, name = "no run has a rate", "mean IRR as marked" if as_marked else "mean IRR"
    return cells.percent(average(study_data, items, IRR, name, most=1.0, part=part, raters=raters, why=why))


# -- agreement -------------------------------------------------------------------------------------------------


def _agreement(study_data: StudyData, marks: Ratings, run_rates: Sequence[RunIrr]) -> Table:
    types = types_of(study_data, run_rates)
    rates = rates_of(study_data, run_rates)
    failed = rates_of(study_data, [one for one in run_rates if one.type != "success"])
    marked = rates_of(study_data, [one._replace(irr=one.as_marked) for one in run_rates])
    rows: tuple[tuple[Cell, ...], ...] = (
        _nominal(study_data, "what became of each piece", marks),
        _nominal(study_data, "case type (by rule)", types),
        ("IRR", *("",) * 3, Number(coefficient(study_data, icc(rates, "A,1"), rates))),
        ("IRR, failed runs", *("",) * 3, Number(coefficient(study_data, icc(failed, "A,1"), failed, part="failed"))),
        ("IRR as marked", *("",) * 3, Number(coefficient(study_data, icc(marked, "A,1"), marked, part="as marked"))),
    )
    notes = (
        "IRR of all runs includes those that succeeded, whose rate is fixed at 100 % for all raters: they raise the "
        "agreement. The row of failed runs leaves them out.",
        "Alpha is nominal; intervals are over runs. Case type: success, written out, decision, early failure.",
        "Success comes from the settled outcome and is the same for all raters, so case type can differ only in "
        "whether anything was used.",
        *few_runs_warning(len(marks.traces)),
    )
    head = ("", "Alpha", "AC1", "Pairs agree", "ICC(A,1)")
    return Table("memgui-irr-agreement", "Agreement of raters", head, rows, _SOURCE, notes)


def _nominal(study_data: StudyData, says: str, of: Ratings) -> tuple[Cell, ...]:
    return (
        says,
        Number(coefficient(study_data, krippendorff_alpha(of), of)),
        Number(coefficient(study_data, gwet_ac(of), of)),
        cells.percent(coefficient(study_data, percent(of), of)),
        "",
    )


def types_of(study_data: StudyData, run_rates: Sequence[RunIrr]) -> Ratings:
    """Return the case types as a field's ratings: runs by raters."""
    raters = _raters(study_data, run_rates)
    types = {(one.unit.id, one.rater): one.type for one in run_rates}
    return ratings_by("case type", TYPES, _names(study_data, raters), _rows(study_data, run_rates, raters, types))


def rates_of(study_data: StudyData, run_rates: Sequence[RunIrr]) -> NumericRatings:
    """Return the rates as numbers: runs by raters."""
    raters = _raters(study_data, run_rates)
    rates = {(one.unit.id, one.rater): one.irr for one in run_rates}
    return numbers_by(IRR, _names(study_data, raters), _rows(study_data, run_rates, raters, rates))


def _rows(
    study_data: StudyData,
    run_rates: Sequence[RunIrr],
    raters: Sequence[int],
    rates: Mapping[tuple[str, int], float | str],
) -> list[AnswerRow]:
    """Return rows of runs by raters.

    A rater who left a piece of a run open has the reason that no rate follows.
    """
    units = {one.unit.id: one.unit for one in run_rates}
    sheets = {(one.unit, one.rater) for one in answers_in(study_data, USE)}
    why = {id: [NOTHING_FOLLOWS if (id, i) in sheets else NOT_HANDED_IN for i in raters] for id in units}
    return [
        AnswerRow(RatedItem(id, ""), unit.clustered, [rates.get((id, i)) for i in raters], why[id])
        for id, unit in units.items()
    ]


def _raters(study_data: StudyData, run_rates: Sequence[RunIrr]) -> list[int]:
    return [i for i in study_data.people if any(one.rater == i for one in run_rates)]


def _names(study_data: StudyData, raters: Sequence[int]) -> list[str]:
    return [study_data.columns.raters[i].id for i in raters]


# -- the lists of information units ----------------------------------------------------------------------------


def _lists(study_data: StudyData, cases: Mapping[str, MeasuredRun]) -> Section | None:
    """Return the number of units of each task's design when first submitted, and when verified by another expert."""
    subjects = {subject_of(case.task): None for case in cases.values()}
    pairs = [(subject, pair) for subject in subjects if (pair := _unit_counts(study_data.further.designed(subject)))]
    title = "The lists of information units"
    if not pairs:
        return None
    traces = tuple(f"{subject.task} {subject.asked}" for subject, _ in pairs)
    rows = [AnswerRow(RatedItem(name, ""), name, pair) for name, (_, pair) in zip(traces, pairs, strict=True)]
    counts = numbers_by("information units", ("first draft", "verified"), rows)
    change_items = [
        UnitValue(name, name, float(one != other)) for name, (_, (one, other)) in zip(traces, pairs, strict=True)
    ]
    row: tuple[Cell, ...] = (
        "units per task",
        count(len(pairs), "information units", part="tasks"),
        Number(coefficient(study_data, alpha_numbers(counts, "ratio"), counts)),
        cells.percent(cells.share(study_data, change_items, "information units", "share changed", raters=2)),
    )
    notes = (
        "As first submitted by the one who drafted it, beside as another person verified it; clusters are tasks.",
        *few_runs_warning(len(pairs), "tasks"),
    )
    head = ("", "Tasks", "Alpha (ratio)", "Number changed")
    return Section(title, tables=(Table("memgui-unit-lists", title, head, (row,), "MemGUI-Bench Prompt 8", notes),))


def _unit_counts(history: Sequence[Revision]) -> tuple[int, int] | None:
    """Return the numbers of units at the first version's first submission and at its verification, if verified."""
    first = next((one for one in history if one.act == "submit"), None)
    if first is None:
        return None
    last = next((one for one in history if one.act == "verify" and one.version == first.version), None)
    if last is None or not (first.design.units or last.design.units):
        return None
    return len(first.design.units), len(last.design.units)


_JUDGE_SOURCE = "MemGUI-Bench A.6, Prompt 8"
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
        name = study_data.columns.raters[judge].display_name
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
            _mean_rate(study_data, name, [(one, one.irr) for one in own]),
            _mean_rate(study_data, f"people where {name} has a rate", [(one, people[one.unit.id]) for one in both]),
            Number(coefficient(study_data, mae(beside), beside, between=f"{name} against people's mean"), 3),
            count(len(both), IRR, part=name, statistic="runs"),
        ))  # fmt: skip
    notes = (
        "The first run of each judge counts. Rates are worked out from its marks and the settled outcome, as people's "
        "are; it never types one.",
        *few_runs_warning(len(marks.traces)),
    )
    head = ("Judge", "Pieces agree", "Cohen's kappa", "AC1", "Pieces", "IRR", "People's IRR", "MAE", "Runs")
    return Table("memgui-irr-judges", "Judges against most people", head, tuple(rows), _JUDGE_SOURCE, notes)


def _rate_pair(one: RunIrr, people: Mapping[str, float]) -> AnswerRow:
    return AnswerRow(RatedItem(one.unit.id, ""), one.unit.clustered, (people[one.unit.id], one.irr))


def _means(run_rates: Sequence[RunIrr]) -> Mapping[str, float]:
    """Return the mean of the raters' rates by unit."""
    by_unit: dict[str, list[float]] = {}
    for one in run_rates:
        by_unit.setdefault(one.unit.id, []).append(one.irr)
    return {unit: float(np.mean(rates)) for unit, rates in by_unit.items()}


def _mean_rate(study_data: StudyData, part: str, rates: Sequence[tuple[RunIrr, float]]) -> Number:
    items = [UnitValue(one.unit.id, one.unit.clustered, rate) for one, rate in rates]
    return cells.percent(
        average(study_data, items, IRR, "mean IRR", most=1.0, part=part, raters=1, why="no run has a rate")
    )


def _types(study_data: StudyData, run_rates: Sequence[RunIrr], by_judge: Mapping[int, Sequence[RunIrr]]) -> Table:
    """Return how many sheets fall under each of the four rules."""
    sheets = {
        "people": run_rates,
        **{study_data.columns.raters[judge].display_name: own for judge, own in by_judge.items()},
    }
    rows: list[tuple[Cell, ...]] = []
    for name, own in sheets.items():
        counts = Counter(one.type for one in own)
        rows.append((name, *(count(counts[type], IRR, part=f"{name}, {type}") for type in TYPES)))
    head = ("By", *(_TYPES[type] for type in TYPES))
    return Table("memgui-irr-types", "Sheets by the rule that gave the rate", head, tuple(rows), _JUDGE_SOURCE)
