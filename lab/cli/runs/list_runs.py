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
from lab.cli.output import print_json, print_line, print_result, print_table, run_id_cell
from lab.core.errors import LabError
from lab.core.run.agent_names import shortest_names
from lab.core.run.run_records import TraceLine, Verdict, check_tag
from lab.core.run.step import Spent
from lab.core.run.trace import Ended, Started, Step
from lab.core.task.task import Actor
from lab.runs.descriptions import format_dollars, mean_words, score_words, status_words
from lab.runs.listing.run_filter import RunFilter, parse_filter
from lab.runs.listing.run_order import GROUPS, NEWEST, SORTS, ArrangedRuns, Order, RunGroup, arrange, column
from lab.runs.listing.run_rows import Cost, RunEntry, cost_of, entry, with_agent_names
from lab.runs.listing.run_selection import with_tag
from lab.studies.seats import sees_outcomes
from store.store import Store


class RunLine(msgspec.Struct, frozen=True):
    """One run of `runs`. Tokens, cost and seconds are null if its source does not record them."""

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
    tags: tuple[str, ...] = ()
    archived: bool = False
    agent_name: str = ""
    agent_version: str = ""
    agent_model: str = ""


class GroupLine(msgspec.Struct, frozen=True):
    """Runs with a common value: the mean score of the `n` that have one, null if none has."""

    name: str
    runs: int
    mean_score: float | None
    n: int
    missing: int
    mean_steps: float
    statuses: dict[str, int]


class RunTable(msgspec.Struct, frozen=True):
    """Result of `runs`: the number of all runs, of the fitting ones, and those (with --group their groups).

    `archived` counts archived runs. They are in no other count, and in a list only with --archived.
    """

    total: int
    fit: int
    runs: tuple[RunLine, ...] = ()
    groups: tuple[GroupLine, ...] = ()
    archived: int = 0


ARCHIVED_TOO = "{:,} archived; `hitlab {} --archived` lists them"
_NO_RUNS = "no runs in {}; `hitlab demo` makes one, `hitlab import PATH` brings yours"


class RunsArguments(TaggedArguments, ArchivedArguments, TableArguments):
    words: list[str] = argument(
        "WORD",
        "list runs with these words, or agent:qwen 'score<1' 'asks>0' status:failed 'task:\"a b\"'; - excludes",
        nargs="*",
    )
    sort: str | None = option(
        "COLUMN", "sort by a column, as score, or descending, as score- (default: newest)", completes="column"
    )
    group: str | None = option(
        "COLUMN", "print mean scores by task, agent, source, persona or status", completes="group"
    )
    limit: int | None = option("N", "list only the first N lines, as 20", type=up_to(1_000_000_000))
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
        if (args.costs or args.json) and not costs:
            costs = _measure_costs(store, [line.entry for line in lines if line.entry is not None])
        arrangement = arrangement._replace(lines=lines)
    if not rows and not args.json:
        print_line(_NO_RUNS.format(store.path))
        return 0
    table = _run_table(len(entries), away, arrangement, costs)
    print_result(table, lambda _: _print_runs(table, arrangement, order, costs, archived=args.archived), json=args.json)
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
        tuple(_run_line(line.entry, costs) for line in arrangement.lines if line.entry is not None),
        tuple(_group_line(line.group) for line in arrangement.lines if line.group is not None),
        archived,
    )


def _run_line(row: RunEntry, costs: Mapping[str, Cost]) -> RunLine:
    run, cost = row.run, costs.get(row.run.id, Cost())
    agent = run.actor or Actor("script", run.agent)
    return RunLine(
        run.id, run.task, run.title, run.kind, run.agent, run.persona or None, run.user or None, run.source or None,
        run.attempt, run.steps, run.questions, run.replies, run.status, run.score, run.started, cost.tokens,
        cost.dollars,
        cost.seconds, run.tags, run.archived, agent.implementation or agent.id, agent.version, agent.model,
    )  # fmt: skip


def _group_line(group: RunGroup) -> GroupLine:
    return GroupLine(
        group.name, group.runs, group.mean, group.n, group.unscored_count, round(group.steps, 3), dict(group.statuses)
    )


def _print_runs(
    table: RunTable, arrangement: ArrangedRuns, order: Order, costs: Mapping[str, Cost], *, archived: bool
) -> None:
    groups = [line.group for line in arrangement.lines if line.group is not None]
    if order.group:
        print_table([order.group, "runs", "mean score", "n", "no score", "mean steps", "status"], _group_rows(groups))
    elif arrangement.lines:
        entries = [line.entry for line in arrangement.lines if line.entry is not None]
        columns = ["id", "name", "task", "agent", "persona", "source", "steps", "asks", "status", "score"]
        more = ["tokens", "cost", "seconds"] if costs else []
        tags = ["tags"] if any(row.run.tags for row in entries) else []
        cells = [_run_cells(row, costs) + ([" ".join(row.run.tags) or "-"] if tags else []) for row in entries]
        print_table(columns + more + tags, cells, wide="task")
    summary = f"{arrangement.runs:,} of {table.total:,} {'archived ' if archived else ''}runs"
    if order.group:
        summary += f" in {arrangement.groups:,} groups"
    shown = len(arrangement.lines)
    cut = shown < (arrangement.groups if order.group else arrangement.runs)
    print_line(f"{summary}, the first {shown:,} shown" if cut else summary)
    if table.archived and not archived:
        print_line(ARCHIVED_TOO.format(table.archived, "runs list"))


def _group_rows(groups: Sequence[RunGroup]) -> list[list[str]]:
    return [
        [
            group.name, f"{group.runs}", "undefined (no score)" if group.mean is None else mean_words(group.mean),
            f"{group.n}", f"{group.unscored_count}", f"{group.steps:.1f}",
            ", ".join(f"{count} {status_words(status)}" for status, count in group.statuses),
        ]
        for group in groups
    ]  # fmt: skip


def _run_cells(row: RunEntry, costs: Mapping[str, Cost]) -> list[str]:
    run = row.run
    cells = [
        run_id_cell(run.id), row.name, row.title if row.title != row.name else "", row.agent, run.persona or "-",
        run.source or "-", str(run.steps), str(run.questions or "-"), status_words(run.status), score_words(run.score),
    ]  # fmt: skip
    cost = costs.get(run.id)
    if cost is None:
        return cells
    tokens = "-" if cost.tokens is None else f"{cost.tokens:,}"
    return [*cells, tokens, format_dollars(cost.dollars), "-" if cost.seconds is None else f"{cost.seconds:.1f}"]


class TracesArguments(TaggedArguments, ArchivedArguments, TableArguments):
    limit: int | None = option("N", "list only the newest N, as 20", type=up_to(1_000_000_000))


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
        lines = [TraceLine(*(getattr(run, name) for name in TraceLine.__struct_fields__)) for run in runs]
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
    print_table([*_TRACE_COLUMNS.values(), *tags], [[run_id_cell(row[0]), *row[1:]] for row in rows], wide="task")


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
            RunDetails(
                id=trace.id,
                status=trace.status,
                score=trace.ended.score if trace.ended else None,
                questions=trace.questions,
                replies=trace.replies,
                started=started,
                steps=trace.steps,
                ended=trace.ended,
                verdicts=tuple(verdicts),
                spent=trace.spent,
            )
        )
    return 0
