"""Looking things up: where a kind of fact stands, and how what was found is written to someone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lab.agents.doing import Doing, GiveUp
from lab.agents.goals import Fact
from lab.agents.reading import shown_time
from lab.agents.talk import Work

Look = Callable[[Work, Fact], Doing[str | int]]
"""Reads one fact on the phone; a time of day as minutes."""


def look_up(work: Work, fact: Fact) -> Doing[str | int]:
    """A fact, read once in a run; what its name hangs on is read before."""
    looks: Mapping[str, Look] = work.looks
    if fact.kind not in looks:
        raise GiveUp(f"I do not know where to look up {fact.name}")
    if fact.of is not None:
        name = yield from look_up(work, fact.of)
        fact = fact._replace(name=shown_time(name) if isinstance(name, int) else name, of=None)
    return (yield from work.once(fact, looks[fact.kind](work, fact)))


def told(work: Work, facts: Sequence[Fact]) -> Doing[str]:
    """Several facts in words, one line each, as one would write them to someone."""
    lines = []
    for fact in facts:
        found = yield from look_up(work, fact)
        lines.append(shown_time(found) if isinstance(found, int) else found)
    return "\n".join(lines)
