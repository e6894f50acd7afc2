"""Study extensions: copies of the previous version's rows into the new version.

A copied row's id is derived from the original's. Copying again, in this file or another copy, gives the same row and
never a second one. Rows that arrive in the earlier version later, from a kit or a merge, are copied when they arrive.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

from msgspec.structs import replace

from lab.core.codec import decode, storable
from lab.core.errors import LabError
from lab.core.study.label import Act, ActKind, Label
from lab.core.study.study import VERSION, Assignment, Study, Unit, sample_sha
from store.file.database import Database
from store.studies.labels import insert_act, insert_label
from store.studies.progress_tables import deferred_counting
from store.studies.studies import (
    DEFERRED_COUNTING_FROM,
    check_not_kit,
    insert_assignments,
    insert_study,
    insert_units,
    key_of,
    new_assignments,
)

_OF = "study = ? AND version = ?"
_OF_VERSION: frozenset[ActKind] = frozenset({"dealt", "locked", "archived", "restored"})
"""Acts that concern one version of a study and are never copied."""
_OF_PEOPLE: frozenset[ActKind] = frozenset({"left", "replaced", "invited", "entered", "revoked"})
"""Acts about who takes part and by which link: copied when a study is extended, then separate for each version."""
_SAME_UNITS = (
    "SELECT later.id FROM unit later JOIN unit earlier ON earlier.study = later.study AND earlier.id = later.id "
    "WHERE later.study = ?1 AND later.version = ?2 AND earlier.version = ?3 AND earlier.body = later.body"
)


class CopiedRows(NamedTuple):
    """Numbers of rows of an earlier version copied into a later one."""

    assignments: int = 0
    labels: int = 0
    acts: int = 0

    def __bool__(self) -> bool:
        return any(self)


class LastRows(NamedTuple):
    """Last row numbers of a file before an import. Rows after them are new."""

    study: int = 0
    assignment: int = 0
    label: int = 0
    act: int = 0


BEFORE_FIRST_ROW = LastRows()
"""Position before a file's first row: all rows are new."""


def last_rows(db: sqlite3.Connection) -> LastRows:
    """Return a file's current last rows, within the caller's transaction."""
    return LastRows(*(db.execute(f"SELECT ifnull(max(n), 0) FROM {table}").fetchone()[0] for table in LastRows._fields))


class Extensions:
    """Stores versions of studies that extend earlier ones."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def extend(self, study: Study, units: Sequence[Unit], assignments: Iterable[Assignment]) -> CopiedRows:
        """Store an extended version, with everything from the version before, and deal its new units.

        All or nothing, durable on return. Raise `LabError` if the version exists already, or does not extend the newest
        version in this file.
        """
        with self._database.writing() as db:
            check_not_kit(db)
            return _insert(db, study, units, list(assignments))


def _insert(
    db: sqlite3.Connection, study: Study, units: Sequence[Unit], assignments: Sequence[Assignment]
) -> CopiedRows:
    """Insert a version with its units, copied rows and new assignments, within the caller's transaction."""
    what = f"study {study.name}"
    if len(units) != study.units or sample_sha(tuple(units)) != study.sample_sha:
        raise LabError(what, "its units are not those that its plan was frozen over.")
    if db.execute("SELECT 1 FROM study WHERE id = ? AND version >= ?", key_of(study)).fetchone():
        raise LabError(what, "is there already, or a later version is; nothing was done.", "Look again.")
    insert_study(db, study)
    insert_units(db, study, enumerate(units))
    carried = copy_rows(db, study, at_first=True)
    withdrawn_codes = {code for (code,) in db.execute("SELECT code FROM withdrawal")}
    with deferred_counting(db) if len(assignments) > DEFERRED_COUNTING_FROM else nullcontext():
        for rater in dict.fromkeys(assignment.rater for assignment in assignments):
            theirs = (assignment for assignment in assignments if assignment.rater == rater)
            insert_assignments(db, study, list(new_assignments(db, study, rater, theirs)), withdrawn_codes)
    return carried


def copy_new_rows(db: sqlite3.Connection, since: LastRows, of: str | None = None) -> CopiedRows:
    """Copy rows that arrived `since` into the extensions of their studies (of all studies, or of `of`).

    If an extension itself arrived since, copy all rows that it lacks. Raise `LabError` if that would add to a locked
    version.
    """
    total = CopiedRows()
    for n, body in db.execute("SELECT n, body FROM study ORDER BY id, version").fetchall():
        study: Study = decode(body, Study, "a study in the file", newest=VERSION)
        if study.extends is None or (of is not None and study.id != of):
            continue
        # An extension that is new here has nothing of this file's earlier rows yet.
        carried = copy_rows(db, study, since if n <= since.study else BEFORE_FIRST_ROW)
        locked = f"SELECT 1 FROM act WHERE {_OF} AND act = 'locked'"
        if carried and db.execute(locked, key_of(study)).fetchone():
            raise LabError(
                f"study {study.name}",
                f"is locked, and goes on from v{study.extends.version}, in which there are answers that are not in it.",
            )
        total = CopiedRows(*(a + b for a, b in zip(total, carried, strict=True)))
    return total


def copy_rows(
    db: sqlite3.Connection,
    study: Study,
    since: LastRows = BEFORE_FIRST_ROW,
    *,
    at_first: bool = False,
) -> CopiedRows:
    """Copy rows of the version that a study extends, unless already present.

    Only rows about units with identical content in both versions are copied. The protocol must be the same, too. Raise
    `LabError` if the earlier version is not the one that this study was frozen to extend.
    """
    earlier = _extended_version(db, study)
    units = {id for (id,) in db.execute(_SAME_UNITS, (*key_of(study), earlier.version))}
    carrying = _RowCopier(db, study, earlier, units)
    kept_out = _OF_VERSION if at_first else _OF_VERSION | _OF_PEOPLE
    assignments = carrying.assignments(since.assignment)
    labels = carrying.labels(since.label)
    return CopiedRows(assignments, labels, carrying.acts(since.act, kept_out))


def _extended_version(db: sqlite3.Connection, study: Study) -> Study:
    """Return the version that a study extends. Raise `LabError` if this file has another one."""
    assert study.extends is not None
    what = f"study {study.name}"
    key = (storable(study.id), study.extends.version)
    row = db.execute("SELECT body FROM study WHERE id = ? AND version = ?", key).fetchone()
    if row is None:
        raise LabError(what, f"extends v{study.extends.version}, which is not in this file.")
    earlier: Study = decode(row[0], Study, "a study in the file", newest=VERSION)
    if earlier.sha != study.extends.sha or earlier.protocol.sha != study.protocol.sha:
        raise LabError(what, f"extends another v{earlier.version} than the one in this file: its plan differs.")
    return earlier


class _RowCopier:
    """Copies rows from one version into the next, within a transaction."""

    def __init__(self, db: sqlite3.Connection, study: Study, earlier: Study, units: set[str]) -> None:
        self.db = db
        self.study = study
        self.earlier = earlier
        self.units = units

    def assignments(self, since: int) -> int:
        """Copy assignments with their positions, or move them to the end if taken. Return the number."""
        count = 0
        raters = f"SELECT DISTINCT rater FROM assignment WHERE {_OF} AND n > ? ORDER BY rater"
        total = self.db.execute(f"SELECT count(*) FROM assignment WHERE {_OF} AND n > ?", (*self._earlier_key, since))
        with deferred_counting(self.db) if total.fetchone()[0] > DEFERRED_COUNTING_FROM else nullcontext():
            for (rater,) in self.db.execute(raters, (*self._earlier_key, since)).fetchall():
                carried_assignments = [
                    replace(assignment, version=self.study.version)
                    for assignment in self._earlier_assignments(rater, since)
                ]
                count += insert_assignments(
                    self.db, self.study, list(new_assignments(self.db, self.study, rater, carried_assignments))
                )
        return count

    def _earlier_assignments(self, rater: str, since: int) -> Iterator[Assignment]:
        sql = f"SELECT body FROM assignment WHERE {_OF} AND n > ? AND rater = ? ORDER BY position"
        for (body,) in self.db.execute(sql, (*self._earlier_key, since, rater)):
            assignment: Assignment = decode(body, Assignment, "an assignment in the file", newest=VERSION)
            if storable(assignment.unit) in self.units:
                yield assignment

    def labels(self, since: int) -> int:
        """Copy labels, superseded ones too. Return the number."""

        def carry_label(label: Label) -> None:
            insert_label(
                self.db,
                replace(
                    label,
                    id=self._copy_id(label.id),
                    version=self.study.version,
                    supersedes=self._copy_id(label.supersedes) if label.supersedes else None,
                    also=tuple(map(self._copy_id, label.also)),
                    undoes=self._copy_id(label.undoes) if label.undoes else None,
                    carries=label.id,
                ),
            )

        return self._copy_rows("label", Label, since, lambda label: storable(label.unit) in self.units, carry_label)

    def acts(self, since: int, kept_out: Iterable[ActKind]) -> int:
        """Copy acts on these units and on the study as a whole. Return the number."""
        excluded = frozenset(kept_out)

        def carry_act(act: Act) -> None:
            insert_act(self.db, replace(act, id=self._copy_id(act.id), version=self.study.version, carries=act.id))

        def is_carried(act: Act) -> bool:
            return act.act not in excluded and (not act.unit or storable(act.unit) in self.units)

        return self._copy_rows("act", Act, since, is_carried, carry_act)

    def _copy_rows(
        self, table: str, kind: type[Any], since: int, is_wanted: Callable[[Any], bool], insert: Callable[[Any], None]
    ) -> int:
        count = 0
        rows = self.db.execute(
            f"SELECT id, body FROM {table} WHERE {_OF} AND n > ? ORDER BY n", (*self._earlier_key, since)
        )
        # Fetch all first: a scan could visit the rows that `insert` adds to the same table.
        for id, body in rows.fetchall():
            if self.db.execute(f"SELECT 1 FROM {table} WHERE id = ?", (self._copy_id(id),)).fetchone():
                continue
            row: Any = decode(body, kind, f"a row of {table} in the file", newest=VERSION)
            if is_wanted(row):
                insert(row)
                count += 1
        return count

    def _copy_id(self, id: str) -> str:
        """Return the copy's id for a row of the earlier version."""
        return f"{id}.v{self.study.version}"

    @property
    def _earlier_key(self) -> tuple[str, int]:
        return key_of(self.earlier)
