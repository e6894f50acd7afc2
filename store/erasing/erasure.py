"""Permanent erasure of runs: the one exception to append-only, for a person's right to withdraw.

Rows are deleted in one transaction, the only place where the triggers are lifted. The file is then rewritten, so that
no deleted content remains in it, its `-wal` or its `-shm`. Earlier copies (packs, exports, backups) are out of reach.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lab.core.codec import decode
from lab.core.errors import LabError
from lab.core.run.run_records import Tombstone
from store.file.connection import BUSY_SECONDS, database_title, sqlite_errors
from store.file.database import Database
from store.file.schema import APPEND_ONLY, create_triggers, triggers
from store.runs.run_rows import TOMBSTONE, tombstone_row

_RUN_TABLES = ("run_act", "shadow", "review", "clearance", "draft", "verdict", "event", "use")
"""Tables whose rows refer to a run and are deleted before its `trace` row."""


class ErasureCounts(NamedTuple):
    """Counts of an erasure: rows of all tables, blobs that no other run uses, and total bytes."""

    rows: int
    blobs: int
    bytes: int


class NotWiped(LabError):
    """Erasure is committed but the file could not be rewritten. `done` holds the result so far.

    A command that ends with it exits with 3: something is left to do.
    """

    def __init__(self, path: Path, why: str, first: str, done: Any) -> None:
        message = (
            "what was erased is in no table, but not yet wiped: it is committed, and bytes of it may still lie in "
        )
        message += f"the file. Why: {why.rstrip('.')}."
        super().__init__(database_title(path), message, f"{first}, then `hitlab runs redact --wipe`.", code=3)
        self.done = done


class Eraser:
    """Deletes rows within one transaction. Callers insert replacements through its `db`."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.linked_files: list[str] = []
        """Paths of linked picture files whose links were erased. The files themselves are not touched."""

    def erase_runs(self, ids: Iterable[str], keep: Iterable[str] = ()) -> ErasureCounts:
        """Delete whole runs, and the blobs that no other run uses except those in `keep`.

        The caller handles forks of these runs and designs that refer to them.
        """
        rows = size = 0
        run_blobs: set[str] = set()
        for id in ids:
            run_blobs |= {sha256 for (sha256,) in self.db.execute("SELECT sha256 FROM use WHERE trace = ?", (id,))}
            # length() counts the characters of a text, but the bytes of a blob.
            bodies = "SELECT ifnull(sum(length(CAST(body AS BLOB))), 0) FROM event WHERE trace = ?"
            size += int(self.db.execute(bodies, (id,)).fetchone()[0])
            for table in _RUN_TABLES:
                rows += self.db.execute(f"DELETE FROM {table} WHERE trace = ?", (id,)).rowcount
            rows += self.db.execute("DELETE FROM trace WHERE id = ?", (id,)).rowcount
        orphan_blobs = [sha256 for sha256 in sorted(run_blobs - set(keep)) if not self._is_used(sha256)]
        for sha256 in orphan_blobs:
            row = self.db.execute("SELECT size FROM blob WHERE sha256 = ?", (sha256,)).fetchone()
            size += int(row[0]) if row else 0
            rows += self.db.execute("DELETE FROM blob WHERE sha256 = ?", (sha256,)).rowcount
            links = self.db.execute("SELECT path FROM link WHERE sha256 = ? ORDER BY rowid", (sha256,)).fetchall()
            self.linked_files += [path for (path,) in links]
            rows += self.db.execute("DELETE FROM link WHERE sha256 = ?", (sha256,)).rowcount
        return ErasureCounts(rows, len(orphan_blobs), size)

    def erase_unit(self, study: str, version: int, unit: str) -> int:
        """Delete a unit of a study with all labels and acts on it. Return the number of labels."""
        key = (study, version, unit)
        labels = self.db.execute("DELETE FROM label WHERE study = ? AND version = ? AND unit = ?", key).rowcount
        for table in ("assignment", "act"):
            self.db.execute(f"DELETE FROM {table} WHERE study = ? AND version = ? AND unit = ?", key)
        self.db.execute("DELETE FROM unit WHERE study = ? AND version = ? AND id = ?", key)
        return labels

    def insert_tombstone(self, stone: Tombstone) -> None:
        """Store a tombstone, so that the run and those it replaced are not imported again."""
        # Redirect older tombstones that point at this run: otherwise their `replaced_by` would name a missing run.
        earlier = self.db.execute("SELECT body FROM tombstone WHERE replaced_by = ?", (stone.trace,)).fetchall()
        for (body,) in earlier:
            moved_stone = msgspec.structs.replace(_decode_tombstone(body), replaced_by=stone.replaced_by)
            # INSERT OR IGNORE would keep the old row.
            self.db.execute("DELETE FROM tombstone WHERE trace = ?", (moved_stone.trace,))
            self.db.execute(TOMBSTONE, tombstone_row(moved_stone))
        self.db.execute(TOMBSTONE, tombstone_row(stone))

    def _is_used(self, sha256: str) -> bool:
        return bool(self.db.execute("SELECT 1 FROM use WHERE sha256 = ? LIMIT 1", (sha256,)).fetchone())


class Erasure:
    """Erases runs permanently and reads their tombstones."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def erasing(self) -> Iterator[Eraser]:
        """Open a transaction in which rows may be deleted, all or none. Call `wipe` after it.

        The triggers are restored before the commit. If it fails, the rollback restores them.
        """
        with self._database.writing() as db, triggers_lifted(db) as eraser:
            yield eraser

    def wipe(self, done: Any = None) -> None:
        """Rewrite the file so that erased content is nowhere in it. Wait for concurrent readers.

        Raise `NotWiped` with `done` if the disk is full or another program keeps the file open.
        """
        try:
            with sqlite_errors(self._database.path):
                self._database.connection().execute("VACUUM")
        except LabError as error:
            # Without VACUUM, at least the `-wal` is cleared of erased content.
            self._truncate_wal()
            size = self._database.read("PRAGMA page_count")[0][0] * self._database.read("PRAGMA page_size")[0][0]
            room = f"Make room for twice its size ({2 * size / 1e6:,.0f} MB), or close other programs"
            why = error.message.partition(" Nothing was written")[0]
            raise NotWiped(self._database.path, f"it could not be rewritten, as it {why}", room, done) from error
        if not self._truncate_wal():
            raise NotWiped(self._database.path, "another program is reading the file", "Close the other program", done)

    def _truncate_wal(self) -> bool:
        """Checkpoint the `-wal` into the file and truncate it. Return False if a reader blocks it past the timeout."""
        until = time.monotonic() + BUSY_SECONDS
        with sqlite_errors(self._database.path):
            # The first column is 1 if another connection blocks the checkpoint.
            while self._database.connection().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > until:
                    return False
                time.sleep(0.05)
        return True

    def tombstone(self, trace_id: str) -> Tombstone | None:
        """Return the tombstone of an erased run, or None if it was not erased."""
        rows = self._database.rows_in("tombstone", "SELECT body FROM tombstone WHERE trace = ?", trace_id)
        return _decode_tombstone(rows[0][0]) if rows else None

    def replaced_by(self, trace_id: str) -> list[Tombstone]:
        """Return the tombstones of the runs that this one replaced."""
        rows = self._database.rows_in(
            "tombstone", "SELECT body FROM tombstone WHERE replaced_by = ? ORDER BY trace", trace_id
        )
        return [_decode_tombstone(body) for (body,) in rows]


@contextmanager
def triggers_lifted(db: sqlite3.Connection) -> Iterator[Eraser]:
    """Lift the append-only triggers for the block, inside the caller's transaction, and restore them at its end."""
    for name in triggers(APPEND_ONLY):
        db.execute(f"DROP TRIGGER IF EXISTS {name}")
    # No `finally`: after an exception the caller's rollback restores the triggers.
    yield Eraser(db)
    create_triggers(db)


def _decode_tombstone(body: str) -> Tombstone:
    return decode(body, Tombstone, "a tombstone in the file", newest=1)
