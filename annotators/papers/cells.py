"""Cells of tables: a statistic with its interval and its n."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from annotators.agreement.coefficients.additive import AdditiveStatistic
from annotators.agreement.coefficients.numbers import mean
from annotators.agreement.intervals.estimates import EstimateMaker, as_agreement
from annotators.agreement.intervals.intervals import estimate, wilson
from annotators.agreement.ratings.ratings import NumericRatings, Ratings
from annotators.papers.field_answers import how_many_answered
from annotators.study_data import StudyData
from lab.core.study.agreement import Agreement, IntervalTerms
from lab.core.study.report import Bars, Number, Table

FEW = 20
"""With fewer runs, a table warns that it can hardly be generalised."""
COUNTED = "counted, not estimated"
_EMPTY = "nothing to take it from"


class UnitValue(NamedTuple):
    """One value of a unit, and the cluster of the unit."""

    unit: str
    cluster: str
    value: float


def coefficient(
    study_data: StudyData, one: AdditiveStatistic, of: Ratings | NumericRatings, *, part: str = "",
    between: str = "people", raters: int | None = None, statistic: str = "",
) -> Agreement:  # fmt: skip
    """Return a coefficient with its interval and sample size. `statistic` overrides its name."""
    return EstimateMaker(study_data, of.field, of, part, between, raters).number(
        statistic or statistic_of(one.name), one
    )


def statistic_of(name: str) -> str:
    """Return the printed name of a coefficient by its function's name: gwet_ac is ac1, icc_A,1 is icc(A,1)."""
    if name.startswith("icc_"):
        return f"icc({name[4:]})"
    return {"gwet_ac": "ac1"}.get(name, name.removeprefix("krippendorff_").replace("_", " "))


def average(
    study_data: StudyData,
    items: Iterable[UnitValue],
    field: str,
    statistic: str,
    *,
    most: float | None = None,
    least: float | None = None,
    part: str = "",
    between: str = "people",
    raters: int | None = None,
    why: str = "",
    left_out: Mapping[str, int] | None = None,
    how: IntervalTerms | None = None,
) -> Agreement:
    """Return the mean of values with its interval over clusters.

    Values are between `least` and `most` (0 and 1 for a share). `why` is the reason if there are none. `raters`
    defaults to the people who answered that field of these units. `left_out` counts missing values by reason. `how`
    defaults to the report's.
    """
    # Sorted, so that rounding does not depend on the order of units.
    values = sorted(items)
    if not values:
        return undefined_number(field, statistic, why or _EMPTY, part=part, between=between, left_out=left_out)
    clusters = tuple(sorted({one.cluster for one in values}))
    place = {cluster: i for i, cluster in enumerate(clusters)}
    trace = np.array([place[one.cluster] for one in values], dtype=np.int32)
    column = np.array([one.value for one in values], dtype=np.float64)
    one = mean(column, trace, len(clusters), statistic, most)
    how = how or study_data.how
    cell = estimate(one if least is None else one._replace(least=least), how)
    return as_agreement(
        cell, how, field, statistic, part=part, between=between, places=len(values),
        units=len({one.unit for one in values}), traces=len(clusters),
        raters=_raters(study_data, field, raters, {one.unit for one in values}),
        **_missing_fields(len(values), left_out),
    )  # fmt: skip


def share(
    study_data: StudyData, items: Iterable[UnitValue], field: str, statistic: str = "share", *, part: str = "",
    between: str = "people", raters: int | None = None, why: str = "", left_out: Mapping[str, int] | None = None,
) -> Agreement:  # fmt: skip
    """Return the share of ones among zeros and ones, with an interval over clusters.

    If every cluster has one value, all are independent and the interval is Wilson's, because the jackknife's is much
    too wide for a few values that are nearly all the same. Values between 0 and 1 (a tie that counts half) are
    averaged.
    """
    items = sorted(items)
    if items and len({one.cluster for one in items}) == len(items):
        right = sum(one.value for one in items)
        # A tie counts half, for which there is no Wilson's interval.
        if {one.value for one in items} <= {0.0, 1.0}:
            return share_of_independent(
                study_data, int(right), len(items), field, statistic, part=part, raters=raters, between=between,
                units={one.unit for one in items}, left_out=left_out,
            )  # fmt: skip
    return average(
        study_data,
        items,
        field,
        statistic,
        most=1.0,
        part=part,
        between=between,
        raters=raters,
        why=why,
        left_out=left_out,
    )


def share_of_independent(
    study_data: StudyData, right: int, of: int, field: str, statistic: str = "share", *, part: str = "",
    raters: int | None = None, why: str = "", between: str = "people", units: Collection[str] | None = None,
    left_out: Mapping[str, int] | None = None,
) -> Agreement:  # fmt: skip
    """Return a share of independent things with Wilson's interval. `units` are the units that they belong to."""
    if not of:
        return undefined_number(field, statistic, why or _EMPTY, part=part, between=between, left_out=left_out)
    low, high = wilson(right, of, study_data.how.level)
    return Agreement(
        field, statistic, right / of, part=part, between=between, low=low, high=high, interval="wilson",
        level=study_data.how.level, places=of, units=of, traces=of, raters=_raters(study_data, field, raters, units),
        **_missing_fields(of, left_out),
    )  # fmt: skip


def _raters(study_data: StudyData, field: str, raters: int | None, units: Collection[str] | None) -> int:
    """Return the number of people behind a number: as given, else those who answered that field of these units.

    If `units` are not units of the study (episodes, tasks), it is everyone who answered the field.
    """
    if raters is not None:
        return raters
    ids: frozenset[str] = study_data.cached("unit ids", lambda: frozenset(unit.id for unit in study_data.units))
    among = None if units is None or ids.isdisjoint(units) else frozenset(units)
    how_many: int = study_data.cached(
        ("how many answered", field, among), lambda: how_many_answered(study_data, field, among)
    )
    return how_many


def _missing_fields(places: int, left_out: Mapping[str, int] | None) -> dict[str, Any]:
    """Return the share of missing things and the reasons as fields of a number."""
    many = sum((left_out or {}).values())
    return {"missing": many / (places + many), "reasons": dict(left_out or {})} if many else {}


def clip_difference(gap: Agreement, most: float | None) -> Agreement:
    """Return a difference of two numbers from 0 to `most` with its interval clipped accordingly."""
    if most is None or gap.low is None or gap.high is None:
        return gap
    return replace(gap, low=max(-most, gap.low), high=min(most, gap.high))


def number_without_interval(
    value: float, field: str, statistic: str, no_interval: str, *, n: int = 0, part: str = "", between: str = "people",
    left_out: Mapping[str, int] | None = None,
) -> Agreement:  # fmt: skip
    """Return a number without an interval, with the reason."""
    return Agreement(
        field, statistic, value, part=part, between=between, no_interval=no_interval, places=n, units=n, traces=n,
        **_missing_fields(n, left_out),
    )  # fmt: skip


def undefined_number(
    field: str, statistic: str, why: str, *, part: str = "", between: str = "people",
    left_out: Mapping[str, int] | None = None,
) -> Agreement:  # fmt: skip
    """Return an undefined number with the reason."""
    return Agreement(field, statistic, undefined=why, part=part, between=between, **_missing_fields(0, left_out))


def count(value: int, field: str, *, part: str = "", statistic: str = "count") -> Number:
    """Return a count as a cell."""
    return Number(number_without_interval(value, field, statistic, COUNTED, n=value, part=part), digits=0)


def percent(one: Agreement, digits: int = 1) -> Number:
    """Return a share as papers print it."""
    return Number(one, digits, 100, " %")


def few_runs_warning(traces: int, what: str = "runs") -> tuple[str, ...]:
    """Return the warning for a table of few things, empty if there are enough."""
    if traces >= FEW:
        return ()
    if not traces:
        return (f"n = 0 {what}: there is nothing to go by.",)
    one = what.removesuffix("s") if traces == 1 else what
    return (f"n = {traces} {one}: too few to generalise from; the intervals say how little is known.",)


def column_bars(table: Table, column: str) -> tuple[Bars, ...]:
    """Return bars of a table's column with intervals, empty if fewer than two cells have a value."""
    at = table.columns.index(column)
    values = [
        (str(row[0]), cell.agreement)
        for row in table.rows
        if isinstance(cell := row[at], Number) and cell.agreement.value is not None
    ]
    if len(values) < 2:
        return ()
    title = f"{table.title}: {column}"
    return (Bars(f"{table.id}-bars", title, tuple(one for _, one in values), tuple(says for says, _ in values)),)


def are_all_undefined(numbers: Sequence[Agreement]) -> bool:
    """Return True if none of these numbers has a value."""
    return all(one.value is None for one in numbers)
