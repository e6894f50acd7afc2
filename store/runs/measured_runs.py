"""Runs for metrics: events without screens, thoughts and prompts, so that thousands load quickly."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Literal, TypeVar, overload

import msgspec

from lab.core.codec import decode
from lab.core.errors import LabError
from lab.core.run.measured_run import MeasuredRun, MeasuredStep
from lab.core.run.run_records import Verdict
from lab.core.run.step import COUNTED, Action, Point, Question, Reply, Usage, total_usage
from lab.core.run.trace import VERSION, Conditions, DeviceInfo, Forked, Source
from lab.core.task.task import Actor, Persona, Task
from lab.core.values.ids_and_clock import seconds_between
from store.file.database import Database
from store.runs.run_acts import StoredAgents

_Part = TypeVar("_Part")
_Value = TypeVar("_Value")
_RUNS = "SELECT id FROM trace ORDER BY n"
# Other events only count by kind and time, so their bodies are not read.
_EVENTS = """
SELECT kind, at, ms, CASE WHEN kind IN ('started', 'step', 'flagged', 'ended') THEN body END
FROM event WHERE trace = ? ORDER BY seq
"""
_VERDICTS = "SELECT body FROM verdict WHERE trace = ? ORDER BY position"
_MAX_IN_MEMORY = 256 * 1024
"""Bytes of steps that a spool holds in memory before it writes to the disk."""
_MAX_DECODED = 2048
"""Steps of spooled runs that stay decoded: metrics alternate between a run and its task's demonstrations."""
_STEPS = msgspec.json.Decoder(list[MeasuredStep])
_JUDGED = msgspec.json.Decoder(list[Verdict])


class _Observed(msgspec.Struct, frozen=True):
    size: Point | None = None
    image: str | None = None
    tree: msgspec.Raw = msgspec.Raw()


class _Proposal(msgspec.Struct, frozen=True):
    action: Action
    usage: Usage | None = None
    by: Actor | None = None
    instruction: str = ""


class _MeasuredDecision(msgspec.Struct, frozen=True):
    action: Action | None = None


class _MeasuredStart(msgspec.Struct, tag="started", tag_field="event"):
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
    """The one field of a source's own that metrics read: FingerTip-20K's content of the touched place."""

    content: Any = None


class _StepParts(msgspec.Struct, tag="step", tag_field="event"):
    index: int
    proposed: _Proposal
    before: _Observed = _Observed()
    decision: _MeasuredDecision | None = None
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


class _MeasuredEnd(msgspec.Struct, tag="ended", tag_field="event"):
    status: str
    score: float | None = None
    reason: str = ""
    checks: tuple[tuple[str, bool], ...] = ()
    usage: Usage | None = None
    v: int = VERSION


_Event = _MeasuredStart | _StepParts | _Flagged | _MeasuredEnd


def measured_runs(
    database: Database, ids: Iterable[str] | None = None, *, spooled: bool = False
) -> Iterator[MeasuredRun]:
    """Yield runs for metrics (those in `ids`, or all, oldest first), one at a time in memory.

    With `spooled`, steps and verdicts are stored in a temporary file, for callers that hold all runs. Raise `LabError`
    if a run is missing or was written by a newer hitlab.
    """
    shared = _SharedValues(database)
    spool = _Spool() if spooled else None
    for id in [row[0] for row in database.read(_RUNS)] if ids is None else ids:
        rows = database.read(_EVENTS, id)
        if not rows:
            raise LabError(f"run {id}", f"is not in {database.path}.")
        bodies = database.read(_VERDICTS, id)
        verdicts: list[Verdict] = [decode(body, Verdict, f"run {id}, verdict") for (body,) in bodies]
        run = _measure(id, rows, verdicts, shared)
        yield run if spool is None else spool.without_parts(run)


class _Spool:
    """Steps and verdicts of many runs in a temporary file, deleted with this object."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_MAX_IN_MEMORY)  # noqa: SIM115 (it closes with this object)
        self._end = 0
        self._recent: dict[int, list[Any]] = {}
        """Decoded parts by their offset in the file, least recently used first."""
        self._decode_event = 0
        # The runs hold this object, so the file closes when the last of them is gone.
        weakref.finalize(self, self._file.close)

    def without_parts(self, run: MeasuredRun) -> MeasuredRun:
        """Return the run with its large parts moved to the file. Raise `LabError` if the disk is full."""
        verdicts = run.verdicts
        if any(verdict.extra for verdict in verdicts):
            verdicts = self._add(verdicts, _JUDGED)
        return run._replace(steps=self._add(run.steps, _STEPS), verdicts=verdicts)

    def _add(self, parts: Sequence[_Part], decoder: msgspec.json.Decoder[list[_Part]]) -> Sequence[_Part]:
        if not parts:
            return ()
        data = msgspec.json.encode(parts)
        start = self._end
        try:
            self._file.seek(start)
            self._file.write(data)
        except OSError as error:
            problem = f"cannot be written: {error.strerror or error}."
            raise LabError("temporary file", problem, "Set TMPDIR to a folder with more room.") from error
        self._end += len(data)
        return _Spooled(self, start, len(data), len(parts), decoder)

    def read(self, start: int, size: int, decoder: msgspec.json.Decoder[list[_Part]]) -> list[_Part]:
        parts = self._recent.pop(start, None)
        if parts is None:
            self._file.seek(start)
            parts = decoder.decode(self._file.read(size))
            self._decode_event += len(parts)
            while self._recent and self._decode_event > _MAX_DECODED:
                self._decode_event -= len(self._recent.pop(next(iter(self._recent))))
        self._recent[start] = parts
        return parts


class _Spooled(Sequence[_Part]):
    """One run's part of a spool, decoded on access."""

    __slots__ = ("_decoder", "_length", "_size", "_spool", "_start")

    def __init__(
        self, spool: _Spool, start: int, size: int, length: int, decoder: msgspec.json.Decoder[list[_Part]]
    ) -> None:
        self._spool, self._start, self._size, self._length, self._decoder = spool, start, size, length, decoder

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[_Part]:
        return iter(self._parts)

    @overload
    def __getitem__(self, place: int) -> _Part: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[_Part]: ...

    def __getitem__(self, place: int | slice) -> _Part | Sequence[_Part]:
        return self._parts[place]

    @property
    def _parts(self) -> list[_Part]:
        return self._spool.read(self._start, self._size, self._decoder)


class _SharedValues:
    """Values shared by many runs: tasks and personas decoded once, smaller values interned, agents by display name."""

    def __init__(self, database: Database) -> None:
        self.agents = StoredAgents(database)
        self._tasks: dict[bytes, Task] = {}
        self._personas: dict[bytes, Persona] = {}
        self._values: dict[Any, Any] = {}

    def share(self, value: _Value) -> _Value:
        """Return the first value seen that equals this one, so that equal values share memory."""
        same: _Value = self._values.setdefault(value, value)
        return same

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


def _measure(id: str, rows: list[Any], verdicts: list[Verdict], shared: _SharedValues) -> MeasuredRun:
    what = f"run {id}"
    steps: list[_StepParts] = []
    slips: dict[int, bool] = {}
    started: _MeasuredStart | None = None
    ended: _MeasuredEnd | None = None
    for place, (_, _, _, body) in enumerate(rows):
        if body is None:
            continue
        event = _decode_event(body, f"{what}, event {place}")
        match event:
            case _MeasuredStart():
                started = event
            case _StepParts():
                steps.append(event)
            case _Flagged():
                slips[event.index] = event.on
            case _MeasuredEnd():
                ended = event
    if started is None:
        raise LabError(what, "is damaged: it has no beginning.")
    clock = [_event_time(at, ms) for _, at, ms, _ in rows]
    seconds = _elapsed_seconds(clock)
    kinds = [row[0] for row in rows]
    return MeasuredRun(
        id=id,
        task=shared.task(started.task, what),
        agent=shared.share(shared.agents.renamed(id, started.agent)),
        steps=[_measured_step(step, slips) for step in steps],
        status=shared.share(ended.status) if ended else "open",
        score=ended.score if ended else None,
        reason=ended.reason if ended else "",
        persona=shared.persona(started.persona, what),
        user=shared.share(started.user),
        device=shared.share(started.device),
        conditions=shared.share(started.conditions),
        source=started.source,
        attempt=started.attempt,
        parent=started.parent,
        # A fork repeats the original's events with their times.
        started=started.forked.at if started.forked else started.at,
        checks=ended.checks if ended else (),
        seconds=_reported_seconds(ended, seconds),
        waited=_waiting_seconds(kinds, clock, started, steps, timed=seconds is not None),
        open_questions=_open_questions(kinds) if ended else 0,
        usage=_run_usage(ended, steps),
        verdicts=verdicts,
    )


def _decode_event(body: str, what: str) -> _Event:
    """Decode the needed fields of an event.

    The version is checked after decoding or on failure, because parsing it beforehand doubles the time.
    """
    try:
        event: _Event = decode(body, _Event, what)
    except LabError:
        event = decode(body, _Event, what, newest=VERSION)
    return event if event.v <= VERSION else decode(body, _Event, what, newest=VERSION)


def _measured_step(step: _StepParts, slips: dict[int, bool]) -> MeasuredStep:
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


def _event_time(at: str, ms: float | None) -> tuple[float | None, float | None]:
    """Return an event's time in seconds: since the start of the run, and of day. At most one is not None."""
    if ms is not None:
        return ms / 1000, None
    try:
        return None, datetime.fromisoformat(at).timestamp() if at else None
    except ValueError:
        return None, None


def _elapsed_seconds(clock: list[tuple[float | None, float | None]]) -> float | None:
    """Return seconds between the first and last event with a time, or None if fewer than two have one.

    Times since the start of the run take precedence over times of day.
    """
    for which in (0, 1):
        times = [time[which] for time in clock if time[which] is not None]
        if len(times) > 1:
            return max(0.0, times[-1] - times[0])  # type: ignore[operator]
    return None


def _reported_seconds(ended: _MeasuredEnd | None, seconds: float | None) -> float | None:
    """Return the duration that the source reports, else the one computed from event times."""
    if ended is not None and ended.usage is not None and ended.usage.seconds is not None:
        return ended.usage.seconds
    return seconds


def _open_questions(kinds: Sequence[str]) -> int:
    """Return 1 if a question was asked after the last step, else 0. A question repeated after a pause counts once."""
    for kind in reversed(kinds):
        if kind in ("asked", "step"):
            return int(kind == "asked")
    return 0


def _waiting_seconds(
    kinds: list[str],
    clock: list[tuple[float | None, float | None]],
    started: _MeasuredStart,
    steps: list[_StepParts],
    *,
    timed: bool,
) -> float | None:
    """Return seconds with a question open or the run paused, or None if unknown, as in most imported runs."""
    if not any(kind in ("asked", "paused") for kind in kinds):
        return 0.0
    if started.source is not None:
        replies = [step.reply for step in steps if step.question]
        if not all(reply is not None and reply.shown_at and reply.sent_at for reply in replies):
            return None
        return sum(_nonnegative_seconds(reply.shown_at, reply.sent_at) for reply in replies if reply is not None)
    return _blocked_seconds(kinds, clock) if timed else None


def _blocked_seconds(kinds: list[str], clock: list[tuple[float | None, float | None]]) -> float:
    """Return the total seconds covered by questions and pauses, overlaps counted once."""
    total = 0.0
    since: float | None = None
    why: set[str] = set()
    for kind, (run, day) in zip(kinds, clock, strict=True):
        now = run if run is not None else day
        if now is None:
            continue
        if kind in ("asked", "paused"):
            since = since if why else now
            # Only the first of overlapping reasons starts the span. It ends with the last.
            why.add(kind)
        elif kind in ("answered", "resumed", "step", "ended") and why:
            why -= {"asked"} if kind in ("answered", "step") else {"paused"} if kind == "resumed" else set(why)
            if not why and since is not None:
                total, since = total + max(0.0, now - since), None
    return total


def _nonnegative_seconds(first: str | None, last: str | None) -> float:
    return max(0.0, seconds_between(first, last) or 0.0)


def _run_usage(ended: _MeasuredEnd | None, steps: list[_StepParts]) -> Usage | None:
    """Return the run's total usage: each figure as its source reports it, else the sum of its steps."""
    own = [step.proposed.usage for step in steps if step.proposed.usage is not None]
    total = total_usage(own) if own else None
    usage = ended.usage if ended else None
    if usage is None or total is None:
        return usage or total
    own_counts = {name: value for name in COUNTED if (value := getattr(usage, name)) is not None}
    whole: Usage = msgspec.structs.replace(total, **own_counts)
    return whole
