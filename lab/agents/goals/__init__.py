"""What is wanted of a phone, read from an instruction; and what was done on one, read from a line of the log."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from lab.agents.goals import (
    buying,
    device,
    food,
    going,
    journey,
    keeping,
    levels,
    mail,
    people,
    pictures,
    planning,
    social,
    team,
    writing,
)
from lab.agents.goals.deciding import Either, fork_in
from lab.agents.goals.device import Alarm, Switch
from lab.agents.goals.food import Order, remark_in
from lab.agents.goals.nouns import Clause, Condition, Fact, Goal, Grammar, Source, content_of, hint_of
from lab.agents.goals.phases import PHASES, Phase, phase_in
from lab.agents.goals.writing import Send, Write
from lab.agents.reading import is_quoted

__all__ = [
    "PHASES", "Alarm", "Clause", "Condition", "Either", "Fact", "Goal", "Grammar", "Order", "Phase", "Send", "Source",
    "Switch", "Tell", "Write", "asked_in", "fact_in", "goals_in", "phase_in", "remark_in",
]  # fmt: skip

GRAMMARS: tuple[Grammar, ...] = (
    keeping.GRAMMAR, device.GRAMMAR, pictures.GRAMMAR, planning.GRAMMAR, people.GRAMMAR, levels.GRAMMAR, mail.GRAMMAR,
    team.GRAMMAR, social.GRAMMAR, writing.GRAMMAR, buying.GRAMMAR, food.GRAMMAR, journey.GRAMMAR, going.GRAMMAR,
)  # fmt: skip
"""Every family of goals; where two verbs fit at one place, the family named first reads it."""

SOURCES: tuple[Source, ...] = tuple(source for grammar in GRAMMARS for source in grammar.sources)
_VERBS = {name: verb for grammar in GRAMMARS for name, verb in grammar.verbs.items()}
_HEAD = (
    r"(?:^|(?<=[.;!?:,，。、])\s*|\b(?:and|then|please|to|also|you|she|he|they|I)\s+"
    r"|\b(?:and|then|also),?\s+(?:she|he|they|I)\s+|[请帮我]+)"
)
_START = re.compile(
    _HEAD + "(?P<verb>" + "|".join(f"(?P<{name}>{verb})" for name, (verb, _) in _VERBS.items()) + ")", re.IGNORECASE
)


class Tell(NamedTuple):
    """Something that is only asked."""

    fact: Fact

    @property
    def key(self) -> tuple[object, ...]:
        return ("tell", self.fact)

    @property
    def definite(self) -> bool:
        return False

    def said(self) -> str:
        return f"look up {self.fact.what} in {self.fact.name}"


@functools.lru_cache(maxsize=4096)
def goals_in(text: str) -> tuple[Goal, ...]:
    """What a text asks for (or tells of), in its order; the facts that it points at are looked for in all of it."""
    return _goals(text, text)


def _goals(part: str, text: str) -> tuple[Goal, ...]:
    fork = fork_in(part)
    condition = condition_in(fork.ask) if fork is not None else None
    if fork is None or condition is None:
        return _plain(part, text)
    either = Either(condition, _goals(fork.then, text), _goals(fork.otherwise, text))
    return (*_goals(fork.before, text), either, *_goals(fork.after, text))


def _plain(part: str, text: str) -> tuple[Goal, ...]:
    starts = [m for m in _START.finditer(part) if not is_quoted(part, m.start("verb"))]
    goals: list[Goal] = []
    for number, m in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(part)
        kind = next(k for k in _VERBS if m[k] is not None)
        read = _VERBS[kind][1](Clause(part[m.start("verb") : end], text, SOURCES))
        goals += [goal for goal in read if goal not in goals]
    return tuple(goals)


def condition_in(text: str) -> Condition | None:
    """What an `if` asks."""
    every = (read for grammar in GRAMMARS for read in grammar.conditions)
    return next((found for read in every if (found := read(text)) is not None), None)


def asked_in(text: str) -> Tell | None:
    """What a question asks to be looked up; None where it is no question, or says nothing of where it stands."""
    if not re.match(r"\W*(when|what|which|how|who|where|tell me|look up|find out|read)\b|.*\?\s*$", text, re.I | re.S):
        return None
    what = content_of(text)
    if what == "all" and re.search(r"\bwhen\b|\bwhat time\b", text, re.IGNORECASE):
        what = f"time {hint_of(text)}".strip()
    fact = fact_in(text, what)
    return Tell(fact) if fact else None


def fact_in(text: str, what: str) -> Fact | None:
    """Where a text says that something is to be read."""
    return Clause(text, text, SOURCES).fact(what)
