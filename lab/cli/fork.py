"""The commands fork and family: a new run from a step of another, and the tree of related runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from lab.cli.app import show_live
from lab.cli.arguments import Arguments, Parser, seconds, typed_words
from lab.cli.database import open_store
from lab.cli.live import breaks_of, run_headless
from lab.cli.output import (
    print_result,
    print_table,
)
from lab.core.agent_names import shortest_names
from lab.core.errors import LabError
from lab.core.run_records import RelatedRun, TraceLine
from lab.core.settings import Settings, load
from lab.core.step import Action, ActionKind
from lab.core.suggestion import suggestion
from lab.core.task import agent_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.runs.family import TreeLine
    from lab.runs.fork import ForkChange
    from store.store import Store


class KinLine(TraceLine, frozen=True):
    """One run of a family: `family`. Each follows its parent (null: none, or not in this file).

    `step` (from 1) is the first of its own, `changes` the differences made there.
    """

    parent: str | None = None
    step: int | None = None
    changes: tuple[tuple[str, str], ...] = ()


class ForkArguments(Arguments):
    place: str
    say: str | None
    decision: Literal["accept", "reject"] | None
    action: str | None
    agent: str | None
    agent_name: str
    agent_version: str
    traceback: bool
    persona: str | None
    log: Literal["clean", "noise", "none"] | None
    user: str | None
    gate: Literal["pass", "ask"] | None
    person: str | None
    pace: float | None
    no_read: bool
    headless: bool
    breaks: list[str] | None
    each_ask: bool
    replies: str | None
    study: str | None


def add_fork(parser: Parser) -> None:
    parser.runs(fork, ForkArguments)
    parser.add_argument(
        "place", metavar="ID@STEP", help="a run, and the step (from 1) that is to go otherwise; with --each-ask the run"
    )
    parser.add_argument("--say", type=typed_words, metavar="TEXT", help="another reply to the question of that step")
    decision = parser.add_mutually_exclusive_group()
    decision.add_argument("--accept", dest="decision", action="store_const", const="accept", help="accept the proposal")
    decision.add_argument("--reject", dest="decision", action="store_const", const="reject", help="reject the proposal")
    parser.add_argument(
        "--action",
        metavar="JSON",
        help='another action: {"kind": "click", "at": [540, 1200]}, {"kind": "click", "node": 7}, or navigate_back',
    )
    parser.add_argument("--agent", metavar="NAME", help="another agent, which proposes from that step on")
    parser.agent_name()
    parser.traceback()
    parser.add_argument("--persona", metavar="NAME", help="another persona: a built-in name or a profile file")
    parser.add_argument("--log", choices=("clean", "noise", "none"), help="another history for the agent to see")
    parser.add_argument("--user", metavar="WHO", help="who answers from then on: human, script[:FILE] or model:NAME")
    parser.add_argument("--gate", choices=("pass", "ask"), help="ask: each action waits for your word")
    parser.add_argument("--as", dest="person", metavar="CODE", help="your study code (never a name)")
    parser.add_argument("--pace", type=seconds, metavar="S", help="least seconds between two turns")
    parser.no_read()
    parser.add_argument("--headless", action="store_true", help="no screen; print the result")
    parser.add_argument(
        "--each-ask", action="store_true", help="fork at every question, once for each of other people's replies"
    )
    parser.add_argument("--replies", metavar="FILE", help="with --each-ask: the replies, a YAML or JSON list")
    parser.add_argument(
        "--from", dest="study", metavar="STUDY", help="with --each-ask: what its participants replied at this task"
    )
    parser.breaks()
    parser.json()
    parser.completes(place="run", agent="agent", user="user", persona="persona", study="study")
    parser.examples(
        """\
  hitlab fork 019a@4 --say "Without onions, please."
  hitlab fork 019a@1 --agent model:openai/gpt-5
  hitlab fork 019a@4 --action '{"kind": "click", "at": [540, 1200]}'
  hitlab fork 019a --each-ask --from pilot --user script
"""
    )


def fork(args: ForkArguments) -> int:
    """Fork a run: the new one equals a stored run up to a step and differs from there."""
    from lab.runs.fork import fork_run, parse_fork_place

    without = args.headless or args.json
    settings = load(db=args.db, person=args.person)
    developers_only(settings, "fork")
    if args.each_ask:
        return _swap_answers(args, settings)
    if args.replies is not None or args.study is not None:
        raise LabError("fork", "--replies and --from go with --each-ask.", code=2)
    change = _change(args)
    breaks = breaks_of(args.breaks, settings)
    pace = args.pace if args.pace is not None else 0.0 if without else settings.pace
    with open_store(settings, create=False) as store:
        run, index = parse_fork_place(store, args.place)
        if args.action is not None:
            change = change._replace(action=_action(store, run, index, args.action.strip()))
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
    from lab.cli.answer_swap import swap_answers

    other = {
        "--say": args.say, "--accept or --reject": args.decision, "--action": args.action, "--agent": args.agent,
        "--agent-name": args.agent_name or None, "--agent-version": args.agent_version or None,
        "--persona": args.persona, "--log": args.log, "--gate": args.gate, "--break": args.breaks,
    }  # fmt: skip
    wrong = next((name for name, value in other.items() if value is not None), "")
    if wrong:
        raise LabError("fork", f"{wrong} does not go with --each-ask: the replies alone are to be other.", code=2)
    return swap_answers(args.place, args.replies, args.study, args.user, settings, json=args.json)


def _change(args: ForkArguments) -> ForkChange:
    from lab.runs.fork import ForkChange

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


def _action(store: Store, run: str, index: int, text: str) -> Action:
    """Parse an action: JSON on the screen before the step, or a kind that needs no more fields."""
    from lab.core.action_target import read_action
    from lab.runs.fork import screen_before

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
    f"{', '.join(_BARE)} by its name; the kinds are {{}}; `hitlab schema action` has every field."
)


def developers_only(settings: Settings, what: str) -> None:
    """Raise `LabError` for every seat but the developer's."""
    if settings.seat != "developer":
        raise LabError(what, f"is not there for the seat {settings.seat}.")


class FamilyArguments(Arguments):
    run_id: str


def add_family(parser: Parser) -> None:
    parser.runs(family, FamilyArguments)
    parser.add_argument("run_id", metavar="ID", help="any run of the family: its id or its beginning")
    parser.json()
    parser.completes(run_id="run")
    parser.examples(
        """\
  hitlab family 019a
  hitlab family 019a --json | jq '.[].score'
"""
    )


def family(args: FamilyArguments) -> int:
    """Print the runs that share a beginning with one, as a tree."""
    from lab.runs.family import tree

    settings = load(db=args.db)
    developers_only(settings, "family")
    with open_store(settings, create=False, readonly=True) as store:
        limbs = tree(store.runs.family(store.runs.find(args.run_id)))
    print_result([_line(limb.run) for limb in limbs], lambda _: _tell_family(limbs), json=args.json)
    return 0


def _tell_family(limbs: Sequence[TreeLine]) -> None:
    from lab.runs.family import change_words

    names = shortest_names(limb.run.actor for limb in limbs if limb.run.actor is not None)
    rows = []
    for stem, kin in ((limb.stem, limb.run) for limb in limbs):
        at = f"@{kin.forked.index + 1}" if kin.forked else ""
        score = "-" if kin.score is None else f"{kin.score:g}"
        words = change_words(kin.forked) or kin.task
        rows.append([f"{stem}{kin.id}", at, words, names.get(kin.agent, kin.agent), str(kin.steps), kin.status, score])
    print_table(["run", "step", "what is other", "agent", "steps", "status", "score"], rows, wide="what is other")


def _line(kin: RelatedRun) -> KinLine:
    names = set(KinLine.__struct_fields__) - {"step", "changes"}
    values = {name: value for name, value in msgspec.structs.asdict(kin).items() if name in names}
    origin = kin.forked
    return KinLine(**values, step=origin.index + 1 if origin else None, changes=origin.changes if origin else ())
