"""A stranger's values as ours: words, counts, lists and mappings, however they are spelled, and what was changed."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Iterable
from typing import Any

from lab.core.codec import escape_surrogates, read_json
from lab.core.errors import LabError
from lab.core.text_encoding import utf8_text

Notes = list[tuple[str, str]]
"""What the tolerant reader changed: the place, and what stood there."""

_MOST_LITERAL = 1024**2
_MOST_COUNT = 2**53


def decoded(data: bytes, what: str = "text") -> str:
    """The UTF-8 that a source's `text` gives, without a byte order mark; halves of characters are escaped."""
    return escape_surrogates(utf8_text(data, what))


def as_text(value: Any) -> str:
    """Text as it stands; empty for anything else."""
    return value if isinstance(value, str) else ""


def spelled_out(value: Any) -> str | None:
    """Text as it stands, anything else as Python spells it; None for None."""
    return value if value is None or isinstance(value, str) else str(value)


def words(value: Any) -> str:
    """Text as it stands, a number as text; empty for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def names_of(value: Any) -> tuple[str, ...]:
    """A list of names, or one name alone, without those that are empty."""
    items = value if isinstance(value, list) else [value]
    return tuple(name for item in items if (name := words(item).strip()))


def literal(value: Any) -> Any:
    """What a text spells as JSON or as a Python literal (never run); what spells neither stays as it is."""
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
            warnings.simplefilter("ignore")
            literal_value = ast.literal_eval(value.strip())
        return read_json(json.dumps(literal_value).encode(), "text").value
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError, LabError):
        return value


def numbers(value: Any) -> list[Any]:
    """A list of numbers, also where it is spelled as text; empty where it is none."""
    values = literal(value)
    return list(values) if isinstance(values, list) else []


def as_count(value: Any) -> int | None:
    """A whole number from 0 that a count can be; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_COUNT else None


def as_amount(value: Any) -> float | None:
    """A number from 0 of dollars or seconds; None for anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < _MOST_COUNT else None


def as_mapping(value: Any) -> dict[str, Any]:
    """A mapping as it stands; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_mappings(value: Any, what: str, one: str, field: str = "") -> list[dict[str, Any]]:
    """A list of mappings; else a `LabError` that names the `field` and says that it is no `one`."""
    if not isinstance(value, list):
        raise LabError(what, f"field {field}: is no list of {one}s" if field else f"holds no list of {one}s")
    for i, item in enumerate(value):
        if not isinstance(item, dict):
            raise LabError(what, f"field {field}[{i}]: is no {one}")
    return value


def missing(notes: Notes, place: str = "") -> list[list[str]]:
    """What the tolerant reader changed below `place`, with what stood there: what `extra["missing"]` holds."""
    return [[at[len(place) :].lstrip("."), original] for at, original in notes if at.startswith(place)]


def without(source: dict[str, Any], placed_keys: Iterable[str]) -> dict[str, Any]:
    """The source's fields that have no place of their own, verbatim, without those that are null."""
    skip_keys = set(placed_keys)
    return {key: value for key, value in source.items() if key not in skip_keys and value is not None}
