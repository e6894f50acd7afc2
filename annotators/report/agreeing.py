"""How far raters agree: every statistic of every question, pairs of raters, and which answers came together."""

from __future__ import annotations

from collections.abc import Sequence

from annotators.agreement.agreements import agreements, by_pairs, confusion
from annotators.report.asked import share_words
from annotators.studied import Studied
from lab.agreement import Agreement, words
from lab.protocol import Field
from lab.report import Bars, Cell, Grid, Number, Picture, Section, Table

_SHARES = ("percent", "accuracy", "share", "exact", "within", "centre")
"""What statistics begin with that are told as percentages."""
_CHANCE = ("kappa", "alpha", " pi", "ac1", "ac2", "brennan")
"""What the names of statistics hold to which Landis and Koch's words are given."""
_GRIDS = ("nominal", "ordinal", "flag")
_PEOPLE = "people"


def sections(studied: Studied) -> list[Section]:
    """Agreement of people; of judges with them; of pairs, with grids."""
    found = agreements(studied)
    among = [one for one in found if one.between == _PEOPLE]
    others = [one for one in found if one.between != _PEOPLE]
    out = [Section("Agreement between people", _says(studied, among), tuple(_tables(studied, among, "people")))]
    if others:
        out.append(Section("Judges, repeats and single raters", tables=tuple(_tables(studied, others, "others"))))
    pictures = _pairs(studied)
    if pictures:
        out.append(Section("Pairs of raters, and which answers came together", pictures=tuple(pictures)))
    return out


def number_of(one: Agreement, digits: int = 3) -> Number:
    """A number as general tables print it: shares as percentages, all else with three digits."""
    if one.statistic.lower().startswith(_SHARES):
        return Number(one, 1, 100, " %")
    return Number(one, digits)


def in_words(one: Agreement) -> str:
    """Landis and Koch's words of a coefficient's interval; empty for what they are not meant for."""
    return words(one) if any(part in one.statistic.lower() for part in _CHANCE) else ""


def _says(studied: Studied, found: Sequence[Agreement]) -> tuple[str, ...]:
    if not studied.columns.size:
        return ("There is no answer yet, so nothing can agree.",)
    if len(studied.people) < 2:
        return ("Fewer than two people have answered: agreement between people is not defined.",)
    return (
        "Intervals are clustered: answers in one run (or whatever a unit names as its cluster) are not independent. "
        "Landis and Koch's words are of both ends of an interval.",
    ) if any(one.value is not None for one in found) else ()  # fmt: skip


def _tables(studied: Studied, found: Sequence[Agreement], id: str) -> list[Table]:
    """A table for each question and each two that are compared, in the order in which they come."""
    groups: dict[tuple[str, str], list[Agreement]] = {}
    for one in found:
        groups.setdefault((one.between, one.field), []).append(one)
    return [
        Table(
            f"{id}-{at}",
            field if between == _PEOPLE else f"{field}: {between}",
            ("Statistic", "Value", "In words", "Items", "Clusters", "Raters", "Missing"),
            tuple(_row(one) for one in some),
            notes=tuple(_why(some)),
        )
        for at, ((between, field), some) in enumerate(groups.items(), 1)
    ]


def _row(one: Agreement) -> tuple[Cell, ...]:
    return (
        f"{one.statistic}, {one.part}" if one.part else one.statistic,
        number_of(one), in_words(one), f"{one.places:,}", f"{one.traces:,}", f"{one.raters}", share_words(one.missing),
    )  # fmt: skip


def _why(some: Sequence[Agreement]) -> list[str]:
    """Why values of a table have no interval, each reason once."""
    reasons: dict[str, list[str]] = {}
    for one in some:
        if one.value is not None and one.no_interval:
            name = f"{one.statistic}, {one.part}" if one.part else one.statistic
            reasons.setdefault(one.no_interval, []).append(name)
    return [f"No interval for {', '.join(names)}: {reason}." for reason, names in reasons.items()]


def _pairs(studied: Studied) -> list[Picture]:
    out: list[Picture] = []
    if len(studied.people) < 2:
        return out
    for field in studied.study.protocol.fields:
        out += _bars(studied, field)
        if field.kind in _GRIDS:
            out += _grids(studied, field)
    return out


def _bars(studied: Studied, field: Field) -> list[Bars]:
    by_statistic: dict[str, list[Agreement]] = {}
    for one in by_pairs(studied, field.id):
        by_statistic.setdefault(one.statistic, []).append(one)
    return [
        Bars(
            f"pairs-{field.id}-{at}", f"{field.id}: {statistic} by pair of raters", tuple(some),
            tuple(one.between for one in some), least=least_of(some),
        )
        for at, (statistic, some) in enumerate(by_statistic.items(), 1)
    ]  # fmt: skip


def least_of(some: Sequence[Agreement]) -> float:
    """Where a scale begins: at 0, or at -1 where anything reaches below it."""
    ends = [end for one in some for end in (one.value, one.low) if end is not None]
    return -1.0 if any(end < 0 for end in ends) else 0.0


def _grids(studied: Studied, field: Field) -> list[Grid]:
    grids = [confusion(studied, field.id)]
    for judge in studied.judges:
        grids.append(confusion(studied, field.id, "truth", studied.columns.raters[judge].id))
    return [grid for grid in grids if any(map(any, grid.counts))]
