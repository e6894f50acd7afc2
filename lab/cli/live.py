"""The commands demo, live and replay, and runs without a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from lab.cli import app
from lab.cli.arguments import (
    AGENTS,
    AgentArguments,
    BreakArguments,
    DeviceArguments,
    EnvironmentArguments,
    JsonArguments,
    Parser,
    PersonArguments,
    WindowArguments,
    argument,
    flag,
    option,
    seconds,
    seed_number,
)
from lab.cli.database import is_new, open_store
from lab.cli.output import print_json, print_line, record_of, warn, warn_lines
from lab.cli.runs.run_text import describe_action
from lab.core.errors import LabError
from lab.core.run.step import Action, Spent
from lab.core.settings import EMBEDDED, Settings, load
from lab.core.task.task import agent_word
from lab.core.values.whole_number import whole_number
from lab.runs.descriptions import phone_words
from lab.studies.seats import refuse_blind, refuse_recorded

if TYPE_CHECKING:
    from lab.core.run.run_records import Summary
    from lab.core.run.trace import AnyEvent, Trace
    from lab.runs.session import Session
    from lab.runs.spec import Spec
    from store.store import Store


class Stopped(msgspec.Struct, frozen=True):
    """Breakpoint at which a run was left open, before step `step` (from 1) did the proposed action.

    `read` means that its words were recognized in the picture, since the phone reported none.
    """

    breakpoint: str
    step: int
    action: Action
    thought: str
    read: bool = False


class RunResult(msgspec.Struct, frozen=True):
    """Result of one run: `demo`, `live` and `runs fork`. `stopped` is null unless it halts at a breakpoint.

    `spent` is the cost of its model's answers, null if no model was asked.
    """

    trace: str
    db: str
    status: str
    score: float | None
    steps: int
    questions: int
    replies: int
    stopped: Stopped | None = None
    spent: Spent | None = None


DEMO_TASK = "usual_lunch"


class DemoArguments(WindowArguments, JsonArguments):
    headless: bool = flag("let a script answer, without a screen, and print the result")


def add_demo(parser: Parser) -> None:
    parser.runs(demo, DemoArguments, prints={"demo": RunResult})
    parser.examples(
        """\
  hitlab demo                          you are the user
  hitlab demo --headless               a script answers
  hitlab demo --db study.db --json
"""
    )


def demo(args: DemoArguments) -> int:
    """Run one built-in personalized task. On a terminal a person answers, else the task's script."""
    live_args = LiveArguments()
    live_args.db, live_args.json, live_args.window = args.db, args.json, args.window
    live_args.task, live_args.device = DEMO_TASK, "embedded"
    live_args.headless = args.headless or args.json or not app.has_terminal()
    return live(live_args)


class LiveArguments(
    AgentArguments, WindowArguments, DeviceArguments, EnvironmentArguments, BreakArguments, PersonArguments
):
    task: str | None = argument("TASK", "name of a built-in task, or a task file", nargs="?", completes="task")
    resume: str | None = option("ID", "continue an open run, with its phone, dialogue and draft", completes="run")
    agent: str | None = option("NAME", AGENTS, completes="agent")
    playbook: str | None = option("FILE", "play the task by this playbook file (e.g. mute.yaml)")
    user: str | None = option(
        "WHO", "let this user answer: human (default on a screen), script, script:FILE or model:NAME", completes="user"
    )
    persona: str | None = option("NAME", "use another persona: a built-in name or a profile file", completes="persona")
    log: Literal["clean", "noise", "none"] | None = option(
        "", "show the agent this history (default: the task's)", choices=("clean", "noise", "none")
    )
    gate: Literal["pass", "ask"] | None = option(
        "", "ask you before each action (default: pass)", choices=("pass", "ask")
    )
    seat: Literal["participant", "developer"] | None = option(
        "", "show what this seat may see (default: the setting seat)", choices=("participant", "developer")
    )
    no_mirror: bool = flag("hide the phone from the person (recorded)")
    seed: int | None = option("N", "shuffle the phone's menus and lists by this seed (default: 0)", type=seed_number)
    vary: int | None = option("N", "run the task in another world: names and prices by this seed", type=seed_number)
    pace: float | None = option(
        "S", "wait at least S seconds between two turns (default: the setting pace)", type=seconds
    )
    shadow: list[str] | None = option(
        "model:NAME", "silently ask a model what the user is asked; repeatable", action="append", completes="shadow"
    )
    headless: bool = flag("run without a screen and print the result")
    json: bool = flag("print exactly one JSON document", one_of="output")
    events: bool = flag("print each event as a JSON line after its commit", one_of="output")


def add_live(parser: Parser) -> None:
    parser.runs(live, LiveArguments, prints={"live": RunResult})
    parser.examples(
        """\
  hitlab live usual_lunch
  hitlab live usual_lunch --agent model:openai/gpt-5 --gate ask
  hitlab live task.yaml --device R58M --person P07 --shadow model:openai/gpt-5
  hitlab live --resume 019a --headless --events
"""
    )


def live(args: LiveArguments) -> int:
    """Run a task from its beginning, or resume an open run."""
    if (args.task is None) == (args.resume is None):
        raise LabError("live", "needs a TASK or --resume ID, and not both", "`hitlab tasks list` lists tasks.", code=2)
    headless = args.headless or args.events or args.json
    settings = load(
        db=args.db,
        person=args.person,
        seat=args.seat,
        device=args.device,
        window=args.window,
    )
    if headless and args.seat is None:
        refuse_recorded(settings, args.agent)
    new = _new_spec(args, settings, headless=headless) if args.resume is None else None
    # Refused before a file is made.
    if new and not headless:
        _check_terminal()
    with open_store(settings, create=args.resume is None) as store:
        spec, resume = (new, None) if new else _resumed_spec(args, settings, store, headless=headless)
        if not headless:
            _check_terminal()
            settings = msgspec.structs.replace(settings, seat=spec.seat)
            return app.run_app(store, settings, app.live_opening(store, spec, resume))
        from lab.runs.session import Session

        return run_headless(
            Session(store, spec, resume), as_json=args.json, events=args.events, traceback=args.traceback
        )


def _check_terminal() -> None:
    if not app.has_terminal():
        raise LabError("live", app.no_terminal(), "Add --headless to run without a screen.", code=2)
    app.check_room()


def _check_gate(spec: Spec, *, headless: bool) -> None:
    """Raise `LabError` if nobody here can do what the run asks of its person."""
    if not headless:
        if spec.gate == "ask" and spec.seat != "developer":
            raise LabError("live", f"a {spec.seat} lets no actions through", "Leave out --gate.", code=2)
    elif spec.gate == "ask":
        raise LabError("live", "without a screen nobody lets the actions through", "Use --gate pass.", code=2)
    elif spec.user == "human":
        raise LabError("live", "a run without a screen needs --user script, script:FILE or model:NAME", code=2)


class ReplayArguments(WindowArguments):
    run_id: str = argument("ID[@STEP]", "id of a run or its beginning, and the step to open at", completes="run")


def add_replay(parser: Parser) -> None:
    parser.runs(replay, ReplayArguments)
    parser.examples(
        """\
  hitlab replay 019a
  hitlab replay 019a@7                 opened at step 7
"""
    )


def replay(args: ReplayArguments) -> int:
    """Open a stored run in the replay, at a step if named (from 1)."""
    run_id, at, number = args.run_id.partition("@")
    step = whole_number(number)
    if at and not step:
        raise LabError("replay", f"step {number!r} is no number from 1 on", code=2)
    settings = load(db=args.db, window=args.window)
    refuse_blind(settings, "replay")
    with open_store(settings, create=False) as store:
        from screens.navigation import Opening

        run = store.runs.find(run_id)
        if settings.seat == "rater" and store.studies.is_active_rater(settings.person):
            raise LabError("replay", f"{settings.person} rates in a study here, which shows what may be seen of runs.")
        if step:
            _check_step(store.runs.summary(run), step)
        return app.show_room(
            store, settings, Opening("replay", run, step), "replay", "`hitlab runs show ID` prints a run."
        )


def _check_step(run: Summary, step: int) -> None:
    """Raise `LabError` if a run has no such step, from 1. One more is its end, or its open question."""
    if step > run.steps + 1:
        has = "none yet" if not run.steps else "step 1" if run.steps == 1 else f"steps 1 to {run.steps}"
        raise LabError(f"run {run.id}", f"has no step {step}; it has {has}")


def _spec_changes(args: LiveArguments, settings: Settings, *, headless: bool) -> dict[str, Any]:
    """Return the fields of a spec that the command line sets, None for those left alone."""
    from lab.runs.shadows import check_shadows

    return {
        "agent": args.agent,
        "agent_name": agent_word(args.agent_name) or None,
        "agent_version": agent_word(args.agent_version) or None,
        "user": args.user,
        "gate": args.gate,
        "pace": args.pace if args.pace is not None else 0.0 if headless else settings.pace,
        "breaks": breaks_of(args.breaks, settings),
        "reads": False if args.no_read else None,
        "shadows": check_shadows(args.shadow, settings) if args.shadow else None,
    }


def _resumed_spec(args: LiveArguments, settings: Settings, store: Store, *, headless: bool) -> tuple[Spec, Trace]:
    """Return an open run of this file and the spec to resume it."""
    from lab.runs.spec import resume_spec

    changes = _spec_changes(args, settings, headless=headless)
    _refuse_changes(args)
    trace = store.runs.trace(store.runs.find(args.resume or ""))
    spec = resume_spec(trace, person=args.person, device=args.device, harness=args.harness, **changes)
    if settings.seat != spec.seat and settings.seat != "developer":
        raise LabError(f"run {trace.id}", f"is a {spec.seat}'s; a {settings.seat} cannot go on with it.")
    _check_gate(spec, headless=headless)
    return spec, trace


def _new_spec(args: LiveArguments, settings: Settings, *, headless: bool) -> Spec:
    """Return the spec of a new run. Raise `LabError` before a file is made if it cannot run."""
    from lab.runs.session import check_spec
    from lab.runs.spec import Spec, check_phone, in_world, replace_playbook
    from lab.runs.task_source import one_environment, task_source
    from simulators import library

    changes = _spec_changes(args, settings, headless=headless)
    environment = one_environment(args.environments, args.device, args.harness)
    with task_source(environment, args.seed or 0) as source:
        task = replace_playbook(source.task(args.task or ""), args.playbook, args.agent)
        name = args.persona or ("" if environment else task.persona)
        persona = library.persona(name, args.log or task.log) if name else source.persona(task)
    spec = Spec(
        task,
        persona,
        user="script" if headless else "human",
        person=settings.person,
        seat=settings.seat,
        mirror=not args.no_mirror,
        seed=args.seed or 0,
        device=EMBEDDED if environment else settings.device,
        harness=args.harness or "",
        environment=environment,
    )
    check_phone(spec._replace(vary=args.vary or 0))
    spec = in_world(spec, args.vary) if args.vary else spec
    spec = spec._replace(**{k: v for k, v in changes.items() if v is not None})
    _check_gate(spec, headless=headless)
    if is_new(settings):
        check_spec(None, spec)
    return spec


def _refuse_changes(args: LiveArguments) -> None:
    """Raise `LabError` for options that an open run cannot change."""
    options = {
        "--persona": args.persona is not None,
        "--log": args.log is not None,
        "--seed": args.seed is not None,
        "--vary": args.vary is not None,
        "--no-mirror": args.no_mirror,
        "--playbook": args.playbook is not None,
        "--shadow": args.shadow is not None,
        "--env": args.environments is not None,
    }
    option_names = ", ".join(name for name, there in options.items() if there)
    if option_names:
        problem = f"{option_names}: was settled when the run began; an open run goes on as it is"
        raise LabError(
            "live --resume", problem, "`hitlab runs fork ID@STEP` goes on with another persona or log.", code=2
        )


def breaks_of(specs: list[str] | None, settings: Settings) -> tuple[str, ...]:
    """Return the requested breakpoints, each parsed once. Raise `LabError` if one is wrong or the seat has none."""
    if not specs:
        return ()
    if settings.seat != "developer":
        raise LabError("--break", f"is not there for the seat {settings.seat}.", code=2)
    from lab.runs.breakpoints import Breakpoints
    from lab.runs.session import packages

    return tuple(point.spec for point in Breakpoints(specs, packages()).all)


def print_crash(error: Exception, log: str, *, traceback: bool) -> None:
    """Report a run's unexpected exception and the file with its traceback, or print the traceback."""
    warn(f"a run failed ({type(error).__name__}). {log}{'' if traceback else '; --traceback prints it'}")
    if traceback:
        from lab.core.crash_log import traceback_of

        warn_lines(traceback_of(error))


def _warn_of_phone(event: AnyEvent | None) -> None:
    if words := phone_words(event):
        warn(f"the phone {words}")


def run_headless(session: Session, *, as_json: bool, events: bool = False, traceback: bool = False) -> int:
    """Run a session to its end or to a breakpoint, and print the result. A breakpoint leaves the run open."""
    from lab.runs.spec import PERSON

    if session.spec.agent == PERSON:
        session.device.close()
        raise LabError("a demonstration", "needs a person at a terminal.", "`hitlab record` shows the phone.", code=2)
    store, session.attended = session.store, False
    lines = _EventLines(session)
    session.on_event = lines if events else _warn_of_phone
    code = 0
    session.start()
    try:
        session.join()
    except KeyboardInterrupt:
        session.stop("interrupted")
        code = 3
    if session.words.missing_engine is not None:
        warn(session.words.missing_engine.sentence)
    if session.crash is not None:
        print_crash(session.crash, session.crash_log, traceback=traceback)
    for words in getattr(session.agent, "outliving", ()):
        warn(words)
    if session.failure is not None:
        raise session.failure
    if lines.failure is not None:
        raise lines.failure
    session.shadows.wait(load().model_seconds)
    trace = store.runs.trace(session.trace_id)
    stop, halt = session.stopped_at, None
    if stop is not None:
        halt = record_of(Stopped, stop.proposed, breakpoint=stop.breakpoint.spec, step=stop.step + 1, read=stop.read)
    result = record_of(
        RunResult, trace, trace=trace.id, db=str(store.path), score=trace.ended.score if trace.ended else None,
        steps=len(trace.steps), stopped=halt,
    )  # fmt: skip
    if as_json:
        print_json(result)
    elif not events:
        from lab.cli.runs.run_text import print_run

        print_run(trace, str(store.path))
        print_stop(result.stopped, session.spec.breaks)
    return code


class _EventLines:
    """Prints each event as a line after its commit. If nobody reads them any more, leaves the run open."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.failure: OSError | None = None

    def __call__(self, event: AnyEvent | None) -> None:

        if event is None or self.failure is not None:
            return
        try:
            print_json(event)
        except OSError as error:
            self.failure = error
            self.session.leave()


def print_stop(stop: Stopped | None, breaks: tuple[str, ...] = ()) -> None:
    """Print the breakpoint at which a run was left open with its pending action, or that no breakpoint held."""
    from lab.runs.breakpoints import OCR_NOTE

    if stop is None:
        if breaks:
            print_line(f"passed by without a stop: {', '.join(breaks)}")
        return
    how = f" ({OCR_NOTE})" if stop.read else ""
    print_line(f"stopped at breakpoint {stop.breakpoint}{how}, before step {stop.step}; not yet done:")
    print_line(f"        {describe_action(stop.action)}" + (f" ({stop.thought})" if stop.thought else ""))
