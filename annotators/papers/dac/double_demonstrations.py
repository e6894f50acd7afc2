"""Demonstrations of one task by two people, compared in types of action, boxes and lengths."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from annotators.agreement.coefficients import gwet_ac, krippendorff_alpha, percent
from annotators.agreement.judge_accuracy import Box, centre_in_box, same_box
from annotators.agreement.numbers import icc
from annotators.agreement.ratings import RatedItem, Ratings
from annotators.papers import cells
from annotators.papers.answer_arrays import AnswerRow, numbers_by, ratings_by
from annotators.papers.cells import UnitValue, coefficient, few_runs_warning, share
from annotators.papers.dac.actions import comparable_action
from annotators.study_data import StudyData
from lab.core.agreement import Agreement
from lab.core.design import subject_of
from lab.core.measured_run import MeasuredRun, MeasuredStep
from lab.core.proofreading import impossible_of
from lab.core.report import Cell, Number, Section, Table

_SOURCE = "DAC-Bench 2.4; recording a task twice is this program's"
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
    types = _types(pair_list)
    lengths = numbers_by(
        "steps",
        _NAMES,
        [
            AnswerRow(_place(pair), _task(pair), [len(_steps_without_slips(case)) for case in pair])
            for pair in pair_list
        ],
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
    return Table("dac-doubles", "Two recordings of one task", ("", "Value"), rows, _SOURCE, notes)


def _share(study_data: StudyData, items: Sequence[UnitValue], statistic: str, why: str) -> Agreement:
    return share(study_data, items, "box", statistic, raters=2, between="two annotators", why=why)


def _impossible(pair_list: Sequence[Pair]) -> Ratings:
    """Return ratings of each recording's ending: possible or impossible."""
    rows = [AnswerRow(_place(pair), _task(pair), [_ENDS[gave_up(case)] for case in pair]) for pair in pair_list]
    return ratings_by("impossible", _ENDS, _NAMES, rows)


def gave_up(case: MeasuredRun) -> bool:
    """Return True if a recording ends by declaring its task impossible."""
    return bool(impossible_of(case.steps[-1].action if case.steps else None))


def _types(pair_list: Sequence[Pair]) -> Ratings:
    rows: list[AnswerRow] = []
    for pair in pair_list:
        # Steps beyond the end of the shorter recording are missing, with a reason.
        steps = zip_longest(*(map(_type, _steps_without_slips(case)) for case in pair))
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


def _steps_without_slips(case: MeasuredRun) -> list[MeasuredStep]:
    return [step for step in case.steps if not step.slip]


def _type(step: MeasuredStep) -> str:
    return comparable_action(step.action or step.proposed, step.size).type


def _boxes(pair: Pair) -> list[tuple[Box, Box]]:
    """Return the first boxes of steps of equal type that have boxes in both recordings, as shares of each screen."""
    boxes = []
    for steps in zip(*map(_steps_without_slips, pair), strict=False):
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
