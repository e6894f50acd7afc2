"""Copies of a hitlab file for sharing: complete, or without pictures."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from lab.core.errors import LabError
from store.file.connection import connect, database_title, sqlite_errors
from store.file.database import Database
from store.file.image_links import ImageLink
from store.file.leftovers import locked_part
from store.file.schema import APPEND_ONLY, migrate
from store.runs.run_rows import BLOB

_IMAGELESS = {
    "blob": "SELECT * FROM blob WHERE mime NOT LIKE 'image/%'",
    "link": "SELECT * FROM link WHERE mime NOT LIKE 'image/%'",
}
_OUTSIDE = "SELECT sha256, mime, size, path FROM link WHERE sha256 NOT IN (SELECT sha256 FROM blob) ORDER BY rowid"


def pack(path: Path, out: Path, *, images: bool, embed: bool = False) -> None:
    """Write a copy of `path` to the new file `out`, which appears whole or not at all.

    Linked pictures stay linked in the copy. `embed` stores those that can be read.
    """
    if out.exists() or out.is_symlink():
        raise LabError(database_title(out), "is there already; nothing was packed.", "Name a new file.")
    part = out.with_name(f".{out.name}.part-{os.getpid()}")
    try:
        remove_unfinished(part)
        with locked_part(part):
            with sqlite_errors(out):
                if images:
                    _copy_all(path, part, embed=embed)
                else:
                    _copy_without_images(path, part)
            sync_to_disk(part)
            # Only after the sync: a crash leaves either no copy or a whole one.
            part.rename(out)
    except OSError as error:
        raise LabError(database_title(out), f"cannot be written ({error.strerror}).") from error
    finally:
        remove_unfinished(part)


_WITHOUT_BYTES = {"blob": "SELECT sha256, mime, size, x'' FROM blob"}


@contextmanager
def scratch_copy(database: Database) -> Iterator[sqlite3.Connection]:
    """Yield a private temporary database with all rows of a file but without the bytes of blobs."""
    # An empty name makes a temporary database on disk that SQLite deletes on close.
    with closing(sqlite3.connect("", isolation_level=None)) as copy:
        migrate(copy)
        copy.execute("BEGIN")
        with database.snapshot() as source:
            _copy_rows(source, copy, _WITHOUT_BYTES)
        yield copy


def remove_unfinished(part: Path) -> None:
    """Remove an unfinished copy, and the journals that SQLite leaves beside it when the disk is full."""
    for ending in ("", "-journal", "-wal", "-shm"):
        file = part.with_name(part.name + ending)
        if file.exists():  # a read-only file system refuses to unlink even a missing file
            file.unlink()


def _copy_all(path: Path, part: Path, *, embed: bool) -> None:
    source = connect(path, readonly=True)
    try:
        has_links = embed and source.execute("SELECT 1 FROM sqlite_master WHERE name = 'link'").fetchone()
        # A consistent copy, including the `-wal`, that does not block writers.
        source.execute("VACUUM INTO ?", (str(part),))
    finally:
        source.close()
    if has_links:
        _embed(part)


def _embed(part: Path) -> None:
    """Store a copy's linked pictures in it. Their links stay but are no longer used."""
    copy = connect(part)
    try:
        copy.execute("BEGIN")
        for row in copy.execute(_OUTSIDE).fetchall():
            blob = ImageLink(*row).blob()
            if blob is not None:
                copy.execute(BLOB, (row[0], blob.mime, len(blob.data), blob.data))
        copy.execute("COMMIT")
    finally:
        if copy.in_transaction:
            copy.execute("ROLLBACK")
        copy.close()


def _copy_without_images(path: Path, part: Path) -> None:
    """Copy row by row into new tables, because the triggers forbid deletes even in a copy."""
    copy = connect(part)
    try:
        migrate(copy)
        with sqlite_errors(path):
            source = connect(path, readonly=True)
        with closing(source):
            source.execute("BEGIN")
            copy.execute("BEGIN")
            _copy_rows(source, copy, _IMAGELESS)
        copy.execute("COMMIT")
    except sqlite3.Error:
        if copy.in_transaction:
            copy.execute("ROLLBACK")
        raise
    finally:
        copy.close()


def _copy_rows(source: sqlite3.Connection, copy: sqlite3.Connection, instead: Mapping[str, str]) -> None:
    """Copy all rows of hitlab's tables. `instead` maps tables to queries that replace theirs."""
    source_tables = {name for (name,) in source.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in (name for name in APPEND_ONLY if name in source_tables):
        rows = source.execute(instead.get(table, f"SELECT * FROM {table}"))
        marks = ", ".join("?" * len(rows.description))
        # executemany reads the cursor row by row, so no table is held in memory.
        copy.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


def sync_to_disk(path: Path) -> None:
    """Block until the bytes of `path` are on the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
