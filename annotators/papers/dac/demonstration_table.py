"""The dataset and its proofreading (DAC-Bench 2.4, 2.5): counts, structure, types of action, edits, agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from annotators.agreement.coefficients.categorical import gwet_ac, krippendorff_alpha, percent
from annotators.agreement.coefficients.judge_accuracy import Box, centre_in_box, same_box
from annotators.agreement.coefficients.numbers import icc
from annotators.agreement.ratings.fields import ratings_of
from annotators.agreement.ratings.ratings import RatedItem, Ratings
from annotators.papers import cells
from annotators.papers.answer_arrays import AnswerRow, numbers_by, ratings_by
from annotators.papers.cells import (
    UnitValue,
    average,
    coefficient,
    count,
    few_runs_warning,
    share,
    share_of_independent,
    undefined_number,
)
from annotators.papers.dac.actions import comparable_action
from annotators.papers.field_answers import answers_in, asked_units, cases_of, run_of, truths
from annotators.study_data import StudyData
from lab.core.run.measured_run import MeasuredRun, MeasuredStep
from lab.core.study.agreement import Agreement
from lab.core.study.proofreading import ProofreadingSheet, impossible_of
from lab.core.study.report import Cell, Number, Section, Table
from lab.core.task.design import subject_of

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
    steps = [UnitValue(case.id, case.id, float(len(steps_without_slips(case)))) for case in cases]
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
        (option.display_name, reason_counts[option.id])
        for option in (field.options if field else ())
        if reason_counts[option.id]
    ]


def steps_without_slips(case: MeasuredRun) -> list[MeasuredStep]:
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
    types = Counter(type_of(step) for case in cases for step in steps_without_slips(case))
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


_DOUBLE_SOURCE = "DAC-Bench 2.4; recording a task twice is this program's"
_NAMES = ("first recording", "second recording")
_ENDS = ("possible", "impossible")
_ENDED = "ended_before"
"""Reason why a recording has no such step."""
Pair = tuple[MeasuredRun, MeasuredRun]


def doubles(study_data: StudyData, cases: Sequence[MeasuredRun]) -> Section:
    """Return the tasks that two people recorded, or a sentence that there are none."""
    title = "Tasks that two people recorded"
    by_task = pairs(cases)
    if not by_task:
        return Section(title, ("No task here was recorded by two people, so recordings cannot be compared.",))
    return Section(title, tables=(_table(study_data, by_task),))


def pairs(cases: Sequence[MeasuredRun]) -> list[Pair]:
    """Return each task's first recordings by two people, sorted by their codes."""
    by_task: dict[tuple[str, str], dict[str, MeasuredRun]] = {}
    for case in sorted(cases, key=lambda case: (case.agent.id, case.id)):
        if case.gold:
            # Cases are sorted by id, so the first recording of each person stays.
            by_task.setdefault(subject_of(case.task), {}).setdefault(case.agent.id, case)
    two = [tuple(by_person.values())[:2] for _, by_person in sorted(by_task.items()) if len(by_person) > 1]
    return [(one, other) for one, other in two]


def _table(study_data: StudyData, pair_list: Sequence[Pair]) -> Table:
    types = _paired_types(pair_list)
    lengths = numbers_by(
        "steps",
        _NAMES,
        [AnswerRow(_place(pair), _task(pair), [len(steps_without_slips(case)) for case in pair]) for pair in pair_list],
    )
    box_pairs = [(_task(pair), one, other) for pair in pair_list for one, other in _boxes(pair)]
    overlap = [UnitValue(task, task, float(same_box(one, other))) for task, one, other in box_pairs]
    centres = [UnitValue(task, task, float(centre_in_box(one, other))) for task, one, other in box_pairs]
    given_up = _impossible(pair_list)
    none = "no step of one type has a box in both recordings"
    between = "two annotators"
    rows: tuple[tuple[Cell, ...], ...] = (
        ("action type, steps agree", cells.percent(coefficient(study_data, percent(types), types, between=between))),
        ("action type, alpha", Number(coefficient(study_data, krippendorff_alpha(types), types, between=between))),
        ("action type, AC1", Number(coefficient(study_data, gwet_ac(types), types, between=between))),
        ("box, IoU at least .5", cells.percent(_share(study_data, overlap, "IoU at least .5", none))),
        ("box, centres in each other", cells.percent(_share(study_data, centres, "centre in box", none))),
        (
            "IMPOSSIBLE, recordings agree",
            cells.percent(coefficient(study_data, percent(given_up), given_up, between=between)),
        ),
        ("IMPOSSIBLE, AC1", Number(coefficient(study_data, gwet_ac(given_up), given_up, between=between))),
        ("step count, ICC(A,1)", Number(coefficient(study_data, icc(lengths, "A,1"), lengths, between=between))),
    )
    notes = (
        "Steps are laid beside each other by their place; a detour in one puts all that follows out of step.",
        "Boxes are compared where both recordings have one and act alike. IMPOSSIBLE is rare: AC1 is the one to read.",
        "What one recording has beyond the other's end is missing. Whether two instructions say the same is a question "
        "of its own, for people.",
        *few_runs_warning(len(pair_list), "tasks"),
    )
    return Table("dac-doubles", "Two recordings of one task", ("", "Value"), rows, _DOUBLE_SOURCE, notes)


def _share(study_data: StudyData, items: Sequence[UnitValue], statistic: str, why: str) -> Agreement:
    return share(study_data, items, "box", statistic, raters=2, between="two annotators", why=why)


def _impossible(pair_list: Sequence[Pair]) -> Ratings:
    """Return ratings of each recording's ending: possible or impossible."""
    rows = [AnswerRow(_place(pair), _task(pair), [_ENDS[gave_up(case)] for case in pair]) for pair in pair_list]
    return ratings_by("impossible", _ENDS, _NAMES, rows)


def gave_up(case: MeasuredRun) -> bool:
    """Return True if a recording ends by declaring its task impossible."""
    return bool(impossible_of(case.steps[-1].action if case.steps else None))


def _paired_types(pair_list: Sequence[Pair]) -> Ratings:
    rows: list[AnswerRow] = []
    for pair in pair_list:
        # Steps beyond the end of the shorter recording are missing, with a reason.
        steps = zip_longest(*(map(_type, steps_without_slips(case)) for case in pair))
        rows += [
            AnswerRow(RatedItem(_place(pair).unit, f"step-{i}"), _task(pair), both, (_ENDED, _ENDED))
            for i, both in enumerate(steps, 1)
        ]
    return ratings_by("action type", CATEGORIES, _NAMES, rows)


CATEGORIES = (
    "click", "scroll", "type", "navigate_home", "navigate_back", "long_press", "complete", "impossible", "double_tap",
    "drag", "keyboard_enter", "wait", "ask_user", "press_recent", "open_app", "other",
)  # fmt: skip
"""All types of actions, the paper's seven first. They are declared so that no statistic depends on the data."""


def _type(step: MeasuredStep) -> str:
    return comparable_action(step.action or step.proposed, step.size).type


def _boxes(pair: Pair) -> list[tuple[Box, Box]]:
    """Return the first boxes of steps of equal type that have boxes in both recordings, as shares of each screen."""
    boxes = []
    for steps in zip(*map(steps_without_slips, pair), strict=False):
        acts = [
            comparable_action(step.action or step.proposed, step.size or case.device.size)
            for step, case in zip(steps, pair, strict=True)
        ]
        if acts[0].type == acts[1].type and all(one.boxes for one in acts):
            boxes.append((acts[0].boxes[0], acts[1].boxes[0]))
    return boxes


def _task(pair: Pair) -> str:
    return pair[0].task.id


def _place(pair: Pair) -> RatedItem:
    return RatedItem("+".join(case.id for case in pair), "")


_PROOFREADING_SOURCE = "DAC-Bench 2.4"


class StepReview(NamedTuple):
    """One proofreader's verdict on one step: accept, edit or reject."""

    demonstration: str
    annotator: str
    proofreader: str
    verdict: str


def sheet_reviews(study_data: StudyData) -> list[StepReview]:
    """Return every verdict on a step in this study."""
    cases = cases_of(study_data)
    reviews = []
    for one in answers_in(study_data, "verdict"):
        if one.value is not None:
            case = cases.get(one.unit)
            annotator = case.agent.id if case is not None else "not known"
            reviews.append(StepReview(one.unit, annotator, study_data.columns.raters[one.rater].id, str(one.value)))
    return reviews


def demonstration_reviews(study_data: StudyData) -> list[StepReview]:
    """Return every verdict on a step in the demonstrations' reviews, by proofreaders who handed theirs in."""
    reviewed_runs = []
    for unit in asked_units(study_data):
        review = study_data.further.reviewed(run_of(unit))
        if review is None:
            continue
        demo, rows = review
        for by in sorted({row.by.id for row in rows if row.act == "commit"}):
            sheet = ProofreadingSheet(demo, rows, by)
            verdicts = [sheet.verdict(step) for step in range(demo.steps)]
            reviewed_runs += [StepReview(unit.id, demo.annotator.id, by, verdict) for verdict in verdicts if verdict]
    return reviewed_runs


def rates(study_data: StudyData, sheet_reviews: list[StepReview]) -> tuple[Table, ...]:
    """Return the rates by annotator and by proofreader, from the study's sheets, and from reviews if there are any."""
    reviews = demonstration_reviews(study_data)
    tables = [*_tables(study_data, sheet_reviews, "dac-edits", "on this study's sheets")]
    if reviews:
        tables += _tables(study_data, reviews, "dac-reviews", "in the reviews of the demonstrations")
    return tuple(tables)


def _tables(study_data: StudyData, reviews: list[StepReview], id: str, where: str) -> tuple[Table, Table]:
    return (
        _rates(
            study_data, reviews, f"{id}-annotators", f"Edit rate by annotator, {where}", "Annotator", of_annotator=True
        ),
        _rates(study_data, reviews, f"{id}-proofreaders", f"Edit rate by proofreader, {where}", "Proofreader"),
    )


def _rates(
    study_data: StudyData, reviews: list[StepReview], id: str, title: str, who: str, *, of_annotator: bool = False
) -> Table:
    coded_reviews = [(one.annotator if of_annotator else one.proofreader, one) for one in reviews]
    rows: list[tuple[Cell, ...]] = []
    for code in [*sorted({code for code, _ in coded_reviews}), "All"]:
        own = [one for name, one in coded_reviews if code in (name, "All")]
        items = [UnitValue(one.demonstration, one.demonstration, float(one.verdict != "accept")) for one in own]
        raters = len({one.proofreader for one in own})
        rate = (
            share(study_data, items, "verdict", "edit rate", part=code, raters=raters)
            if own
            else undefined_number("verdict", "edit rate", "nobody has looked at a step", part=code)
        )
        verdict_counts = [sum(one.verdict == verdict for one in own) for verdict in ("edit", "reject")]
        parts = (len({one.demonstration for one in own}), len(own), *verdict_counts)
        rows.append((code, *(count(n, "verdict", part=code) for n in parts), cells.percent(rate)))
    notes = (
        "A step counts once for each proofreader; the rate is edited and rejected over looks, clustered by episode.",
        *few_runs_warning(len({one.demonstration for one in reviews}), "episodes"),
    )
    head = (who, "Episodes", "Looks", "Edited", "Rejected", "Rate")
    return Table(id, title, head, tuple(rows), _PROOFREADING_SOURCE, notes)
