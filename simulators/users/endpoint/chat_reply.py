"""Response bodies of the endpoint: completions and responses, whole or streamed, and errors, in OpenAI's shapes.

A person uses no tokens: `usage` is zeros, which litellm prices at nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from lab.core.codec import encode
from lab.core.run.step import Reply, ToolCall
from simulators.users.endpoint.request_fields import Api

KEEP_ALIVE = b" "
"""Blank before the JSON body, which may begin with blanks. It keeps a client with a short read timeout connected."""
KEEP_STREAM = b": a person is typing\n\n"
"""Comment of server-sent events, which clients ignore."""
_NOTHING = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


class Answer(NamedTuple):
    """Answer to the client: text, or functions to call."""

    content: str
    calls: tuple[ToolCall, ...] = ()
    legacy: bool = False
    """True if the client sent `functions` and reads its call from `function_call`."""

    @property
    def finish(self) -> str:
        if self.calls:
            return "function_call" if self.legacy else "tool_calls"
        return "stop"


def answer_of(reply: Reply, stops: Iterable[str] = ()) -> Answer:
    """Convert a committed reply, always to the same answer. A decision becomes the tag that benchmarks parse.

    An answer with function calls has no text: tau2-bench accepts one or the other. Text ends before the first of the
    client's `stops`.
    """
    if reply.decision is None:
        return Answer("" if reply.calls else before_stop(reply.text, stops), reply.calls)
    tag = f"<decision>{reply.decision}</decision>"
    return Answer(f"{reply.text}\n{tag}" if reply.text else tag)


def before_stop(text: str, stops: Iterable[str]) -> str:
    """Return the text before the earliest of a client's stop texts."""
    return text[: min((at for stop in stops if (at := text.find(stop)) >= 0), default=len(text))]


def reply_body(api: Api, id: str, model: str, answer: Answer) -> bytes:
    """Encode the whole answer as one JSON document."""
    return encode(_completion(id, model, answer) if api == "chat" else _response(id, model, answer, "completed"))


def stream_head(api: Api, id: str, model: str) -> bytes:
    """Encode the start of a stream, before the answer is known."""
    if api == "chat":
        return _event(_chunk(id, model, {"role": "assistant", "content": ""}))
    response = _response(id, model, None, "in_progress")
    return _named_event("response.created", 0, {"response": response})


def stream_body(api: Api, id: str, model: str, answer: Answer, *, usage: bool = False) -> bytes:
    """Encode the rest of a stream. With `usage`, a last chunk contains only that."""
    if api == "chat":
        chunks = [_chunk(id, model, _delta(answer)), _chunk(id, model, {}, answer.finish)]
        if usage:
            # With `include_usage`, OpenAI sends a null usage in all chunks but the last.
            chunks = [{**chunk, "usage": None} for chunk in chunks]
            chunks.append({**_chunk(id, model, {}), "choices": [], "usage": _NOTHING})
        return b"".join([*map(_event, chunks), b"data: [DONE]\n\n"])
    return b"".join(_response_events(id, model, answer))


def stream_error(message: str) -> bytes:
    """Encode an error within a stream, which openai's client raises."""
    return _event(error_value(message, "server_error"))


def error_value(message: str, kind: str, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    """Return an error in OpenAI's shape."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def models_body() -> bytes:
    """Encode the answer of `GET /models`: one model."""
    return encode({"object": "list", "data": [_model("human")]})


def model_body(name: str) -> bytes:
    """Encode the answer of `GET /models/NAME`, which accepts any name."""
    return encode(_model(name))


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "hitlab"}


# -- chat completions --------------------------------------------------------------------------------------------


def _completion(id: str, model: str, answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": answer.content or None if answer.calls else answer.content,
    }
    if answer.calls:
        message |= _call_fields(answer, _calls(answer))
    choice = {"index": 0, "message": message, "finish_reason": answer.finish, "logprobs": None}
    return {
        "id": f"chatcmpl-{id}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [choice],
        "usage": _NOTHING,
    }


def _chunk(id: str, model: str, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{id}",
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def _delta(answer: Answer) -> dict[str, Any]:
    if not answer.calls:
        return {"content": answer.content}
    calls = [{"index": at, **call} for at, call in enumerate(_calls(answer))]
    return {"content": answer.content or None, **_call_fields(answer, calls)}


def _call_fields(answer: Answer, calls: list[dict[str, Any]]) -> dict[str, Any]:
    return {"function_call": calls[0]["function"]} if answer.legacy else {"tool_calls": calls}


def _calls(answer: Answer) -> list[dict[str, Any]]:
    return [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in answer.calls
    ]


def _event(value: Any) -> bytes:
    return b"data: " + encode(value) + b"\n\n"


# -- responses ---------------------------------------------------------------------------------------------------


def _response(id: str, model: str, answer: Answer | None, status: str) -> dict[str, Any]:
    return {
        "id": f"resp_{id}",
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "model": model,
        "output": [] if answer is None else _items(id, answer),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "usage": {
            "input_tokens": 0,
            "output_tokens": 0,
            "total_tokens": 0,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _items(id: str, answer: Answer) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if answer.content or not answer.calls:
        text = {"type": "output_text", "text": answer.content, "annotations": []}
        items.append(
            {"id": f"msg_{id}", "type": "message", "role": "assistant", "status": "completed", "content": [text]}
        )
    for at, call in enumerate(answer.calls):
        call_fields = {"call_id": call.id, "name": call.name, "arguments": call.arguments, "status": "completed"}
        items.append({"id": f"fc_{id}_{at}", "type": "function_call", **call_fields})
    return items


def _response_events(id: str, model: str, answer: Answer) -> Iterator[bytes]:
    number = 1
    for at, item in enumerate(_items(id, answer)):
        place = {"item_id": item["id"], "output_index": at}
        events: list[tuple[str, dict[str, Any]]] = [("response.output_item.added", {"output_index": at, "item": item})]
        if item["type"] == "message":
            inner = place | {"content_index": 0}
            part, text = item["content"][0], item["content"][0]["text"]
            empty = part | {"text": ""}
            events += [
                ("response.content_part.added", inner | {"part": empty}),
                ("response.output_text.delta", inner | {"delta": text, "logprobs": []}),
                ("response.output_text.done", inner | {"text": text, "logprobs": []}),
                ("response.content_part.done", inner | {"part": part}),
            ]
        else:
            arguments = item["arguments"]
            events += [
                ("response.function_call_arguments.delta", place | {"delta": arguments}),
                ("response.function_call_arguments.done", place | {"arguments": arguments, "name": item["name"]}),
            ]
        events.append(("response.output_item.done", {"output_index": at, "item": item}))
        for kind, value in events:
            yield _named_event(kind, number, value)
            number += 1
    yield _named_event("response.completed", number, {"response": _response(id, model, answer, "completed")})


def _named_event(kind: str, number: int, value: dict[str, Any]) -> bytes:
    event = encode({"type": kind, "sequence_number": number, **value})
    return b"event: " + kind.encode() + b"\ndata: " + event + b"\n\n"
