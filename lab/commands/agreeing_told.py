"""What `hitlab agreement` prints, as a shape and for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import msgspec

from lab.agreement import Agreement, How, is_share, words
from lab.output import say
from lab.rounded import rounded
from lab.tables import print_table

_CORRECTED = ("kappa", "alpha", "ac1", "ac2")
"""What the names of those hold that Landis and Koch's words are about."""


class StudyAgreement(msgspec.Struct, frozen=True):
    """How far a study's raters agree: `agreement`. `sha` is the frozen plan's, `how` how intervals are made."""

    study: str
    version: int
    title: str
    protocol: str
    locked: bool
    sha: str
    how: How
    agreements: tuple[Agreement, ...]


def tell_agreement(told: StudyAgreement, shown: Mapping[str, str]) -> None:
    """A table for each question, part of its items and whose answers are compared; `shown` are questions in words."""
    say(f"{told.study} v{told.version}: {told.title}{'   locked' if told.locked else ''}")
    if not told.agreements:
        say("Nothing that is asked in it can be compared.")
        return
    if any(one.low is not None for one in told.agreements):
        say(_ways(told.how, told.agreements[0].clusters))
    if any(one.planned and one.value is not None for one in told.agreements):
        say("A star marks what was planned.")
    for (field, part, between), group in groupby(told.agreements, lambda one: (one.field, one.part, one.between)):
        numbers = list(group)
        say("")
        say(" · ".join(filter(None, (shown.get(field, field), part, between))))
        for n_words, some in groupby(numbers, _n):
            _tell(n_words, list(some))


def _tell(n_words: str, numbers: Sequence[Agreement]) -> None:
    if all(one.value is None and one.statistic == "agreement" for one in numbers):
        for why in dict.fromkeys(one.undefined for one in numbers):
            say(f"  no number: {why}")
        if numbers[0].reasons:
            say(f"  {_missing(numbers[0])}")
        return
    say(f"  {n_words}")
    print_table(
        ["  statistic", "value", "interval", "in words"],
        [
            [f"  {one.statistic}{' *' if one.planned else ''}", _value(one), _interval(one), _said(one)]
            for one in numbers
        ],
        wide="in words",
    )


def _ways(how: How, one: str) -> str:
    share = f"{how.level * 100:g} %"
    if how.interval == "bootstrap":
        return f"{share} intervals from {how.resamples:,} resamples of {one}s, seed {how.seed}."
    made = f"{share} intervals by leaving out one {one} after another (jackknife-t, freed of skewness)."
    return f"{made} Of a share of one item a {one}: Wilson's."


def _n(one: Agreement) -> str:
    """The n of a number, as a line of words."""
    parts = [
        f"{one.places:,} item{'' if one.places == 1 else 's'}",
        f"{one.traces:,} {one.clusters}{'' if one.traces == 1 else 's'}",
        f"{one.raters:,} rater{'' if one.raters == 1 else 's'}",
    ]  # fmt: skip
    return f"n: {', '.join(parts)}; {_missing(one) if one.missing or one.reasons else 'none missing'}"


def _missing(one: Agreement) -> str:
    """The share of answers that are missing, and why."""
    why = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in one.reasons.items())
    return f"{rounded(one.missing, 1, 100)} % missing" + (f" ({why})" if why else "")


def _value(one: Agreement) -> str:
    return "undefined" if one.value is None else _number(one, one.value)


def _interval(one: Agreement) -> str:
    if one.low is None or one.high is None:
        return "-"
    return f"{_number(one, one.low)} to {_number(one, one.high)}"


def _number(one: Agreement, value: float) -> str:
    return f"{rounded(value, 1, 100)} %" if is_share(one) else rounded(value, 3)


def _said(one: Agreement) -> str:
    """Why there is no value or no interval; else Landis and Koch's words, where they mean something."""
    if one.value is None:
        return one.undefined
    if one.low is None:
        return f"no interval: {one.no_interval}"
    corrected = any(name in one.statistic for name in _CORRECTED) and " minus " not in one.between
    return words(one) if corrected else ""
