"""Runs in a hitlab file: appending events, importing whole runs, drafts of answers, and finding runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from lab.core.codec import decode, escape_surrogates, unescape_surrogates
from lab.core.errors import LabError
from lab.core.run.run_records import (
    Blob,
    Imported,
    RelatedRun,
    Summary,
    Tombstone,
    Verdict,
    whole_and_incomplete,
)
from lab.core.run.trace import VERSION, AnyEvent, Ended, Started, Trace, fold
from lab.core.task.design import Subject, subject_of
from lab.core.task.task import Task
from lab.core.values.ids_and_clock import not_before, now
from store.erasing.tombstones import check_no_withdrawn_signers
from store.file.database import Database
from store.file.image_links import ImageLink, Links
from store.runs import run_rows
from store.runs.run_acts import TABLE, RunActs, RunState, StoredAgents, list_condition

if TYPE_CHECKING:
    from lab.core.run.measured_run import MeasuredRun
    from store.runs.run_table import RunRow

_BATCH = 64
"""Events fetched at once: a long run is never completely in memory, and no read stays open between batches."""

# CROSS JOIN keeps SQLite from reordering the joins: the few runs are selected first. An open question counts as
# asked, and an answer as a reply, before the step that follows them.
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

_MAX_SUGGESTED = 20_000
"""Maximum number of runs searched for a similar name."""


class Runs:
    """Runs of a file. `acts` archive, tag and rename them."""

    def __init__(self, database: Database, links: Links) -> None:
        self._database, self._links = database, links
        self.acts = RunActs(database)

    # Writing

    def append_event(self, trace_id: str, event: AnyEvent, blobs: Mapping[str, Blob] | None = None) -> None:
        """Append one event and its blobs (by sha256), durable on return. `Started` creates the run.

        Raise `LabError` if `event.seq` is not the run's next, or the run has ended.
        """
        with self._database.writing() as db:
            last = db.execute(
                "SELECT seq, kind FROM event WHERE trace = ? ORDER BY seq DESC LIMIT 1", (trace_id,)
            ).fetchone()
            self._check_next(trace_id, event, last)
            row = run_rows.event_row(trace_id, event)
            check_no_withdrawn_signers(db, [row[-1]], f"run {trace_id}")
            if isinstance(event, Started):
                db.execute(run_rows.TRACE, run_rows.trace_row(event))
            run_rows.insert_blobs(db, trace_id, blobs or {}, [event])
            db.execute(run_rows.EVENT, row)

    def add(self, imported: Imported) -> bool:
        """Import a run completely. Return False if it is already present."""
        return self.add_all([imported])[0]

    def add_all(self, batch: Sequence[Imported]) -> list[bool]:
        """Import several runs, all or none, in one transaction, because each commit waits for the disk."""
        for imported in batch:
            _check_complete(imported)
        with self._database.writing() as db:
            return [run_rows.insert_run(db, imported) for imported in batch]

    def add_independently(self, batch: Iterable[Imported], *, link: bool = False) -> list[bool | LabError]:
        """Import several runs in one transaction, each completely or not at all. Return a result for each.

        The result is True, False if the run is already present, or a `LabError` if it was refused, for example because
        one of its pictures changed meanwhile. `link` leaves whole-file pictures in place.
        """
        with self._database.writing() as db:
            return [_insert_run(db, imported, link=link) for imported in batch]

    def save_draft(self, trace_id: str, question_id: str, text: str) -> None:
        """Store the text that a person has typed so far. The newest draft counts."""
        last = "SELECT max(at) FROM draft WHERE trace = ? AND question = ?"
        with self._database.writing() as db:
            if not db.execute("SELECT 1 FROM trace WHERE id = ?", (trace_id,)).fetchone():
                raise LabError(f"run {trace_id}", f"is not in {self._database.path}.")
            at = not_before(now(), db.execute(last, (trace_id, question_id)).fetchone()[0])
            row = (trace_id, question_id, at, escape_surrogates(text))
            db.execute("INSERT INTO draft (trace, question, at, text) VALUES (?, ?, ?, ?)", row)

    # Reading

    def events(self, trace_id: str, after: int = -1, *, renamed: bool = True) -> Iterator[AnyEvent]:
        """Yield a run's events in order, those with `seq` above `after`. Raise `LabError` if there is no such run.

        The agent has the name that a person gave it, or with `renamed=False` the name in the event.
        """
        while True:
            batch = self._database.read(
                "SELECT seq, body FROM event WHERE trace = ? AND seq > ? ORDER BY seq LIMIT ?", trace_id, after, _BATCH
            )
            if not batch and after < 0:
                raise LabError(f"run {trace_id}", f"is not in {self._database.path}.")
            for seq, body in batch:
                event = _decode_event(body, f"run {trace_id}, event {seq}")
                yield self._with_agent_name(event) if renamed and isinstance(event, Started) else event
                after = seq
            if len(batch) < _BATCH:
                return

    def trace(self, trace_id: str) -> Trace:
        """Return a run folded from its events."""
        try:
            return fold(self.events(trace_id))
        except ValueError as error:
            raise LabError(f"run {trace_id}", f"is damaged in {self._database.path} ({error}).") from error

    def has_run(self, trace_id: str) -> bool:
        """Return True if the run is in the file."""
        return bool(self._database.read("SELECT 1 FROM trace WHERE id = ?", trace_id))

    def last_seq(self, trace_id: str) -> int:
        """Return the `seq` of a run's newest event, -1 if there is none."""
        return int(self._database.read("SELECT ifnull(max(seq), -1) FROM event WHERE trace = ?", trace_id)[0][0])

    def find(self, prefix: str) -> str:
        """Return the run whose id starts with `prefix`, or the only run of a task with that name.

        Raise `LabError` with the candidates if none or several match. If a complete and an incomplete version of a run
        match, the complete one is meant, unless the incomplete one's full id is given.
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
        if stones := self._tombstones(prefix):
            raise LabError(f"run {prefix}", *self._erasure_words(stones))
        problem = f"is not in {self._database.path}{self._suggest(prefix) or '.'}"
        raise LabError(f"run {prefix}", problem, "`hitlab runs list` lists what is.")

    def names(self, beginning: str = "", limit: int = -1) -> list[tuple[str, str]]:
        """Return id and task of runs whose id starts with `beginning`, highest id (of hitlab's own: newest) first."""
        return self._database.read(
            "SELECT id, task FROM trace WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ?",
            escape_surrogates(beginning), escape_surrogates(beginning) + "\U0010ffff", limit,
        )  # fmt: skip

    def _tombstones(self, prefix: str) -> list[Tombstone]:
        """Return the tombstones of erased runs whose id starts with `prefix`, for callers who may list runs."""
        if not prefix or not self._database.may_suggest:
            return []
        sql = "SELECT body FROM tombstone WHERE trace >= ? AND trace < ? ORDER BY trace LIMIT 6"
        rows = self._database.rows_in("tombstone", sql, prefix, prefix + "\U0010ffff")
        stones: list[Tombstone] = [decode(body, Tombstone, "a tombstone in the file", newest=1) for (body,) in rows]
        return [stone for stone in stones if stone.trace == prefix] or stones

    def _erasure_words(self, stones: Sequence[Tombstone]) -> tuple[str, str]:
        """Return message and hint for the id of an erased run, or the beginning of several."""
        if len(stones) > 1:
            some = ", ".join(stone.trace for stone in stones[:5]) + (" and more" if len(stones) > 5 else "")
            return f"begins the ids of several runs that were erased: {some}.", ""
        (stone,) = stones
        new = stone.replaced_by
        if new is not None and self.has_run(new):
            return f"was {stone.why}; run {new} stands in its place.", f"`hitlab runs show {new}` prints it."
        if stone.why == "withdrawn" or any(other.why == "withdrawn" for other in self._tombstones(new or "")):
            return "was erased, because somebody in it has withdrawn.", "`hitlab runs list` lists what is."
        return (
            f"was {stone.why}; run {new}, which replaced it, is not in this file.",
            "`hitlab runs list` lists what is.",
        )

    def _suggest(self, name: str) -> str:
        """Return a suggestion of a similar run id or task, for callers who may list runs, else an empty text."""
        if not self._database.may_suggest:
            return ""
        from lab.core.text.suggestion import near_names, suggestion

        runs = self.names(limit=_MAX_SUGGESTED)
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
        """Return summaries of runs, newest in this file first. `before` is the last id of the previous page.

        The list has runs that are not archived, archived runs, or both (`archived` None). `tag` limits it to tagged
        runs.
        """
        count = -1 if limit is None else limit
        listed, values = list_condition(self._database, archived=archived, tag=tag)
        if before is None:
            return self._read_summaries("all", *values, count, listed=listed)
        return self._read_summaries("before", before, *values, count, listed=listed)

    def summary(self, trace_id: str) -> Summary:
        """Return the summary of one run."""
        summary_rows = self._read_summaries("one", trace_id)
        if not summary_rows:
            raise LabError(f"run {trace_id}", f"is not in {self._database.path}.")
        return summary_rows[0]

    def family(self, trace_id: str) -> list[RelatedRun]:
        """Return summaries of all runs connected to this one by forks, sorted by id."""
        from store.runs.family import family

        kin = family(self._database.read, trace_id)
        lines = [(self.summary(run), parent, forked) for run, (parent, forked) in kin.items()]
        return [
            RelatedRun(**msgspec.structs.asdict(line), parent=parent, forked=forked) for line, parent, forked in lines
        ]

    def verdicts(self, trace_id: str) -> list[Verdict]:
        """Return the verdicts that came with an imported run, in its source's order."""
        verdict_rows = self._database.read("SELECT body FROM verdict WHERE trace = ? ORDER BY position", trace_id)
        return [decode(body, Verdict, f"run {trace_id}, verdict") for (body,) in verdict_rows]

    def blob(self, sha256: str) -> Blob | None:
        """Return a picture or phone state, stored or linked, or None if unavailable."""
        blob_rows = self._database.read("SELECT bytes, mime FROM blob WHERE sha256 = ?", sha256)
        return Blob(*blob_rows[0]) if blob_rows else self._links.blob(sha256)

    def draft(self, trace_id: str, question_id: str) -> str:
        """Return the newest draft of an answer, empty if there is none."""
        draft_rows = self._database.read(
            "SELECT text FROM draft WHERE trace = ? AND question = ? ORDER BY at DESC, n DESC LIMIT 1",
            trace_id,
            question_id,
        )
        return unescape_surrogates(draft_rows[0][0]) if draft_rows else ""

    def draft_times(self, trace_id: str, question_id: str) -> tuple[str, str] | None:
        """Return when a question was first shown to a person, and when they first typed (empty if not yet), in UTC.

        Return None if neither is known.
        """
        time_rows = self._database.read(
            "SELECT min(at), min(CASE WHEN text <> '' THEN at END) FROM draft WHERE trace = ? AND question = ?",
            trace_id, question_id,
        )  # fmt: skip
        return (time_rows[0][0], time_rows[0][1] or "") if time_rows and time_rows[0][0] else None

    def links(self, sha256: str) -> list[ImageLink]:
        """Return the links to a picture, empty if none."""
        return self._links.for_picture(sha256)

    def rows(self, limit: int, *, before: int | None = None) -> list[RunRow]:
        """Return a page of runs, newest in this file first.

        `before` is the `n` of the last run of the previous page.
        """
        from store.runs.run_table import run_table

        return run_table(self._database, limit, before)

    def rows_stamp(self) -> tuple[int, int, int, int]:
        """Return a value that changes if a run is added, extended, archived, tagged or erased, only to be compared."""
        stamp_rows = self._database.read(
            "SELECT ifnull(max(n), 0), count(*), (SELECT ifnull(max(rowid), 0) FROM event) FROM trace"
        )
        newest, count, event = stamp_rows[0]
        acts = self._database.rows_in(TABLE, "SELECT ifnull(max(n), 0) FROM run_act")
        return newest, count, event, acts[0][0] if acts else 0

    def measured(self, ids: Iterable[str] | None = None, *, spooled: bool = False) -> Iterator[MeasuredRun]:
        """Yield runs for metrics (those in `ids`, or all, oldest first), one at a time in memory.

        With `spooled`, steps and verdicts are stored in a temporary file, for callers that hold all runs. Raise
        `LabError` if a run is missing or was written by a newer hitlab.
        """
        from store.runs.measured_runs import measured_runs

        return measured_runs(self._database, ids, spooled=spooled)

    def of_task(self, task: str) -> list[str]:
        """Return the runs of a task, newest in this file first."""
        sql = "SELECT id FROM trace WHERE task = ? ORDER BY n DESC"
        return [id for (id,) in self._database.read(sql, escape_surrogates(task))]

    def latest_run_of(self, subject: Subject) -> str | None:
        """Return the newest run with exactly this instruction, preferably a finished one, or None if there is none."""
        runs = [id for id in self.of_task(subject.task) if subject_of(self.task(id)) == subject]
        return next((id for id in runs if self._has_ended(id)), runs[0] if runs else None)

    def _has_ended(self, trace_id: str) -> bool:
        return bool(self._database.read("SELECT 1 FROM event WHERE trace = ? AND kind = 'ended'", trace_id))

    def task(self, trace_id: str) -> Task:
        """Return the task of a run."""
        first = next(self.events(trace_id))
        assert isinstance(first, Started)
        return first.task

    def blob_ids(self, trace_id: str) -> list[str]:
        """Return the sha256 of every picture and phone state that a run refers to."""
        return [
            sha for (sha,) in self._database.read("SELECT sha256 FROM use WHERE trace = ? ORDER BY sha256", trace_id)
        ]

    def runs_with_blob(self, sha256: str) -> list[str]:
        """Return the runs that refer to a picture or phone state."""
        return [id for (id,) in self._database.read("SELECT trace FROM use WHERE sha256 = ? ORDER BY trace", sha256)]

    # Helpers

    def _with_agent_name(self, first: Started) -> Started:
        """Return a run's first event, its agent with the name that a person gave it."""
        name = self.acts.agent_names(first.trace).get(first.trace)
        return first if name is None else msgspec.structs.replace(first, agent=name.apply_to(first.agent))

    def _read_summaries(self, which: str, *values: Any, listed: str = "1") -> list[Summary]:
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
            if event.seq < expected:
                raise LabError(run, "was continued in another window or command. Nothing more is kept from this one.")
            raise LabError(run, f"expects event {expected}, not {event.seq}.")


def _insert_run(db: sqlite3.Connection, imported: Imported, *, link: bool) -> bool | LabError:
    """Insert one of several runs within a savepoint, so that an error rolls back this run only."""
    db.execute("SAVEPOINT run")
    try:
        _check_complete(imported)
        new = run_rows.insert_run(db, imported, link=link)
    except _RUN_ERRORS as error:
        db.execute("ROLLBACK TO run")
        db.execute("RELEASE run")
        if isinstance(error, LabError):
            return error
        return LabError(f"run {imported.id}", f"holds what the file cannot keep ({error}).")
    db.execute("RELEASE run")
    return new


_RUN_ERRORS = (LabError, sqlite3.DataError, OverflowError, UnicodeEncodeError)
"""Errors caused by an imported run, not by the file."""


def _check_complete(imported: Imported) -> None:
    if not imported.events or not isinstance(imported.events[0], Started):
        raise LabError("import", "a run's events begin with Started.")
    for i, event in enumerate(imported.events):
        if event.seq != i:
            raise LabError(f"run {imported.id}", f"expects event {i}, not {event.seq}.")
        if isinstance(event, Ended) and event is not imported.events[-1]:
            raise LabError(f"run {imported.id}", "has ended; nothing follows.")


def _decode_event(body: str, what: str) -> AnyEvent:
    event: AnyEvent = decode(body, AnyEvent, what, newest=VERSION)
    return event
