"""Each rater's information retention rate of each run, and its rule (MemGUI-Bench A.6, Prompt 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from annotators.derived import information_units
from annotators.papers.field_answers import answers_in, asked_units, run_of
from annotators.papers.memgui.irr import rate
from annotators.study_data import StudyData
from lab.core.run.measured_run import UnitMark
from lab.core.study.study import Unit

USE = "use"
IRR = "IRR"
CaseType = Literal["success", "explicit", "implicit", "early"]
TYPES: tuple[CaseType, ...] = ("success", "explicit", "implicit", "early")


class RunIrr(NamedTuple):
    """Result of one rater's marks of one run: a rate from 0 to 1 by one of the four rules.

    `as_marked` is the share of all pieces marked as used correctly, whatever the outcome.
    """

    unit: Unit
    rater: int
    irr: float
    type: CaseType
    as_marked: float


def rated_of(
    study_data: StudyData, outcome_by_run: Mapping[str, bool | None], raters: Sequence[int] | None = None
) -> tuple[list[RunIrr], dict[str, int]]:
    """Return each run's rate by these raters (default: the people), and the number without one by reason."""
    marks: dict[tuple[str, int], dict[str, UnitMark]] = {}
    for one in answers_in(study_data, USE, raters):
        of = marks.setdefault((one.unit, one.rater), {})
        if one.value in ("correct", "wrong", "missing"):
            of[one.target] = one.value
    units = {unit.id: unit for unit in asked_units(study_data)}
    rates: list[RunIrr] = []
    left_out: dict[str, int] = {}
    for (id, rater), own in sorted(marks.items()):
        unit = units[id]
        succeeded = outcome_by_run.get(run_of(unit))
        irr = 1.0 if succeeded else rate(information_units(unit), own).value
        why = "with a piece that has no mark" if irr is None else ""
        if succeeded is None:
            why = "whose outcome nothing tells"
        if why or irr is None:
            left_out[why] = left_out.get(why, 0) + 1
        else:
            as_marked = sum(mark == "correct" for mark in own.values()) / len(own)
            rates.append(RunIrr(unit, rater, irr, _type(unit, own, succeeded is True), as_marked))
    return rates, left_out


def _type(unit: Unit, marks: Mapping[str, UnitMark], done: bool) -> CaseType:
    """Return the rule of Prompt 8 for a run: it depends on the task, the outcome, and the pieces reached."""
    if done:
        return "success"
    if set(marks.values()) <= {"missing"}:
        return "early"
    return "implicit" if any(not one.explicit for one in information_units(unit)) else "explicit"
