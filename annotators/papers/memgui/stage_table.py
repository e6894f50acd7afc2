"""Stages of evaluators' decisions, with their models and costs (MemGUI-Bench 4.2, A.7.1)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from annotators.papers import cells
from annotators.papers.cells import UnitValue, average, count, few_runs_warning, share_of_independent, undefined_number
from annotators.papers.field_answers import answers_in, asked_units
from annotators.study_data import StudyData
from lab.core.judge_call import JudgeCall
from lab.core.report import Cell, Number, Table

_SOURCE = "MemGUI-Bench 4.2, A.7.1"


def stage_table(study_data: StudyData, field: str) -> Table | None:
    """Return a row for each evaluator and stage; None if no evaluator was run by `hitlab judge`."""
    rows: list[tuple[Cell, ...]] = []
    clusters = {unit.id: unit.clustered for unit in asked_units(study_data)}
    for judge in study_data.judges:
        name = study_data.columns.raters[judge].id
        units = {one.unit for one in answers_in(study_data, field, (judge,)) if one.value is not None}
        own = [one for one in study_data.further.calls() if one.judge == name and one.unit in clusters]
        # Descriptions serve all runs and may be stored under any of them.
        first = [one for one in own if one.run == 1 or one.once]
        stage_by_unit = deciding_stages(first, units)
        for stage in dict.fromkeys(one.stage for one in first):
            calls = [one for one in first if one.stage == stage]
            rows.append(_row(study_data, field, name, stage, calls, stage_by_unit, clusters))
    if not rows:
        return None
    notes = (
        "Decided: runs whose verdict came at that stage, by the evaluator's first run, with Wilson intervals.",
        "Tokens and cost are means over the runs at which the stage was asked.",
        "A step is described once for all runs of an evaluator, and counts here once.",
        *few_runs_warning(len(set(clusters.values()))),
    )
    head = ("Evaluator", "Stage", "Model", "Decided", "Questions", "Tokens sent", "Tokens back", "Cost ($)")
    return Table("memgui-stages", "Where evaluators decided, and what it took", head, tuple(rows), _SOURCE, notes)


def deciding_stages(calls: Sequence[JudgeCall], units: Collection[str]) -> Mapping[str, str]:
    """Return the stage of the last answer before each unit's verdict. Answers that serve all runs decide nothing."""
    return {one.unit: one.stage for one in calls if not one.once and one.unit in units}


def _row(
    study_data: StudyData,
    field: str,
    name: str,
    stage: str,
    calls: Sequence[JudgeCall],
    stage_by_unit: Mapping[str, str],
    clusters: Mapping[str, str],
) -> tuple[Cell, ...]:
    part = f"{name}, {stage}"
    models = ", ".join(dict.fromkeys(one.model for one in calls if one.model)) or "-"
    here = sum(one == stage for one in stage_by_unit.values())
    share: Cell = "-"
    if not all(one.once for one in calls):
        share = cells.percent(
            share_of_independent(study_data, here, len(stage_by_unit), field, "share decided", part=part, raters=1)
        )

    def mean(what: str, values: Sequence[tuple[str, float | None]], digits: int) -> Number:
        sums: dict[str, float] = {}
        for unit, value in values:
            if value is not None:
                sums[unit] = sums.get(unit, 0.0) + value
        if not sums:
            return Number(undefined_number(field, what, "not recorded", part=part), digits)
        items = [UnitValue(unit, clusters[unit], value) for unit, value in sums.items()]
        return Number(average(study_data, items, field, what, least=0.0, part=part, raters=1), digits)

    return (
        name, stage, models, share, count(len(calls), field, part=part, statistic="questions"),
        mean("tokens sent", [(one.unit, one.prompt_tokens) for one in calls], 0),
        mean("tokens back", [(one.unit, one.completion_tokens) for one in calls], 0),
        mean("cost in US dollars", [(one.unit, one.cost) for one in calls], 4),
    )  # fmt: skip
