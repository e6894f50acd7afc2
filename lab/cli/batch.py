"""The command that runs an agent over many tasks, and what it says while they go on and in the end: run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from lab.cli.arguments import AGENTS, Arguments, Parser, share
from lab.cli.database import is_new, open_store
from lab.cli.output import emit, print_table, say, warn
from lab.core.errors import LabError
from lab.core.plain_text import plain
from lab.core.settings import EMBEDDED, Settings, load
from lab.core.trace import POSTURES, AnyEvent, Paused, Resumed, Step
from lab.runs.pass_rates import Attempt, BatchResult, PassRate, TaskResult, attempt_of, kind_results, task_result
from lab.runs.task_source import TaskSource, one_environment, task_source
from lab.studies.seats import refuse_blind
from simulators import library

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from lab.core.seams import Agent
    from lab.runs.session import Session
    from lab.runs.spec import Spec
    from store.store import Store


class RunArguments(Arguments):
    """What `run` takes."""

    tasks: list[str]
    all: bool
    kinds: list[Literal["general", "personalized", "proactive"]] | None
    agent: str
    playbook: str | None
    user: str
    persona: str | None
    log: Literal["clean", "noise", "none"] | None
    attempts: int
    until_pass: bool
    no_read: bool
    environments: list[str] | None
    device: str | None
    harness: str | None
    seed: int | None
    vary: int | None
    fail_under: float | None


def add_run(parser: Parser) -> None:
    parser.runs(run, RunArguments)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="built-in tasks' names or task files")
    parser.add_argument("--all", action="store_true", help="every built-in task")
    kinds = ("general", "personalized", "proactive")
    parser.add_argument("--kind", dest="kinds", action="append", choices=kinds, help="only these (may be given again)")
    parser.add_argument(
        "--agent",
        default="playbook",
        metavar="NAME",
        help=AGENTS,
    )
    parser.add_argument("--playbook", metavar="FILE", help="plays the task by this file's playbook")
    parser.add_argument(
        "--user", default="script", metavar="WHO", help="script (default: the task's own), script:FILE, or model:NAME"
    )
    parser.add_argument("--persona", metavar="NAME", help="another persona: a built-in name or a profile file")
    parser.add_argument("--log", choices=("clean", "noise", "none"), help="which history the agent sees")
    parser.add_argument("--attempts", type=int, default=1, metavar="K", help="runs per task (default 1)")
    parser.add_argument("--until-pass", action="store_true", help="no more attempts at a task once one passed")
    parser.no_read()
    parser.on_phone()
    parser.environment()
    parser.add_argument("--seed", type=int, metavar="N", help="shuffles the phone's menus and lists (default 0)")
    parser.add_argument(
        "--vary", type=int, metavar="N", help="the tasks in another world: names and prices by this seed"
    )
    parser.add_argument("--fail-under", type=share, metavar="X", help="exit 1 where pass@K is under X (0 to 1)")
    parser.json()
    parser.completes(tasks="task", agent="agent", user="user", persona="persona")
    parser.examples(
        """\
  hitlab run usual_lunch way_home --attempts 3
  hitlab run --all --agent model:openai/gpt-5 --json > scores.json
  hitlab run --kind personalized --persona ines --log noise
  hitlab run --all --until-pass --attempts 4 --fail-under 0.8
"""
    )


def run(args: RunArguments) -> int:
    """Each task, `--attempts` times, on one phone that is put back between attempts.

    The agent lives through it all, but for a playbook, which is each task's own.
    """
    from lab.core.seams import Closable
    from lab.runs.spec import agent_of, is_playbook

    if args.attempts < 1:
        raise LabError("run", f"--attempts {args.attempts} is less than one", code=2)
    if args.playbook and len(args.tasks) != 1:
        raise LabError("--playbook", "is one task's; name that TASK alone.", code=2)
    settings = load(db=args.db, device=args.device)
    refuse_blind(settings, "run")
    environment = one_environment(args.environments, args.device, args.harness)
    with task_source(environment, args.seed or 0) as source:
        specs = [_spec(args, settings, source, name, environment) for name in _names(args, source)]
    if is_new(settings):
        from lab.runs.session import check_spec

        check_spec(None, specs[0])
    with open_store(settings) as store:
        agent = None if is_playbook(args.agent) else agent_of(args.agent, store)
        with progress(len(specs), args.attempts) as counter:
            batch = _Batch(store, agent, counter, args.attempts, until_pass=args.until_pass)
            try:
                batch.play(specs)
            finally:
                if isinstance(agent, Closable):
                    agent.close()
        return _report(args, batch, specs)


def _names(args: RunArguments, source: TaskSource) -> list[str]:
    """The tasks to run, each once, in the order given; those of the kinds asked for."""
    if args.all and args.tasks:
        raise LabError("run", "takes TASK names or --all, not both", code=2)
    if not (args.all or args.tasks or args.kinds):
        raise LabError("run", "names no task", "`hitlab tasks` lists tasks; --all runs all of them.", code=2)
    names = list(dict.fromkeys(args.tasks)) or source.names()
    kept = [name for name in names if not args.kinds or source.kind(name) in args.kinds]
    if not kept:
        raise LabError("run", f"none of the tasks is {' or '.join(args.kinds or ())}", code=2)
    return kept


def _spec(args: RunArguments, settings: Settings, source: TaskSource, name: str, environment: str) -> Spec:
    """What every attempt at one task is made of; all that can be refused is refused here, before the first run."""
    from lab.runs.spec import Spec, check_phone, given_playbook, in_world, is_playbook, playbook_agent

    task = given_playbook(source.task(name), args.playbook, args.agent)
    if is_playbook(args.agent):
        playbook_agent(args.agent, task)
    who = args.persona or ("" if environment else task.persona)
    persona = library.persona(who, args.log or task.log) if who else source.persona(task)
    kind, _, file = args.user.partition(":")
    if kind == "human":
        problem = "nobody sits at many runs; --user is script, script:FILE or model:NAME"
        raise LabError("run", problem, "Use hitlab live.", code=2)
    if kind == "model":
        from simulators.users.model import model_user

        model_user(file, settings, task, persona)
    if kind == "script" and (file or not environment):
        library.script(file or task.id)
    spec = Spec(
        task,
        persona,
        agent=args.agent,
        user=args.user,
        person=settings.person,
        seed=args.seed or 0,
        device=EMBEDDED if environment else settings.device,
        harness=args.harness or "",
        environment=environment,
        reads=not args.no_read,
    )
    check_phone(spec._replace(vary=args.vary or 0))
    return in_world(spec, args.vary) if args.vary else spec


class _Batch:
    """Plays specs one after the other, and keeps what came of them, also when it is interrupted."""

    def __init__(self, store: Store, agent: Agent | None, counter: RunCounter, most: int, *, until_pass: bool) -> None:
        self.store = store
        self.agent = agent
        self.told = counter
        self.most = most
        self.until_pass = until_pass
        self.interrupted = False
        self.attempts: list[list[Attempt]] = []
        self._session: Session | None = None
        self._warned = False

    def play(self, specs: Sequence[Spec]) -> None:
        """All attempts at all tasks; Ctrl-C ends the run under way as stopped, and the rest is not begun."""
        try:
            for spec in specs:
                self.attempts.append([])
                self._task(spec)
        except KeyboardInterrupt:
            self.interrupted = True
            if self._session is not None:
                self._session.stop("interrupted")
                self._session.join(5)
                self._keep(self._session)

    def _task(self, spec: Spec) -> None:
        """All attempts at one task, each from the phone's first snapshot where it can be put back."""
        from lab.runs.session import Session
        from lab.runs.spec import phone_of

        phone = phone_of(spec)
        first = phone.snapshot()
        for number in range(1, self.most + 1):
            if number > 1 and (spec.device != EMBEDDED or spec.environment):
                phone = phone_of(spec)  # a run lets go of its phone when it is over
            elif first is not None:
                phone.restore(first)
            session = Session(self.store, spec._replace(attempt=number), agent=self.agent, device=phone)
            session.on_event = self.told.watch(spec.task.id, number)
            session.start()
            self._session = session
            session.join()
            self._session = None
            self._warn_unread(session)
            if session.failure is not None:
                raise session.failure
            attempt = self._keep(session)
            self._remember(spec, session)
            if self.until_pass and attempt.passed:
                self.told.skip(self.most - number)
                return

    def _warn_unread(self, session: Session) -> None:
        """Says once what is to be installed so that words are read, where a picture asked for it."""
        lack = session.words.lack
        if lack is not None and not self._warned:
            self._warned = True
            warn(lack.sentence)

    def _keep(self, session: Session) -> Attempt:
        attempt = attempt_of(self.store.runs.trace(session.trace_id))
        self.attempts[-1].append(attempt)
        self.told.done(session.spec.task.id, attempt)
        return attempt

    def _remember(self, spec: Spec, session: Session) -> None:
        """An agent with a memory is told how the run ended; one that fails at remembering goes on without."""
        from lab.core.seams import Remembering
        from lab.runs.spec import brief_of

        if isinstance(self.agent, Remembering):
            trace = self.store.runs.trace(session.trace_id)
            try:
                self.agent.remember(brief_of(spec.task, spec.persona), trace.steps, trace.status)
            except LabError as error:
                warn(f"{spec.task.id}: nothing was remembered: {error.sentence}")


def _report(args: RunArguments, batch: _Batch, specs: Sequence[Spec]) -> int:
    from lab.core.seams import Remembering

    played = zip(specs, batch.attempts, strict=False)
    tasks = tuple(task_result(spec.task.id, spec.task.kind, attempts) for spec, attempts in played)
    memory = isinstance(batch.agent, Remembering)
    result = BatchResult(
        db=str(batch.store.path),
        agent=args.agent,
        seed=args.seed or args.vary or 0,
        vary=args.vary or 0,
        attempts=args.attempts,
        until_pass=args.until_pass,
        memory=memory,
        interrupted=batch.interrupted,
        tasks=tasks,
        kinds=kind_results(tasks, args.attempts, independent=not (memory or args.until_pass)),
    )
    emit(result, _tell, json=args.json)
    if batch.interrupted:
        return 3
    rate = result.kinds[-1].rates[-1].rate
    if args.fail_under is not None and (rate is None or rate < args.fail_under):
        shown = "undefined" if rate is None else f"{rate:.3f}"
        warn(f"run: pass@{args.attempts} is {shown}, under {args.fail_under:g}")
        return 1
    return 0


def _tell(result: BatchResult) -> None:
    """The two tables, and what their numbers mean."""
    ks = sorted({1, result.attempts} | ({2, 3} if result.attempts <= 4 else set()) & set(range(1, result.attempts + 1)))
    many = result.attempts > 1
    print_table(
        ["task", "kind", "passed", "steps", "seconds", "cost $", "last end"],
        [_task_row(task) for task in result.tasks],
        wide="last end",
    )
    say("")
    columns = ["kind", "tasks", "runs", *(f"pass@{k}" for k in ks), *(["recovery"] if many else [])]
    rows = [
        [
            kind.kind,
            str(kind.tasks),
            str(kind.attempts),
            *(_rate(kind.rates[k - 1]) for k in ks),
            *([_share(kind.recovery)] if many else []),
            _number(kind.steps, 1),
            _number(kind.seconds, 1),
            _number(kind.cost, 4),
        ]
        for kind in result.kinds
    ]
    print_table([*columns, "steps", "seconds", "cost $"], rows)
    say("")
    for line in _notes(result):
        say(line)


def _task_row(task: TaskResult) -> list[str]:
    counted = [attempt for attempt in task.attempts if attempt.passed is not None]
    last = task.attempts[-1] if task.attempts else None
    return [
        task.task,
        task.kind,
        f"{task.passes}/{len(counted)}" if counted else "not checked",
        _number(task.steps, 1),
        _number(task.seconds, 1),
        _number(task.cost, 4),
        f"{last.status}: {last.reason}" if last is not None else "-",
    ]


def _notes(result: BatchResult) -> list[str]:
    """What the numbers are, and from which runs."""
    scorers = sorted({one.scored_by for task in result.tasks for one in task.attempts if one.scored_by})
    notes = [
        *(f"A run passes when {scorer} scores it above 0.99." for scorer in scorers),
        *(() if scorers else ["A run passes when it is completed and every rule that applies holds."]),
        f"pass@k: tasks that passed within their first k attempts (MemGUI-Bench A.6.2). Runs in {result.db}",
    ]
    every = result.kinds[-1]
    if result.attempts > 1:
        begun = [{attempt.state for attempt in task.attempts} for task in result.tasks]
        if all(len(states) <= 1 and None not in states for states in begun):
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
    if result.interrupted:
        notes.append("Interrupted: what was not begun is not counted.")
    return notes


def _rate(rate: PassRate) -> str:
    return "undefined" if rate.rate is None else f"{rate.passed}/{rate.tasks} {rate.rate:.0%}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


class RunCounter:
    """Counts runs of `total`; `bar` draws them where there is one."""

    def __init__(self, tasks: int, most: int, bar: Bar | None) -> None:
        self.total = tasks * most
        self._most = most
        self._over = 0
        self._bar = bar
        self._row = bar.add_task("", total=self.total) if bar is not None else None

    def watch(self, task: str, number: int) -> Callable[[AnyEvent | None], None]:
        """What shows a run's steps as they come, and why its phone is waited for."""

        def on_event(event: AnyEvent | None) -> None:
            if isinstance(event, Paused | Resumed) and event.by.id == "phone":
                self._print(f"{self._named(task, number)} {_phone_words(event)}")
            if self._bar is not None and self._row is not None and isinstance(event, Step):
                self._bar.update(self._row, description=self._named(task, number) + f" · step {event.index + 1}")

        return on_event

    def done(self, task: str, attempt: Attempt) -> None:
        """One run is over."""
        self._over += 1
        score = "no score" if attempt.score is None else f"score {attempt.score:g}"
        line = f"{self._over}/{self.total} {self._named(task, attempt.attempt)}: {attempt.status}, {score}"
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
        """Runs that are not needed any more."""
        self.total -= count
        if self._bar is not None and self._row is not None:
            self._bar.update(self._row, total=self.total)

    def _named(self, task: str, number: int) -> str:
        return plain(task, lines=False) + (f" attempt {number}" if self._most > 1 else "")


def _phone_words(event: Paused | Resumed) -> str:
    """What a phone tells of itself, after a run's name."""
    reason = plain(event.reason, lines=False)
    if event.state in POSTURES:
        return f"on {reason}"
    return f"waits: {reason}" if isinstance(event, Paused) else "goes on"


@contextmanager
def progress(tasks: int, most: int) -> Iterator[RunCounter]:
    """Progress on standard error for as long as the runs go on."""
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
