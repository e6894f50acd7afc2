"""What a server says of a request that it does not answer: its own words, of a body of any shape."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from typing import Any

from lab.core.plain_text import plain

_LONGEST = 300
"""Characters of a server's words that are told."""
_READ = 64 * 1024
"""Bytes of a body in which they are looked for."""
_NAMES = (
    "message", "msg", "error", "errors", "detail", "details", "error_description", "error_message", "errormessage",
    "errormsg", "title", "reason", "description", "error_msg", "exception", "fault", "faultstring", "text", "status",
)  # fmt: skip
"""Where servers put their words, by how much a name promises."""
_BESIDE = ("raw", "param", "hint")
"""What is told beside a message, where it is not in it."""
_DEEPEST, _MOST = 6, 3
_PAGE = 20_000
"""Characters of a page in which words are looked for."""
_MARKUP = re.compile(r"(?is)<(script|style)\b.*?</\1\s*>|<!--.*?-->|<[^<>]*>")


def server_words(body: bytes) -> str:
    """The words of a body: JSON of any shape, a page, or plain text; empty where it has none."""
    text = body[:_READ].decode("utf-8-sig", "replace").strip()
    text = re.sub(r"^(?:event:.*\n)?data:\s*", "", text)  # an error that was sent as an event
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _line(_of_page(text) if re.match(r"(?is)\s*<(?:!doctype|html|head|body|\?xml|\w+>)", text) else text)
    return words_of_value(value)


def words_of_value(value: Any) -> str:
    """The words of an error in JSON; its own JSON where no name in it is known."""
    words = "; ".join(dict.fromkeys(_of_value(value)))
    if words or value in (None, "", {}, []):
        return _line(words)
    return _line(json.dumps(value, ensure_ascii=False, default=str))


def _of_value(value: Any, depth: int = 0) -> Iterator[str]:
    """The words in a value, each once; of a list the first few."""
    if isinstance(value, str):
        yield from _of_text(value, depth)
    elif isinstance(value, list) and depth < _DEEPEST:
        for one in value[:_MOST]:
            yield from _of_value(one, depth + 1)
    elif isinstance(value, dict) and depth < _DEEPEST:
        yield from _of_object({str(name).casefold(): part for name, part in value.items()}, depth)


def _of_text(text: str, depth: int) -> Iterator[str]:
    """A text; one that is JSON itself, as gateways pass on what another server said, is read as that."""
    if text.lstrip()[:1] in ("{", "[") and depth < _DEEPEST:
        try:
            yield from _of_value(json.loads(text), depth + 1)
        except (ValueError, RecursionError):
            yield text.strip()
    elif text.strip():
        yield text.strip()


def _of_object(parts: dict[str, Any], depth: int) -> Iterator[str]:
    told = next((words for name in _NAMES if (words := "; ".join(_of_value(parts.get(name), depth + 1)))), "")
    place = parts.get("loc")
    if told and isinstance(place, list):  # FastAPI's: where in the request it is
        told = f"{'.'.join(map(str, place))}: {told}"
    if told:
        yield told
    metadata = parts.get("metadata")
    beside = {**metadata, **parts} if isinstance(metadata, dict) else parts
    for name in _BESIDE if told else ():
        for words in _of_value(beside.get(name), depth + 1):
            if words not in told:
                yield f"{name} {words}" if name == "param" else words


def _of_page(page: str) -> str:
    """The words of a page: its title, and what stands on it."""
    title = re.search(r"(?is)<title[^>]*>(.*?)</title", page)
    body = re.search(r"(?is)<body[^>]*>(.*)", page)
    parts = [title[1] if title else "", body[1] if body else page.replace(title[0] if title else "", "")]
    words = (html.unescape(" ".join(_MARKUP.sub(" ", part[:_PAGE]).split())) for part in parts)
    return "; ".join(dict.fromkeys(filter(None, words)))


def _line(text: str) -> str:
    return plain(text.strip(), lines=False)[:_LONGEST].strip()
