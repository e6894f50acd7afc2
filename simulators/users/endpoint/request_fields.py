"""Table of every request field of the endpoint: honoured, passed over, or refused by name.

It covers chat completions and responses. A field that would change the client's result is never ignored silently.
Source: OpenAI's API reference and the types of its Python client.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import msgspec

from lab.core.codec import convert
from simulators.users.endpoint.access import RequestRefused

Api = Literal["chat", "responses"]
How = Literal["honoured", "passed over", "refused"]


class FieldRule(NamedTuple):
    """Treatment of a field and its reason. `asks_nothing` returns True for harmless values of a refused field.

    A value of another `kind` is refused, whatever the treatment. `Any` leaves the check to the parser of the request.
    """

    how: How
    why: str
    kind: Any = Any
    asks_nothing: Callable[[Any], bool] = lambda value: not value


def _sampling(kind: Any) -> FieldRule:
    return FieldRule("passed over", "a person chooses their words without it", kind)


def _books(kind: Any = str) -> FieldRule:
    return FieldRule("passed over", "it labels, caches or schedules a request, and changes no answer", kind)


_OBJECT = dict[str, Any]
_COST = FieldRule("passed over", "tokens and their cost are a model's; a person's words are counted by nobody", int)
_HONOURED = FieldRule("honoured", "")
_NO_MODERATION = FieldRule("refused", "nothing is moderated here", _OBJECT)

_SHARED: dict[str, FieldRule] = {
    "model": FieldRule("honoured", "any name; the answer bears it"),
    "tools": FieldRule("honoured", "functions; other kinds of tools are refused by their place"),
    "tool_choice": FieldRule("honoured", "none, auto, required, one function, or some of them"),
    "parallel_tool_calls": FieldRule("honoured", "with false a person calls one function in an answer"),
    "stream": _HONOURED,
    "stream_options": FieldRule("honoured", "include_usage; include_obfuscation is passed over"),
    "temperature": _sampling(float),
    "top_p": _sampling(float),
    "metadata": _books(_OBJECT),
    "prompt_cache_key": _books(),
    "prompt_cache_options": _books(_OBJECT),
    "prompt_cache_retention": _books(),
    "safety_identifier": _books(),
    "service_tier": _books(),
    "store": FieldRule("passed over", "each conversation is kept in the file, and nowhere else", bool),
    "user": _books(),
    "top_logprobs": FieldRule("refused", "a person's words have no probabilities", int),
    "moderation": _NO_MODERATION,
}
FIELDS: dict[Api, dict[str, FieldRule]] = {
    "chat": {
        **_SHARED,
        "messages": _HONOURED,
        "response_format": FieldRule("honoured", "JSON: words that are none, or not of the schema, are not sent"),
        "stop": FieldRule("honoured", "the answer ends before it; a person is told while they answer"),
        "functions": FieldRule("honoured", "as tools; the answer has `function_call`"),
        "function_call": FieldRule("honoured", "as `tool_choice`"),
        "n": FieldRule("refused", "a person gives one answer", int, lambda value: value == 1),
        "logprobs": FieldRule("refused", "a person's words have no probabilities", bool),
        "logit_bias": FieldRule("refused", "a person's tokens cannot be weighed", _OBJECT),
        "modalities": FieldRule("refused", "answers are text", list[str], lambda value: not value or value == ["text"]),
        "audio": FieldRule("refused", "answers are text", _OBJECT),
        "web_search_options": FieldRule("refused", "nothing is searched here", _OBJECT, lambda value: False),
        "frequency_penalty": _sampling(float),
        "presence_penalty": _sampling(float),
        "seed": _sampling(int),
        "max_tokens": _COST,
        "max_completion_tokens": _COST,
        "prediction": FieldRule("passed over", "it makes a model quicker, and its answer no other", _OBJECT),
        "reasoning_effort": _sampling(str),
        "verbosity": FieldRule("passed over", "a person writes as much as they do", str),
    },
    "responses": {
        **_SHARED,
        "input": _HONOURED,
        "instructions": FieldRule("honoured", "the system prompt"),
        "text": FieldRule("honoured", "format as `response_format`; verbosity is passed over"),
        "max_output_tokens": _COST,
        "max_tool_calls": FieldRule("passed over", "it bounds tools that a server runs, and none are run here", int),
        "reasoning": _sampling(_OBJECT),
        "truncation": FieldRule("passed over", "nothing is cut", str),
        "include": FieldRule(
            "refused", "only what there is: log probabilities are not", list[str],
            lambda value: not value or "message.output_text.logprobs" not in value,
        ),
        "background": FieldRule("refused", "the answer comes on this line alone", bool),
        "background_options": FieldRule("refused", "the answer comes on this line alone", _OBJECT),
        "previous_response_id": FieldRule("refused", "responses are not kept; send the whole input", str),
        "conversation": FieldRule("refused", "conversations are not kept; send the whole input", str | _OBJECT),
        "prompt": FieldRule("refused", "no prompts are kept here; send its words", _OBJECT),
        "context_management": FieldRule("refused", "nothing is compacted", list[_OBJECT]),
        "access_programs": FieldRule("refused", "there are none here", _OBJECT),
    },
}  # fmt: skip
"""Rules by API and field, unordered. A field missing here is refused, because its meaning is unknown."""

_KINDS: dict[Api, type[msgspec.Struct]] = {
    api: msgspec.defstruct(api, [(field, rule.kind | None, None) for field, rule in rules.items()])
    for api, rules in FIELDS.items()
}


def check_fields(api: Api, body: dict[str, Any]) -> None:
    """Raise `LabError` for a refused or unknown field, or a value of another kind. A null counts as absent."""
    rules = FIELDS[api]
    for field, value in body.items():
        if value is None:
            continue
        rule = rules.get(field)
        if rule is None:
            raise RequestRefused(field, "is no field of this API that is known here; leave it out")
        if rule.how == "refused" and not rule.asks_nothing(value):
            raise RequestRefused(field, rule.why)
    convert(body, _KINDS[api], "the request")
