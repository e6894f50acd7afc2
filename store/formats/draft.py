"""Builder for imported runs: steps in order and an end become the events that a live run would record."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from lab.core.codec import escape_surrogates
from lab.core.run.run_records import Blob, Imported, Verdict, imported_id, number_events
from lab.core.run.step import Action, Observation, Proposed, Question, Reply, Usage
from lab.core.run.trace import Answered, AnyEvent, Asked, Conditions, DeviceInfo, Ended, Source, Started, Step
from lab.core.task.task import Actor, Persona, Task

USER = Actor("model", "user-simulator")
"""Default author of replies, because most benchmarks simulate the user with a model."""


def run_id(format: str, name: str, data: bytes) -> str:
    """Return a run's id, derived from its name in the source and its bytes (for large files: their sha256)."""
    return imported_id(format, escape_surrogates(name).encode() + b"\0" + data)


_RESULT_FIELDS = ("result", "execution_result", "action_result", "tool_result", "execution", "outcome")
_REASON_FIELDS = ("error", "error_message", "message", "reason", "summary")


def error_in(fields: Mapping[str, Any]) -> str | None:
    """Return the reason of a failure if a step's fields or its result say `success: false`, else None."""
    for part in (fields, *(fields.get(name) for name in _RESULT_FIELDS)):
        if isinstance(part, Mapping) and (part.get("success") is False or part.get("ok") is False):
            return next((why for name in _REASON_FIELDS if isinstance(why := part.get(name), str) and why), "failed")
    return None


class RunDraft:
    """One run being read. Add its parts in the source's order, then call `imported()`.

    `path` is the origin as shown to users. `data` are the main file's bytes. The id is computed by `run_id`, so that a
    reader can check if a run is known before it reads the pictures.
    """

    def __init__(
        self,
        id: str,
        task: Task,
        agent: Actor,
        *,
        format: str,
        path: str,
        data: bytes = b"",
        sha256: str = "",
        model: str = "",
        images: Mapping[str, Blob] | None = None,
        persona: Persona | None = None,
        device: DeviceInfo | None = None,
        conditions: Conditions | None = None,
        attempt: int = 1,
        at: str = "",
    ) -> None:
        self.id = id
        self.images: Mapping[str, Blob] = {} if images is None else images
        self.verdicts: list[Verdict] = []
        self.started = Started(
            trace=id,
            task=task,
            agent=agent,
            persona=persona,
            device=device or DeviceInfo(),
            conditions=conditions or Conditions(),
            attempt=attempt,
            source=Source(format, escape_surrogates(path), sha256 or hashlib.sha256(data).hexdigest(), model),
            at=at,
        )
        self._events: list[AnyEvent] = []
        self._ended: Ended | None = None
        self.count = 0
        """Number of steps so far, and index of the next one."""

    def step(
        self,
        action: Action,
        before: Observation | None = None,
        *,
        thought: str = "",
        raw: str | None = None,
        usage: Usage | None = None,
        instruction: str = "",
        by: Actor | None = None,
        question: Question | None = None,
        reply: Reply | None = None,
        error: str | None = None,
        accepted: tuple[Action, ...] = (),
        extra: dict[str, Any] | None = None,
        at: str = "",
        ms: float | None = None,
        started: str = "",
        ended: str = "",
    ) -> None:
        """Add one step. A question and its reply also become events of their own before it."""
        observation = before or Observation()
        proposed = Proposed(action, thought, raw=raw, usage=usage, by=by, instruction=instruction)
        if question is not None:
            self._events.append(
                Asked(index=self.count, question=question, proposed=proposed, before=observation, at=at, ms=ms)
            )
            if reply is not None:
                self._events.append(Answered(index=self.count, reply=reply, at=reply.sent_at or at, ms=ms))
        self._events.append(
            Step(
                index=self.count,
                proposed=proposed,
                before=observation,
                question=question,
                reply=reply,
                error=error if error is not None else error_in(extra or {}),
                accepted=accepted,
                extra=extra or {},
                at=at,
                ms=ms,
                started=started,
                ended=ended,
            )
        )
        self.count += 1

    def ask(
        self,
        text: str,
        reply: str | None,
        *,
        decision: Literal["accept", "reject"] | None = None,
        by: Actor = USER,
        options: tuple[str, ...] = (),
    ) -> tuple[Question, Reply | None]:
        """Return the next step's question and reply, as arguments for `step`. `reply` is None if there was none."""
        question = Question(f"q{self.count}", "ask", text, options)
        return question, None if reply is None else Reply(question.id, reply, by, decision=decision)

    def verdict(self, name: str, value: Any = None, reason: str = "", /, **extra: Any) -> None:
        """Add a verdict of the source in its own words, with its further fields as `extra`."""
        self.verdicts.append(Verdict(name, value, reason, extra))

    def end(
        self,
        status: Literal["completed", "stopped", "failed", "budget"],
        score: float | None = None,
        reason: str = "",
        *,
        final: Observation | None = None,
        usage: Usage | None = None,
        at: str = "",
        ms: float | None = None,
    ) -> None:
        """Set the end of the run. `usage` is the whole run's, for sources that do not report it by step."""
        self._ended = Ended(status=status, score=score, reason=reason, final=final, usage=usage, at=at, ms=ms)

    def imported(self) -> Imported:
        """Return the run with its events numbered from 0.

        The device has the first screenshot's size if none is given, and the user is the first reply's author.
        """
        steps = [event for event in self._events if isinstance(event, Step)]
        started = self.started
        if started.device.size is None:
            size = next((step.before.size for step in steps if step.before.size), None)
            started = msgspec.structs.replace(started, device=msgspec.structs.replace(started.device, size=size))
        if started.user is None and (reply := next((step.reply for step in steps if step.reply), None)):
            started = msgspec.structs.replace(started, user=reply.by)
        ended = [self._ended] if self._ended else []
        return Imported(number_events([started, *self._events, *ended]), self.images, self.verdicts)
