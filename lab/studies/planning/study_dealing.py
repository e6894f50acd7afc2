"""Deal a frozen study to its people, for `study deal` and Home."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace as changed

from annotators.assignment import deal as dealt_out
from lab.core.errors import LabError
from lab.core.study.study import Assignment, Study
from lab.core.values.ids_and_clock import now
from lab.studies.planning.active_dealing import QUEUED, check_prelabels, dealt_actively
from lab.studies.planning.study_people import people_of
from lab.studies.rating.rule_answers import answer_by_rule
from store.store import Store


class RaterDealt(msgspec.Struct, frozen=True):
    """One person's numbers of assignments: pilot, main, repeated."""

    rater: str
    pilot: int
    main: int
    repeat: int


class StudyDealt(msgspec.Struct, frozen=True):
    """Result of `study deal`: new assignments, and units that need no person (`nobodys`).

    `rule_labels` counts the labels written for units that a rule answers. `withdrawn` people are dealt nothing.
    """

    study: str
    version: int
    new: int
    raters: tuple[RaterDealt, ...]
    nobodys: int
    rule_labels: int
    withdrawn: tuple[str, ...]


def deal_study(
    store: Store, study: Study, person: str, *, active: bool = False, first: int | None = None
) -> StudyDealt:
    """Deal a study to its raters. Earlier assignments do not change. Raise `LabError` if it is locked or extended."""
    check_open(store, study)
    units = list(store.studies.units(study))
    withdrawn = tuple(code for code in study.raters if store.labels.has_withdrawn(code))
    assignments, new = store.studies.assignments(study), 0
    # One transaction deals everything, so any assignment means that all are there.
    if not assignments:
        at = now()
        check_prelabels(store, study, units)
        if active or store.labels.acts_of(study, QUEUED):
            every = dealt_actively(store, study, units, first, person)
        else:
            every = dealt_out(study, units)
        assignments = [changed(assignment, at=at) for assignment in every if assignment.rater not in withdrawn]
        new = store.studies.deal(study, assignments)
    elif active and not store.labels.acts_of(study, QUEUED):
        raise LabError(f"study {study.name}", "is dealt already, in an order of chance; nothing was done.")
    rule_labels = sum(answer_by_rule(store, study, unit) for unit in units if unit.mechanical)
    dealt_units = {assignment.unit for assignment in assignments}
    return StudyDealt(
        study.id,
        study.version,
        new,
        tuple(_rater_line(code, assignments) for code in people_of(store, study) if code not in withdrawn),
        sum(unit.id not in dealt_units for unit in units) if dealt_units else 0,
        rule_labels,
        withdrawn,
    )


def _rater_line(code: str, assignments: list[Assignment]) -> RaterDealt:
    stages = [assignment.stage for assignment in assignments if assignment.rater == code]
    return RaterDealt(code, stages.count("pilot"), stages.count("main"), stages.count("repeat"))


def check_open(store: Store, study: Study) -> None:
    if (later := store.studies.extended_by(study)) is not None:
        raise LabError(f"study {study.name}", f"was extended and goes on as v{later}.")
    if store.studies.locked(study):
        raise LabError(f"study {study.name}", "is locked; nothing in it changes any more.")
