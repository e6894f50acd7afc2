"""What is settled at places of a hitlab file's studies: acts by whoever settled them, the newest of which stands."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from lab.core.adjudication import PlaceAnswer, Settlement, SignedSettlement, adjudicated, majority_of, place_answers
from lab.core.codec import decode, encode, storable
from lab.core.errors import LabError
from lab.core.ids_and_clock import later, now, uuid7
from lab.core.label import Act, Label
from lab.core.label_rules import check_value
from lab.core.protocol import Field
from lab.core.rating_sheet import FieldReference, fields_by_target, handed_in, place_words, target_of
from lab.core.study import VERSION, Study, Unit
from lab.core.task import Actor
from store.database import Database
from store.labels import Labels, insert_act
from store.studies import Studies, check_no_kit, key_of


class Ruling(NamedTuple):
    """What is to be settled, and in which unit."""

    unit: Unit
    what: Settlement


class Adjudications:
    """What is settled at places of a study, by whom and why."""

    def __init__(self, database: Database, studies: Studies, labels: Labels) -> None:
        self._database, self._studies, self._labels = database, studies, labels

    # Writing

    def settle(self, study: Study, unit: Unit, what: Settlement, by: Actor) -> SignedSettlement:
        """Keeps what is right at a place, durable on return; what stood there as settled is superseded.

        `study` and `unit` are as they were read from this file. Raises `LabError` where the file is a kit, the one who
        settles rated the unit or has withdrawn, somebody has not handed it in yet, a reason is missing, or the value,
        the majority or the discussion is not as it is told.
        """
        return self.settle_each(study, [Ruling(unit, what)], by)[0]

    def settle_each(
        self, study: Study, rulings: Sequence[Ruling], by: Actor, *, open_only: bool = False, of_batch: str = ""
    ) -> list[SignedSettlement]:
        """Keeps several, all or none; with `open_only` what another settled meanwhile stays as it was settled, with
        `of_batch` all that does not stand as it was settled in that batch."""
        settlements: list[SignedSettlement] = []
        with self._database.writing() as db:
            check_no_kit(db)
            settlements_by_place = self.settled(study, rulings[0].unit.id if len(rulings) == 1 else None)
            for unit, what in rulings:
                stands = settlements_by_place.get((unit.id, FieldReference(what.target, what.field)))
                if open_only and stands is not None:
                    continue
                if of_batch and (stands is None or stands.what.batch != of_batch):
                    continue
                self._check(db, study, unit, what, by, settlements_by_place)
                settlement = SignedSettlement(unit.id, what, by, self._later(db, study))
                detail = _plain(what)
                insert_act(
                    db,
                    Act(uuid7(), study.id, study.version, by, "adjudicated", settlement.at, unit.id, detail=detail),
                )
                place = (unit.id, FieldReference(what.target, what.field))
                settlements_by_place.pop(place, None)
                if not what.withdrawn:
                    settlements_by_place[place] = settlement
                settlements.append(settlement)
        return settlements

    def _later(self, db: sqlite3.Connection, study: Study) -> str:
        """Now, after the newest settlement: what is settled last stands."""
        sql = "SELECT max(at) FROM act WHERE study = ? AND version = ? AND act = 'adjudicated'"
        return later(now(), db.execute(sql, key_of(study)).fetchone()[0])

    # Reading

    def settled(self, study: Study, unit: str | None = None) -> dict[tuple[str, FieldReference], SignedSettlement]:
        """What stands as settled, by unit and place."""
        sql = "SELECT body FROM act WHERE study = ? AND version = ? AND act = 'adjudicated'"
        more = " AND unit = ?" if unit is not None else ""
        values = (*key_of(study), *(() if unit is None else (storable(unit),)))
        rows = self._database.rows_in("act", f"{sql}{more} ORDER BY n", *values)
        return adjudicated(decode(body, Act, "an act in the file", newest=VERSION) for (body,) in rows)

    def may_settle(self, study: Study, unit: Unit, by: Actor) -> str:
        """Why a person may not settle anything in a unit now, as a sentence; empty where they may."""
        if self._labels.withdrew(by.id):
            return f"{by.id} has withdrawn."
        labels = list(self._labels.read(study, unit.id))
        if any((label.rater.kind, label.rater.id) == (by.kind, by.id) for label in labels):
            return f"{by.id} rated it; who settles it is somebody else."
        if self._studies.locked(study):
            return ""
        assignments = self._studies.assignments(study, unit=unit.id)
        if any(assignment.rater == by.id for assignment in assignments):
            return f"it is dealt to {by.id}, who is to rate it and has not."
        handed_sheets = self.handed(study, unit.id, {assignment.rater for assignment in assignments})
        waits = {
            assignment.rater
            for assignment in assignments
            if (assignment.rater, assignment.unit, assignment.run) not in handed_sheets
        }
        waits = {code for code in waits if not self._studies.has_left(study, code) and not self._labels.withdrew(code)}
        if waits:
            problem = f"{len(waits)} of its raters {'has' if len(waits) == 1 else 'have'} not handed it in yet"
            return f"{problem}; what is settled would come before their answers."
        return ""

    def handed(self, study: Study, unit: str, raters: Collection[str]) -> set[tuple[str, str, int]]:
        """The sheets of a unit (rater, unit, run) that these people have handed in."""
        sql = (
            "SELECT body FROM act WHERE study = ? AND version = ? AND rater = ? AND act IN ('commit', 'reopen') "
            "AND unit = ?"
        )
        of = key_of(study)
        rows_in = self._database.rows_in
        bodies = [body for rater in raters for (body,) in rows_in("act", sql, *of, storable(rater), storable(unit))]
        return set(handed_in(decode(body, Act, "an act in the file", newest=VERSION) for body in bodies))

    def answers_at(self, study: Study, unit: str, spot: FieldReference) -> list[PlaceAnswer]:
        """What stands at a place of a unit by everybody who rated it; of people only what is handed in."""
        labels = list(self._labels.read(study, unit))
        return place_answers(study, spot, labels, self.handed(study, unit, {label.rater.id for label in labels}))

    # Rules

    def _check(
        self,
        db: sqlite3.Connection,
        study: Study,
        unit: Unit,
        what: Settlement,
        by: Actor,
        settlements_by_place: Mapping[tuple[str, FieldReference], SignedSettlement],
    ) -> None:
        spot = FieldReference(what.target, what.field)
        title = f"unit {unit.id}, {place_words(unit, spot)}"
        sql = "SELECT 1 FROM unit WHERE study = ? AND version = ? AND id = ?"
        if not db.execute(sql, (*key_of(study), storable(unit.id))).fetchone():
            raise LabError(title, f"is not in study {study.name} in {self._database.path}.")
        field = _field(study, unit, spot, title)
        if why := self.may_settle(study, unit, by):
            raise LabError(title, why)
        if not what.reason.strip():
            raise LabError(title, "field reason: is empty; what is settled says why.")
        if what.minutes is not None and not 0 <= what.minutes < float("inf"):
            raise LabError(title, f"field minutes: {what.minutes:g} is no length of time")
        if what.withdrawn:
            if (unit.id, spot) not in settlements_by_place:
                raise LabError(title, "is not settled; there is nothing to withdraw.")
            return
        _check_settlement(title, field, unit, what, by, self.answers_at(study, unit.id, spot))


def _field(study: Study, unit: Unit, spot: FieldReference, title: str) -> Field:
    """The field that is asked at a place of a unit; what a rule answered is not settled by anybody."""
    places = fields_by_target(study.protocol, unit)
    fields_here = [field for target, fields in places if target == spot.target for field in fields]
    field = next((candidate for candidate in fields_here if candidate.id == spot.field), None)
    if field is None:
        field_ids = ", ".join(dict.fromkeys(candidate.id for _, fields in places for candidate in fields))
        targets = ", ".join(target for target, _ in places if target) or "none"
        raise LabError(title, f"is not asked there (targets: {targets}; fields: {field_ids})")
    if any(FieldReference(answer.target, answer.field) == spot for answer in unit.mechanical):
        raise LabError(title, "was answered by a rule, and asked of nobody.")
    return field


def _check_settlement(
    title: str, field: Field, unit: Unit, what: Settlement, by: Actor, answers: Sequence[PlaceAnswer]
) -> None:
    """What is settled must fit its field, and what is told of raters must be so."""
    _check_fits(title, field, unit, what, by, what.value, what.reason_missing)
    settled_answer = PlaceAnswer(by, what.value, what.reason_missing)
    if what.by_means == "majority":
        most = majority_of(answers, field)
        if most is None or most.word != settled_answer.word:
            majority = "there is none" if most is None else f"it is {most.reason_missing or most.value!r}"
            raise LabError(title, f"is not what most of its raters say: {majority}.")
    if what.by_means != "discussion" and (what.moves or what.minutes is not None):
        raise LabError(title, "field moves: only a discussion has moves and minutes.")
    answer_by_rater = {answer.rater.id: answer for answer in answers if answer.person}
    for move in what.moves:
        if move.rater not in answer_by_rater:
            raise LabError(title, "field moves: names somebody who did not rate it.")
        if move.was is not None and PlaceAnswer(by, move.was).word != _plain_answer(answer_by_rater[move.rater]).word:
            raise LabError(title, f"field moves: {move.was!r} is not what that rater said.")
        if move.now is not None and PlaceAnswer(by, move.now).word == answer_by_rater[move.rater].word:
            raise LabError(title, f"field moves: {move.now!r} is what that rater said already.")
        _check_fits(title, field, unit, what, by, move.now, None if move.now is not None else "skipped")
    if len({move.rater for move in what.moves}) != len(what.moves):
        raise LabError(title, "field moves: a rater moves once.")


def _plain_answer(answer: PlaceAnswer) -> PlaceAnswer:
    """A reason counts as a word of its own where somebody moved away from it."""
    return PlaceAnswer(answer.rater, answer.reason_missing) if answer.reason_missing else answer


def _check_fits(
    title: str, field: Field, unit: Unit, what: Settlement, by: Actor, value: Any, missing: Any
) -> None:  # fmt: skip
    label = Label("", "", 0, unit.id, what.target, what.field, by, value, reason_missing=missing)
    check_value(title, field, target_of(unit, what.target), label)


def _plain(what: Settlement) -> dict[str, Any]:
    """It as an act tells it; `LabError` where JSON cannot hold it."""
    # Each text apart: escaped with a reason that UTF-8 cannot hold, a name would be no longer the one that is settled.
    moves = tuple(replace(move, code=storable(move.code), why=storable(move.why)) for move in what.moves)
    what = replace(what, reason=storable(what.reason), moves=moves)
    try:
        fields: dict[str, Any] = decode(encode(what), dict[str, Any], "a settlement")
        settlement: Settlement = decode(encode(what), Settlement, "a settlement")
    except (OverflowError, RecursionError, TypeError) as error:
        raise LabError(f"unit of {what.field}", f"field value: cannot be kept ({error}).") from error
    if (settlement.value is None) is not (what.value is None):
        raise LabError(f"place {what.field}", f"field value: {what.value!r} cannot be kept.")
    return fields
