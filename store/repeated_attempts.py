"""Repeated attempts with identical steps, told apart only by their logs' times or their pictures.

A run's id is derived from its name and steps. The first imported attempt gets that id. For later ones the times in
their logs, or else their pictures, are part of the id.
"""

from __future__ import annotations

from collections.abc import Iterable

from lab.core.run_records import Imported, imported_id
from lab.core.trace import AnyEvent, Started, Step
from store.formats import KnownRun
from store.runs import Runs

_KIND = "attempt"
_BY_PICTURES = ("knowu", "mobile_use")
"""Formats whose runs are identified by task and steps, without times."""

Marks = tuple[str | None, ...]
"""Marks that distinguish attempts: per step, the time in its log or the sha256 of its picture."""


def is_distinguishable(run: Imported) -> bool:
    """Return True if the run has times or pictures that can distinguish another attempt with identical steps."""
    first = run.events[0]
    by_pictures = isinstance(first, Started) and first.source is not None and first.source.format in _BY_PICTURES
    return any(_log_times(run.events)) or (by_pictures and any(_picture_hashes(run.events)))


def further_attempt_id(source: KnownRun, runs: Runs) -> str | None:
    """Return the id of a source as a further attempt, or None if it is the stored run or cannot be distinguished."""
    timed = any(source.times)
    if not (timed or source.pictures) or not runs.has_run(source.id):
        return None
    events = list(runs.events(source.id))
    here = _log_times(events)
    if timed != any(here):
        return None
    if timed:
        marks, differs = source.times, source.times != here
    else:
        marks = source.pictures() if source.pictures else ()
        pairs = zip(marks, _picture_hashes(events), strict=False)
        differs = any(mine and other and mine != other for mine, other in pairs)
    return imported_id(_KIND, "\0".join([source.id, *(mark or "" for mark in marks)]).encode()) if differs else None


def _log_times(events: Iterable[AnyEvent]) -> Marks:
    return tuple(event.extra.get("log_time") for event in events if isinstance(event, Step))


def _picture_hashes(events: Iterable[AnyEvent]) -> Marks:
    return tuple(event.before.image for event in events if isinstance(event, Step))
