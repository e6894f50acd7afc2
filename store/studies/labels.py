"""Labels and acts in a hitlab file: one row each, never changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from msgspec.structs import replace

from lab.core.codec import decode, encode, storable
from lab.core.errors import LabError
from lab.core.study.label import INTRODUCTION_ACTS, Act, ActKind, Label
from lab.core.study.label_rules import SheetState, check_next, check_open
from lab.core.study.rating_sheet import Sheet
from lab.core.study.study import VERSION, Assignment, Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import not_before
from store.file.database import Database
from store.studies.studies import Studies, check_not_kit, key_of, study_condition

_LABEL = "INSERT INTO label VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ACT = "INSERT INTO act VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_BATCH = 500


class Labels:
    """Answers and acts of raters on the sheets of a study."""

    def __init__(self, database: Database, studies: Studies) -> None:
        self._database, self._studies = database, studies

    # Writing

    def record(self, study: Study, unit: Unit, label: Label) -> Sheet:
        """Store one label, durable on return, and return the rater's sheet of that unit after it.

        `study` and `unit` must come from this file, where they are frozen. Raise `LabError` if the rules of
        `lab.core.study.label_rules` refuse the label or it cannot be read back.
        """
        with self._database.writing() as db:
            state = self._checked_sheet_state(study, unit, label.rater, label.run)
            check_same_sheet(study, unit, label.rater, label.run, label)
            return _insert_next(db, state, label)

    def record_each(
        self, study: Study, unit: Unit, rater: Actor, run: int, says: Sequence[Callable[[Sheet], Label | None]]
    ) -> Sheet:
        """Store several labels of one sheet, all or none, durable on return.

        Each function in `says` builds its label from the current sheet, or returns None for no label. This way answers
        that another process stored meanwhile are superseded and never lost.
        """
        with self._database.writing() as db:
            state = self._checked_sheet_state(study, unit, rater, run)
            for say in says:
                label = say(state.sheet)
                if label is not None:
                    check_same_sheet(study, unit, rater, run, label)
                    state = state._replace(sheet=_insert_next(db, state, label))
        return state.sheet

    def hand_in(self, study: Study, unit: Unit, act: Act, following: Callable[[], Iterable[Act]] = lambda: ()) -> None:
        """Store that a rater handed in a unit, durable on return, with the acts that `following` returns.

        `following` is called after the hand-in is inserted, in the same transaction. Raise `LabError` if an item is
        unanswered, the unit is handed in already, or the sheet is closed.
        """
        what = f"unit {unit.id}"
        with self._database.writing() as db:
            state = self._checked_sheet_state(study, unit, act.rater, act.run)
            check_open(state, act.rater.id, act.rater.kind, what)
            if state.sheet.committed:
                raise LabError(what, "is handed in already.")
            if unanswered_count := len(state.sheet.unanswered):
                raise LabError(what, f"has {unanswered_count} unanswered.", "Answer or skip them.")
            insert_act_last(db, act)
            for more in following():
                insert_act_last(db, more)

    def reopen(self, study: Study, unit: Unit, act: Act) -> None:
        """Store that a rater reopened a handed-in unit, durable on return.

        Raise `LabError` if it is not handed in, its protocol forbids going back, gold or judges' answers were shown, or
        the sheet is closed.
        """
        what = f"unit {unit.id}"
        with self._database.writing() as db:
            state = self._checked_sheet_state(study, unit, act.rater, act.run)
            check_open(state, act.rater.id, act.rater.kind, what)
            if not state.sheet.committed:
                raise LabError(what, "is not handed in.")
            if study.protocol.forward:
                raise LabError(what, "is handed in, and this study has no going back.")
            if unit.gold:
                raise LabError(what, "has shown what is right; it is not rated again.")
            if any(one.act == "judges" for one in self.acts(study, act.rater.id, unit.id, act.run)):
                raise LabError(what, "has shown what judges say; it is not rated again.")
            insert_act_last(db, act)

    def record_act(self, act: Act, check: Callable[[], None] = lambda: None) -> None:
        """Store an act of a person at a study, durable on return. `check` may raise in the same transaction."""
        with self._database.writing() as db:
            check()
            if self.has_withdrawn(act.rater.id):
                raise LabError(f"study {act.study}", f"{act.rater.id} has withdrawn.")
            # A kit must not lock the study in the main file.
            if act.act == "locked":
                check_not_kit(db)
            insert_act_last(db, act)

    def together(self) -> AbstractContextManager[None]:
        """Join all writes within the block into one transaction, durable at its end."""
        return self._database.transaction()

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Join some writes within `together` into a part that is rolled back alone if it raises."""
        with self._database.writing():
            yield

    # Reading

    def sheet(self, study: Study, unit: Unit, rater: str, run: int = 1, kind: str = "human") -> Sheet:
        """Return one rater's sheet of one unit."""
        of = (*key_of(study), storable(rater), storable(unit.id), run)
        rows = self._database.rows_in("label", _ON_SHEET, *of, kind)
        acts = self._database.rows_in("act", _HAND_INS, *of)
        return Sheet(
            study.protocol, unit, [_decode_label(body) for (body,) in rows], [_decode_act(body) for (body,) in acts]
        )

    def clashing_assignments(self, study: Study, rater: str) -> list[Assignment]:
        """Return the person's handed-in assignments with clashes, in their order, except where gold was shown.

        Clashes come from merged copies of a file. Sheets not handed in show theirs when opened.
        """
        of = (*key_of(study), storable(rater))
        assignments: list[Assignment] = []
        for _, body in self._database.rows_in("assignment", _CLASHING, *of):
            assignment: Assignment = decode(body, Assignment, "an assignment in the file", newest=VERSION)
            unit = self._studies.unit(study, assignment.unit)
            sheet = self.sheet(study, unit, rater, assignment.run)
            if sheet.committed and sheet.clashes and not sheet.is_final:
                assignments.append(assignment)
        return assignments

    def read(self, study: Study, unit: str | None = None, rater: str | None = None) -> Iterator[Label]:
        """Yield every label of a study, superseded ones too, in order of insertion."""
        # Fetch in batches, so that no read transaction stays open while the caller works.
        where, values = study_condition(study, unit=unit, rater=rater)
        after = 0
        while True:
            sql = f"SELECT n, body FROM label WHERE {where} AND n > ? ORDER BY n LIMIT ?"
            batch = self._database.rows_in("label", sql, *values, after, _BATCH)
            yield from (_decode_label(body) for _, body in batch)
            if len(batch) < _BATCH:
                return
            after = batch[-1][0]

    def acts(
        self,
        study: Study,
        rater: str | None = None,
        unit: str | None = None,
        run: int | None = None,
        *,
        judged: bool = False,
    ) -> list[Act]:
        """Return the acts of a study in order of insertion.

        `judged` includes the models' full replies, which may be long and many.
        """
        where, values = study_condition(study, rater=rater, unit=unit, run=run)
        where += "" if judged else " AND act != 'judged'"
        rows = self._database.rows_in("act", f"SELECT body FROM act WHERE {where} ORDER BY n", *values)
        return [_decode_act(body) for (body,) in rows]

    def acts_of(self, study: Study, kinds: Collection[ActKind]) -> list[Act]:
        """Return a study's acts of these kinds, in order of insertion."""
        marks = ", ".join("?" * len(kinds))
        sql = f"SELECT body FROM act WHERE study = ? AND version = ? AND act IN ({marks}) ORDER BY n"
        return [_decode_act(body) for (body,) in self._database.rows_in("act", sql, *key_of(study), *kinds)]

    def introductions(self, study: str, rater: str | None = None) -> list[Act]:
        """Return introduction and practice acts of all versions of a study, by time, of one person if named."""
        marks = ", ".join("?" * len(INTRODUCTION_ACTS))
        sql = f"SELECT body FROM act WHERE study = ? AND act IN ({marks})"
        values: list[str] = [storable(study), *INTRODUCTION_ACTS]
        if rater is not None:
            sql, values = f"{sql} AND rater = ?", [*values, storable(rater)]
        acts = [_decode_act(body) for (body,) in self._database.rows_in("act", f"{sql} ORDER BY n", *values)]
        return sorted(acts, key=lambda act: (act.at, act.id))

    def each_act(self, study: Study, rater: str, kind: ActKind) -> Iterator[Act]:
        """Yield a rater's acts of one kind in order of insertion, in small batches."""
        yield from (act for _, act in self.numbered_acts(study, rater, kind))

    def numbered_acts(self, study: Study, rater: str, kind: ActKind) -> Iterator[tuple[int, Act]]:
        """Yield the same acts, each with its row number."""
        where = "study = ? AND version = ? AND rater = ? AND act = ?"
        sql = f"SELECT n, body FROM act WHERE {where} AND n > ? ORDER BY n LIMIT ?"
        after = 0
        while True:
            batch = self._database.rows_in("act", sql, *key_of(study), storable(rater), kind, after, _BATCH)
            yield from ((n, _decode_act(body)) for n, body in batch)
            if len(batch) < _BATCH:
                return
            after = batch[-1][0]

    def act_number(self, id: str) -> int:
        """Return the row number of an act."""
        return int(self._database.rows_in("act", "SELECT n FROM act WHERE id = ?", storable(id))[0][0])

    def numbered_act(self, number: int) -> Act:
        """Return the act in a row."""
        return _decode_act(self._database.rows_in("act", "SELECT body FROM act WHERE n = ?", number)[0][0])

    def count_acts(self, study: Study, rater: str, kind: ActKind) -> int:
        """Return the number of a rater's acts of one kind at a study."""
        sql = "SELECT count(*) FROM act WHERE study = ? AND version = ? AND rater = ? AND act = ?"
        rows = self._database.rows_in("act", sql, *key_of(study), storable(rater), kind)
        return int(rows[0][0]) if rows else 0

    def config_hashes(self, study: Study, rater: str) -> set[str]:
        """Return the hashes of the configurations under which a model has labels at a study."""
        sql = (
            "SELECT DISTINCT ifnull(json_extract(body, '$.config_sha'), '') FROM label "
            "WHERE study = ? AND version = ? AND rater = ? AND kind = 'model'"
        )
        return {sha for (sha,) in self._database.rows_in("label", sql, *key_of(study), storable(rater))}

    def count_newer(self, study: Study, label: int) -> int:
        """Return the number of labels of a study after row `label`."""
        # By row number, not by the study's index: few rows are newer, but a study may have a million.
        sql = "SELECT count(*) FROM label WHERE n > ? AND +study = ? AND +version = ?"
        rows = self._database.rows_in("label", sql, label, *key_of(study))
        return int(rows[0][0]) if rows else 0

    def has_withdrawn(self, code: str) -> bool:
        """Return True if a person has withdrawn, so that no data of theirs is accepted again."""
        # An older, read-only file may lack the table.
        return bool(self._database.rows_in("withdrawal", "SELECT 1 FROM withdrawal WHERE code = ?", storable(code)))

    def sheet_state(self, study: Study, unit: Unit, rater: Actor, run: int = 1) -> SheetState:
        """Return the state that the rules for a rater's next label on a unit need."""
        sql = "SELECT body FROM assignment WHERE study = ? AND version = ? AND rater = ? AND unit = ? AND run = ?"
        rows = self._database.rows_in("assignment", sql, *key_of(study), storable(rater.id), storable(unit.id), run)
        return SheetState(
            study,
            unit,
            decode(rows[0][0], Assignment, "an assignment in the file", newest=VERSION) if rows else None,
            self.sheet(study, unit, rater.id, run, rater.kind),
            locked=self._studies.locked(study),
            is_held=self._studies.is_held(study, rater.id),
            withdrawn=self.has_withdrawn(rater.id),
            has_left=self._studies.has_left(study, rater.id),
            extended_by=self._studies.extended_by(study),
            steps=self.steps_of,
        )

    def steps_of(self, run: str) -> int | None:
        """Return the number of steps of a run, or None if it is not in this file."""
        sql = "SELECT (SELECT count(*) FROM event WHERE trace = ? AND kind = 'step') FROM trace WHERE id = ?"
        rows = self._database.rows_in("event", sql, storable(run), storable(run))
        return int(rows[0][0]) if rows else None

    def _checked_sheet_state(self, study: Study, unit: Unit, rater: Actor, run: int) -> SheetState:
        """Return the sheet state within a transaction. Raise `LabError` if this file has no such sheet."""
        what = f"study {study.name}"
        # `label_columns` packs the number into 32 bits.
        if not 1 <= run < 2**31:
            raise LabError(what, f"field run: {run} is no count of ratings, from 1 on")
        rows = self._database.read("SELECT rater FROM kit")
        if rows and rows[0][0] != rater.id:
            raise LabError(what, f"this file is a kit of {rows[0][0]}; {rater.id} says nothing in it.")
        sql = "SELECT 1 FROM unit WHERE study = ? AND version = ? AND id = ?"
        if not self._database.read(sql, *key_of(study), storable(unit.id)):
            raise LabError(what, f"has no unit {unit.id} in {self._database.path}.")
        return self.sheet_state(study, unit, rater, run)


_ON_SHEET = (
    "SELECT body FROM label WHERE study = ? AND version = ? AND rater = ? AND unit = ? AND run = ? AND kind = ? "
    "ORDER BY n"
)
_CLASHING = (
    "SELECT DISTINCT a.position, a.body FROM (SELECT unit, run FROM label WHERE study = ?1 AND version = ?2 "
    "AND rater = ?3 AND kind = 'human' GROUP BY unit, run, target, field, supersedes HAVING count(*) > 1) f "
    "CROSS JOIN assignment a WHERE a.study = ?1 AND a.version = ?2 AND a.rater = ?3 AND a.unit = f.unit "
    "AND a.run = f.run ORDER BY a.position"
)
"""Sheets with two labels that superseded the same label, or none: these cause clashes.

Such sheets are few, so `CROSS JOIN` makes SQLite look up an assignment for each, not the reverse.
"""
_HAND_INS = (
    "SELECT body FROM act WHERE study = ? AND version = ? AND rater = ? AND unit = ? AND run = ? "
    "AND act IN ('commit', 'reopen') ORDER BY n"
)


_SHEET = "study = ?1 AND version = ?2 AND rater = ?3 AND unit = ?4 AND run = ?5"
_LAST_TIME = (
    f"SELECT max(at) FROM (SELECT at FROM act INDEXED BY act_on_sheet WHERE {_SHEET} "
    f"UNION ALL SELECT at FROM label WHERE {_SHEET})"
)
"""Latest time on a sheet.

Without `INDEXED BY`, SQLite would use an index that also has the time, and scan all of the rater's acts at the study.
"""


def _last_time_on_sheet(
    db: sqlite3.Connection, study: str, version: int, rater: str, unit: str, run: int
) -> str | None:
    """Return the time of the last label or act on a sheet, or with an empty unit of the last act at the study."""
    body: str | None = db.execute(
        _LAST_TIME, (storable(study), version, storable(rater), storable(unit), run)
    ).fetchone()[0]
    return body


def insert_act_last(db: sqlite3.Connection, act: Act) -> None:
    """Insert an act within the caller's transaction, dated after the last on its sheet regardless of the clock."""
    last = _last_time_on_sheet(db, act.study, act.version, act.rater.id, act.unit, act.run)
    insert_act(db, replace(act, at=not_before(act.at, last)))


def check_same_sheet(study: Study, unit: Unit, rater: Actor, run: int, label: Label) -> None:
    """Raise `LabError` if a label does not belong to this sheet."""
    sheet_key = (label.study, label.version, label.unit, label.rater.kind, label.rater.id, label.run)
    if sheet_key != (study.id, study.version, unit.id, rater.kind, rater.id, run):
        raise LabError(f"label {label.id}", f"is not of unit {unit.id} of study {study.name} by {rater.id}.")


def _insert_next(db: sqlite3.Connection, state: SheetState, label: Label) -> Sheet:
    """Check a label by the rules and insert it within the caller's transaction. Return the sheet after it."""
    last = _last_time_on_sheet(db, label.study, label.version, label.rater.id, label.unit, label.run)
    # A clock that was set back must not date an answer before the one it follows.
    label = replace(label, at=not_before(label.at, last))
    check_next(state, label)
    return state.sheet.with_label(insert_label(db, label))


def insert_label(db: sqlite3.Connection, label: Label) -> Label:
    """Insert a label within the caller's transaction and return it as it will be read back."""
    what = f"label {label.id}"
    try:
        body = encode(label).decode()
        stored_label = _decode_label(body)
    except (OverflowError, RecursionError, TypeError) as error:
        raise LabError(what, f"field value: cannot be kept ({error}).") from error
    if stored_label.cleared != label.cleared:  # JSON has no infinity and no NaN: they would come back as null
        raise LabError(what, f"field value: {label.value!r} cannot be kept.")
    names = (label.id, label.study, label.unit, label.target, label.field, label.rater.kind, label.rater.id, label.at)
    id, study, unit, target, field, kind, rater, at = map(storable, names)
    values = (id, study, label.version, unit, target, field, kind, rater, label.run, at, label.supersedes, body)
    db.execute(_LABEL, values)
    return stored_label


def insert_act(db: sqlite3.Connection, act: Act) -> None:
    """Insert an act within the caller's transaction."""
    names = (act.id, act.study, act.rater.id, act.unit, act.act, act.at)
    id, study, rater, unit, kind, at = map(storable, names)
    db.execute(_ACT, (id, study, act.version, rater, unit, act.run, kind, at, encode(act).decode()))


def _decode_label(body: str) -> Label:
    return decode(body, Label, "a label in the file", newest=VERSION)


def _decode_act(body: str) -> Act:
    return decode(body, Act, "an act in the file", newest=VERSION)
