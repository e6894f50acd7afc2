"""Page on which a manager watches a study: tables, and a script that updates them.

It has no links and no inputs. Without scripts, the browser reloads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from string import Template

from lab.core.study.study_progress import StudyProgress
from lab.core.text.plain_text import html_text
from lab.studies.progress import progress_words
from lab.studies.progress.progress_words import FIELDS, RATERS, STRAGGLERS, Cells, ProgressColumn, ProgressRow

EVERY = 5
"""Seconds between two updates."""


def progress_page(progress: StudyProgress, nonce: str) -> str:
    """Return the whole page of a study's progress."""
    return _PAGE.substitute(
        title=html_text(progress_words.head_words(progress)), nonce=nonce, every=EVERY, body=_body(progress)
    )


def _body(progress: StudyProgress) -> str:
    rows, fields = progress_words.people_rows(progress), progress_words.question_rows(progress)
    columns = progress_words.filled_columns(RATERS, [row.cells for row in rows])
    means = [*progress_words.legend(columns, RATERS), *STRAGGLERS]
    return "".join(
        (
            f"<h1>{html_text(progress_words.head_words(progress))}</h1>",
            "".join(f"<p>{html_text(progress_words.interval_words(interval))}</p>" for interval in progress.intervals),
            _table(RATERS, rows),
            _table(FIELDS, fields) if fields else "",
            f"<p>read at {progress.at[11:19]} UTC</p>",
            f"<ul>{''.join(f'<li>{html_text(line)}</li>' for line in means)}</ul>",
        )
    )


def _table(table: Mapping[str, ProgressColumn], rows: Sequence[ProgressRow]) -> str:
    """Return a table of rows. A row's CSS class is its kind, or `urgent`."""
    names = progress_words.filled_columns(table, [row.cells for row in rows])
    heads = (f'<th scope="col"{_class_attribute(table[name])}>{html_text(table[name].title)}</th>' for name in names)
    lines = (
        f'<tr class="{"urgent" if row.urgent else row.kind}">{"".join(_cells(table, names, row.cells))}</tr>'
        for row in rows
    )
    return f"<table><thead><tr>{''.join(heads)}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _cells(table: Mapping[str, ProgressColumn], names: Sequence[str], cells: Cells) -> Iterable[str]:
    for at, name in enumerate(names):
        words = html_text(cells.get(name, ""))
        yield f'<th scope="row">{words}</th>' if not at else f"<td{_class_attribute(table[name])}>{words}</td>"


def _class_attribute(column: ProgressColumn) -> str:
    return ' class="number"' if column.right else ""


_PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>$title - hitlab</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<noscript><meta http-equiv="refresh" content="$every"></noscript>
<link rel="icon" href="data:,">
<style nonce="$nonce">
body { margin: 0; background: #16181d; color: #e6e8ee; font: 15px/1.5 system-ui, sans-serif; }
main { padding: 1rem 2rem; overflow-x: auto; }
h1 { font-size: 1.2rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .25em .9em; text-align: left; font-weight: normal; white-space: nowrap; }
thead th, p, ul { color: #a4abbd; }
tbody tr { border-top: 1px solid #2c303a; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.all { border-top: 2px solid #596070; }
.all th, .all td { font-weight: bold; }
.urgent td:last-child { color: #ffb454; }
ul { padding-left: 1.2em; font-size: 13px; }
#lost { position: fixed; right: 0; bottom: 0; padding: .3em 1em; background: #7a2d2d; }
#lost[hidden] { display: none; }
</style></head><body><main id="progress">$body</main>
<div id="lost" role="status" hidden>The connection was lost. This page tries again by itself.</div>
<script nonce="$nonce">
const at = id => document.getElementById(id);
let ended = false;
async function renew() {
  if (document.hidden || ended) return;
  try {
    const answer = await fetch(location.href, {cache: "no-store"});
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("main");
    ended = fresh !== null && (answer.status === 403 || answer.status === 404);
    if (fresh !== null && (answer.ok || ended)) at("progress").replaceChildren(...fresh.childNodes);
    at("lost").hidden = answer.ok || ended;
  } catch (error) {
    at("lost").hidden = false;
  }
}
setInterval(renew, $every * 1000);
document.addEventListener("visibilitychange", renew);
</script></body></html>
""")
