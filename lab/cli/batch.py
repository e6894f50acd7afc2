"""The command run: an agent over many tasks, its progress and its report."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from lab.cli.arguments import (
    AGENTS,
    AgentArguments,
    DevicesArguments,
    EnvironmentsArguments,
    Parser,
    TableArguments,
    above_zero,
    argument,
    at_least_one,
    flag,
    option,
    seed_number,
    share,
    up_to,
)
from lab.cli.database import is_new, open_store
from lab.cli.live import print_crash
from lab.cli.output import print_line, print_result, print_table, table_form, warn
from lab.core.errors import LabError
from lab.core.run.trace import AnyEvent, Step
from lab.core.seams import Trouble
from lab.core.settings import Settings, load
from lab.core.task.task import Task, agent_word
from lab.core.text.plain_text import plain
from lab.core.values.rounding import count
from lab.runs.batch.pass_rates import (
    Attempt,
    BatchResult,
    PassRate,
    RefusedAttempt,
    TaskResult,
    count_dealt_again,
    kind_results,
)
from lab.runs.descriptions import phone_words
from lab.runs.task_source import TaskSource, task_source
from lab.studies.seats import refuse_blind, refuse_recorded
from simulators import library

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from lab.llm.executor import RemoteModel
    from lab.runs.batch.batch import Batch
    from lab.runs.batch.run_places import RunPlace
    from lab.runs.spec import Spec


class RunArguments(AgentArguments, DevicesArguments, EnvironmentsArguments, TableArguments):
    tasks: list[str] = argument("TASK", "names of built-in tasks, or task files", nargs="*", completes="task")
    all: bool = flag("run every built-in task")
    kinds: list[Literal["general", "personalized", "proactive"]] | None = option(
        "", "run only tasks of this kind; repeatable", "--kind", action="append",
        choices=("general", "personalized", "proactive"),
    )  # fmt: skip
    agent: str = option("NAME", AGENTS, default="playbook", completes="agent")
    playbook: str | None = option("FILE", "play the task by this playbook file (e.g. mute.yaml)")
    user: str = option(
        "WHO", "let this user answer: script (default: the task's own), script:FILE or model:NAME",
        default="script", completes="user",
    )  # fmt: skip
    persona: str | None = option("NAME", "use another persona: a built-in name or a profile file", completes="persona")
    log: Literal["clean", "noise", "none"] | None = option(
        "", "show the agent this history (default: the task's)", choices=("clean", "noise", "none")
    )
    attempts: int = option("K", "make K runs of each task (default: 1)", type=up_to(10_000), default=1)
    until_pass: bool = flag("stop attempts at a task once one passes", "--stop-on-pass", "--until-pass")
    stop_at: float | None = option(
        "1.4x", "end a run after floor(1.4 x golden steps + 1) steps; it then counts as over budget", type=above_zero
    )
    jobs: int | None = option(
        "N", "run N attempts at a time, each on its own phone (default: one for each named phone, else 1)",
        type=at_least_one,
    )  # fmt: skip
    stuck_after: float | None = option(
        "SECONDS", "take a phone out if it does not answer for SECONDS, and deal its attempt again (default: 60 with "
        "several phones, else wait)",
        type=above_zero,
    )  # fmt: skip
    on: str = option(
        "dask://HOST:PORT", "let a Dask cluster's workers ask the agent's model (needs hitlab[cluster])",
        "--cluster", "--on", default="",
    )  # fmt: skip
    seed: int | None = option("N", "shuffle the phone's menus and lists by this seed (default: 0)", type=seed_number)
    vary: int | None = option("N", "run the tasks in another world: names and prices by this seed", type=seed_number)
    fail_under: float | None = option("X", "exit with 1 if pass@K is under X, from 0 to 1 (e.g. 0.8)", type=share)


def add_run(parser: Parser) -> None:
    parser.runs(run, RunArguments, prints={"run": "lab.runs.batch.pass_rates:BatchResult"})
    parser.examples(
        """\
  hitlab run usual_lunch way_home --attempts 3
  hitlab run --all --agent model:openai/gpt-5 --jobs 4 --json > scores.json
  hitlab run --kind personalized --persona ines --log noise
  hitlab run --all --stop-on-pass --attempts 3 --stop-at 1.4x --fail-under 0.8
"""
    )


def run(args: RunArguments) -> int:
    """Run each task `--attempts` times, on a phone that is reset before each.

    An agent keeps its memory over all attempts in one place, except for a playbook, which belongs to its task.
    """
    from lab.runs.batch.batch import Batch, BatchTerms
    from lab.runs.spec import harness_token

    if args.attempts < 1:
        raise LabError("run", f"--attempts {args.attempts} is less than one", code=2)
    if args.on and not args.agent.startswith(("model:", "model+memory:")):
        raise LabError("--cluster", f"has workers ask a model; the agent {args.agent} is none.", code=2)
    _sort_environments(args)
    if args.playbook and len(args.tasks) != 1:
        raise LabError("--playbook", "is one task's; name that TASK alone.", code=2)
    settings = load(db=args.db, device=args.devices[0] if args.devices else None)
    refuse_blind(settings, "run")
    refuse_recorded(settings, args.agent)
    places, jobs = _places(args, settings)
    with task_source(places[0].environment, args.seed or 0) as source:
        tasks, refused = _load_tasks(args, source, places)
        specs = [_spec(args, settings, source, task, places) for task in tasks]
    if args.harnesses:
        harness_token()
    # With no file yet, the first spec is checked before an empty one is made.
    if is_new(settings) and not args.on:
        from lab.runs.session import check_spec

        check_spec(None, specs[0])
    terms = BatchTerms(args.agent, args.attempts, args.until_pass, jobs, args.stuck_after)
    with _remote_model(args, settings) as remote, open_store(settings) as store:
        with progress(len(specs), args.attempts) as counter:
            batch = Batch(store, specs, terms, places, counter, remote)
            batch.refused += refused
            _warn_of_width(args, batch, places)
            error = _play(batch)
        if error is not None:
            if not args.json and any(task.attempts for task in batch.results()):
                _report(args, batch, places)
            raise error
        return _report(args, batch, places)


def _play(batch: Batch) -> LabError | None:
    """Make all attempts. Return the error that broke the batch off, so that the report covers the earlier ones."""
    try:
        batch.play()
    except LabError as error:
        return error
    finally:
        for words in batch.outliving:
            warn(words)
    return None


@contextmanager
def _remote_model(args: RunArguments, settings: Settings) -> Iterator[RemoteModel | None]:
    """Yield the cluster that asks the agent's model, or None to ask it from here."""
    if not args.on:
        yield None
        return
    from lab.agents.model import model_of
    from lab.llm.cluster_executor import ClusterExecutor
    from lab.llm.executor import RemoteModel, closing_executor

    llm = model_of(args.agent, settings)
    stop = threading.Event()
    cluster = ClusterExecutor(args.on, stop, tell=warn)
    with closing_executor(cluster, stop):
        cluster.check(llm)
        yield RemoteModel(llm, cluster)


def _sort_environments(args: RunArguments) -> None:
    """Move words behind --env's first address to the tasks if they are not addresses."""
    if args.environments:
        first, *more = args.environments
        args.environments = [first, *(word for word in more if ":" in word)]
        args.tasks += [word for word in more if ":" not in word]


def _places(args: RunArguments, settings: Settings) -> tuple[tuple[RunPlace, ...], int]:
    """Return the phones or environments to run on and the number of attempts at a time."""
    from lab.runs.batch.run_places import run_places

    devices = args.devices or ([] if args.environments else [settings.device])
    jobs = args.jobs or len(args.environments or args.devices or [""])
    return run_places(devices, args.harnesses or [], args.environments or [], jobs), jobs


def _warn_of_width(args: RunArguments, batch: Batch, places: Sequence[RunPlace]) -> None:
    """Warn if fewer attempts run at a time than requested, and that parallel learning agents are separate."""
    if args.jobs and len(places) < args.jobs:
        phones = "there is one phone" if len(places) == 1 else f"there are {len(places)} phones"
        go_on = "one attempt goes" if batch.width == 1 else f"{batch.width} attempts go"
        warn(f"run: {phones} for --jobs {args.jobs}; {go_on} on at a time.")
    if batch.learns and batch.width > 1:
        what = "has an agent of its own, and each task's attempts are made by one of them, in order"
        warn(f"run: the agent learns; each of the {batch.width} jobs {what}.")


def _task_names(args: RunArguments, source: TaskSource) -> list[str]:
    """Return the distinct tasks to run in the order given, filtered by kind."""
    if args.all and args.tasks:
        raise LabError("run", "takes TASK names or --all, not both", code=2)
    if not (args.all or args.tasks or args.kinds):
        raise LabError("run", "names no task", "`hitlab tasks list` lists tasks; --all runs all of them.", code=2)
    names = list(dict.fromkeys(args.tasks)) or source.names()
    fitting_names = [name for name in names if not args.kinds or source.kind(name) in args.kinds]
    if not fitting_names:
        raise LabError("run", f"none of the tasks is {' or '.join(args.kinds or ())}", code=2)
    return fitting_names


def _load_tasks(
    args: RunArguments, source: TaskSource, places: Sequence[RunPlace]
) -> tuple[list[Task], list[RefusedAttempt]]:
    """Return the tasks and the refused attempts at those that their environment cannot load. Raise if it loads none."""
    tasks: list[Task] = []
    errors: dict[str, LabError] = {}
    for name in _task_names(args, source):
        try:
            tasks.append(source.task(name))
        except LabError as error:
            if not places[0].environment or error.code == 2 or isinstance(error, Trouble):
                raise
            errors[name] = error
    if not tasks:
        raise next(iter(errors.values()))
    for name, refusal in errors.items():
        warn(f"{name}: is not run: {refusal.sentence}")
    return tasks, [
        RefusedAttempt(name, number, places[0].display_name, refusal.sentence)
        for name, refusal in errors.items()
        for number in range(1, args.attempts + 1)
    ]


def _spec(args: RunArguments, settings: Settings, source: TaskSource, task: Task, places: Sequence[RunPlace]) -> Spec:
    """Return the spec of every attempt at a task. Raise `LabError` here, before the first run, for whatever fails."""
    from lab.runs.spec import (
        Spec,
        check_phone,
        in_world,
        is_playbook,
        limit_steps,
        may_ask,
        playbook_agent,
        replace_playbook,
    )  # fmt: skip

    task = replace_playbook(task, args.playbook, args.agent)
    source.check(task)
    if is_playbook(args.agent):
        playbook_agent(args.agent, task)
    who = args.persona or ("" if places[0].environment else task.persona)
    persona = library.persona(who, args.log or task.log) if who else source.persona(task)
    kind, _, file = args.user.partition(":")
    if kind == "human":
        problem = "nobody sits at many runs; --user is script, script:FILE or model:NAME"
        raise LabError("run", problem, "Use hitlab live.", code=2)
    if kind == "model":
        from simulators.users.model import model_user

        model_user(file, settings, task, persona)
    if kind == "script" and (file or (not places[0].environment and may_ask(task, args.agent))):
        library.script(file or task.id)
    spec = Spec(
        task,
        persona,
        agent=args.agent,
        agent_name=agent_word(args.agent_name),
        agent_version=agent_word(args.agent_version),
        user=args.user,
        person=settings.person,
        seed=args.seed or 0,
        reads=not args.no_read,
    )
    for place in places:
        check_phone(place.spec(spec._replace(vary=args.vary or 0)))
    spec = places[0].spec(spec)
    spec = limit_steps(spec, args.stop_at) if args.stop_at else spec
    return in_world(spec, args.vary) if args.vary else spec


def _report(args: RunArguments, batch: Batch, places: Sequence[RunPlace]) -> int:
    tasks = batch.results()
    result = BatchResult(
        db=str(batch.store.path),
        agent=args.agent,
        seed=args.seed or args.vary or 0,
        vary=args.vary or 0,
        attempts=args.attempts,
        until_pass=args.until_pass,
        memory=batch.learns,
        interrupted=batch.interrupted,
        tasks=tasks,
        kinds=kind_results(tasks, args.attempts, independent=not (batch.learns or args.until_pass)),
        jobs=batch.width,
        places=tuple(place.display_name for place in places),
        broken=tuple(batch.broken),
        lost=len(batch.lost),
        stop_at=args.stop_at,
        refused=tuple(batch.refused),
    )
    print_result(result, _print_batch, json=args.json)
    for error, log in batch.crashes[-1:]:
        print_crash(error, log, traceback=args.traceback)
    if batch.lost:
        warn(f"run: no phone is left, so {count(len(batch.lost), 'attempt was', 'attempts were')} not made.")
    if batch.refused:
        warn(f"run: the environment refused, so {count(len(batch.refused), 'attempt was', 'attempts were')} not run.")
    if batch.interrupted or batch.lost or batch.refused:
        return 3
    rate = result.kinds[-1].rates[-1].rate
    if args.fail_under is not None and (rate is None or rate < args.fail_under):
        rate_text = "undefined" if rate is None else f"{rate:.3f}"
        warn(f"run: pass@{args.attempts} is {rate_text}, under {args.fail_under:g}")
        return 1
    return 0


def _print_batch(result: BatchResult) -> None:
    """Print the two tables and their notes, or nothing if no phone was there for any attempt."""
    if result.lost and not result.tasks and not table_form.is_data:
        return
    ks = sorted({1, result.attempts} | ({2, 3} if result.attempts <= 4 else set()) & set(range(1, result.attempts + 1)))
    many = result.attempts > 1
    if result.tasks or table_form.is_data:
        names = ["task", "kind", "passed", "steps", "seconds", "cost $", "last end"]
        print_table(names, [_task_row(task) for task in result.tasks], wide="last end")
        print_line("")
    columns = ["kind", "tasks", "runs", *(f"pass@{k}" for k in ks), *(["recovery"] if many else [])]
    rows = [
        [
            kind.kind,
            str(kind.tasks),
            str(kind.attempts),
            *(_format_rate(kind.rates[k - 1]) for k in ks),
            *([_format_share(kind.recovery)] if many else []),
            _format_number(kind.steps, 1),
            _format_number(kind.seconds, 1),
            _format_number(kind.cost, 4),
        ]
        for kind in result.kinds
    ]
    print_table([*columns, "steps", "seconds", "cost $"], rows)
    print_line("")
    for line in _notes(result):
        print_line(line)


def _task_row(task: TaskResult) -> list[str]:
    checked_attempts = [attempt for attempt in task.attempts if attempt.passed is not None]
    last = task.attempts[-1] if task.attempts else None
    return [
        task.task,
        task.kind,
        f"{task.passes}/{len(checked_attempts)}" if checked_attempts else "not checked",
        _format_number(task.steps, 1),
        _format_number(task.seconds, 1),
        _format_number(task.cost, 4),
        f"{last.status}: {last.reason}" if last is not None else "-",
    ]


def _notes(result: BatchResult) -> list[str]:
    """Return what the numbers mean and which runs they count."""
    scorers = sorted({attempt.scored_by for task in result.tasks for attempt in task.attempts if attempt.scored_by})
    notes = [
        *(f"A run passes when {scorer} scores it above 0.99." for scorer in scorers),
        *(() if scorers else ["A run passes when it is completed and every rule that applies holds."]),
        f"pass@k: tasks that passed within their first k attempts (MemGUI-Bench A.6.2). Runs in {result.db}",
    ]
    every = result.kinds[-1]
    if result.attempts > 1:
        start_states = [{attempt.state for attempt in task.attempts} for task in result.tasks]
        if all(len(states) <= 1 and None not in states for states in start_states):
            notes.append("Every attempt at a task began from the same snapshot of the phone.")
        rates = [f"pass@{rate.k} {rate.unbiased:.3f}" for rate in every.rates if rate.unbiased is not None]
        why = "it stops at the first pass" if result.until_pass else "the agent may learn from one attempt to the next"
        notes.append(
            f"Unbiased, from all attempts: {', '.join(rates)}."
            if rates
            else f"No unbiased estimate: {why if result.memory or result.until_pass else 'attempts are missing'}."
        )
    if every.unchecked:
        notes.append(f"Counted in no rate, because nothing was checked: {every.unchecked} of {every.tasks} tasks.")
    if result.stop_at is not None:
        limit = f"floor({result.stop_at:g} x golden steps + 1) steps"
        notes.append(f"A run that was not over after {limit} ended with the status budget (MemGUI-Bench A.9.6).")
    if result.broken:
        runs = f"{len(result.broken)} run{' was' if len(result.broken) == 1 else 's were'}"
        again = count_dealt_again(result.tasks, result.broken)
        dealt = "Each was dealt again." if again == len(result.broken) else f"Dealt again: {again or 'none'} of them."
        notes.append(f"Counted as no attempt, and archived: {runs} broken off by a phone. {dealt}")
    if result.lost:
        notes.append(f"Not made, for want of a phone: {result.lost} of all attempts.")
    if result.refused:
        notes.append(f"Not run, since the environment refused: {len(result.refused)} of all attempts.")
    if result.interrupted:
        notes.append("Interrupted: what was not begun is not counted.")
    return notes


def _format_rate(rate: PassRate) -> str:
    return "undefined" if rate.rate is None else f"{rate.passed}/{rate.tasks} {rate.rate:.0%}"


def _format_share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def _format_number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


class RunCounter:
    """Counts finished runs of `total`. Thread-safe. `bar` draws them if it is given."""

    def __init__(self, tasks: int, most: int, bar: Bar | None) -> None:
        self.total = tasks * most
        self._most = most
        self._over = 0
        self._bar = bar
        # Runs on several phones finish on threads of their own.
        self._lock = threading.Lock()
        self._row = bar.add_task("", total=self.total) if bar is not None else None

    def watch(self, task: str, number: int) -> Callable[[AnyEvent | None], None]:
        """Return a callback that shows a run's steps and the reason why its phone is waited for."""

        def on_event(event: AnyEvent | None) -> None:
            if words := phone_words(event):
                self._print(f"{self._attempt_name(task, number)} {words}")
            if self._bar is not None and self._row is not None and isinstance(event, Step):
                self._bar.update(self._row, description=self._attempt_name(task, number) + f" · step {event.index + 1}")

        return on_event

    def finish_attempt(self, task: str, attempt: Attempt) -> None:
        """Count a finished run and print it."""
        with self._lock:
            self._over += 1
            self._print_attempt(task, attempt)

    def warn(self, sentence: str) -> None:
        """Print a warning above the bar."""
        self._print(f"hitlab: {plain(sentence, lines=False)}")

    def _print_attempt(self, task: str, attempt: Attempt) -> None:
        score = "no score" if attempt.score is None else f"score {attempt.score:g}"
        line = f"{self._over}/{self.total} {self._attempt_name(task, attempt.attempt)}: {attempt.status}, {score}"
        line += f", {attempt.steps} step{'' if attempt.steps == 1 else 's'}, {attempt.seconds:.1f} s"
        line += f": {attempt.reason}" if attempt.status == "failed" else ""
        self._print(plain(line, lines=False))
        if self._bar is not None and self._row is not None:
            self._bar.advance(self._row)

    def _print(self, line: str) -> None:
        if self._bar is None:
            sys.stderr.write(line + "\n")
            sys.stderr.flush()
            return
        from rich.text import Text

        self._bar.console.print(Text(line))

    def skip(self, count: int) -> None:
        """Subtract runs that are no longer needed."""
        with self._lock:
            self.total -= count
        if self._bar is not None and self._row is not None:
            self._bar.update(self._row, total=self.total)

    def _attempt_name(self, task: str, number: int) -> str:
        return plain(task, lines=False) + (f" attempt {number}" if self._most > 1 else "")


@contextmanager
def progress(tasks: int, most: int) -> Iterator[RunCounter]:
    """Show progress on standard error while the runs last."""
    if not sys.stderr.isatty():
        yield RunCounter(tasks, most, None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    with bar:
        yield RunCounter(tasks, most, bar)
