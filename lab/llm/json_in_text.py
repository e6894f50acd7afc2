"""Find JSON objects in a model's answer, and choose the one that is the answer.

The scan tolerates fences, prose, trailing commas, and raw line breaks in strings. It does not repair other kinds of
quotes, because the end of a text with apostrophes is ambiguous.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from lab.core.codec import read_json
from lab.core.errors import LabError

LONGEST = 40_000
"""Number of last characters in which objects are searched. Models put the answer at the end."""
_MOST_SCANNED = 60 * LONGEST
"""Limit of scanned characters. Each opening brace may scan the following ones again."""
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)
_TRAILING = re.compile(r",(\s*[}\]])")
_CONTROL = re.compile(r"[\x00-\x1f]")
_TAG = re.compile(r"(?:<|\[|◁)[|/]?[\w:.| -]{1,60}(?:>|\]|▷)")
_FENCE = re.compile(r"```[\w-]{0,20}")
_OTHER_QUOTES = re.compile(r"\{\s*['‘’“”]")
_REASONS = frozenset({"thought", "reason", "confidence", "explanation"})
"""Names of fields that give reasons. Two answers that differ only there are the same."""


class SeveralAnswers(Exception):
    """A text holds several different answers, and none of them takes precedence."""

    def __init__(self) -> None:
        super().__init__("it holds several different answers; exactly one is wanted")


class FoundObject(NamedTuple):
    """JSON object in a text, from `start` to `end`."""

    start: int
    end: int
    value: dict[str, Any]


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """Yield each JSON object in a text, in order. Yield an inner one only if the outer one is invalid."""
    return (found.value for found in found_objects(text))


def answer_in(text: str, wanted: Callable[[dict[str, Any]], bool], *, plan: bool = False) -> dict[str, Any] | None:
    """Return the object that is the text's answer, among those that are `wanted`, or None if there is none.

    If words precede the first of several, the model thinks aloud and corrects itself, so the last one counts. With
    `plan`, the first of directly consecutive objects counts, because the next ones are for later. Raise
    `SeveralAnswers` if others differ.
    """
    objects = [found for found in found_objects(text) if wanted(found.value)]
    if not objects:
        return None
    tail = text[-LONGEST:]
    groups = [[objects[0]]]
    for before, after in pairwise(objects):
        if _has_words(tail[before.end : after.start]):
            groups.append([])
        groups[-1].append(after)
    thinks_aloud = _has_words(tail[: objects[0].start])
    candidates = groups[-1] if thinks_aloud or len(groups) == 1 else objects
    if (plan and candidates is groups[-1]) or len({_meaning(found.value) for found in candidates}) == 1:
        return candidates[0].value
    raise SeveralAnswers


def why_no_object(text: str) -> str:
    """Return why a text has no JSON object, as the end of a clause, empty if unknown."""
    return ' (its strings are not in "double quotes")' if _OTHER_QUOTES.search(text[-LONGEST:]) else ""


def found_objects(text: str) -> Iterator[FoundObject]:
    """Yield each JSON object in the last `LONGEST` characters of a text. Places count from there."""
    tail = text[-LONGEST:]
    start, scanned = tail.find("{"), 0
    while start >= 0 and scanned < _MOST_SCANNED:
        # `scanned` bounds the quadratic time of many unclosed braces.
        end, closed = _find_end(tail, start)
        value = _parse(tail[start:end]) if closed else None
        if isinstance(value, dict):
            yield FoundObject(start, end, value)
        scanned += end - start
        start = tail.find("{", start + 1 if value is None else end)


def _parse(json_text: str) -> Any:
    for attempt in (json_text, _repair(json_text)):
        try:
            return read_json(attempt.encode("utf-8", "surrogatepass"), "answer").value
        except LabError:
            continue
    return None


def _repair(json_text: str) -> str:
    """Remove trailing commas, and escape control characters inside strings."""
    parts, end = [], 0
    for string in _STRING.finditer(json_text):
        parts.append(_TRAILING.sub(r"\1", json_text[end : string.start()]))
        parts.append(_CONTROL.sub(lambda control: f"\\u{ord(control[0]):04x}", string[0]))
        end = string.end()
    return "".join([*parts, _TRAILING.sub(r"\1", json_text[end:])])


def _find_end(text: str, start: int) -> tuple[int, bool]:
    """Return the end of the object at `start` and True, else the end of the scan and False."""
    # More open braces than closing ones remain: the object cannot end.
    depth, most = 0, text.count("}", start)
    for token in _TOKEN.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if not depth or depth > most:
            return token.end(), not depth
    return len(text), False


def _has_words(between: str) -> bool:
    """Return True if a part of text says anything. Marks, fences, brackets, commas and list numbers do not."""
    return re.search(r"[^\W\d_]|[?!]", _TAG.sub("", _FENCE.sub("", between))) is not None


def _meaning(value: dict[str, Any]) -> str:
    return repr(sorted((name, repr(part)) for name, part in value.items() if name not in _REASONS))
