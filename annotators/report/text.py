"""A report as text for a terminal, without control characters and within a width."""

from __future__ import annotations

from collections.abc import Iterator

from annotators.report.charts import picture_lines
from annotators.report.number_words import (
    CAME_ABOUT,
    NO_NUMBERS,
    ReportedNumber,
    interval_in_full,
    missing_of,
    n_of,
    name_of,
    numbers_in,
    provenance_rows,
    value_in_full,
)
from annotators.report.table_layout import table_lines
from lab.core.study.report import Picture, Report, Section, Table
from lab.core.text.text_table import clean, wrap_cells


def as_text(report: Report, width: int = 100, table_width: int | None = None) -> str:
    """Return the whole report, with a line feed at its end. Tables may be wider than the rest."""
    return "\n".join(_lines(report, width, table_width or width)) + "\n"


def _lines(report: Report, width: int, table_width: int) -> Iterator[str]:
    yield from _title_lines(report.title, "═", width)
    for section in report.sections:
        yield ""
        yield from section_lines(section, width, table_width)
    yield ""
    yield from _title_lines(CAME_ABOUT, "─", width)
    numbers = list(numbers_in(report))
    yield from () if numbers else wrap_cells(NO_NUMBERS, width)
    for number, one in enumerate(numbers, 1):
        yield from _number_lines(number, one, width)
    yield ""
    yield from _title_lines("Provenance", "─", width)
    for name, value in provenance_rows(report):
        first, *rest = wrap_cells(value, max(20, width - 20))
        yield f"{name:<18}  {first}"
        yield from (f"{'':<20}{line}" for line in rest)


def section_lines(section: Section, width: int, table_width: int | None = None) -> Iterator[str]:
    """Yield one section: its sentences, tables and pictures. Tables may be wider than the rest."""
    yield from _title_lines(section.title, "─", width)
    for says in section.says:
        yield from wrap_cells(says, width)
    for table in section.tables:
        yield ""
        yield from _table(table, width, table_width or width)
    for picture in section.pictures:
        yield ""
        yield from _picture(picture, width)


def _title_lines(title: str, under: str, width: int) -> Iterator[str]:
    lines = wrap_cells(title, width)
    yield from lines
    yield under * min(width, max(map(len, lines)))


def _table(table: Table, width: int, table_width: int) -> Iterator[str]:
    source = f" ({table.source})" if table.source else ""
    yield from wrap_cells(f"{table.title}{source}", width)
    yield ""
    if table.rows:
        yield from table_lines(table.columns, table.rows, table_width)
    else:
        yield "nothing to show"
    for note in table.notes:
        yield from wrap_cells(note, width)


def _picture(picture: Picture, width: int) -> Iterator[str]:
    yield from wrap_cells(picture.title, width)
    yield ""
    yield from picture_lines(picture, width)


def _number_lines(number: int, one: ReportedNumber, width: int) -> Iterator[str]:
    agreement = one.agreement
    yield from _hanging_lines(f"{number}.", f"{clean(name_of(agreement))}: {value_in_full(agreement)}", width)
    parts = (
        f"interval {interval_in_full(agreement)}",
        f"{n_of(agreement)}; missing {missing_of(agreement)}",
        f"stands in: {'; '.join(one.places)}",
    )
    for part in parts:
        yield from _hanging_lines("", part, width)


def _hanging_lines(head: str, text: str, width: int) -> Iterator[str]:
    first, *rest = wrap_cells(text, width - 6)
    yield f"{head:<6}{first}"
    yield from (f"{'':<6}{line}" for line in rest)
