"""Opening a hitlab file: one durable connection, and a readable error for each SQLite failure."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lab.core.errors import LabError
from lab.core.values.made_files import make_file
from store.file.schema import APPLICATION_ID, VERSION, migrate, user_version
from store.file.schema_check import check_schema, schema_bounded

BUSY_SECONDS = 30.0
"""Seconds a write waits for another program's write to end."""


def connect(path: Path, *, readonly: bool = False) -> sqlite3.Connection:
    """Return a connection in autocommit mode whose writes are on disk once COMMIT returns."""
    if not readonly:
        make_file(path)  # SQLite gives `-wal` and `-shm` the mode of this file
        return _open_connection(path, "mode=rwc")
    try:
        return _open_connection(path, "mode=ro")
    except sqlite3.OperationalError:
        if not path.is_file() or has_wal(path):
            raise
        # A WAL file in a read-only folder: SQLite cannot create `-shm`. Nobody can write it, so no lock is needed.
        return _open_connection(path, "mode=ro&immutable=1")


def _open_connection(path: Path, query: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{query}"
    connection = sqlite3.connect(
        # isolation_level=None: all transactions begin explicitly. `Database.close` closes connections of other
        # threads.
        uri,
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=64,
    )
    try:
        with schema_bounded(connection, path):
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        # In WAL mode, NORMAL would lose committed transactions in a power failure.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA trusted_schema = OFF")  # a stranger's schema must not call functions of this program
        connection.execute("PRAGMA recursive_triggers = ON")  # else INSERT OR REPLACE bypasses the DELETE triggers
        connection.execute("PRAGMA secure_delete = ON")  # overwrite erased and redacted content in place
        # fsync on macOS does not flush the drive's cache, F_FULLFSYNC does.
        if sys.platform == "darwin":
            connection.execute("PRAGMA fullfsync = ON")
            connection.execute("PRAGMA checkpoint_fullfsync = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def has_wal(path: Path) -> bool:
    """Return True if a file has a `-wal`: a program has it open, or ended without closing it."""
    return Path(f"{path}-wal").exists()  # `/` and `.` have no name to change


def remove_empty_wal(path: Path) -> None:
    """Let SQLite remove the empty `-wal` and `-shm` that a read-only connection created but cannot remove itself.

    Call only if neither existed before. A writable connection removes them on close, under SQLite's own locks. They
    stay if another program has the file open.
    """
    with suppress(sqlite3.Error, UnicodeDecodeError, LabError):  # the file may be damaged or exceed the read limits
        # timeout=0: another program with the file open will remove them itself.
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=0)
        try:
            with schema_bounded(connection, path):
                connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        finally:
            connection.close()


def prepare(path: Path, connection: sqlite3.Connection, *, readonly: bool) -> None:
    """Check that the file is a hitlab file of this schema. Create or migrate its tables if writable."""
    version = user_version(connection)
    ours = connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
    empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if not ours and (version or not empty):
        raise LabError(database_title(path), "is another program's database.", "Name another file with --db.")
    if version > VERSION:
        raise LabError(
            database_title(path),
            f"was written by a newer hitlab (schema {version}; this one knows {VERSION}).",
            "Upgrade hitlab to open it.",
        )
    check_schema(connection, path, readonly=readonly)
    if readonly:
        # An older schema lacks some tables. The others are read as before.
        if not version:
            raise LabError(database_title(path), "holds nothing yet.", "`hitlab import` or a run begins it.")
        return
    _enable_wal(connection)
    if version < VERSION:
        migrate(connection)


def _enable_wal(connection: sqlite3.Connection) -> None:
    """Switch to WAL mode, with retries: `PRAGMA journal_mode` ignores the busy timeout."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            # The low byte is the primary code. Extended codes such as SQLITE_BUSY_RECOVERY count as well.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)


def database_title(path: Path) -> str:
    """Return a file's name as an error title."""
    return f"database {path}"


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Convert SQLite errors in the block into a `LabError` that names the file."""
    try:
        yield
    except sqlite3.Error as error:
        raise LabError(database_title(path), *_describe_error(path, error)) from error
    except UnicodeDecodeError as error:  # sqlite3 quotes the damaged bytes in its message
        raise LabError(database_title(path), "is damaged.", "Restore a copy made with `hitlab file pack`.") from error


def _describe_error(path: Path, error: sqlite3.Error) -> tuple[str, str]:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if not code and str(error).startswith("Could not decode"):  # sqlite3 quotes the damaged text in its message
        return "is damaged: a text in it is not valid UTF-8.", "Restore a copy made with `hitlab file pack`."
    # SQLite reports a folder and a missing parent by the same code, so inspect the path first.
    if path.is_dir():
        return "is a folder, not a file.", ""
    if not path.parent.is_dir():
        return f"cannot be made: the folder {path.parent} is not there.", ""
    match code:
        case sqlite3.SQLITE_NOTADB:
            return "is not a SQLite file.", "Name another file with --db."
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return "cannot be written: it, or its folder, is read-only.", ""
        case sqlite3.SQLITE_CANTOPEN:
            return "cannot be opened: it, or its folder, is read-only or not there.", ""
        case sqlite3.SQLITE_FULL:
            return "cannot grow: the disk is full. Nothing was written in part.", "Make room and try again."
        case sqlite3.SQLITE_IOERR:
            return "cannot be written: the disk is full or failing. Nothing was written in part.", ""
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"was kept locked by another program for {BUSY_SECONDS:.0f} s.", "Try again."
        case sqlite3.SQLITE_CORRUPT:
            return f"is damaged ({error}).", "Restore a copy made with `hitlab file pack`."
    return f"refused ({error}).", ""
