"""Selection and order of a study's coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Literal, NamedTuple

from lab.core.study.agreement import Agreement, is_share

Whose = Literal["people", "judges"]
PEOPLE = "people"
AGAINST, MINUS, RUNS = " against ", " minus ", "'s runs"
"""Parts of a number's `between` that show that judges are in it."""
_OWN_UNIT = ("mae", "mse", "mean absolute", "mean squared", "difference")
"""Words of statistics in the field's own unit, which have no place on a scale to 1."""


class NumberFilter(NamedTuple):
    """Selected numbers. `part` and `statistic` select one of several, empty for all."""

    group: Whose = "people"
    part: str = ""
    statistic: str = ""


def of_people(one: Agreement) -> bool:
    """Return True if a number is about people alone, without a model or a script."""
    return not any(word in one.between for word in (AGAINST, MINUS)) and not one.between.endswith(RUNS)


def filtered(agreements: Sequence[Agreement], view: NumberFilter) -> list[Agreement]:
    """Return the numbers that match a filter, in order. Those of one statistic are together."""
    return [
        agreement
        for agreement in agreements
        if of_people(agreement) is (view.group == "people")
        and (not view.part or not agreement.part or view.part in parts_of(agreement))
        and (not view.statistic or agreement.statistic == view.statistic)
    ]


def parts_of(one: Agreement) -> list[str]:
    """Return the words of a number's part."""
    return [word.strip() for word in one.part.split(",") if word.strip()]


def parts(agreements: Sequence[Agreement]) -> list[str]:
    """Return every word of a part, in order."""
    return list(dict.fromkeys(word for agreement in agreements for word in parts_of(agreement)))


def statistics(agreements: Sequence[Agreement], view: NumberFilter) -> list[str]:
    """Return every statistic that the filter leaves to choose from, in order."""
    return list(dict.fromkeys(agreement.statistic for agreement in filtered(agreements, view._replace(statistic=""))))


def on_scale(agreement: Agreement) -> bool:
    """Return True if a number is on the common scale from -1 to 1. Its interval may exceed it."""
    statistic = agreement.statistic.casefold()
    if any(word in statistic for word in _OWN_UNIT):
        return False
    # 1e-9 allows for rounding.
    return agreement.value is None or -1.0 <= agreement.value <= 1.0 + 1e-9


def ends_of(agreements: Sequence[Agreement]) -> tuple[float, float]:
    """Return the ends of the common scale: 0 to 1, or lower if a value or an interval is negative.

    An interval below 0 moves the lower end to -0.25, a value as far as needed. Longer intervals end in an arrow,
    because one wide interval must not flatten all others.
    """
    some = [agreement for agreement in agreements if on_scale(agreement) and agreement.value is not None]
    lowest = min((agreement.value for agreement in some if agreement.value is not None), default=0.0)
    crossing = any(agreement.low is not None and agreement.low < 0 for agreement in some)
    return min(-0.25 if crossing else 0.0, floor(lowest * 4) / 4), 1.0


def is_percent(one: Agreement) -> bool:
    """Return True for percent agreement, pair by pair."""
    return one.statistic.casefold() == "percent"


def raters_of(agreement: Agreement) -> tuple[str, str]:
    """Return the two sides of this number's grid: two raters, the truth and a judge, or both empty for all pairs."""
    judge, against, _ = agreement.between.partition(AGAINST)
    if against:
        return "truth", judge
    if agreement.between.endswith(RUNS):
        return "truth", agreement.between.removesuffix(RUNS)
    for word in (MINUS, " and "):
        left, both, right = agreement.between.partition(word)
        if both:
            return left, right
    return "", ""


def of_same_answers(agreements: Sequence[Agreement], agreement: Agreement) -> list[Agreement]:
    """Return all numbers about people's answers to the same field and part."""
    return [
        other
        for other in agreements
        if (other.field, other.part, other.between) == (agreement.field, agreement.part, PEOPLE)
    ]


def pooled_number(agreements: Sequence[Agreement], like: str) -> Agreement:
    """Return the number that pairs are compared with.

    It is of the same kind (any kappa for a kappa), else any coefficient, else any number.
    """
    word = like.rpartition(" ")[2]
    alike = [agreement for agreement in agreements if agreement.statistic.rpartition(" ")[2] == word]
    return next(iter([*alike, *(agreement for agreement in agreements if not is_share(agreement)), *agreements]))


def judge_name(between: str) -> str:
    """Return `between` for a column: only a judge's name if it is compared with most people."""
    return between.removesuffix(f"{AGAINST}most people")


def same_number(agreements: Sequence[Agreement], agreement: Agreement) -> list[Agreement]:
    """Return the lines of one field, part and statistic: the same number for each judge."""
    return [
        other
        for other in agreements
        if (other.field, other.part, other.statistic) == (agreement.field, agreement.part, agreement.statistic)
    ]
