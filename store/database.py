"""One hitlab file's connections: one a thread, reads, and transactions that either stand whole or not at all."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.core.errors import LabError
from store.connection import BUSY_SECONDS, connect, named, prepare, sqlite_errors


class _Own(threading.local):
    """What a thread has for itself."""

    def __init__(self) -> None:
        self.connection: sqlite3.Connection | None = None
        self.joined = False
        self.busy = threading.RLock()
        """Held while its connection works: closed by another thread at that moment, SQLite ends the whole program."""


class Database:
    """A SQLite file that all groups of `Store` read and write through. Every method is safe on any thread."""

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self.path = path
        self.readonly = readonly
        self.suggests = False
        """Whether who named what is not here is told what it holds of a name near that: for those who may list it."""
        self._own = _Own()
        self._open: dict[threading.Thread, tuple[sqlite3.Connection, threading.RLock]] = {}
        self._guard = threading.Lock()
        self._turn = threading.Lock()
        """Whose turn it is to write, among this program's threads: SQLite has them sleep and try again."""
        self._closed = False
        self._file: tuple[int, int] | None = None
        """The file that was opened, by its device and inode; None before it is."""
        self._tables: set[str] = set()
        """Tables that were seen to be there: none is ever dropped."""

    def prepare(self) -> None:
        """Checks that it is a hitlab file, and lays or migrates its tables where it may be written."""
        with sqlite_errors(self.path):
            prepare(self.path, self.connection(), readonly=self.readonly)

    def close(self) -> None:
        """Closes every thread's connection, each once what it does is done; safe to call twice."""
        with self._guard:
            self._closed = True
            connections = list(self._open.values())
            self._open.clear()
        for connection, busy in connections:
            _close(connection, busy)

    def remove_new(self) -> None:
        """Removes a file that this process alone has open; where another has it open, too, it stays."""
        own = self.connection()
        with self._guard:
            others = {thread: one for thread, one in self._open.items() if one[0] is not own}
            for thread in others:
                del self._open[thread]
        for connection, busy in others.values():
            _close(connection, busy)
        with sqlite_errors(self.path):
            own.execute("PRAGMA busy_timeout = 0")
            (mode,) = own.execute("PRAGMA journal_mode = DELETE").fetchone()  # granted to who is alone with a file
            if mode != "wal":
                self._check_same_file()
                self.close()
                self.path.unlink()

    def connection(self) -> sqlite3.Connection:
        """This thread's connection; those of threads that have ended are closed on the way."""
        own = self._own.connection
        if own is not None and not self._closed:
            return own
        with self._guard:
            if self._closed:
                raise LabError(named(self.path), "is closed.")
            for thread in [thread for thread in self._open if not thread.is_alive()]:
                self._open.pop(thread)[0].close()
            if self._file is not None:
                self._check_same_file()  # or SQLite would lay an empty file where it was
            own = connect(self.path, readonly=self.readonly)
            self._file = self._file or _identity(self.path)
            self._own.connection = own
            self._open[threading.current_thread()] = own, self._own.busy
        return own

    def read(self, sql: str, *values: Any) -> list[Any]:
        """All rows of a query."""
        with sqlite_errors(self.path), self._own.busy:
            return self.connection().execute(sql, values).fetchall()

    def rows_in(self, table: str, sql: str, *values: Any) -> list[Any]:
        """All rows of a query of a table that an older file, only read, may lack: none where it does."""
        return self.read(sql, *values) if self.has(table) else []

    def has(self, table: str) -> bool:
        """Whether there is a table of this name, which an older file, only read, may lack."""
        if table not in self._tables:
            if not self.read("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", table):
                return False
            self._tables.add(table)
        return True

    @contextmanager
    def one_moment(self) -> Iterator[sqlite3.Connection]:
        """What is read within is of one moment, whoever writes meanwhile."""
        with sqlite_errors(self.path), self._own.busy:
            db = self.connection()
            db.execute("BEGIN")
            try:
                yield db
            finally:
                db.execute("COMMIT")

    @contextmanager
    def together(self) -> Iterator[None]:
        """Joins what this thread writes within into one transaction: all of it is on the disk once this ends.

        A write that is refused leaves nothing of its own; what raises through here takes all of it back.
        """
        with self._transaction():
            self._own.joined = True
            try:
                yield
            finally:
                self._own.joined = False

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction that takes the write lock at once: what waits here for others never fails later.

        Within `together` it is a part of that one, and stands or not by itself until then.
        """
        if not self._own.joined:
            with self._transaction() as connection:
                yield connection
            return
        with sqlite_errors(self.path):
            connection = self.connection()
            connection.execute("SAVEPOINT part")
            try:
                yield connection
            except BaseException:
                if connection.in_transaction:  # a full disk has ended all of it
                    connection.execute("ROLLBACK TO part")
                    connection.execute("RELEASE part")
                raise
            connection.execute("RELEASE part")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with sqlite_errors(self.path), self._in_turn(), self._own.busy:
            connection = self.connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                self._check_same_file()
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            self._check_same_file()

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        """Waits until no other thread writes, as long as SQLite would; then it is left to SQLite to refuse."""
        mine = self._turn.acquire(timeout=BUSY_SECONDS)
        try:
            yield
        finally:
            if mine:
                self._turn.release()

    def _check_same_file(self) -> None:
        """Raises `LabError` where the file that is open is no longer the one that its name leads to.

        What is written to it then is in no file that anybody can open.
        """
        if self._file != (identity := _identity(self.path)):
            raise LabError(
                named(self.path),
                f"was {'deleted' if identity is None else 'replaced by another file'} while it was in use; "
                "what was to be written now is not kept.",
                "Put the file back, or open another, and do it again.",
            )


def _close(connection: sqlite3.Connection, busy: threading.RLock) -> None:
    """Closes a connection once its thread does nothing with it; one that works on is closed with its thread."""
    if busy.acquire(timeout=BUSY_SECONDS):
        try:
            connection.close()
        finally:
            busy.release()


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file a name leads to: its device and inode; None where it leads to none."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino
