"""Arrange a table of runs: filter, sort by a column, and group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from lab.core.errors import LabError
from lab.core.text.plain_text import plain
from lab.core.text.suggestion import unknown_name
from lab.runs.listing.run_columns import SORTED, UNKNOWN
from lab.runs.listing.run_filter import RunFilter
from lab.runs.listing.run_rows import Cost, RunEntry

NEWEST = "newest"
SORTS: dict[str, Callable[[RunEntry, Cost], Any]] = {
    NEWEST: lambda entry, cost: entry.run.n,
    **{name: column.sort_key for name, column in SORTED.items()},
}
"""Sort keys by column. Unknown values come last in either direction."""
MEANS = ("score", "steps")
"""Columns whose group mean sorts the groups. Other columns only sort the runs within."""
GROUPS: dict[str, Callable[[RunEntry], str]] = {
    "task": lambda entry: entry.words,
    "agent": lambda entry: entry.agent,
    "source": lambda entry: entry.run.source or "(made here)",
    "persona": lambda entry: entry.run.persona or "(no persona)",
    "status": lambda entry: entry.run.status,
}


class Order(NamedTuple):
    """Layout of a table: sorted by a column, perhaps in reverse, perhaps grouped by another."""

    by: str = NEWEST
    reversed: bool = False
    group: str = ""

    @property
    def descending(self) -> bool:
        """True if the largest comes first."""
        return (self.by == NEWEST or not SORTED[self.by].ascending) is not self.reversed

    @property
    def needs_costs(self) -> bool:
        """True if it sorts by the cost of a run."""
        return self.by in SORTED and SORTED[self.by].costly


class RunGroup(msgspec.Struct, frozen=True, rename={"mean": "mean_score", "steps": "mean_steps"}):
    """Runs with a common value: the mean score of the `n` that have one, null if none has."""

    name: str
    runs: int
    mean: float | None
    n: int
    missing: int
    steps: float
    statuses: dict[str, int]


class RunTableLine(NamedTuple):
    """A line of the table: a run, or a group. The runs of an `open` group follow it."""

    entry: RunEntry | None
    group: RunGroup | None = None
    open: bool = False


class ArrangedRuns(NamedTuple):
    """The arranged table: its lines, and the number of runs and groups."""

    lines: list[RunTableLine]
    runs: int
    groups: int = 0


def arrange(
    entries: Iterable[RunEntry],
    run_filter: RunFilter,
    order: Order,
    costs: Mapping[str, Cost],
    open_groups: frozenset[str],
) -> ArrangedRuns:
    """Arrange the lines of a table. A group shows its runs only if its name is in `open_groups`."""
    fitting = [entry for entry in entries if run_filter.fits(entry, costs)] if run_filter.tests else list(entries)
    fitting = _sort_entries(fitting, order, costs)
    if not order.group:
        return ArrangedRuns([RunTableLine(entry) for entry in fitting], len(fitting))
    group_name = GROUPS[order.group]
    members: dict[str, list[RunEntry]] = {}
    for entry in fitting:
        members.setdefault(group_name(entry), []).append(entry)
    lines: list[RunTableLine] = []
    groups = [group_of(name, runs) for name, runs in members.items()]
    for group in _sort_groups(groups, order):
        is_open = group.name in open_groups
        lines.append(RunTableLine(None, group, is_open))
        lines += [RunTableLine(entry) for entry in members[group.name]] if is_open else []
    return ArrangedRuns(lines, len(fitting), len(members))


def group_of(name: str, entries: Sequence[RunEntry]) -> RunGroup:
    """Summarize several runs as a group."""
    scores = [entry.run.score for entry in entries if entry.run.score is not None]
    return RunGroup(
        name,
        len(entries),
        sum(scores) / len(scores) if scores else None,
        len(scores),
        len(entries) - len(scores),
        round(sum(entry.run.steps for entry in entries) / len(entries), 3),
        dict(Counter(entry.run.status for entry in entries).most_common()),
    )


def column(name: str, among: Iterable[str], what: str) -> str:
    """Return a column's name. Raise `LabError` with the known ones if it is unknown."""
    names = list(among)
    if name not in names:
        raise LabError("runs", f"{what} {unknown_name(plain(name), names)}", code=2)
    return name


def _sort_entries(entries: list[RunEntry], order: Order, costs: Mapping[str, Cost]) -> list[RunEntry]:
    """Sort entries as requested. Equal and unknown values are in the given order, newest first."""
    sort_key = SORTS[order.by]
    keyed = [(sort_key(entry, costs.get(entry.run.id, UNKNOWN)), entry) for entry in entries]
    sortable = [pair for pair in keyed if pair[0] is not None]
    # The sort is stable, so that equal values stay newest first.
    sortable.sort(key=lambda pair: pair[0], reverse=order.descending)
    return [entry for _, entry in sortable] + [entry for value, entry in keyed if value is None]


def _sort_groups(groups: list[RunGroup], order: Order) -> list[RunGroup]:
    """Sort groups by the mean of the sort column if it has one, else by name."""
    # By name first: later sorts are stable, and equal means keep that order.
    groups.sort(key=lambda group: group.name.casefold(), reverse=order.reversed and order.by not in MEANS)
    if order.by == "steps":
        groups.sort(key=lambda group: group.steps, reverse=order.descending)
    elif order.by == "score":
        with_mean = [group for group in groups if group.mean is not None]
        with_mean.sort(key=lambda group: group.mean or 0.0, reverse=order.descending)
        groups = with_mean + [group for group in groups if group.mean is None]
    return groups
