"""A report as one HTML page that embeds its pictures, loads nothing, runs no script and prints well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from annotators.report.number_words import (
    CAME_ABOUT,
    CAME_ABOUT_COLUMNS,
    NO_NUMBERS,
    came_about_rows,
    interval_of,
    provenance_rows,
    value_of,
)
from annotators.report.svg import INKS, svg
from annotators.report.table_layout import number_columns
from lab.core.study.report import Cell, Picture, Report, Section, Table
from lab.core.text.plain_text import html_text

DARK_INKS = ("#74b9f0", "#f0a06a", "#6fd09a", "#cf9be6", "#d9bd5a", "#f28bb4", "#7fd0dc", "#b5b5b5")
_STYLE = """
:root { color-scheme: light dark; --page: #fff; --ink: #1b1b1b; --soft: #5c5c5c; --rule: #d5d5d5;
  INKS }
@media (prefers-color-scheme: dark) {
  :root { --page: #16181a; --ink: #e8e8e6; --soft: #a8a8a4; --rule: #3b3e41; DARK }
}
body { margin: 0 auto; max-width: 74rem; padding: 2rem 1.25rem 4rem; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.25rem; margin: 2.75rem 0 .75rem; padding-bottom: .25rem; border-bottom: 1px solid var(--rule); }
h1, h2, td, th, p, caption, figcaption { overflow-wrap: anywhere; }
nav ol { columns: 2; column-gap: 2.5rem; padding-left: 1.4rem; margin: 0 0 1rem; color: var(--soft); }
nav a { color: inherit; }
p { max-width: 46rem; }
.wide { overflow-x: auto; margin: 1.25rem 0; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 0 0 .4rem; }
.source, .note, .interval, figcaption small { color: var(--soft); font-weight: 400; }
.note { font-size: .88rem; margin: .4rem 0; }
th, td { padding: .35rem .8rem .35rem 0; text-align: left; vertical-align: top; overflow-wrap: normal; }
td { border-top: 1px solid var(--rule); }
thead th { border-bottom: 1px solid var(--soft); white-space: normal; }
tbody th { font-weight: 500; border-top: 1px solid var(--rule); overflow-wrap: anywhere; min-width: 7rem; }
th.number, td.number { text-align: right; }
td.number { white-space: nowrap; }
.interval { display: block; font-size: .82em; }
.undefined { color: var(--soft); font-style: italic; white-space: normal; }
figure { margin: 1.5rem 0; overflow-x: auto; }
figcaption { font-weight: 600; font-size: .92rem; margin-bottom: .5rem; }
svg { max-width: 100%; height: auto; }
.small table { font-size: .8rem; }
.small tbody th { white-space: nowrap; min-width: 0; }
.provenance td { font-family: ui-monospace, monospace; font-size: .85em; overflow-wrap: anywhere; }
@media print {
  :root { color-scheme: light; --page: #fff; --ink: #000; --soft: #444; --rule: #bbb; INKS }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  nav { display: none; }
  h2 { break-after: avoid; }
  figure, tr { break-inside: avoid; }
  thead { display: table-header-group; }
  .wide, figure { overflow: visible; }
  table { font-size: 8pt; }
  th, td { padding-right: .5rem; }
}
@page { margin: 18mm 16mm; }
"""


def as_html(report: Report) -> str:
    """Return the whole page."""
    return "\n".join(_lines(report)) + "\n"


def _style() -> str:
    light = " ".join(f"--ink{at}: {ink};" for at, ink in enumerate(INKS))
    dark = " ".join(f"--ink{at}: {ink};" for at, ink in enumerate(DARK_INKS))
    return _STYLE.replace("INKS", light).replace("DARK", dark).strip()


def _lines(report: Report) -> Iterator[str]:
    title = html_text(report.title)
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title><style>{_style()}</style></head><body>"
    yield f"<h1>{title}</h1>"
    titles = [section.title for section in report.sections] + [CAME_ABOUT, "Provenance"]
    items = "".join(f'<li><a href="#part-{at}">{html_text(name)}</a></li>' for at, name in enumerate(titles, 1))
    yield f"<nav><ol>{items}</ol></nav>"
    for at, section in enumerate(report.sections, 1):
        yield from _section(at, section)
    rows = came_about_rows(report)
    yield f'<section id="part-{len(titles) - 1}" class="small"><h2>{CAME_ABOUT}</h2>'
    yield from _rows(CAME_ABOUT_COLUMNS, rows) if rows else (f"<p>{NO_NUMBERS}</p>",)
    yield "</section>"
    yield f'<section id="part-{len(titles)}" class="provenance"><h2>Provenance</h2>'
    yield from _rows((), provenance_rows(report))
    yield "</section></body></html>"


def _section(at: int, section: Section) -> Iterator[str]:
    yield f'<section id="part-{at}"><h2>{html_text(section.title)}</h2>'
    yield from (f"<p>{html_text(says)}</p>" for says in section.says)
    for table in section.tables:
        yield from _table(table)
    for picture in section.pictures:
        yield from _picture(picture)
    yield "</section>"


def _table(table: Table) -> Iterator[str]:
    source = f' <span class="source">({html_text(table.source)})</span>' if table.source else ""
    if table.rows:
        yield from _rows(table.columns, table.rows, f"{html_text(table.title)}{source}")
    else:
        yield f"<p><b>{html_text(table.title)}</b>{source}: nothing to show</p>"
    yield from (f'<p class="note">{html_text(note)}</p>' for note in table.notes)


def _rows(columns: Sequence[str], rows: Sequence[Sequence[Cell]], caption: str = "") -> Iterator[str]:
    numbers = number_columns(rows, len(rows[0]) if rows else len(columns))
    yield '<div class="wide"><table>' + (f"<caption>{caption}</caption>" if caption else "")
    if columns:
        heads = "".join(
            f'<th scope="col"{_class(number)}>{html_text(name)}</th>'
            for name, number in zip(columns, numbers, strict=True)
        )
        yield f"<thead><tr>{heads}</tr></thead>"
    yield "<tbody>"
    for first, *rest in rows:
        head = f'<th scope="row">{_cell(first)}</th>'
        cells = "".join(
            f"<td{_class(number)}>{_cell(cell)}</td>" for number, cell in zip(numbers[1:], rest, strict=True)
        )
        yield f"<tr>{head}{cells}</tr>"
    yield "</tbody></table></div>"


def _class(number: bool) -> str:
    return ' class="number"' if number else ""


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return html_text(cell)
    value = html_text(value_of(cell))
    if cell.agreement.value is None:
        return f'<span class="undefined">{value}</span>'
    interval = interval_of(cell)
    return value + (f'<span class="interval">{html_text(interval)}</span>' if interval else "")


def _picture(picture: Picture) -> Iterator[str]:
    yield f"<figure><figcaption>{html_text(picture.title)}</figcaption>{svg(picture)}</figure>"
