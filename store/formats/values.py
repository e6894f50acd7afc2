"""Conversion of untrusted values: words, counts, lists and mappings in any spelling."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Iterable
from typing import Any

from lab.core.codec import escape_surrogates, read_json
from lab.core.errors import LabError
from lab.core.text.text_encoding import utf8_text

Notes = list[tuple[str, str]]
"""Changes by the tolerant reader: place and original value."""

_MOST_LITERAL = 1024**2
# Doubles represent every integer below this.
_MOST_COUNT = 2**53


def decode_utf8(data: bytes, what: str = "text") -> str:
    """Return UTF-8 text from a source's `text` without byte order mark, with lone surrogates escaped."""
    return escape_surrogates(utf8_text(data, what))


def as_text(value: Any) -> str:
    """Return text unchanged, empty for anything else."""
    return value if isinstance(value, str) else ""


def as_str(value: Any) -> str | None:
    """Return text unchanged, other values as Python's `str`, or None for None."""
    return value if value is None or isinstance(value, str) else str(value)


def words(value: Any) -> str:
    """Return text unchanged, a number as text, empty for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def names_of(value: Any) -> tuple[str, ...]:
    """Return the non-empty names of a list, or of a single name."""
    items = value if isinstance(value, list) else [value]
    return tuple(name for item in items if (name := words(item).strip()))


def literal(value: Any) -> Any:
    """Return the value of JSON or a Python literal in a text, without running code, other values unchanged."""
    if not isinstance(value, str) or len(value) > _MOST_LITERAL:
        return value
    try:
        return read_json(value.encode("utf-8", "surrogatepass"), "text").value
    except LabError:
        pass
    if not value.lstrip().startswith(("[", "(", "{")):
        return value
    try:
        with warnings.catch_warnings():
            # A stranger's literal may have invalid escapes, which Python warns of.
            warnings.simplefilter("ignore")
            literal_value = ast.literal_eval(value.strip())
        # By way of JSON, so that the same limits and cleaning apply.
        return read_json(json.dumps(literal_value).encode(), "text").value
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError, LabError):
        return value


def numbers(value: Any) -> list[Any]:
    """Return a list of numbers, also if written as text, empty for anything else."""
    values = literal(value)
    return list(values) if isinstance(values, list) else []


def as_count(value: Any) -> int | None:
    """Return a non-negative integer in the range of counts, or None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_COUNT else None


def as_amount(value: Any) -> float | None:
    """Return a non-negative number of dollars or seconds, or None for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < _MOST_COUNT else None


def as_mapping(value: Any) -> dict[str, Any]:
    """Return a mapping unchanged, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_mappings(value: Any, what: str, one: str, field: str = "") -> list[dict[str, Any]]:
    """Return a list of mappings. Raise `LabError` naming `field` and `one` if it is anything else."""
    if not isinstance(value, list):
        raise LabError(what, f"field {field}: is no list of {one}s" if field else f"holds no list of {one}s")
    for i, item in enumerate(value):
        if not isinstance(item, dict):
            raise LabError(what, f"field {field}[{i}]: is no {one}")
    return value


def notes_below(notes: Notes, place: str = "") -> list[list[str]]:
    """Return the tolerant reader's changes below `place`, for `extra["missing"]`."""
    return [[at[len(place) :].lstrip("."), original] for at, original in notes if at.startswith(place)]


def remaining_fields(source: dict[str, Any], placed_keys: Iterable[str]) -> dict[str, Any]:
    """Return the source's remaining fields unchanged, without keys that are placed elsewhere and without nulls."""
    skip_keys = set(placed_keys)
    return {key: value for key, value in source.items() if key not in skip_keys and value is not None}
