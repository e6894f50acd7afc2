"""Commands that deal studies and follow them: study deal, status, show, open, lock, replace, release."""

from __future__ import annotations

import argparse
from collections.abc import Collection

from msgspec.structs import replace as changed

from annotators.assignment import deal as dealt_out
from annotators.assignment import redealt
from lab.commands.runs import open_store, show_room
from lab.commands.seats import check_seat
from lab.commands.studying_status import people_of, status_of
from lab.commands.studying_told import (
    ItemLine,
    RaterDealt,
    RaterReleased,
    RaterReplaced,
    StudyDealt,
    StudyLocked,
    StudyShown,
    StudyStatus,
    UnitLine,
    in_file,
    items_of,
    tell_dealt,
    tell_shown,
    tell_status,
    tell_studies,
)
from lab.errors import LabError
from lab.label import Act, ActKind, Label
from lab.labels import Sheet, Spot, answer_to, handed_in
from lab.output import print_json, say
from lab.settings import Settings, check_code, load
from lab.stamp import now, uuid7
from lab.study import Assignment, Study, Unit
from lab.task import Actor
from screens.seats import sees_outcomes
from store.store import Store

RULE = Actor("script", "rule")
"""Who answers what needs no person."""


def deal(args: argparse.Namespace) -> int:
    """Deals a study to its raters; what was dealt before stays as it is."""
    settings = _settings(args, "study deal")
    with open_store(settings, create=False) as store:
        study = study_named(store, args.study)
        _check_open(store, study)
        units = list(store.units(study))
        withdrawn = tuple(code for code in study.raters if store.withdrew(code))
        assignments, new = store.assignments(study), 0
        if not assignments:  # all of it is dealt at once, so that what is there is all of it
            at = now()
            assignments = [changed(one, at=at) for one in dealt_out(study, units) if one.rater not in withdrawn]
            new = store.deal(study, assignments)
        written = sum(_answer_by_rule(store, study, unit) for unit in units if unit.mechanical)
        given = {one.unit for one in assignments}
        told = StudyDealt(
            study.id,
            study.version,
            new,
            tuple(_dealt(code, assignments) for code in people_of(store, study) if code not in withdrawn),
            sum(unit.id not in given for unit in units) if given else 0,
            written,
            withdrawn,
        )
    if args.json:
        print_json(told)
    else:
        tell_dealt(told, getattr(args, "db", None))
    return 0


def _dealt(code: str, assignments: list[Assignment]) -> RaterDealt:
    stages = [one.stage for one in assignments if one.rater == code]
    return RaterDealt(code, stages.count("pilot"), stages.count("main"), stages.count("repeat"))


def _answer_by_rule(store: Store, study: Study, unit: Unit) -> int:
    """Writes what a rule answered of a unit, where it does not stand yet; gives how many labels that were."""
    written = 0

    for gold in unit.mechanical:
        spot = Spot(gold.target, gold.field)

        def say_it(sheet: Sheet, spot: Spot = spot, value: object = gold.value, why: str = gold.reason) -> Label | None:
            nonlocal written
            if sheet.head(spot) is not None:
                return None
            written += 1
            label = Label(
                uuid7(), study.id, study.version, unit.id, spot.target, spot.field, RULE, value, note=why, at=now(),
                guide_sha=study.protocol.guide_sha(study.locale), protocol_sha=study.protocol.sha, source="rule",
            )  # fmt: skip
            return answer_to(sheet, label)

        store.record_labels(study, unit, RULE, 1, [say_it])
    return written


def status(args: argparse.Namespace) -> int:
    """How far studies are, or everybody in one; never what anybody said."""
    settings = _settings(args, "study status")
    with open_store(settings, create=False, readonly=True) as store:
        if args.study is None:
            lines = store.studies()
            if args.json:
                print_json(lines)
            else:
                tell_studies(lines)
            return 0
        told: StudyStatus = status_of(store, study_named(store, args.study))
    if args.json:
        print_json(told)
    else:
        tell_status(told)
    return 0


def show(args: argparse.Namespace) -> int:
    """A study's plan as it was frozen, without the words that are hidden from its raters."""
    settings = _settings(args, "study show")
    with open_store(settings, create=False, readonly=True) as store:
        study = study_named(store, args.study)
        told = StudyShown(
            study,
            study.sha,
            study.protocol.sha,
            study.protocol.guide_sha(study.locale),
            study.consent_sha(study.locale) if study.consent else None,
            store.locked(study),
            tuple(_unit_line(study, unit) for unit in store.units(study)),
        )
    if args.json:
        print_json(told)
    else:
        tell_shown(told)
    return 0


def _unit_line(study: Study, unit: Unit) -> UnitLine:
    stage = "rule" if unit.mechanical else "pilot" if unit.pilot or unit.gold else "main"
    targets = tuple(ItemLine(one.id, one.says, one.detail, one.kind, one.options) for one in unit.targets)
    return UnitLine(unit.id, unit.runs, items_of(study.protocol, len(unit.targets)), stage, targets)


def open(args: argparse.Namespace) -> int:
    """Opens a study on the screen, for a rater or a participant, at the exact place where they left it."""
    settings = load(db=getattr(args, "db", None), person=args.person)
    with open_store(settings, create=False) as store:
        study = study_named(store, args.study)
        plays = study.protocol.unit == "task to play"
        if settings.seat == "participant" and not plays:
            raise LabError("study open", "is not there for the seat participant.")
        check_person(store, study, settings.person)
        from screens.rooms import Opening

        seat = changed(settings, seat="participant" if plays else "rater")
        opening = Opening("play" if plays else "annotate", study=study)
        return show_room(store, seat, opening, f"study {study.id}", "`hitlab label` takes answers without a screen.")


def check_person(store: Store, study: Study, code: str) -> None:
    """Raises `LabError` where nothing of a study is there for this person now."""
    what = f"study {study.name}"
    if store.withdrew(code):
        raise LabError(what, f"{code} has withdrawn.")
    if store.locked(study):
        raise LabError(what, "is locked; nothing in it changes any more.")
    if store.left(study, code):
        raise LabError(what, f"{code} has left it; another goes on in their place.")
    if store.progress(study, code).dealt:
        return
    if code not in study.raters:
        raise LabError(what, f"{code} is none of its people.", "--as CODE says who you are.")
    raise LabError(what, f"nothing is dealt to {code} yet.", f"`hitlab study deal {study.id}` deals it.")


def lock(args: argparse.Namespace) -> int:
    """Closes a study; refused while somebody has something left to do, unless that is said to be so."""
    settings = _settings(args, "study lock")
    with open_store(settings, create=False) as store:
        study = study_named(store, args.study)
        _check_open(store, study)
        left = _left(store, study)
        if not left and not any(store.progress(study, code).dealt for code in study.raters) and not args.even_so:
            raise LabError(f"study {study.name}", "is not dealt yet.", f"`hitlab study deal {study.id}`, or --even-so.")
        if left and not args.even_so:
            who = ", ".join(f"{code} {count:,}" for code, count in left.items())
            raise LabError(f"study {study.name}", f"is not done: {who} left.", "--even-so locks it as it stands.")
        _act(store, study, settings.person, "locked", {"left": left} if left else {})
        told = StudyLocked(study.id, study.version, sum(left.values()))
    if args.json:
        print_json(told)
    else:
        say(f"{study.name} is locked; nothing in it changes any more")
    return 0


def _left(store: Store, study: Study) -> dict[str, int]:
    """How much each person has still to do; who left or withdrew has nothing."""
    people = [
        store.progress(study, code)
        for code in people_of(store, study)
        if not store.left(study, code) and not store.withdrew(code)
    ]
    return {one.rater: one.dealt - one.done for one in people if one.dealt > one.done}


def replace(args: argparse.Namespace) -> int:
    """Deals what a rater who leaves has not handed in to another; what they handed in stays theirs."""
    settings = _settings(args, "study replace")
    with open_store(settings, create=False) as store:
        study = study_named(store, args.study)
        _check_open(store, study)
        _check_replaced(store, study, args.rater, args.by)
        units = list(store.units(study))
        leaving = store.assignments(study, args.rater)
        leaving = leaving or [one for one in dealt_out(study, units) if one.rater == args.rater]
        done = done_by(store, study, args.rater)
        tasks = {unit.id: unit.play.task.id for unit in units if unit.play is not None}
        theirs = store.assignments(study, args.by)
        at = now()
        fresh = [changed(one, at=at) for one in redealt(study, leaving, done, args.by, theirs, tasks)]
        count = store.deal(study, fresh)
        _act(store, study, args.by, "replaced", {"for": args.rater, "by": settings.person})
        if not store.withdrew(args.rater):
            _act(store, study, args.rater, "left", {"for": args.by, "by": settings.person})
        told = RaterReplaced(study.id, study.version, args.rater, args.by, len(done), count)
    if args.json:
        print_json(told)
    else:
        stays = f"; what they handed in stays ({told.stays:,})" if told.stays else ""
        say(f"{args.rater} has left {study.name}{stays}")
        there = in_file(getattr(args, "db", None))
        say(f"{count:,} dealt to {args.by}; next: hitlab study open {study.id} --as {args.by}{there}")
    return 0


def _check_replaced(store: Store, study: Study, rater: str, by: str) -> None:
    what = f"study {study.name}"
    check_code(by, what, "by")
    if rater == by:
        raise LabError(what, f"{rater} cannot take their own place.")
    if not store.progress(study, rater).dealt and rater not in study.raters:
        raise LabError(what, f"{rater} is none of its people.")
    if not store.assignments(study):
        raise LabError(what, "is not dealt yet.", f"`hitlab study deal {study.id}` deals it.")
    if store.left(study, rater):
        raise LabError(what, f"{rater} has left it already.")
    if store.withdrew(by):
        raise LabError(what, f"{by} has withdrawn.")
    if store.left(study, by):
        raise LabError(what, f"{by} has left it.")


def release(args: argparse.Namespace) -> int:
    """Lets a rater go on who was held after the pilot."""
    settings = _settings(args, "study release")
    with open_store(settings, create=False) as store:
        study = study_named(store, args.study)
        _check_open(store, study)
        if not store.held(study, args.rater):
            raise LabError(f"study {study.name}", f"{args.rater} is not held.")
        _act(store, study, args.rater, "released", {"by": settings.person})
    if args.json:
        print_json(RaterReleased(study.id, study.version, args.rater))
    else:
        say(f"{args.rater} may go on in {study.name}")
    return 0


# -- what they share -------------------------------------------------------------------------------------------


def study_named(store: Store, name: str) -> Study:
    """A study in its newest version, or in the one that `NAME@2` names."""
    id, at, version = name.partition("@")
    number = version.removeprefix("v")
    if at and not (number.isascii() and number.isdigit()):
        raise LabError(f"study {id}", f"version {version!r} is no number", code=2)
    return store.study(id, int(number) if at else None)


def done_by(store: Store, study: Study, code: str) -> Collection[tuple[str, int]]:
    """The (unit, run) that a person has handed in; a play that was interrupted is none."""
    handed = handed_in(store.acts(study, code))
    return {(unit, run) for (_, unit, run), act in handed.items() if "interrupted" not in act.detail}


def _settings(args: argparse.Namespace, what: str) -> Settings:
    settings = load(db=getattr(args, "db", None))
    check_seat(settings, sees_outcomes, what)
    return settings


def _check_open(store: Store, study: Study) -> None:
    if store.locked(study):
        raise LabError(f"study {study.name}", "is locked; nothing in it changes any more.")


def _act(store: Store, study: Study, code: str, act: ActKind, detail: dict[str, object]) -> None:
    store.record_act(Act(uuid7(), study.id, study.version, Actor("human", code), act, now(), detail=detail))
