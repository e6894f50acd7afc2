"""The command for demonstrations: a person works the phone as the agent, step by step, in words."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import msgspec

from lab.commands.runs import open_store, show_room, wants_window
from lab.errors import LabError
from lab.settings import Settings, load

if TYPE_CHECKING:
    from lab.spec import Spec
    from lab.trace import Trace
    from screens.record.intent import Asking
    from store.store import Store


def record(args: argparse.Namespace) -> int:
    """A demonstration from its intent, or an open one from where it was left."""
    if args.resume is not None and (args.task or args.intent or args.place or args.quick):
        said = "--resume goes on with a recording as it is; it takes no task, intent, place or --quick"
        raise LabError("record", said, code=2)
    db = getattr(args, "db", None)
    settings = load(db=db, person=args.person, seat=args.seat, device=args.device, window=wants_window(args))
    if settings.seat == "rater":
        raise LabError("record", "is not there for the seat rater.")
    with open_store(settings) as store:
        from screens.rooms import Opening

        if args.resume is not None:
            spec, trace = _resumed(args, settings, store)
            opening = Opening("live", spec=spec, resume=trace)
            settings = msgspec.structs.replace(settings, seat=spec.seat)
        else:
            opening = Opening("live", ask=_asked(args, settings))
        return show_room(store, settings, opening, "record", "A demonstration needs a person at a terminal.")


def _asked(args: argparse.Namespace, settings: Settings) -> Asking:
    """What is recorded once intent and place are said; all that can be wrong with it is wrong now."""
    from lab.recording import checked
    from screens.door import demonstration

    intent, place = checked(args.intent or "", "intent"), checked(args.place or "", "place")
    asking = demonstration(args.task, settings)
    spec = asking.spec._replace(harness=args.harness or "", quick=args.quick)
    return asking._replace(spec=spec, intent=intent, place=place)


def _resumed(args: argparse.Namespace, settings: Settings, store: Store) -> tuple[Spec, Trace]:
    from lab.spec import resume_spec

    trace = store.trace(store.find(args.resume))
    if trace.agent.kind != "human":
        raise LabError(f"run {trace.id}", "is no demonstration", "`hitlab live --resume ID` goes on with a run.")
    spec = resume_spec(trace, person=args.person, device=args.device, harness=args.harness)
    if settings.seat != spec.seat and settings.seat != "developer":
        raise LabError(f"run {trace.id}", f"is a {spec.seat}'s; a {settings.seat} cannot go on with it.")
    return spec, trace
