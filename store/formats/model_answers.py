"""The words of a model's answer where a log holds all that the server gave: an object, its JSON, or Python's repr."""

from __future__ import annotations

import ast
import re
from typing import Any

from store.formats.values import as_mapping, literal

_LONGEST = 1024**2
_WAYS: tuple[tuple[str | int, ...], ...] = (
    ("choices", 0, "message", "content"),
    ("choices", 0, "text"),
    ("output", "choices", 0, "message", "content"),
    ("output", "text"),
    ("candidates", 0, "content", "parts"),
    ("message", "content"),
    ("content",),
    ("output",),
    ("response",),
    ("text",),
)
"""Where the words stand in what OpenAI's, Qwen's, Google's, Anthropic's and Ollama's servers give."""
_SHOWN = re.compile(r"\s*(?:[A-Za-z_]\w*\.)*[A-Z]\w*\(")
"""How Python shows an object: `ChatCompletion(id=...`."""
_CONTENT = re.compile(r"\bcontent=('(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")", re.S)


def answer_text(answer: Any) -> str | None:
    """The words of a model's answer, from its text or from the whole that a server gave; None where there are none."""
    if isinstance(answer, str):
        whole = _whole(answer)
        return answer if whole is None else answer_text(whole)
    if not isinstance(answer, dict):
        return None
    for way in _WAYS:
        text = _joined(_at(answer, way))
        if text is not None:
            return text
    return None


def whole_answer(answer: Any) -> dict[str, Any]:
    """What a server said beside the words (its model, tokens); empty where the log holds the words alone."""
    return as_mapping(_whole(answer) if isinstance(answer, str) else answer)


def _whole(text: str) -> dict[str, Any] | str | None:
    """What a text shows of a whole answer; None where it is the words themselves."""
    if len(text) > _LONGEST:
        return None
    if text.lstrip().startswith("{") and any(f"{quote}choices{quote}" in text for quote in "'\""):
        value = literal(text)
        return value if isinstance(value, dict) else None
    if not _SHOWN.match(text) or (match := _CONTENT.search(text)) is None:
        return None
    try:
        words = ast.literal_eval(match[1])
    except (ValueError, SyntaxError, MemoryError):
        return None
    return {"content": words} if isinstance(words, str) else None


def _at(value: Any, way: tuple[str | int, ...]) -> Any:
    for key in way:
        if isinstance(key, int):
            value = value[key] if isinstance(value, list) and len(value) > key else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def _joined(content: Any) -> str | None:
    """A text, or the texts of a list of parts; None where it holds none."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    texts = [part if isinstance(part, str) else as_mapping(part).get("text") for part in content]
    return "\n".join(text for text in texts if isinstance(text, str)) or None
