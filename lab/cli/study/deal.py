"""The commands study deal, lock, archive, restore, replace and release."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import msgspec
from msgspec.structs import replace as changed

from annotators.assignment import deal as dealt_out
from annotators.assignment import deal_to_successor
from lab.cli.arguments import (
    STUDY_NAME,
    JsonArguments,
    Parser,
    StudyArguments,
    argument,
    flag,
    option,
    study_code,
    up_to,
)
from lab.cli.database import in_file, open_store, settings_for
from lab.cli.output import print_line, print_result, print_table
from lab.core.errors import LabError
from lab.core.settings import check_distinct
from lab.core.study.label import ActKind
from lab.core.study.rating_sheet import submitted_sheets
from lab.core.study.signing import sign_act
from lab.core.study.study import Study
from lab.core.task.task import Actor
from lab.core.text.suggestion import suggestion
from lab.core.values.ids_and_clock import now
from lab.studies.planning.study_archive import archive_study
from lab.studies.planning.study_dealing import StudyDealt, check_open, deal_study
from lab.studies.planning.study_people import people_of
from lab.studies.planning.study_places import study_named
from lab.studies.seats import sees_outcomes
from store.store import Store


class StudyLocked(msgspec.Struct, frozen=True):
    """Result of `study lock`. `left` counts the assignments not handed in."""

    study: str
    version: int
    left: int


class StudyArchived(msgspec.Struct, frozen=True):
    """Result of `study archive` and `study restore`."""

    study: str
    version: int
    archived: bool


class RaterReplaced(msgspec.Struct, frozen=True):
    """Result of `study replace`: `stays` counts what the rater had handed in, `dealt` what the replacement got."""

    study: str
    version: int
    rater: str
    by: str
    stays: int
    dealt: int


class RaterReleased(msgspec.Struct, frozen=True):
    """Result of `study release`."""

    study: str
    version: int
    rater: str


class StudyDealArguments(StudyArguments, JsonArguments):
    order: Literal["random", "active"] = option(
        "", "deal in a random order (default), or first what judges are unsure of, drawn so that rates stay unbiased",
        choices=("random", "active"), default="random",
    )  # fmt: skip
    first: int | None = option(
        "N", "with --order active: draw the first N units so (default: half)", type=up_to(1_000_000)
    )


def add_study_deal(parser: Parser) -> None:
    parser.runs(deal, StudyDealArguments, prints={"study-deal": "lab.studies.planning.study_dealing:StudyDealt"})
    parser.examples(
        """\
  hitlab study deal tdg
  hitlab study deal tdg --order active --first 100
  hitlab study deal tdg --json | jq .new
"""
    )


def deal(args: StudyDealArguments) -> int:
    """Deal a study to its raters. Earlier assignments do not change."""
    settings = settings_for(args.db, sees_outcomes, "study deal")
    if args.first is not None and args.order != "active":
        raise LabError("study deal", "--first is for --order active.", code=2)
    with open_store(settings, create=False) as store:
        study = study_named(store, args.study)
        result = deal_study(store, study, settings.person, active=args.order == "active", first=args.first)
    print_result(result, lambda _: print_dealt(result, args.db), json=args.json)
    return 0


class StudyLockArguments(StudyArguments, JsonArguments):
    even_so: bool = flag("lock it even if somebody has something left to do", "--force", "--even-so")


def add_study_lock(parser: Parser) -> None:
    parser.runs(lock, StudyLockArguments, prints={"study-lock": StudyLocked})
    parser.examples(
        """\
  hitlab study lock tdg
  hitlab study lock tdg --force        even if somebody is not done
"""
    )


def lock(args: StudyLockArguments) -> int:
    """Lock a study. Refuse while anything is left to do, unless --force."""
    settings = settings_for(args.db, sees_outcomes, "study lock")
    with open_store(settings, create=False) as store:
        study = study_named(store, args.study)
        check_open(store, study)
        items_left = _count_open(store, study)
        if (
            not items_left
            and not any(store.studies.progress(study, code).dealt for code in study.raters)
            and not args.even_so
        ):
            raise LabError(f"study {study.name}", "is not dealt yet.", f"`hitlab study deal {study.id}`, or --force.")
        if items_left and not args.even_so:
            who = ", ".join(f"{code} {count:,}" for code, count in items_left.items())
            raise LabError(f"study {study.name}", f"is not done: {who} left.", "--force locks it as it stands.")
        _record_act(store, study, settings.person, "locked", {"left": items_left} if items_left else {})
        result = StudyLocked(study.id, study.version, sum(items_left.values()))
    print_result(
        result, lambda _: print_line(f"{study.name} is locked; nothing in it changes any more"), json=args.json
    )
    return 0


def _count_open(store: Store, study: Study) -> dict[str, int]:
    """Return the number of open assignments of each person who neither left nor withdrew."""
    people = [
        store.studies.progress(study, code)
        for code in people_of(store, study)
        if not store.studies.has_left(study, code) and not store.labels.has_withdrawn(code)
    ]
    return {person.rater: person.dealt - person.done for person in people if person.dealt > person.done}


class StudyArchiveArguments(StudyArguments, JsonArguments):
    pass


def add_study_archive(parser: Parser) -> None:
    parser.runs(archive, StudyArchiveArguments, prints={"study-archive": StudyArchived})
    parser.examples("  hitlab study archive tdg             `restore` brings it back\n")


def archive(args: StudyArguments) -> int:
    """Archive a study: nobody is asked in it, and nothing is deleted."""
    return _archive(args, archived=True)


def add_study_restore(parser: Parser) -> None:
    parser.runs(restore, StudyArchiveArguments, prints={"study-restore": StudyArchived})
    parser.examples(
        """\
  hitlab study status --all            archived studies, too
  hitlab study restore tdg
"""
    )


def restore(args: StudyArguments) -> int:
    """Return an archived study to the lists."""
    return _archive(args, archived=False)


def _archive(args: StudyArguments, *, archived: bool) -> int:
    settings = settings_for(args.db, sees_outcomes, "study archive" if archived else "study restore")
    with open_store(settings, create=False) as store:
        study = study_named(store, args.study)
        changes = archive_study(store, study, settings.person, archived=archived)
    back = f"`hitlab study restore {study.id}{in_file(args.db)}` brings it back"
    words = f"is archived{'' if changes else ' already'}: in no list, and nothing in it is lost; {back}"
    words = words if archived else f"is {'back in' if changes else 'in'} the lists"
    print_result(
        StudyArchived(study.id, study.version, archived), lambda _: print_line(f"{study.name} {words}"), json=args.json
    )
    return 0


class StudyReplaceArguments(JsonArguments):
    study: str = argument("STUDY", STUDY_NAME, completes="study")
    rater: str = argument("R2", "study code of the rater who leaves", completes="rater")
    by: str = option(
        "R4", "deal what is left to this person", "--successor", "--by", required=True, type=study_code,
        completes="rater",
    )  # fmt: skip


def add_study_replace(parser: Parser) -> None:
    parser.runs(replace, StudyReplaceArguments, prints={"study-replace": RaterReplaced})
    parser.examples("  hitlab study replace tdg R2 --successor R4\n")


def replace(args: StudyReplaceArguments) -> int:
    """Deal what a leaving rater has not handed in to another person."""
    settings = settings_for(args.db, sees_outcomes, "study replace")
    with open_store(settings, create=False) as store:
        study = study_named(store, args.study)
        check_open(store, study)
        _check_replaced(store, study, args.rater, args.by)
        units = list(store.studies.units(study))
        leaving = store.studies.assignments(study, args.rater)
        leaving = leaving or [assignment for assignment in dealt_out(study, units) if assignment.rater == args.rater]
        finished_sheets = handed_in_by(store, study, args.rater)
        tasks = {unit.id: unit.play.task.id for unit in units if unit.play is not None}
        theirs = store.studies.assignments(study, args.by)
        at = now()
        assignments = deal_to_successor(study, leaving, finished_sheets, args.by, theirs, tasks)
        fresh = [changed(assignment, at=at) for assignment in assignments]
        count = store.studies.deal(study, fresh)
        _record_act(store, study, args.by, "replaced", {"for": args.rater, "by": settings.person})
        if not store.labels.has_withdrawn(args.rater):
            _record_act(store, study, args.rater, "left", {"for": args.by, "by": settings.person})
        result = RaterReplaced(study.id, study.version, args.rater, args.by, len(finished_sheets), count)
    print_result(result, lambda _: _print_replaced(result, study.name, in_file(args.db)), json=args.json)
    return 0


def _print_replaced(result: RaterReplaced, name: str, there: str) -> None:
    stays = f"; what they handed in stays ({result.stays:,})" if result.stays else ""
    print_line(f"{result.rater} has left {name}{stays}")
    print_line(
        f"{result.dealt:,} dealt to {result.by}; next: hitlab study rate {result.study} --person {result.by}{there}"
    )


def _check_replaced(store: Store, study: Study, rater: str, by: str) -> None:
    what = f"study {study.name}"
    check_distinct(by, study.raters, what, "by")
    if rater == by:
        raise LabError(what, f"{rater} cannot take their own place.")
    if not store.studies.progress(study, rater).dealt and rater not in study.raters:
        raise LabError(what, f"{rater} is none of its people{suggestion(rater, study.raters) or '.'}")
    if not store.studies.assignments(study):
        raise LabError(what, "is not dealt yet.", f"`hitlab study deal {study.id}` deals it.")
    if store.studies.has_left(study, rater):
        raise LabError(what, f"{rater} has left it already.")
    if store.labels.has_withdrawn(by):
        raise LabError(what, f"{by} has withdrawn.")
    if store.studies.has_left(study, by):
        raise LabError(what, f"{by} has left it.")


class StudyReleaseArguments(JsonArguments):
    study: str = argument("STUDY", STUDY_NAME, completes="study")
    rater: str = argument("R1", "study code of the rater who was held", completes="rater")


def add_study_release(parser: Parser) -> None:
    parser.runs(release, StudyReleaseArguments, prints={"study-release": RaterReleased})
    parser.examples("  hitlab study release tdg R1\n")


def release(args: StudyReleaseArguments) -> int:
    """Release a rater who was held after the pilot."""
    settings = settings_for(args.db, sees_outcomes, "study release")
    with open_store(settings, create=False) as store:
        study = study_named(store, args.study)
        check_open(store, study)
        if not store.studies.is_held(study, args.rater):
            near = "" if args.rater in study.raters else suggestion(args.rater, study.raters)
            raise LabError(f"study {study.name}", f"{args.rater} is not held{near or '.'}")
        _record_act(store, study, args.rater, "released", {"by": settings.person})
    print_result(
        RaterReleased(study.id, study.version, args.rater),
        lambda _: print_line(f"{args.rater} may go on in {study.name}"),
        json=args.json,
    )
    return 0


# -- what they share -------------------------------------------------------------------------------------------
def handed_in_by(store: Store, study: Study, code: str) -> Collection[tuple[str, int]]:
    """Return the (unit, run) pairs that a person has handed in. An interrupted play does not count."""
    hand_ins = submitted_sheets(store.labels.acts(study, code))
    return {(unit, run) for (_, unit, run), act in hand_ins.items() if "interrupted" not in act.detail}


def _record_act(store: Store, study: Study, code: str, act: ActKind, detail: dict[str, object]) -> None:
    store.labels.record_act(sign_act(study, Actor("human", code), act, detail=detail))


def print_dealt(result: StudyDealt, db: str | None = None) -> None:
    print_table(
        ["person", "pilot", "then", "once more"],
        [[rater.rater, str(rater.pilot), str(rater.main), str(rater.repeat)] for rater in result.raters],
    )
    if result.nobodys:
        print_line(f"{result.nobodys:,} to nobody: a rule, a model or a script does them")
    for code in result.withdrawn:
        command = f"hitlab study replace {result.study} {code} --successor CODE{in_file(db)}"
        print_line(f"{code} has withdrawn and is dealt nothing; `{command}`")
    what = f"{result.new:,} dealt" if result.new else "all was dealt before; nothing was done"
    print_line(f"{result.study} v{result.version}: {what}")
    first = next((rater.rater for rater in result.raters if rater.pilot + rater.main + rater.repeat), "")
    if first:
        print_line(f"next: hitlab study rate {result.study} --person {first}{in_file(db)}")
