"""Adapt requests to what a server refuses: parsed from its error, omitted or renamed, and stored for this process.

Servers behind `model_base` know other parameters than OpenAI's newest models. After a refusal the client repeats the
request without the parameter, or with its other name. The changes apply to the model at its server from the first
answer on. `names_left_out`, which may change an answer, is stored with it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

_LIMITS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""The two names of the limit of an answer's tokens."""
_NEEDED = frozenset({"model", "messages", "stream", "stream_options", *_LIMITS})
_UNSEEN = frozenset({"stream", "stream_options"})
"""Parameters whose omission does not change the answer."""
_ALIASES = {"response_format": ("json_schema", "json schema", "structured output", "json mode", "guided", "grammar")}
_DROP, _RENAME, _IMAGES, _SYSTEM, _DEVELOPER = "without ", "rename ", "images", "system role", "developer role"
_UNSUPPORTED = re.compile(
    r"not (?:\w+ ){0,3}?(?:support|permit|allow|accept|implement|recogni|available|enabled|valid)|n't (?:\w+ )?"
    r"(?:support|accept|allow|recogni)|unsupport|unrecogni|unknown|unexpected|extra (?:inputs?|fields?)|disabled"
    r"|no endpoints found that support|only supports?|deprecated|text[- ]only|invalid type|cannot|can not|no longer"
)
_TOO_MUCH = re.compile(
    r"exceed|too (?:large|long|big|high|many)|at most|maximum|less than or equal|context (?:length|window)|larger than"
)
_SEES_NOTHING = re.compile(
    r"image|vision|multi-?modal|picture|mmproj"
    r"|(?:content|messages?)\b.{0,80}\b(?:valid string|a string|str type|be string|type: sequence|unmarshal array)"
    r"|unmarshal array into go"
)
_ROLES = re.compile(
    r"(?:system|developer).{0,30}(?:role|message|prompt|instruction)|role.{0,40}(?:system|developer)"
    r"|roles? must alternate|only user and assistant|first message"
)
_WANTS_DEVELOPER = re.compile(r"(?:use|instead).{0,30}developer|developer.{0,40}instead")

_SETTINGS = (
    (re.compile(r"max_(?:completion_|new_|output_)?tokens|(?:completion|output|new) tokens"),
     "Lower model_tokens, the limit of an answer's tokens."),
    (re.compile(r"context (?:length|window)|too many tokens|prompt is too long|context_length"),
     "Lower model_tokens, which counts with what is sent, or model_picture."),
    (re.compile(r"temperature"), "The setting is model_temperature; below 0 none is sent."),
    (re.compile(r"image|vision|multi-?modal|picture"),
     "The setting is model_picture, the longer side in pixels (0 sends none); --pictures is a judge's."),
    (re.compile(r"\bstream"), "The setting is model_stream."),
)  # fmt: skip


class SentRequest(NamedTuple):
    """Parts of a request that a server may refuse."""

    names: frozenset[str] = frozenset()
    has_images: bool = False
    has_system: bool = False

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> SentRequest:
        """Return the parts of a request body. A request that is not a chat has none to omit."""
        messages = body.get("messages")
        if not isinstance(messages, list):
            return cls()
        has_lists = any(isinstance(message.get("content"), list) for message in messages)
        has_system = any(message.get("role") in ("system", "developer") for message in messages)
        return cls(frozenset(body), has_lists, has_system)


def changes_for(words: str, sent: SentRequest, made: Collection[str], *, sure: bool) -> frozenset[str]:
    """Return the changes that a refusal with these words asks for, besides those already `made`.

    `sure` is True if the status reports a faulty request. Otherwise the words must say that something is unsupported.
    """
    text = words.casefold()
    unsupported = _UNSUPPORTED.search(text) is not None
    if not sent.names or not (unsupported or sure):
        return frozenset()
    changes = {*_limit_changes(text, sent, made), *_other_changes(text, sent)}
    too_much = _TOO_MUCH.search(text) is not None
    if sent.has_images and _SEES_NOTHING.search(text) and not too_much:
        changes.add(_IMAGES)
    if sent.has_system and _ROLES.search(text):
        changes.add(_DEVELOPER if _WANTS_DEVELOPER.search(text) and _DEVELOPER not in made else _SYSTEM)
    return frozenset(changes - set(made))


def _limit_changes(text: str, sent: SentRequest, made: Collection[str]) -> set[str]:
    """Return the change of the token limit: its other name, or its omission if both names are refused."""
    # The limit is known but too high: renaming does not help, and the hint names the setting.
    if _TOO_MUCH.search(text):
        return set()
    named = [name for name in _LIMITS if name in sent.names and re.search(rf"\b{name}\b", text)]
    return {_DROP + name if _RENAME + _LIMITS[name] in made else _RENAME + name for name in named[:1]}


def _other_changes(text: str, sent: SentRequest) -> set[str]:
    names = {
        name for name in sent.names - _NEEDED
        if any(one in text for one in (name, name.replace("_", " "), *_ALIASES.get(name, ())))
    }  # fmt: skip
    if re.search(r"stream[_ ]options|include_usage", text):
        names |= {"stream_options"} & sent.names
    elif re.search(r"\bstream(?:ing|ed)?\b", text):
        names |= _UNSEEN & sent.names
    return {_DROP + name for name in names}


def adapted(body: Mapping[str, Any], changes: Collection[str]) -> dict[str, Any]:
    """Return a request body with the changes applied."""
    changed = {name: value for name, value in body.items() if _DROP + name not in changes}
    for name, other in _LIMITS.items():
        if _RENAME + name in changes and name in changed and _DROP + other not in changes:
            changed = {other if key == name else key: value for key, value in changed.items()}
            # Only one: the opposite rename would undo it.
            break
    messages = [dict(message) for message in changed.get("messages", ())]
    if _IMAGES in changes:
        for message in messages:
            message["content"] = _text_only(message.get("content"))
    if _SYSTEM in changes:
        messages = _without_system(messages)
    elif _DEVELOPER in changes:
        messages = [{**one, "role": "developer"} if one.get("role") == "system" else one for one in messages]
    return {**changed, "messages": messages}


def _text_only(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return "\n".join(str(part.get("text", "")) for part in content if part.get("type") == "text")


def _without_system(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Move the system messages to the beginning of the first user message."""
    told = [str(one.get("content")) for one in messages if one.get("role") in ("system", "developer")]
    others = [one for one in messages if one.get("role") not in ("system", "developer")]
    if not others or others[0].get("role") != "user":
        return [{"role": "user", "content": "\n\n".join(told)}, *others]
    content = others[0].get("content")
    if isinstance(content, list):
        first: Any = [*({"type": "text", "text": words} for words in told), *content]
    else:
        first = "\n\n".join([*told, str(content)])
    return [{**others[0], "content": first}, *others[1:]]


def names_left_out(changes: Collection[str]) -> tuple[str, ...]:
    """Return, in words, the omitted parts of a request that may have changed the answer."""
    parts = {change.removeprefix(_DROP) for change in changes if change.startswith(_DROP)} - _UNSEEN
    return tuple(sorted(parts | ({_IMAGES, _SYSTEM} & set(changes))))


def setting_hint(words: str) -> str:
    """Return the setting to change after a refusal with these words, empty if none applies."""
    text = words.casefold()
    return next((hint for pattern, hint in _SETTINGS if pattern.search(text)), "")


class LearnedChanges:
    """Changes that servers need, by model and base, learned by this process."""

    def __init__(self) -> None:
        self._changes: dict[tuple[str, str], frozenset[str]] = {}
        self._guard = threading.Lock()

    def changes_for(self, model: str, base: str) -> frozenset[str]:
        """Return the changes that a model's requests need at its server."""
        with self._guard:
            return self._changes.get((model, base), frozenset())

    def add(self, model: str, base: str, changes: frozenset[str]) -> None:
        """Remember that requests to this model need these changes at its server."""
        with self._guard:
            self._changes[model, base] = self._changes.get((model, base), frozenset()) | changes


LEARNED = LearnedChanges()
