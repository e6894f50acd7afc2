"""The one file a study lives in: every read and write, as verbs over SQLite."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from lab.errors import LabError
from lab.records import Blob, Imported, Kin, Summary, Verdict
from lab.trace import VERSION, AnyEvent, Ended, Started, Trace, fold
from lab.wire import decode, escape_surrogates, unescape_surrogates
from store import derived, rows
from store.adjudicating import Adjudicating
from store.cases import Cases
from store.columns import Heads
from store.connect import connect, named, prepare, told
from store.designs import Designs
from store.erasing import Erasing
from store.kits import Kits
from store.labels import Labels
from store.links import Links
from store.reviews import Reviews
from store.schema import triggers
from store.studies import Studies
from store.tabling import Tabling
from store.withdrawn import check_without

_BATCH = 64
"""Events fetched at once: a long run is never wholly in memory, and no read stays open between two of them."""

_SUMMARY = """
SELECT t.id, t.task, t.agent, t.persona,
    count(*) FILTER (WHERE e.kind = 'step'),
    total(e.question) + (ifnull(max(e.seq) FILTER (WHERE e.kind = 'asked'), -1)
        > ifnull(max(e.seq) FILTER (WHERE e.kind = 'step'), -1)),
    total(e.reply) + (ifnull(max(e.seq) FILTER (WHERE e.kind = 'answered'), -1)
        > ifnull(max(e.seq) FILTER (WHERE e.kind = 'step'), -1)),
    ifnull(max(e.status), 'open'), max(e.score), t.source, t.started_at
FROM ({runs}) t CROSS JOIN event e ON e.trace = t.id
GROUP BY t.n ORDER BY t.n DESC
"""
_RUNS = {
    "all": "SELECT * FROM trace ORDER BY n DESC LIMIT ?",
    "before": "SELECT * FROM trace WHERE n < (SELECT n FROM trace WHERE id = ?) ORDER BY n DESC LIMIT ?",
    "one": "SELECT * FROM trace WHERE id = ?",
}


class Store(Cases, Designs, Reviews, Links, Tabling, Studies, Labels, Adjudicating, Heads, Kits, Erasing):
    """A hitlab file. Every verb is safe on any thread; what a writing verb returned from is on the disk."""

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self.path = path
        self.readonly = readonly
        self._own = threading.local()
        self._open: dict[threading.Thread, sqlite3.Connection] = {}
        self._guard = threading.Lock()
        self._closed = False

    @classmethod
    def open(cls, path: Path, *, create: bool = True, readonly: bool = False) -> Self:
        """Opens a file, laying its tables where it is new and `create` is true.

        Raises one `LabError` naming the file where it is missing, not SQLite, another program's, of a newer
        schema, read-only, or where the disk is full.
        """
        if not path.exists() and (readonly or not create):
            raise LabError(named(path), "is not there.")
        if path.exists() and not (path.is_file() or path.is_dir()):  # SQLite would wait at a pipe for ever
            raise LabError(named(path), "is a device or a pipe, not a file.")
        store = cls(path, readonly=readonly)
        try:
            with told(path):
                prepare(path, store._connection(), readonly=readonly)
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Closes every thread's connection; safe to call twice."""
        with self._guard:
            self._closed = True
            connections = list(self._open.values())
            self._open.clear()
        for connection in connections:
            connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trail: TracebackType | None
    ) -> None:
        self.close()

    # Writing

    def append_event(self, trace_id: str, event: AnyEvent, blobs: Mapping[str, Blob] | None = None) -> None:
        """Appends one event and the blobs it brings (by sha256), durable on return; Started makes the run.

        Raises `LabError` where `event.seq` is not the run's next, or the run has ended.
        """
        with self._writing() as db:
            last = db.execute(
                "SELECT seq, kind FROM event WHERE trace = ? ORDER BY seq DESC LIMIT 1", (trace_id,)
            ).fetchone()
            self._check_next(trace_id, event, last)
            row = rows.event_row(trace_id, event)
            check_without(db, [row[-1]], f"run {trace_id}")
            if isinstance(event, Started):
                db.execute(rows.TRACE, rows.trace_row(event))
            rows.insert_blobs(db, trace_id, blobs or {}, [event])
            db.execute(rows.EVENT, row)

    def import_run(self, imported: Imported) -> bool:
        """Takes in a whole run, or nothing of it; False where it is there already."""
        return self.import_runs([imported])[0]

    def import_runs(self, batch: Sequence[Imported]) -> list[bool]:
        """Takes in several whole runs, all or none, at the price of one wait for the disk."""
        for imported in batch:
            _check_whole(imported)
        with self._writing() as db:
            return [rows.insert_run(db, imported) for imported in batch]

    def import_each(self, batch: Iterable[Imported], *, link: bool = False) -> list[bool | LabError]:
        """Takes in several runs at the price of one wait for the disk, each whole or not at all; in their order.

        False where a run is there already, a `LabError` where it cannot be taken in: one of its pictures changed
        meanwhile, say. With `link`, pictures that are whole files stay where they are.
        """
        with self._writing() as db:
            return [_taken(db, imported, link=link) for imported in batch]

    def save_draft(self, trace_id: str, question_id: str, text: str) -> None:
        """Keeps what a person has typed so far; the newest counts."""
        row = (trace_id, question_id, datetime.now(UTC).isoformat(), escape_surrogates(text))
        with self._writing() as db:
            if not db.execute("SELECT 1 FROM trace WHERE id = ?", (trace_id,)).fetchone():
                raise LabError(f"run {trace_id}", f"is not in {self.path}.")
            db.execute("INSERT INTO draft (trace, question, at, text) VALUES (?, ?, ?, ?)", row)

    def pack(self, out: Path, *, images: bool = True, embed: bool = False) -> None:
        """Copies all, what is still in the `-wal` too, to the new file `out`; `images=False` leaves pictures out.

        Linked pictures stay where they are; `embed` puts into the copy those that can be read.
        """
        from store.pack import pack

        pack(self.path, out, images=images, embed=embed)

    # Reading

    def events(self, trace_id: str, after: int = -1) -> Iterator[AnyEvent]:
        """A run's events in order, those with `seq` above `after`; `LabError` where there is no such run."""
        while True:
            batch = self._read(
                "SELECT seq, body FROM event WHERE trace = ? AND seq > ? ORDER BY seq LIMIT ?", trace_id, after, _BATCH
            )
            if not batch and after < 0:
                raise LabError(f"run {trace_id}", f"is not in {self.path}.")
            for seq, body in batch:
                yield _decoded(body, f"run {trace_id}, event {seq}")
                after = seq
            if len(batch) < _BATCH:
                return

    def trace(self, trace_id: str) -> Trace:
        """A run as its events leave it."""
        try:
            return fold(self.events(trace_id))
        except ValueError as error:
            raise LabError(f"run {trace_id}", f"is damaged in {self.path} ({error}).") from error

    def holds(self, trace_id: str) -> bool:
        """True where the run is in the file."""
        return bool(self._read("SELECT 1 FROM trace WHERE id = ?", trace_id))

    def last_seq(self, trace_id: str) -> int:
        """The `seq` of a run's newest event, -1 where there is none."""
        return int(self._read("SELECT ifnull(max(seq), -1) FROM event WHERE trace = ?", trace_id)[0][0])

    def find(self, prefix: str) -> str:
        """The id that `prefix` begins, or of the only run of the task so named; else `LabError` says which fit."""
        if prefix:
            prefix = escape_surrogates(prefix)
            found = self._read(
                "SELECT id FROM trace WHERE id >= ? AND id < ? ORDER BY id LIMIT 6", prefix, prefix + "\U0010ffff"
            )
            if not found:
                found = self._read("SELECT id FROM trace WHERE task = ? ORDER BY id LIMIT 6", prefix)
            ids = [row[0] for row in found]
            if len(ids) == 1 or prefix in ids:
                return prefix if prefix in ids else str(ids[0])
            if ids:
                some = ", ".join(ids[:5]) + (", ..." if len(ids) > 5 else "")
                raise LabError(f"run {prefix}", f"is not one run but several: {some}.", "Write more of the id.")
        raise LabError(f"run {prefix}", f"is not in {self.path}.", "`hitlab traces` lists what is.")

    def summaries(self, limit: int | None = None, *, before: str | None = None) -> list[Summary]:
        """Runs in one line each, the newest in this file first; `before` is the last id of the page above."""
        count = -1 if limit is None else limit
        if before is None:
            return self._summed("all", count)
        return self._summed("before", before, count)

    def summary(self, trace_id: str) -> Summary:
        """One run in one line."""
        found = self._summed("one", trace_id)
        if not found:
            raise LabError(f"run {trace_id}", f"is not in {self.path}.")
        return found[0]

    def family(self, trace_id: str) -> list[Kin]:
        """Every run that was forked from this one, or from one that this was, in one line each, the oldest first."""
        from store.family import family

        kin = family(self._read, trace_id)
        lines = [(self.summary(run), parent, forked) for run, (parent, forked) in kin.items()]
        return [Kin(**msgspec.structs.asdict(line), parent=parent, forked=forked) for line, parent, forked in lines]

    def verdicts(self, trace_id: str) -> list[Verdict]:
        """The judgements that came with an imported run, in its source's order."""
        found = self._read("SELECT body FROM verdict WHERE trace = ? ORDER BY position", trace_id)
        return [decode(body, Verdict, f"run {trace_id}, verdict") for (body,) in found]

    def blob(self, sha256: str) -> Blob | None:
        """The bytes of a picture or of a phone's state, also of a linked one; None where they are not to be had."""
        found = self._read("SELECT bytes, mime FROM blob WHERE sha256 = ?", sha256)
        return Blob(*found[0]) if found else self.linked_blob(sha256)

    def draft(self, trace_id: str, question_id: str) -> str:
        """What a person had typed last, empty where nothing was."""
        found = self._read(
            "SELECT text FROM draft WHERE trace = ? AND question = ? ORDER BY n DESC LIMIT 1", trace_id, question_id
        )
        return unescape_surrogates(found[0][0]) if found else ""

    def check(self, *, links: bool = True) -> list[str]:
        """What is wrong with the file, and with its `links`, one sentence each; empty where all is well."""
        said = [line for (row,) in self._read("PRAGMA integrity_check") for line in row.splitlines()]
        wrong = [f"integrity: {line}" for line in said if line != "ok" and not line.startswith("***")]
        wrong += [f"a row of {table} refers to no row of {to}" for table, _, to, _ in self._read(_FOREIGN)]
        there = {name for (name,) in self._read("SELECT name FROM sqlite_master WHERE type = 'trigger'")}
        tables = {name for (name,) in self._read("SELECT name FROM sqlite_master WHERE type = 'table'")}
        wanted = [*triggers(tables), *(derived.TRIGGERS if tables >= derived.TABLES.keys() else ())]
        wrong += [f"the trigger {name} is missing" for name in wanted if name not in there]
        wrong += [
            f"the table {name} is not what its rows say" for (name,) in self._rows_in("todo", derived.NOT_AS_DEALT)
        ]
        if self._read("PRAGMA synchronous")[0][0] != 2:
            wrong.append("synchronous is not FULL")
        if not self.readonly and self._read("PRAGMA journal_mode")[0][0] != "wal":
            wrong.append("the journal mode is not WAL")
        for (sha256,) in self._read("SELECT sha256 FROM blob"):
            blob = self.blob(sha256)
            if blob is not None and blob.sha256 != sha256:
                wrong.append(f"the bytes of blob {sha256} are not its own")
        return wrong + (self.wrong_links() if links else [])

    def size(self) -> int:
        """The bytes of the file, those that are still in its `-wal` included."""
        return int(self._read("PRAGMA page_count")[0][0]) * int(self._read("PRAGMA page_size")[0][0])

    # Beneath

    def _summed(self, which: str, *values: Any) -> list[Summary]:
        found = self._read(_SUMMARY.format(runs=_RUNS[which]), *values)
        return [
            Summary(i, task, agent, persona, steps, int(asks), int(replies), status, score, source, started)
            for i, task, agent, persona, steps, asks, replies, status, score, source, started in found
        ]

    def _check_next(self, trace_id: str, event: AnyEvent, last: tuple[int, str] | None) -> None:
        run = f"run {trace_id}"
        if isinstance(event, Started) and event.trace != trace_id:
            raise LabError(run, f"cannot begin with an event of run {event.trace}.")
        if last is None and not isinstance(event, Started):
            raise LabError(run, f"has not begun in {self.path}; its first event is Started.")
        if last is not None and last[1] == "ended":
            raise LabError(run, "has ended; nothing follows.")
        if last is not None and isinstance(event, Started):
            raise LabError(run, f"has begun in {self.path} already.")
        expected = last[0] + 1 if last else 0
        if event.seq != expected:
            raise LabError(run, f"expects event {expected}, not {event.seq}.")

    def _connection(self) -> sqlite3.Connection:
        """This thread's connection; those of threads that have ended are closed on the way."""
        own: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if own is not None and not self._closed:
            return own
        with self._guard:
            if self._closed:
                raise LabError(named(self.path), "is closed.")
            for thread in [thread for thread in self._open if not thread.is_alive()]:
                self._open.pop(thread).close()
            own = connect(self.path, readonly=self.readonly)
            self._own.connection = self._open[threading.current_thread()] = own
        return own

    def _read(self, sql: str, *values: Any) -> list[Any]:
        with told(self.path):
            return self._connection().execute(sql, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction that takes the write lock at once: what waits here for others never fails later."""
        with told(self.path):
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")


def _taken(db: sqlite3.Connection, imported: Imported, *, link: bool) -> bool | LabError:
    """One run of several in a transaction; where it is refused, nothing of it stays and the others do."""
    db.execute("SAVEPOINT run")
    try:
        _check_whole(imported)
        new = rows.insert_run(db, imported, link=link)
    except _ITS_OWN as error:
        db.execute("ROLLBACK TO run")
        db.execute("RELEASE run")
        if isinstance(error, LabError):
            return error
        return LabError(f"run {imported.id}", f"holds what the file cannot keep ({error}).")
    db.execute("RELEASE run")
    return new


_ITS_OWN = (LabError, sqlite3.DataError, OverflowError, UnicodeEncodeError)
"""What is the fault of the run that is taken in, and not of the file."""

_FOREIGN = "SELECT * FROM pragma_foreign_key_check"


def _check_whole(imported: Imported) -> None:
    if not imported.events or not isinstance(imported.events[0], Started):
        raise LabError("import", "a run's events begin with Started.")
    for i, event in enumerate(imported.events):
        if event.seq != i:
            raise LabError(f"run {imported.id}", f"expects event {i}, not {event.seq}.")
        if isinstance(event, Ended) and event is not imported.events[-1]:
            raise LabError(f"run {imported.id}", "has ended; nothing follows.")


def _decoded(body: str, what: str) -> AnyEvent:
    event: AnyEvent = decode(body, AnyEvent, what, newest=VERSION)
    return event
