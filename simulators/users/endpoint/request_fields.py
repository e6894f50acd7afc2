"""Table of every request field of the endpoint: honoured, passed over, or refused by name.

It covers chat completions and responses. A field that would change the client's result is never ignored silently.
Source: OpenAI's API reference and the types of its Python client.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from simulators.users.endpoint.access import RequestRefused

Api = Literal["chat", "responses"]
How = Literal["honoured", "passed over", "refused"]


class FieldRule(NamedTuple):
    """Treatment of a field and its reason. `asks_nothing` returns True for harmless values of a refused field."""

    how: How
    why: str
    asks_nothing: Callable[[Any], bool] = lambda value: not value


_SAMPLING = FieldRule("passed over", "a person chooses their words without it")
_COST = FieldRule("passed over", "tokens and their cost are a model's; a person's words are counted by nobody")
_BOOKS = FieldRule("passed over", "it labels, caches or schedules a request, and changes no answer")
_HONOURED = FieldRule("honoured", "")
_NO_LOGPROBS = FieldRule("refused", "a person's words have no probabilities")
_NO_MODERATION = FieldRule("refused", "nothing is moderated here")

_SHARED: dict[str, FieldRule] = {
    "model": FieldRule("honoured", "any name; the answer bears it"),
    "tools": FieldRule("honoured", "functions; other kinds of tools are refused by their place"),
    "tool_choice": FieldRule("honoured", "none, auto, required, one function, or some of them"),
    "parallel_tool_calls": FieldRule("honoured", "with false a person calls one function in an answer"),
    "stream": _HONOURED,
    "stream_options": FieldRule("honoured", "include_usage; include_obfuscation is passed over"),
    "temperature": _SAMPLING,
    "top_p": _SAMPLING,
    "metadata": _BOOKS,
    "prompt_cache_key": _BOOKS,
    "prompt_cache_options": _BOOKS,
    "prompt_cache_retention": _BOOKS,
    "safety_identifier": _BOOKS,
    "service_tier": _BOOKS,
    "store": FieldRule("passed over", "each conversation is kept in the file, and nowhere else"),
    "user": _BOOKS,
    "top_logprobs": _NO_LOGPROBS,
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
        "n": FieldRule("refused", "a person gives one answer", lambda value: value in (None, 1)),
        "logprobs": _NO_LOGPROBS,
        "logit_bias": FieldRule("refused", "a person's tokens cannot be weighed"),
        "modalities": FieldRule("refused", "answers are text", lambda value: not value or value == ["text"]),
        "audio": FieldRule("refused", "answers are text"),
        "web_search_options": FieldRule("refused", "nothing is searched here", lambda value: value is None),
        "frequency_penalty": _SAMPLING,
        "presence_penalty": _SAMPLING,
        "seed": _SAMPLING,
        "max_tokens": _COST,
        "max_completion_tokens": _COST,
        "prediction": FieldRule("passed over", "it makes a model quicker, and its answer no other"),
        "reasoning_effort": _SAMPLING,
        "verbosity": FieldRule("passed over", "a person writes as much as they do"),
    },
    "responses": {
        **_SHARED,
        "input": _HONOURED,
        "instructions": FieldRule("honoured", "the system prompt"),
        "text": FieldRule("honoured", "format as `response_format`; verbosity is passed over"),
        "max_output_tokens": _COST,
        "max_tool_calls": FieldRule("passed over", "it bounds tools that a server runs, and none are run here"),
        "reasoning": _SAMPLING,
        "truncation": FieldRule("passed over", "nothing is cut"),
        "include": FieldRule(
            "refused", "only what there is: log probabilities are not",
            lambda value: not value or "message.output_text.logprobs" not in value,
        ),
        "background": FieldRule("refused", "the answer comes on this line alone"),
        "background_options": FieldRule("refused", "the answer comes on this line alone"),
        "previous_response_id": FieldRule("refused", "responses are not kept; send the whole input"),
        "conversation": FieldRule("refused", "conversations are not kept; send the whole input"),
        "prompt": FieldRule("refused", "no prompts are kept here; send its words"),
        "context_management": FieldRule("refused", "nothing is compacted"),
        "access_programs": FieldRule("refused", "there are none here"),
    },
}  # fmt: skip
"""Rules by API and field, unordered. A field missing here is refused, because its meaning is unknown."""


def check_fields(api: Api, body: dict[str, Any]) -> None:
    """Raise `RequestRefused` for a refused or unknown field. A null counts as absent."""
    rules = FIELDS[api]
    for field, value in body.items():
        if value is None:
            continue
        rule = rules.get(field)
        if rule is None:
            raise RequestRefused(field, "is no field of this API that is known here; leave it out")
        if rule.how == "refused" and not rule.asks_nothing(value):
            raise RequestRefused(field, rule.why)
