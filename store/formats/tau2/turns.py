"""Messages of a tau2-bench (or tau-bench) conversation as the turns of its agent.

A tool call of the agent is a step of its own. A message to the user is a question, and the user's next message the
reply. Tools that the user calls in between, and unprompted messages of the user, are stored unchanged in `extra`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from lab.core.codec import read_json
from lab.core.errors import LabError
from lab.core.step import Usage
from store.formats.times import utc
from store.formats.values import as_amount, as_count, as_mapping, as_mappings, as_text

_PLACED = frozenset({"role", "content", "tool_calls", "cost", "usage", "generation_time_seconds", "timestamp"})


class DialogueTurn(NamedTuple):
    """One tool call or message of the agent. `extra` has the source's fields without a place.

    `at` and `replied` are UTC, both empty if the source has no times.
    """

    call: dict[str, Any] | None = None
    text: str = ""
    thought: str = ""
    error: str | None = None
    reply: str | None = None
    usage: Usage | None = None
    at: str = ""
    replied: str = ""
    extra: dict[str, Any] = {}


def turns(messages: list[dict[str, Any]]) -> Iterator[DialogueTurn | list[dict[str, Any]]]:
    """Yield the agent's turns in order, and last a list of the messages after them."""
    aside: list[dict[str, Any]] = []
    used_places: set[int] = set()
    for i, message in enumerate(messages):
        if i in used_places:
            continue
        if message.get("role") != "assistant":
            aside.append(message)
            continue
        agent_turns = list(_call_turns(messages, i, used_places)) or [_spoken_turn(messages, i, used_places)]
        if aside:
            agent_turns[0] = agent_turns[0]._replace(extra={"before": aside, **agent_turns[0].extra})
            aside = []
        yield from agent_turns
    yield aside


def _call_turns(messages: list[dict[str, Any]], i: int, used_places: set[int]) -> Iterator[DialogueTurn]:
    message = messages[i]
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return
    results = _tool_results(messages, i, used_places) if calls else {}
    for n, raw in enumerate(calls):
        call = call_of(raw)
        result = results.pop(str(call.get("id")), None)
        extra = {"call": raw} if call != raw else {}
        if result is not None:
            extra["tool_result"] = result
        failed = result is not None and result.get("error") is True
        yield DialogueTurn(
            call=call,
            thought=_thought(message) if n == 0 else "",
            error=_as_text(result.get("content")) if failed and result else None,
            usage=usage_of(message) if n == 0 else None,
            at=utc(message.get("timestamp")),
            extra={**_unplaced_fields(message), **extra} if n == 0 else {"turn_idx": message.get("turn_idx"), **extra},
        )


def _tool_results(messages: list[dict[str, Any]], i: int, used_places: set[int]) -> dict[str, dict[str, Any]]:
    """Return the results of the agent's tools by call, from the messages that follow directly, single or combined."""
    results: dict[str, dict[str, Any]] = {}
    for j in range(i + 1, len(messages)):
        message = messages[j]
        if message.get("role") != "tool":
            break
        tool_messages = message.get("tool_messages")
        for tool_message in tool_messages if isinstance(tool_messages, list) else [message]:
            if isinstance(tool_message, dict):
                results[str(tool_message.get("tool_call_id", tool_message.get("id")))] = tool_message
        used_places.add(j)
    return results


def _spoken_turn(messages: list[dict[str, Any]], i: int, used_places: set[int]) -> DialogueTurn:
    message = messages[i]
    extra = _unplaced_fields(message)
    between: list[dict[str, Any]] = []
    answer: dict[str, Any] | None = None
    for j in range(i + 1, len(messages)):
        after = messages[j]
        if after.get("role") == "assistant":
            break
        used_places.add(j)
        if after.get("role") == "user" and not after.get("tool_calls"):
            answer = after
            break
        between.append(after)
    if between:
        extra["user_tools"] = between
    if answer is not None:
        extra["reply"] = {key: value for key, value in answer.items() if key not in ("role", "content")}
    return DialogueTurn(
        text=_as_text(message.get("content")),
        thought=_reasoning(message),
        reply=None if answer is None else _as_text(answer.get("content")),
        usage=usage_of(message),
        at=utc(message.get("timestamp")),
        replied="" if answer is None else utc(answer.get("timestamp")),
        extra=extra,
    )


def call_of(raw: Any) -> dict[str, Any]:
    """Return a tool call in tau2-bench's form, converted from tau-bench's (OpenAI's) nested form if necessary."""
    if not isinstance(raw, dict):
        return {"name": "", "arguments": raw}
    nested = raw.get("function")
    if not isinstance(nested, dict):
        return raw
    arguments = nested.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = read_json(arguments.encode(), "arguments").value
        except LabError:
            arguments = nested.get("arguments")
    return {"id": raw.get("id"), "name": nested.get("name"), "arguments": arguments, "requestor": "assistant"}


def usage_of(message: dict[str, Any]) -> Usage | None:
    """Return the usage of a message, or None if the source does not record any."""
    tokens = as_mapping(message.get("usage"))
    cached_tokens = tokens.get(
        "cache_read_tokens", as_mapping(tokens.get("prompt_tokens_details")).get("cached_tokens")
    )
    cost, seconds = as_amount(message.get("cost")), as_amount(message.get("generation_time_seconds"))
    prompt, completion = as_count(tokens.get("prompt_tokens")), as_count(tokens.get("completion_tokens"))
    usage = Usage(prompt, completion, as_count(cached_tokens), cost, seconds)
    return None if usage == Usage() or (not tokens and not cost and seconds is None) else usage


def message_list(messages: Any, what: str, field: str) -> list[dict[str, Any]]:
    """Return the messages of a run. Raise `LabError` if they are not a list of messages."""
    return as_mappings([] if messages is None else messages, what, "message", field)


def _thought(message: dict[str, Any]) -> str:
    return "\n\n".join(text for text in (_reasoning(message), _as_text(message.get("content"))) if text)


def _reasoning(message: dict[str, Any]) -> str:
    raw = message.get("raw_data")
    raw_message = raw.get("message") if isinstance(raw, dict) else None
    return as_text((raw_message if isinstance(raw_message, dict) else message).get("reasoning_content")).strip()


def _unplaced_fields(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message's fields that have no place in a step, or do not fit it."""
    rest_fields = {key: value for key, value in message.items() if key not in _PLACED and value is not None}
    for key in ("usage", "timestamp"):
        if message.get(key) is not None:
            rest_fields[key] = message[key]
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        rest_fields["content"] = content
    return rest_fields


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
