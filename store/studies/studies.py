"""Studies in a hitlab file: frozen plans, their units, and assignments."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import msgspec

from lab.core.codec import decode, encode, storable
from lab.core.errors import LabError
from lab.core.study.label import Act
from lab.core.study.study import VERSION, Assignment, Progress, Study, StudyLine, Unit, sample_sha
from store.file.database import Database
from store.studies.progress_tables import deferred_counting

_STUDY = "INSERT INTO study VALUES (NULL, ?, ?, ?, ?, ?, ?)"
_UNIT = "INSERT INTO unit VALUES (NULL, ?, ?, ?, ?, ?)"
_ASSIGNMENT = (
    "INSERT INTO assignment VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    # Dealing a sheet again keeps the first row.
    "ON CONFLICT (study, version, rater, unit, run) DO NOTHING"
)
_BATCH = 200
DEFERRED_COUNTING_FROM = 1000
"""Number of assignments from which on they are counted together, because lifting the triggers also takes time."""

_ARCHIVED = (
    "SELECT act FROM act WHERE study = {} AND version = {} AND act IN ('archived', 'restored') ORDER BY n DESC LIMIT 1"
)

_EXTENDING = "SELECT version FROM study WHERE id = ? AND json_extract(body, '$.extends.version') = ?"
IS_NEWEST_VERSION = (
    "NOT EXISTS (SELECT 1 FROM study later WHERE later.id = {} AND json_extract(later.body, '$.extends.version') = {})"
)
"""SQL condition on a study's id and version: True if no later version extends it."""

_DEALT_AND_DONE = (
    "SELECT total(CASE WHEN rater IN (SELECT rater FROM act WHERE study = t.study AND version = t.version "
    "AND act = 'left' AND json_extract(body, '$.detail.for') IS NOT NULL) THEN dealt - left ELSE dealt END), "
    "total(dealt - left) FROM tally t WHERE study = ? AND version = ?"
)
"""Totals of all raters. A replaced rater's open assignments are not counted, because a successor has them."""

_NEXT = (
    "SELECT a.body FROM todo t CROSS JOIN assignment a ON a.study = t.study AND a.version = t.version "
    "AND a.rater = t.rater AND a.position = t.position "
    "WHERE t.study = ? AND t.version = ? AND t.rater = ? AND t.position > ? ORDER BY t.position LIMIT 1"
)

_PEOPLE = {
    "tally": "SELECT DISTINCT rater FROM tally",
    "study": "SELECT DISTINCT value FROM study, json_each(study.body, '$.raters')",
    "answer_link": "SELECT DISTINCT person FROM answer_link",
    "trace": "SELECT DISTINCT user FROM trace WHERE user IS NOT NULL AND source IS NULL",
}
"""Queries for people's codes, by table."""


class Studies:
    """Studies with their units and assignments."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # Writing

    def freeze(self, study: Study, units: Sequence[Unit]) -> None:
        """Store a study's version with its units, all or nothing. Raise `LabError` if it already exists."""
        if len(units) != study.units or sample_sha(tuple(units)) != study.sample_sha:
            raise LabError(f"study {study.name}", "its units are not those that its plan was frozen over.")
        twice = next((id for id, count in Counter(unit.id for unit in units).items() if count > 1), None)
        if twice is not None:
            raise LabError(f"study {study.name}", f"has two units {twice!r}.")
        with self._database.writing() as db:
            check_not_kit(db)
            if db.execute("SELECT 1 FROM study WHERE id = ? AND version = ?", key_of(study)).fetchone():
                raise LabError(f"study {study.name}", f"is in {self._database.path} already.")
            insert_study(db, study)
            insert_units(db, study, enumerate(units))

    def deal(self, study: Study, assignments: Iterable[Assignment]) -> int:
        """Store assignments, all or none, and return the number of new ones. Earlier assignments do not change.

        Raise `LabError` if the study is locked or extended, a person has withdrawn, or two units have one position.
        """
        rows = list(assignments)
        with self._database.writing() as db:
            for rater in {assignment.rater for assignment in rows}:
                check_not_kit(db, but=rater)
            if self.locked(study):
                raise LabError(f"study {study.name}", "is locked; nothing in it changes any more.")
            if (later := self.extended_by(study)) is not None:
                raise LabError(f"study {study.name}", f"was extended and goes on as v{later}.")
            withdrawn_codes = {code for (code,) in db.execute("SELECT code FROM withdrawal")}
            with deferred_counting(db) if len(rows) > DEFERRED_COUNTING_FROM else nullcontext():
                return insert_assignments(db, study, rows, withdrawn_codes)

    # Reading

    def lines(self, *, archived: bool = True) -> list[StudyLine]:
        """Return the newest version of every study, newest study first. Include archived ones if `archived`."""
        rows = self._database.rows_in("study", "SELECT id, max(version) FROM study GROUP BY id ORDER BY max(n) DESC")
        lines = [self.line(id, version) for id, version in rows]
        return [line for line in lines if archived or not line.archived]

    def line(self, id: str, version: int | None = None) -> StudyLine:
        """Return the summary of one study."""
        study = self.study(id, version)
        dealt_count, done_count = self._database.rows_in("tally", _DEALT_AND_DONE, *key_of(study))[0]
        return StudyLine(
            study.id,
            study.version,
            study.title,
            study.protocol.id,
            study.protocol.unit,
            study.units,
            len(study.raters),
            int(dealt_count),
            int(done_count),
            self.locked(study),
            study.at,
            self.archived(study),
        )

    def study(self, id: str, version: int | None = None) -> Study:
        """Return a study, in its newest version if none is given. Raise `LabError` if it does not exist."""
        sql = (
            "SELECT body FROM study WHERE id = ? AND version = ifnull(?, (SELECT max(version) FROM study WHERE id = ?))"
        )
        name = storable(id)
        rows = self._database.rows_in("study", sql, name, version, name)
        if not rows:
            raise LabError(
                f"study {id if version is None else f'{id} v{version}'}",
                f"is not in {self._database.path}{self._suggest(id) or '.'}",
                "`hitlab study status` lists them.",
            )
        return _decode_study(rows[0][0])

    def names(self) -> list[str]:
        """Return the names of all studies, archived ones too, newest first."""
        rows = self._database.rows_in("study", "SELECT id FROM study GROUP BY id ORDER BY max(n) DESC")
        return [id for (id,) in rows]

    def _suggest(self, id: str) -> str:
        """Return a suggestion of a similar study name, for callers who may list studies, else an empty text."""
        if not self._database.may_suggest:
            return ""
        from lab.core.text.suggestion import suggestion

        return suggestion(id, self.names())

    def versions(self, id: str) -> list[int]:
        """Return the versions of a study in this file, oldest first."""
        rows = self._database.rows_in("study", "SELECT version FROM study WHERE id = ? ORDER BY 1", storable(id))
        return [version for (version,) in rows]

    def unit(self, study: Study, id: str) -> Unit:
        """Return one unit of a study."""
        sql = "SELECT body FROM unit WHERE study = ? AND version = ? AND id = ?"
        rows = self._database.rows_in("unit", sql, *key_of(study), storable(id))
        if not rows:
            raise LabError(f"unit {id}", f"is not in study {study.name}.")
        return _decode_unit(rows[0][0])

    def units(self, study: Study) -> Iterator[Unit]:
        """Yield a study's units in order, fetched in batches."""
        after = -1
        sql = (
            "SELECT position, body FROM unit WHERE study = ? AND version = ? AND position > ? ORDER BY position LIMIT ?"
        )
        while True:
            batch = self._database.rows_in("unit", sql, *key_of(study), after, _BATCH)
            yield from (_decode_unit(body) for _, body in batch)
            if len(batch) < _BATCH:
                return
            after = batch[-1][0]

    def assignments(
        self, study: Study, rater: str | None = None, unit: str | None = None, stage: str | None = None
    ) -> list[Assignment]:
        """Return assignments in each rater's order."""
        where, values = study_condition(study, rater=rater, unit=unit, stage=stage)
        rows = self._database.rows_in(
            "assignment", f"SELECT body FROM assignment WHERE {where} ORDER BY rater, position", *values
        )
        return [_decode_assignment(body) for (body,) in rows]

    def next_assignment(self, study: Study, rater: str, after: int = -1) -> Assignment | None:
        """Return a rater's first assignment after a position that is not handed in, or None if all are."""
        rows = self._database.rows_in("todo", _NEXT, *key_of(study), storable(rater), after)
        return _decode_assignment(rows[0][0]) if rows else None

    def progress(self, study: Study, rater: str) -> Progress:
        """Return a rater's progress."""
        sql = "SELECT dealt, left, begun FROM tally WHERE study = ? AND version = ? AND rater = ?"
        rows = self._database.rows_in("tally", sql, *key_of(study), storable(rater))
        dealt_count, left_count, begun_count = rows[0] if rows else (0, 0, 0)
        return Progress(rater, dealt_count, dealt_count - left_count, begun_count, self.is_held(study, rater))

    def handed_in_since(self, study: Study, rater: str, at: str) -> int:
        """Return the number of units a rater handed in since a time, minus those reopened."""
        sql = (
            "SELECT ifnull(sum(CASE act WHEN 'commit' THEN 1 ELSE -1 END), 0) FROM act WHERE study = ? AND version = ? "
            "AND rater = ? AND act IN ('commit', 'reopen') AND at >= ?"
        )
        return int(self._database.rows_in("act", sql, *key_of(study), storable(rater), at)[0][0])

    def people(self) -> list[str]:
        """Return every person's code in this file: from studies, answer links and runs made here."""
        found: set[str] = set()
        for table, sql in _PEOPLE.items():
            found |= {code for (code,) in self._database.rows_in(table, sql)}
        return sorted(found)

    def is_active_rater(self, code: str) -> bool:
        """Return True if a person has a part in an active study: units dealt, or a place in its plan."""
        sql = (
            "SELECT 1 FROM tally t WHERE rater = ? AND dealt > 0 AND NOT EXISTS "
            "(SELECT 1 FROM act WHERE study = t.study AND version = t.version AND act = 'locked') "
            f"AND ifnull(({_ARCHIVED.format('t.study', 't.version')}), '') <> 'archived' "
            f"AND {IS_NEWEST_VERSION.format('t.study', 't.version')} LIMIT 1"
        )
        if self._database.rows_in("tally", sql, storable(code)):
            return True
        sql = (
            "SELECT 1 FROM study s, json_each(s.body, '$.raters') WHERE value = ? AND NOT EXISTS "
            "(SELECT 1 FROM act WHERE study = s.id AND version = s.version AND act = 'locked') "
            f"AND ifnull(({_ARCHIVED.format('s.id', 's.version')}), '') <> 'archived' "
            f"AND {IS_NEWEST_VERSION.format('s.id', 's.version')} LIMIT 1"
        )
        return bool(self._database.rows_in("study", sql, storable(code)))

    def locked(self, study: Study) -> bool:
        """Return True if a study is locked, so that nothing in it may change."""
        sql = "SELECT 1 FROM act WHERE study = ? AND version = ? AND act = 'locked'"
        return bool(self._database.rows_in("act", sql, *key_of(study)))

    def extended_by(self, study: Study) -> int | None:
        """Return the version that extends this one, or None if there is none."""
        rows = self._database.rows_in("study", _EXTENDING, *key_of(study))
        return int(rows[0][0]) if rows else None

    def newest_of(self, study: Study) -> Study:
        """Return the version in which a study continues: the last extension, or itself."""
        while (later := self.extended_by(study)) is not None:
            study = self.study(study.id, later)
        return study

    def archived(self, study: Study) -> bool:
        """Return True if a study is archived and not restored since."""
        rows = self._database.rows_in("act", f"SELECT ({_ARCHIVED.format('?', '?')})", *key_of(study))
        return bool(rows[0][0] == "archived")

    def is_held(self, study: Study, rater: str) -> bool:
        """Return True if a rater was held after the pilot and not released since."""
        sql = (
            "SELECT act FROM act WHERE study = ? AND version = ? AND rater = ? AND act IN ('held', 'released') "
            "ORDER BY at DESC, id DESC LIMIT 1"
        )
        rows = self._database.rows_in("act", sql, *key_of(study), storable(rater))
        return bool(rows) and rows[0][0] == "held"

    def has_left(self, study: Study, rater: str) -> bool:
        """Return True if another person took over this rater's place."""
        sql = "SELECT body FROM act WHERE study = ? AND version = ? AND rater = ? AND act = 'left'"
        rows = self._database.rows_in("act", sql, *key_of(study), storable(rater))
        acts: list[Act] = [decode(body, Act, "an act in the file", newest=VERSION) for (body,) in rows]
        # Without a successor the units stay with the person who left.
        return any("for" in act.detail for act in acts)


def key_of(study: Study) -> tuple[str, int]:
    """Return a study's key in rows: name and version."""
    return storable(study.id), study.version


def study_condition(study: Study, **columns: Any) -> tuple[str, list[Any]]:
    """Return an SQL condition and values for a study's rows, narrowed by the columns that are not None.

    Columns that are not named do not appear in the condition, so that SQLite can use its indexes.
    """
    conditions = {"study": storable(study.id), "version": study.version}
    conditions |= {name: storable(value) if isinstance(value, str) else value for name, value in columns.items()}
    conditions = {name: value for name, value in conditions.items() if value is not None}
    return " AND ".join(f"{name} = ?" for name in conditions), list(conditions.values())


def check_not_kit(db: sqlite3.Connection, but: str = "") -> None:
    """Raise `LabError` if this file is a kit, unless it is `but`'s: studies are changed only in the main file."""
    row = db.execute("SELECT rater FROM kit").fetchone()
    if row and row[0] != but:
        what = f"this file is a kit of {row[0]}"
        raise LabError(what, "it holds a part of a study, which is changed only where the kit came from.")


def insert_study(db: sqlite3.Connection, study: Study, sha: str = "") -> None:
    """Insert a study's row within the caller's transaction. `sha` is the full plan's hash if the plan is abridged."""
    body = encode(study).decode()
    stored_study = _decode_study(body)  # a 0 in a float field is read back as 0.0, which changes the hash
    db.execute(_STUDY, (*key_of(study), storable(study.title), sha or stored_study.sha, storable(study.at), body))


def insert_units(db: sqlite3.Connection, study: Study, units: Iterable[tuple[int, Unit]]) -> None:
    """Insert units with their positions in the study."""
    key = key_of(study)
    db.executemany(_UNIT, ((*key, i, storable(unit.id), encode(unit).decode()) for i, unit in units))


def insert_assignments(
    db: sqlite3.Connection, study: Study, assignments: Iterable[Assignment], withdrawn_codes: Collection[str] = ()
) -> int:
    """Insert assignments and return the number of new ones. `withdrawn_codes` are people who have withdrawn."""

    def rows() -> Iterator[tuple[Any, ...]]:
        for assignment in assignments:
            if (assignment.study, assignment.version) != (study.id, study.version):
                raise LabError(f"study {study.name}", f"an assignment is of {assignment.study} v{assignment.version}.")
            if assignment.rater in withdrawn_codes:
                raise LabError(f"study {study.name}", f"{assignment.rater} has withdrawn.")
            yield (
                storable(assignment.study), assignment.version, storable(assignment.rater), assignment.position,
                storable(assignment.unit), assignment.run, assignment.stage, storable(assignment.at),
                encode(assignment).decode(),
            )  # fmt: skip

    return db.executemany(_ASSIGNMENT, rows()).rowcount


def new_assignments(
    db: sqlite3.Connection, study: Study, rater: str, assignments: Iterable[Assignment]
) -> Iterator[Assignment]:
    """Yield a rater's assignments that are not in this file yet, moved to the end if their positions are taken."""
    sql = "SELECT position, unit, run FROM assignment WHERE study = ? AND version = ? AND rater = ?"
    here = db.execute(sql, (*key_of(study), storable(rater))).fetchall()
    places = {position for position, _, _ in here}
    dealt_sheets = {(unit, run) for _, unit, run in here}
    last = max(places, default=-1)
    for assignment in assignments:
        if (storable(assignment.unit), assignment.run) in dealt_sheets:
            continue
        position = assignment.position if assignment.position not in places else last + 1
        last = max(last, position)
        places.add(position)
        dealt_sheets.add((storable(assignment.unit), assignment.run))
        yield msgspec.structs.replace(assignment, position=position)


def _decode_study(body: str) -> Study:
    return decode(body, Study, "a study in the file", newest=VERSION)


def _decode_unit(body: str) -> Unit:
    return decode(body, Unit, "a unit in the file", newest=VERSION)


def _decode_assignment(body: str) -> Assignment:
    return decode(body, Assignment, "an assignment in the file", newest=VERSION)
