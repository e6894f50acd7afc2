"""The commands fork and family: a new run from a step of another, and the tree of related runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from lab.cli.app import show_live
from lab.cli.arguments import (
    AgentArguments,
    BreakArguments,
    JsonArguments,
    Parser,
    PersonArguments,
    TableArguments,
    argument,
    flag,
    option,
    seconds,
    typed_words,
)
from lab.cli.database import open_store
from lab.cli.live import breaks_of, run_headless
from lab.cli.output import (
    print_result,
    print_table,
)
from lab.core.errors import LabError
from lab.core.run.agent_names import shortest_names
from lab.core.run.run_records import RelatedRun, TraceLine
from lab.core.run.step import Action, ActionKind
from lab.core.settings import Settings, load
from lab.core.task.task import agent_word
from lab.core.text.suggestion import suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.runs.fork.family import TreeLine
    from lab.runs.fork.fork import ForkChange
    from store.store import Store


class KinLine(TraceLine, frozen=True):
    """One run of a family: `runs family`. Each follows its parent (null: none, or not in this file).

    `step` (from 1) is the first of its own, `changes` the differences made there.
    """

    parent: str | None = None
    step: int | None = None
    changes: tuple[tuple[str, str], ...] = ()


class ForkArguments(AgentArguments, BreakArguments, PersonArguments, JsonArguments):
    place: str = argument("ID@STEP", "a run and the step (from 1) to change; with --each-ask the run", completes="run")
    say: str | None = option("TEXT", "give another reply to the question of that step", type=typed_words)
    decision: Literal["accept", "reject"] | None = option(
        "", "accept the proposal of that step", "--accept", action="store_const", const="accept", one_of="decision"
    )
    rejection: Literal["reject"] | None = option(
        "", "reject the proposal of that step", "--reject", action="store_const", const="reject", dest="decision",
        one_of="decision",
    )  # fmt: skip
    action: str | None = option(
        "JSON",
        'do another action: {"kind": "click", "at": [540, 1200]}, {"kind": "click", "node": 7}, or navigate_back',
    )
    agent: str | None = option("NAME", "continue with another agent (e.g. model:openai/gpt-5)", completes="agent")
    persona: str | None = option("NAME", "use another persona: a built-in name or a profile file", completes="persona")
    log: Literal["clean", "noise", "none"] | None = option(
        "", "show the agent another history (default: that of the run)", choices=("clean", "noise", "none")
    )
    user: str | None = option(
        "WHO", "let this user answer from then on: human, script[:FILE] or model:NAME", completes="user"
    )
    gate: Literal["pass", "ask"] | None = option(
        "", "ask you before each action (default: pass)", choices=("pass", "ask")
    )
    pace: float | None = option(
        "S", "wait at least S seconds between two turns (default: the setting pace)", type=seconds
    )
    headless: bool = flag("run without a screen and print the result")
    each_ask: bool = flag("fork at every question, once for each reply of other people")
    replies: str | None = option("FILE", "with --each-ask: take the replies from a YAML or JSON list")
    study: str | None = option(
        "STUDY", "with --each-ask: take what a study's participants replied at this task", "--study", "--from",
        completes="study",
    )  # fmt: skip


def add_runs_fork(parser: Parser) -> None:
    parser.runs(
        fork, ForkArguments,
        prints={"fork": "lab.cli.live:RunResult", "answer-swap": "lab.cli.runs.answer_swap:AnswerSwap"},
    )  # fmt: skip
    parser.examples(
        """\
  hitlab runs fork 019a@4 --say "Without onions, please."
  hitlab runs fork 019a@1 --agent model:openai/gpt-5
  hitlab runs fork 019a@4 --action '{"kind": "click", "at": [540, 1200]}'
  hitlab runs fork 019a --each-ask --study pilot --user script
"""
    )


def fork(args: ForkArguments) -> int:
    """Fork a run: the new one equals a stored run up to a step and differs from there."""
    from lab.runs.fork.fork import fork_run, parse_fork_place

    without = args.headless or args.json
    settings = load(db=args.db, person=args.person)
    developers_only(settings, "fork")
    if args.each_ask:
        return _swap_answers(args, settings)
    if args.replies is not None or args.study is not None:
        raise LabError("fork", "--replies and --study go with --each-ask.", code=2)
    change = _fork_change(args)
    breaks = breaks_of(args.breaks, settings)
    pace = args.pace if args.pace is not None else 0.0 if without else settings.pace
    with open_store(settings, create=False) as store:
        run, index = parse_fork_place(store, args.place)
        if args.action is not None:
            change = change._replace(action=_parse_action(store, run, index, args.action.strip()))
        if not without:
            return show_live(store, settings, lambda: fork_run(
                store, run, index, change, person=settings.person, pace=pace, gate=args.gate, breaks=breaks
            ), "fork")  # fmt: skip
        if args.gate == "ask":
            raise LabError("fork", "without a screen nobody lets the actions through", "Use --gate pass.", code=2)
        user = store.runs.trace(run).user
        if (args.user or (user.kind if user is not None else "human")) == "human":
            raise LabError("fork", "a run without a screen needs --user script, script:FILE or model:NAME", code=2)
        session = fork_run(store, run, index, change, person=settings.person, pace=pace, gate="pass", breaks=breaks)
        return run_headless(session, as_json=args.json, traceback=args.traceback)


def _swap_answers(args: ForkArguments, settings: Settings) -> int:
    """Run --each-ask. Refuse other changes, which would hide the effect of the replies."""
    from lab.cli.runs.answer_swap import swap_answers

    other = {
        "--say": args.say, "--accept or --reject": args.decision, "--action": args.action, "--agent": args.agent,
        "--agent-name": args.agent_name or None, "--agent-version": args.agent_version or None,
        "--persona": args.persona, "--log": args.log, "--gate": args.gate, "--break": args.breaks,
    }  # fmt: skip
    wrong = next((name for name, value in other.items() if value is not None), "")
    if wrong:
        raise LabError("fork", f"{wrong} does not go with --each-ask: the replies alone are to be other.", code=2)
    return swap_answers(args.place, args.replies, args.study, args.user, settings, json=args.json)


def _fork_change(args: ForkArguments) -> ForkChange:
    from lab.runs.fork.fork import ForkChange

    if args.action is not None:
        _check_action(args.action.strip())
    return ForkChange(
        args.say, args.decision, None, args.agent, args.persona, args.log, args.user,
        False if args.no_read else None, agent_word(args.agent_name), agent_word(args.agent_version),
    )  # fmt: skip


def _check_action(name: str) -> None:
    """Raise `LabError` unless the words are JSON or a kind of action that needs no more fields."""
    kinds = get_args(ActionKind)
    if name in _BARE or name.startswith("{"):
        return
    problem = "needs more than its name" if name in kinds else "is no action"
    words = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}..."
    near = "" if name in kinds else suggestion(name, kinds)
    raise LabError("--action", f"{words!r} {problem}{near}", _ACTIONS.format(", ".join(kinds)), code=2)


def _parse_action(store: Store, run: str, index: int, text: str) -> Action:
    """Parse an action: JSON on the screen before the step, or a kind that needs no more fields."""
    from lab.core.run.action_target import read_action
    from lab.runs.fork.fork import screen_before

    if text in _BARE:
        return Action(text)
    try:
        return read_action(text, *screen_before(store, run, index), "--action")
    except LabError as error:
        hint = error.hint or _ACTIONS.format(", ".join(get_args(ActionKind)))
        raise LabError(error.title, error.message, hint, code=error.code) from error


_SHOWN = 60
"""Characters of a wrong action to repeat in the error."""

_BARE: tuple[ActionKind, ...] = ("navigate_back", "navigate_home", "press_recent", "keyboard_enter", "wait")
"""Kinds of action that need no fields."""

_ACTIONS = (
    'Write JSON, such as \'{{"kind": "click", "at": [540, 1200]}}\' or \'{{"kind": "click", "node": 7}}\', or one of '
    f"{', '.join(_BARE)} by its name; the kinds are {{}}; `hitlab settings schema action` has every field."
)


def developers_only(settings: Settings, what: str) -> None:
    """Raise `LabError` for every seat but the developer's."""
    if settings.seat != "developer":
        raise LabError(what, f"is not there for the seat {settings.seat}.")


class FamilyArguments(TableArguments):
    run_id: str = argument("ID", "id of any run of the family, or its beginning", completes="run")


def add_runs_family(parser: Parser) -> None:
    parser.runs(family, FamilyArguments, prints={"family": list[KinLine]})
    parser.examples(
        """\
  hitlab runs family 019a
  hitlab runs family 019a --json | jq '.[].score'
"""
    )


def family(args: FamilyArguments) -> int:
    """Print the runs that share a beginning with one, as a tree."""
    from lab.runs.fork.family import tree

    settings = load(db=args.db)
    developers_only(settings, "family")
    with open_store(settings, create=False, readonly=True) as store:
        limbs = tree(store.runs.family(store.runs.find(args.run_id)))
    print_result([_kin_line(limb.run) for limb in limbs], lambda _: _print_family(limbs), json=args.json)
    return 0


def _print_family(limbs: Sequence[TreeLine]) -> None:
    from lab.runs.fork.family import change_words

    names = shortest_names(limb.run.actor for limb in limbs if limb.run.actor is not None)
    rows = []
    for stem, kin in ((limb.stem, limb.run) for limb in limbs):
        at = f"@{kin.forked.index + 1}" if kin.forked else ""
        score = "-" if kin.score is None else f"{kin.score:g}"
        words = change_words(kin.forked) or kin.task
        rows.append([f"{stem}{kin.id}", at, words, names.get(kin.agent, kin.agent), str(kin.steps), kin.status, score])
    columns = ["run", "step", "what is other", "agent", "steps", "status", "score"]
    print_table(columns, rows, wide="what is other", records=(KinLine, [_kin_line(limb.run) for limb in limbs]))


def _kin_line(kin: RelatedRun) -> KinLine:
    names = set(KinLine.__struct_fields__) - {"step", "changes"}
    values = {name: value for name, value in msgspec.structs.asdict(kin).items() if name in names}
    origin = kin.forked
    return KinLine(**values, step=origin.index + 1 if origin else None, changes=origin.changes if origin else ())
