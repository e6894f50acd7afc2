"""Messages of an Inspect sample: the model's text and calls, tool results, and their pictures.

Long texts and pictures may be stored elsewhere in the sample and referenced (`attachment://`, in old logs `tc://`). The
conversation of a sample without messages is rebuilt from its model and tool events.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from lab.core.errors import LabError
from lab.core.run.input_limits import PICTURE_BYTES
from lab.core.run.step import Observation, Usage
from store.formats.pictures import Pictures
from store.formats.values import as_amount, as_count, as_mapping

_DATA = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.+-]+)*;base64,", re.A)
_REFERENCES = ("attachment://", "tc://")
_LONG = 256


class Attachments:
    """Referenced texts and pictures of a sample. Each picture is unpacked once."""

    def __init__(self, attachments: Any, pictures: Pictures) -> None:
        self._held: dict[str, Any] = attachments if isinstance(attachments, dict) else {}
        self._pictures = pictures
        self._seen: dict[str, Observation] = {}

    def text(self, value: Any) -> str:
        """Return a text, resolved if it is a reference, empty if it is not a text."""
        if not isinstance(value, str):
            return ""
        for reference in _REFERENCES:
            if value.startswith(reference):
                content = self._held.get(value.removeprefix(reference))
                return content if isinstance(content, str) else value
        return value

    def picture(self, value: Any, extra: dict[str, Any]) -> Observation | None:
        """Return the picture of a data URL or reference, or None if there is none, with the reason in `extra`."""
        key = value if isinstance(value, str) and len(value) < _LONG else ""
        if key in self._seen:
            return self._seen[key]
        try:
            observation = self._pictures.add(_decode_data_url(self.text(value)))
        except LabError as error:
            extra["screenshot"] = error.message
            return None
        if key:
            self._seen[key] = observation
        return observation


def _decode_data_url(url: str) -> bytes:
    match = _DATA.match(url)
    if not match:
        raise LabError("picture", f"is not kept in the log ({without_picture_bytes(url)})")
    # Base64 has four characters for three bytes.
    if len(url) > PICTURE_BYTES * 4 // 3:
        raise LabError("picture", f"is more than the {PICTURE_BYTES:,} bytes that are read")
    try:
        return base64.b64decode(url[match.end() :])
    except (binascii.Error, ValueError) as error:
        raise LabError("picture", f"is damaged ({error})") from error


def without_picture_bytes(value: Any) -> Any:
    """Return a value without the bytes of pictures. Each is replaced by its type and length."""
    if isinstance(value, str):
        match = _DATA.match(value) if len(value) > _LONG else None
        return f"{match[0]} {len(value) - match.end()} characters" if match else value
    if isinstance(value, dict):
        return {key: without_picture_bytes(item) for key, item in value.items()}
    return [without_picture_bytes(item) for item in value] if isinstance(value, list) else value


def message_text(message: dict[str, Any], attachments: Attachments) -> tuple[str, str]:
    """Return a message's text and its reasoning."""
    content = message.get("content")
    if not isinstance(content, list):
        return attachments.text(content), _reasoning(message, attachments)
    texts: list[str] = []
    thoughts: list[str] = [_reasoning(message, attachments)]
    for part in content:
        if isinstance(part, dict) and part.get("type") == "text":
            texts.append(attachments.text(part.get("text")))
        elif isinstance(part, dict) and part.get("type") == "reasoning":
            thoughts.append(attachments.text(part.get("reasoning")) or attachments.text(part.get("summary")))
    return "\n".join(text for text in texts if text), "\n\n".join(thought for thought in thoughts if thought)


def _reasoning(message: dict[str, Any], attachments: Attachments) -> str:
    return attachments.text(message.get("reasoning"))


def last_picture(message: dict[str, Any], attachments: Attachments, extra: dict[str, Any]) -> Observation | None:
    """Return the last picture in a message, or None if there is none."""
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    images = [part.get("image") for part in parts if isinstance(part, dict) and part.get("type") == "image"]
    return attachments.picture(images[-1], extra) if images else None


def calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tool calls of a message."""
    tool_calls = message.get("tool_calls")
    return [call for call in tool_calls if isinstance(call, dict)] if isinstance(tool_calls, list) else []


def messages_of(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a sample's conversation, from its messages or, if these lack the model's, from its events."""
    entries = sample.get("messages")
    messages_held = [message for message in entries if isinstance(message, dict)] if isinstance(entries, list) else []
    if any(message.get("role") in ("assistant", "tool") for message in messages_held):
        return messages_held
    messages: list[dict[str, Any]] = []
    for event in events_of(sample):
        message = output_of(event)
        if message is not None:
            messages.append(message)
        elif event.get("event") == "tool":
            result = {"role": "tool", "tool_call_id": event.get("id"), "function": event.get("function")}
            messages.append({**result, "content": event.get("result"), "error": event.get("error")})
    return [*messages_held, *messages]


def events_of(sample: dict[str, Any]) -> list[dict[str, Any]]:
    events = sample.get("events")
    return [event for event in events if isinstance(event, dict)] if isinstance(events, list) else []


def output_of(event: dict[str, Any]) -> dict[str, Any] | None:
    """Return the model's message in a model event, or None for other events."""
    output = event.get("output") if event.get("event") == "model" else None
    choices = output.get("choices") if isinstance(output, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return {**message, "role": "assistant"} if isinstance(message, dict) else None


def usage_of(usage: Any, seconds: Any = None) -> Usage | None:
    """Return the usage from Inspect's `ModelUsage`, or None if it is empty."""
    fields = as_mapping(usage)
    tokens = Usage(
        as_count(fields.get("input_tokens")),
        as_count(fields.get("output_tokens")),
        as_count(fields.get("input_tokens_cache_read")),
        as_amount(fields.get("total_cost")),
        as_amount(seconds),
    )
    return None if tokens == Usage() else tokens
