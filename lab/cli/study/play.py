"""The commands study rate and study play: rate or play on the screen, or play by a script or model."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import msgspec

from lab.cli.app import show_study
from lab.cli.arguments import JsonArguments, Parser, PersonArguments, StudyArguments, amount, flag, option
from lab.cli.budget import check_budget, check_priced
from lab.cli.database import open_store
from lab.cli.output import print_json, print_line, print_result, warn
from lab.core.errors import LabError
from lab.core.run.shadow_answer import ShadowsPlayed
from lab.core.settings import Settings, load
from lab.core.study.study import Study, Unit
from lab.core.text.plain_text import plain
from lab.core.text.suggestion import suggestion
from lab.studies.planning.study_places import StudyPlaces, check_goes_on, study_named
from lab.studies.seats import check_seat, sees_outcomes
from store.file.process_lock import process_lock
from store.store import Store

if TYPE_CHECKING:
    from lab.core.run.trace import Trace
    from lab.studies.playing.headless_plays import HeadlessPlay, PlayBudget, PlayDone


class StudyOpenArguments(StudyArguments, PersonArguments):
    only: bool = flag("show this study and nothing else: no list of others, no Home", "--study-only", "--only")


def add_study_rate(parser: Parser) -> None:
    parser.runs(open, StudyOpenArguments)
    parser.examples(
        """\
  hitlab study rate tdg --person R1
  hitlab study rate knowu-5c --person P07 --study-only
"""
    )


def open(args: StudyOpenArguments) -> int:
    """Open a study for a rater or participant, at the exact place where they left it."""
    settings = load(db=args.db, person=args.person)
    with open_store(settings, create=False) as store:
        study = study_named(store, args.study)
        plays = study.protocol.unit == "task to play"
        if settings.seat == "participant" and not plays:
            raise LabError("study rate", "is not there for the seat participant.")
        check_person(store, study, settings.person)
        return show_study(store, settings, study, only=args.only)


def check_person(store: Store, study: Study, code: str) -> None:
    """Raise `LabError` if this person can do nothing in the study now."""
    what = f"study {study.name}"
    if store.labels.has_withdrawn(code):
        raise LabError(what, f"{code} has withdrawn.")
    check_goes_on(store, study)
    if store.studies.has_left(study, code):
        raise LabError(what, f"{code} has left it; another goes on in their place.")
    if store.studies.progress(study, code).dealt:
        return
    if code not in study.raters:
        near = suggestion(code, study.raters) if store.database.may_suggest else ""
        raise LabError(what, f"{code} is none of its people{near or '.'}", "--person CODE says who you are.")
    raise LabError(what, f"nothing is dealt to {code} yet.", f"`hitlab study deal {study.id}` deals it.")


class PlayedRun(msgspec.Struct, frozen=True):
    """One run of a study without a person. `new` is false if it was played before.

    `cost` is the cost of its user's answers in US dollars. `why` is the reason if the run was left open.
    """

    unit: str
    task: str
    condition: str
    by: str
    trace: str
    status: str
    score: float | None
    questions: int
    new: bool
    cost: float = 0.0
    why: str = ""


class StudyPlayed(msgspec.Struct, frozen=True):
    """Result of `study play`. `left` counts plays that need --model or were not begun.

    `cost` is the cost in US dollars of models' answers in this call, `ended` the reason if it ended early. `shadows` is
    null without --shadows.
    """

    study: str
    version: int
    runs: tuple[PlayedRun, ...]
    left: int
    interrupted: bool = False
    cost: float = 0.0
    ended: str = ""
    shadows: ShadowsPlayed | None = None


class PromptPart(msgspec.Struct, frozen=True):
    """One message to a model."""

    role: str
    text: str


class PlayPrompt(msgspec.Struct, frozen=True):
    """Messages of a model's first question in a play: `study play --show-prompt`.

    `prompts` is the hash of the prompt files. A placeholder stands in for the assistant's words.
    """

    study: str
    unit: str
    prompts: str
    messages: tuple[PromptPart, ...]


class StudyPlayArguments(StudyArguments, JsonArguments):
    model: str | None = option("NAME", "let this model answer where the plan says model (e.g. openai/gpt-5)")
    code: str = option("CODE", "code of the model in the study (default: model:NAME)", "--person", "--as", default="")
    budget: float | None = option(
        "USD", "begin no further play after spending so many US dollars (e.g. 5)", type=amount
    )
    rehearse: list[str] = option(
        "CODE", "let scripts play a person's part, to try a study; the report says so; repeatable",
        action="append", default=[],
    )  # fmt: skip
    shadows: bool = flag("ask the study's shadow models what they have not answered yet")
    show_prompt: str | None = option("UNIT", "print a model's prompt at a play's first question, and ask nothing")
    device: str | None = option("SERIAL", "play on this phone: a serial or HOST:PORT, or embedded (default)")


def add_study_play(parser: Parser) -> None:
    parser.runs(play, StudyPlayArguments, prints={"study-play": StudyPlayed, "study-play-prompt": PlayPrompt})
    parser.description = """\
Play every unit whose user is a script, and with --model those whose user is a
model, each once. A model is one more rater: several may play, each under its
own code. The same line again continues a run that was cut off, or whose model
gave no answer. People play with `hitlab study rate`."""
    parser.examples(
        """\
  hitlab study play knowu-5c
  hitlab study play knowu-5c --model openai/gpt-5 --budget 5
  hitlab study play knowu-5c --show-prompt usual_lunch.model
  hitlab study play knowu-5c --shadows
"""
    )


def play(args: StudyPlayArguments) -> int:
    """Play the units that need no person, or ask shadow models the questions that they have not answered.

    Exit code 3 if anything is left, open or interrupted.
    """
    settings = load(db=args.db, device=args.device)
    check_seat(settings, sees_outcomes, "study play")
    check_budget("study play", args.budget)
    if (args.code or args.budget) and not (args.model or args.shadows):
        raise LabError("study play", "--person and --budget are of a model.", "Name it with --model NAME.", code=2)
    with open_store(settings, create=False, readonly=args.show_prompt is not None) as store:
        study = study_named(store, args.study)
        what = f"study {study.name}"
        if study.protocol.unit != "task to play":
            raise LabError(what, f"is rated, not played: its unit is a {study.protocol.unit}.")
        if args.show_prompt is not None:
            unit = StudyPlaces(store, study).unit(args.show_prompt, "--show-prompt")
            print_result(_play_prompt(study, unit), _print_prompt, json=args.json)
            return 0
        if store.studies.locked(study):
            raise LabError(what, "is locked; nothing in it changes any more.")
        doing = _ask_shadows if args.shadows else _rehearse if args.rehearse else _play_units
        outcome = doing(store, study, args, settings)
    if args.json:
        print_json(outcome)
    if outcome.ended:
        warn(f"It ended early: {outcome.ended}.")
    if outcome.interrupted:
        warn("Interrupted: the same line again goes on from here.")
    if outcome.left and not args.model:
        warn(f"{outcome.left} wait for a model: --model NAME")
    open_runs = any(run.status == "open" for run in outcome.runs)
    lacking = outcome.shadows is not None and outcome.shadows.answered < outcome.shadows.questions
    return 3 if outcome.left or outcome.interrupted or open_runs or lacking else 0


def _play_units(store: Store, study: Study, args: StudyPlayArguments, settings: Settings) -> StudyPlayed:
    """Play the units of a script or the named model."""
    from lab.studies.playing.headless_plays import PlayBudget, check_plays, headless_plays

    what = f"study {study.name}"
    todo = headless_plays(store, study, args.model or "", args.code)
    plays_left = sum(unit.play is not None and unit.play.user == "model" for unit in store.studies.units(study))
    plays_left = 0 if args.model else plays_left
    if not todo:
        hint = "Name a model with --model NAME." if plays_left else "`hitlab study rate` is for people."
        raise LabError(what, "has nothing that a script plays." if plays_left else "is played by people alone.", hint)
    check_plays(store, study, todo, settings)
    if args.budget is not None and args.model:
        from lab.llm.client import Llm, terms

        check_priced("study play", Llm(args.model, terms(settings)))
    with ExitStack() as stack:
        if args.model:
            code = args.code or f"model:{args.model}"
            work, does = (study.id, study.version, "play", code), f"has {plain(code)} play {study.name}"
            stack.enter_context(process_lock(store.path, *work, title="study play", does=does))
        return _run_plays(store, study, todo, plays_left, settings.device, PlayBudget(args.budget), quiet=args.json)


def _run_plays(
    store: Store,
    study: Study,
    todo: Sequence[HeadlessPlay],
    plays_left: int,
    device: str,
    budget: PlayBudget,
    *,
    quiet: bool,
) -> StudyPlayed:
    from lab.studies.playing.headless_plays import PlayDone, play_all

    runs: list[PlayedRun] = []
    ending, interrupted = "", False
    try:
        for outcome in play_all(store, study, todo, device, budget):
            if not isinstance(outcome, PlayDone):
                ending = outcome
                plays_left += len(todo) - len(runs)
                break
            runs.append(_played_run(outcome))
            if not quiet:
                print_played_run(runs[-1])
    except KeyboardInterrupt:
        interrupted = True
    places = {unit.id: at for at, unit in enumerate(store.studies.units(study))}
    runs.sort(key=lambda run: places[run.unit])
    return StudyPlayed(study.id, study.version, tuple(runs), plays_left, interrupted, budget.spent, ending)


def _played_run(outcome: PlayDone) -> PlayedRun:
    from lab.studies.playing.headless_plays import cost_of

    what, trace = outcome.what, outcome.trace
    return PlayedRun(
        what.unit.id, what.play.task.id, what.play.condition, what.by.id, trace.id, trace.status,
        trace.ended.score if trace.ended else None, trace.questions, outcome.new, cost_of(trace) + outcome.lost,
        outcome.why,
    )  # fmt: skip


def print_played_run(run: PlayedRun) -> None:
    """Print one stored run in one line."""
    score = "-" if run.score is None else f"{run.score:.2f}"
    questions = "one question" if run.questions == 1 else f"{run.questions} questions"
    before = "" if run.new else ", played before"
    why = f", left open: {run.why}" if run.why else ""
    line = f"{run.task}  {run.by}  {run.trace}  {run.status}  score {score}  {questions}{before}{why}"
    print_line(plain(line, lines=False))


# -- rehearsals ------------------------------------------------------------------------------------------------


def _rehearse(store: Store, study: Study, args: StudyPlayArguments, settings: Settings) -> StudyPlayed:
    """Let scripts play the parts of the named people."""
    from lab.studies.planning.rehearsal import rehearse

    if args.model:
        raise LabError("study play", "--model and --rehearse: a script answers, and no model.", code=2)
    runs: list[PlayedRun] = []
    interrupted = False
    try:
        for code in dict.fromkeys(args.rehearse):
            for unit, trace in rehearse(store, study, code, settings.device):
                runs.append(_rehearsal_run(unit, code, trace))
                if not args.json:
                    print_played_run(runs[-1])
    except KeyboardInterrupt:
        interrupted = True
    return StudyPlayed(study.id, study.version, tuple(runs), 0, interrupted)


def _rehearsal_run(unit: Unit, code: str, trace: Trace) -> PlayedRun:
    assert unit.play is not None
    return PlayedRun(
        unit.id, trace.task.id, unit.play.condition, code, trace.id, trace.status,
        trace.ended.score if trace.ended else None, trace.questions, new=True,
    )  # fmt: skip


# -- shadows ---------------------------------------------------------------------------------------------------


def _ask_shadows(store: Store, study: Study, args: StudyPlayArguments, settings: Settings) -> StudyPlayed:
    """Ask the study's shadow models the questions that they have not answered, in runs that people finished."""
    from lab.llm.client import Llm, terms
    from lab.runs.shadows import ask_missing, check_shadows
    from lab.studies.playing.played_runs import people_runs

    if args.model:
        raise LabError("study play", "--model and --shadows: a study's shadows are in its plan.", code=2)
    if not study.shadows:
        hint = "`hitlab study new ... --shadow model:NAME` names some."
        raise LabError(f"study {study.name}", "has no shadow models.", hint)
    check_shadows(study.shadows, settings)
    if args.budget is not None:
        for name in study.shadows:
            check_priced("study play", Llm(name.partition(":")[2], terms(settings)))
    ended, stop = "", threading.Event()

    def may_ask(spent: float | None) -> bool:
        nonlocal ended
        if args.budget is None or (spent is not None and spent < args.budget):
            return True
        ended = f"the budget of {args.budget:g} US dollars does not reach for the next question"
        if spent is None:
            ended = "nobody knows what the answers cost, and there is a budget"
        return False

    does = f"asks the shadows of {study.name}"
    with process_lock(store.path, study.id, study.version, "shadows", title="study play", does=does):
        answers = ask_missing(store, people_runs(store, study), study.shadows, stop, may_ask)
    if not args.json:
        there, asked = f"{answers.answered:,}", f"{answers.questions:,}"
        print_line(f"{there} of {asked} answers of shadow models are there, {answers.new:,} of them new.")
    return StudyPlayed(study.id, study.version, (), 0, stop.is_set(), answers.cost, ended, answers)


# -- what would be sent ----------------------------------------------------------------------------------------


def _play_prompt(study: Study, unit: Unit) -> PlayPrompt:
    from lab.studies.playing.headless_plays import shown_prompt
    from simulators.users.model import VERSION

    messages = tuple(PromptPart(role, text) for role, text in shown_prompt(study, unit))
    return PlayPrompt(study.name, unit.id, VERSION, messages)


def _print_prompt(prompt: PlayPrompt) -> None:
    print_line(f"study {prompt.study}, unit {prompt.unit}, prompts {prompt.prompts}")
    for message in prompt.messages:
        print_line(f"\n[{message.role}]")
        print_line(plain(message.text))
