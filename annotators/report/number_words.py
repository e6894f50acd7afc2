"""The words of a number in a report: its value, its interval, and how it was made.

They are the same in every format.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lab.core.codec import encode
from lab.core.study.agreement import Agreement
from lab.core.study.report import Bars, Cell, Number, Report
from lab.core.values.rounding import count, format_number

DIGITS = 4
"""Decimals of numbers in full."""


_NAMES = {
    "fleiss kappa": "Fleiss' kappa", "cohen kappa": "Cohen's kappa", "conger kappa": "Conger's kappa",
    "light kappa": "Light's kappa", "scott pi": "Scott's pi", "brennan prediger": "Brennan-Prediger", "ac1": "AC1",
    "alpha masi": "alpha MASI", "alpha jaccard": "alpha Jaccard",
    "brennan prediger of steps": "Brennan-Prediger of steps",
    "ac2": "AC2", "mae": "MAE", "mse": "MSE", "f1": "F1", "irr": "IRR", "pearson": "Pearson", "spearman": "Spearman",
}  # fmt: skip
"""Names of statistics for people."""


def statistic_name(name: str) -> str:
    """Return a statistic's name for people. That of a derived one ("difference of mae") is unchanged."""
    return _NAMES.get(name, f"ICC{name[3:]}" if name.startswith("icc(") else name)


class ReportedNumber(NamedTuple):
    """A number of a report, and all places at which it occurs."""

    places: tuple[str, ...]
    agreement: Agreement


def value_of(number: Number) -> str:
    """Return a number as its table prints it, or its reason if it is undefined."""
    one = number.agreement
    if one.value is None:
        return f"undefined ({one.undefined or 'no reason is told'})"
    return f"{format_number(one.value, number.digits, number.times)}{number.suffix}"


def interval_of(number: Number) -> str:
    """Return the interval in brackets, empty if there is none."""
    one = number.agreement
    if one.value is None or one.low is None or one.high is None:
        return ""
    low, high = (format_number(end, number.digits, number.times) for end in (one.low, one.high))
    return f"[{low}, {high}]"


def cell_of(cell: Cell) -> str:
    """Return a table's cell in one line."""
    if isinstance(cell, str):
        return cell
    return " ".join(part for part in (value_of(cell), interval_of(cell)) if part)


def name_of(one: Agreement) -> str:
    """Return a number's name: its statistic, its field and part, and its raters."""
    of = ", ".join(part for part in (one.field, one.part) if part)
    return f"{statistic_name(one.statistic)}{f' of {of}' if of else ''}{f' ({one.between})' if one.between else ''}"


def value_in_full(one: Agreement) -> str:
    """Return a value with more digits than its table prints."""
    return f"undefined ({one.undefined})" if one.value is None else format_number(one.value, DIGITS)


def interval_in_full(one: Agreement) -> str:
    """Return an interval with its level and method, or the reason if there is none."""
    if one.value is None:
        return "none"
    if one.low is None or one.high is None:
        return f"none: {one.no_interval or 'no reason is told'}"
    ends = f"[{format_number(one.low, DIGITS)}, {format_number(one.high, DIGITS)}]"
    return f"{ends} {format_number(one.level, 0, 100)} %, {method_of(one)}"


def method_of(one: Agreement) -> str:
    """Return the method of an interval in words."""
    match one.interval:
        case "jackknife-t":
            return f"jackknife-t over {count(one.traces, 'cluster')}"
        case "bootstrap":
            times = f"{one.resamples:,} resamples" if one.resamples is not None else "resamples"
            return f"{times} of {count(one.traces, 'cluster')}, seed {one.seed}"
        # A share of 0 or 1 has one observation per cluster (see `estimate_share`).
        case "wilson" if one.places > one.traces:
            return f"Wilson, each of {count(one.traces, 'cluster')} as if it were one item"
        case "wilson":
            return "Wilson, as if each item stood alone"
        case "fisher":
            return "Fisher's z, as if each item stood alone"
        case "binomial":
            return "binomial, as if each item stood alone"
        case "f":
            return "F distribution, as if each item stood alone"
        case "profile":
            return "profile likelihood"
        case "t":
            return "Student's t"
        case "newcombe":
            return "Newcombe's, from the intervals of both numbers"
    return "in closed form"


def n_of(one: Agreement) -> str:
    """Return the sample size of a number in words."""
    if one.clusters == "person":
        return count(one.places, "person", "persons")
    parts = [
        f"{count(one.places, 'item')} of {count(one.units, 'unit')} in {count(one.traces, 'cluster')}",
        *([count(one.raters, "rater")] if one.raters else []),
    ]
    return ", ".join(parts)


def missing_of(one: Agreement) -> str:
    """Return the share of missing answers, with reasons."""
    why = ", ".join(f"{reason.replace('_', ' ')} {many:,}" for reason, many in sorted(one.reasons.items()))
    return f"{format_number(one.missing, 1, 100)} %{f' ({why})' if why else ''}"


def numbers_in(report: Report) -> list[ReportedNumber]:
    """Return every number of a report once, in order of appearance, with all its places."""
    places: dict[bytes, list[str]] = {}
    numbers: dict[bytes, Agreement] = {}
    for place, one in _numbers(report):
        # Encoded, because numbers hold mappings and so cannot be keys themselves.
        key = encode(one)
        numbers.setdefault(key, one)
        number_places = places.setdefault(key, [])
        if place not in number_places:
            number_places.append(place)
    return [ReportedNumber(tuple(places[key]), one) for key, one in numbers.items()]


def _numbers(report: Report) -> Iterator[tuple[str, Agreement]]:
    for section in report.sections:
        for table in section.tables:
            for row in table.rows:
                row_name = row[0] if row and isinstance(row[0], str) else ""
                for column, cell in zip(table.columns, row, strict=True):
                    if isinstance(cell, Number):
                        yield f"{table.title}: {row_name}, {column}", cell.agreement
        for picture in section.pictures:
            if isinstance(picture, Bars):
                yield from (
                    (f"{picture.title}: {says}", bar) for says, bar in zip(picture.says, picture.bars, strict=True)
                )


PROVENANCE: tuple[tuple[str, str], ...] = (
    ("study", "Study"), ("version", "Version"), ("study_sha", "Plan (hash)"), ("sample_sha", "Sample (hash)"),
    ("protocol", "Protocol"), ("protocol_sha", "Protocol (hash)"), ("guide_sha", "Guideline (hash)"),
    ("locale", "Language"), ("labels_sha", "Answers (hash)"), ("code", "Program"), ("platform", "Platform"),
    ("interval", "Intervals"), ("level", "Level"), ("resamples", "Resamples"), ("seed", "Seed"),
    ("beside", "Read beside"),
)  # fmt: skip


_INTERVALS = {
    "jackknife-t": "jackknife-t: each cluster left out in turn; on the log of the distance to the largest value where "
    "there is one; its skewness taken out (Hall 1992) within bounds; Wilson's for a share of one item a cluster",
    "bootstrap": "bootstrap: clusters drawn anew, BCa (Efron 1987)",
}
"""Methods of a report's intervals, unless a number has its own."""


def provenance_rows(report: Report) -> list[tuple[str, str]]:
    """Return the names and values of a report's provenance."""
    rows = []
    for field, name in PROVENANCE:
        value = getattr(report.provenance, field)
        if value is None or value == ():
            continue
        if field == "level":
            value = f"{format_number(value, 0, 100)} %"
        if field == "interval":
            value = _INTERVALS[value]
        rows.append((name, ", ".join(value) if isinstance(value, tuple) else str(value)))
    return rows


CAME_ABOUT = "How each number came about"
NO_NUMBERS = "There is no number in this report yet."
CAME_ABOUT_COLUMNS = ("", "Number", "Value", "Interval", "Out of", "Missing", "Stands in")


def came_about_rows(report: Report) -> list[tuple[str, ...]]:
    """Return a row for each number with all its details."""
    return [
        (
            str(at),
            name_of(one.agreement),
            value_in_full(one.agreement),
            interval_in_full(one.agreement),
            n_of(one.agreement),
            missing_of(one.agreement),
            "; ".join(one.places),
        )
        for at, one in enumerate(numbers_in(report), 1)
    ]
