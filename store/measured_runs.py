"""Runs as metrics read them: their events without screens, thoughts and prompts, so that thousands are quickly read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import reduce
from typing import Any, Literal

import msgspec

from lab.core.codec import decode
from lab.core.errors import LabError
from lab.core.ids_and_clock import seconds_between
from lab.core.measured_run import MeasuredRun, MeasuredStep
from lab.core.run_records import Verdict
from lab.core.step import COUNTED, Action, Point, Question, Reply, Usage
from lab.core.task import Actor, Persona, Task
from lab.core.trace import VERSION, Conditions, DeviceInfo, Forked, Source
from store.database import Database
from store.run_acts import StoredAgents

_RUNS = "SELECT id FROM trace ORDER BY n"
_EVENTS = """
SELECT kind, at, ms, CASE WHEN kind IN ('started', 'step', 'flagged', 'ended') THEN body END
FROM event WHERE trace = ? ORDER BY seq
"""
_VERDICTS = "SELECT body FROM verdict WHERE trace = ? ORDER BY position"


class _Observed(msgspec.Struct, frozen=True):
    size: Point | None = None
    image: str | None = None
    tree: msgspec.Raw = msgspec.Raw()


class _Proposal(msgspec.Struct, frozen=True):
    action: Action
    usage: Usage | None = None
    by: Actor | None = None
    instruction: str = ""


class _Passed(msgspec.Struct, frozen=True):
    action: Action | None = None


class _Started(msgspec.Struct, tag="started", tag_field="event"):
    trace: str
    task: msgspec.Raw
    agent: Actor
    persona: msgspec.Raw = msgspec.Raw()
    user: Actor | None = None
    device: DeviceInfo = DeviceInfo()
    conditions: Conditions = Conditions()
    attempt: int = 1
    parent: str | None = None
    source: Source | None = None
    forked: Forked | None = None
    at: str = ""
    v: int = VERSION


class _Extra(msgspec.Struct, frozen=True):
    """Of the source's own fields what FingerTip-20K's actions tell of the place that was touched."""

    content: Any = None


class _Step(msgspec.Struct, tag="step", tag_field="event"):
    index: int
    proposed: _Proposal
    before: _Observed = _Observed()
    decision: _Passed | None = None
    question: Question | None = None
    reply: Reply | None = None
    error: str | None = None
    accepted: tuple[Action, ...] = ()
    extra: _Extra = _Extra()
    v: int = VERSION


class _Flagged(msgspec.Struct, tag="flagged", tag_field="event"):
    index: int
    flag: Literal["slip"] = "slip"
    on: bool = True
    v: int = VERSION


class _Ended(msgspec.Struct, tag="ended", tag_field="event"):
    status: str
    score: float | None = None
    reason: str = ""
    checks: tuple[tuple[str, bool], ...] = ()
    usage: Usage | None = None
    v: int = VERSION


_Event = _Started | _Step | _Flagged | _Ended


def measured_runs(database: Database, ids: Iterable[str] | None = None) -> Iterator[MeasuredRun]:
    """Runs as metrics read them, those named or all, the oldest in this file first; one at a time is in memory.

    Raises `LabError` where a run is not there, or was written by a newer hitlab.
    """
    shared = _Shared(database)
    for id in [row[0] for row in database.read(_RUNS)] if ids is None else ids:
        rows = database.read(_EVENTS, id)
        if not rows:
            raise LabError(f"run {id}", f"is not in {database.path}.")
        bodies = database.read(_VERDICTS, id)
        verdicts: list[Verdict] = [decode(body, Verdict, f"run {id}, verdict") for (body,) in bodies]
        yield _measured(id, rows, verdicts, shared)


class _Shared:
    """Tasks and personas that many runs have in common, decoded once; agents as people call them."""

    def __init__(self, database: Database) -> None:
        self.agents = StoredAgents(database)
        self._tasks: dict[bytes, Task] = {}
        self._personas: dict[bytes, Persona] = {}

    def task(self, raw: msgspec.Raw, what: str) -> Task:
        key = bytes(raw)
        if key not in self._tasks:
            self._tasks[key] = decode(key, Task, f"{what}, field task")
        return self._tasks[key]

    def persona(self, raw: msgspec.Raw, what: str) -> Persona | None:
        key = bytes(raw)
        if not key or key == b"null":
            return None
        if key not in self._personas:
            self._personas[key] = decode(key, Persona, f"{what}, field persona")
        return self._personas[key]


def _measured(id: str, rows: list[Any], verdicts: list[Verdict], shared: _Shared) -> MeasuredRun:
    what = f"run {id}"
    steps: list[_Step] = []
    slips: dict[int, bool] = {}
    started: _Started | None = None
    ended: _Ended | None = None
    for place, (_, _, _, body) in enumerate(rows):
        if body is None:
            continue
        event = _decoded(body, f"{what}, event {place}")
        match event:
            case _Started():
                started = event
            case _Step():
                steps.append(event)
            case _Flagged():
                slips[event.index] = event.on
            case _Ended():
                ended = event
    if started is None:
        raise LabError(what, "is damaged: it has no beginning.")
    clock = [_time(at, ms) for _, at, ms, _ in rows]
    seconds = _span(clock)
    kinds = [row[0] for row in rows]
    return MeasuredRun(
        id=id,
        task=shared.task(started.task, what),
        agent=shared.agents.renamed(id, started.agent),
        steps=[_turn(step, slips) for step in steps],
        status=ended.status if ended else "open",
        score=ended.score if ended else None,
        reason=ended.reason if ended else "",
        persona=shared.persona(started.persona, what),
        user=started.user,
        device=started.device,
        conditions=started.conditions,
        source=started.source,
        attempt=started.attempt,
        parent=started.parent,
        started=started.forked.at if started.forked else started.at,
        checks=ended.checks if ended else (),
        seconds=_reported_seconds(ended, seconds),
        waited=_waited(kinds, clock, started, steps, timed=seconds is not None),
        open_questions=_open_questions(kinds) if ended else 0,
        usage=_usage(ended, steps),
        verdicts=verdicts,
    )


def _decoded(body: str, what: str) -> _Event:
    """An event's few fields; its version is read by itself only where that makes a difference: twice costs twice."""
    try:
        event: _Event = decode(body, _Event, what)
    except LabError:
        event = decode(body, _Event, what, newest=VERSION)
    return event if event.v <= VERSION else decode(body, _Event, what, newest=VERSION)


def _turn(step: _Step, slips: dict[int, bool]) -> MeasuredStep:
    proposed = step.proposed
    return MeasuredStep(
        proposed=proposed.action,
        action=proposed.action if step.decision is None else step.decision.action,
        accepted=step.accepted,
        instruction=proposed.instruction,
        question=step.question,
        reply=step.reply,
        usage=proposed.usage,
        error=step.error,
        size=step.before.size,
        by=proposed.by,
        slip=slips.get(step.index, False),
        content=step.extra.content if isinstance(step.extra.content, str) else "",
        recorded=step.before.image is not None or bytes(step.before.tree) not in (b"", b"null"),
    )


def _time(at: str, ms: float | None) -> tuple[float | None, float | None]:
    """An event's time in seconds: since the run began, and of day."""
    if ms is not None:
        return ms / 1000, None
    try:
        return None, datetime.fromisoformat(at).timestamp() if at else None
    except ValueError:
        return None, None


def _span(clock: list[tuple[float | None, float | None]]) -> float | None:
    """Seconds from the first event that has a time to the last; None where fewer than two have one."""
    for which in (0, 1):
        times = [time[which] for time in clock if time[which] is not None]
        if len(times) > 1:
            return max(0.0, times[-1] - times[0])  # type: ignore[operator]
    return None


def _reported_seconds(ended: _Ended | None, seconds: float | None) -> float | None:
    """What the source says the run took, before what its events' times come to."""
    if ended is not None and ended.usage is not None and ended.usage.seconds is not None:
        return ended.usage.seconds
    return seconds


def _open_questions(kinds: Sequence[str]) -> int:
    """1 where something was asked after the last step; asked again after a pause it is the same question."""
    for kind in reversed(kinds):
        if kind in ("asked", "step"):
            return int(kind == "asked")
    return 0


def _waited(
    kinds: list[str],
    clock: list[tuple[float | None, float | None]],
    started: _Started,
    steps: list[_Step],
    *,
    timed: bool,
) -> float | None:
    """Seconds with a question open or the run standing still; None where that is not told, as in most imported runs."""
    if not any(kind in ("asked", "paused") for kind in kinds):
        return 0.0
    if started.source is not None:
        replies = [step.reply for step in steps if step.question]
        if not all(reply is not None and reply.shown_at and reply.sent_at for reply in replies):
            return None
        return sum(_between(reply.shown_at, reply.sent_at) for reply in replies if reply is not None)
    return _stood_still(kinds, clock) if timed else None


def _stood_still(kinds: list[str], clock: list[tuple[float | None, float | None]]) -> float:
    """Seconds that a question or a pause, or both, took up."""
    total = 0.0
    since: float | None = None
    why: set[str] = set()
    for kind, (run, day) in zip(kinds, clock, strict=True):
        now = run if run is not None else day
        if now is None:
            continue
        if kind in ("asked", "paused"):
            since = since if why else now
            why.add(kind)
        elif kind in ("answered", "resumed", "step", "ended") and why:
            why -= {"asked"} if kind in ("answered", "step") else {"paused"} if kind == "resumed" else set(why)
            if not why and since is not None:
                total, since = total + max(0.0, now - since), None
    return total


def _between(first: str | None, last: str | None) -> float:
    return max(0.0, seconds_between(first, last) or 0.0)


def _usage(ended: _Ended | None, steps: list[_Step]) -> Usage | None:
    """The whole run's: what its source told of it, or else its steps' together."""
    own = [step.proposed.usage for step in steps if step.proposed.usage is not None]
    total = reduce(Usage.plus, own) if own else None
    usage = ended.usage if ended else None
    if usage is None or total is None:
        return usage or total
    own_counts = {name: value for name in COUNTED if (value := getattr(usage, name)) is not None}
    whole: Usage = msgspec.structs.replace(total, **own_counts)
    return whole
