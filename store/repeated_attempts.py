"""Attempts of which each did the very same steps: their sources differ in their logs' times alone.

An id follows from what names a run and from its steps. The first of such attempts bears it, whichever it is; what the
log of another says of its times makes an id of its own.
"""

from __future__ import annotations

from lab.core.run_records import Imported, imported_id
from lab.core.trace import Step
from store.formats import KnownRun
from store.runs import Runs

_KIND = "attempt"


def tells_times(run: Imported) -> bool:
    """Whether its source's log told times, by which a further attempt of the very same steps can be known."""
    return any(isinstance(event, Step) and event.extra.get("log_time") for event in run.events)


def further_attempt(source: KnownRun, runs: Runs) -> str | None:
    """The id of a source as a further attempt; None where it is the run that is here, or nothing tells them apart."""
    if not any(source.times) or not runs.holds(source.id):
        return None
    here = tuple(event.extra.get("log_time") for event in runs.events(source.id) if isinstance(event, Step))
    if here == source.times or not any(here):
        return None
    return imported_id(_KIND, "\0".join([source.id, *(time or "" for time in source.times)]).encode())
