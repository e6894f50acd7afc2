"""JSON objects that stand somewhere in a model's answer, and which of several is the answer.

Passed over are fences, prose, stray commas, and line breaks that a string holds as they are. Quotes of another kind
are not guessed at: where an apostrophe ends a text cannot be known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from lab.core.codec import read_json
from lab.core.errors import LabError

LONGEST = 40_000
"""Characters of an answer in which an object is looked for; the end counts, where models put it."""
_MOST_SCANNED = 60 * LONGEST
"""Characters that are gone through, those after an opening brace again for each."""
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)
_TRAILING = re.compile(r",(\s*[}\]])")
_CONTROL = re.compile(r"[\x00-\x1f]")
_TAG = re.compile(r"(?:<|\[|◁)[|/]?[\w:.| -]{1,60}(?:>|\]|▷)")
_FENCE = re.compile(r"```[\w-]{0,20}")
_OTHER_QUOTES = re.compile(r"\{\s*['‘’“”]")
_REASONS = frozenset({"thought", "reason", "confidence", "explanation"})
"""Names of what says why: two answers that differ only there are the same one."""


class SeveralAnswers(Exception):
    """A text holds different answers, and which of them counts cannot be told."""

    def __init__(self) -> None:
        super().__init__("it holds several different answers; exactly one is wanted")


class FoundObject(NamedTuple):
    """A JSON object in a text, from `start` to `end`."""

    start: int
    end: int
    value: dict[str, Any]


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """Every JSON object in a text, in order; those inside another only where that one is none."""
    return (found.value for found in found_objects(text))


def answer_in(text: str, wanted: Callable[[dict[str, Any]], bool], *, plan: bool = False) -> dict[str, Any] | None:
    """The object that is the answer of a text, of those that are `wanted`; None where there is none.

    Of several the last one counts where words stand before the first: they think aloud, and take back what they wrote.
    With `plan`, the first counts of objects that stand one directly after the other: the next one is for later. Raises
    `SeveralAnswers` for any others that differ.
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
    """Why a text holds no JSON object, as far as it can be told, as the end of a clause; else empty."""
    return ' (its strings are not in "double quotes")' if _OTHER_QUOTES.search(text[-LONGEST:]) else ""


def found_objects(text: str) -> Iterator[FoundObject]:
    """Every JSON object in the last characters of a text (`LONGEST`), with its place in these."""
    tail = text[-LONGEST:]
    start, scanned = tail.find("{"), 0
    while start >= 0 and scanned < _MOST_SCANNED:
        end, closed = _closing(tail, start)
        value = _read(tail[start:end]) if closed else None
        if isinstance(value, dict):
            yield FoundObject(start, end, value)
        scanned += end - start
        start = tail.find("{", start + 1 if value is None else end)


def _read(json_text: str) -> Any:
    for attempt in (json_text, _mended(json_text)):
        try:
            return read_json(attempt.encode("utf-8", "surrogatepass"), "answer").value
        except LabError:
            continue
    return None


def _mended(json_text: str) -> str:
    """The text without commas before a closing bracket, and with the line breaks inside its strings escaped."""
    parts, end = [], 0
    for string in _STRING.finditer(json_text):
        parts.append(_TRAILING.sub(r"\1", json_text[end : string.start()]))
        parts.append(_CONTROL.sub(lambda control: f"\\u{ord(control[0]):04x}", string[0]))
        end = string.end()
    return "".join([*parts, _TRAILING.sub(r"\1", json_text[end:])])


def _closing(text: str, start: int) -> tuple[int, bool]:
    """Where the object that begins at `start` ends, and whether it does; else how far that was gone through."""
    depth, most = 0, text.count("}", start)
    for token in _TOKEN.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if not depth or depth > most:
            return token.end(), not depth
    return len(text), False


def _has_words(between: str) -> bool:
    """Whether a stretch of text says anything: marks, fences, brackets, commas and numbers of a list say nothing."""
    return re.search(r"[^\W\d_]|[?!]", _TAG.sub("", _FENCE.sub("", between))) is not None


def _meaning(value: dict[str, Any]) -> str:
    return repr(sorted((name, repr(part)) for name, part in value.items() if name not in _REASONS))
