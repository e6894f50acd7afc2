"""Studies in a hitlab file: frozen plans, their units, and who was dealt what."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from lab.errors import LabError
from lab.study import VERSION, Assignment, Progress, Study, StudyLine, Unit, sample_sha
from lab.wire import decode, encode

_STUDY = "INSERT INTO study VALUES (NULL, ?, ?, ?, ?, ?, ?)"
_UNIT = "INSERT INTO unit VALUES (NULL, ?, ?, ?, ?, ?)"
_ASSIGNMENT = "INSERT INTO assignment VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_BATCH = 200

_LAST = """(SELECT c.act FROM act c WHERE c.study = a.study AND c.version = a.version AND c.rater = a.rater
    AND c.act IN ('commit', 'reopen') AND c.unit = a.unit AND c.run = a.run ORDER BY c.at DESC, c.id DESC LIMIT 1)"""
_NEXT = f"""SELECT a.body FROM assignment a WHERE a.study = ? AND a.version = ? AND a.rater = ? AND a.position > ?
    AND {_LAST} IS NOT 'commit' ORDER BY a.position LIMIT 1"""


class Studies:
    """The verbs of `Store` that are about studies; what is beneath them is the store's own."""

    path: Path

    def _read(self, sql: str, *values: Any) -> list[Any]:
        raise NotImplementedError

    def _rows_in(self, table: str, sql: str, *values: Any) -> list[Any]:
        raise NotImplementedError

    def _writing(self) -> AbstractContextManager[sqlite3.Connection]:
        raise NotImplementedError

    # Writing

    def freeze_study(self, study: Study, units: Sequence[Unit]) -> None:
        """Keeps a study's version with its units, all or nothing; `LabError` where it is there already."""
        if sample_sha(tuple(units)) != study.sample_sha or len(units) != study.units:
            raise LabError(f"study {study.name}", "its units are not those that its plan was frozen over.")
        with self._writing() as db:
            if db.execute("SELECT 1 FROM study WHERE id = ? AND version = ?", (study.id, study.version)).fetchone():
                raise LabError(f"study {study.name}", f"is in {self.path} already.")
            insert_study(db, study)
            insert_units(db, study, units)

    def deal(self, study: Study, assignments: Iterable[Assignment]) -> int:
        """Deals units to people, all or none; gives how many were new. What was dealt before stays as it was."""
        new = 0
        with self._writing() as db:
            for one in assignments:
                new += insert_assignment(db, one)
        return new

    # Reading

    def studies(self) -> list[StudyLine]:
        """Every study in its newest version, the newest first; counts come from indexes, no body is read."""
        found = self._rows_in(
            "study",
            "SELECT id, max(version) FROM study GROUP BY id ORDER BY max(n) DESC",
        )
        return [self.study_line(id, version) for id, version in found]

    def study_line(self, id: str, version: int | None = None) -> StudyLine:
        """One study in a line."""
        study = self.study(id, version)
        dealt = self._read("SELECT count(*) FROM assignment WHERE study = ? AND version = ?", id, study.version)
        done = self._read(
            "SELECT count(*) FILTER (WHERE act = 'commit') - count(*) FILTER (WHERE act = 'reopen') FROM act "
            "WHERE study = ? AND version = ? AND act IN ('commit', 'reopen')",
            id,
            study.version,
        )
        return StudyLine(
            study.id,
            study.version,
            study.title,
            study.protocol.id,
            study.protocol.unit,
            study.units,
            len(study.raters),
            int(dealt[0][0]),
            int(done[0][0]),
            self.locked(study),
            study.at,
        )

    def study(self, id: str, version: int | None = None) -> Study:
        """A study, in its newest version where none is named; `LabError` where it is not there."""
        sql = (
            "SELECT body FROM study WHERE id = ? AND version = ifnull(?, (SELECT max(version) FROM study WHERE id = ?))"
        )
        found = self._rows_in("study", sql, id, version, id)
        if not found:
            name = id if version is None else f"{id} v{version}"
            raise LabError(f"study {name}", f"is not in {self.path}.", "`hitlab study status` lists them.")
        study: Study = decode(found[0][0], Study, f"study {id} in the file", newest=VERSION)
        return study

    def versions(self, id: str) -> list[int]:
        """The versions of a study that are here, the oldest first."""
        return [
            version for (version,) in self._rows_in("study", "SELECT version FROM study WHERE id = ? ORDER BY 1", id)
        ]

    def unit(self, study: Study, id: str) -> Unit:
        """One unit of a study."""
        sql = "SELECT body FROM unit WHERE study = ? AND version = ? AND id = ?"
        found = self._rows_in("unit", sql, study.id, study.version, id)
        if not found:
            raise LabError(f"unit {id}", f"is not in study {study.name}.")
        return _unit(found[0][0])

    def units(self, study: Study) -> Iterator[Unit]:
        """A study's units in their order, a few at a time."""
        after = -1
        sql = (
            "SELECT position, body FROM unit WHERE study = ? AND version = ? AND position > ? ORDER BY position LIMIT ?"
        )
        while True:
            batch = self._rows_in("unit", sql, study.id, study.version, after, _BATCH)
            yield from (_unit(body) for _, body in batch)
            if len(batch) < _BATCH:
                return
            after = batch[-1][0]

    def assignments(self, study: Study, rater: str | None = None, unit: str | None = None) -> list[Assignment]:
        """Who was dealt what, in each person's order."""
        found = self._rows_in(
            "assignment",
            "SELECT body FROM assignment WHERE study = ?1 AND version = ?2 AND (?3 IS NULL OR rater = ?3) "
            "AND (?4 IS NULL OR unit = ?4) ORDER BY rater, position",
            study.id,
            study.version,
            rater,
            unit,
        )
        return [_assignment(body) for (body,) in found]

    def next_assignment(self, study: Study, rater: str, after: int = -1) -> Assignment | None:
        """The first unit after a position in a person's order that they have not handed in; None where all are."""
        found = self._rows_in("assignment", _NEXT, study.id, study.version, rater, after)
        return _assignment(found[0][0]) if found else None

    def progress(self, study: Study, rater: str) -> Progress:
        """How far a person is."""
        of = (study.id, study.version, rater)
        dealt = self._read("SELECT count(*) FROM assignment WHERE study = ? AND version = ? AND rater = ?", *of)
        done = self._read(
            "SELECT count(*) FILTER (WHERE act = 'commit') - count(*) FILTER (WHERE act = 'reopen') FROM act "
            "WHERE study = ? AND version = ? AND rater = ? AND act IN ('commit', 'reopen')",
            *of,
        )
        begun = self._read(
            "SELECT count(*) FROM (SELECT DISTINCT unit, run FROM label WHERE study = ? AND version = ? AND rater = ?)",
            *of,
        )
        return Progress(rater, int(dealt[0][0]), int(done[0][0]), int(begun[0][0]), self.held(study, rater))

    def locked(self, study: Study) -> bool:
        """Whether nothing in it changes any more."""
        sql = "SELECT 1 FROM act WHERE study = ? AND version = ? AND act = 'locked'"
        return bool(self._rows_in("act", sql, study.id, study.version))

    def held(self, study: Study, rater: str) -> bool:
        """Whether a person was held after the pilot, and not released since."""
        sql = (
            "SELECT act FROM act WHERE study = ? AND version = ? AND rater = ? AND act IN ('held', 'released') "
            "ORDER BY at DESC, id DESC LIMIT 1"
        )
        found = self._rows_in("act", sql, study.id, study.version, rater)
        return bool(found) and found[0][0] == "held"


def insert_study(db: sqlite3.Connection, study: Study) -> None:
    """A study's row, within the caller's transaction."""
    body = encode(study).decode()
    db.execute(_STUDY, (study.id, study.version, study.title, study.sha, study.at, body))


def insert_units(db: sqlite3.Connection, study: Study, units: Iterable[Unit]) -> None:
    """Its units' rows."""
    db.executemany(
        _UNIT,
        ((study.id, study.version, i, unit.id, encode(unit).decode()) for i, unit in enumerate(units)),
    )


def insert_assignment(db: sqlite3.Connection, one: Assignment) -> bool:
    """An assignment's row; False where that unit was dealt to that person before."""
    key = (one.study, one.version, one.rater, one.unit, one.run)
    sql = "SELECT 1 FROM assignment WHERE study = ? AND version = ? AND rater = ? AND unit = ? AND run = ?"
    if db.execute(sql, key).fetchone():
        return False
    db.execute(
        _ASSIGNMENT,
        (one.study, one.version, one.rater, one.position, one.unit, one.run, one.stage, one.at, encode(one).decode()),
    )
    return True


def _unit(body: str) -> Unit:
    return decode(body, Unit, "a unit in the file", newest=VERSION)


def _assignment(body: str) -> Assignment:
    return decode(body, Assignment, "an assignment in the file", newest=VERSION)
