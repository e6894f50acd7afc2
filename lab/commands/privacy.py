"""Clearing demonstrations of what is private: privacy."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from lab.commands.reviewing import refuse_seat
from lab.commands.reviews_told import PrivacyDone, PrivacyLine, PrivacyShown, SuspectShown, tell_done
from lab.commands.runs import open_store, show_room
from lab.errors import LabError
from lab.output import print_json, say, warn
from lab.settings import Settings, load
from lab.suspects import suspects
from lab.tables import print_table
from lab.task import Actor
from lab.uitree import Bounds
from screens.review.queue import privacy_queue

if TYPE_CHECKING:
    from store.redaction import Redacted
    from store.store import Store


def privacy(args: argparse.Namespace) -> int:
    """The queue of demonstrations that nobody has cleared, on a screen, or one act on one of them without."""
    settings = load(db=getattr(args, "db", None), person=args.person)
    refuse_seat(settings, "privacy")
    if args.list:
        return _list(args, settings)
    if args.wipe:
        return _wipe(args, settings)
    if args.run_id is not None and settings.seat == "rater":
        _refuse_rated(settings, args.run_id)
    if not (args.show or args.boxes or args.texts or args.clear):
        return _screen(args, settings)
    if args.run_id is None:
        raise LabError("privacy", "needs the ID of a run", "`hitlab privacy --list` lists what waits.", code=2)
    with open_store(settings, create=False) as store:
        run = store.find(args.run_id)
        if args.show and not (args.boxes or args.texts or args.clear):
            return _show(store, run, as_json=args.json)
        done = _done(store, run, args, Actor("human", settings.person))
    if args.json:
        print_json(done)
    else:
        tell_done(done)
    return 0


def _refuse_rated(settings: Settings, run_id: str) -> None:
    """Who rates in a study looks into demonstrations alone: raises `LabError` for another run."""
    with open_store(settings, create=False, readonly=True) as store:
        if store.rates(settings.person) and store.find(run_id) not in store.demonstrations():
            what = f"{settings.person} rates in a study here, which shows what may be seen of runs."
            raise LabError("privacy", what, "`hitlab privacy --list` lists the demonstrations that wait.")


def _screen(args: argparse.Namespace, settings: Settings) -> int:
    if args.json:
        raise LabError("privacy", "--json goes with --show, --list or an act", code=2)
    with open_store(settings, create=False) as store:
        from screens.rooms import Opening

        found = store.find(args.run_id) if args.run_id else None
        return show_room(store, settings, Opening("privacy", found), "privacy", "--list and --show print instead.")


def _done(store: Store, run: str, args: argparse.Namespace, by: Actor) -> PrivacyDone:
    boxes: dict[int, list[Bounds]] = {}
    for step, box in args.boxes or ():
        boxes.setdefault(_step(step), []).append(_box(box))
    redacted: Redacted | None = None
    if boxes or args.texts:
        from store.redaction import redact

        redacted = redact(store, run, by, boxes=boxes, words=args.texts or (), everywhere=args.everywhere)
        run = redacted.replaced[run]
        for path in redacted.outside:
            warn(f"{path} still shows what was covered: it was linked, not taken in, and is yours to delete")
    if args.clear:
        store.clear(run, by)
    return done_of(run, redacted, cleared=args.clear)


def done_of(run: str, done: Redacted | None, *, cleared: bool) -> PrivacyDone:
    """What was done, as it is told."""
    counts = dict.fromkeys(("boxes", "nodes", "texts", "pictures", "states", "designs", "reviews", "unseen"), 0)
    counts |= dict.fromkeys(("rows", "blobs", "bytes"), 0)
    if done is not None:
        counts |= {name: getattr(done, name) for name in counts if hasattr(done, name)} | done.destroyed._asdict()
    return PrivacyDone(trace=run, cleared=cleared, replaced=dict(done.replaced) if done else {}, **counts)


def _step(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise LabError("--box", f"step {text!r} is no number from 1 on", code=2)
    return int(text) - 1


def _box(text: str) -> Bounds:
    parts = text.split(",")
    if len(parts) != 4 or not all(part.strip().isascii() and part.strip().isdigit() for part in parts):
        raise LabError("--box", f"{text!r} is no box; write left,top,right,bottom in pixels", code=2)
    box = Bounds(*(int(part) for part in parts))
    if not box.area:
        raise LabError("--box", f"{text!r} is empty: right is right of left, bottom below top", code=2)
    return box


def _show(store: Store, run: str, *, as_json: bool) -> int:
    trace = store.trace(run)
    seen = [step.before for step in trace.steps]
    seen += [trace.ended.final] if trace.ended is not None and trace.ended.final is not None else []
    shots = {one.image for one in seen if one.image}
    bare = {one.image for one in seen if one.image and one.tree is None}
    found = tuple(
        SuspectShown(one.looks, one.text, tuple(step + 1 for step in one.steps), one.box) for one in suspects(trace)
    )
    cleared = tuple(clearance.by.id for clearance in store.clearances(run))
    shown = PrivacyShown(run, cleared, found, len(shots), len(bare))
    if as_json:
        print_json(shown)
        return 0
    say(f"run     {run}, " + (f"cleared by {', '.join(cleared)}" if cleared else "not cleared"))
    for suspect in found:
        where = ", ".join(map(str, suspect.steps))
        box = f" at {','.join(map(str, suspect.box))}" if suspect.box else ""
        say(f"{suspect.looks:8}{suspect.text or 'a field'}{box}, step {where}")
    say(f"        {len(shots)} pictures, {len(bare)} of them without a tree: look at those yourself")
    return 0


def _list(args: argparse.Namespace, settings: Settings) -> int:
    with open_store(settings, create=False, readonly=hasattr(args, "db")) as store:
        lines = [PrivacyLine(*one) for one in privacy_queue(store)]
        if args.json:
            print_json(lines)
        elif not lines:
            say(f"no demonstration waits to be cleared in {store.path}")
        else:
            rows = [[line.id[:13], line.task, line.annotator, str(line.steps), str(line.suspects)] for line in lines]
            print_table(["id", "task", "by", "steps", "suspects"], rows, wide="task")
    return 0


def _wipe(args: argparse.Namespace, settings: Settings) -> int:
    with open_store(settings, create=False) as store:
        store.wipe()
        if args.json:
            print_json(done_of("", None, cleared=False))
        else:
            say(f"{store.path} is wiped: what was erased from it is nowhere in it")
    return 0
