"""Columns of the table of runs: their contents, and the widths from which they are shown."""

from __future__ import annotations

from collections.abc import Callable

from lab.runs.descriptions import format_dollars, local_time, mean_words, one_line, score_words, status_words
from lab.runs.run_order import Order, RunGroup
from lab.runs.run_rows import Cost, RunEntry
from screens.widgets.table import TableColumn, cell, fit_name_and_title

UNREAD = "…"
"""Text of a cost that is still being read."""


COLUMNS: dict[str, TableColumn] = {
    "agent": TableColumn("agent", 12, 66, share=7, gap=1),
    "persona": TableColumn("persona", 8, 128, gap=1),
    "source": TableColumn("source", 8, 96, gap=1),
    "steps": TableColumn("steps", 6, 0, right=True, gap=1),
    "asks": TableColumn("asks", 5, 66, right=True, gap=1),
    "status": TableColumn("status", 12, 0),
    "score": TableColumn("score", 6, 0, right=True, gap=1),
    "tokens": TableColumn("tokens", 9, 108, right=True, gap=1),
    "cost": TableColumn("cost", 8, 144, right=True, gap=1),
    "seconds": TableColumn("time", 12, 156, right=True, gap=1),
    "started": TableColumn("started", 16, 172),
}
_LEAST_TASK = 10
"""Minimum columns of a task."""
COSTS = ("tokens", "cost", "seconds")
_GROUP = {
    "runs": TableColumn("runs", 6, 0, right=True, gap=1),
    "mean": TableColumn("mean score", 10, 0, right=True),
    "n": TableColumn("n", 6, 0, right=True, gap=1),
    "missing": TableColumn("no score", 8, 0, right=True),
    "steps": TableColumn("mean steps", 10, 90, right=True),
    "statuses": TableColumn("status", 30, 112, share=4),
}
_VALUES: dict[str, Callable[[RunEntry], str]] = {
    "agent": lambda it: one_line(it.agent),
    "persona": lambda it: one_line(it.run.persona or "-"),
    "source": lambda it: one_line(it.run.source or "-"),
    "steps": lambda it: str(it.run.steps),
    "asks": lambda it: str(it.run.questions) if it.run.questions else "-",
    "status": lambda it: status_words(it.run.status, it.run.status == "open" and it.run.questions > it.run.replies),
    "score": lambda it: score_words(it.run.score),
    "started": lambda it: local_time(it.run.started) or "-",
}


def visible_columns(width: int, by: str = "") -> dict[str, TableColumn]:
    """Return the columns for a table of that width. The column sorted `by` is also in a narrower one if it fits."""
    columns = {
        name: column.for_width(width)
        for name, column in COLUMNS.items()
        if width >= column.min_table_width or name == by
    }
    used_width = sum(column.width + column.gap for column in columns.values())
    if by in columns and width < COLUMNS[by].min_table_width and width - used_width < _LEAST_TASK:
        del columns[by]
    return columns


def heading(width: int, order: Order) -> list[tuple[str, str]]:
    """Return the titles by name. The column that the table is sorted by has an arrow."""
    if order.group:
        columns = {name: column for name, column in _GROUP.items() if width >= column.min_table_width}
        return _row(width, columns, order.group, {name: column.title for name, column in columns.items()})
    columns = visible_columns(width, order.by)
    arrow = "▼" if order.descending else "▲"
    titles = {name: column.title + (arrow if name == order.by else "") for name, column in columns.items()}
    return _row(width, columns, "task" + (arrow if order.by == "task" else ""), titles)


def run_row(it: RunEntry, cost: Cost | None, width: int, by: str = "") -> list[tuple[str, str]]:
    """Return a run's cells by name, as wide together as the table, which is sorted `by` a column."""
    columns = visible_columns(width, by)
    values = {name: _cost_words(name, cost) if name in COSTS else _VALUES[name](it) for name in columns}
    tags = [one_line(tag) for tag in it.run.tags]
    first = fit_name_and_title(one_line(it.name), one_line(it.title), _task_width(width, columns), tags)
    marks = [("tags", first.tags)] if first.tags else []
    return [("task", first.text), *marks, *_format_cells(columns, values)]


def member_row(it: RunEntry, by: str, width: int) -> list[tuple[str, str]]:
    """Return a run's cells in a table grouped `by` a column.

    Its values are under the headings of the groups, its name is indented.
    """
    columns = {name: column for name, column in _GROUP.items() if width >= column.min_table_width}
    status = _VALUES["status"](it)
    words = {"agent": one_line(it.agent), "task": one_line(it.words), "status": status}
    if "statuses" in columns:
        del words["status"]
    values = {
        "runs": "",
        "mean": score_words(it.run.score),
        "n": "",
        "missing": "1" if it.run.score is None else "",
        "steps": str(it.run.steps),
        "statuses": status,
    }
    return _row(width, columns, "  " + "   ".join(word for name, word in words.items() if name != by), values)


def group_row(group: RunGroup, width: int) -> list[tuple[str, str]]:
    """Return a group's cells by name."""
    columns = {name: column for name, column in _GROUP.items() if width >= column.min_table_width}
    values = {
        "runs": f"{group.runs:,}",
        "mean": mean_words(group.mean),
        "n": f"{group.n:,}",
        "missing": f"{group.missing:,}" if group.missing else "-",
        "steps": f"{group.steps:.1f}",
        "statuses": ", ".join(f"{count:,} {status_words(status)}" for status, count in group.statuses),
    }
    return _row(width, columns, one_line(group.name) or "(empty)", values)


def _cost_words(name: str, cost: Cost | None) -> str:
    if cost is None:
        return UNREAD
    if name == "tokens":
        return "-" if cost.tokens is None else f"{cost.tokens:,}"
    if name == "cost":
        return format_dollars(cost.dollars)
    return _time_words(cost.seconds)


def _time_words(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60):,} min {int(seconds % 60):02d} s"


def _row(width: int, columns: dict[str, TableColumn], first: str, values: dict[str, str]) -> list[tuple[str, str]]:
    return [("task", cell(first, TableColumn("", _task_width(width, columns), 0))), *_format_cells(columns, values)]


def _task_width(width: int, columns: dict[str, TableColumn]) -> int:
    """Return the width that the other columns leave to the first."""
    return max(8, width - sum(column.width + column.gap for column in columns.values()))


def _format_cells(columns: dict[str, TableColumn], values: dict[str, str]) -> list[tuple[str, str]]:
    return [(name, " " * column.gap + cell(values[name], column)) for name, column in columns.items()]
