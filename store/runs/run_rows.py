"""Rows of runs: columns that duplicate fields of an event's JSON, and the blobs that it refers to."""

from __future__ import annotations

import sqlite3
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from lab.core.codec import decode, encode, escape_surrogates
from lab.core.errors import LabError
from lab.core.run.run_records import Blob, Imported, Tombstone, whole_and_incomplete
from lab.core.run.step import Observation, Proposed
from lab.core.run.trace import AnyEvent, Asked, Ended, Resumed, Started, Step
from store.erasing.tombstones import check_no_withdrawn_signers
from store.studies.proofreading import INSERT_CLEARANCE, INSERT_REVIEW, clearance_row, review_row

RECORDED_PREFIX = "recorded:"
"""Prefix of an agent's id that replays a stored run."""

TRACE = "INSERT INTO trace VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
EVENT = "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
BLOB = "INSERT OR IGNORE INTO blob VALUES (?, ?, ?, ?)"
LINK = "INSERT OR IGNORE INTO link VALUES (?, ?, ?, ?)"
TOMBSTONE = "INSERT OR IGNORE INTO tombstone VALUES (?, ?, ?, ?, ?, ?)"


def insert_run(db: sqlite3.Connection, imported: Imported, n: int | None = None, *, link: bool = False) -> bool:
    """Insert all rows of a run within the caller's transaction. Return False if the run is already present.

    `n` is its position in the file, the next one if None. `link` leaves whole-file pictures in place. If the run is
    present, its missing pictures (linked, or left out of a copy) are still added.

    Raise `LabError` if the run was erased from this file or it involves a person who has withdrawn. Runs that it
    replaces get tombstones, unless they are in this file.
    """
    if db.execute("SELECT 1 FROM trace WHERE id = ?", (imported.id,)).fetchone():
        used_blobs = {sha256 for (sha256,) in db.execute("SELECT sha256 FROM use WHERE trace = ?", (imported.id,))}
        insert_wanted_blobs(db, imported.images, used_blobs, link=link)
        return False
    first = imported.events[0]
    assert isinstance(first, Started)
    check_not_erased(db, imported.id)
    for event in imported.events:
        # A recorded agent would bring an erased run back under another id.
        if (repeated := replayed_run(event)) is not None:
            check_not_erased(db, repeated)
    events = [event_row(imported.id, event) for event in imported.events]
    check_no_withdrawn_signers(db, (row[-1] for row in events), f"run {imported.id}")
    db.execute(TRACE, trace_row(first, n))
    insert_blobs(db, imported.id, imported.images, imported.events, link=link)
    for row in events:
        decode(row[-1], AnyEvent, f"run {imported.id}, event {row[1]}")  # nothing is written that cannot be read back
    db.executemany(EVENT, events)
    db.executemany(
        "INSERT INTO verdict VALUES (?, ?, ?, ?)",
        [(imported.id, i, v.name, encode(v).decode()) for i, v in enumerate(imported.verdicts)],
    )
    rows = [*imported.reviews, *imported.clearances]
    check_no_withdrawn_signers(db, (encode(one).decode() for one in rows), f"run {imported.id}")
    db.executemany(INSERT_REVIEW, [review_row(review) for review in imported.reviews])
    db.executemany(INSERT_CLEARANCE, [clearance_row(clearance) for clearance in imported.clearances])
    for stone in imported.tombstones:
        if not db.execute("SELECT 1 FROM trace WHERE id = ?", (stone.trace,)).fetchone():
            db.execute(TOMBSTONE, tombstone_row(stone))
    return True


def check_not_erased(db: sqlite3.Connection, trace_id: str) -> None:
    """Raise `LabError` if a run was erased from this file."""
    row = db.execute("SELECT body FROM tombstone WHERE trace IN (?, ?)", whole_and_incomplete(trace_id)).fetchone()
    if row:
        raise LabError(f"run {trace_id}", erasure_reason(decode(row[0], Tombstone, "a tombstone in the file")))


def replayed_run(event: AnyEvent) -> str | None:
    """Return the id of the run that an event's agent replays, or None if it replays none."""
    agent = event.agent if isinstance(event, Started) else event.by if isinstance(event, Resumed) else None
    return (
        agent.id.removeprefix(RECORDED_PREFIX) if agent is not None and agent.id.startswith(RECORDED_PREFIX) else None
    )


def erasure_reason(stone: Tombstone) -> str:
    """Return the reason why a run is not imported."""
    where = f" as run {stone.replaced_by}" if stone.replaced_by else ""
    return f"was {stone.why}{where} on {stone.at[:10]} and is not taken in again."


def tombstone_row(stone: Tombstone) -> tuple[Any, ...]:
    """Return the values for `TOMBSTONE`."""
    return (stone.trace, stone.why, stone.replaced_by, stone.by.id, stone.at, encode(stone).decode())


def insert_blobs(
    db: sqlite3.Connection,
    trace_id: str,
    blobs: Mapping[str, Blob],
    events: Iterable[AnyEvent],
    *,
    link: bool = False,
) -> None:
    """Insert new blobs, and the references from the run to all blobs of its events."""
    insert_wanted_blobs(db, blobs, blobs, link=link)
    uses = set(blobs).union(*(referenced_blobs(event) for event in events))
    db.executemany("INSERT OR IGNORE INTO use VALUES (?, ?)", [(trace_id, sha256) for sha256 in sorted(uses)])


def insert_wanted_blobs(
    db: sqlite3.Connection, blobs: Mapping[str, Blob], wanted_ids: Container[str], *, link: bool
) -> None:
    """Insert the wanted blobs that are missing, with `link` only the path of those that are whole files."""
    for sha256 in blobs:
        if sha256 not in wanted_ids or db.execute("SELECT 1 FROM blob WHERE sha256 = ?", (sha256,)).fetchone():
            continue
        blob = blobs[sha256]
        if link and blob.path:
            db.execute(LINK, (sha256, blob.mime, len(blob.data), escape_surrogates(blob.path)))
        else:
            db.execute(BLOB, (sha256, blob.mime, len(blob.data), blob.data))


def trace_row(started: Started, n: int | None = None) -> tuple[Any, ...]:
    """Return the values for `TRACE`. The run's body is in its first event."""
    return (
        n,
        started.trace,
        started.task.id,
        started.task.kind,
        # An agent that ran here is stored under its address. An imported one only has an identity.
        started.agent.identity
        if started.source and not started.agent.id.startswith(RECORDED_PREFIX)
        else started.agent.id,
        started.persona.id if started.persona else started.task.persona or None,
        started.user.id if started.user else None,
        started.device.kind,
        started.conditions.seat,
        started.attempt,
        started.parent,
        started.source.format if started.source else None,
        started.source.path if started.source else None,
        started.forked.at if started.forked else started.at,
    )


def event_row(trace_id: str, event: AnyEvent) -> tuple[Any, ...]:
    """Return the values for `EVENT`. The body is text so that any SQLite browser shows it."""
    step = event if isinstance(event, Step) else None
    ended = event if isinstance(event, Ended) else None
    return (
        trace_id,
        event.seq,
        type(event).__name__.lower(),
        event.at,
        event.ms,
        int(step is not None and step.question is not None),
        int(step is not None and step.reply is not None),
        ended.status if ended else None,
        ended.score if ended else None,
        encode(event).decode(),
    )


def referenced_blobs(event: AnyEvent) -> set[str]:
    """Return the sha256 of every picture and phone state that an event refers to."""
    match event:
        case Started():
            return {event.state} if event.state else set()
        case Asked():
            return {*_observed_images(event.before), *_prompt_images(event.proposed)}
        case Step():
            return {
                *_observed_images(event.before),
                *_prompt_images(event.proposed),
                *((event.state,) if event.state else ()),
            }
        case Ended():
            return set(_observed_images(event.final))
    return set()


def _observed_images(observation: Observation | None) -> Iterator[str]:
    if observation is not None and observation.image:
        yield observation.image


def _prompt_images(proposed: Proposed) -> Iterator[str]:
    if proposed.prompt is not None:
        yield from proposed.prompt.images
