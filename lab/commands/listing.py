"""The table of runs without a screen: runs."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

import msgspec

from lab.commands.records import SHORT_ID
from lab.commands.runs import open_store
from lab.commands.seats import check_seat
from lab.errors import LabError
from lab.output import print_json, say
from lab.settings import load
from lab.tables import print_table
from screens.describe import mean_words, money, score_words, status_words
from screens.runs.order import GROUPS, NEWEST, SORTS, Arranged, Group, Order, arrange, column
from screens.runs.rows import Cost, Entry, cost_of, entry
from screens.runs.sought import Sought, read
from screens.seats import sees_outcomes
from store.store import Store


class RunLine(msgspec.Struct, frozen=True):
    """One run of `runs`. What it cost is null where it was not read, and where its source does not tell."""

    id: str
    task: str
    title: str
    kind: str
    agent: str
    persona: str | None
    user: str | None
    source: str | None
    attempt: int
    steps: int
    asks: int
    replies: int
    status: str
    score: float | None
    started: str
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None


class GroupLine(msgspec.Struct, frozen=True):
    """Runs that have a value in common: the mean score of the `n` that have one, null where none has."""

    name: str
    runs: int
    mean_score: float | None
    n: int
    missing: int
    mean_steps: float
    statuses: dict[str, int]


class RunTable(msgspec.Struct, frozen=True):
    """What `runs` prints: how many there are, how many fit, and these; or, with --group, their groups."""

    total: int
    fit: int
    runs: tuple[RunLine, ...] = ()
    groups: tuple[GroupLine, ...] = ()


def runs(args: argparse.Namespace) -> int:
    """The runs that fit, in the order asked for; with --group, what is said of each group."""
    if args.limit is not None and args.limit < 1:
        raise LabError("runs", f"--limit {args.limit} is less than one", code=2)
    sought, order = _read(args.words), _order(args.sort, args.group)
    settings = load(db=getattr(args, "db", None))
    check_seat(settings, sees_outcomes, "runs")
    named = hasattr(args, "db")
    with open_store(settings, create=not named, readonly=named) as store:
        entries = [entry(row) for row in store.run_rows(-1)]
        costs: dict[str, Cost] = {}
        if sought.costly or order.costly:
            costs = _costs(store, entries)
        arranged = arrange(entries, sought, order, costs, frozenset())
        lines = arranged.lines[: args.limit]
        if args.costs and not costs:
            costs = _costs(store, [line.entry for line in lines if line.entry is not None])
        arranged = arranged._replace(lines=lines)
        if args.json:
            print_json(_table(len(entries), arranged, costs))
        elif not entries:
            say(f"no runs in {store.path}; `hitlab demo` makes one, `hitlab import PATH` brings yours")
        else:
            _tell(len(entries), arranged, order, costs)
    return 0


def _read(words: Sequence[str]) -> Sought:
    """The filter, whether it was written as one word of the command line or as several."""
    try:
        return read(" ".join(words))
    except LabError as error:
        raise LabError("runs", error.message, error.hint, code=2) from error


def _order(sort: str | None, group: str | None) -> Order:
    by = sort or NEWEST
    turned = by.endswith("-")
    by = column(by.removesuffix("-"), SORTS, "--sort")
    return Order(by, turned, column(group, GROUPS, "--group") if group else "")


def _costs(store: Store, entries: Sequence[Entry]) -> dict[str, Cost]:
    return {case.id: cost_of(case) for case in store.cases([it.run.id for it in entries])}


def _table(total: int, arranged: Arranged, costs: Mapping[str, Cost]) -> RunTable:
    return RunTable(
        total,
        arranged.runs,
        tuple(_line(line.entry, costs) for line in arranged.lines if line.entry is not None),
        tuple(_group(line.group) for line in arranged.lines if line.group is not None),
    )


def _line(it: Entry, costs: Mapping[str, Cost]) -> RunLine:
    run, cost = it.run, costs.get(it.run.id, Cost())
    return RunLine(
        run.id, run.task, run.title, run.kind, run.agent, run.persona or None, run.user or None, run.source or None,
        run.attempt, run.steps, run.asks, run.replies, run.status, run.score, run.started, cost.tokens, cost.dollars,
        cost.seconds,
    )  # fmt: skip


def _group(group: Group) -> GroupLine:
    return GroupLine(
        group.name, group.runs, group.mean, group.n, group.missing, round(group.steps, 3), dict(group.statuses)
    )


def _tell(total: int, arranged: Arranged, order: Order, costs: Mapping[str, Cost]) -> None:
    groups = [line.group for line in arranged.lines if line.group is not None]
    if order.group:
        print_table([order.group, "runs", "mean score", "n", "no score", "mean steps", "status"], _group_rows(groups))
    elif arranged.lines:
        entries = [line.entry for line in arranged.lines if line.entry is not None]
        columns = ["id", "task", "agent", "persona", "source", "steps", "asks", "status", "score"]
        more = ["tokens", "cost", "seconds"] if costs else []
        print_table(columns + more, [_cells(it, costs) for it in entries], wide="task")
    said = f"{arranged.runs:,} of {total:,} runs"
    say(f"{said} in {arranged.groups:,} groups" if order.group else said)


def _group_rows(groups: Sequence[Group]) -> list[list[str]]:
    return [
        [
            group.name, f"{group.runs}", "undefined (no score)" if group.mean is None else mean_words(group.mean),
            f"{group.n}", f"{group.missing}", f"{group.steps:.1f}",
            ", ".join(f"{count} {status_words(status)}" for status, count in group.statuses),
        ]
        for group in groups
    ]  # fmt: skip


def _cells(it: Entry, costs: Mapping[str, Cost]) -> list[str]:
    run = it.run
    row = [
        run.id[:SHORT_ID], it.name, run.agent, run.persona or "-", run.source or "-", str(run.steps),
        str(run.asks or "-"), status_words(run.status), score_words(run.score),
    ]  # fmt: skip
    cost = costs.get(run.id)
    if cost is None:
        return row
    tokens = "-" if cost.tokens is None else f"{cost.tokens:,}"
    return [*row, tokens, money(cost.dollars), "-" if cost.seconds is None else f"{cost.seconds:.1f}"]
