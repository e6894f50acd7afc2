"""Parse the filter of a table of runs, words and fields with values, into tests."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from lab.core.errors import LabError
from lab.core.text.plain_text import plain
from lab.core.text.suggestion import suggestion
from lab.runs.descriptions import status_words
from lab.runs.listing.run_columns import FILTERED, UNKNOWN, Value
from lab.runs.listing.run_rows import Cost, RunEntry

NONE = "none"
"""The value that matches unknown data."""
_STATUSES = ("completed", "stopped", "failed", "budget", "open")
FIELDS = tuple(dict.fromkeys(column.filters[0] for column in FILTERED.values()))
"""Fields of a filter, without their other words."""
_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ":": operator.eq, "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip
_WORD = re.compile(r'\s*(-?)(?:([A-Za-z_]+)(:|<=|>=|!=|<|>|=))?(?:"([^"]*)"?|([^\s"]*))')
Fits = Callable[[RunEntry, Cost], bool]


class RunFilter(NamedTuple):
    """A parsed filter. An empty one fits every run."""

    tests: tuple[Fits, ...] = ()
    needs_costs: bool = False
    """True if it tests the cost of a run."""

    def fits(self, entry: RunEntry, costs: Mapping[str, Cost]) -> bool:
        """Return True if a run passes every test. Unknown data passes only `none`."""
        cost = costs.get(entry.run.id, UNKNOWN)
        return all(test(entry, cost) for test in self.tests)


def parse_filter(text: str) -> RunFilter:
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
        costly |= bool(field) and FILTERED[field.casefold()].costly
        tests.append(_negate(test) if minus else test)
    return RunFilter(tuple(tests), costly)


def _field_test(field: str, sign: str, value: str) -> Fits:
    column = FILTERED.get(field.casefold())
    if column is None:
        problem = f"there is no field {plain(field)!r}; there are {', '.join(FIELDS)}{suggestion(field, FIELDS)}"
        raise LabError("Filter", problem, f'Put the words in quotes to look for them: "{plain(field)}{sign}..."')
    name = column.filters[0]
    if column.text is not None:
        return _text_test(name, column.text, sign, value)
    return _time_test(sign, value) if column.is_time else _number_test(name, column.value, sign, value)


def _word_test(value: str) -> Fits:
    needle = value.casefold()
    return lambda entry, cost: needle in entry.text


def _text_test(name: str, text_of: Callable[[RunEntry], str], sign: str, value: str) -> Fits:
    if sign not in (":", "=", "!="):
        raise LabError("Filter", f"{name} is a word, which is no more or less; write {name}:{plain(value)}")
    needle = value.casefold()
    if name == "status" and needle and not any(needle in f"{s}\n{status_words(s)}" for s in _STATUSES):
        known = f"there are {', '.join(_STATUSES)}{suggestion(value, _STATUSES)}"
        raise LabError("Filter", f"there is no status {plain(value)!r}; {known}")
    if needle == NONE:
        test: Fits = lambda entry, cost: not text_of(entry).strip()  # noqa: E731
    elif sign == ":":
        test = lambda entry, cost: needle in text_of(entry).casefold()  # noqa: E731
    else:
        test = lambda entry, cost: needle in text_of(entry).casefold().split("\n")  # noqa: E731
    return _negate(test) if sign == "!=" else test


def _number_test(name: str, number_of: Value, sign: str, value: str) -> Fits:
    if value.casefold() == NONE and sign in (":", "=", "!="):
        none_wanted = sign != "!="
        return lambda entry, cost: (number_of(entry, cost) is None) is none_wanted
    try:
        number = float(value)
        # NaN compares as false with every number.
        if number != number:
            raise ValueError
    except ValueError:
        problem = f"{plain(value)!r} is no number" if value else "a number is missing"
        raise LabError("Filter", f"{problem} after {name}{sign}", f"{name}:none finds what is not known.") from None
    compare = _SIGNS[sign]

    def test(entry: RunEntry, cost: Cost) -> bool:
        measure = number_of(entry, cost)
        return measure is not None and compare(measure, number)

    return test


def _time_test(sign: str, value: str) -> Fits:
    """Parse the prefix of a stored time, `2025-03` or `2025-03-04T10:00`, and compare as far as it goes."""
    if value.casefold() == NONE:
        return lambda entry, cost: not entry.run.started
    if not re.fullmatch(r"\d{4}(-\d\d(-\d\d(T\d\d(:\d\d)?)?)?)?", value):
        raise LabError("Filter", f"started{sign} is followed by a date (UTC), as 2025-03-04 or 2025-03")
    order = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (1, 0), "!=": (-1, 1)}.get(sign, (0,))

    def test(entry: RunEntry, cost: Cost) -> bool:
        beginning = entry.run.started[: len(value)]
        return bool(beginning) and (beginning > value) - (beginning < value) in order

    return test


def _negate(test: Fits) -> Fits:
    return lambda entry, cost: not test(entry, cost)
