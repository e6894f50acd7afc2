"""Conversion between typed text and an answer's value."""

from __future__ import annotations

import re
from typing import Any

from lab.core.errors import LabError
from lab.core.study.option_sets import parse_typed_set, set_words
from lab.core.study.protocol import Field
from lab.core.text.typed_text import clean
from lab.core.values.whole_number import whole_number

_BOX = re.compile(r"\s*(\d{1,9})\s*[, ]\s*(\d{1,9})\s*[, ]\s*(\d{1,9})\s*[, ]\s*(\d{1,9})\s*")


def typed_value(field: Field, words: str) -> Any:
    """Parse a typed line. Raise `LabError` if it does not fit the field."""
    words = clean(words).strip()
    match field.kind:
        case "interval":
            try:
                value = float(words.replace(",", "."))
            except ValueError:
                raise LabError(field.id, f"{words!r} is no number.") from None
            return int(value) if value.is_integer() else value
        case "step":
            step = whole_number(words)
            if step is None:
                raise LabError(field.id, f"{words[:40]!r} is no step: a whole number from 1 on.")
            return step
        case "box":
            match = _BOX.fullmatch(words)
            if match is None:
                raise LabError(field.id, f"{words[:40]!r} is no box: left, top, right, bottom in pixels.")
            return [int(part) for part in match.groups()]
        case "many":
            return parse_typed_set(field, words)
    if not words:
        raise LabError(field.id, "nothing was typed.")
    return words


def words_of(value: Any) -> str:
    """Return a value as it would be typed."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return set_words(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def hint_of(field: Field) -> str:
    """Return the placeholder of the empty input."""
    match field.kind:
        case "interval" if field.least is not None and field.most is not None:
            return f"a number from {field.least:g} to {field.most:g}"
        case "interval":
            return "a number"
        case "step":
            return "its number, from 1"
        case "box":
            return "left, top, right, bottom in pixels"
        case "many":
            return "options behind commas, or none"
    return "your words"
