"""Task designs in a hitlab file: append-only acts, one row each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

from lab.core.codec import decode, encode, escape_surrogates
from lab.core.errors import LabError
from lab.core.task.design import VERSION, WRITING, Revision, RevisionLine, Subject, check_next
from store.erasing.tombstones import check_not_withdrawn
from store.file.database import Database

INSERT_DESIGN = "INSERT INTO design VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_HEADS = """
SELECT body FROM design WHERE task = ?1 AND asked = ?2 AND id NOT IN (
    SELECT s.value FROM design later, json_each(later.supersedes) s WHERE later.task = ?1 AND later.asked = ?2
) ORDER BY n
"""
_FROZEN = "SELECT body FROM design WHERE task = ?1 AND asked = ?2 AND act = 'verify' AND version = "
_NEWEST_FROZEN = f"{_FROZEN} (SELECT max(version) FROM design WHERE task = ?1 AND asked = ?2 AND act = 'verify')"


class Designs:
    """Designs of tasks, as a chain of acts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, revision: Revision) -> list[Revision]:
        """Append one act on a design, durable on return. Return the current heads, the new one last.

        More than one head means that two people drafted concurrently and both drafts are kept. Raise `LabError` if the
        rules refuse the act: a frozen version never changes, and its author may not verify it.
        """
        with self._database.writing() as db:
            check_not_withdrawn(db, revision.by.id, _title(revision))
            earlier_revisions = [_decode_revision(row) for id in revision.supersedes for row in _revision_rows(db, id)]
            if len(earlier_revisions) < len(revision.supersedes):
                raise LabError(_title(revision), f"follows a revision that is not in {self._database.path}.")
            _check(db, earlier_revisions, revision)
            db.execute(INSERT_DESIGN, design_row(revision))
            heads = [_decode_revision(row) for row in db.execute(_HEADS, revision.subject)]
        return sorted(heads, key=lambda head: head.id == revision.id)

    def revision(self, id: str) -> Revision:
        """Return one act on a design, with the design after it."""
        rows = self._database.rows_in("design", "SELECT body FROM design WHERE id = ?", escape_surrogates(id))
        if not rows:
            raise LabError(f"revision {id}", f"is not in {self._database.path}.")
        return _decode_revision(rows[0])

    def heads(self, subject: Subject) -> list[Revision]:
        """Return the current heads of a task's design: none, one, or several concurrent revisions."""
        return [_decode_revision(row) for row in self._database.rows_in("design", _HEADS, *_storable_subject(subject))]

    def newest_verified(self, subject: Subject) -> Revision | None:
        """Return the newest verified version, which studies build on, None if there is none or two share the number."""
        rows = self._database.rows_in("design", _NEWEST_FROZEN, *_storable_subject(subject))
        return _decode_revision(rows[0]) if len(rows) == 1 else None

    def history(self, subject: Subject) -> list[RevisionLine]:
        """Return every act on a task's design, oldest first."""
        rows = self._database.rows_in(
            "design",
            "SELECT id, version, act, by, at, note FROM design WHERE task = ? AND asked = ? ORDER BY n",
            *_storable_subject(subject),
        )
        return [RevisionLine(*row) for row in rows]

    def authors(self, subject: Subject, version: int) -> list[str]:
        """Return the study codes of those who drafted or submitted a version."""
        return [code for (code,) in self._database.rows_in("design", _AUTHORS, *_storable_subject(subject), version)]

    def subjects(self) -> list[Subject]:
        """Return every task that has a design, by name."""
        sql = "SELECT DISTINCT task, asked FROM design ORDER BY task, asked"
        return [Subject(*row) for row in self._database.rows_in("design", sql)]


_AUTHORS = (
    "SELECT DISTINCT by FROM design WHERE task = ? AND asked = ? AND version = ? "
    f"AND act IN ({', '.join(repr(act) for act in WRITING)}) ORDER BY by"
)


def _check(db: sqlite3.Connection, earlier_revisions: list[Revision], revision: Revision) -> None:
    """Check the rules for the next act, within the write transaction."""
    if any(earlier.subject != revision.subject for earlier in earlier_revisions):
        raise LabError(_title(revision), "follows a revision of another task's design.")
    heads = {_decode_revision(row).id for row in db.execute(_HEADS, revision.subject)}
    authors = [code for (code,) in db.execute(_AUTHORS, (*revision.subject, revision.version))]
    other_heads = len(heads - {earlier.id for earlier in earlier_revisions})
    if db.execute(f"{_FROZEN} ?3", (*revision.subject, revision.version)).fetchone():
        raise LabError(
            _title(revision),
            f"was verified meanwhile: version {revision.version} never changes.",
            f"Reopen it: that makes version {revision.version + 1}.",
        )
    # A draft may start from an old head and a settlement joins several. All other acts need the current heads.
    if revision.act not in ("draft", "settle") and not heads.issuperset(revision.supersedes):
        raise LabError(_title(revision), "was changed meanwhile; nothing was done.", "Look at it as it stands now.")
    check_next(earlier_revisions, revision, authors, heads=other_heads)


def _revision_rows(db: sqlite3.Connection, id: str) -> Iterable[tuple[str]]:
    return db.execute("SELECT body FROM design WHERE id = ?", (id,)).fetchall()


def design_row(revision: Revision) -> tuple[Any, ...]:
    """Return the values for `INSERT_DESIGN`. The body is text so that any SQLite browser shows it."""
    return (
        revision.id,
        *_storable_subject(revision.subject),
        revision.version,
        revision.act,
        revision.by.id,
        revision.at,
        encode(revision.supersedes).decode(),
        escape_surrogates(revision.note),
        encode(revision).decode(),
    )


def _storable_subject(subject: Subject) -> Subject:
    return Subject(*map(escape_surrogates, subject))


def _title(revision: Revision) -> str:
    return f"design of {revision.task}"


def _decode_revision(row: tuple[str]) -> Revision:
    revision: Revision = decode(row[0], Revision, "a design in the file", newest=VERSION)
    return revision
