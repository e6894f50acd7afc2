"""One run of KnowU-Bench or MobileWorld as events.

Screenshot k is the one before action k. A question is the text of step k. Its reply is in step k+1, or only in the
thread log if the run ended with the question. The status is completed if the last action says so, failed after unusable
output or without steps, budget if the source scored an unfinished run, stopped without any result. The log's times have
no zone, so events have no time of day: `ms` counts from the first step, and `extra.log_time` has the log's text.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lab.core.run.run_records import Imported, Verdict, imported_id, number_events
from lab.core.run.step import Observation, Point, Proposed, Question, Reply, Usage
from lab.core.run.trace import Answered, AnyEvent, Asked, DeviceInfo, Ended, Source, Started, Step
from lab.core.task.task import Actor, Task
from store.formats import KnownRun, RunSource
from store.formats.draft import error_in
from store.formats.knowu.actions import BROKEN, ENDING, WIDTH, action_of, thought_of
from store.formats.knowu.judged import reported_agent
from store.formats.knowu.log import ThreadLog
from store.formats.model_answers import answer_text
from store.formats.pictures import Pictures
from store.formats.values import Notes, notes_below

NAME = "knowu"
BUDGET = 50
"""Default maximum number of steps. A run does not record its real limit."""

_USER = Actor("model", "user-simulator")
KEYS = ("task_goal", "step", "prediction", "action", "ask_user_response", "tool_call")
"""Fields of a step, in the order in which the logger writes them."""

EXTRA_KEYS = frozenset({"field_order", "log_time", "missing", "screenshot", "tools", "token_usage"})
"""Keys in `extra` besides a step's own fields.

`field_order` lists the step's fields if they differ from the usual ones in order. `tools` (in the first step) and
`token_usage` (in the last) are the run's.
"""

SHAPE_VERDICT = "source"
"""Name of the verdict that stores an unusual structure of `traj.json`, without its steps."""
_RESULT = re.compile(r"\s*+score:\s*+([^\n]*+)\n?(?:\s*+reason:\s?(.*))?", re.S)
_DECISION = re.compile(r"<decision>\s*(accept|reject)\s*</decision>", re.I)
_MIN_PREDICTIONS = 3


class KnowuEpisode(NamedTuple):
    """One run as in its source."""

    source: RunSource
    name: str
    model: str
    path: str
    data: bytes
    steps: list[Any]
    field: str
    """Path of `steps` in the file, for messages."""
    notes: Notes
    tokens: Any = None
    tools: Any = None
    result: str | None = None
    size: Point | None = None
    shots: dict[int, Path] = {}
    log: ThreadLog = ThreadLog({}, {})
    shape: Any = None
    """The whole structure of `traj.json` without its steps."""
    attempt: int = 1
    log_root: Path | None = None
    """Folder of its evaluation, if it is in one."""
    verdicts: Sequence[Verdict] = ()
    """Judgements other than the benchmark's own check, and a bundle's fields about all its runs (their video)."""

    @property
    def id(self) -> str:
        """Id derived from the task's name and the source's bytes.

        Runs of two models may have identical bytes if they hold little output (all failed runs begin alike). In that
        case the model's name is included.
        """
        predictions = sum(bool(step.get("prediction")) for step in self.steps if isinstance(step, dict))
        names = (self.name,) if predictions >= _MIN_PREDICTIONS else (self.name, self.model)
        if self.attempt > 1:
            names = (*names, str(self.attempt))
        return imported_id(NAME, b"\0".join([*(name.encode() for name in names), self.data]))

    @property
    def agent(self) -> Actor:
        """Agent named by the log's folder, with the model and agent type from its reports."""
        kind, model = reported_agent(self.source, self.log_root) if self.log_root is not None else ("", "")
        return Actor(
            "model", self.model, model="" if model == self.model else model,
            arguments=(("agent_type", kind),) if kind else (),
        )  # fmt: skip

    @property
    def times(self) -> tuple[str | None, ...]:
        """Times of the steps in the log, as in `extra.log_time`."""
        return tuple(self.log.times.get(_step_number(step, i)) for i, step in enumerate(self.steps))

    def pictures(self) -> tuple[str | None, ...]:
        """Return the sha256 of each step's picture, or None for missing or truncated ones."""
        return Pictures(self.source).complete_hashes(
            self.shots.get(_step_number(step, i)) for i, step in enumerate(self.steps)
        )


def imported(episode: KnowuEpisode, is_known: Callable[[str], bool]) -> Imported | KnownRun:
    """Return a run with its pictures and verdicts, or `KnownRun` if `is_known` returns True for its id."""
    id = episode.id
    if is_known(id):
        return KnownRun(id, episode.path, episode.times, episode.pictures, lambda other: _build_run(episode, other))
    return _build_run(episode, id)


def _build_run(episode: KnowuEpisode, id: str) -> Imported:
    images = Pictures(episode.source)
    events: list[AnyEvent] = []
    for i in range(len(episode.steps)):
        events.extend(_step_events(episode, i, images))
    score, verdict = _result_verdict(episode.result)
    verdicts = [verdict] if verdict else []
    if json.dumps(episode.shape) != json.dumps(usual_shape(episode.tools, episode.tokens if episode.steps else None)):
        verdicts.append(Verdict(SHAPE_VERDICT, extra={"traj.json": episode.shape}))
    verdicts.extend(episode.verdicts)
    started = _started_event(episode, id, events)
    return Imported(number_events([started, *events, _ended_event(episode, score, verdict)]), images, verdicts)


def usual_shape(tools: Any, tokens: Any) -> dict[str, Any]:
    """Return a `traj.json` without its steps in the logger's usual structure."""
    return {"0": {"tools": tools, "traj": [], "token_usage": tokens}}


def _started_event(episode: KnowuEpisode, id: str, events: list[AnyEvent]) -> Started:
    name, _, profile = episode.name.partition("@")
    screen_size = next((e.before.size for e in events if isinstance(e, Step) and e.before.size), None)
    return Started(
        trace=id,
        ms=episode.log.ms(min(episode.log.times, default=0)),
        task=Task(id=name, kind="general", instruction=_goal(episode), persona=profile, budget=BUDGET),
        agent=episode.agent,
        user=_USER if any(isinstance(event, Asked) for event in events) else None,
        device=DeviceInfo(size=screen_size),
        source=Source(NAME, episode.path, hashlib.sha256(episode.data).hexdigest(), episode.model),
        attempt=episode.attempt,
    )


def _step_events(episode: KnowuEpisode, i: int, images: Pictures) -> Iterator[AnyEvent]:
    """Yield the events of one step: its question and reply, if any, come before it."""
    step = episode.steps[i]
    number = _step_number(step, i)
    extra = _extra(episode, i, number)
    before = _observation(episode, number, images, extra)
    prediction = step.get("prediction")
    output = prediction if isinstance(prediction, str) else None
    proposed = Proposed(
        action=action_of(step.get("action"), before.size[0] if before.size else WIDTH),
        thought=thought_of(answer_text(prediction) or ""),
        raw=output,
    )
    ms = episode.log.ms(number)
    question, reply = _dialogue(episode, i, number, proposed)
    if question:
        yield Asked(index=i, question=question, proposed=proposed, before=before, ms=ms)
    if reply:
        yield Answered(index=i, reply=reply, ms=ms)
    yield Step(
        index=i,
        proposed=proposed,
        before=before,
        question=question,
        reply=reply,
        error=error_in(extra),
        extra=extra,
        ms=ms,
    )


def _step_number(step: dict[str, Any], i: int) -> int:
    """Return a step's number in the source."""
    return step["step"] if type(step.get("step")) is int else i + 1


def _dialogue(episode: KnowuEpisode, i: int, number: int, proposed: Proposed) -> tuple[Question | None, Reply | None]:
    if proposed.action.kind != "ask_user":
        return None, None
    question = Question(f"q{i}", "ask", proposed.action.text or "")
    after = episode.steps[i + 1].get("ask_user_response") if i + 1 < len(episode.steps) else None
    text = after if isinstance(after, str) else episode.log.replies.get(number)
    if text is None:
        return question, None
    match = _DECISION.search(text)
    decision: Any = match[1].lower() if match else None
    return question, Reply(question.id, text, _USER, decision=decision)


def _extra(episode: KnowuEpisode, i: int, number: int) -> dict[str, Any]:
    """Return the source's fields without a place in a step. The first and last step also have the run's."""
    step = episode.steps[i]
    usual = tuple(step) == KEYS
    extra = {} if usual else {key: value for key, value in step.items() if key not in KEYS}
    if type(step.get("step")) is not int or step["step"] != i + 1:
        extra["step"] = step.get("step")
    if step.get("tool_call") is not None:
        extra["tool_call"] = step["tool_call"]
    for key in ("task_goal", "prediction"):
        if step.get(key) is not None and (
            not isinstance(step[key], str) or (key == "task_goal" and step[key] != _goal(episode))
        ):
            extra[key] = step[key]
    if _asked_before(episode, i) is not isinstance(step.get("ask_user_response"), str):
        # Marks a reply that only the log has, so that the writer can reproduce this step unchanged.
        extra["ask_user_response"] = step.get("ask_user_response")
    if not usual and list(step) != [*KEYS, *(key for key in step if key not in KEYS and key not in EXTRA_KEYS)]:
        extra["field_order"] = list(step)
    if i == 0 and episode.tools is not None and "tools" not in step:
        extra["tools"] = episode.tools
    if i == len(episode.steps) - 1 and episode.tokens is not None and "token_usage" not in step:
        extra["token_usage"] = episode.tokens
    if number in episode.log.times:
        extra["log_time"] = episode.log.times[number]
    if changes := notes_below(episode.notes, f"{episode.field}[{i}]."):
        extra["missing"] = changes
    return extra


def _goal(episode: KnowuEpisode) -> str:
    goal = episode.steps[0].get("task_goal") if episode.steps else None
    return goal if isinstance(goal, str) else ""


def _asked_before(episode: KnowuEpisode, i: int) -> bool:
    """Return True if the step before asked a question."""
    earlier = episode.steps[i - 1].get("action") if i else None
    return isinstance(earlier, dict) and earlier.get("action_type") == "ask_user"


def _observation(episode: KnowuEpisode, number: int, images: Pictures, extra: dict[str, Any]) -> Observation:
    observation = images.add_optional(episode.shots.get(number), extra)
    return observation if observation.image else Observation(size=episode.size)


def result_text(score: float, reason: str) -> str:
    """Return the text of a `result.txt` as the runner writes it."""
    return f"score: {score}\nreason: {reason}"


def _result_verdict(text: str | None) -> tuple[float | None, Verdict | None]:
    """Return score and verdict from `score: <float>` and `reason: <text>`. Deviating text is stored in `extra`."""
    score, verdict = _parse_result(text)
    if verdict is not None and text != (None if score is None else result_text(score, verdict.reason)):
        verdict = msgspec.structs.replace(verdict, extra={**verdict.extra, "text": text})
    return score, verdict


def _parse_result(text: str | None) -> tuple[float | None, Verdict | None]:
    if not text or not text.strip():
        return None, None
    match = _RESULT.match(text)
    if not match:
        return None, Verdict("result", reason=text.strip())
    try:
        score = float(match[1])
    except ValueError:
        score = float("nan")
    reason = (match[2] or "").strip()
    if not 0 <= score <= 1:
        return None, Verdict("result", reason=reason, extra={"score": match[1].strip()})
    return score, Verdict("result", score, reason)


def _ended_event(episode: KnowuEpisode, score: float | None, verdict: Verdict | None) -> Ended:
    usage = _usage(episode.tokens)
    if not episode.steps:
        return Ended(status="failed", score=score, reason="the source holds no steps", usage=usage)
    action = episode.steps[-1].get("action")
    kind = str(action.get("action_type")) if isinstance(action, dict) else ""
    reason = verdict.reason if verdict else ""
    if kind in ENDING:
        reason = reason or ("" if verdict else "the source holds no result")
        return Ended(status="completed", score=score, reason=reason, usage=usage)
    if kind in BROKEN:
        return Ended(status="failed", score=score, reason=reason or str(action.get("text") or kind), usage=usage)
    if verdict:
        return Ended(status="budget", score=score, reason=reason, usage=usage)
    return Ended(status="stopped", score=score, reason="the source holds no result", usage=usage)


def _usage(tokens: Any) -> Usage | None:
    """Return the whole run's tokens, because the logger records only the total, or None if there are none."""
    if not isinstance(tokens, dict):
        return None
    names = ("prompt_tokens", "completion_tokens", "cached_tokens")
    counts = {name: tokens[name] for name in names if type(tokens.get(name)) is int}
    return Usage(**counts) if counts else None
