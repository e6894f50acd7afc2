"""One sample of an Inspect log as a run: each tool call is a step, each message without a call an answer.

A picture that a tool returns is the screen of the next action. The first score is the run's, converted like Inspect's
`value_to_float` (C 1, P 0.5, I and N 0, yes and true 1, no and false 0, numbers from 0 to 1 unchanged). Other numbers,
lists and mappings give no score. Every score becomes a verdict. The status is failed after an error, budget after a
limit, else completed.

Calls of Inspect's computer tool become hitlab's actions, calls of other tools `other` with the tool's name. Pixels
refer to the screenshots that the tool returns. A click without a position, as in older versions, is at the mouse's last
position. Source: `src/inspect_ai/tool/_tools/_computer/_computer.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import msgspec

from lab.core.run.agent_names import argument_pairs
from lab.core.run.run_records import Imported
from lab.core.run.step import Action, Observation, Point, Usage, total_usage
from lab.core.task.task import LONGEST_NAME, Actor, Task
from store.formats import KnownRun
from store.formats.draft import RunDraft, run_id
from store.formats.geometry import as_coordinate, direction, point, swipe_vector, vector_between
from store.formats.inspect.messages import (
    Attachments,
    calls,
    events_of,
    last_picture,
    message_text,
    messages_of,
    output_of,
    usage_of,
    without_picture_bytes,
)
from store.formats.pictures import Pictures
from store.formats.times import utc
from store.formats.values import Notes, as_mapping, as_str, as_text, notes_below

NAME = "inspect"
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_PLACED = frozenset({"messages", "events", "attachments", "events_data", "timelines", "scores", "score"})
_HEADED = ("run_id", "eval_id", "task", "task_id", "model", "created", "dataset", "config", "sandbox", "packages")


def imported(
    sample: dict[str, Any],
    notes: Notes,
    header: dict[str, Any],
    path: str,
    pictures: Pictures,
    is_known: Callable[[str], bool],
) -> Imported | KnownRun:
    """Return a sample as an imported run. `header` has the log's fields about all samples."""
    spec = as_mapping(header.get("eval"))
    name = as_text(spec.get("task")) or "task"
    here = f"{path}#{sample.get('id')} epoch {sample.get('epoch')}"
    data = msgspec.json.encode(sample, order="deterministic")
    attachments = Attachments(sample.get("attachments"), pictures)
    id = run_id(NAME, name, _identity(sample, spec, attachments))
    for known_id in (id, run_id(NAME, name, data)):  # the second is the id by earlier versions
        if is_known(known_id):
            return KnownRun(known_id, here)
    epoch = sample.get("epoch")
    draft = RunDraft(
        id,
        _task(sample, spec, name, attachments),
        _agent(spec, header),
        format=NAME,
        path=here,
        data=data,
        model=as_text(spec.get("model")),
        images=pictures,
        attempt=epoch if isinstance(epoch, int) and 0 < epoch < 10**6 else 1,
        at=utc(sample.get("started_at")),
    )
    final = _SampleSteps(draft, sample, attachments).steps()
    score = _add_verdicts(draft, sample, notes, header)
    status, reason = _status(sample, draft)
    draft.end(status, score, reason, final=final, usage=_usage(sample, draft.count), at=utc(sample.get("completed_at")))
    return draft.imported()


_IDENTITY_FIELDS = ("id", "epoch", "uuid", "input", "target", "messages", "scores", "score", "error", "limit")
"""Fields that identify a sample, equal in a `.eval` and a `.json` of one log."""


def _identity(sample: dict[str, Any], spec: dict[str, Any], attachments: Attachments) -> bytes:
    """Return the bytes that identify a sample in either container."""
    fields = {key: _normalize(_resolve(sample.get(key), attachments)) for key in _IDENTITY_FIELDS}
    fields |= {key: spec.get(key) for key in ("run_id", "eval_id", "model")}
    return msgspec.json.encode(_normalize(fields), order="deterministic")


def _normalize(value: Any) -> Any:
    """Return a value without null fields, and with whole floats as integers."""
    if isinstance(value, dict):
        return {key: _normalize(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_normalize(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class _SampleSteps:
    """Converts a sample's messages to steps, and tracks the current screen and mouse."""

    def __init__(self, draft: RunDraft, sample: dict[str, Any], attachments: Attachments) -> None:
        self.draft = draft
        self.attachments = attachments
        self.messages = messages_of(sample)
        self.results = {
            str(message.get("tool_call_id")): message for message in self.messages if message.get("role") == "tool"
        }
        self.timed = _events_by_message(sample, self.messages)
        self.seen: Observation | None = None
        self.mouse = Mouse()
        self.aside: list[Any] = []

    def steps(self) -> Observation | None:
        """Add every step to the draft. Return the last screen."""
        call_ids: set[str] = set()
        for i, message in enumerate(self.messages):
            if message.get("role") == "assistant":
                tool_calls = calls(message)
                call_ids.update(str(call.get("id")) for call in tool_calls)
                self._add_message(message, tool_calls, self.timed.get(i, {}))
            elif message.get("role") != "tool" or str(message.get("tool_call_id")) not in call_ids:
                extra: dict[str, Any] = {}
                self.seen = last_picture(message, self.attachments, extra) or self.seen
                self.aside.append(without_picture_bytes({**message, **extra}))
        if self.aside:
            self.draft.verdict("after", messages=self.aside)
        return self.seen

    def _add_message(self, message: dict[str, Any], tool_calls: list[dict[str, Any]], event: dict[str, Any]) -> None:
        text, thought = message_text(message, self.attachments)
        usage = usage_of(as_mapping(event.get("output")).get("usage"), as_mapping(event.get("output")).get("time"))
        extra: dict[str, Any] = {
            key: without_picture_bytes(value)
            for key, value in message.items()
            if key not in ("role", "content", "tool_calls", "reasoning") and value is not None
        }
        if self.aside:
            extra["before"], self.aside = self.aside, []
        at = utc(event.get("timestamp"))
        if not tool_calls:
            self.draft.step(
                Action("answer", text=text, raw=without_picture_bytes(message.get("content"))), self.seen,
                thought=thought,
                raw=text, usage=usage, extra=extra, at=at,
            )  # fmt: skip
            return
        thought = "\n\n".join(part for part in (thought, text) if part)
        for call in tool_calls:
            self._add_call(call, thought, usage, extra, at)
            thought, usage, extra = "", None, {}

    def _add_call(
        self, call: dict[str, Any], thought: str, usage: Usage | None, extra: dict[str, Any], at: str
    ) -> None:
        function = as_text(call.get("function"))
        arguments = _resolve(call.get("arguments"), self.attachments)
        raw = {"function": call.get("function"), "arguments": without_picture_bytes(arguments)}
        extra |= {
            key: without_picture_bytes(value) for key, value in call.items() if key not in raw and value is not None
        }
        size = self.seen.size if self.seen else None
        actions = list(actions_of(function, arguments, raw, self.mouse, size))
        result = self.results.get(str(call.get("id")))
        after, error = None, None
        if result is not None:
            after = last_picture(result, self.attachments, extra)
            error = as_text(as_mapping(result.get("error")).get("message")) or None
            extra["tool_result"] = without_picture_bytes({key: value for key, value in result.items() if key != "role"})
        for n, action in enumerate(actions):
            last = n == len(actions) - 1
            self.draft.step(
                action, self.seen, thought=thought if n == 0 else "", usage=usage if n == 0 else None,
                error=error if last else None, extra=extra if last else {}, at=at,
            )  # fmt: skip
        self.seen = after or self.seen


def _resolve(value: Any, attachments: Attachments) -> Any:
    if isinstance(value, str):
        return attachments.text(value)
    if isinstance(value, dict):
        return {key: _resolve(item, attachments) for key, item in value.items()}
    return [_resolve(item, attachments) for item in value] if isinstance(value, list) else value


def _events_by_message(sample: dict[str, Any], messages: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """Return the model event of each of the model's messages, matched by id, else by position if equally many."""
    message_events = [(message, event) for event in events_of(sample) if (message := output_of(event)) is not None]
    model_places = [i for i, message in enumerate(messages) if message.get("role") == "assistant"]
    by_id = {message["id"]: event for message, event in message_events if isinstance(message.get("id"), str)}
    id_by_place = {i: id for i in model_places if isinstance(id := messages[i].get("id"), str)}
    timed_events = {i: by_id[id] for i, id in id_by_place.items() if id in by_id}
    if not timed_events and len(message_events) == len(model_places):
        return {i: event for i, (_, event) in zip(model_places, message_events, strict=True)}
    return timed_events


def _task(sample: dict[str, Any], spec: dict[str, Any], name: str, attachments: Attachments) -> Task:
    id = f"{name}/{sample.get('id')}"
    sample_input = sample.get("input")
    instruction = attachments.text(sample_input)
    for message in sample_input if isinstance(sample_input, list) else []:
        if isinstance(message, dict) and message.get("role") == "user":
            instruction = message_text(message, attachments)[0]
    limit = as_mapping(spec.get("config")).get("message_limit")
    whole = isinstance(limit, int) and not isinstance(limit, bool) and 0 < limit < 10**6
    task = Task(id=id, kind="general", title=id, instruction=instruction, log="none")
    return msgspec.structs.replace(task, budget=limit) if whole else task


def _agent(spec: dict[str, Any], header: dict[str, Any]) -> Actor:
    """Return the solver with its model and arguments, or a person if one of the solvers is Inspect's human agent."""
    value = as_mapping(header.get("plan")).get("steps")
    steps = [as_mapping(step) for step in value] if isinstance(value, list) else []
    solvers = [name for step in steps if (name := as_text(step.get("solver")))]
    model = as_text(spec.get("model"))
    if any("human_cli" in solver or "human_agent" in solver for solver in solvers):
        return Actor("human", "human")
    own_name = as_text(spec.get("solver")) or "+".join(solvers)
    params = {
        f"{as_text(step.get('solver'))}.{key}": of
        for step in steps
        for key, of in as_mapping(step.get("params")).items()
    }
    fields = ("model_generate_config", "model_args", "solver_args")
    settings = {key: of for field in fields for key, of in as_mapping(spec.get(field)).items()}
    return Actor(
        "model", model or "model", implementation=own_name[:LONGEST_NAME], model=model if own_name else "",
        arguments=argument_pairs({**params, **settings}),
    )  # fmt: skip


def _status(sample: dict[str, Any], draft: RunDraft) -> tuple[Literal["completed", "stopped", "failed", "budget"], str]:
    error, limit = sample.get("error"), sample.get("limit")
    if error is not None:
        return "failed", as_text(as_mapping(error).get("message")) or as_text(error) or "error"
    if limit is not None:
        kind = as_text(as_mapping(limit).get("type")) or as_text(limit)
        return "budget", f"{kind} limit {as_mapping(limit).get('limit', '')}".strip()
    return ("completed", "") if draft.count else ("failed", "the source holds no steps")


def _add_verdicts(draft: RunDraft, sample: dict[str, Any], notes: Notes, header: dict[str, Any]) -> float | None:
    scores = as_mapping(sample.get("scores"))
    if not scores and sample.get("score") is not None:
        scores = {"score": sample["score"]}
    for name, score_value in scores.items():
        score = as_mapping(score_value)
        rest = {key: value for key, value in score.items() if key not in ("value", "explanation") and value is not None}
        draft.verdict(str(name), score.get("value"), as_text(score.get("explanation")), **rest)
    rest = {
        key: without_picture_bytes(value) for key, value in sample.items() if key not in _PLACED and value is not None
    }
    spec = as_mapping(header.get("eval"))
    rest["eval"] = {key: spec[key] for key in _HEADED if spec.get(key) is not None}
    rest |= {key: header[key] for key in ("version", "status", "plan") if header.get(key) is not None}
    if notes:
        rest["missing"] = notes_below(notes)
    draft.verdict("source", **rest)
    return next((_score_value(as_mapping(score_value).get("value")) for score_value in scores.values()), None)


def _score_value(value: Any) -> float | None:
    """Return a score's value from 0 to 1, or None if it has none or is out of range."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and value in _LETTERS:
        return _LETTERS[value]
    if isinstance(value, str) and value.lower() in _WORDS:
        return _WORDS[value.lower()]
    amount = as_coordinate(value)
    return amount if amount is not None and 0 <= amount <= 1 else None


def _usage(sample: dict[str, Any], steps: int) -> Usage | None:
    """Return the total usage of all models in a sample."""
    model_usage = as_mapping(sample.get("model_usage"))
    usages = [usage for usage in (usage_of(model_tokens) for model_tokens in model_usage.values()) if usage is not None]
    seconds = usage_of({}, sample.get("total_time"))
    if not usages and seconds is None:
        return None
    total = total_usage(usages) if usages else Usage()
    return msgspec.structs.replace(total, seconds=seconds.seconds if seconds else None, tries=max(1, steps))


_SPLIT = "computer_"
_ENTER = frozenset({"return", "enter", "kp_enter"})
_MOST_SECONDS = 10**6


class Mouse:
    """Position of the mouse after the calls so far."""

    at: Point | None = None


def actions_of(function: str, arguments: Any, raw: Any, mouse: Mouse, size: Point | None) -> Iterator[Action]:
    """Yield the actions of one tool call: one, or all that a computer call lists."""
    fields = as_mapping(arguments)
    if function == "submit":
        yield Action("answer", text=_text(fields.get("answer", fields.get("value"))), raw=raw)
        return
    action_list = fields.get("actions")
    if function == "computer" and isinstance(action_list, list) and action_list:
        for entry in action_list:
            entry_fields = as_mapping(entry)
            yield _computer(str(entry_fields.get("action", entry_fields.get("type"))), entry_fields, entry, mouse, size)
        return
    if function == "computer":
        yield _computer(str(fields.get("action")), fields, raw, mouse, size)
    elif function.startswith(_SPLIT):
        yield _computer(function.removeprefix(_SPLIT), fields, raw, mouse, size)
    else:
        yield Action("other", text=function, raw=raw)


def _computer(name: str, fields: dict[str, Any], raw: Any, mouse: Mouse, size: Point | None) -> Action:
    at = _point(fields.get("coordinate"))
    text = _text(fields.get("text", fields.get("keys")))
    if name == "left_click_drag":
        start = _point(fields.get("start_coordinate")) or mouse.at
        mouse.at = at or mouse.at
        vector = vector_between(start, at)
        return Action("drag", at=start, to=at, vector=vector, raw=raw, space="px")
    if at is not None:
        mouse.at = at
    if name in ("left_click", "click", "double_click"):
        return Action("double_tap" if name == "double_click" else "click", at=mouse.at, raw=raw, space="px")
    if name == "type":
        return Action("input_text", text=text or "", raw=raw, space="px")
    if name == "key" and text is not None and text.strip().lower() in _ENTER:
        return Action("keyboard_enter", raw=raw, space="px")
    if name == "wait":
        return Action("wait", ms=_milliseconds(fields.get("duration", fields.get("time"))), raw=raw, space="px")
    if name == "scroll":
        way = direction(fields.get("scroll_direction", fields.get("direction")))
        vector = swipe_vector("scroll", way, size)
        return Action("scroll", at=mouse.at, direction=way, vector=vector, raw=raw, space="px")
    if name in ("key", "hold_key"):
        return Action(
            "other", text=f"{name} {text or ''}".strip(), ms=_milliseconds(fields.get("duration")), raw=raw, space="px"
        )
    return Action(
        "other", at=mouse.at if at or "click" in name or "mouse" in name else None, text=name, raw=raw, space="px"
    )


def _point(value: Any) -> Point | None:
    return point(value[0], value[1]) if isinstance(value, list) and len(value) == 2 else None


def _milliseconds(seconds: Any) -> int | None:
    amount = as_coordinate(seconds)
    return round(amount * 1000) if amount is not None and 0 <= amount < _MOST_SECONDS else None


def _text(value: Any) -> str | None:
    if isinstance(value, list):
        return "+".join(str(key) for key in value)
    return as_str(value)
