"""Events as rows: which columns repeat what the JSON body says, and which blobs an event refers to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lab.trace import AnyEvent, Asked, Ended, Observation, Proposed, Started, Step
from lab.wire import encode

TRACE = "INSERT INTO trace VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
EVENT = "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def trace_row(started: Started) -> tuple[Any, ...]:
    """The values of `TRACE`, without the body: that stands in the run's first event."""
    return (
        started.trace,
        started.task.id,
        started.task.kind,
        started.agent.id,
        started.persona.id if started.persona else started.task.persona or None,
        started.user.id if started.user else None,
        started.device.kind,
        started.conditions.seat,
        started.attempt,
        started.parent,
        started.source.format if started.source else None,
        started.source.path if started.source else None,
        started.at,
    )


def event_row(trace_id: str, event: AnyEvent) -> tuple[Any, ...]:
    """The values of `EVENT`; the body is text, so that any SQLite browser shows it."""
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


def referred(event: AnyEvent) -> set[str]:
    """The sha256 of every picture and phone state that an event names."""
    match event:
        case Started():
            return {event.state} if event.state else set()
        case Asked():
            return {*_seen(event.before), *_sent(event.proposed)}
        case Step():
            return {*_seen(event.before), *_sent(event.proposed), *((event.state,) if event.state else ())}
        case Ended():
            return set(_seen(event.final))
    return set()


def _seen(observation: Observation | None) -> Iterator[str]:
    if observation is not None and observation.image:
        yield observation.image


def _sent(proposed: Proposed) -> Iterator[str]:
    if proposed.prompt is not None:
        yield from proposed.prompt.images
