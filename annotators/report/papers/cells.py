"""The numbers in tables: a statistic with its interval and its n, made into a cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from annotators.agreement.additive import Additive, Estimate
from annotators.agreement.intervals import estimate, wilson
from annotators.agreement.made import planned
from annotators.agreement.numbers import mean
from annotators.agreement.ratings import Numbers, Ratings
from annotators.report.papers.said import how_many_answered
from annotators.studied import Studied
from lab.agreement import Agreement, How
from lab.report import Bars, Number, Table

FEW = 20
"""With fewer runs than this a table says that it describes them, and little more."""
COUNTED = "counted, not estimated"
_EMPTY = "nothing to take it from"


class Item(NamedTuple):
    """One value of a unit, and the cluster that its unit belongs to."""

    unit: str
    cluster: str
    value: float


def coefficient(
    studied: Studied, one: Additive, of: Ratings | Numbers, *, part: str = "", between: str = "people", least: int = 2
) -> Agreement:
    """A coefficient with its interval; places with `least` answers are its n."""
    found = estimate(one, studied.how)
    there = of.codes >= 0 if isinstance(of, Ratings) else ~np.isnan(of.values)
    rows = np.flatnonzero(there.sum(axis=1) >= least) if there.size else np.zeros(0, dtype=np.int64)
    given, lacking = int(there.sum()), sum(of.reasons.values())
    how, name = studied.how, statistic_of(one.name)
    told, made = found.low is not None, found.interval or how.interval
    booted = told and made == "bootstrap"
    return Agreement(
        of.field, name, found.value, found.undefined, part, between, found.low, found.high, found.no_interval,
        made if told else "", how.level, how.resamples if booted else None, how.seed if booted else None,
        planned=planned(studied, name, between),
        places=len(rows),
        units=len({of.places[row].unit for row in rows}),
        traces=len({int(of.trace[row]) for row in rows}),
        raters=int(there[rows].any(axis=0).sum()) if len(rows) else 0,
        missing=lacking / (given + lacking) if given + lacking else 0.0,
        reasons=dict(of.reasons),
        standard_error=found.standard_error,
    )  # fmt: skip


def statistic_of(name: str) -> str:
    """What numbers call a coefficient that functions call `name`: gwet_ac is ac1, icc_A,1 is icc(A,1)."""
    if name.startswith("icc_"):
        return f"icc({name[4:]})"
    return {"gwet_ac": "ac1"}.get(name, name.removeprefix("krippendorff_").replace("_", " "))


def average(
    studied: Studied,
    items: Iterable[Item],
    field: str,
    statistic: str,
    *,
    most: float | None = None,
    least: float | None = None,
    part: str = "",
    between: str = "people",
    raters: int | None = None,
    why: str = "",
    how: How | None = None,
) -> Agreement:
    """The mean of values with its interval over clusters, which lie from `least` to `most` (0 to 1 for a share).

    `why` is told where there are none; `raters` are all people who answered that field where nothing else is said, and
    `how` is the report's.
    """
    values = sorted(items)
    if not values:
        return lacking(field, statistic, why or _EMPTY, part=part, between=between)
    clusters = tuple(sorted({one.cluster for one in values}))
    place = {cluster: i for i, cluster in enumerate(clusters)}
    trace = np.array([place[one.cluster] for one in values], dtype=np.int32)
    column = np.array([one.value for one in values], dtype=np.float64)
    one = mean(column, trace, len(clusters), statistic, most)
    how = how or studied.how
    found = estimate(one if least is None else one._replace(least=least), how)
    told, made = found.low is not None, found.interval or how.interval
    booted = told and made == "bootstrap"
    return Agreement(
        field, statistic, found.value, found.undefined, part, between, found.low, found.high, found.no_interval,
        made if told else "", how.level, how.resamples if booted else None, how.seed if booted else None,
        places=len(values), units=len({one.unit for one in values}), traces=len(clusters),
        raters=_raters(studied, field, raters),
        standard_error=found.standard_error,
    )  # fmt: skip


def share(
    studied: Studied, items: Iterable[Item], field: str, statistic: str = "share", *, part: str = "",
    between: str = "people", raters: int | None = None, why: str = "",
) -> Agreement:  # fmt: skip
    """The share of ones among zeros and ones, its interval over clusters.

    Where every cluster has one of them, each stands for itself, and the interval is Wilson's: of few that are nearly
    all the same the jackknife's reaches much too far. Values between them (a tie that counts half) are averaged.
    """
    items = sorted(items)
    if items and len({one.cluster for one in items}) == len(items):
        right = sum(one.value for one in items)
        if {one.value for one in items} <= {0.0, 1.0}:
            return of_all(studied, int(right), len(items), field, statistic, part=part, raters=raters, between=between)
    return average(studied, items, field, statistic, most=1.0, part=part, between=between, raters=raters, why=why)


def of_all(
    studied: Studied, right: int, of: int, field: str, statistic: str = "share", *, part: str = "",
    raters: int | None = None, why: str = "", between: str = "people",
) -> Agreement:  # fmt: skip
    """A share of things that each stand for themselves, with Wilson's interval."""
    if not of:
        return lacking(field, statistic, why or _EMPTY, part=part, between=between)
    low, high = wilson(right, of, studied.how.level)
    return Agreement(
        field, statistic, right / of, part=part, between=between, low=low, high=high, interval="wilson",
        level=studied.how.level, places=of, units=of, traces=of, raters=_raters(studied, field, raters),
    )  # fmt: skip


def _raters(studied: Studied, field: str, known: int | None) -> int:
    """How many people a number rests on: as its maker knows, else all who answered that field."""
    if known is not None:
        return known
    found: int = studied.once(("how many answered", field), lambda: how_many_answered(studied, field))
    return found


def plain(
    value: float, field: str, statistic: str, no_interval: str, *, n: int = 0, part: str = "", between: str = "people"
) -> Agreement:
    """A number that has no interval, and why not."""
    return Agreement(
        field, statistic, value, part=part, between=between, no_interval=no_interval, places=n, units=n, traces=n
    )


def with_interval(found: Estimate, how: How, field: str, statistic: str, **of: Any) -> Agreement:
    """An estimate that was made in this way, as a number; `of` are its n and whose it is."""
    told, made = found.low is not None, found.interval or how.interval
    booted = told and made == "bootstrap"
    return Agreement(
        field, statistic, found.value, found.undefined, low=found.low, high=found.high, no_interval=found.no_interval,
        interval=made if told else "", level=how.level, resamples=how.resamples if booted else None,
        seed=how.seed if booted else None, standard_error=found.standard_error, **of,
    )  # fmt: skip


def lacking(field: str, statistic: str, why: str, *, part: str = "", between: str = "people") -> Agreement:
    """A number that is not there, and why."""
    return Agreement(field, statistic, undefined=why, part=part, between=between)


def count(value: int, field: str, *, part: str = "", statistic: str = "count") -> Number:
    """How many there are."""
    return Number(plain(value, field, statistic, COUNTED, n=value, part=part), digits=0)


def percent(one: Agreement, digits: int = 1) -> Number:
    """A share as papers print it."""
    return Number(one, digits, 100, " %")


def few(traces: int, what: str = "runs") -> tuple[str, ...]:
    """The warning that a table of few things stands with; none where there are enough."""
    if traces >= FEW:
        return ()
    if not traces:
        return (f"n = 0 {what}: there is nothing to go by.",)
    one = what.removesuffix("s") if traces == 1 else what
    return (f"n = {traces} {one}: too few to generalise from; the intervals say how little is known.",)


def bars(table: Table, column: str) -> tuple[Bars, ...]:
    """A table's column beside one another with their intervals; nothing where fewer than two have a value."""
    at = table.columns.index(column)
    found = [
        (str(row[0]), cell.agreement)
        for row in table.rows
        if isinstance(cell := row[at], Number) and cell.agreement.value is not None
    ]
    if len(found) < 2:
        return ()
    title = f"{table.title}: {column}"
    return (Bars(f"{table.id}-bars", title, tuple(one for _, one in found), tuple(says for says, _ in found)),)


def undefined(numbers: Sequence[Agreement]) -> bool:
    """Whether none of these has a value."""
    return all(one.value is None for one in numbers)
