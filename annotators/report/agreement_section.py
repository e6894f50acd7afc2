"""Agreement of raters: every statistic of every question, pairs of raters, and grids of answers against answers."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from annotators.agreement.agreements import agreements, agreements_by_pair, confusion
from annotators.agreement.evidence import agreements_of_evidence
from annotators.report.number_words import statistic_name
from annotators.report.sample_section import share_words
from annotators.study_data import StudyData
from lab.core.study.agreement import Agreement, interval_text, is_share
from lab.core.study.protocol import Field
from lab.core.study.report import Bars, Cell, Grid, Number, Picture, Section, Table

_CHANCE = ("kappa", "alpha", " pi", "ac1", "ac2", "brennan")
"""Parts of the names of statistics that get Landis and Koch's words."""
_GRIDS = ("nominal", "ordinal", "flag")
_PEOPLE = "people"
INTERVALS_SENTENCE = (
    "Intervals are clustered: answers in one run (or whatever a unit names as its cluster) are not independent of one "
    "another. Landis and Koch's words are of both ends of an interval of the kappa or alpha that stands first."
)

_DERIVED = (
    "Before: as every item was answered. After: once ways that were not taken are left out, and an item counts as not "
    "completed where one that it depends on is not."
)

_EVIDENCE = (
    "Of people who gave the same answer to an item, how far apart the steps are on which they rest it. Alpha within "
    "runs is Krippendorff's of step numbers, with chance taken from the steps that people named in the same run."
)


def sections(study_data: StudyData) -> list[Section]:
    """Return the sections of people's agreement, of judges, repeats and single raters, and of pairs with grids."""
    numbers = agreements(study_data)
    among = [one for one in numbers if one.between == _PEOPLE]
    others = [one for one in numbers if one.between != _PEOPLE]
    says, tables = number_tables(among, "people")
    says += [_DERIVED] if tables and study_data.study.protocol.targets == "tdg nodes" else []
    plays = study_data.study.protocol.unit == "task to play"  # each sheet is about its own rater's run
    out = [] if plays and not tables else [Section("Agreement between people", tuple(says), tuple(tables))]
    if others:
        says, tables = number_tables(others, "others")
        out.append(Section("Judges, repeats and single raters", tuple(says), tuple(tables)))
    if evidence := [one for one in agreements_of_evidence(study_data) if one.value is not None]:
        says, tables = number_tables(evidence, "evidence")
        out.append(Section("Agreement on steps", (_EVIDENCE, *says[1:]), tuple(tables)))
    pairs, pictures = _pairs(study_data)
    if pairs or pictures:
        out.append(Section("Pairs of raters, and which answers came together", (), tuple(pairs), tuple(pictures)))
    return out


def number_of(one: Agreement, digits: int = 3) -> Number:
    """Return a number as general tables print it: shares as percentages, all others with three digits."""
    if is_share(one):
        return Number(one, 1, 100, " %")
    return Number(one, digits)


def is_chance_corrected(one: Agreement) -> bool:
    """Return True if a number is corrected for chance."""
    return any(part in one.statistic.lower() for part in _CHANCE)


# -- statistics ------------------------------------------------------------------------------------------------


def number_tables(numbers: Sequence[Agreement], id: str) -> tuple[list[str], list[Table]]:
    """Return sentences, and a table for each question and comparison.

    A question without any value has a sentence in place of a table.
    """
    groups: dict[tuple[str, str], list[Agreement]] = {}
    for one in numbers:
        groups.setdefault((one.between, one.field), []).append(one)
    says, tables = [], []
    for at, ((between, field), some) in enumerate(groups.items(), 1):
        title = field if between == _PEOPLE else f"{field}: {between}"
        reasons = {one.undefined for one in some}
        # A table whose cells all give the same reason says no more than one sentence.
        if all(one.value is None for one in some) and len(reasons) == 1:
            says.append(f"{title}: undefined ({reasons.pop()}).")
        else:
            tables.append(_table(f"{id}-{at}", title, some))
    return ([INTERVALS_SENTENCE, *says] if tables else says), tables


def _table(id: str, title: str, some: Sequence[Agreement]) -> Table:
    """Return a table with the parts of a question as rows and statistics as columns."""
    statistics = list(dict.fromkeys(one.statistic for one in some))
    parts: dict[str, dict[str, Agreement]] = {}
    for one in some:
        parts.setdefault(one.part, {})[one.statistic] = one
    columns = ("", *map(statistic_name, statistics), "In words", "Items", "Clusters", "Raters", "Missing")
    rows = tuple(_row(part, own, statistics) for part, own in parts.items())
    # Without any of Landis and Koch's words their column is dropped.
    if not any(row[1 + len(statistics)] for row in rows):
        at = 1 + len(statistics)
        columns, rows = (*columns[:at], *columns[at + 1 :]), tuple((*row[:at], *row[at + 1 :]) for row in rows)
    return Table(id, title, columns, rows, notes=tuple(_no_interval_notes(some)))


def _row(part: str, own: dict[str, Agreement], statistics: Sequence[str]) -> tuple[Cell, ...]:
    corrected_words = next(
        (word for one in own.values() if is_chance_corrected(one) and (word := interval_text(one))), ""
    )
    return (
        part or "all", *(number_of(own[name]) if name in own else "" for name in statistics), corrected_words,
        _span([one.places for one in own.values()]), _span([one.traces for one in own.values()]),
        _span([one.raters for one in own.values()]), share_words(max(one.missing for one in own.values())),
    )  # fmt: skip


def _span(counts: Sequence[int]) -> str:
    """Return the count that several numbers share, or their minimum and maximum."""
    least, most = min(counts), max(counts)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _no_interval_notes(some: Sequence[Agreement]) -> list[str]:
    """Return the reasons for missing intervals in a table, each reason once."""
    reasons: dict[str, list[str]] = {}
    for one in some:
        if one.value is not None and one.no_interval:
            part = f" ({one.part})" if one.part else ""
            reasons.setdefault(one.no_interval, []).append(f"{statistic_name(one.statistic)}{part}")
    return [f"No interval for {', '.join(names)}: {reason}." for reason, names in reasons.items()]


# -- pairs -----------------------------------------------------------------------------------------------------


def _pairs(study_data: StudyData) -> tuple[list[Table], list[Picture]]:
    """Return the tables of each pair of raters if there are more than two people, and grids of any two."""
    tables: list[Table] = []
    pictures: list[Picture] = []
    if len(study_data.people) + len(study_data.judges) < 2:
        return tables, pictures
    for field in study_data.study.protocol.fields:
        numbers = agreements_by_pair(study_data, field.id)
        pairs = list(dict.fromkeys(one.between for one in numbers))
        if len(pairs) > 1 and any(one.value is not None for one in numbers):
            tables.append(_pair_table(field, pairs, numbers))
            pictures += _bars(field, numbers)
        if field.kind in _GRIDS:
            pictures += _grids(study_data, field)
    return tables, pictures


def _pair_table(field: Field, pairs: Sequence[str], numbers: Sequence[Agreement]) -> Table:
    statistics = list(dict.fromkeys(one.statistic for one in numbers))
    by = {(one.between, one.statistic): one for one in numbers}
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        own = [by[pair, name] for name in statistics if (pair, name) in by]
        rows.append((pair, *map(number_of, own), _span([one.places for one in own])))
    return Table(f"pairs-{field.id}", f"{field.id}: by pair of raters",
                 ("Raters", *map(statistic_name, statistics), "Items"), tuple(rows))  # fmt: skip


def _bars(field: Field, numbers: Sequence[Agreement]) -> list[Bars]:
    """Return bars of the first statistic with a value for any pair."""
    first = next((one.statistic for one in numbers if one.value is not None), "")
    some = tuple(one for one in numbers if one.statistic == first)
    title = f"{field.id}: {statistic_name(first)} by pair of raters"
    # Statistics such as MAE have no maximum of 1.
    most = max([1.0, *(end for one in some for end in (one.value, one.high) if end is not None)])
    says = tuple(one.between for one in some)
    return [Bars(f"pairs-{field.id}", title, some, says, least=least_of(some), most=most)] if some else []


def least_of(some: Sequence[Agreement]) -> float:
    """Return the beginning of a scale: 0, or at most -1 if any value or interval is below 0."""
    ends = [end for one in some for end in (one.value, one.low) if end is not None]
    return min([-1.0, *ends]) if any(end < 0 for end in ends) else 0.0


def _grids(study_data: StudyData, field: Field) -> list[Grid]:
    title = f"{field.id}: answers of every two people that came together"
    grids = [replace(confusion(study_data, field.id), title=title)] if len(study_data.people) > 1 else []
    for judge in study_data.judges:
        name = study_data.columns.raters[judge].id
        grid = confusion(study_data, field.id, "truth", name)
        grids.append(
            replace(grid, title=f"{field.id}: what most people say, and what {name} says", down_is="most people")
        )
    return [grid for grid in grids if is_informative(grid)]


def is_informative(grid: Grid) -> bool:
    """Return True if a grid has more than one non-zero cell."""
    return sum(1 for row in grid.counts for count in row if count) > 1
