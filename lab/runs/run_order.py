"""The rows of a table of runs in order: those that fit a filter, sorted by a column, put together in groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from lab.core.errors import LabError
from lab.core.plain_text import plain
from lab.core.suggestion import none_of
from lab.runs.run_filter import COSTLY, UNKNOWN, RunFilter
from lab.runs.run_rows import Cost, RunEntry

NEWEST = "newest"
Value = Callable[[RunEntry, Cost], float | str | None]
SORTS: dict[str, Value] = {
    NEWEST: lambda it, cost: it.run.n,
    "task": lambda it, cost: it.title.casefold(),
    "agent": lambda it, cost: it.agent.casefold(),
    "persona": lambda it, cost: it.run.persona.casefold() or None,
    "source": lambda it, cost: it.run.source or None,
    "steps": lambda it, cost: it.run.steps,
    "asks": lambda it, cost: it.run.asks,
    "status": lambda it, cost: it.run.status,
    "score": lambda it, cost: it.run.score,
    "tokens": lambda it, cost: cost.tokens,
    "cost": lambda it, cost: cost.dollars,
    "seconds": lambda it, cost: cost.seconds,
    "started": lambda it, cost: it.run.started or None,
}
"""What runs are sorted by; what is not known comes last, whichever way they are sorted."""
WORDS = frozenset({"task", "agent", "persona", "source", "status"})
"""Columns that are sorted from A on; of the others the most, or the newest, comes first."""
MEANS = ("score", "steps")
"""Columns by whose mean groups are sorted; by any other, only the runs in them are."""
GROUPS: dict[str, Callable[[RunEntry], str]] = {
    "task": lambda it: it.words,
    "agent": lambda it: it.agent,
    "source": lambda it: it.run.source or "(made here)",
    "persona": lambda it: it.run.persona or "(no persona)",
    "status": lambda it: it.run.status,
}


class Order(NamedTuple):
    """How a table is laid out: sorted by a column, one way or the other, in groups by another where there is one."""

    by: str = NEWEST
    turned: bool = False
    group: str = ""

    @property
    def down(self) -> bool:
        """Whether the most comes first."""
        return (self.by not in WORDS) is not self.turned

    @property
    def costly(self) -> bool:
        """Whether it asks for what a run cost."""
        return self.by in COSTLY


class RunGroup(NamedTuple):
    """Runs that have a value in common. `mean` is of the `n` that have a score, None where none has."""

    name: str
    runs: int
    n: int
    mean: float | None
    steps: float
    statuses: tuple[tuple[str, int], ...]

    @property
    def missing(self) -> int:
        """How many have no score."""
        return self.runs - self.n


class RunTableLine(NamedTuple):
    """A line of the table: a run, or a group, whose runs follow it where it is `open`."""

    entry: RunEntry | None
    group: RunGroup | None = None
    open: bool = False


class ArrangedRuns(NamedTuple):
    """The table as it stands: its lines, and how many runs and groups are in it."""

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
    """The lines of a table; of a group only its own line, but for those that are opened by name."""
    fitting = [it for it in entries if run_filter.fits(it, costs)] if run_filter.tests else list(entries)
    fitting = _sorted(fitting, order, costs)
    if not order.group:
        return ArrangedRuns([RunTableLine(it) for it in fitting], len(fitting))
    of = GROUPS[order.group]
    members: dict[str, list[RunEntry]] = {}
    for it in fitting:
        members.setdefault(of(it), []).append(it)
    lines: list[RunTableLine] = []
    groups = [group_of(name, runs) for name, runs in members.items()]
    for group in _ordered(groups, order):
        is_open = group.name in open_groups
        lines.append(RunTableLine(None, group, is_open))
        lines += [RunTableLine(it) for it in members[group.name]] if is_open else []
    return ArrangedRuns(lines, len(fitting), len(members))


def group_of(name: str, entries: Sequence[RunEntry]) -> RunGroup:
    """What is said of several runs together."""
    scores = [it.run.score for it in entries if it.run.score is not None]
    return RunGroup(
        name,
        len(entries),
        len(scores),
        sum(scores) / len(scores) if scores else None,
        sum(it.run.steps for it in entries) / len(entries),
        tuple(Counter(it.run.status for it in entries).most_common()),
    )


def column(name: str, among: Iterable[str], what: str) -> str:
    """A column by its name; `LabError` lists which there are."""
    names = list(among)
    if name not in names:
        raise LabError("runs", f"{what} {none_of(plain(name), names)}", code=2)
    return name


def _sorted(entries: list[RunEntry], order: Order, costs: Mapping[str, Cost]) -> list[RunEntry]:
    """In the order asked for; among equals, and where nothing is known, the newest first."""
    of = SORTS[order.by]
    keyed = [(of(it, costs.get(it.run.id, UNKNOWN)), it) for it in entries]
    sortable = [pair for pair in keyed if pair[0] is not None]
    sortable.sort(key=lambda pair: pair[0], reverse=order.down)  # type: ignore[arg-type,return-value]
    return [it for _, it in sortable] + [it for value, it in keyed if value is None]


def _ordered(groups: list[RunGroup], order: Order) -> list[RunGroup]:
    """By the mean of the column that runs are sorted by, where it has one; else by name."""
    groups.sort(key=lambda group: group.name.casefold(), reverse=order.turned and order.by not in MEANS)
    if order.by == "steps":
        groups.sort(key=lambda group: group.steps, reverse=order.down)
    elif order.by == "score":
        with_mean = [group for group in groups if group.mean is not None]
        with_mean.sort(key=lambda group: group.mean or 0.0, reverse=order.down)
        groups = with_mean + [group for group in groups if group.mean is None]
    return groups
