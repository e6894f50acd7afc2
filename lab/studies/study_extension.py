"""Adding units to a study that runs: its next version, in which what was answered counts and nobody is asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from annotators.assignment import deal_more
from annotators.plan import Plan, extended
from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.ids_and_clock import now
from lab.core.study import Assignment, Study, Unit
from lab.core.task import Actor
from lab.studies.rule_answers import answer_by_rule
from lab.studies.study_people import people_there
from lab.studies.study_runs import Skipped
from lab.studies.study_sample import further_units

if TYPE_CHECKING:
    from store.store import Store
    from store.study_extension import Carried


class StudyExtension(NamedTuple):
    """A study's next version before it is kept: what is new in it, and what of what was named is in it already.

    `changed` of these would be made otherwise today; they stay as they were frozen. `blank` of the new runs have no
    screen to be seen.
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
    """What was done: rows carried along, units dealt anew, labels that a rule wrote."""

    carried: Carried
    dealt: list[Assignment]
    rule_labels: int


def planned_extension(store: Store, study: Study, plan: Plan, by: Actor) -> StudyExtension:
    """A study with the units that a plan comes to, as its next version; nothing is kept yet.

    Raises `LabError` where it is archived or not the newest version, where nothing in it would be new, and where units
    cannot be added to such a study.
    """
    _check_newest(store, study)
    here = list(store.studies.units(study))
    units_by_id = {unit.id: unit for unit in here}
    sample, skipped = further_units(store, plan, study)
    new = [replace(unit, pilot=False) for unit in sample.units if unit.id not in units_by_id]
    old = [unit for unit in sample.units if unit.id in units_by_id]
    changed_count = sum(encode(_unmarked(unit)) != encode(_unmarked(units_by_id[unit.id])) for unit in old)
    if changed_count and plan.items:
        raise LabError(
            f"study {study.name}",
            f"field items: {changed_count} of the lines have ids of items that are in it, and differ.",
            "Give each line an id of its own.",
        )
    if not new:
        raise LabError(f"study {study.name}", "has all of these already; nothing was done.")
    later = extended(study, here, new, by, now())
    return StudyExtension(later, [*here, *new], new, len(old), changed_count, sample.told, skipped, sample.blank)


def extend_study(store: Store, extension: StudyExtension) -> ExtendedStudy:
    """Keeps an extension, carries along what was dealt and answered, and deals what is new; durable on return.

    Where the version before was not dealt, nothing is.
    """
    study = extension.study
    assert study.extends is not None
    earlier = store.studies.study(study.id, study.extends.version)
    there = store.studies.assignments(earlier)
    assignments: list[Assignment] = []
    if there:
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


def _unmarked(unit: Unit) -> Unit:
    """A unit without what is marked on it when a study is frozen."""
    return replace(unit, pilot=False, practice=False, gold=())
