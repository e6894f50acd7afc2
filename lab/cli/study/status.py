"""The commands study status and study show: everybody's progress without any answer, and a study's plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from lab.cli.arguments import JsonArguments, Parser, StudyArguments, TableArguments, argument, flag
from lab.cli.database import open_store, settings_for
from lab.cli.output import print_line, print_result, print_table
from lab.cli.study.new import UNIT_WORDS, dealing_words
from lab.core.study.study import Study, StudyLine, Unit, UnitText
from lab.core.study.study_progress import IntervalProgress, RaterProgress
from lab.core.text.plain_text import plain
from lab.studies.planning.study_freezing import items_of
from lab.studies.planning.study_places import study_named
from lab.studies.progress.progress_words import interval_words
from lab.studies.seats import sees_outcomes
from store.store import Store


class RaterStatus(msgspec.Struct, frozen=True):
    """One person's progress: of `dealt` units `done` are handed in, `begun` have an answer.

    `minutes` is the time worked, without gaps of five minutes or more and measured absences. `seconds` is the median
    for a handed-in unit, null without one. `consent` is the time of consent, null if there is none or none is needed.
    `clashes` counts places with two last labels of theirs from merged copies, for them to settle.
    """

    rater: str
    dealt: int
    done: int
    begun: int
    held: bool
    left: bool
    withdrawn: bool
    consent: str | None
    minutes: float
    seconds: float | None
    clashes: int = 0


class StudyStatus(msgspec.Struct, frozen=True):
    """Progress of everybody in one study, without any answer.

    `kit` is the rater's code if the file is a kit, which holds their part only, else null. `intervals` are judges'
    corrected intervals against the planned width, if there is one.
    """

    study: str
    version: int
    title: str
    protocol: str
    unit: str
    units: int
    locked: bool
    raters: tuple[RaterStatus, ...]
    kit: str | None = None
    intervals: tuple[IntervalProgress, ...] = ()


class StudyStatusArguments(TableArguments):
    study: str | None = argument(
        "STUDY", "print one study (default: all that are not archived)", nargs="?", completes="study"
    )
    all: bool = flag("also list archived studies", one_of="which")
    archived: bool = flag("list archived studies alone", one_of="which")


def add_study_status(parser: Parser) -> None:
    parser.runs(
        status, StudyStatusArguments,
        prints={"study-status": StudyStatus, "study-list": "list:lab.core.study.study:StudyLine"},
    )  # fmt: skip
    parser.examples(
        """\
  hitlab study status
  hitlab study status tdg              who has how much left
"""
    )


def status(args: StudyStatusArguments) -> int:
    """Print the progress of all studies, or of everybody in one, without any answer."""
    settings = settings_for(args.db, sees_outcomes, "study status")
    with open_store(settings, create=False, readonly=True) as store:
        if args.study is None:
            every = store.studies.lines()
            lines = [line for line in every if args.all or line.archived is args.archived]
            away = 0 if args.archived else len(every) - len(lines)
            print_result(
                lines,
                lambda _: tell_studies(lines, archived=away),
                json=args.json,
                nothing="no archived studies" if args.archived else "",
            )
            return 0
        result: StudyStatus = status_of(store, study_named(store, args.study))
    print_result(result, tell_status, json=args.json)
    return 0


def status_of(store: Store, study: Study) -> StudyStatus:
    """Return a study's status, people in the order of its plan, then replacements."""
    from lab.studies.progress.study_progress import ProgressReader

    kit = store.kit()
    progress = ProgressReader(store).read(study)
    return StudyStatus(
        study.id,
        study.version,
        study.title,
        study.protocol.id,
        study.protocol.unit,
        study.units,
        store.studies.locked(study),
        tuple(map(_rater_status, progress.raters)),
        kit.rater if kit is not None else None,
        progress.intervals,
    )


def _rater_status(rater: RaterProgress) -> RaterStatus:
    return RaterStatus(
        rater.rater,
        rater.dealt,
        rater.done,
        rater.begun,
        rater.held,
        rater.replaced,
        rater.withdrawn,
        rater.consent,
        round(rater.worked / 60, 2),
        round(rater.pace, 2) if rater.pace is not None else None,
        rater.clashes,
    )


def tell_studies(lines: Sequence[StudyLine], *, archived: int = 0) -> None:
    more = f"{archived:,} archived; `hitlab study status --archived` lists them"
    if not lines and archived:
        print_line(more)
        return
    if not lines:
        print_line("no studies; `hitlab study new PRESET --runs all --raters P1,P2` freezes one")
        return
    print_table(
        ["study", "version", "asks", "of", "people", "done", "dealt", "", "title"],
        [
            [
                study.id, str(study.version), study.protocol, f"{study.units:,}", str(study.raters), f"{study.done:,}",
                f"{study.dealt:,}", "archived" if study.archived else "locked" if study.locked else "", study.title,
            ]
            for study in lines
        ],
        wide="title",
    )  # fmt: skip
    if archived:
        print_line(more)


def tell_status(study_status: StudyStatus) -> None:
    print_line(
        f"{study_status.study} v{study_status.version}: {study_status.title}"
        f"{'   locked' if study_status.locked else ''}"
    )
    units = study_status.unit if study_status.units == 1 else UNIT_WORDS.get(study_status.unit, study_status.unit)
    print_line(f"{study_status.protocol}, {study_status.units:,} {units}")
    if study_status.kit is not None:
        print_line(
            f"This file is a kit: only what is {study_status.kit}'s is in it. `hitlab study kit import` brings it back."
        )
    rows = [
        [
            rater.rater, f"{rater.done:,}", f"{rater.dealt:,}", f"{max(0, rater.begun - rater.done):,}",
            f"{rater.minutes:.1f}", "-" if rater.seconds is None else f"{rater.seconds:.1f}",
            (rater.consent or "-")[:16],
            ", ".join(
                word
                for word, is_so in (
                    ("held", rater.held), ("left", rater.left), ("withdrew", rater.withdrawn),
                    (f"{rater.clashes} to settle", rater.clashes),
                )
                if is_so
            ),
        ]
        for rater in study_status.raters
    ]  # fmt: skip
    for interval in study_status.intervals:
        print_line(interval_words(interval))
    print_table(["person", "done", "dealt", "begun", "minutes", "seconds each", "agreed", ""], rows)


class ItemLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """One item of a unit as its raters read it. A labelling program names it as its target."""

    id: str
    says: str
    detail: str = ""
    kind: str = ""
    options: tuple[str, ...] = ()


class UnitLine(msgspec.Struct, frozen=True):
    """One unit of a study: its runs, its number of items, and these (none: the unit itself).

    `step` (from 1) or `question` (its id) is set if the unit is a part of a run, `task` if it is about a task. `given`
    are the texts that its raters read, with `side` A or B if two are compared.
    """

    id: str
    runs: tuple[str, ...]
    items: int
    stage: str
    targets: tuple[ItemLine, ...] = ()
    step: int | None = None
    question: str = ""
    task: str = ""
    given: tuple[UnitText, ...] = ()


class StudyShown(msgspec.Struct, frozen=True):
    """A study's plan as frozen: `study show`, without anything that its raters must not see."""

    plan: Study
    sha: str
    protocol_sha: str
    guide_sha: str
    consent_sha: str | None
    locked: bool
    units: tuple[UnitLine, ...]


class StudyShowArguments(StudyArguments, JsonArguments):
    pass


def add_study_show(parser: Parser) -> None:
    parser.runs(show, StudyShowArguments, prints={"study-show": StudyShown})
    parser.examples(
        """\
  hitlab study show tdg
  hitlab study show tdg@1 --json | jq .plan
"""
    )


def show(args: StudyArguments) -> int:
    """Print a study's plan as frozen, without the words that are hidden from its raters."""
    settings = settings_for(args.db, sees_outcomes, "study show")
    with open_store(settings, create=False, readonly=True) as store:
        study = study_named(store, args.study)
        result = StudyShown(
            study,
            study.sha,
            study.protocol.sha,
            study.protocol.guide_sha(study.locale),
            study.consent_sha(study.locale) if study.consent else None,
            store.studies.locked(study),
            tuple(_unit_line(study, unit) for unit in store.studies.units(study)),
        )
    print_result(result, tell_shown, json=args.json)
    return 0


def _unit_line(study: Study, unit: Unit) -> UnitLine:
    stage = _stage(unit)
    targets = tuple(
        ItemLine(target.id, target.says, target.detail, target.kind, target.options) for target in unit.targets
    )
    step = None if unit.step is None else unit.step + 1
    task = unit.task or (unit.play.task if unit.play is not None else None)
    return UnitLine(
        unit.id, unit.runs, items_of(study.protocol, len(unit.targets)), stage, targets,
        step, unit.question, task.id if task is not None else "", unit.given,
    )  # fmt: skip


def _stage(unit: Unit) -> Literal["rule", "practice", "pilot", "main"]:
    if unit.mechanical:
        return "rule"
    if unit.practice:
        return "practice"
    return "pilot" if unit.pilot or unit.gold else "main"


def tell_shown(study_shown: StudyShown) -> None:
    plan = study_shown.plan
    print_line(f"{plan.name}: {plan.title}{'   locked' if study_shown.locked else ''}")
    print_line(
        f"asks      {plan.protocol.id} (version {study_shown.protocol_sha[:12]}, guide {study_shown.guide_sha[:12]})"
    )
    print_line(f"shows     {', '.join(plan.visible_parts) or 'the texts alone'}")
    # A protocol may ask about the outcome itself, which `blind` then lists in vain.
    hidden_parts = [part for part in plan.blind if part not in plan.visible_parts]
    print_line(f"hides     {', '.join(hidden_parts) or 'nothing besides'}")
    print_line(f"by        {', '.join(plan.raters)}; {dealing_words(plan.protocol.unit, plan.overlap)}")
    print_line(f"draws     shared {plan.shared:g}, repeats {plan.repeats:g}, seed {plan.seed}")
    if plan.bar is not None:
        print_line(f"bar       {plan.bar:g}")
    if plan.width is not None:
        print_line(f"width     {plan.width:g} at most, of a judge's corrected interval")
    if plan.prelabel:
        print_line(f"prelabel  {plain(plan.prelabel)}: its answers are shown first on a half of the sheets")
    if study_shown.consent_sha:
        print_line(f"consent   version {study_shown.consent_sha[:12]}, quiz {plan.quiz}")
    print_line(f"reports   {', '.join(plan.statistics)}")
    if plan.note:
        print_line(f"note      {plan.note}")
    if plan.extends is not None:
        print_line(f"extends   v{plan.extends.version} ({plan.extends.sha[:12]})")
    print_line(f"frozen    {study_shown.sha}")
    rows = [
        [unit.id, str(unit.items), unit.stage, ", ".join(run[:13] for run in unit.runs)]
        for unit in study_shown.units[:20]
    ]
    print_table(["", "items", "", "runs"], rows)
    if len(study_shown.units) > 20:
        print_line(f"and {len(study_shown.units) - 20:,} more (--json)")
