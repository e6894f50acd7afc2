"""The commands by which studies are rated and played: on the screen, or by a script or a model without one."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace as changed

from lab.cli.app import show_room
from lab.cli.arguments import Arguments, Parser
from lab.cli.database import open_store
from lab.cli.output import print_json, say, warn
from lab.core.errors import LabError
from lab.core.plain_text import plain
from lab.core.settings import load
from lab.core.study import Study, Unit
from lab.core.suggestion import suggestion
from lab.core.task import Actor
from lab.core.trace import Trace
from lab.runs.spec import user_name
from lab.studies.played_runs import SCRIPT, claim, claimed, headless, session_of, tie
from lab.studies.seats import check_seat, sees_outcomes
from lab.studies.study_places import check_goes_on, study_named
from store.store import Store


class StudyOpenArguments(Arguments):
    """What `study open` takes."""

    study: str
    person: str | None
    only: bool


def add_study_open(parser: Parser) -> None:
    parser.runs(open, StudyOpenArguments)
    parser.study()
    parser.add_argument("--as", dest="person", metavar="CODE", help="your study code (never a name)")
    parser.add_argument("--only", action="store_true", help="this study and nothing else: no list of others, no Home")
    parser.examples(
        """\
  hitlab study open tdg --as R1
  hitlab study open knowu-5c --as P07 --only
"""
    )


def open(args: StudyOpenArguments) -> int:
    """Opens a study on the screen, for a rater or a participant, at the exact place where they left it."""
    settings = load(db=args.db, person=args.person)
    with open_store(settings, create=False) as store:
        study = study_named(store, args.study)
        plays = study.protocol.unit == "task to play"
        if settings.seat == "participant" and not plays:
            raise LabError("study open", "is not there for the seat participant.")
        check_person(store, study, settings.person)
        from screens.navigation import Opening

        seat = changed(settings, seat="participant" if plays else "rater")
        opening = Opening("play" if plays else "annotate", study=study, only=args.only)
        return show_room(store, seat, opening, f"study {study.id}", "`hitlab label` takes answers without a screen.")


def check_person(store: Store, study: Study, code: str) -> None:
    """Raises `LabError` where nothing of a study is there for this person now."""
    what = f"study {study.name}"
    if store.labels.withdrew(code):
        raise LabError(what, f"{code} has withdrawn.")
    check_goes_on(store, study)
    if store.studies.has_left(study, code):
        raise LabError(what, f"{code} has left it; another goes on in their place.")
    if store.studies.progress(study, code).dealt:
        return
    if code not in study.raters:
        near = suggestion(code, study.raters) if store.database.suggests else ""
        raise LabError(what, f"{code} is none of its people{near or '.'}", "--as CODE says who you are.")
    raise LabError(what, f"nothing is dealt to {code} yet.", f"`hitlab study deal {study.id}` deals it.")


class PlayedRun(msgspec.Struct, frozen=True):
    """One run of a study that nobody sat at: `new` is false where it was played before."""

    unit: str
    task: str
    condition: str
    by: str
    trace: str
    status: str
    score: float | None
    questions: int
    new: bool


class StudyPlayed(msgspec.Struct, frozen=True):
    """What `study play` came to. `left` counts plays that wait for a model to be named."""

    study: str
    version: int
    runs: tuple[PlayedRun, ...]
    left: int
    interrupted: bool = False


class StudyPlayArguments(Arguments):
    """What `study play` takes."""

    study: str
    model: str | None
    device: str | None


def add_study_play(parser: Parser) -> None:
    parser.runs(play, StudyPlayArguments)
    parser.study()
    parser.add_argument("--model", metavar="NAME", help="the model that answers where the plan says model")
    parser.add_argument("--device", metavar="SERIAL", help="a phone's serial or HOST:PORT; or embedded")
    parser.json()
    parser.examples(
        """\
  hitlab study play knowu-5c
  hitlab study play knowu-5c --model openai/gpt-5 --device R58M
"""
    )


def play(args: StudyPlayArguments) -> int:
    """Plays every unit whose user is a script, and with --model those whose user is a model, each once."""
    settings = load(db=args.db, device=args.device)
    check_seat(settings, sees_outcomes, "study play")
    with open_store(settings, create=False) as store:
        study = study_named(store, args.study)
        what = f"study {study.name}"
        if study.protocol.unit != "task to play":
            raise LabError(what, f"is rated, not played: its unit is a {study.protocol.unit}.")
        if store.studies.locked(study):
            raise LabError(what, "is locked; nothing in it changes any more.")
        todo = list(headless(store, study, args.model or ""))
        left = sum(unit.play is not None and unit.play.user == "model" for unit in store.studies.units(study))
        left = 0 if args.model else left
        if not todo:
            hint = "Name a model with --model NAME." if left else "`hitlab study open` is for people."
            raise LabError(what, "has nothing that a script plays." if left else "is played by people alone.", hint)
        _check(todo)
        outcome = _played(store, study, todo, left, settings.device, quiet=args.json)
    if args.json:
        print_json(outcome)
    if outcome.left:
        warn(f"{outcome.left} wait for a model: --model NAME")
    return 3 if outcome.left or outcome.interrupted else 0


def _check(todo: list[tuple[Unit, Actor, str]]) -> None:
    """Raises `LabError` where one of them could not be played, before the first is."""
    from simulators import library
    from simulators.users.model import model_user

    for unit, by, _ in todo:
        assert unit.play is not None
        if by == SCRIPT:
            library.script(unit.play.task.id)
        else:
            model_user(by.shown, load(), unit.play.task, unit.play.persona)


def _played(
    store: Store, study: Study, todo: list[tuple[Unit, Actor, str]], left: int, device: str, *, quiet: bool
) -> StudyPlayed:
    runs: list[PlayedRun] = []
    interrupted = False
    for unit, by, user in todo:
        try:
            run = _one(store, study, unit, by, user, device)
        except KeyboardInterrupt:
            interrupted = True
            break
        runs.append(run)
        if not quiet:
            tell(run)
    return StudyPlayed(study.id, study.version, tuple(runs), left, interrupted)


def _one(store: Store, study: Study, unit: Unit, by: Actor, user: str, device: str) -> PlayedRun:
    """Plays one unit, or finds that it is played; the run is tied to it before its line is printed."""
    assert unit.play is not None
    before = claimed(store, study, by, unit.id)
    if before and store.runs.holds(before) and (trace := store.runs.trace(before)).ended is not None:
        tie(store, study, by, unit.id, 1, trace)
        return _played_run(unit, by, trace, new=False)
    run = claim(store, study, by, unit.id, condition=unit.play.condition)
    session = session_of(store, unit.play, run, "", user, device=device)
    if user_name(session.user.actor) != user and by != SCRIPT:
        raise LabError(f"run {run}", f"was begun by {user_name(session.user.actor)}, not by {user}.")
    session.start()
    try:
        session.join()
    except KeyboardInterrupt:
        session.leave()  # it stays open, and is gone on with
        raise
    if session.failure is not None:
        raise session.failure
    trace = store.runs.trace(run)
    tie(store, study, by, unit.id, 1, trace)
    return _played_run(unit, by, trace, new=True)


def _played_run(unit: Unit, by: Actor, trace: Trace, *, new: bool) -> PlayedRun:
    assert unit.play is not None
    return PlayedRun(
        unit.id,
        unit.play.task.id,
        unit.play.condition,
        by.id,
        trace.id,
        trace.status,
        trace.ended.score if trace.ended else None,
        trace.questions,
        new,
    )


def tell(run: PlayedRun) -> None:
    """A line for a run that is on the disk."""
    score = "-" if run.score is None else f"{run.score:.2f}"
    asked = "one question" if run.questions == 1 else f"{run.questions} questions"
    before = "" if run.new else ", played before"
    say(plain(f"{run.task}  {run.by}  {run.trace}  {run.status}  score {score}  {asked}{before}", lines=False))
