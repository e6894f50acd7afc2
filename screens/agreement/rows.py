"""Which of a study's numbers are shown, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Literal, NamedTuple

from lab.core.agreement import Agreement, is_share

Whose = Literal["people", "judges"]
PEOPLE = "people"
AGAINST, MINUS, RUNS = " against ", " minus ", "'s runs"
"""What tells in a number's `between` that judges are in it."""
_OWN_UNIT = ("mae", "mse", "mean absolute", "mean squared", "difference")
"""Words of statistics that are in the field's own unit, and stand on no scale to 1."""


class NumberFilter(NamedTuple):
    """What is chosen to be seen: `part` and `statistic` are one of several, empty for all."""

    whose: Whose = "people"
    part: str = ""
    statistic: str = ""


def of_people(one: Agreement) -> bool:
    """Whether a number is about people alone, and not about a model or script beside them."""
    return not any(word in one.between for word in (AGAINST, MINUS)) and not one.between.endswith(RUNS)


def shown(agreements: Sequence[Agreement], view: NumberFilter) -> list[Agreement]:
    """The numbers that fit a view, in their order; those of one statistic stand together."""
    return [
        agreement
        for agreement in agreements
        if of_people(agreement) is (view.whose == "people")
        and (not view.part or not agreement.part or view.part in parts_of(agreement))
        and (not view.statistic or agreement.statistic == view.statistic)
    ]


def parts_of(one: Agreement) -> list[str]:
    """The words of a number's part."""
    return [word.strip() for word in one.part.split(",") if word.strip()]


def parts(agreements: Sequence[Agreement]) -> list[str]:
    """Every word of a part there is, in their order."""
    return list(dict.fromkeys(word for agreement in agreements for word in parts_of(agreement)))


def statistics(agreements: Sequence[Agreement], view: NumberFilter) -> list[str]:
    """Every statistic of those that are chosen from, in their order."""
    return list(dict.fromkeys(agreement.statistic for agreement in shown(agreements, view._replace(statistic=""))))


def on_scale(agreement: Agreement) -> bool:
    """Whether a number stands on the common scale from -1 to 1; its interval may reach beyond."""
    statistic = agreement.statistic.casefold()
    if any(word in statistic for word in _OWN_UNIT):
        return False
    return agreement.value is None or -1.0 <= agreement.value <= 1.0 + 1e-9


def ends_of(agreements: Sequence[Agreement]) -> tuple[float, float]:
    """The common scale: from 0 to 1; from a quarter below where an interval is there, or as far as a value lies.

    An interval that reaches further has an arrow for its end: one wide one must not flatten all the others.
    """
    some = [agreement for agreement in agreements if on_scale(agreement) and agreement.value is not None]
    lowest = min((agreement.value for agreement in some if agreement.value is not None), default=0.0)
    crossing = any(agreement.low is not None and agreement.low < 0 for agreement in some)
    return min(-0.25 if crossing else 0.0, floor(lowest * 4) / 4), 1.0


def is_percent(one: Agreement) -> bool:
    """Whether a number is the plain share of answers that are the same, pair by pair."""
    return one.statistic.casefold() == "percent"


def raters_of(agreement: Agreement) -> tuple[str, str]:
    """Whose answers a grid of this number is of: two raters, the truth and a judge, or all pairs (both empty)."""
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


def beside(agreements: Sequence[Agreement], agreement: Agreement) -> list[Agreement]:
    """All numbers about the same answers of the people: of this field and part."""
    return [
        other
        for other in agreements
        if (other.field, other.part, other.between) == (agreement.field, agreement.part, PEOPLE)
    ]


def chief(agreements: Sequence[Agreement], like: str) -> Agreement:
    """The one of these that pairs are held against: kappa where theirs is one, else the same statistic, else any."""
    word = like.rpartition(" ")[2]
    alike = [agreement for agreement in agreements if agreement.statistic.rpartition(" ")[2] == word]
    return next(iter([*alike, *(agreement for agreement in agreements if not is_share(agreement)), *agreements]))


def short(between: str) -> str:
    """Whose answers, in a column: a judge's name alone, where it stands against most people."""
    return between.removesuffix(f"{AGAINST}most people")


def same_number(agreements: Sequence[Agreement], agreement: Agreement) -> list[Agreement]:
    """The lines of one field, part and statistic: the same number for each judge."""
    return [
        other
        for other in agreements
        if (other.field, other.part, other.statistic) == (agreement.field, agreement.part, agreement.statistic)
    ]
