"""Taking runs out of a hitlab file for good: the one exception to append-only, for a person's right to be left out.

Rows go in one transaction, in which alone the triggers are lifted; then the file is rewritten, so that what stood
there is nowhere in it, its `-wal` or its `-shm`. Copies made before (packs, exports, backups) cannot be reached.
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
from lab.core.run_records import Tombstone
from store.connection import BUSY_SECONDS, named, sqlite_errors
from store.database import Database
from store.run_rows import TOMBSTONE, tombstone_row
from store.schema import APPEND_ONLY, guard, triggers

_OF_RUN = ("run_act", "shadow", "review", "clearance", "draft", "verdict", "event", "use")
"""Tables whose rows belong to a run, in an order in which they may go."""


class Destroyed(NamedTuple):
    """What went: rows of all tables, blobs that no other run uses, and their bytes together."""

    rows: int
    blobs: int
    bytes: int


class NotWiped(LabError):
    """What was erased is in no table any more, for good, and the file could not be rewritten. `done` is what was done.

    A command that ends with it ends with 3: something is left to do.
    """

    def __init__(self, path: Path, why: str, first: str, done: Any) -> None:
        message = (
            "what was erased is in no table, but not yet wiped: it is committed, and bytes of it may still lie in "
        )
        message += f"the file. Why: {why.rstrip('.')}."
        super().__init__(named(path), message, f"{first}, then `hitlab privacy --wipe`.", code=3)
        self.done = done


class Eraser:
    """Takes rows out within one transaction; `db` is the transaction's, for those who put something in their place."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.outside: list[str] = []
        """Files outside that hold pictures which were taken out: they were linked, and stand where they did."""

    def erase_runs(self, ids: Iterable[str], keep: Iterable[str] = ()) -> Destroyed:
        """Takes whole runs out, and the blobs that no other run uses, but for those to `keep`.

        Runs that were forked from them, and designs that refer to them, are the caller's to think of.
        """
        rows = size = 0
        run_blobs: set[str] = set()
        for id in ids:
            run_blobs |= {sha256 for (sha256,) in self.db.execute("SELECT sha256 FROM use WHERE trace = ?", (id,))}
            bodies = "SELECT ifnull(sum(length(CAST(body AS BLOB))), 0) FROM event WHERE trace = ?"
            size += int(self.db.execute(bodies, (id,)).fetchone()[0])
            for table in _OF_RUN:
                rows += self.db.execute(f"DELETE FROM {table} WHERE trace = ?", (id,)).rowcount
            rows += self.db.execute("DELETE FROM trace WHERE id = ?", (id,)).rowcount
        orphan_blobs = [sha256 for sha256 in sorted(run_blobs - set(keep)) if not self._used(sha256)]
        for sha256 in orphan_blobs:
            row = self.db.execute("SELECT size FROM blob WHERE sha256 = ?", (sha256,)).fetchone()
            size += int(row[0]) if row else 0
            rows += self.db.execute("DELETE FROM blob WHERE sha256 = ?", (sha256,)).rowcount
            links = self.db.execute("SELECT path FROM link WHERE sha256 = ? ORDER BY rowid", (sha256,)).fetchall()
            self.outside += [path for (path,) in links]
            rows += self.db.execute("DELETE FROM link WHERE sha256 = ?", (sha256,)).rowcount
        return Destroyed(rows, len(orphan_blobs), size)

    def erase_unit(self, study: str, version: int, unit: str) -> int:
        """Takes a unit of a study out, with all that was said of it; gives how many labels went."""
        of = (study, version, unit)
        labels = self.db.execute("DELETE FROM label WHERE study = ? AND version = ? AND unit = ?", of).rowcount
        for table in ("assignment", "act"):
            self.db.execute(f"DELETE FROM {table} WHERE study = ? AND version = ? AND unit = ?", of)
        self.db.execute("DELETE FROM unit WHERE study = ? AND version = ? AND id = ?", of)
        return labels

    def bury(self, stone: Tombstone) -> None:
        """Remembers that a run was erased: it is not taken in again, nor is what it stood in the place of."""
        earlier = self.db.execute("SELECT body FROM tombstone WHERE replaced_by = ?", (stone.trace,)).fetchall()
        for (body,) in earlier:
            moved_stone = msgspec.structs.replace(_stone(body), replaced_by=stone.replaced_by)
            self.db.execute("DELETE FROM tombstone WHERE trace = ?", (moved_stone.trace,))
            self.db.execute(TOMBSTONE, tombstone_row(moved_stone))
        self.db.execute(TOMBSTONE, tombstone_row(stone))

    def _used(self, sha256: str) -> bool:
        return bool(self.db.execute("SELECT 1 FROM use WHERE sha256 = ? LIMIT 1", (sha256,)).fetchone())


class Erasure:
    """Takes runs out of a file for good, and tells which were taken out."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def erasing(self) -> Iterator[Eraser]:
        """One transaction in which rows may go, all or none; `wipe` is to be called after it.

        The triggers are back before it is committed, and where it fails they were never lifted.
        """
        with self._database.writing() as db, lifted(db) as eraser:
            yield eraser

    def wipe(self, done: Any = None) -> None:
        """Rewrites the file, so that what was erased is nowhere in it; waits for those who read meanwhile.

        Raises `NotWiped`, which holds what was `done`, where the disk is full or another program does not let go of
        the file.
        """
        try:
            with sqlite_errors(self._database.path):
                self._database.connection().execute("VACUUM")
        except LabError as error:
            self._emptied()
            size = self._database.read("PRAGMA page_count")[0][0] * self._database.read("PRAGMA page_size")[0][0]
            room = f"Make room for twice its size ({2 * size / 1e6:,.0f} MB), or close other programs"
            why = error.message.partition(" Nothing was written")[0]
            raise NotWiped(self._database.path, f"it could not be rewritten, as it {why}", room, done) from error
        if not self._emptied():
            raise NotWiped(self._database.path, "another program is reading the file", "Close the other program", done)

    def _emptied(self) -> bool:
        """Takes what was written last from the `-wal` into the file, and empties it; False where somebody reads it."""
        until = time.monotonic() + BUSY_SECONDS
        with sqlite_errors(self._database.path):
            while self._database.connection().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > until:
                    return False
                time.sleep(0.05)
        return True

    def tombstone(self, trace_id: str) -> Tombstone | None:
        """What stays of a run that was erased; None where it was not."""
        rows = self._database.rows_in("tombstone", "SELECT body FROM tombstone WHERE trace = ?", trace_id)
        return _stone(rows[0][0]) if rows else None

    def replaced_by(self, trace_id: str) -> list[Tombstone]:
        """The runs in whose place this one stands."""
        rows = self._database.rows_in(
            "tombstone", "SELECT body FROM tombstone WHERE replaced_by = ? ORDER BY trace", trace_id
        )
        return [_stone(body) for (body,) in rows]


@contextmanager
def lifted(db: sqlite3.Connection) -> Iterator[Eraser]:
    """Rows may go within, in the caller's transaction: the triggers are lifted, and back at the end."""
    for name in triggers(APPEND_ONLY):
        db.execute(f"DROP TRIGGER IF EXISTS {name}")
    yield Eraser(db)
    guard(db)


def _stone(body: str) -> Tombstone:
    return decode(body, Tombstone, "a tombstone in the file", newest=1)
