"""Goals that hang on what is found: if this is so do one thing, otherwise another; they may stand in one another."""

from __future__ import annotations

import re
from typing import NamedTuple

from lab.agents.goals.nouns import Condition, Goal


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
    found = _IF.search(text)
    if found is None:
        return None
    rest = text[found.end() :]
    end = r"(?<=[.!?])\s+" if re.search(rf"[.!?]\s+{_ELSE}", rest, re.IGNORECASE) else r";\s*|(?<=[.!?])\s+"
    then, _, tail = _parted(rest, end)
    otherwise = ""
    turn = re.match(_ELSE, tail, re.IGNORECASE)
    if turn:
        otherwise, _, tail = _parted(tail[turn.end() :], r"(?<=[.!?])\s+")
    return Fork(text[: found.start()], found["ask"].strip(), then, otherwise, tail)


def _parted(text: str, ends: str) -> tuple[str, str, str]:
    found = re.search(ends, text)
    return (text[: found.start()], found[0], text[found.end() :]) if found else (text, "", "")
