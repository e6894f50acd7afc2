"""Goals that hang on what is found: if this is so do one thing, otherwise another; they may stand in one another."""

from __future__ import annotations

import re
from typing import NamedTuple

from lab.agents.goals.nouns import Condition, Goal
from lab.agents.reading import hushed


class Either(NamedTuple):
    """One of two lists of goals, as a condition holds or not."""

    condition: Condition
    then: tuple[Goal, ...]
    otherwise: tuple[Goal, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        return ("either", self.condition)

    @property
    def definite(self) -> bool:
        return False

    def said(self) -> str:
        return f"see whether {self.condition.said()}"


class Fork(NamedTuple):
    """A sentence with an `if`, cut into its parts: what is asked, what follows, and what follows otherwise."""

    before: str
    ask: str
    then: str
    otherwise: str
    after: str


_IF = re.compile(r"(?:^|(?<=[.;!?:]\s)|(?<=, ))if\s+(?P<ask>.+?)(?:,\s*(?:then\s+)?|:\s+)", re.IGNORECASE | re.DOTALL)
_ELSE = r"(?:otherwise|if not|or else|else)\b[,:]?\s*"


def fork_in(text: str) -> Fork | None:
    """The outermost `if` of a text.

    What follows an `if` and its `otherwise` is one sentence each; inside a sentence an `if` is cut at semicolons.
    """
    plain = hushed(text)
    found = _IF.search(plain)
    if found is None:
        return None
    start = found.end()
    nested = re.search(rf"[.!?]\s+{_ELSE}", plain[start:], re.IGNORECASE)
    then, after = _end(plain, start, r"(?<=[.!?])\s+" if nested else r";\s*|(?<=[.!?])\s+")
    turn = re.compile(_ELSE, re.IGNORECASE).match(plain, after)
    otherwise, rest = _end(plain, turn.end(), r"(?<=[.!?])\s+") if turn else (after, after)
    return Fork(
        text[: found.start()],
        text[slice(*found.span("ask"))].strip(),
        text[start:then],
        text[turn.end() if turn else after : otherwise],
        text[rest:],
    )


def _end(text: str, start: int, ends: str) -> tuple[int, int]:
    """Where a sentence that begins at `start` ends, and where the next one begins."""
    found = re.compile(ends).search(text, start)
    return found.span() if found else (len(text), len(text))
