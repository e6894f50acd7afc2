"""Extract a server's own error message from a reply of any shape."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any

from lab.core.text.plain_text import plain

_LONGEST = 300
"""Maximum characters of a server's message in ours."""
_READ = 64 * 1024
"""Maximum bytes of a body that are searched."""
_NAMES = (
    "message", "msg", "error", "errors", "detail", "details", "error_description", "error_message", "errormessage",
    "errormsg", "title", "reason", "description", "error_msg", "exception", "fault", "faultstring", "text", "base_resp",
    "status_msg", "status",
)  # fmt: skip
"""Fields in which servers send messages, the most specific first."""
_APPENDED = ("raw", "param", "hint")
"""Fields that are appended to a message that does not contain them."""
_DEEPEST, _MOST = 10, 3
_PAGE = 20_000
"""Maximum characters of a page that are searched."""
_MARKUP = re.compile(r"(?is)<(script|style)\b.*?</\1\s*>|<!--.*?-->|<[^<>]*>")


def server_words(body: bytes) -> str:
    """Return the message in a body: JSON of any shape, a page, or plain text, empty if it has none."""
    text = body[:_READ].decode("utf-8-sig", "replace").strip()
    text = re.sub(r"^(?:event:.*\n)?data:\s*", "", text)  # an error that was sent as an event
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _line(_page_words(text) if re.match(r"(?is)\s*<(?:!doctype|html|head|body|\?xml|\w+>)", text) else text)
    return words_of_value(value)


def words_of_value(value: Any) -> str:
    """Return the message of an error in JSON, or the JSON itself if it has no known field."""
    words = "; ".join(dict.fromkeys(_value_words(value)))
    if words or value in (None, "", {}, []):
        return _line(words)
    return _line(json.dumps(value, ensure_ascii=False, default=str))


def _value_words(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts in a value, of a list only the first few."""
    if isinstance(value, str):
        yield from _text_words(value, depth)
    elif isinstance(value, list) and depth < _DEEPEST:
        for one in value[:_MOST]:
            yield from _value_words(one, depth + 1)
    elif isinstance(value, dict) and depth < _DEEPEST:
        yield from _object_words({str(name).casefold(): part for name, part in value.items()}, depth)


def _text_words(text: str, depth: int) -> Iterator[str]:
    """Yield a text. Parse it if it is JSON itself, because gateways forward another server's error as text."""
    if text.lstrip()[:1] in ("{", "[") and depth < _DEEPEST:
        try:
            yield from _value_words(json.loads(text), depth + 1)
        except (ValueError, RecursionError):
            yield text.strip()
    elif text.strip():
        yield text.strip()


def _object_words(parts: dict[str, Any], depth: int) -> Iterator[str]:
    told = next((words for name in _NAMES if (words := "; ".join(_value_words(parts.get(name), depth + 1)))), "")
    place = parts.get("loc")
    if told and isinstance(place, list):  # FastAPI's: where in the request it is
        told = f"{'.'.join(map(str, place))}: {told}"
    if told:
        yield told
    metadata = parts.get("metadata")
    beside = {**metadata, **parts} if isinstance(metadata, dict) else parts
    for name in _APPENDED if told else ():
        for words in _value_words(beside.get(name), depth + 1):
            if words not in told:
                yield f"{name} {words}" if name == "param" else words


def _page_words(page: str) -> str:
    """Return the text of a page: its title and its body."""
    title = re.search(r"(?is)<title[^>]*>(.*?)</title", page)
    body = re.search(r"(?is)<body[^>]*>(.*)", page)
    parts = [title[1] if title else "", body[1] if body else page.replace(title[0] if title else "", "")]
    words = (html.unescape(" ".join(_MARKUP.sub(" ", part[:_PAGE]).split())) for part in parts)
    return "; ".join(dict.fromkeys(filter(None, words)))


def _line(text: str) -> str:
    return plain(text.strip(), lines=False)[:_LONGEST].strip()
