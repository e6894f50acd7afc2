"""A persona's facts and a task's time as lines for people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from lab.core.text.plain_text import plain

_SHORT, _LINE = 60, 100
"""Maximum characters of one fact and of a line of facts."""
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_TIME = re.compile(r"\d{1,2}:\d{2}")
_KEY = re.compile(r"[a-z]+(?:_[a-z]+)+")
"""Pattern of a value that is an identifier."""


def fact_lines(value: dict[str, Any], depth: int = 0) -> Iterator[tuple[int, str, str]]:
    """Yield depth, name and value of each line. A nested fact has its description as value, or none.

    A few short facts share a line, a person in a list has their name as label, and coordinates are one pair of numbers.
    """
    stack: list[tuple[int, str, Any]] = [
        (depth, name_words(k), v) for k, v in reversed(_merge_coordinates(value).items())
    ]
    while stack:
        level, name, fact = stack.pop()
        label = name[:1].upper() + name[1:] if level == depth else name
        if isinstance(fact, dict) and fact:
            description, rest = _split_description(_merge_coordinates(fact))
            line = _join_short(rest) if level > depth and not description else ""
            yield level, label, line or description
            stack.extend([] if line else [(level + 1, name_words(k), v) for k, v in reversed(rest.items())])
        elif isinstance(fact, list) and any(isinstance(item, dict | list) for item in fact):
            yield level, label, ""
            stack.extend((level + 1, *_label_item(n, v)) for n, v in reversed(list(enumerate(fact, 1))))
        else:
            yield level, label, _value_words(fact)


def _merge_coordinates(facts: dict[str, Any]) -> dict[str, Any]:
    """Merge latitude and longitude into one fact."""
    if not {"latitude", "longitude"} <= set(facts):
        return facts
    where = f"{_value_words(facts['latitude'])}, {_value_words(facts['longitude'])}"
    pairs = (("position on the map", where) if key == "latitude" else (key, value) for key, value in facts.items())
    return {key: value for key, value in pairs if key != "longitude"}


def _split_description(facts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the description of a nested fact, and its other facts."""
    description = facts.get("description")
    if not isinstance(description, str) or not description:
        return "", facts
    return _value_words(description), {key: value for key, value in facts.items() if key != "description"}


def _label_item(number: int, item: Any) -> tuple[str, Any]:
    """Return the label of a list item (its own name, or its number) and its other facts."""
    if isinstance(item, dict) and isinstance(item.get("name"), str) and item["name"]:
        return _value_words(item["name"]), {key: value for key, value in item.items() if key != "name"} or ""
    return f"{number}", item


def _join_short(facts: dict[str, Any]) -> str:
    """Return a few short facts as one line, empty if they are too many, too long or nested."""
    if any(isinstance(value, dict) or _is_nested_list(value) for value in facts.values()):
        return ""
    words = [(name_words(key), _value_words(value)) for key, value in facts.items()]
    if any(len(value) > _SHORT for _, value in words):
        return ""
    line = "; ".join(f"{key}: {value}" for key, value in words)
    return line if len(line) <= _LINE else ""


def _is_nested_list(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict | list) for item in value)


def _value_words(value: Any) -> str:
    """Return a value as text for people."""
    if isinstance(value, bool) or value is None:
        return "not told" if value is None else "yes" if value else "no"
    if not isinstance(value, list):
        text = plain(str(value), lines=False)
        return text.replace("_", " ") if _KEY.fullmatch(text) else text
    items = [_value_words(item) for item in value]
    # Consecutive weekdays become a range.
    if len(items) > 2 and items in [_DAYS[a : a + len(items)] for a in range(len(_DAYS))]:
        return f"{items[0]} to {items[-1]}"
    if len(items) == 2 and all(_TIME.fullmatch(item) for item in items):
        return f"{items[0]} to {items[1]}"
    return (" " if items and all(item.endswith((".", "。")) for item in items) else ", ").join(items)


def moment_words(time: str) -> str:
    """Return a task's time in words. An invalid time stays unchanged."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return time
    return f"{moment:%A} {moment.day} {moment:%B %Y}, {moment:%H:%M}"


def name_words(key: Any) -> str:
    """Return a key of a profile as words."""
    return plain(str(key), lines=False).replace("_", " ")
