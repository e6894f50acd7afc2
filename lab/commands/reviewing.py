"""Proofreading demonstrations, and clearing them of what is private: review, privacy."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

import msgspec

from lab.commands.reviews_told import (
    ReviewLine,
    ReviewList,
    review_shown,
    tell_review,
)
from lab.commands.runs import open_store, show_room
from lab.commands.seats import check_seat
from lab.errors import LabError
from lab.output import print_json, say
from lab.review import (
    STEP_FIELDS,
    VERDICTS,
    WHOLE_FIELDS,
    Field,
    Place,
    plain_value,
)
from lab.reviewed import edit_rates
from lab.settings import Settings, load
from lab.tables import print_table
from lab.task import Actor
from lab.turn import Action
from screens.review.desk import Desk, verdict_place
from screens.review.queue import review_queue
from screens.seats import may_review

if TYPE_CHECKING:
    from store.store import Store


def refuse_seat(settings: Settings, what: str) -> None:
    """Raises `LabError` where this seat judges nobody's recordings."""
    check_seat(settings, may_review, what, "HITLAB_SEAT=rater sits elsewhere.")


def review(args: argparse.Namespace) -> int:
    """A demonstration proofread on a screen, or by one act without a screen."""
    settings = load(db=getattr(args, "db", None), person=args.person)
    refuse_seat(settings, "review")
    if args.list:
        return _list(args, settings)
    acts = [args.accept, args.edit, args.reject, args.settle]
    headless = args.show or args.commit or any(act is not None for act in acts)
    if not headless:
        return _screen(args, settings)
    if args.run_id is None:
        raise LabError("review", "needs the ID of a demonstration", "`hitlab review --list` lists them.", code=2)
    with open_store(settings, create=False) as store:
        desk = Desk(store, store.find(args.run_id), Actor("human", settings.person))
        _act(desk, args)
        shown = review_shown(desk.demo, desk.standing, desk.visible, settings.person)
    if args.json:
        print_json(shown)
    else:
        tell_review(shown)
    return 0


def _screen(args: argparse.Namespace, settings: Settings) -> int:
    if args.json:
        raise LabError("review", "--json goes with --show, --list or an act", code=2)
    with open_store(settings, create=False) as store:
        from screens.rooms import Opening

        found = store.find(args.run_id) if args.run_id else None
        if found is not None:
            store.proof(found)
        return show_room(store, settings, Opening("review", found), "review", "--list and --show print instead.")


# -- acts from the command line --------------------------------------------------------------------------------


def _act(desk: Desk, args: argparse.Namespace) -> None:
    if args.accept is not None:
        steps = desk.sheet.unseen if args.accept == "all" else [_step(desk, args.accept)]
        desk.accept(steps)
    elif args.edit is not None:
        place = _place(desk, *args.edit[:2])
        desk.edit(place, _value(place, args.edit[2]))
    elif args.reject is not None:
        desk.reject(_step(desk, args.reject[0]), args.reject[1])
    elif args.settle is not None:
        place = _place(desk, *args.settle[:2], verdicts=True)
        desk.settle(place, _value(place, args.settle[2]), args.note or "")
    if args.commit:
        desk.commit()


def _step(desk: Desk, text: str) -> int | None:
    """A step's number from 0, None for the whole."""
    if text == "whole":
        return None
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= desk.demo.steps):
        raise LabError("review", f"{text!r} is neither whole nor a step from 1 to {desk.demo.steps}", code=2)
    return int(text) - 1


def _place(desk: Desk, step: str, field: str, *, verdicts: bool = False) -> Place:
    number = _step(desk, step)
    fields: tuple[Field, ...] = WHOLE_FIELDS if number is None else STEP_FIELDS
    fields = (*fields, verdict_place(number).field) if verdicts else fields
    for known in fields:
        if field == known:
            return Place(number, known)
    raise LabError("review", f"{step} has no field {field!r}; it has {', '.join(fields)}", code=2)


def _value(place: Place, text: str) -> Any:
    if place.field != "action":
        return text if place.field in VERDICTS else text.strip()
    try:
        return plain_value(msgspec.convert(json.loads(text), Action))
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise LabError("action", f"{error}", "`hitlab schema action` says what it may hold.", code=2) from error


# -- the list --------------------------------------------------------------------------------------------------


def _list(args: argparse.Namespace, settings: Settings) -> int:
    with open_store(settings, create=False, readonly=hasattr(args, "db")) as store:
        found = review_list(store, settings.person)
        if args.json:
            print_json(found)
            return 0
        if not found.demonstrations:
            say(f"no demonstrations in {store.path}; `hitlab record` makes one")
            return 0
        columns = ["id", "task", "by", "steps", "state", "mine", "differ", "cleared"]
        print_table(columns, [_cells(line) for line in found.demonstrations], wide="task")
    for rate in found.annotators:
        share = "nothing handed in by two yet" if rate.rate is None else f"{rate.rate:.1%} of {rate.looks} looks"
        say(f"{rate.annotator}: {share}" + (f", {rate.edited} edited, {rate.rejected} rejected" if rate.looks else ""))
    return 0


def review_list(store: Store, person: str) -> ReviewList:
    """Every demonstration as this person may see it; edit rates count only those that two have handed in."""
    queue = review_queue(store, person)
    names = ReviewLine.__struct_fields__
    lines = [ReviewLine(**{name: getattr(one, _FROM.get(name, name)) for name in names}) for one in queue]
    return ReviewList(tuple(lines), tuple(edit_rates((one.proof, one.rows) for one in queue)))


_FROM = {"task": "intent"}


def _cells(line: ReviewLine) -> list[str]:
    mine = line.mine if line.mine != "none" else "-"
    cleared = "yes" if line.cleared else "no"
    return [
        line.id[:13], line.task, line.annotator, str(line.steps), line.state, mine, str(line.differences), cleared
    ]  # fmt: skip
