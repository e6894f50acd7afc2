"""Parse the filter of a table of runs, words and fields with values, into tests."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from lab.core.errors import LabError
from lab.core.plain_text import plain
from lab.core.suggestion import suggestion
from lab.runs.descriptions import status_words
from lab.runs.run_rows import Cost, RunEntry, agent_words

NONE = "none"
"""The value that matches unknown data."""
UNKNOWN = Cost()
_STATUSES = ("completed", "stopped", "failed", "budget", "open")
_TEXT: dict[str, Callable[[RunEntry], str]] = {
    "id": lambda it: it.run.id,
    "task": lambda it: f"{it.run.task}\n{it.run.title}",
    "agent": lambda it: "\n".join((*agent_words(it.run), it.agent)),
    "persona": lambda it: it.run.persona,
    "source": lambda it: it.run.source,
    "status": lambda it: f"{it.run.status}\n{status_words(it.run.status)}",
    "kind": lambda it: it.run.kind,
    "user": lambda it: it.run.user,
    "tag": lambda it: "\n".join(it.run.tags),
}
_NUMBERS: dict[str, Callable[[RunEntry, Cost], float | None]] = {
    "steps": lambda it, cost: it.run.steps,
    "asks": lambda it, cost: it.run.asks,
    "replies": lambda it, cost: it.run.replies,
    "attempt": lambda it, cost: it.run.attempt,
    "score": lambda it, cost: it.run.score,
    "tokens": lambda it, cost: cost.tokens,
    "cost": lambda it, cost: cost.dollars,
    "seconds": lambda it, cost: cost.seconds,
}
_ALIASES = {
    "model": "agent",
    "format": "source",
    "person": "user",
    "questions": "asks",
    "time": "seconds",
    "tags": "tag",
}
COSTLY = frozenset({"tokens", "cost", "seconds"})
"""Fields that require reading a run's steps."""
FIELDS = (*_TEXT, *_NUMBERS, "started")
_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ":": operator.eq, "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip
_WORD = re.compile(r'\s*(-?)(?:([A-Za-z_]+)(:|<=|>=|!=|<|>|=))?(?:"([^"]*)"?|([^\s"]*))')
Fits = Callable[[RunEntry, Cost], bool]


class RunFilter(NamedTuple):
    """A parsed filter. An empty one fits every run."""

    tests: tuple[Fits, ...] = ()
    costly: bool = False
    """True if it tests the cost of a run."""

    def fits(self, it: RunEntry, costs: Mapping[str, Cost]) -> bool:
        """Return True if a run passes every test. Unknown data passes only `none`."""
        cost = costs.get(it.run.id, UNKNOWN)
        return all(test(it, cost) for test in self.tests)


def read(text: str) -> RunFilter:
    """Parse words and `field:value` into tests that a run must all pass. `-` before one negates it.

    Raise `LabError` for an unknown field or value.
    """
    tests: list[Fits] = []
    costly, at = False, 0
    text = text.strip()
    while at < len(text):
        match = _WORD.match(text, at)
        if match is None or match.end() == at:
            # A stray character begins no word.
            at += 1  # a stray character that begins nothing
            continue
        at = match.end()
        minus, field, sign, quoted, bare = match.groups()
        value = quoted if quoted is not None else bare
        if not field and not value:
            continue
        test = _field_test(field, sign, value) if field else _word_test(value)
        costly |= bool(field) and _field_name(field) in COSTLY
        tests.append(_negate(test) if minus else test)
    return RunFilter(tuple(tests), costly)


def _field_test(field: str, sign: str, value: str) -> Fits:
    name = _field_name(field)
    if name not in FIELDS:
        problem = f"there is no field {plain(field)!r}; there are {', '.join(FIELDS)}{suggestion(field, FIELDS)}"
        raise LabError("Filter", problem, f'Put the words in quotes to look for them: "{plain(field)}{sign}..."')
    if name in _NUMBERS:
        return _number_test(name, sign, value)
    if name == "started":
        return _time_test(sign, value)
    return _text_test(name, sign, value)


def _field_name(field: str) -> str:
    return _ALIASES.get(field.casefold(), field.casefold())


def _word_test(value: str) -> Fits:
    needle = value.casefold()
    return lambda it, cost: needle in it.text


def _text_test(name: str, sign: str, value: str) -> Fits:
    if sign not in (":", "=", "!="):
        raise LabError("Filter", f"{name} is a word, which is no more or less; write {name}:{plain(value)}")
    of, needle = _TEXT[name], value.casefold()
    if name == "status" and needle and not any(needle in f"{s}\n{status_words(s)}" for s in _STATUSES):
        there = f"there are {', '.join(_STATUSES)}{suggestion(value, _STATUSES)}"
        raise LabError("Filter", f"there is no status {plain(value)!r}; {there}")
    if needle == NONE:
        test: Fits = lambda it, cost: not of(it).strip()  # noqa: E731
    elif sign == ":":
        test = lambda it, cost: needle in of(it).casefold()  # noqa: E731
    else:
        test = lambda it, cost: needle in of(it).casefold().split("\n")  # noqa: E731
    return _negate(test) if sign == "!=" else test


def _number_test(name: str, sign: str, value: str) -> Fits:
    of = _NUMBERS[name]
    if value.casefold() == NONE and sign in (":", "=", "!="):
        none_wanted = sign != "!="
        return lambda it, cost: (of(it, cost) is None) is none_wanted
    try:
        number = float(value)
        # NaN compares as false with every number.
        if number != number:
            raise ValueError
    except ValueError:
        problem = f"{plain(value)!r} is no number" if value else "a number is missing"
        raise LabError("Filter", f"{problem} after {name}{sign}", f"{name}:none finds what is not known.") from None
    compare = _SIGNS[sign]

    def test(it: RunEntry, cost: Cost) -> bool:
        measure = of(it, cost)
        return measure is not None and compare(measure, number)

    return test


def _time_test(sign: str, value: str) -> Fits:
    """Parse the prefix of a stored time, `2025-03` or `2025-03-04T10:00`, and compare as far as it goes."""
    if value.casefold() == NONE:
        return lambda it, cost: not it.run.started
    if not re.fullmatch(r"\d{4}(-\d\d(-\d\d(T\d\d(:\d\d)?)?)?)?", value):
        raise LabError("Filter", f"started{sign} is followed by a date (UTC), as 2025-03-04 or 2025-03")
    order = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (1, 0), "!=": (-1, 1)}.get(sign, (0,))

    def test(it: RunEntry, cost: Cost) -> bool:
        beginning = it.run.started[: len(value)]
        return bool(beginning) and (beginning > value) - (beginning < value) in order

    return test


def _negate(test: Fits) -> Fits:
    return lambda it, cost: not test(it, cost)
