"""Columns of the table of runs, each declared once: JSON, tables, order and filter follow from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from lab.core.task.task import Actor
from lab.runs.descriptions import format_dollars, local_time, score_words, status_words
from lab.runs.listing.run_rows import Cost, RunEntry, agent_words

UNKNOWN = Cost()
Value = Callable[[RunEntry, Cost], Any]


class RunColumn(NamedTuple):
    """A column. A further one needs a `default`, because published JSON only gains fields.

    `value` is what JSON prints, and what filters of numbers compare, with None if unknown.
    """

    name: str
    type: Any
    value: Value
    default: Any = msgspec.NODEFAULT
    title: str = ""
    """Heading in the command's table. Empty: only in JSON."""
    words: Callable[[Any], str] | None = None
    """Text of a known value in a table (default: the value itself)."""
    cell: Callable[[RunEntry], str] | None = None
    """Text in a table if it differs from the value's."""
    filters: tuple[str, ...] = ()
    """Words in a filter, the usual one first. Empty: not filtered by."""
    text: Callable[[RunEntry], str] | None = None
    """Text that a filter searches, its alternatives by line. None: the filter compares a number or a time."""
    sort: Callable[[RunEntry], str] | None = None
    """Text to sort by if it is not the value."""
    width: int = 0
    """Cells in the app's table. 0: not shown there, and not sorted by."""
    least: int = 0
    """Minimum width of the app's table from which the column is shown."""
    share: int = 0
    """Divisor of the app's table's width, which gives a minimum width. 0 for none."""
    right: bool = False
    muted: bool = False
    costly: bool = False
    """True if its value is a run's cost, so that the run's steps must be read."""
    sparse: bool = False
    """True if the command's table leaves it out as long as no run has a value."""
    app_title: str = ""
    """Heading in the app if it is another."""
    app_cell: Callable[[RunEntry, Cost], str] | None = None
    """Text in the app if it is another."""

    @property
    def ascending(self) -> bool:
        """True if it sorts ascending, as texts do. Numbers and times have the largest or newest first."""
        return self.text is not None

    @property
    def is_time(self) -> bool:
        """True if a filter compares it as a time."""
        return self.type is str and self.text is None

    def sort_key(self, entry: RunEntry, cost: Cost) -> Any:
        """Return the value to sort by, None if unknown."""
        value = self.sort(entry) if self.sort is not None else self.value(entry, cost)
        return (value.casefold() or None) if isinstance(value, str) else value

    def table_cell(self, entry: RunEntry, cost: Cost) -> str:
        """Return the text in the command's table, `-` if unknown."""
        if self.cell is not None:
            return self.cell(entry)
        value = self.value(entry, cost)
        if value is None or value in ("", ()):
            return "-"
        return self.words(value) if self.words is not None else str(value)

    def app_words(self, entry: RunEntry, cost: Cost) -> str:
        """Return the text in the app's table."""
        return self.app_cell(entry, cost) if self.app_cell is not None else self.table_cell(entry, cost)


def _agent(entry: RunEntry) -> Actor:
    return entry.run.actor or Actor("script", entry.run.agent)


def _waiting_words(entry: RunEntry, cost: Cost) -> str:
    run = entry.run
    return status_words(run.status, run.status == "open" and run.questions > run.replies)


def _time_words(entry: RunEntry, cost: Cost) -> str:
    seconds = cost.seconds
    if seconds is None:
        return "-"
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60):,} min {int(seconds % 60):02d} s"


RUN_COLUMNS = (
    RunColumn("id", str, lambda e, c: e.run.id, title="id", filters=("id",), text=lambda e: e.run.id),
    RunColumn("task", str, lambda e, c: e.run.task, title="name", cell=lambda e: e.name, filters=("task",),
              text=lambda e: f"{e.run.task}\n{e.run.title}", sort=lambda e: e.title, width=10),
    RunColumn("title", str, lambda e, c: e.run.title, title="task",
              cell=lambda e: e.title if e.title != e.name else ""),
    RunColumn("kind", str, lambda e, c: e.run.kind, filters=("kind",), text=lambda e: e.run.kind),
    RunColumn("agent", str, lambda e, c: e.run.agent, title="agent", cell=lambda e: e.agent, filters=("agent", "model"),
              text=lambda e: "\n".join((*agent_words(e.run), e.agent)), sort=lambda e: e.agent, width=12, least=66,
              share=7),
    RunColumn("persona", str | None, lambda e, c: e.run.persona or None, title="persona", filters=("persona",),
              text=lambda e: e.run.persona, width=8, least=128, muted=True),
    RunColumn("user", str | None, lambda e, c: e.run.user or None, filters=("user", "person"),
              text=lambda e: e.run.user),
    RunColumn("source", str | None, lambda e, c: e.run.source or None, title="source", filters=("source", "format"),
              text=lambda e: e.run.source, width=8, least=96, muted=True),
    RunColumn("attempt", int, lambda e, c: e.run.attempt, filters=("attempt",)),
    RunColumn("steps", int, lambda e, c: e.run.steps, title="steps", filters=("steps",), width=6, right=True),
    RunColumn("asks", int, lambda e, c: e.run.questions, title="asks", words=lambda many: str(many or "-"),
              filters=("asks", "questions"), width=5, least=66, right=True),
    RunColumn("replies", int, lambda e, c: e.run.replies, filters=("replies",)),
    RunColumn("status", str, lambda e, c: e.run.status, title="status", words=status_words, filters=("status",),
              text=lambda e: f"{e.run.status}\n{status_words(e.run.status)}", width=12, app_cell=_waiting_words),
    RunColumn("score", float | None, lambda e, c: e.run.score, title="score", words=score_words, filters=("score",),
              width=6, right=True),
    RunColumn("tokens", int | None, lambda e, c: c.tokens, None, title="tokens", words="{:,}".format,
              filters=("tokens",), width=9, least=108, right=True, muted=True, costly=True),
    RunColumn("cost", float | None, lambda e, c: c.dollars, None, title="cost", words=format_dollars, filters=("cost",),
              width=8, least=144, right=True, muted=True, costly=True),
    RunColumn("seconds", float | None, lambda e, c: c.seconds, None, title="seconds", words="{:.1f}".format,
              filters=("seconds", "time"), width=12, least=156, right=True, muted=True, costly=True, app_title="time",
              app_cell=_time_words),
    RunColumn("started", str, lambda e, c: e.run.started, words=local_time, filters=("started",), width=16, least=172,
              muted=True, app_title="started"),
    RunColumn("tags", tuple[str, ...], lambda e, c: e.run.tags, (), title="tags", words=" ".join, sparse=True,
              filters=("tag", "tags"), text=lambda e: "\n".join(e.run.tags)),
    RunColumn("archived", bool, lambda e, c: e.run.archived, False),
    RunColumn("agent_name", str, lambda e, c: _agent(e).implementation or _agent(e).id, ""),
    RunColumn("agent_version", str, lambda e, c: _agent(e).version, ""),
    RunColumn("agent_model", str, lambda e, c: _agent(e).model, ""),
)  # fmt: skip
"""Every column, in the order of tables and of `--sort`."""

SORTED: Mapping[str, RunColumn] = {column.name: column for column in RUN_COLUMNS if column.width}
"""Columns of the app's table, by name. Runs can be sorted by each."""

FILTERED: Mapping[str, RunColumn] = {
    word: column
    # A message lists them: texts before numbers, and what a table shows first.
    for column in sorted(RUN_COLUMNS, key=lambda one: (one.text is None, not one.title and not one.width))
    for word in column.filters
}
"""Columns by each of their words in a filter."""

_JSON = sorted(RUN_COLUMNS, key=lambda column: column.default is not msgspec.NODEFAULT)
"""Columns in the order of JSON: msgspec wants fields without a default first."""

if TYPE_CHECKING:
    RunLine = msgspec.Struct
else:
    RunLine = msgspec.defstruct(
        "RunLine",
        [(one.name, one.type, one.default) for one in _JSON],
        frozen=True,
        module=__name__,
        namespace={
            "__doc__": "One run of `runs`. Tokens, cost and seconds are null if its source does not record them."
        },
    )


def run_line(entry: RunEntry, cost: Cost) -> RunLine:
    """Return a run as JSON prints it."""
    return RunLine(*(column.value(entry, cost) for column in _JSON))
