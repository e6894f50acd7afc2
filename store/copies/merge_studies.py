"""Merging of studies: plans, units, assignments, labels and acts.

A plan is frozen, so two copies of a version may differ only by withdrawals: a unit that one file lacks is erased from
the other. Two last answers of a rater at one place both remain, as a clash for the rater to settle.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from lab.core.codec import convert, decode, encode, storable
from lab.core.errors import LabError
from lab.core.study.adjudication import Settlement
from lab.core.study.label import Act, Label
from lab.core.study.label_rules import check_answer, check_value
from lab.core.study.rating_sheet import fields_by_target, target_of
from lab.core.study.study import VERSION, Assignment, Study, Unit
from store.erasing.tombstones import check_not_withdrawn
from store.file.foreign_file import MergedFile, text_of
from store.studies.labels import insert_act, insert_label
from store.studies.progress_tables import deferred_counting
from store.studies.studies import (
    DEFERRED_COUNTING_FROM,
    IS_NEWEST_VERSION,
    insert_assignments,
    insert_study,
    insert_units,
    key_of,
    new_assignments,
)

if TYPE_CHECKING:
    from store.copies.merge_transaction import Merge

_OF_VERSION = "study = ? AND version = ?"
_COUNTING_ACTS = ("commit", "reopen")
"""Acts that change which answers count. All others may still be added to a locked study."""


def merge_studies(into: Merge, source: MergedFile) -> None:
    """Merge every version of every study."""
    for _, study in source.bodies("study", Study, VERSION):
        if storable(study.id) != study.id:
            raise LabError(f"study {study.name}", "has a name that no file can hold.")
        _merge_study(into, source, study)


def _merge_study(into: Merge, source: MergedFile, study: Study) -> None:
    locked_here, locked_there = _is_locked(into.value, study), _is_locked(source.value, study)
    body = into.value("SELECT body FROM study WHERE id = ? AND version = ?", *key_of(study))
    if body is None:
        into.known[key_of(study)] = source.path
        insert_study(into.db, study)
        into.added["studies"] += 1
        insert_units(into.db, study, _checked_units(into, source, study))
        into.added["units"] += int(into.value(f"SELECT count(*) FROM unit WHERE {_OF_VERSION}", *key_of(study)))
    else:
        here: Study = decode(body, Study, "a study in the file", newest=VERSION)
        if here.sha != study.sha:
            other = into.known.get(key_of(study), into.name)
            raise LabError(
                f"study {study.name}",
                f"is not the same study in {source.path} as in {other}: its plan or its sample differs.",
                "Freeze one of them under another name.",
            )
        into.already_present += 1
        _merge_units(into, source, study)
    before = into.added.total()
    _merge_assignments(into, source, study)
    _merge_labels(into, source, study)
    news = _merge_acts(into, source, study)
    if locked_here and (into.added.total() - before - news):
        raise LabError(
            f"study {study.name}",
            f"is locked in {into.lock_origin(study, source)}, and {source.path} holds answers that are not in it.",
        )
    if locked_there and not locked_here and body is not None:
        _check_no_new_answers(into, source, study)


def _is_locked(one: Callable[..., Any], study: Study) -> bool:
    return one(f"SELECT 1 FROM act WHERE {_OF_VERSION} AND act = 'locked'", *key_of(study)) is not None


def _check_no_new_answers(into: Merge, source: MergedFile, study: Study) -> None:
    """Raise `LabError` if a study locked in `source` got answers in other files after the copies diverged."""
    acts = f"SELECT id FROM act WHERE {_OF_VERSION} AND act IN {_COUNTING_ACTS}"
    for table, sql in (("label", f"SELECT id FROM label WHERE {_OF_VERSION}"), ("act", acts)):
        for (id,) in into.db.execute(sql, key_of(study)):
            if source.value(f"SELECT 1 FROM {table} WHERE id = ?", id) is None:
                raise LabError(
                    f"study {study.name}",
                    f"is locked in {source.path}, and {into.origin_of_row(table, 'id', id, source)} holds "
                    "answers that are "
                    "not in it.",
                )


# -- units -----------------------------------------------------------------------------------------------------


def _checked_units(into: Merge, source: MergedFile, study: Study) -> Iterator[tuple[int, Unit]]:
    """Yield a study's units with their positions. Raise `LabError` if the plan was frozen over other units.

    Redactions and withdrawals change quoted text in units, so the sample's hash is not compared after any.
    """
    whole, count = hashlib.sha256(), 0
    sql = f"SELECT position, id, body FROM unit WHERE {_OF_VERSION} ORDER BY position"
    for position, id, body in source.rows(sql, *key_of(study)):
        unit: Unit = decode(text_of(body, "unit"), Unit, f"study {study.name}, unit {id}", newest=VERSION)
        if not isinstance(position, int) or storable(unit.id) != id:
            raise LabError(f"study {study.name}", f"unit {id} is not the one that it says it is.")
        # The same bytes that `lab.core.study.study.sample_sha` hashes.
        whole.update(encode(unit) + b"\n")
        count += 1
        yield position, unit
    if count == study.units and whole.hexdigest() != study.sample_sha and not (into.replaced or into.withdrawals):
        raise LabError(f"study {study.name}", "its items are not those that its plan was frozen over.")
    if count > study.units or (count < study.units and not source.erasures.withdrawals):
        raise LabError(f"study {study.name}", f"holds {count:,} of {study.units:,} items, and nobody has withdrawn.")


def _merge_units(into: Merge, source: MergedFile, study: Study) -> None:
    """Erase units that the other file erased for a withdrawal. Raise `LabError` if other units differ."""
    source_units = set()
    for _, unit in _checked_units(into, source, study):
        source_units.add(storable(unit.id))
        sql = f"SELECT body FROM unit WHERE {_OF_VERSION} AND id = ?"
        body = into.value(sql, *key_of(study), storable(unit.id))
        if body is not None and decode(body, Unit, f"unit {unit.id}", newest=VERSION) != unit:
            covered_body = into.combined_redactions(body, encode(unit).decode())
            if covered_body is None:
                raise LabError(
                    f"study {study.name}", f"unit {unit.id} differs from the one in {into.origin_of_study(study)}."
                )
            into.rewrite("unit", f"{_OF_VERSION} AND id = ?", covered_body, body, *key_of(study), storable(unit.id))
    here = [id for (id,) in into.db.execute(f"SELECT id FROM unit WHERE {_OF_VERSION}", key_of(study))]
    missing_units = [id for id in here if id not in source_units]
    if missing_units:
        with into.lifted() as eraser:
            for id in missing_units:
                into.removed["labels"] += eraser.erase_unit(*key_of(study), id)
                into.removed["units"] += 1


# -- assignments, labels and acts ------------------------------------------------------------------------------


def _merge_assignments(into: Merge, source: MergedFile, study: Study) -> None:
    """Merge assignments. If both files dealt independently, this file's positions stay and the others follow."""
    units = {id for (id,) in into.db.execute(f"SELECT id FROM unit WHERE {_OF_VERSION}", key_of(study))}
    sql = f"SELECT DISTINCT rater FROM assignment WHERE {_OF_VERSION} ORDER BY rater"
    many = source.value(f"SELECT count(*) FROM assignment WHERE {_OF_VERSION}", *key_of(study)) > DEFERRED_COUNTING_FROM
    # Lifting the triggers takes time of its own, so it pays only for many rows.
    with deferred_counting(into.db) if many else nullcontext():
        for (rater,) in list(source.rows(sql, *key_of(study))):
            check_not_withdrawn(into.db, text_of(rater, "assignment"), f"study {study.name}")
            assignments = new_assignments(into.db, study, rater, _assignments(source, study, rater, units))
            into.added["dealt"] += insert_assignments(into.db, study, assignments)


def _assignments(source: MergedFile, study: Study, rater: str, units: set[str]) -> Iterator[Assignment]:
    sql = f"SELECT body FROM assignment WHERE {_OF_VERSION} AND rater = ? ORDER BY position"
    for (body,) in source.rows(sql, *key_of(study), rater):
        assignment: Assignment = decode(text_of(body, "assignment"), Assignment, "a row of assignment", newest=VERSION)
        if (assignment.study, assignment.version, storable(assignment.rater)) != (study.id, study.version, rater):
            raise LabError(
                "a row of assignment",
                f"is of {assignment.rater} in {assignment.study} v{assignment.version}, not of {rater}.",
            )
        if storable(assignment.unit) in units:
            yield assignment


def _merge_labels(into: Merge, source: MergedFile, study: Study) -> None:
    """Merge labels under the rules for a single one. The label that one supersedes may arrive before or after it."""
    check = _label_check(into, study)
    for body, label in source.bodies("label", Label, VERSION, _OF_VERSION, *key_of(study)):
        what = f"label {label.id}"
        if (label.study, label.version) != (study.id, study.version):
            raise LabError(what, f"is of study {label.study} v{label.version}, and stands among those of {study.name}.")
        if into.is_present(source, "label", label.id, body, label) or not check(label, what):
            continue
        check_not_withdrawn(into.db, label.rater.id, what)
        insert_label(into.db, label)
        into.added["labels"] += 1


def _label_check(into: Merge, study: Study) -> Callable[[Label, str], bool]:
    """Return a check that is True if a label's unit is in this file. It raises `LabError` for an impossible label."""

    @lru_cache(maxsize=4096)
    # Bounded caches, because a study may have 100,000 units.
    def unit_of(id: str) -> tuple[Unit, frozenset[tuple[str, str]]] | None:
        body = into.value(f"SELECT body FROM unit WHERE {_OF_VERSION} AND id = ?", *key_of(study), storable(id))
        if body is None:
            return None
        unit: Unit = decode(body, Unit, f"unit {id}", newest=VERSION)
        places = ((target, field.id) for target, fields in fields_by_target(study.protocol, unit) for field in fields)
        return unit, frozenset(places)

    @lru_cache(maxsize=4096)
    def is_dealt(rater: str, unit: str, run: int) -> bool:
        sql = f"SELECT 1 FROM assignment WHERE {_OF_VERSION} AND rater = ? AND unit = ? AND run = ?"
        return into.value(sql, *key_of(study), storable(rater), storable(unit), run) is not None

    def check(label: Label, what: str) -> bool:
        label_unit = unit_of(label.unit)
        if label_unit is None:
            return False
        unit, places = label_unit
        field = study.protocol.field(label.field)
        if field is None or (label.target, label.field) not in places:
            raise LabError(what, f"field field: {label.field} of {label.target or 'the item'} is not asked.")
        if label.rater.kind == "human" and not is_dealt(label.rater.id, label.unit, label.run):
            raise LabError(what, f"unit {label.unit}, rating {label.run}, is not dealt to {label.rater.id}.")
        if not label.cleared:
            check_answer(what, field, target_of(unit, label.target), label)
        return True

    return check


def _merge_acts(into: Merge, source: MergedFile, study: Study) -> int:
    """Merge acts. Return how many of the new ones a locked study may still receive."""
    units = {id for (id,) in into.db.execute(f"SELECT id FROM unit WHERE {_OF_VERSION}", key_of(study))}
    late = 0
    for body, act in source.bodies("act", Act, VERSION, _OF_VERSION, *key_of(study)):
        what = f"act {act.id}"
        if (act.study, act.version) != (study.id, study.version):
            raise LabError(what, f"is of study {act.study} v{act.version}, and stands among those of {study.name}.")
        if into.is_present(source, "act", act.id, body, act) or (act.unit and storable(act.unit) not in units):
            continue
        check_not_withdrawn(into.db, act.rater.id, what)
        if act.act == "adjudicated":
            _check_settlement(into, study, act, what)
        insert_act(into.db, act)
        into.added["acts"] += 1
        late += act.act not in _COUNTING_ACTS
    return late


def _check_settlement(into: Merge, study: Study, act: Act, what: str) -> None:
    """Raise `LabError` if a settlement's place is not asked or its value does not fit the field.

    Raters and majority are not checked again, because answers may arrive with a later file.
    """
    settlement: Settlement = convert(act.detail, Settlement, what)
    body = into.value(f"SELECT body FROM unit WHERE {_OF_VERSION} AND id = ?", *key_of(study), storable(act.unit))
    if body is None:
        raise LabError(what, "settles something, and of no item.")
    unit: Unit = decode(body, Unit, f"unit {act.unit}", newest=VERSION)
    field = study.protocol.field(settlement.field)
    is_asked = any(
        target == settlement.target and field in fields for target, fields in fields_by_target(study.protocol, unit)
    )
    if field is None or not is_asked:
        raise LabError(what, f"field field: {settlement.field} of {settlement.target or 'the item'} is not asked.")
    if settlement.minutes is not None and not 0 <= settlement.minutes < float("inf"):
        raise LabError(what, f"field minutes: {settlement.minutes:g} is no length of time")
    if not settlement.withdrawn:
        target, missing = target_of(unit, settlement.target), settlement.reason_missing
        check_value(what, field, target, settlement.value, missing, by=act.rater.kind)


# -- clashes ---------------------------------------------------------------------------------------------------

_CLASHES = """
WITH replaced (id) AS (
    SELECT supersedes FROM label WHERE study = ?1 AND version = ?2 AND supersedes IS NOT NULL
    UNION SELECT also.value FROM label, json_each(label.body, '$.also') also
        WHERE study = ?1 AND version = ?2 AND instr(label.body, '"also":')
)
SELECT rater, unit, run, target, field, ifnull((
    SELECT act = 'commit' FROM act WHERE study = ?1 AND version = ?2 AND rater = label.rater AND unit = label.unit
        AND run = label.run AND act IN ('commit', 'reopen') ORDER BY at DESC, id DESC LIMIT 1
), 0) FROM label
WHERE study = ?1 AND version = ?2 AND id NOT IN (SELECT id FROM replaced)
GROUP BY kind, rater, unit, run, target, field HAVING count(*) > 1
ORDER BY rater, unit, run, target, field
"""

_NEWEST_VERSIONS = (
    f"SELECT id, version FROM study WHERE {IS_NEWEST_VERSION.format('study.id', 'study.version')} ORDER BY id, version"
)


class MergeClash(msgspec.Struct, frozen=True):
    """A place with two last labels of one rater. `target` is empty for the unit itself.

    On a unit that is `handed_in` its rater may still settle on one of them, and nothing else changes.
    """

    study: str
    version: int
    rater: str
    unit: str
    run: int
    target: str
    field: str
    handed_in: bool


def find_clashes(into: Merge) -> Iterator[MergeClash]:
    """Yield the clashes of all studies.

    For an extended study only its newest version counts: earlier answers were carried over and are settled there.
    """
    studies = into.db.execute(_NEWEST_VERSIONS).fetchall()
    for id, version in studies:
        for rater, unit, run, target, field, is_handed_in in into.db.execute(_CLASHES, (id, version)):
            yield MergeClash(id, version, rater, unit, run, target, field, bool(is_handed_in))
