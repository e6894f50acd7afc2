"""JSON objects that stand somewhere in a model's answer: fences, prose, thinking aloud and stray commas passed over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lab.core.codec import read_json
from lab.core.errors import LabError

_LONGEST = 40_000
"""Characters of an answer in which an object is looked for; the end counts, where models put it."""
_MOST_OPENINGS = 60
_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_TRAILING = re.compile(r",(\s*[}\]])")


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """Every JSON object in an answer, in order; those inside another only where that one is none."""
    end = max((match.end() for match in _THOUGHT.finditer(text)), default=0)  # no opening looks past it for its end
    for json_text in _objects((_THINKING.sub(" ", text[:end]) + text[end:])[-_LONGEST:]):
        value = _read(json_text)
        if isinstance(value, dict):
            yield value


def _read(json_text: str) -> Any:
    for attempt in (json_text, _without_trailing(json_text)):
        try:
            return read_json(attempt.encode("utf-8", "surrogatepass"), "answer").value
        except LabError:
            continue
    return None


def _without_trailing(json_text: str) -> str:
    """The text without commas before a closing bracket, those inside quotes left alone."""
    parts = re.split(r'("(?:[^"\\]|\\.)*")', json_text)
    return "".join(part if i % 2 else _TRAILING.sub(r"\1", part) for i, part in enumerate(parts))


def _objects(text: str) -> Iterator[str]:
    """Every stretch from an opening brace to the one that closes it; those inside another only where it is open."""
    start = text.find("{")
    for _ in range(_MOST_OPENINGS):
        if start < 0:
            return
        end = _closing(text, start)
        if end is not None:
            yield text[start : end + 1]
        start = text.find("{", start + 1 if end is None else end + 1)


def _closing(text: str, start: int) -> int | None:
    depth, quoted, escaped = 0, False, False
    for place in range(start, len(text)):
        ch = text[place]
        if quoted:
            if escaped:
                escaped = False
            elif ch == "\\":
                escaped = True
            elif ch == '"':
                quoted = False
        elif ch == '"':
            quoted = True
        elif ch == "{":
            depth += 1
        elif ch == "}":
            depth -= 1
            if not depth:
                return place
    return None
