"""The dataset and its proofreading (DAC-Bench 2.4, 2.5): counts, structure, types of action, edits, agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from annotators.agreement.coefficients import gwet_ac, krippendorff_alpha, percent
from annotators.agreement.fields import ratings_of
from annotators.papers import cells
from annotators.papers.cells import UnitValue, average, coefficient, count, few_runs_warning, share_of_independent
from annotators.papers.dac.actions import comparable_action
from annotators.papers.dac.double_demonstrations import doubles, gave_up
from annotators.papers.dac.proofreading_table import rates, sheet_reviews
from annotators.papers.field_answers import answers_in, asked_units, cases_of, truths
from annotators.study_data import StudyData
from lab.core.measured_run import MeasuredRun, MeasuredStep
from lab.core.report import Cell, Number, Section, Table

STRUCTURES = ("Sequential", "Conjunctive", "Conditional", "Hierarchical")
TYPES: Mapping[str, str] = {
    "click": "Click", "scroll": "Scroll", "type": "Type", "navigate_home": "Navigate Home",
    "navigate_back": "Navigate Previous", "long_press": "Long Press", "complete": "Complete",
}  # fmt: skip
"""The predefined set of 2.4, by our names."""
_SOURCE = "DAC-Bench 2.4, 2.5"
VERDICT, WHOLE = "verdict", "whole"
_NOT_TOLD = "not_told"
"""Reason why an episode is in no share: its task does not state its structure or its apps."""


def sections(study_data: StudyData) -> list[Section]:
    """Return sections on what was recorded, on its proofreading, and on the agreement of two people."""
    cases = list(cases_of(study_data).values())
    parts = []
    if cases:
        parts.append(
            Section(
                "The dataset", tables=(_count_table(study_data, cases), _structure(study_data, cases), _types(cases))
            )
        )
    else:
        parts.append(Section("The dataset", ("None of these runs is in this file, so nothing is counted.",)))
    if answers_in(study_data, VERDICT):
        parts.append(
            Section("Proofreading", tables=(*rates(study_data, sheet_reviews(study_data)), _verdicts(study_data)))
        )
    else:
        parts.append(Section("Proofreading", ("Nobody has handed in a proofreading yet.",)))
    return [*parts, doubles(study_data, cases)]


# -- counts ----------------------------------------------------------------------------------------------------


def _count_table(study_data: StudyData, cases: Sequence[MeasuredRun]) -> Table:
    steps = [UnitValue(case.id, case.id, float(len(kept(case)))) for case in cases]
    apps = {app for case in cases for app in case.task.apps}
    truth_by_place = truths(study_data, WHOLE)
    impossible = sum(one.value == "impossible" for one in truth_by_place.values())
    given_up = sum(gave_up(case) for case in cases)
    slips = sum(step.slip for case in cases for step in case.steps)
    rows: tuple[tuple[Cell, ...], ...] = (
        ("episodes", count(len(cases), "steps", part="episodes")),
        ("steps", count(int(sum(one.value for one in steps)), "steps", part="steps")),
        ("steps per episode (mean)", Number(average(study_data, steps, "steps", "mean steps", least=0.0), 1)),
        ("apps", count(len(apps), "steps", part="apps")),
        ("IMPOSSIBLE, as recorded", count(given_up, WHOLE, part="recorded")),
        ("IMPOSSIBLE, as proofreaders settle", count(impossible, WHOLE, part="settled")),
        *((f"  for the reason {why}", count(n, "why_impossible", part=why)) for why, n in _reasons(study_data)),
    )
    notes = (
        *((f"{slips} steps that their recorder called slips are left out.",) if slips else ()),
        "The paper has 830 episodes, 11,345 steps, 13.3 on average, 35 apps; its Table 6 counts up to 12,029 steps.",
        *few_runs_warning(len(cases), "episodes"),
    )
    return Table("dac-counts", "Counts", ("", "n"), rows, _SOURCE, notes)


def _reasons(study_data: StudyData) -> list[tuple[str, int]]:
    """Return how often each reason is given, counted for each proofreader, in the protocol's order."""
    field = study_data.study.protocol.field("why_impossible")
    reason_counts = Counter(str(one.value) for one in answers_in(study_data, "why_impossible") if one.value is not None)
    return [
        (option.shown, reason_counts[option.id])
        for option in (field.options if field else ())
        if reason_counts[option.id]
    ]


def kept(case: MeasuredRun) -> list[MeasuredStep]:
    """Return a demonstration's steps without those that its recorder marked as slips."""
    return [step for step in case.steps if not step.slip]


def type_of(step: MeasuredStep) -> str:
    """Return the type of a step's action, in the paper's words if it has one, else in ours."""
    kind = comparable_action(step.action or step.proposed, step.size).type
    return TYPES.get(kind, kind)


def _structure(study_data: StudyData, cases: Sequence[MeasuredRun]) -> Table:
    structures = Counter(case.task.traits.get("structure", "") for case in cases)
    names = [*STRUCTURES, *sorted(name for name in structures if name and name not in STRUCTURES)]
    n = sum(structures[name] for name in names)

    def row(says: str, many: int, of: int, why: str) -> tuple[Cell, ...]:
        left_out = {_NOT_TOLD: len(cases) - of} if len(cases) > of else {}
        share = share_of_independent(study_data, many, of, "structure", part=says, why=why, left_out=left_out)
        return says, count(many, "structure", part=says), cells.percent(share)

    rows = [row(name, structures[name], n, "no task tells its structure") for name in names]
    crossing = sum(len(case.task.apps) > 1 for case in cases)
    with_apps = sum(bool(case.task.apps) for case in cases)
    rows.append(row("across apps", crossing, with_apps, "no task tells its apps"))
    notes = (
        *((f"{structures['']} episodes do not tell their structure.",) if structures[""] else ()),
        "The paper has 33.4 / 24.3 / 24.0 / 18.3 %, and 12.5 % across apps.",
        *few_runs_warning(n, "episodes"),
    )
    return Table("dac-structure", "Structure of tasks", ("Structure", "Episodes", "Share"), tuple(rows), _SOURCE, notes)


def _types(cases: Sequence[MeasuredRun]) -> Table:
    types = Counter(type_of(step) for case in cases for step in kept(case))
    names = [*TYPES.values(), *sorted(name for name in types if name not in TYPES.values())]
    rows: list[tuple[Cell, ...]] = [(name, count(types[name], "action type", part=name)) for name in names]
    rows.append(("Overall", count(sum(types.values()), "action type")))
    notes = ("The predefined set has seven types; others are named as they are recorded.",)
    head = ("Action type", "Steps")
    return Table("dac-types", "Types of action", head, tuple(rows), "DAC-Bench 2.4, Table 6", notes)


# -- agreement of proofreaders -----------------------------------------------------------------------------------


def _verdicts(study_data: StudyData) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for says, field in (("accept, edit or reject", VERDICT), ("IMPOSSIBLE", WHOLE)):
        of = ratings_of(study_data, field)
        rows.append(
            (
                says,
                cells.percent(coefficient(study_data, percent(of), of)),
                Number(coefficient(study_data, gwet_ac(of), of)),
                Number(coefficient(study_data, krippendorff_alpha(of), of)),
            )
        )
    notes = (
        "Where few tasks are impossible, alpha is low however well people agree: AC1 is the one to read there.",
        "The paper gives no agreement statistic.",
        *few_runs_warning(len(asked_units(study_data)), "episodes"),
    )
    head = ("", "Pairs agree", "AC1", "Alpha")
    return Table("dac-verdicts", "Agreement of proofreaders", head, tuple(rows), _SOURCE, notes)
