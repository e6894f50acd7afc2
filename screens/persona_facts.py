"""A persona's facts and a task's time, as lines that a person reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from lab.core.plain_text import plain

_SHORT, _LINE = 60, 100
"""Characters of one fact, and of all together, up to which they stand in one line."""
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_TIME = re.compile(r"\d{1,2}:\d{2}")
_KEY = re.compile(r"[a-z]+(?:_[a-z]+)+")
"""A value that is a name for a machine."""


def outline(value: dict[str, Any], depth: int = 0) -> Iterator[tuple[int, str, str]]:
    """Depth, name and value of each line; what holds more has no value of its own, or what it is described as.

    Few short facts stand in one line, a person of a list by their name, a place on the map as one pair of numbers.
    """
    stack: list[tuple[int, str, Any]] = [(depth, name_words(k), v) for k, v in reversed(_paired(value).items())]
    while stack:
        level, name, held = stack.pop()
        shown = name[:1].upper() + name[1:] if level == depth else name
        if isinstance(held, dict) and held:
            description, rest = _described(_paired(held))
            line = _in_a_line(rest) if level > depth and not description else ""
            yield level, shown, line or description
            stack.extend([] if line else [(level + 1, name_words(k), v) for k, v in reversed(rest.items())])
        elif isinstance(held, list) and any(isinstance(item, dict | list) for item in held):
            yield level, shown, ""
            stack.extend((level + 1, *_numbered(n, v)) for n, v in reversed(list(enumerate(held, 1))))
        else:
            yield level, shown, _words(held)


def _paired(facts: dict[str, Any]) -> dict[str, Any]:
    """Latitude and longitude as one fact."""
    if not {"latitude", "longitude"} <= set(facts):
        return facts
    where = f"{_words(facts['latitude'])}, {_words(facts['longitude'])}"
    pairs = (("position on the map", where) if key == "latitude" else (key, held) for key, held in facts.items())
    return {key: held for key, held in pairs if key != "longitude"}


def _described(facts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """What a thing is described as, and the other facts of it."""
    description = facts.get("description")
    if not isinstance(description, str) or not description:
        return "", facts
    return _words(description), {key: held for key, held in facts.items() if key != "description"}


def _numbered(number: int, held: Any) -> tuple[str, Any]:
    """What an item of a list is called, by its own name if it has one, and the rest of it."""
    if isinstance(held, dict) and isinstance(held.get("name"), str) and held["name"]:
        return _words(held["name"]), {key: one for key, one in held.items() if key != "name"} or ""
    return f"{number}", held


def _in_a_line(facts: dict[str, Any]) -> str:
    """A few short facts one after the other; empty where they are many, long, or hold more."""
    if any(isinstance(held, dict) or _many(held) for held in facts.values()):
        return ""
    words = [(name_words(key), _words(held)) for key, held in facts.items()]
    if any(len(held) > _SHORT for _, held in words):
        return ""
    line = "; ".join(f"{key}: {held}" for key, held in words)
    return line if len(line) <= _LINE else ""


def _many(held: Any) -> bool:
    return isinstance(held, list) and any(isinstance(item, dict | list) for item in held)


def _words(held: Any) -> str:
    """A value as a person reads it."""
    if isinstance(held, bool) or held is None:
        return "not told" if held is None else "yes" if held else "no"
    if not isinstance(held, list):
        text = plain(str(held), lines=False)
        return text.replace("_", " ") if _KEY.fullmatch(text) else text
    items = [_words(item) for item in held]
    if len(items) > 2 and items in [_DAYS[a : a + len(items)] for a in range(len(_DAYS))]:
        return f"{items[0]} to {items[-1]}"
    if len(items) == 2 and all(_TIME.fullmatch(item) for item in items):
        return f"{items[0]} to {items[1]}"
    return (" " if items and all(item.endswith((".", "。")) for item in items) else ", ").join(items)


def moment_words(time: str) -> str:
    """A task's time as a person says it; what is no time stays as it is."""
    try:
        at = datetime.fromisoformat(time)
    except ValueError:
        return time
    return f"{at:%A} {at.day} {at:%B %Y}, {at:%H:%M}"


def name_words(key: Any) -> str:
    """A key of a profile as words."""
    return plain(str(key), lines=False).replace("_", " ")
