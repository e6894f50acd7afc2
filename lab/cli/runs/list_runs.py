"""The commands runs, traces and show: list runs, and print one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from lab.cli.arguments import (
    ArchivedArguments,
    JsonArguments,
    Parser,
    TableArguments,
    TaggedArguments,
    argument,
    flag,
    option,
    up_to,
)
from lab.cli.database import open_list, open_store, settings_for
from lab.cli.output import print_json, print_line, print_result, print_table, record_of, run_id_cell, table_form, warn
from lab.core.errors import LabError
from lab.core.run.agent_names import shortest_names
from lab.core.run.run_records import TraceLine, Verdict, check_tag
from lab.core.run.step import Spent
from lab.core.run.trace import Ended, Started, Step
from lab.core.values.rounding import count
from lab.runs.descriptions import mean_words, status_words
from lab.runs.listing.run_columns import RUN_COLUMNS, UNKNOWN, RunLine, run_line
from lab.runs.listing.run_filter import RunFilter, parse_filter
from lab.runs.listing.run_order import GROUPS, NEWEST, SORTS, ArrangedRuns, Order, RunGroup, arrange, column
from lab.runs.listing.run_rows import Cost, RunEntry, cost_of, entry, with_agent_names
from lab.runs.listing.run_selection import with_tag
from lab.studies.seats import sees_outcomes
from store.store import Store


class RunTable(msgspec.Struct, frozen=True):
    """Result of `runs`: the number of all runs, of the fitting ones, and those (with --group their groups).

    `archived` counts archived runs. They are in no other count, and in a list only with --archived.
    """

    total: int
    fit: int
    runs: tuple[RunLine, ...] = ()
    groups: tuple[RunGroup, ...] = ()
    archived: int = 0


ARCHIVED_TOO = "{:,} archived; `hitlab {} --archived` lists them"
_NO_RUNS = "no runs in {}; `hitlab demo` makes one, `hitlab import PATH` brings yours"


class RunsArguments(TaggedArguments, ArchivedArguments, TableArguments):
    words: list[str] = argument(
        "WORD",
        "list runs that have all of these: words, or a column's value, e.g. agent:qwen, status:failed, 'score<1', "
        "'task:\"a b\"'; with - before it a run must not have it",
        nargs="*",
    )
    sort: str | None = option(
        "COLUMN", "sort by a column, e.g. score, or score- for descending order (default: newest)", completes="column"
    )
    group: str | None = option(
        "COLUMN", "print mean scores by task, agent, source, persona or status", completes="group"
    )
    limit: int | None = option("N", "list only the first N lines (e.g. 20)", type=up_to(1_000_000_000))
    costs: bool = flag("also list what each run cost (--json always does)")


def add_runs_list(parser: Parser) -> None:
    parser.runs(runs, RunsArguments, prints={"runs": RunTable}, loose="words")
    parser.examples(
        """\
  hitlab runs list 'score<1' agent:qwen     both must hold
  hitlab runs list lunch -status:failed --sort score-
  hitlab runs list --group agent --format csv --output agents.csv
  hitlab runs list started:2026-03 --costs --json
"""
    )


def runs(args: RunsArguments) -> int:
    """Print the fitting runs in the requested order, or with --group the statistics of each group."""
    if args.limit is not None and args.limit < 1:
        raise LabError("runs", f"--limit {args.limit} is less than one", code=2)
    run_filter, order = _parse_filter(with_tag(args.words, args.tag)), _parse_order(args.sort, args.group)
    settings = settings_for(args.db, sees_outcomes, "runs")
    with open_list(settings) as store:
        rows = store.runs.rows(-1)
        entries = with_agent_names([entry(row) for row in rows if row.archived is args.archived])
        away = sum(row.archived for row in rows)
        costs: dict[str, Cost] = {}
        if run_filter.needs_costs or order.needs_costs:
            costs = _measure_costs(store, entries)
        arrangement = arrange(entries, run_filter, order, costs, frozenset())
        lines = arrangement.lines[: args.limit]
        if (args.costs or args.json or table_form.is_data) and not costs:
            costs = _measure_costs(store, [line.entry for line in lines if line.entry is not None])
        arrangement = arrangement._replace(lines=lines)
    if not rows and not args.json:
        print_line(_NO_RUNS.format(store.path))
        if not table_form.is_data:
            return 0
    table = _run_table(len(entries), away, arrangement, costs)
    print_result(table, lambda _: _print_runs(table, arrangement, order, costs, archived=args.archived), json=args.json)
    if args.words and not arrangement.runs and not args.json:
        warn("no run has these words; `hitlab runs --help` lists the verbs of runs")
    return 0


def _parse_filter(words: Sequence[str]) -> RunFilter:
    """Return the filter, typed as one word or as several."""
    try:
        return parse_filter(" ".join(words))
    except LabError as error:
        raise LabError("runs", error.message, error.hint, code=2) from error


def _parse_order(sort: str | None, group: str | None) -> Order:
    by = sort or NEWEST
    reverse = by.endswith("-")
    by = column(by.removesuffix("-"), SORTS, "--sort")
    return Order(by, reverse, column(group, GROUPS, "--group") if group else "")


def _measure_costs(store: Store, entries: Sequence[RunEntry]) -> dict[str, Cost]:
    return {case.id: cost_of(case) for case in store.runs.measured([row.run.id for row in entries])}


def _run_table(total: int, archived: int, arrangement: ArrangedRuns, costs: Mapping[str, Cost]) -> RunTable:
    return RunTable(
        total,
        arrangement.runs,
        tuple(
            run_line(line.entry, costs.get(line.entry.run.id, UNKNOWN))
            for line in arrangement.lines
            if line.entry is not None
        ),
        tuple(line.group for line in arrangement.lines if line.group is not None),
        archived,
    )


def _print_runs(
    table: RunTable, arrangement: ArrangedRuns, order: Order, costs: Mapping[str, Cost], *, archived: bool
) -> None:
    groups = [line.group for line in arrangement.lines if line.group is not None]
    if order.group:
        columns = [order.group, "runs", "mean score", "n", "no score", "mean steps", "status"]
        print_table(columns, _group_rows(groups), records=(RunGroup, table.groups))
    elif arrangement.lines or table_form.is_data:
        entries = [line.entry for line in arrangement.lines if line.entry is not None]
        shown_columns = [
            one
            for one in RUN_COLUMNS
            if one.title
            and (costs or not one.costly)
            and (not one.sparse or any(one.value(row, UNKNOWN) for row in entries))
        ]
        rows = [[one.table_cell(row, costs.get(row.run.id, UNKNOWN)) for one in shown_columns] for row in entries]
        titles, cells = [one.title for one in shown_columns], [[run_id_cell(row[0]), *row[1:]] for row in rows]
        print_table(titles, cells, wide="task", records=(RunLine, table.runs))
    summary = f"{arrangement.runs:,} of {table.total:,} {'archived ' if archived else ''}runs"
    if order.group:
        summary += f" in {count(arrangement.groups, 'group')}"
    shown = len(arrangement.lines)
    cut = shown < (arrangement.groups if order.group else arrangement.runs)
    print_line(f"{summary}, the first {shown:,} shown" if cut else summary)
    if table.archived and not archived:
        print_line(ARCHIVED_TOO.format(table.archived, "runs list"))


def _group_rows(groups: Sequence[RunGroup]) -> list[list[str]]:
    return [
        [
            group.name, f"{group.runs}", "undefined (no score)" if group.mean is None else mean_words(group.mean),
            f"{group.n}", f"{group.missing}", f"{group.steps:.1f}",
            ", ".join(f"{count} {status_words(status)}" for status, count in group.statuses.items()),
        ]
        for group in groups
    ]  # fmt: skip


class TracesArguments(TaggedArguments, ArchivedArguments, TableArguments):
    limit: int | None = option("N", "list only the newest N (e.g. 20)", type=up_to(1_000_000_000))


def add_traces(parser: Parser) -> None:
    parser.runs(traces, TracesArguments, prints={"traces": "list:lab.core.run.run_records:TraceLine"})
    parser.examples(
        """\
  hitlab traces --limit 20
  hitlab traces --json | jq '.[].score'
  hitlab runs list --limit 20          the same runs: filtered, sorted
"""
    )


def traces(args: TracesArguments) -> int:
    """Print the runs in the database, newest first."""
    if args.limit is not None and args.limit < 1:
        raise LabError("traces", f"--limit {args.limit} is less than one", code=2)
    settings = settings_for(args.db, sees_outcomes, "traces")
    with open_list(settings) as store:
        tag = check_tag(args.tag) if args.tag is not None else ""
        runs = store.runs.summaries(args.limit, archived=args.archived, tag=tag)
        names = shortest_names(run.actor for run in runs if run.actor is not None)
        lines = [record_of(TraceLine, run) for run in runs]
        away = 0 if args.archived else len(store.runs.acts.archived())
        any_run = bool(lines or away) or args.archived or bool(tag)
    nothing = _NO_RUNS.format(store.path)
    if any_run:
        nothing = f"no {'archived ' if args.archived else ''}runs{f' with the tag {tag}' if tag else ''}"
    print_result(lines, lambda _: _print_traces(lines, names), json=args.json, nothing=nothing)
    if away and not args.json:
        print_line(ARCHIVED_TOO.format(away, "traces"))
    return 0


_TRACE_COLUMNS = {
    "id": "id", "task": "task", "agent": "agent", "persona": "persona", "steps": "steps", "questions": "asked",
    "replies": "answered", "status": "status", "score": "score", "source": "source",
}  # fmt: skip
"""Columns of `traces`, by field."""


def _print_traces(lines: list[TraceLine], names: Mapping[str, str]) -> None:
    tags = ["tags"] if any(line.tags for line in lines) else []
    rows = [
        [_format_cell(names.get(line.agent) if name == "agent" else getattr(line, name)) for name in _TRACE_COLUMNS]
        + ([" ".join(line.tags) or "-"] if tags else [])
        for line in lines
    ]
    columns = [*_TRACE_COLUMNS.values(), *tags]
    cells = [[run_id_cell(row[0]), *row[1:]] for row in rows]
    print_table(columns, cells, wide="task", records=(TraceLine, lines))


def _format_cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)


class RunDetails(msgspec.Struct, frozen=True):
    """One whole run: `show`. `ended` is null while the run is open. `verdicts` come from its source.

    `spent` is the cost of its model's answers, null if no model was asked.
    """

    id: str
    status: str
    score: float | None
    questions: int
    replies: int
    started: Started
    steps: tuple[Step, ...]
    ended: Ended | None
    verdicts: tuple[Verdict, ...]
    spent: Spent | None = None


class ShowArguments(JsonArguments):
    run_id: str = argument("ID", "id of a run, or its beginning", completes="run")
    errors: bool = flag("also print what its program wrote on standard error")


def add_runs_show(parser: Parser) -> None:
    parser.runs(show, ShowArguments, prints={"show": RunDetails})
    parser.examples(
        """\
  hitlab runs show 019a
  hitlab runs show 019a --json | jq '.steps[0]'
"""
    )


def show(args: ShowArguments) -> int:
    """Print one run."""
    settings = settings_for(args.db, sees_outcomes, "show")
    with open_store(settings, create=False, readonly=True) as store:
        run = store.runs.find(args.run_id)
        trace = store.runs.trace(run)
        verdicts = store.runs.verdicts(run)
        if not args.json:
            from lab.cli.runs.run_text import print_run

            print_run(trace, str(store.path), verdicts, errors=args.errors)
            return 0
        started = next(iter(store.runs.events(run)))
        assert isinstance(started, Started)
        print_json(
            record_of(
                RunDetails,
                trace,
                score=trace.ended.score if trace.ended else None,
                started=started,
                verdicts=tuple(verdicts),
            )
        )
    return 0
