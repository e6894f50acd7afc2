"""Add units to a running study: its next version, in which existing answers count and nobody is asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from annotators.assignment import deal_more
from annotators.plan import Plan, extend
from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.study.study import Assignment, Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now
from lab.studies.planning.study_people import people_there
from lab.studies.planning.study_runs import Skipped
from lab.studies.planning.study_sample import further_units
from lab.studies.rating.rule_answers import answer_by_rule

if TYPE_CHECKING:
    from store.store import Store
    from store.studies.study_extension import CopiedRows


class StudyExtension(NamedTuple):
    """A study's next version before it is stored: its new units, and how many of the named ones it has already.

    `changed` of those would differ if made today but stay as they were frozen. `blank` counts new runs without any
    screen.
    """

    study: Study
    units: list[Unit]
    new: list[Unit]
    already: int
    changed: int
    told: list[str]
    skipped: list[Skipped]
    blank: int


class ExtendedStudy(NamedTuple):
    """Result of an extension: rows carried over, new assignments, a rule's labels."""

    carried: CopiedRows
    dealt: list[Assignment]
    rule_labels: int


def planned_extension(store: Store, study: Study, plan: Plan, by: Actor) -> StudyExtension:
    """Return a study's next version with a plan's further units. Store nothing.

    Raise `LabError` if the study is archived or not the newest version, nothing would be new, or it cannot be extended.
    """
    _check_newest(store, study)
    here = list(store.studies.units(study))
    units_by_id = {unit.id: unit for unit in here}
    sample, skipped = further_units(store, plan, study)
    new = [replace(unit, pilot=False) for unit in sample.units if unit.id not in units_by_id]
    old = [unit for unit in sample.units if unit.id in units_by_id]
    changed_count = sum(encode(_without_marks(unit)) != encode(_without_marks(units_by_id[unit.id])) for unit in old)
    if changed_count and plan.items:
        raise LabError(
            f"study {study.name}",
            f"field items: {changed_count} of the lines have ids of items that are in it, and differ.",
            "Give each line an id of its own.",
        )
    if not new:
        raise LabError(f"study {study.name}", "has all of these already; nothing was done.")
    later = extend(study, here, new, by, now())
    return StudyExtension(later, [*here, *new], new, len(old), changed_count, sample.told, skipped, sample.blank)


def extend_study(store: Store, extension: StudyExtension) -> ExtendedStudy:
    """Store an extension, carry over assignments and answers, and deal the new units, durable on return.

    If the previous version was not dealt, nothing is dealt.
    """
    study = extension.study
    assert study.extends is not None
    earlier = store.studies.study(study.id, study.extends.version)
    there = store.studies.assignments(earlier)
    assignments: list[Assignment] = []
    if there:
        # New units follow each person's last position.
        behind: dict[str, int] = {}
        for assignment in there:
            behind[assignment.rater] = max(assignment.position, behind.get(assignment.rater, -1))
        at = now()
        more = deal_more(study, extension.new, people_there(store, earlier), behind)
        assignments = [replace(assignment, at=at) for assignment in more]
    carried = store.extensions.extend(study, extension.units, assignments)
    rule_labels = sum(answer_by_rule(store, study, unit) for unit in extension.new if unit.mechanical) if there else 0
    return ExtendedStudy(carried, assignments, rule_labels)


def _check_newest(store: Store, study: Study) -> None:
    what = f"study {study.name}"
    newest = store.studies.versions(study.id)[-1]
    if newest != study.version:
        raise LabError(what, f"is not its newest version, which is v{newest}.", f"Name it {study.id}.")
    if store.studies.archived(study):
        raise LabError(what, "is archived.", f"`hitlab study restore {study.id}` brings it back.")


def _without_marks(unit: Unit) -> Unit:
    """Return a unit without the marks that freezing adds."""
    return replace(unit, pilot=False, practice=False, gold=())
