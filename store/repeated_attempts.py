"""Attempts of which each did the very same steps: their sources differ in their logs' times or their pictures alone.

An id follows from what names a run and from its steps. The first of such attempts bears it, whichever it is; what the
log of another says of its times, or else its pictures, make an id of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from lab.core.run_records import Imported, imported_id
from lab.core.trace import AnyEvent, Started, Step
from store.formats import KnownRun
from store.runs import Runs

_KIND = "attempt"
_BY_PICTURES = "mobile_use"
"""The format whose runs are named after a task and its actions, which say nothing of when they were done."""

Marks = tuple[str | None, ...]
"""What tells attempts apart: for each step the time in its log, or the sha256 of its picture."""


def is_told_apart(run: Imported) -> bool:
    """Whether its source tells something by which a further attempt of the very same steps can be known."""
    first = run.events[0]
    by_pictures = isinstance(first, Started) and first.source is not None and first.source.format == _BY_PICTURES
    return any(_times(run.events)) or (by_pictures and any(_pictures(run.events)))


def further_attempt(source: KnownRun, runs: Runs) -> str | None:
    """The id of a source as a further attempt; None where it is the run that is here, or nothing tells them apart."""
    if not runs.holds(source.id):
        return None
    if any(source.times):
        marks, here = source.times, _times(runs.events(source.id))
        differs = here != marks and any(here)
    elif source.pictures is not None:
        marks, here = source.pictures(), _pictures(runs.events(source.id))
        differs = any(mine and other and mine != other for mine, other in zip(marks, here, strict=False))
    else:
        return None
    return imported_id(_KIND, "\0".join([source.id, *(mark or "" for mark in marks)]).encode()) if differs else None


def _times(events: Iterable[AnyEvent]) -> Marks:
    return tuple(event.extra.get("log_time") for event in events if isinstance(event, Step))


def _pictures(events: Iterable[AnyEvent]) -> Marks:
    return tuple(event.before.image for event in events if isinstance(event, Step))
