"""Runs in a hitlab file: their events as they come, whole imported runs, what was typed, and how they are found."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from lab.core.codec import decode, escape_surrogates, unescape_surrogates
from lab.core.design import Subject, subject_of
from lab.core.errors import LabError
from lab.core.ids_and_clock import later, now
from lab.core.run_records import Blob, Imported, RelatedRun, Summary, Verdict, whole_and_incomplete
from lab.core.task import Task
from lab.core.trace import VERSION, AnyEvent, Ended, Started, Trace, fold
from store import run_rows
from store.database import Database
from store.image_links import Link, Links
from store.run_acts import TABLE, RunActs, RunState, StoredAgents, listed_runs
from store.tombstones import check_without

if TYPE_CHECKING:
    from lab.core.measured_run import MeasuredRun
    from store.run_table import RunRow

_BATCH = 64
"""Events fetched at once: a long run is never wholly in memory, and no read stays open between two of them."""

_SUMMARY = """
SELECT t.id, t.task, json_extract(b.body, '$.agent'), t.persona,
    count(*) FILTER (WHERE e.kind = 'step'),
    total(e.question) + (ifnull(max(e.seq) FILTER (WHERE e.kind = 'asked'), -1)
        > ifnull(max(e.seq) FILTER (WHERE e.kind = 'step'), -1)),
    total(e.reply) + (ifnull(max(e.seq) FILTER (WHERE e.kind = 'answered'), -1)
        > ifnull(max(e.seq) FILTER (WHERE e.kind = 'step'), -1)),
    ifnull(max(e.status), 'open'), max(e.score), t.source, t.started_at
FROM ({runs}) t CROSS JOIN event b ON b.trace = t.id AND b.seq = 0 CROSS JOIN event e ON e.trace = t.id
GROUP BY t.n ORDER BY t.n DESC
"""
_RUNS = {
    "all": "SELECT * FROM trace WHERE {listed} ORDER BY n DESC LIMIT ?",
    "before": "SELECT * FROM trace WHERE n < (SELECT n FROM trace WHERE id = ?) AND {listed} ORDER BY n DESC LIMIT ?",
    "one": "SELECT * FROM trace WHERE id = ?",
}

_NEAR = 20_000
"""Runs among which one is looked for that may have been meant."""


class Runs:
    """The runs of a file; `acts` are those by which people archive and tag them."""

    def __init__(self, database: Database, links: Links) -> None:
        self._database, self._links = database, links
        self.acts = RunActs(database)

    # Writing

    def append_event(self, trace_id: str, event: AnyEvent, blobs: Mapping[str, Blob] | None = None) -> None:
        """Appends one event and the blobs it brings (by sha256), durable on return; Started makes the run.

        Raises `LabError` where `event.seq` is not the run's next, or the run has ended.
        """
        with self._database.writing() as db:
            last = db.execute(
                "SELECT seq, kind FROM event WHERE trace = ? ORDER BY seq DESC LIMIT 1", (trace_id,)
            ).fetchone()
            self._check_next(trace_id, event, last)
            row = run_rows.event_row(trace_id, event)
            check_without(db, [row[-1]], f"run {trace_id}")
            if isinstance(event, Started):
                db.execute(run_rows.TRACE, run_rows.trace_row(event))
            run_rows.insert_blobs(db, trace_id, blobs or {}, [event])
            db.execute(run_rows.EVENT, row)

    def add(self, imported: Imported) -> bool:
        """Takes in a whole run, or nothing of it; False where it is there already."""
        return self.add_all([imported])[0]

    def add_all(self, batch: Sequence[Imported]) -> list[bool]:
        """Takes in several whole runs, all or none, at the price of one wait for the disk."""
        for imported in batch:
            _check_whole(imported)
        with self._database.writing() as db:
            return [run_rows.insert_run(db, imported) for imported in batch]

    def add_each(self, batch: Iterable[Imported], *, link: bool = False) -> list[bool | LabError]:
        """Takes in several runs at the price of one wait for the disk, each whole or not at all; in their order.

        False where a run is there already, a `LabError` where it cannot be taken in: one of its pictures changed
        meanwhile, say. With `link`, pictures that are whole files stay where they are.
        """
        with self._database.writing() as db:
            return [_inserted(db, imported, link=link) for imported in batch]

    def save_draft(self, trace_id: str, question_id: str, text: str) -> None:
        """Keeps what a person has typed so far; the newest counts."""
        last = "SELECT max(at) FROM draft WHERE trace = ? AND question = ?"
        with self._database.writing() as db:
            if not db.execute("SELECT 1 FROM trace WHERE id = ?", (trace_id,)).fetchone():
                raise LabError(f"run {trace_id}", f"is not in {self._database.path}.")
            at = later(now(), db.execute(last, (trace_id, question_id)).fetchone()[0])
            row = (trace_id, question_id, at, escape_surrogates(text))
            db.execute("INSERT INTO draft (trace, question, at, text) VALUES (?, ?, ?, ?)", row)

    # Reading

    def events(self, trace_id: str, after: int = -1, *, renamed: bool = True) -> Iterator[AnyEvent]:
        """A run's events in order, those with `seq` above `after`; `LabError` where there is no such run.

        Its agent bears the name that a person gave it; without `renamed`, the one that is stored in the event.
        """
        while True:
            batch = self._database.read(
                "SELECT seq, body FROM event WHERE trace = ? AND seq > ? ORDER BY seq LIMIT ?", trace_id, after, _BATCH
            )
            if not batch and after < 0:
                raise LabError(f"run {trace_id}", f"is not in {self._database.path}.")
            for seq, body in batch:
                event = _decoded(body, f"run {trace_id}, event {seq}")
                yield self._renamed(event) if renamed and isinstance(event, Started) else event
                after = seq
            if len(batch) < _BATCH:
                return

    def trace(self, trace_id: str) -> Trace:
        """A run as its events leave it."""
        try:
            return fold(self.events(trace_id))
        except ValueError as error:
            raise LabError(f"run {trace_id}", f"is damaged in {self._database.path} ({error}).") from error

    def holds(self, trace_id: str) -> bool:
        """True where the run is in the file."""
        return bool(self._database.read("SELECT 1 FROM trace WHERE id = ?", trace_id))

    def last_seq(self, trace_id: str) -> int:
        """The `seq` of a run's newest event, -1 where there is none."""
        return int(self._database.read("SELECT ifnull(max(seq), -1) FROM event WHERE trace = ?", trace_id)[0][0])

    def find(self, prefix: str) -> str:
        """The id that `prefix` begins, or of the only run of the task so named; else `LabError` says which fit.

        A run that came in without some of its pictures is meant by the whole of its id alone, once the other is here.
        """
        if prefix:
            prefix = escape_surrogates(prefix)
            rows = self._database.read(
                "SELECT id FROM trace WHERE id >= ? AND id < ? ORDER BY id LIMIT 6", prefix, prefix + "\U0010ffff"
            )
            if not rows:
                rows = self._database.read("SELECT id FROM trace WHERE task = ? ORDER BY id LIMIT 6", prefix)
            ids = [row[0] for row in rows]
            if len(ids) == 2 and tuple(ids) == whole_and_incomplete(ids[0]) and prefix != ids[1]:
                return str(ids[0])
            if len(ids) == 1 or prefix in ids:
                return prefix if prefix in ids else str(ids[0])
            if ids:
                some = ", ".join(ids[:5]) + (" and more" if len(ids) > 5 else "")
                raise LabError(f"run {prefix}", f"is not one run but several: {some}.", "Write more of the id.")
        problem = f"is not in {self._database.path}{self._near(prefix) or '.'}"
        raise LabError(f"run {prefix}", problem, "`hitlab traces` lists what is.")

    def names(self, beginning: str = "", limit: int = -1) -> list[tuple[str, str]]:
        """Runs' ids that begin so, each with its task's name, the greatest (of our own the newest) first."""
        return self._database.read(
            "SELECT id, task FROM trace WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ?",
            escape_surrogates(beginning), escape_surrogates(beginning) + "\U0010ffff", limit,
        )  # fmt: skip

    def _near(self, name: str) -> str:
        """Which run may have been meant, by the beginning of its id or by its task, for those who may list them."""
        if not self._database.suggests:
            return ""
        from lab.core.suggestion import near_names, suggestion

        runs = self.names(limit=_NEAR)
        near = near_names(name, {id[: len(name)] for id, _ in runs})
        return suggestion(name, [*near, *{task for _, task in runs}])

    def summaries(
        self,
        limit: int | None = None,
        *,
        before: str | None = None,
        archived: bool | None = False,
        tag: str = "",
    ) -> list[Summary]:
        """Runs in one line each, the newest in this file first; `before` is the last id of the page above.

        Those that are not `archived`, those that are, or where it is None both; with `tag` those that bear it.
        """
        count = -1 if limit is None else limit
        listed, values = listed_runs(self._database, archived=archived, tag=tag)
        if before is None:
            return self._summed("all", *values, count, listed=listed)
        return self._summed("before", before, *values, count, listed=listed)

    def summary(self, trace_id: str) -> Summary:
        """One run in one line."""
        summary_rows = self._summed("one", trace_id)
        if not summary_rows:
            raise LabError(f"run {trace_id}", f"is not in {self._database.path}.")
        return summary_rows[0]

    def family(self, trace_id: str) -> list[RelatedRun]:
        """Every run that was forked from this one, or from one that this was, in one line each, the oldest first."""
        from store.family import family

        kin = family(self._database.read, trace_id)
        lines = [(self.summary(run), parent, forked) for run, (parent, forked) in kin.items()]
        return [
            RelatedRun(**msgspec.structs.asdict(line), parent=parent, forked=forked) for line, parent, forked in lines
        ]

    def verdicts(self, trace_id: str) -> list[Verdict]:
        """The judgements that came with an imported run, in its source's order."""
        verdict_rows = self._database.read("SELECT body FROM verdict WHERE trace = ? ORDER BY position", trace_id)
        return [decode(body, Verdict, f"run {trace_id}, verdict") for (body,) in verdict_rows]

    def blob(self, sha256: str) -> Blob | None:
        """The bytes of a picture or of a phone's state, also of a linked one; None where they are not to be had."""
        blob_rows = self._database.read("SELECT bytes, mime FROM blob WHERE sha256 = ?", sha256)
        return Blob(*blob_rows[0]) if blob_rows else self._links.blob(sha256)

    def draft(self, trace_id: str, question_id: str) -> str:
        """What a person had typed last, empty where nothing was."""
        draft_rows = self._database.read(
            "SELECT text FROM draft WHERE trace = ? AND question = ? ORDER BY at DESC, n DESC LIMIT 1",
            trace_id,
            question_id,
        )
        return unescape_surrogates(draft_rows[0][0]) if draft_rows else ""

    def draft_times(self, trace_id: str, question_id: str) -> tuple[str, str] | None:
        """When a question was first put before a person, and when they had first typed to it (empty: not yet), UTC.

        None where neither is known.
        """
        time_rows = self._database.read(
            "SELECT min(at), min(CASE WHEN text <> '' THEN at END) FROM draft WHERE trace = ? AND question = ?",
            trace_id, question_id,
        )  # fmt: skip
        return (time_rows[0][0], time_rows[0][1] or "") if time_rows and time_rows[0][0] else None

    def links(self, sha256: str) -> list[Link]:
        """Where a picture stands outside; empty where it is not linked."""
        return self._links.of(sha256)

    def rows(self, limit: int, *, before: int | None = None) -> list[RunRow]:
        """A page of runs, the newest in this file first; `before` is the `n` of the last one of the page above."""
        from store.run_table import run_table

        return run_table(self._database, limit, before)

    def rows_stamp(self) -> tuple[int, int, int, int]:
        """What is another once a run came, grew, was archived, tagged or erased: to be compared, never shown."""
        stamp_rows = self._database.read(
            "SELECT ifnull(max(n), 0), count(*), (SELECT ifnull(max(rowid), 0) FROM event) FROM trace"
        )
        newest, count, event = stamp_rows[0]
        acts = self._database.rows_in(TABLE, "SELECT ifnull(max(n), 0) FROM run_act")
        return newest, count, event, acts[0][0] if acts else 0

    def measured(self, ids: Iterable[str] | None = None, *, spooled: bool = False) -> Iterator[MeasuredRun]:
        """Runs as metrics read them, those named or all, the oldest in this file first; one at a time is in memory.

        `spooled` is for who holds them all: steps and verdicts are in a temporary file then, few of them in memory.
        Raises `LabError` where a run is not there, or was written by a newer hitlab.
        """
        from store.measured_runs import measured_runs

        return measured_runs(self._database, ids, spooled=spooled)

    def of_task(self, task: str) -> list[str]:
        """The runs of a task, the newest in this file first."""
        sql = "SELECT id FROM trace WHERE task = ? ORDER BY n DESC"
        return [id for (id,) in self._database.read(sql, escape_surrogates(task))]

    def latest(self, subject: Subject) -> str | None:
        """The newest run in which exactly this was asked, one that has ended before an open one; None without any."""
        runs = [id for id in self.of_task(subject.task) if subject_of(self.task(id)) == subject]
        return next((id for id in runs if self._ended(id)), runs[0] if runs else None)

    def _ended(self, trace_id: str) -> bool:
        return bool(self._database.read("SELECT 1 FROM event WHERE trace = ? AND kind = 'ended'", trace_id))

    def task(self, trace_id: str) -> Task:
        """The task that a run was given."""
        first = next(self.events(trace_id))
        assert isinstance(first, Started)
        return first.task

    def used(self, trace_id: str) -> list[str]:
        """The sha256 of every picture and phone state that a run refers to."""
        return [
            sha for (sha,) in self._database.read("SELECT sha256 FROM use WHERE trace = ? ORDER BY sha256", trace_id)
        ]

    def users(self, sha256: str) -> list[str]:
        """The runs that refer to a picture or a phone state."""
        return [id for (id,) in self._database.read("SELECT trace FROM use WHERE sha256 = ? ORDER BY trace", sha256)]

    # Beneath

    def _renamed(self, first: Started) -> Started:
        """The beginning of a run with its agent as people call it."""
        name = self.acts.agent_names(first.trace).get(first.trace)
        return first if name is None else msgspec.structs.replace(first, agent=name.on(first.agent))

    def _summed(self, which: str, *values: Any, listed: str = "1") -> list[Summary]:
        runs = _RUNS[which].format(listed=listed)
        summary_rows = self._database.read(_SUMMARY.format(runs=runs), *values)
        states = self.acts.states([row[0] for row in summary_rows])
        agent_of = StoredAgents(self._database)
        return [
            Summary(
                id, task, (actor := agent_of(id, agent)).identity, persona, steps, int(asks), int(replies), status,
                score, source, *states.get(id, RunState()), started, actor,
            )
            for id, task, agent, persona, steps, asks, replies, status, score, source, started in summary_rows
        ]  # fmt: skip

    def _check_next(self, trace_id: str, event: AnyEvent, last: tuple[int, str] | None) -> None:
        run = f"run {trace_id}"
        if isinstance(event, Started) and event.trace != trace_id:
            raise LabError(run, f"cannot begin with an event of run {event.trace}.")
        if last is None and not isinstance(event, Started):
            raise LabError(run, f"has not begun in {self._database.path}; its first event is Started.")
        if last is not None and last[1] == "ended":
            raise LabError(run, "has ended; nothing follows.")
        if last is not None and isinstance(event, Started):
            raise LabError(run, f"has begun in {self._database.path} already.")
        expected = last[0] + 1 if last else 0
        if event.seq != expected:
            by_others = "Another window or command has gone on with it." if event.seq < expected else ""
            raise LabError(run, f"expects event {expected}, not {event.seq}.", by_others)


def _inserted(db: sqlite3.Connection, imported: Imported, *, link: bool) -> bool | LabError:
    """One run of several in a transaction; where it is refused, nothing of it stays and the others do."""
    db.execute("SAVEPOINT run")
    try:
        _check_whole(imported)
        new = run_rows.insert_run(db, imported, link=link)
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
