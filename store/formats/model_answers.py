"""Text of model answers in logs that hold the server's whole reply: as an object, JSON, or a Python repr."""

from __future__ import annotations

import ast
import re
from typing import Any

from store.formats.values import as_mapping, literal

_LONGEST = 1024**2
_TEXT_PATHS: tuple[tuple[str | int, ...], ...] = (
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
"""Paths to the text in replies of OpenAI's, Qwen's, Google's, Anthropic's and Ollama's servers."""
_REPR = re.compile(r"\s*(?:[A-Za-z_]\w*\.)*[A-Z]\w*\(")
"""Start of a Python repr: `ChatCompletion(id=...`."""
# Possessive quantifiers, because a log's text may be long and must not cause backtracking.
_CONTENT = re.compile(r"\bcontent=('(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")", re.S)


def answer_text(answer: Any) -> str | None:
    """Return the text of a model's answer, given as text or as the server's whole reply, or None if there is none."""
    if isinstance(answer, str):
        whole = _parse_reply(answer)
        return answer if whole is None else answer_text(whole)
    if not isinstance(answer, dict):
        return None
    for way in _TEXT_PATHS:
        text = _join_texts(_follow_path(answer, way))
        if text is not None:
            return text
    return None


def whole_answer(answer: Any) -> dict[str, Any]:
    """Return the server's reply with its other fields (model, tokens), empty if the log only has the text."""
    return as_mapping(_parse_reply(answer) if isinstance(answer, str) else answer)


def _parse_reply(text: str) -> dict[str, Any] | str | None:
    """Return the reply that a text represents, or None if it is the answer's text itself."""
    if len(text) > _LONGEST:
        return None
    if text.lstrip().startswith("{") and any(f"{quote}choices{quote}" in text for quote in "'\""):
        value = literal(text)
        return value if isinstance(value, dict) else None
    if not _REPR.match(text) or (match := _CONTENT.search(text)) is None:
        return None
    try:
        words = ast.literal_eval(match[1])
    except (ValueError, SyntaxError, MemoryError):
        return None
    return {"content": words} if isinstance(words, str) else None


def _follow_path(value: Any, way: tuple[str | int, ...]) -> Any:
    for key in way:
        if isinstance(key, int):
            value = value[key] if isinstance(value, list) and len(value) > key else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def _join_texts(content: Any) -> str | None:
    """Return a text, or the texts of a list of parts joined, or None if there are none."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    texts = [part if isinstance(part, str) else as_mapping(part).get("text") for part in content]
    return "\n".join(text for text in texts if isinstance(text, str)) or None
