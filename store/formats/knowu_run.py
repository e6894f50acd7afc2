"""One run of KnowU-Bench or MobileWorld as events.

Screenshot k is what the agent saw before action k. A question is the text of step k; its reply stands at step k+1,
or, where the run ended with the question, only in the thread log. How a run ends here: completed where its last
action says so, failed where that was unusable output or it holds no steps, budget where the source scored it although
its agent had not finished, stopped where there is no result either. The log's times bear no zone, so no event has a
time of day; `ms` counts from the first step, and `extra.log_time` keeps the log's own words.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from lab.errors import LabError
from lab.records import Blob, Imported, Verdict, imported_id, numbered
from lab.task import Actor, Task
from lab.trace import Answered, AnyEvent, Asked, DeviceInfo, Ended, Source, Started, Step
from lab.turn import Observation, Point, Proposed, Question, Reply
from lab.wire import escape_surrogates
from store.formats import Known
from store.formats.files import MOST_PICTURE, read_within
from store.formats.knowu_actions import BROKEN, ENDING, WIDTH, action_of, thought_of
from store.formats.knowu_log import ThreadLog
from store.images import picture_kind, picture_size

NAME = "knowu"
BUDGET = 50
"""The most steps of a run unless told otherwise; no run says what it was told."""

_USER = Actor("model", "user-simulator")
_OURS = {"task_goal", "prediction", "action", "ask_user_response"}
_RESULT = re.compile(r"\s*score:\s*([^\n]*)\n?(?:\s*reason:\s?(.*))?", re.S)
_DECISION = re.compile(r"<decision>\s*(accept|reject)\s*</decision>", re.I)
_FEW = 3


class Episode(NamedTuple):
    """One run as its source holds it, before it becomes events."""

    name: str
    model: str
    path: str
    data: bytes
    steps: list[Any]
    field: str
    """Where `steps` stands in its file, for messages."""
    notes: list[tuple[str, str]]
    tokens: Any = None
    tools: Any = None
    result: str | None = None
    size: Point | None = None
    shots: dict[int, Path] = {}
    root: Path = Path()
    log: ThreadLog = ThreadLog({}, {})

    @property
    def id(self) -> str:
        """From the task's name and the source's bytes; with few words of a model in them two models' runs could
        be the same bytes (all failed runs begin alike), so then the model's name counts, too."""
        said = sum(bool(step.get("prediction")) for step in self.steps if isinstance(step, dict))
        names = (self.name,) if said >= _FEW else (self.name, self.model)
        return imported_id(NAME, b"\0".join([*(name.encode() for name in names), self.data]))


def imported(episode: Episode, known: Callable[[str], bool]) -> Imported | Known:
    """A run as events numbered from 0, its pictures and its verdict; `Known` where `known` says so of its id."""
    id = episode.id
    if known(id):
        return Known(id, episode.path)
    images: dict[str, Blob] = {}
    events: list[AnyEvent] = []
    for i in range(len(episode.steps)):
        events.extend(_turn(episode, i, images))
    score, verdict = _result(episode.result)
    started = _started(episode, id, events)
    return Imported(numbered([started, *events, _ended(episode, score, verdict)]), images, [verdict] if verdict else [])


def _started(episode: Episode, id: str, events: list[AnyEvent]) -> Started:
    name, _, profile = episode.name.partition("@")
    seen = next((e.before.size for e in events if isinstance(e, Step) and e.before.size), None)
    goal = episode.steps[0].get("task_goal") if episode.steps else None
    return Started(
        trace=id,
        ms=episode.log.ms(min(episode.log.times, default=0)),
        task=Task(
            id=name, kind="general", instruction=goal if isinstance(goal, str) else "", persona=profile, budget=BUDGET
        ),
        agent=Actor("model", episode.model),
        user=_USER if any(isinstance(event, Asked) for event in events) else None,
        device=DeviceInfo(size=seen),
        source=Source(NAME, episode.path, hashlib.sha256(episode.data).hexdigest(), episode.model),
    )


def _turn(episode: Episode, i: int, images: dict[str, Blob]) -> Iterator[AnyEvent]:
    """The events of one step; a question stands before it, and its reply where there is one."""
    step = episode.steps[i]
    number = step["step"] if isinstance(step.get("step"), int) else i + 1
    extra = _extra(episode, i, number)
    before = _before(episode, number, images, extra)
    prediction = step.get("prediction")
    said = prediction if isinstance(prediction, str) else None
    proposed = Proposed(
        action=action_of(step.get("action"), before.size[0] if before.size else WIDTH),
        thought=thought_of(said) if said else "",
        raw=said,
    )
    ms = episode.log.ms(number)
    question, reply = _dialogue(episode, i, number, proposed)
    if question:
        yield Asked(index=i, question=question, proposed=proposed, before=before, ms=ms)
    if reply:
        yield Answered(index=i, reply=reply, ms=ms)
    yield Step(index=i, proposed=proposed, before=before, question=question, reply=reply, extra=extra, ms=ms)


def _dialogue(episode: Episode, i: int, number: int, proposed: Proposed) -> tuple[Question | None, Reply | None]:
    if proposed.action.kind != "ask_user":
        return None, None
    question = Question(f"q{i}", "ask", proposed.action.text or "")
    after = episode.steps[i + 1].get("ask_user_response") if i + 1 < len(episode.steps) else None
    text = after if isinstance(after, str) else episode.log.replies.get(number)
    if text is None:
        return question, None
    found = _DECISION.search(text)
    decision: Any = found[1].lower() if found else None
    return question, Reply(question.id, text, _USER, decision=decision)


def _extra(episode: Episode, i: int, number: int) -> dict[str, Any]:
    """The source's own fields that have no place in a step; the last one also bears the run's token total."""
    step = episode.steps[i]
    extra = {key: value for key, value in step.items() if key not in _OURS and value is not None}
    if extra.get("step") == i + 1:
        del extra["step"]
    earlier = episode.steps[i - 1].get("action") if i else None
    if step.get("ask_user_response") is not None and (
        not isinstance(earlier, dict) or earlier.get("action_type") != "ask_user"
    ):
        extra["ask_user_response"] = step["ask_user_response"]
    if i == 0 and episode.tools:
        extra["tools"] = episode.tools
    if i == len(episode.steps) - 1 and episode.tokens:
        extra["token_usage"] = episode.tokens
    if number in episode.log.times:
        extra["log_time"] = episode.log.times[number]
    here = f"{episode.field}[{i}]."
    missing = [[place[len(here) :], stood] for place, stood in episode.notes if place.startswith(here)]
    if missing:
        extra["missing"] = missing
    return extra


def _before(episode: Episode, number: int, images: dict[str, Blob], extra: dict[str, Any]) -> Observation:
    path = episode.shots.get(number)
    if path is None:
        return Observation(size=episode.size)
    try:
        data = read_within(episode.root, path, most=MOST_PICTURE)
        mime = picture_kind(data)
        if mime is None:
            raise LabError(str(path), "is not a picture")
    except LabError as error:
        extra["screenshot"] = escape_surrogates(f"{path.name} {error.message}")
        return Observation(size=episode.size)
    blob = Blob(data, mime)
    sha256 = blob.sha256
    images[sha256] = blob
    return Observation(image=sha256, size=picture_size(data))


def _result(text: str | None) -> tuple[float | None, Verdict | None]:
    """The score and the verdict of `score: <float>` and `reason: <text>`."""
    if not text or not text.strip():
        return None, None
    found = _RESULT.match(text)
    if not found:
        return None, Verdict("result", reason=text.strip())
    try:
        score = float(found[1])
    except ValueError:
        score = float("nan")
    reason = (found[2] or "").strip()
    if not 0 <= score <= 1:
        return None, Verdict("result", reason=reason, extra={"score": found[1].strip()})
    return score, Verdict("result", score, reason)


def _ended(episode: Episode, score: float | None, verdict: Verdict | None) -> Ended:
    if not episode.steps:
        return Ended(status="failed", score=score, reason="the source holds no steps")
    action = episode.steps[-1].get("action")
    kind = str(action.get("action_type")) if isinstance(action, dict) else ""
    reason = verdict.reason if verdict else ""
    if kind in ENDING:
        return Ended(
            status="completed", score=score, reason=reason or ("" if verdict else "the source holds no result")
        )
    if kind in BROKEN:
        return Ended(status="failed", score=score, reason=reason or str(action.get("text") or kind))
    if verdict:
        return Ended(status="budget", score=score, reason=reason)
    return Ended(status="stopped", score=score, reason="the source holds no result")
