"""Commands that run an agent or show a run: demo, live, replay, and the lab itself."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import msgspec

from lab.errors import LabError
from lab.settings import Settings, database, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.session import Session
    from lab.spec import Spec
    from lab.trace import AnyEvent, Trace
    from screens.rooms import Opening
    from store.store import Store

DEMO_TASK = "usual_lunch"


def home(args: argparse.Namespace) -> int:
    """The lab's first screen; without a terminal, the help."""
    if not _terminal():
        from lab.cli import build_parser

        build_parser().print_help()
        return 0
    from screens.rooms import Opening

    return _show_app(args, Opening("home"))


def demo(args: argparse.Namespace) -> int:
    """One built-in personalized task; on a terminal you answer, else its fitting script does."""
    args.task, args.resume, args.events = DEMO_TASK, None, False
    args.headless = args.headless or args.json or not _terminal()
    for name in ("agent", "user", "persona", "log", "gate", "seat", "person", "seed", "vary", "pace", "harness"):
        setattr(args, name, None)
    args.no_mirror, args.breaks, args.device = False, [], "embedded"
    return live(args)


def live(args: argparse.Namespace) -> int:
    """A task from its beginning, or an open run from where it was left."""
    if (args.task is None) == (args.resume is None):
        raise LabError("live", "needs a TASK or --resume ID, and not both", "`hitlab tasks` lists tasks.", code=2)
    headless = args.headless or args.events or args.json
    if not headless and not _terminal():
        raise LabError("live", "there is no terminal here", "Add --headless to run without a screen.")
    if not headless:
        _check_room()
    settings = load(
        db=getattr(args, "db", None),
        person=args.person,
        seat=args.seat,
        device=args.device,
        window=wants_window(args),
    )
    with open_store(settings) as store:
        spec, resume = _spec(args, settings, store, headless=headless)
        if not headless:
            if spec.gate == "ask" and spec.seat != "developer":
                raise LabError("live", f"a {spec.seat} lets no actions through", "Leave out --gate.", code=2)
            from screens.rooms import Opening

            settings = msgspec.structs.replace(settings, seat=spec.seat)
            return _app(store, settings, Opening("live", spec=spec, resume=resume))
        if spec.gate == "ask":
            raise LabError("live", "without a screen nobody lets the actions through", "Use --gate pass.", code=2)
        if spec.user == "human":
            raise LabError("live", "a run without a screen needs --user script, script:FILE or model:NAME", code=2)
        from lab.session import Session

        return run_headless(args, Session(store, spec, resume))


def replay(args: argparse.Namespace) -> int:
    """A stored run in the replay, at a step where one is named (steps count from 1)."""
    run_id, at, step = args.run_id.partition("@")
    if at and not (step.isascii() and step.isdigit() and int(step) >= 1):
        raise LabError("replay", f"step {step!r} is no number from 1 on", code=2)
    if not _terminal():
        raise LabError("replay", "there is no terminal here", "`hitlab show ID` prints a run.")
    settings = load(db=getattr(args, "db", None), window=wants_window(args))
    refuse_blind(settings, "replay")
    with open_store(settings, create=False) as store:
        from screens.rooms import Opening

        found = store.find(run_id)
        if settings.seat == "rater" and store.rates(settings.person):
            raise LabError("replay", f"{settings.person} rates in a study here, which shows what may be seen of runs.")
        return _app(store, settings, Opening("replay", found, int(step) if step else None))


def refuse_blind(settings: Settings, what: str) -> None:
    """Outcomes are not for every seat: raises `LabError` where this one must not see them."""
    if settings.seat == "participant":
        raise LabError(what, "is not there for the seat participant.")


def open_store(settings: Settings, *, create: bool = True, readonly: bool = False) -> Store:
    """The database in force; its folder is made where it is ours to make."""
    from store.store import Store

    path = database(settings)
    if create and not settings.db:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise LabError(f"data folder {path.parent}", f"cannot be made ({error.strerror})", "Use --db.") from error
    return Store.open(path, create=create, readonly=readonly)


def _spec(args: argparse.Namespace, settings: Settings, store: Store, *, headless: bool) -> tuple[Spec, Trace | None]:
    from lab.spec import Spec, in_world, resume_spec

    pace = args.pace if args.pace is not None else 0.0 if headless else settings.pace
    breaks = breaks_of(args.breaks, settings)
    changes = {"agent": args.agent, "user": args.user, "gate": args.gate, "pace": pace, "breaks": breaks}
    if args.resume is not None:
        _refuse_other(args)
        trace = store.trace(store.find(args.resume))
        phone = {"device": args.device, "harness": args.harness}
        spec = resume_spec(trace, person=args.person, **phone, **changes)
        if settings.seat != spec.seat and settings.seat != "developer":
            raise LabError(f"run {trace.id}", f"is a {spec.seat}'s; a {settings.seat} cannot go on with it.")
        return spec, trace
    from simulators import library

    task = library.task(args.task)
    name = args.persona or task.persona
    persona = library.persona(name, args.log or task.log) if name else None
    spec = Spec(
        task,
        persona,
        user="script" if headless else "human",
        person=settings.person,
        seat=settings.seat,
        mirror=not args.no_mirror,
        seed=args.seed or 0,
        device=settings.device,
        harness=args.harness or "",
    )
    spec = in_world(spec, args.vary) if args.vary else spec
    return spec._replace(**{k: v for k, v in changes.items() if v is not None}), None


def _refuse_other(args: argparse.Namespace) -> None:
    """What a run was begun with stays as it is: raises `LabError` where another is asked for as it goes on."""
    given = {
        "--persona": args.persona is not None,
        "--log": args.log is not None,
        "--seed": args.seed is not None,
        "--vary": args.vary is not None,
        "--no-mirror": args.no_mirror,
    }
    fixed = ", ".join(name for name, there in given.items() if there)
    if fixed:
        said = f"{fixed}: was settled when the run began; an open run goes on as it is"
        raise LabError("live --resume", said, "`hitlab fork ID@STEP` goes on with another persona or log.", code=2)


def breaks_of(specs: list[str] | None, settings: Settings) -> tuple[str, ...]:
    """The breakpoints asked for, each read once; a `LabError` says which is none, or that this seat has none."""
    if not specs:
        return ()
    if settings.seat != "developer":
        raise LabError("--break", f"is not there for the seat {settings.seat}.", code=2)
    from lab.breakpoints import Breakpoints
    from lab.session import packages

    return tuple(point.spec for point in Breakpoints(specs, packages()).all)


def run_headless(args: argparse.Namespace, session: Session) -> int:
    """Drives a session to its end, or to a breakpoint, where it is left open, and prints what came of it."""
    from lab.output import RunResult, Stopped, print_json
    from lab.spec import PERSON

    if session.spec.agent == PERSON:
        session.device.close()
        raise LabError("a demonstration", "needs a person at a terminal.", "`hitlab record` shows the phone.", code=2)
    store, session.attended = session.store, False
    lines = _EventLines(session)
    if args.events:
        session.on_event = lines
    code = 0
    session.start()
    try:
        session.join()
    except KeyboardInterrupt:
        session.stop("interrupted")
        code = 3
    if session.failure is not None:
        raise session.failure
    if lines.failure is not None:
        raise lines.failure
    trace = store.trace(session.trace_id)
    result = RunResult(
        trace=trace.id,
        db=str(store.path),
        status=trace.status,
        score=trace.ended.score if trace.ended else None,
        steps=len(trace.steps),
        questions=trace.questions,
        replies=trace.replies,
        spent=trace.spent,
    )
    stop = session.stopped_at
    if stop is not None:
        stopped = Stopped(stop.breakpoint.spec, stop.step + 1, stop.proposed.action, stop.proposed.thought)
        result = msgspec.structs.replace(result, stopped=stopped)
    if args.json:
        print_json(result)
    elif not args.events:
        from lab.commands.telling import tell_run, tell_stop

        tell_run(trace, str(store.path))
        tell_stop(result.stopped, session.spec.breaks)
    return code


class _EventLines:
    """One line per event, on disk before it is printed; where nobody reads them any more, the run is left open."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.failure: OSError | None = None

    def __call__(self, event: AnyEvent | None) -> None:
        from lab.output import print_json

        if event is None or self.failure is not None:
            return
        try:
            print_json(event)
        except OSError as error:
            self.failure = error
            self.session.leave()


def wants_window(args: argparse.Namespace) -> bool | None:
    """Whether the page of pictures was asked for on the command line; None where it was not."""
    return getattr(args, "window", None)


def _show_app(args: argparse.Namespace, opening: Opening) -> int:
    settings = load(db=getattr(args, "db", None), window=wants_window(args))
    with open_store(settings) as store:
        return _app(store, settings, opening)


def _app(store: Store, settings: Settings, opening: Opening) -> int:
    from screens.app import LabApp
    from screens.pauses import spare_pauses

    if not (sys.stdout.encoding or "").lower().startswith("utf"):
        raise LabError("terminal", f"its encoding is {sys.stdout.encoding}; screens need UTF-8.", "Set LC_ALL=C.UTF-8.")
    if settings.graphics != "cells":
        from screens.graphics import prepare

        prepare(settings.graphics)
    app = LabApp(store, settings, opening)
    spare_pauses()
    app.run()
    return app.return_code or 0


def show_live(store: Store, settings: Settings, make: Callable[[], Session], title: str) -> int:
    """A session that is still to be made, on the screen; `title` is who says that there is none."""
    if not _terminal():
        raise LabError(title, "there is no terminal here", "Add --headless to run without a screen.")
    _check_room()
    from screens.rooms import Opening

    return _app(store, settings, Opening("live", make=make))


def show_room(store: Store, settings: Settings, opening: Opening, title: str, instead: str) -> int:
    """Opens the app in a room; raises `LabError` where there is no terminal, with what to do `instead`."""
    if not _terminal():
        raise LabError(title, "there is no terminal here", instead)
    return _app(store, settings, opening)


def _check_room() -> None:
    """A run must not begin where nobody could see its questions: raises `LabError` where the terminal is too small."""
    from shutil import get_terminal_size

    from screens.frame import LEAST

    size = get_terminal_size()
    if size.columns < LEAST[0] or size.lines < LEAST[1]:
        raise LabError("terminal", f"is {size.columns}x{size.lines}; a run needs {LEAST[0]}x{LEAST[1]}.", "Enlarge it.")


def _terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()
