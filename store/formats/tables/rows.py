"""Conversion of a run to rows of the tables in `columns`, one run at a time."""

from __future__ import annotations

from typing import Any

import msgspec

from lab.core.run.step import COUNTED, Action, Question, Reply, Usage
from lab.core.run.trace import Answered, Asked, Ended, Event, Flagged, Started, Step
from lab.core.values.ids_and_clock import seconds_between
from store.formats import StoredRun
from store.formats.tables.columns import TABLES

Row = dict[str, Any]
"""A row's values by column. Missing values are None, times are ISO 8601 text, JSON is text."""


def rows_of(run: StoredRun) -> dict[str, list[Row]]:
    """Return the rows of one run, by table. Pictures and trees of steps are not kept in memory."""
    reading = _RunReader(run.id)
    for event in run.events():
        reading.take(event)
    rows_by_table: dict[str, list[Row]] = {
        "runs": [reading.run(run.reviewed)],
        "steps": reading.steps,
        "questions": reading.asked,
        "verdicts": [
            {
                "run": run.id,
                "verdict": i,
                "name": verdict.name,
                "value": None if verdict.value is None else _json(verdict.value),
                "number": _number(verdict.value),
                "reason": verdict.reason,
                "extra": _json(verdict.extra) if verdict.extra else None,
            }
            for i, verdict in enumerate(run.verdicts)
        ],
    }
    assert rows_by_table.keys() == TABLES.keys()
    return rows_by_table


class _RunReader:
    """State of reading a run's events."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.started: Started | None = None
        self.ended: Ended | None = None
        self.steps: list[Row] = []
        self.asked: list[Row] = []
        self.usage: Usage | None = None
        self.open: Asked | None = None
        self.reply: Reply | None = None

    def take(self, event: Event) -> None:
        match event:
            case Started():
                self.started = event
            case Asked():
                self._add_open_question()
                self.open = event
            case Answered():
                self.reply = event.reply
            case Step():
                self._step(event)
            case Flagged() if 0 <= event.index < len(self.steps):
                self.steps[event.index]["slip"] = event.on
            case Ended():
                self.ended = event

    def _step(self, step: Step) -> None:
        if step.question is not None:
            at = self.open.at if self.open is not None and self.open.index == step.index else step.at
            self.asked.append(_question(self.id, step.index, step.question, step.reply, at))
            self.open = self.reply = None
        self.steps.append(_step(self.id, step))
        usage = step.proposed.usage
        if usage is not None:
            self.usage = usage if self.usage is None else self.usage.plus(usage)

    def _add_open_question(self) -> None:
        """Add the open question, if any. A run that stopped after a question has no step for it."""
        if self.open is not None:
            self.asked.append(_question(self.id, self.open.index, self.open.question, self.reply, self.open.at))
        self.open = self.reply = None

    def run(self, reviewed: str | None) -> Row:
        self._add_open_question()
        started, ended = self.started, self.ended
        if started is None:
            return {"run": self.id, "status": "open", "steps": 0, "questions": 0, "replies": 0}
        task, source, size = started.task, started.source, started.device.size
        run_usage = ended.usage if ended else None
        usage = _completed_usage(run_usage, self.usage)
        return {
            "run": self.id,
            "task": task.id,
            "task_kind": task.kind,
            "instruction": task.instruction,
            "apps": _json(task.apps) if task.apps else None,
            "traits": _json(task.traits) if task.traits else None,
            "golden_steps": task.shortest,
            "persona": task.persona or (started.persona.id if started.persona else None) or None,
            "agent": started.agent.identity,
            "agent_kind": started.agent.kind,
            "agent_name": started.agent.implementation or started.agent.id,
            "agent_version": started.agent.version or None,
            "agent_model": started.agent.model or None,
            "user": started.user.id if started.user else None,
            "user_kind": started.user.kind if started.user else None,
            "seat": started.conditions.seat,
            "mirror": started.conditions.mirror,
            "gate": started.conditions.gate,
            "log": started.conditions.log,
            "seed": started.conditions.seed,
            "attempt": started.attempt,
            "parent": started.parent,
            "reviewed": reviewed,
            "source": source.format if source else None,
            "source_sha256": (source.sha256 or None) if source else None,
            "source_model": (source.model or None) if source else None,
            "device": started.device.kind,
            "device_model": started.device.model or None,
            "release": started.device.release or None,
            "width": size[0] if size else None,
            "height": size[1] if size else None,
            "started": started.at or None,
            "ended": (ended.at or None) if ended else None,
            "status": ended.status if ended else "open",
            "score": ended.score if ended else None,
            "reason": ended.reason if ended else None,
            "steps": len(self.steps),
            "questions": len(self.asked),
            "replies": sum(bool(row["answered"]) for row in self.asked),
            **_usage_columns(usage, ("prompt_tokens", "completion_tokens", "cached_tokens", "cost", "seconds")),
        }


def _step(run: str, step: Step) -> Row:
    proposed, step_action, observation = step.proposed, step.action, step.before
    action = step_action or proposed.action
    return {
        "run": run,
        "step": step.index,
        "at": step.at or None,
        "ms": step.ms,
        "by": proposed.by.id if proposed.by else None,
        "proposed": proposed.action.kind,
        "verdict": step.decision.verdict if step.decision else None,
        "kind": step_action.kind if step_action else None,
        **_coordinates(action),
        "direction": action.direction,
        "text": action.text,
        "app": action.app,
        "status": action.status,
        "duration_ms": action.ms,
        "space": action.space,
        "boxes": _json(action.boxes) if action.boxes else None,
        "accepted": _json(step.accepted) if step.accepted else None,
        "raw": None if action.raw is None else _json(action.raw),
        "instruction": proposed.instruction or None,
        "thought": proposed.thought or None,
        "slip": False,
        "error": step.error,
        "question": step.question.id if step.question else None,
        "image": observation.image,
        "width": observation.size[0] if observation.size else None,
        "height": observation.size[1] if observation.size else None,
        "activity": observation.activity or None,
        **_usage_columns(proposed.usage, COUNTED),
    }


def _coordinates(action: Action) -> Row:
    at, to, vector = action.at or (None, None), action.to or (None, None), action.vector or (None, None)
    return {"x": at[0], "y": at[1], "to_x": to[0], "to_y": to[1], "dx": vector[0], "dy": vector[1]}


def _question(run: str, step: int, question: Question, reply: Reply | None, at: str) -> Row:
    row: Row = {
        "run": run,
        "step": step,
        "question": question.id,
        "kind": question.kind,
        "text": question.text,
        "options": _json(question.options) if question.options else None,
        "asked": at or None,
        "answered": reply is not None,
    }
    if reply is None:
        return row
    return row | {
        "by": reply.by.id,
        "by_kind": reply.by.kind,
        "decision": reply.decision,
        "reply": reply.text,
        "shown": reply.shown_at,
        "first_key": reply.first_key_at,
        "sent": reply.sent_at,
        "waited_s": seconds_between(reply.shown_at, reply.sent_at),
        "edits": reply.edits,
        "draft": reply.draft,
    }


def _completed_usage(usage: Usage | None, step_usage: Usage | None) -> Usage | None:
    """Return the whole run's usage as its source reports it, completed by the sum of the steps."""
    if usage is None or step_usage is None:
        return usage or step_usage
    own = {name: getattr(usage, name) for name in COUNTED if getattr(usage, name) is not None}
    return msgspec.structs.replace(step_usage, **own)


def _usage_columns(usage: Usage | None, names: tuple[str, ...]) -> Row:
    return {name: getattr(usage, name) if usage is not None else None for name in names}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None
