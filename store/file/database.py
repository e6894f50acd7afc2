"""Connections to one hitlab file: one per thread, reads, and atomic transactions."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.core.errors import LabError
from store.file.connection import BUSY_SECONDS, connect, database_title, prepare, sqlite_errors


class _ThreadState(threading.local):
    """State of one thread."""

    def __init__(self) -> None:
        self.connection: sqlite3.Connection | None = None
        self.joined = False
        self.busy = threading.RLock()
        """Held while its connection works: closing it from another thread at that moment crashes the process."""


class Database:
    """A SQLite file that all groups of `Store` read and write through. Every method is thread-safe."""

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self.path = path
        self.readonly = readonly
        self.may_suggest = False
        """If True, errors for unknown names suggest similar names in the file: only for callers who may list them."""
        self._thread_state = _ThreadState()
        self._open: dict[threading.Thread, tuple[sqlite3.Connection, threading.RLock]] = {}
        self._guard = threading.Lock()
        self._write_lock = threading.Lock()
        """Lock for writers of this process: SQLite makes waiting threads sleep and poll."""
        self._closed = False
        self._file: tuple[int, int] | None = None
        """Device and inode of the opened file, or None before opening."""
        self._tables: set[str] = set()
        """Tables known to exist, cached because no table is ever dropped."""

    def prepare(self) -> None:
        """Check that this is a hitlab file. Create or migrate its tables if writable."""
        with sqlite_errors(self.path):
            prepare(self.path, self.connection(), readonly=self.readonly)

    def close(self) -> None:
        """Close every thread's connection after its current work. It is safe to call it twice."""
        with self._guard:
            self._closed = True
            connections = list(self._open.values())
            self._open.clear()
        # Outside the guard, so that other threads are not blocked while one finishes its work.
        for connection, busy in connections:
            _close_when_idle(connection, busy)

    def remove_new(self) -> None:
        """Delete the file if only this process has it open, else leave it."""
        own = self.connection()
        with self._guard:
            others = {thread: one for thread, one in self._open.items() if one[0] is not own}
            for thread in others:
                del self._open[thread]
        for connection, busy in others.values():
            _close_when_idle(connection, busy)
        with sqlite_errors(self.path):
            # Do not wait for others: if there is one, the file stays.
            own.execute("PRAGMA busy_timeout = 0")
            (mode,) = own.execute("PRAGMA journal_mode = DELETE").fetchone()  # only works without other connections
            if mode != "wal":
                self._check_same_file()
                # The check comes first, or another file that took its place would be deleted.
                self.close()
                self.path.unlink()

    def connection(self) -> sqlite3.Connection:
        """Return this thread's connection. Close those of threads that have ended."""
        own = self._thread_state.connection
        if own is not None and not self._closed:
            return own
        with self._guard:
            if self._closed:
                raise LabError(database_title(self.path), "is closed.")
            for thread in [thread for thread in self._open if not thread.is_alive()]:
                # Nobody else closes the connection of a thread that has ended.
                self._open.pop(thread)[0].close()
            if self._file is not None:
                self._check_same_file()  # or SQLite would create an empty file in its place
            own = connect(self.path, readonly=self.readonly)
            self._file = self._file or _file_identity(self.path)
            self._thread_state.connection = own
            self._open[threading.current_thread()] = own, self._thread_state.busy
        return own

    def read(self, sql: str, *values: Any) -> list[Any]:
        """Return all rows of a query."""
        with sqlite_errors(self.path), self._thread_state.busy:
            return self.connection().execute(sql, values).fetchall()

    def rows_in(self, table: str, sql: str, *values: Any) -> list[Any]:
        """Return all rows of a query, empty if an older, read-only file lacks the table."""
        return self.read(sql, *values) if self.has_table(table) else []

    def has_table(self, table: str) -> bool:
        """Return True if the table exists. Older, read-only files may lack some."""
        if table not in self._tables:
            if not self.read("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", table):
                return False
            self._tables.add(table)
        return True

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """Read from one snapshot within the block, unaffected by concurrent writes."""
        with sqlite_errors(self.path), self._thread_state.busy:
            db = self.connection()
            db.execute("BEGIN")
            try:
                yield db
            finally:
                # Nothing was written: COMMIT only ends the snapshot.
                db.execute("COMMIT")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Join this thread's writes within the block into one transaction, durable at its end.

        A refused write rolls back only itself. An exception that leaves the block rolls back everything.
        """
        with self._transaction():
            self._thread_state.joined = True
            try:
                yield
            finally:
                self._thread_state.joined = False

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Run one transaction that takes the write lock at once, so that it never fails later for lack of it.

        Within `transaction` it becomes a savepoint of the outer transaction.
        """
        if not self._thread_state.joined:
            with self._transaction() as connection:
                yield connection
            return
        with sqlite_errors(self.path):
            connection = self.connection()
            connection.execute("SAVEPOINT part")
            try:
                yield connection
            except BaseException:
                if connection.in_transaction:  # a full disk has already rolled back everything
                    connection.execute("ROLLBACK TO part")
                    connection.execute("RELEASE part")
                raise
            connection.execute("RELEASE part")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with sqlite_errors(self.path), self._wait_for_writers(), self._thread_state.busy:
            connection = self.connection()
            # A deferred BEGIN could fail with SQLITE_BUSY when its first write upgrades the lock.
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                self._check_same_file()
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            # The file may have been replaced during COMMIT itself.
            self._check_same_file()

    @contextmanager
    def _wait_for_writers(self) -> Iterator[None]:
        """Wait for this process's other writers, at most SQLite's busy timeout, then let SQLite decide."""
        acquired = self._write_lock.acquire(timeout=BUSY_SECONDS)
        try:
            yield
        finally:
            if acquired:
                self._write_lock.release()

    def _check_same_file(self) -> None:
        """Raise `LabError` if the path no longer leads to the opened file.

        Anything written then would be in a file that nobody can open.
        """
        if self._file != (identity := _file_identity(self.path)):
            raise LabError(
                database_title(self.path),
                f"was {'deleted' if identity is None else 'replaced by another file'} while it was in use; "
                "what was to be written now is not kept.",
                "Put the file back, or open another, and do it again.",
            )


def _close_when_idle(connection: sqlite3.Connection, busy: threading.RLock) -> None:
    """Close a connection once its thread is idle. One still busy after the timeout is closed with its thread."""
    if busy.acquire(timeout=BUSY_SECONDS):
        try:
            connection.close()
        finally:
            busy.release()


def _file_identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of a path, or None if it does not exist."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino
