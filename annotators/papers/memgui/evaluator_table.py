"""Validation of evaluators against experts (MemGUI-Bench A.7, Tables 9 and 10).

It reports agreement before discussion, the consensus, and each evaluator against it by kind of task and by agent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import msgspec

from annotators.agreement.coefficients.additive import AdditiveStatistic
from annotators.agreement.coefficients.categorical import cohen_kappa, fleiss_kappa, gwet_ac, percent, percent_exact
from annotators.agreement.coefficients.judge_accuracy import Judged, judge_statistic
from annotators.agreement.ratings.fields import ratings_of, truth_and_rater, truth_of
from annotators.agreement.ratings.ratings import Ratings
from annotators.papers import cells
from annotators.papers.answer_subsets import of_units
from annotators.papers.cells import (
    UnitValue,
    average,
    coefficient,
    count,
    few_runs_warning,
    share_of_independent,
    undefined_number,
)
from annotators.papers.field_answers import answers_in, asked_units, cases_of, configurations
from annotators.papers.memgui.attempts import apps_of
from annotators.study_data import StudyData
from annotators.units.pairs import units_by_method
from lab.core.run.judge_call import JudgeCall
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.agreement import Agreement
from lab.core.study.report import Cell, Number, Section, Table

OUTCOME = "outcome"
_LONG_DISCUSSION = 10.0
"""Minutes after which a discussion without consensus goes to an adjudicator."""
_STATISTICS: tuple[tuple[Judged, str], ...] = (
    ("f1", "F1 (%)"), ("precision", "Prec. (%)"), ("recall", "Recall (%)"), ("accuracy", "Accuracy (%)"),
)  # fmt: skip
_LONGEST_CONFIGURATION = 160
"""Maximum characters of models and stages."""
_LONGEST_LINE = 40
"""Maximum characters of an evaluator's configuration in a table."""
_TABLE_9_NOTE = (
    "The paper has F1 / precision / recall 98.8 / 100.0 / 97.6 at 54 single-app runs and 100.0 / 100.0 / 100.0 at 24 "
    "cross-app runs for its best configuration (Table 9)."
)
_TABLE_10_NOTE = (
    "The paper has F1 92.7 at 128 runs of M3A and 93.9 at 128 of T3A for its best configuration (Table 10)."
)


class _Configured(msgspec.Struct):
    """The parts of a judge's configuration that tables show."""

    model: str
    method: str
    stages: dict[str, str] = {}


def sections(study_data: StudyData) -> list[Section]:
    """Return the sections of experts before discussion, their consensus, and evaluators against it."""
    people = ratings_of(study_data, OUTCOME)
    if not (people.codes >= 0).any():
        return [Section("Validating evaluators", ("Nobody has handed in an outcome yet.",))]
    cases = cases_of(study_data)
    return [
        Section("Experts before discussion", _before_words(study_data), (_experts(study_data, people),)),
        Section("Consensus", tables=_consensus(study_data, people)),
        _evaluators(study_data, people, cases),
    ]


# -- people ----------------------------------------------------------------------------------------------------


def _before_words(study_data: StudyData) -> tuple[str, ...]:
    units = len(asked_units(study_data))
    return (f"{units} run{'' if units == 1 else 's'}, each rated alone; what was said in discussion is not in it.",)


def _experts(study_data: StudyData, people: Ratings) -> Table:
    chance = fleiss_kappa if len(people.raters) != 2 else cohen_kappa
    name = "Fleiss' kappa" if len(people.raters) != 2 else "Cohen's kappa"
    row: tuple[Cell, ...] = (
        "outcome",
        Number(coefficient(study_data, chance(people), people)),
        Number(coefficient(study_data, gwet_ac(people), people)),
        cells.percent(coefficient(study_data, percent(people), people)),
        cells.percent(coefficient(study_data, percent_exact(people), people)),
    )
    counts = Counter(people.categories[code] for code in people.codes.ravel().tolist() if code >= 0)
    notes = (
        "Answers: " + ", ".join(f"{name} {counts[name]}" for name in people.categories) + ".",
        *_impossible(study_data),
        "The paper reports no agreement before discussion.",
        *few_runs_warning(len(people.traces)),
    )
    head = ("", name, "AC1", "Pairs agree", "All agree")
    return Table("memgui-experts", "Agreement before discussion", head, (row,), "MemGUI-Bench A.7.1", notes)


def _impossible(study_data: StudyData) -> tuple[str, ...]:
    """Return experts' reasons for calling tasks impossible, empty if there are none."""
    reason_counts = Counter(str(one.value) for one in answers_in(study_data, "why_impossible") if one.value is not None)
    if not reason_counts:
        return ()
    why = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in sorted(reason_counts.items()))
    return (f"Reasons given for impossible: {why}. Where few tasks are, AC1 is the one to read.",)


def _consensus(study_data: StudyData, people: Ratings) -> tuple[Table, ...]:
    """Return the results of the runs on which experts differed."""
    differing = [
        place for place, row in zip(people.places, people.codes, strict=True) if len(set(row[row >= 0].tolist())) > 1
    ]
    places = {place.unit for place in differing}
    all_of = [one for (_, spot), one in sorted(study_data.settled.items()) if spot.field == OUTCOME]
    means = Counter(one.what.by_means for one in all_of)
    open_ = len(places - {one.unit for one in all_of})
    minutes = [UnitValue(one.unit, one.unit, one.what.minutes) for one in all_of if one.what.minutes is not None]
    long = sum(one.value > _LONG_DISCUSSION for one in minutes)
    rows: list[tuple[Cell, ...]] = [
        ("runs on which experts differed", count(len(places), OUTCOME, part="differing")),
        ("settled by discussion", count(means["discussion"], OUTCOME, part="discussion")),
        ("settled by an adjudicator", count(means["adjudicator"], OUTCOME, part="adjudicator")),
        ("settled by majority", count(means["majority"], OUTCOME, part="majority")),
        ("differing and not settled", count(open_, OUTCOME, part="open")),
        ("minutes a discussion took (mean)", _minutes(study_data, minutes)),
        (f"discussions longer than {_LONG_DISCUSSION:g} minutes", count(long, OUTCOME, part="long")),
    ]
    moves = [move for one in all_of for move in one.what.moves]
    ways = Counter((move.rater, _value_word(move.was), _value_word(move.now), move.code or "no code") for move in moves)
    table = Table("memgui-consensus", "How consensus came about", ("", "n"), tuple(rows), "MemGUI-Bench A.7.1")
    if not ways:
        return (table,)
    move_rows = tuple((*way, count(n, OUTCOME, part="moves")) for way, n in sorted(ways.items()))
    head = ("Who moved", "From", "To", "Reason", "n")
    return table, Table("memgui-moves", "Who changed their mind, and why", head, move_rows, "MemGUI-Bench A.7.1")


def _value_word(value: object) -> str:
    return "no answer" if value is None else str(value)


def _minutes(study_data: StudyData, minutes: Sequence[UnitValue]) -> Number:
    return Number(
        average(study_data, minutes, OUTCOME, "mean minutes", least=0.0, why="nobody kept the minutes"), digits=1
    )


# -- evaluators ------------------------------------------------------------------------------------------------


def _evaluators(study_data: StudyData, people: Ratings, cases: Mapping[str, MeasuredRun]) -> Section:
    title = "Evaluators against the experts"
    if not study_data.judges:
        return Section(title, ("No model or script has rated these runs yet.",))
    truth = truth_of(study_data, people)
    if "success" not in truth.categories or not (truth.codes >= 0).any():
        return Section(title, ("Nothing is settled about any of these runs, so evaluators stand against nothing.",))
    by_apps = [
        part for part in (_units_by_apps(cases, 1), _units_by_apps(cases, 2), _units_by_apps(cases, 0)) if part[1]
    ]
    by_agent = list(units_by_method(cases).items())
    everything = [("All", {place.unit for place in truth.places})]
    unsettled_count = int((truth.codes < 0).sum())
    notes = (
        "Positive is success; the first run of each evaluator counts. Truth is the consensus, else what most say.",
        "N are the runs that have a truth and that the evaluator judged.",
        *((f"{unsettled_count} of {len(truth.places)} runs are not settled and left out.",) if unsettled_count else ()),
        *few_runs_warning(len(truth.traces)),
    )
    nine = _table(study_data, truth, "memgui-table-9", "By kind of task", "Task subset", everything + by_apps)
    ten = _table(study_data, truth, "memgui-table-10", "By agent", "Trajectory source", by_agent)
    tables = [_add_notes(nine, "MemGUI-Bench Table 9", (*notes, _TABLE_9_NOTE))]
    if by_agent:
        tables.append(_add_notes(ten, "MemGUI-Bench Table 10", (*notes, _TABLE_10_NOTE)))
    stages = stage_table(study_data, OUTCOME)
    tables += [stages] if stages is not None else []
    return Section(title, tables=tuple(tables))


def _units_by_apps(cases: Mapping[str, MeasuredRun], apps: int) -> tuple[str, set[str]]:
    """Return the units with tasks of one app (1), several (2), or an unknown number (0)."""
    names: Mapping[int, str] = {0: "Apps not told", 1: "Single-App", 2: "Cross-App"}
    return names[apps], {unit for unit, case in cases.items() if kind_of(case) == apps}


def kind_of(case: MeasuredRun) -> int:
    """Return 1 if a run's task needs one app, 2 if several, 0 if unknown."""
    score = {"yes": 2, "no": 1}.get(case.task.traits.get("cross_app", "").lower(), 0)
    return score or min(apps_of(case), 2)


def _table(
    study_data: StudyData, truth: Ratings, id: str, title: str, of: str, parts: Sequence[tuple[str, set[str]]]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, units in parts:
        some = of_units(study_data, truth, units)
        for judge in study_data.judges:
            rows.append(_row(study_data, name, judge, some))
    head = (of, "Evaluator", "Model Config.", *(name for _, name in _STATISTICS), "Kappa", "AC1", "Cost ($)")
    return Table(id, title, head, tuple(rows))


def _row(study_data: StudyData, part: str, judge: int, truth: Ratings) -> tuple[Cell, ...]:
    """Return a row of a judge against the experts on some runs. N are the runs with answers of both."""
    name = study_data.columns.raters[judge].id
    own = truth_and_rater(truth, ratings_of(study_data, OUTCOME, (judge,)))
    between = f"{name} against the experts"

    def estimate(of: AdditiveStatistic) -> Agreement:
        return coefficient(study_data, of, own, part=part, between=between)

    rates = [estimate(judge_statistic(own, what, "success")) for what, _ in _STATISTICS]
    kappa, ac1 = estimate(cohen_kappa(own)), estimate(gwet_ac(own))
    return (
        f"{part} (N={kappa.places})", name, _configuration(study_data, judge), *(Number(of, 1, 100) for of in rates),
        Number(kappa), Number(ac1), _cost(study_data, judge, truth, part, between),
    )  # fmt: skip


def _configuration(study_data: StudyData, judge: int) -> str:
    """Return an evaluator's model, method and stages, or the first line of its configuration, with a short hash.

    It is `-` if the evaluator stored no configuration.
    """
    text_by_sha = configurations(study_data, judge)
    if not text_by_sha:
        return "-"
    sha, text = next(iter(text_by_sha.items()))
    line = " ".join(text.strip().split("\n", 1)[0].split())
    words = _models(text) or (line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…")
    return f"{words} ({sha[:8]})"


def _models(config: str) -> str:
    """Return method and models of a configuration written by `hitlab judge`, empty for any other."""
    try:
        configuration = msgspec.json.decode(config, type=_Configured)
    except msgspec.MsgspecError:
        return ""
    stages = [f"{stage}: {model}" for stage, model in configuration.stages.items()]
    return f"{configuration.method}: {configuration.model}{''.join(f'; {one}' for one in stages)}"[
        :_LONGEST_CONFIGURATION
    ]


def _cost(study_data: StudyData, judge: int, truth: Ratings, part: str, between: str) -> Cell:
    """Return the mean cost of judging one run, over the runs with a known cost."""
    actor = study_data.columns.raters[judge]
    costs = study_data.further.costs()
    items = [
        UnitValue(place.unit, truth.traces[int(at)], run_cost)
        for place, at in zip(truth.places, truth.trace, strict=True)
        if (run_cost := costs.get((place.unit, actor.kind, actor.id, 1))) is not None
    ]
    if not items:
        return Number(undefined_number(OUTCOME, "cost", "not recorded", part=part, between=between), 3)
    cost = average(study_data, items, OUTCOME, "cost in US dollars", least=0.0, part=part, between=between, raters=1)
    return Number(cost, 3)


def _add_notes(table: Table, source: str, notes: tuple[str, ...]) -> Table:
    return Table(table.id, table.title, table.columns, table.rows, source, notes)


_SOURCE = "MemGUI-Bench 4.2, A.7.1"


def stage_table(study_data: StudyData, field: str) -> Table | None:
    """Return a row for each evaluator and stage, or None if no evaluator was run by `hitlab judge`."""
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
            rows.append(_stage_row(study_data, field, name, stage, calls, stage_by_unit, clusters))
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


def _stage_row(
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
