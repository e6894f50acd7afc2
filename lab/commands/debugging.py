"""Commands for who takes one run apart: fork, family."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import msgspec

from lab.commands.runs import breaks_of, open_store, run_headless, show_live
from lab.errors import LabError
from lab.output import KinLine, print_json
from lab.records import Kin
from lab.settings import Settings, load
from lab.tables import print_table
from lab.turn import Action
from lab.wire import decode

if TYPE_CHECKING:
    from lab.fork import Change


def fork(args: argparse.Namespace) -> int:
    """A new run that is as a stored one up to a step, and from there goes another way."""
    from lab.fork import forked, place

    without = args.headless or args.json
    settings = load(db=getattr(args, "db", None), person=args.person)
    developers_only(settings, "fork")
    args.events, change = False, _change(args)
    breaks = breaks_of(args.breaks, settings)
    pace = args.pace if args.pace is not None else 0.0 if without else settings.pace
    with open_store(settings, create=False) as store:
        run, index = place(store, args.place)
        if not without:
            return show_live(store, settings, lambda: forked(
                store, run, index, change, person=settings.person, pace=pace, gate=args.gate, breaks=breaks
            ), "fork")  # fmt: skip
        if args.gate == "ask":
            raise LabError("fork", "without a screen nobody lets the actions through", "Use --gate pass.", code=2)
        user = store.trace(run).user
        if (args.user or (user.kind if user is not None else "human")) == "human":
            raise LabError("fork", "a run without a screen needs --user script, script:FILE or model:NAME", code=2)
        session = forked(store, run, index, change, person=settings.person, pace=pace, gate="pass", breaks=breaks)
        return run_headless(args, session)


def _change(args: argparse.Namespace) -> Change:
    from lab.fork import Change

    action: Action | None = None
    if args.action is not None:
        try:
            action = decode(args.action, Action, "--action")
        except LabError as error:
            hint = error.hint or "`hitlab schema action` says what it may hold."
            raise LabError(error.title, error.message, hint, code=error.code) from error
    return Change(args.say, args.decision, action, args.agent, args.persona, args.log, args.user)


def developers_only(settings: Settings, what: str) -> None:
    """Raises `LabError` for every seat but the developer's."""
    if settings.seat != "developer":
        raise LabError(what, f"is not there for the seat {settings.seat}.")


def family(args: argparse.Namespace) -> int:
    """The runs that share a beginning with one, as a tree."""
    from lab.family import change_words, tree

    settings = load(db=getattr(args, "db", None))
    developers_only(settings, "family")
    with open_store(settings, create=False, readonly=True) as store:
        limbs = tree(store.family(store.find(args.run_id)))
    if args.json:
        print_json([_line(limb.kin) for limb in limbs])
        return 0
    rows = []
    for stem, kin in ((limb.stem, limb.kin) for limb in limbs):
        at = f"@{kin.forked.index + 1}" if kin.forked else ""
        score = "-" if kin.score is None else f"{kin.score:g}"
        words = change_words(kin.forked) or kin.task
        rows.append([f"{stem}{kin.id}", at, words, kin.agent, str(kin.steps), kin.status, score])
    print_table(["run", "step", "what is other", "agent", "steps", "status", "score"], rows, wide="what is other")
    return 0


def _line(kin: Kin) -> KinLine:
    names = set(KinLine.__struct_fields__) - {"step", "changes"}
    values = {name: value for name, value in msgspec.structs.asdict(kin).items() if name in names}
    forked = kin.forked
    return KinLine(**values, step=forked.index + 1 if forked else None, changes=forked.changes if forked else ())
