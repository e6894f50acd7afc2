"""A persona's facts and a task's time, as lines that a person reads."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from lab.plain import plain


def outline(value: dict[str, Any], depth: int = 0) -> Iterator[tuple[int, str, str]]:
    """Depth, name and value of each line; what holds more has no value of its own."""
    stack: list[tuple[int, str, Any]] = [(depth, name_words(k), v) for k, v in reversed(value.items())]
    while stack:
        level, name, held = stack.pop()
        if isinstance(held, dict) and held:
            yield level, name, ""
            stack.extend((level + 1, name_words(k), v) for k, v in reversed(held.items()))
        elif isinstance(held, list) and any(isinstance(item, dict | list) for item in held):
            yield level, name, ""
            stack.extend((level + 1, f"{n}", v) for n, v in reversed(list(enumerate(held, 1))))
        elif isinstance(held, list):
            yield level, name, ", ".join(plain(str(item), lines=False) for item in held)
        else:
            yield level, name, plain(str(held), lines=False)


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
