"""A report as Markdown in which foreign text never becomes markup, a link or a new cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annotators.report.charts import count_text, picture_lines
from annotators.report.number_words import (
    CAME_ABOUT,
    CAME_ABOUT_COLUMNS,
    NO_NUMBERS,
    came_about_rows,
    cell_of,
    provenance_rows,
)
from annotators.report.table_layout import number_columns
from lab.core.study.report import Cell, Grid, Number, Picture, Report, Table
from lab.core.text.plain_text import markdown_text

_WIDTH = 78


def as_markdown(report: Report) -> str:
    """Return the whole report, with a line feed at its end."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# {markdown_text(report.title)}"
    for section in report.sections:
        yield from ("", f"## {markdown_text(section.title)}")
        for says in section.says:
            yield from ("", markdown_text(says))
        for table in section.tables:
            yield from _table(table)
        for picture in section.pictures:
            yield from _picture(picture)
    yield from ("", f"## {CAME_ABOUT}", "")
    rows = came_about_rows(report)
    yield from _rows(CAME_ABOUT_COLUMNS, rows) if rows else (NO_NUMBERS,)
    yield from ("", "## Provenance", "")
    yield from _rows(("", ""), provenance_rows(report))


def _table(table: Table) -> Iterator[str]:
    source = f" ({markdown_text(table.source)})" if table.source else ""
    yield from ("", f"**{markdown_text(table.title)}**{source}", "")
    if table.rows:
        yield from _rows(table.columns, table.rows)
    else:
        yield "nothing to show"
    for note in table.notes:
        yield from ("", markdown_text(note))


def _rows(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
    yield _row([markdown_text(name) for name in columns])
    right = number_columns(rows, len(columns))
    yield _row(["---:" if number else "---" for number in right])
    for row in rows:
        yield _row([_cell(cell) for cell in row])


def _cell(cell: Cell) -> str:
    """Return a cell.

    A number's own brackets are not escaped, because nothing that makes them a link can follow.
    """
    return (
        cell_of(cell) if isinstance(cell, Number) and cell.agreement.value is not None else markdown_text(cell_of(cell))
    )


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _picture(picture: Picture) -> Iterator[str]:
    """Yield a grid as a table and any other picture in characters: Markdown cannot embed pictures in a single file."""
    yield from ("", f"**{markdown_text(picture.title)}**", "")
    if isinstance(picture, Grid) and picture.down and picture.across:
        corner = " \\ ".join(part for part in (picture.down_is, picture.across_is) if part)
        columns = (corner, *picture.across)
        rows = [(name, *map(count_text, row)) for name, row in zip(picture.down, picture.counts, strict=True)]
        yield from _rows(columns, rows)
        return
    lines = picture_lines(picture, _WIDTH)
    # Four blanks make a code block, in which nothing needs escaping.
    yield from (f"    {line}".rstrip() for line in lines)
