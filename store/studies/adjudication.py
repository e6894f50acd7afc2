"""Settlements of disagreements in a study: append-only acts, of which the newest at each place applies."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from lab.core.codec import decode, encode, storable
from lab.core.errors import LabError
from lab.core.study.adjudication import (
    PlaceAnswer,
    Settlement,
    SignedSettlement,
    current_settlements,
    majority_of,
    place_answers,
)
from lab.core.study.label import Act
from lab.core.study.label_rules import check_value
from lab.core.study.protocol import Field
from lab.core.study.rating_sheet import FieldReference, fields_by_target, place_words, submitted_sheets, target_of
from lab.core.study.study import VERSION, Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import not_before, now, uuid7
from store.file.database import Database
from store.studies.labels import Labels, insert_act
from store.studies.studies import Studies, check_not_kit, key_of


class Ruling(NamedTuple):
    """One settlement to store, with its unit."""

    unit: Unit
    settlement: Settlement


class Adjudications:
    """Reads and writes settlements (adjudicated answers) of a study."""

    def __init__(self, database: Database, studies: Studies, labels: Labels) -> None:
        self._database, self._studies, self._labels = database, studies, labels

    # Writing

    def settle(self, study: Study, unit: Unit, what: Settlement, by: Actor) -> SignedSettlement:
        """Store the right answer at a place and supersede the earlier settlement there, durable on return.

        `study` and `unit` must come from this file. Raise `LabError` if the file is a kit, the settler rated the unit
        or has withdrawn, a rater has not handed it in yet, the reason is missing, or the value, majority or discussion
        contradicts the stored answers.
        """
        return self.settle_each(study, [Ruling(unit, what)], by)[0]

    def settle_each(
        self, study: Study, rulings: Sequence[Ruling], by: Actor, *, open_only: bool = False, of_batch: str = ""
    ) -> list[SignedSettlement]:
        """Store several settlements, all or none.

        `open_only` skips places that another person settled meanwhile. `of_batch` skips places whose current settlement
        is not from that batch.
        """
        settlements: list[SignedSettlement] = []
        with self._database.writing() as db:
            # Inside the write lock, so that no answer or settlement can arrive between the checks and the insert.
            check_not_kit(db)
            settlements_by_place = self.settlements(study, rulings[0].unit.id if len(rulings) == 1 else None)
            for unit, what in rulings:
                stands = settlements_by_place.get((unit.id, FieldReference(what.target, what.field)))
                if open_only and stands is not None:
                    continue
                if of_batch and (stands is None or stands.what.batch != of_batch):
                    continue
                self._check(db, study, unit, what, by, settlements_by_place)
                settlement = SignedSettlement(unit.id, what, by, self._next_time(db, study))
                detail = _act_detail(what)
                insert_act(
                    db,
                    Act(uuid7(), study.id, study.version, by, "adjudicated", settlement.at, unit.id, detail=detail),
                )
                place = (unit.id, FieldReference(what.target, what.field))
                # Later rulings of this call must see this one.
                settlements_by_place.pop(place, None)
                if not what.withdrawn:
                    settlements_by_place[place] = settlement
                settlements.append(settlement)
        return settlements

    def _next_time(self, db: sqlite3.Connection, study: Study) -> str:
        """Return the current time, but later than the newest settlement, so that the last one always applies.

        The system clock may have been set back.
        """
        sql = "SELECT max(at) FROM act WHERE study = ? AND version = ? AND act = 'adjudicated'"
        return not_before(now(), db.execute(sql, key_of(study)).fetchone()[0])

    # Reading

    def settlements(self, study: Study, unit: str | None = None) -> dict[tuple[str, FieldReference], SignedSettlement]:
        """Return the current settlements by unit and place."""
        sql = "SELECT body FROM act WHERE study = ? AND version = ? AND act = 'adjudicated'"
        more = " AND unit = ?" if unit is not None else ""
        values = (*key_of(study), *(() if unit is None else (storable(unit),)))
        rows = self._database.rows_in("act", f"{sql}{more} ORDER BY n", *values)
        return current_settlements(decode(body, Act, "an act in the file", newest=VERSION) for (body,) in rows)

    def settling_obstacle(self, study: Study, unit: Unit, by: Actor) -> str:
        """Return why a person may not settle anything in a unit now, as a sentence, empty if they may."""
        if self._labels.has_withdrawn(by.id):
            return f"{by.id} has withdrawn."
        labels = list(self._labels.read(study, unit.id))
        if any((label.rater.kind, label.rater.id) == (by.kind, by.id) for label in labels):
            return f"{by.id} rated it; who settles it is somebody else."
        # A locked study receives no more answers, so there is nobody to wait for.
        if self._studies.locked(study):
            return ""
        assignments = self._studies.assignments(study, unit=unit.id)
        if any(assignment.rater == by.id for assignment in assignments):
            return f"it is dealt to {by.id}, who is to rate it and has not."
        # A rater who has not handed in could still see the settled answer, so settling waits for all who remain.
        handed_sheets = self.handed_in_sheets(study, unit.id, {assignment.rater for assignment in assignments})
        waits = {
            assignment.rater
            for assignment in assignments
            if (assignment.rater, assignment.unit, assignment.run) not in handed_sheets
        }
        # People who left or withdrew will never hand in.
        waits = {
            code for code in waits if not self._studies.has_left(study, code) and not self._labels.has_withdrawn(code)
        }
        if waits:
            problem = f"{len(waits)} of its raters {'has' if len(waits) == 1 else 'have'} not handed it in yet"
            return f"{problem}; what is settled would come before their answers."
        return ""

    def handed_in_sheets(self, study: Study, unit: str, raters: Collection[str]) -> set[tuple[str, str, int]]:
        """Return the sheets of a unit (rater, unit, run) that these raters have handed in."""
        sql = (
            "SELECT body FROM act WHERE study = ? AND version = ? AND rater = ? AND act IN ('commit', 'reopen') "
            "AND unit = ?"
        )
        key = key_of(study)
        rows_in = self._database.rows_in
        bodies = [body for rater in raters for (body,) in rows_in("act", sql, *key, storable(rater), storable(unit))]
        return set(submitted_sheets(decode(body, Act, "an act in the file", newest=VERSION) for body in bodies))

    def answers_at(self, study: Study, unit: str, spot: FieldReference) -> list[PlaceAnswer]:
        """Return the current answers of all raters at a place, a person's only if handed in."""
        labels = list(self._labels.read(study, unit))
        return place_answers(
            study, spot, labels, self.handed_in_sheets(study, unit, {label.rater.id for label in labels})
        )

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
        if why := self.settling_obstacle(study, unit, by):
            raise LabError(title, why)
        if not what.reason.strip():
            raise LabError(title, "field reason: is empty; what is settled says why.")
        # The chained comparison also refuses NaN.
        if what.minutes is not None and not 0 <= what.minutes < float("inf"):
            raise LabError(title, f"field minutes: {what.minutes:g} is no length of time")
        if what.withdrawn:
            if (unit.id, spot) not in settlements_by_place:
                raise LabError(title, "is not settled; there is nothing to withdraw.")
            return
        _check_settlement(title, field, unit, what, by, self.answers_at(study, unit.id, spot))


def _field(study: Study, unit: Unit, spot: FieldReference, title: str) -> Field:
    """Return the field asked at a place of a unit. Raise `LabError` if none is or a rule answered it."""
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
    """Raise `LabError` if the settled value does not fit its field or the claims about raters are false."""
    target = target_of(unit, what.target)
    check_value(title, field, target, what.value, what.reason_missing, by=by.kind)
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
        if (
            move.was is not None
            and PlaceAnswer(by, move.was).word != _comparable_answer(answer_by_rater[move.rater]).word
        ):
            raise LabError(title, f"field moves: {move.was!r} is not what that rater said.")
        if move.now is not None and PlaceAnswer(by, move.now).word == answer_by_rater[move.rater].word:
            raise LabError(title, f"field moves: {move.now!r} is what that rater said already.")
        check_value(title, field, target, move.now, None if move.now is not None else "skipped", by=by.kind)
    if len({move.rater for move in what.moves}) != len(what.moves):
        raise LabError(title, "field moves: a rater moves once.")


def _comparable_answer(answer: PlaceAnswer) -> PlaceAnswer:
    """Treat a missing reason as the answer itself, so that a move away from it can name it."""
    return PlaceAnswer(answer.rater, answer.reason_missing) if answer.reason_missing else answer


def _act_detail(what: Settlement) -> dict[str, Any]:
    """Return the settlement as JSON fields of an act. Raise `LabError` if JSON cannot represent it."""
    # Escape each text separately: escaped together with a reason that is not valid UTF-8, a name would change.
    moves = tuple(replace(move, code=storable(move.code), why=storable(move.why)) for move in what.moves)
    what = replace(what, reason=storable(what.reason), moves=moves)
    try:
        fields: dict[str, Any] = decode(encode(what), dict[str, Any], "a settlement")
        settlement: Settlement = decode(encode(what), Settlement, "a settlement")
    except (OverflowError, RecursionError, TypeError) as error:
        raise LabError(f"unit of {what.field}", f"field value: cannot be kept ({error}).") from error
    # JSON has no NaN or infinity: such a value comes back as None.
    if (settlement.value is None) is not (what.value is None):
        raise LabError(f"place {what.field}", f"field value: {what.value!r} cannot be kept.")
    return fields
