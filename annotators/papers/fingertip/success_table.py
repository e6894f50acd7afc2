"""SR2 by people (FingerTip 20K 5.1): the share of runs that reached their goal, by two checkers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotators.agreement.coefficients.categorical import cohen_kappa, fleiss_kappa, gwet_ac, percent
from annotators.agreement.ratings.fields import ratings_of
from annotators.agreement.ratings.ratings import Ratings
from annotators.papers import cells
from annotators.papers.cells import (
    UnitValue,
    coefficient,
    column_bars,
    count,
    few_runs_warning,
    share,
    share_of_independent,
)
from annotators.papers.field_answers import Truth, asked_units, cases_of, truths, unsettled_counts
from annotators.papers.fingertip.tracks import MOST
from annotators.study_data import StudyData
from annotators.units.pairs import units_by_method
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.report import Cell, Number, Section, Table

OUTCOME = "outcome"


def sections(study_data: StudyData) -> list[Section]:
    """Return the table for FingerTip's runs, or for a study with a limit of golden steps, else nothing."""
    cases = cases_of(study_data)
    ruled_units = {unit.id for unit in asked_units(study_data) if any(one.field == OUTCOME for one in unit.mechanical)}
    if not ruled_units and not any(
        case.source and case.source.format.startswith("fingertip") for case in cases.values()
    ):
        return []
    truth_by_place = truths(study_data, OUTCOME)
    if not truth_by_place:
        return [Section("Personalised execution", ("Nothing is settled about any of these runs yet.",))]
    sr2 = _success(study_data, cases, truth_by_place)
    return [Section("Personalised execution", (), (sr2, _checkers(study_data)), column_bars(sr2, "SR2"))]


def _success(
    study_data: StudyData, cases: Mapping[str, MeasuredRun], truth_by_place: Mapping[tuple[str, str], Truth]
) -> Table:
    parts = [(agent, [unit for unit in cases if unit in own]) for agent, own in units_by_method(cases).items()]
    parts.append(("All", [unit.id for unit in asked_units(study_data)]))
    rows = tuple(_row(study_data, name, units, cases, truth_by_place) for name, units in parts)
    open_ = sum((unit.id, "") not in truth_by_place for unit in asked_units(study_data))
    notes = (
        f"A run of more than {MOST:g} times the golden steps has failed by rule, and nobody is asked about it.",
        "A task that checkers settle to be impossible counts as not reached.",
        *((f"{open_} {'run is' if open_ == 1 else 'runs are'} not settled and left out.",) if open_ else ()),
        "The paper's own range from 1.0 to 38.5 % over models, 200 runs each (Table 4); who checked is not said.",
        *few_runs_warning(len(truth_by_place)),
    )
    head = ("Model", "SR2", "SR2, by user", "Runs", "Failed by rule")
    return Table("fingertip-sr2", "Success as checked by hand", head, rows, "FingerTip 20K 5.1, Table 4", notes)


def _row(
    study_data: StudyData, name: str, units: Sequence[str], cases: Mapping[str, MeasuredRun],
    truth_by_place: Mapping[tuple[str, str], Truth],
) -> tuple[Cell, ...]:  # fmt: skip
    unit_truths = [(unit, truth_by_place[unit, ""]) for unit in units if (unit, "") in truth_by_place]
    right = sum(one.value == "success" for _, one in unit_truths)
    items = [UnitValue(unit, _user(cases.get(unit), unit), float(one.value == "success")) for unit, one in unit_truths]
    rule_count = sum(one.by == "rule" for _, one in unit_truths)
    left_out = unsettled_counts(study_data, OUTCOME, set(units))
    return (
        name,
        cells.percent(
            share_of_independent(
                study_data,
                right,
                len(unit_truths),
                OUTCOME,
                "SR2",
                part=name,
                units={unit for unit, _ in unit_truths},
                left_out=left_out,
            )
        ),
        cells.percent(share(study_data, items, OUTCOME, "SR2", part=f"{name}, clustered by user", left_out=left_out)),
        count(len(unit_truths), OUTCOME, part=name),
        count(rule_count, OUTCOME, part=f"{name}, by rule"),
    )


def _user(case: MeasuredRun | None, unit: str) -> str:
    return (case.persona_id if case is not None else "") or unit


def _checkers(study_data: StudyData) -> Table:
    people: Ratings = ratings_of(study_data, OUTCOME)
    chance, name = (cohen_kappa, "Cohen's kappa") if len(people.raters) == 2 else (fleiss_kappa, "Fleiss' kappa")
    row: tuple[Cell, ...] = (
        "outcome",
        cells.percent(coefficient(study_data, percent(people), people)),
        Number(coefficient(study_data, chance(people), people)),
        Number(coefficient(study_data, gwet_ac(people), people)),
    )
    notes = ("Runs that a rule decided are not in it.", *few_runs_warning(len(people.traces)))
    return Table("fingertip-checkers", "The checkers", ("", "Agree", name, "AC1"), (row,), "FingerTip 20K 5.1", notes)
