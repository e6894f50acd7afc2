"""A hitlab file to be merged into another: read as one snapshot, checked completely, never written.

A file of an older schema, or one that still holds people who withdrew elsewhere, is read through a temporary copy. The
copy is migrated and those people are erased from it. The file itself is unchanged.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from lab.core.codec import decode
from lab.core.errors import LabError
from lab.core.run.run_records import Kit, Tombstone
from lab.core.study.label import Withdrawal
from lab.core.study.study import VERSION as STUDY_VERSION
from lab.core.values.json_size import check_depth
from store.copies.pack import pack
from store.erasing.withdrawal import apply_withdrawal
from store.file.connection import sqlite_errors
from store.file.leftovers import locked_part, temporary_prefix
from store.file.schema import VERSION, user_version

if TYPE_CHECKING:
    from store.store import Store

MOST_OF_A_ROW = 256 * 1024**2
"""Bytes from which on a value of a stranger's file is not read."""


class ForeignErasures(msgspec.Struct, frozen=True):
    """Erasures that a file records and that must not return: withdrawn people by code, erased runs by id."""

    withdrawals: dict[str, Withdrawal]
    stones: dict[str, Tombstone]


class MergedFile:
    """A file being merged, by the path that the user gave."""

    def __init__(self, path: Path, store: Store) -> None:
        self.path = path
        self.store = store
        self.kit: Kit | None = store.kit()
        self.erasures = erasures_in(self)

    def rows(self, sql: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one by one, without buffering."""
        with sqlite_errors(self.path):
            yield from self.store.database.connection().execute(sql, values)

    def value(self, sql: str, *values: object) -> Any:
        """Return the first value of a query, or None if it has no rows."""
        return next(iter(next(self.rows(sql, *values), (None,))))

    def bodies(self, table: str, kind: type[Any], newest: int, where: str = "1", *values: object) -> Iterator[Any]:
        """Yield each row's body as stored and decoded, in order."""
        order = "trace" if table == "tombstone" else "code" if table == "withdrawal" else "n"
        for (body,) in self.rows(f"SELECT body FROM {table} WHERE {where} ORDER BY {order}", *values):
            yield text_of(body, table), decode(body, kind, f"a row of {table}", newest=newest)

    def error(self, words: str, hint: str = "") -> LabError:
        """Return the error for a file that cannot be merged."""
        return LabError(f"database {self.path}", words, hint)

    @contextmanager
    def errors_named(self) -> Iterator[None]:
        """Prefix errors raised within the block with this file's name."""
        try:
            yield
        except LabError as error:
            # The error already names the file.
            if str(self.path) in error.sentence:
                raise
            raise self.error(f"{error.title}: {error.message}", error.hint) from error
        except (sqlite3.DataError, OverflowError, UnicodeEncodeError, RecursionError, TypeError) as error:
            raise self.error(f"holds what a file cannot keep ({error}).") from error


def text_of(body: object, table: str) -> str:
    """Return a row's body. Raise `LabError` unless it is text within the nesting limit."""
    if not isinstance(body, str):
        raise LabError(f"a row of {table}", "holds no text where its content belongs.")
    check_depth(body, f"a row of {table}")
    return body


def erasures_in(source: MergedFile) -> ForeignErasures:
    """Return the erasures that a file records, empty for tables that an older file lacks."""
    tables = {name for (name,) in source.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
    people: list[Withdrawal] = []
    stones: list[Tombstone] = []
    if "withdrawal" in tables:
        people = [row for _, row in source.bodies("withdrawal", Withdrawal, STUDY_VERSION)]
    if "tombstone" in tables:
        stones = [stone for _, stone in source.bodies("tombstone", Tombstone, 1)]
    return ForeignErasures({row.code: row for row in people}, {stone.trace: stone for stone in stones})


@contextmanager
def open_snapshot(path: Path) -> Iterator[MergedFile]:
    """Open a file as one snapshot, unaffected by writers. Raise `LabError` if damaged or not a hitlab file."""
    from store.store import Store

    with Store.open(path, readonly=True) as store:
        db = store.database.connection()
        # A stranger's file must not make this process allocate a huge value.
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_OF_A_ROW)
        with sqlite_errors(path):
            # The read transaction stays open until the connection closes: that is the snapshot.
            db.execute("BEGIN")
        source = MergedFile(path, store)
        with source.errors_named():
            # Linked pictures are outside the file, and often on another machine.
            wrong = store.check(links=False)
            if wrong:
                raise source.error(f"is damaged or was tampered with: {wrong[0]}.")
        yield source


@contextmanager
def migrated_without(source: MergedFile, withdrawals: Mapping[str, Withdrawal]) -> Iterator[MergedFile]:
    """Yield the file migrated to this schema and with these people withdrawn, as a copy if either is needed.

    A kit is not copied for withdrawals.
    """
    from store.store import Store

    leave = [row for code, row in withdrawals.items() if code not in source.erasures.withdrawals]
    if user_version(source.store.database.connection()) == VERSION and (not leave or source.kit is not None):
        yield source
        return
    # The prefix and the lock let a sweep recognize the copy if this process is killed: it holds erased content.
    with tempfile.TemporaryDirectory(prefix=temporary_prefix()) as folder, locked_part(Path(folder), folder=True):
        path = Path(folder) / "copy.db"
        with source.errors_named():
            pack(source.path, path, images=True)
            store = Store.open(path)
        with store:
            with source.errors_named(), store.erasure.erasing() as eraser:
                for row in leave:
                    apply_withdrawal(eraser, row)
            yield MergedFile(source.path, store)
