"""The words of a number in a report: its value, its interval, and how it came about; the same in every form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lab.core.agreement import Agreement
from lab.core.codec import encode
from lab.core.report import Bars, Cell, Number, Report
from lab.core.rounding import count, rounded

DIGITS = 4
"""Behind the point, where a number is told in full."""


_NAMES = {
    "fleiss kappa": "Fleiss' kappa", "cohen kappa": "Cohen's kappa", "conger kappa": "Conger's kappa",
    "light kappa": "Light's kappa", "scott pi": "Scott's pi", "brennan prediger": "Brennan-Prediger", "ac1": "AC1",
    "alpha masi": "alpha MASI", "alpha jaccard": "alpha Jaccard",
    "brennan prediger of steps": "Brennan-Prediger of steps",
    "ac2": "AC2", "mae": "MAE", "mse": "MSE", "f1": "F1", "irr": "IRR", "pearson": "Pearson", "spearman": "Spearman",
}  # fmt: skip
"""Statistics as people write them."""


def statistic_name(name: str) -> str:
    """A statistic as people write it; what is told of another ("difference of mae") keeps its words."""
    return _NAMES.get(name, f"ICC{name[3:]}" if name.startswith("icc(") else name)


class ReportedNumber(NamedTuple):
    """A number of a report, and every place at which it stands."""

    places: tuple[str, ...]
    agreement: Agreement


def value_of(number: Number) -> str:
    """A number as its table prints it; what is undefined says so, with its reason."""
    one = number.agreement
    if one.value is None:
        return f"undefined ({one.undefined or 'no reason is told'})"
    return f"{rounded(one.value, number.digits, number.times)}{number.suffix}"


def interval_of(number: Number) -> str:
    """The interval in brackets; empty where there is none."""
    one = number.agreement
    if one.value is None or one.low is None or one.high is None:
        return ""
    low, high = (rounded(end, number.digits, number.times) for end in (one.low, one.high))
    return f"[{low}, {high}]"


def cell_of(cell: Cell) -> str:
    """A table's cell in one line."""
    if isinstance(cell, str):
        return cell
    return " ".join(part for part in (value_of(cell), interval_of(cell)) if part)


def name_of(one: Agreement) -> str:
    """What a number is: its statistic, of what, of whom."""
    of = ", ".join(part for part in (one.field, one.part) if part)
    return f"{statistic_name(one.statistic)}{f' of {of}' if of else ''}{f' ({one.between})' if one.between else ''}"


def value_in_full(one: Agreement) -> str:
    """A value with more digits than its table prints."""
    return f"undefined ({one.undefined})" if one.value is None else rounded(one.value, DIGITS)


def interval_in_full(one: Agreement) -> str:
    """An interval with its level and how it came about, or the reason why there is none."""
    if one.value is None:
        return "none"
    if one.low is None or one.high is None:
        return f"none: {one.no_interval or 'no reason is told'}"
    ends = f"[{rounded(one.low, DIGITS)}, {rounded(one.high, DIGITS)}]"
    return f"{ends} {rounded(one.level, 0, 100)} %, {method_of(one)}"


def method_of(one: Agreement) -> str:
    """How an interval was made."""
    match one.interval:
        case "jackknife-t":
            return f"jackknife-t over {count(one.traces, 'cluster')}"
        case "bootstrap":
            times = f"{one.resamples:,} resamples" if one.resamples is not None else "resamples"
            return f"{times} of {count(one.traces, 'cluster')}, seed {one.seed}"
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
    """What a number rests on."""
    if one.clusters == "person":
        return count(one.places, "person", "persons")
    parts = [
        f"{count(one.places, 'item')} of {count(one.units, 'unit')} in {count(one.traces, 'cluster')}",
        count(one.raters, "rater"),
    ]
    return ", ".join(parts)


def missing_of(one: Agreement) -> str:
    """The share of answers that are missing, and why."""
    why = ", ".join(f"{reason.replace('_', ' ')} {many:,}" for reason, many in sorted(one.reasons.items()))
    return f"{rounded(one.missing, 1, 100)} %{f' ({why})' if why else ''}"


def numbers_in(report: Report) -> list[ReportedNumber]:
    """Every number of a report, in the order in which they come first; one that stands twice is told once."""
    places: dict[bytes, list[str]] = {}
    numbers: dict[bytes, Agreement] = {}
    for place, one in _numbers(report):
        key = encode(one)
        numbers.setdefault(key, one)
        there = places.setdefault(key, [])
        if place not in there:
            there.append(place)
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
"""How a report's intervals are made, unless a number says otherwise."""


def provenance_rows(report: Report) -> list[tuple[str, str]]:
    """Out of what a report was made: names and values."""
    rows = []
    for field, name in PROVENANCE:
        value = getattr(report.provenance, field)
        if value is None or value == ():
            continue
        if field == "level":
            value = f"{rounded(value, 0, 100)} %"
        if field == "interval":
            value = _INTERVALS[value]
        rows.append((name, ", ".join(value) if isinstance(value, tuple) else str(value)))
    return rows


CAME_ABOUT = "How each number came about"
NO_NUMBERS = "There is no number in this report yet."
CAME_ABOUT_COLUMNS = ("", "Number", "Value", "Interval", "Out of", "Missing", "Stands in")


def came_about_rows(report: Report) -> list[tuple[str, ...]]:
    """Every number with all that is known of it, a row each."""
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
