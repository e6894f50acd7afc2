"""The commands study status and study show: everybody's progress without any answer, and a study's plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from lab.cli.arguments import JsonArguments, Parser, StudyArguments, TableArguments, argument, flag
from lab.cli.database import open_store, settings_for
from lab.cli.output import print_line, print_result, print_table, record_of, run_id_cell, table_form
from lab.cli.study.new import UNIT_WORDS, dealing_words
from lab.core.study.study import Study, StudyLine, Unit, UnitText
from lab.core.study.study_progress import RaterStatus, StudyStatus
from lab.core.text.plain_text import plain
from lab.studies.planning.study_freezing import items_of
from lab.studies.planning.study_places import study_named
from lab.studies.progress.progress_words import STATUS, interval_words, status_cells
from lab.studies.seats import sees_outcomes


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
        from lab.studies.progress.study_progress import status_of

        result = status_of(store, study_named(store, args.study))
    print_result(result, tell_status, json=args.json)
    return 0


def tell_studies(lines: Sequence[StudyLine], *, archived: int = 0) -> None:
    more = f"{archived:,} archived; `hitlab study status --archived` lists them"
    if not lines:
        nothing = "no studies; `hitlab study new PRESET --runs all --raters P1,P2` freezes one"
        print_line(more if archived else nothing)
        if not table_form.is_data:
            return
    print_table(
        ["study", "version", "asks", "of", "people", "done", "dealt", "state", "title"],
        [
            [
                study.id, str(study.version), study.protocol, f"{study.units:,}", str(study.raters), f"{study.done:,}",
                f"{study.dealt:,}", "archived" if study.archived else "locked" if study.locked else "", study.title,
            ]
            for study in lines
        ],
        wide="title", records=(StudyLine, lines),
    )  # fmt: skip
    if lines and archived:
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
    for interval in study_status.intervals:
        print_line(interval_words(interval))
    rows = [[*status_cells(rater).values()] for rater in study_status.raters]
    columns = [column.title for column in STATUS.values()]
    print_table(columns, rows, records=(RaterStatus, study_status.raters))


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
    targets = msgspec.convert(unit.targets, tuple[ItemLine, ...], from_attributes=True)
    step = None if unit.step is None else unit.step + 1
    task = unit.task or (unit.play.task if unit.play is not None else None)
    items, task_id = items_of(study.protocol, len(unit.targets)), task.id if task is not None else ""
    return record_of(UnitLine, unit, items=items, stage=stage, targets=targets, step=step, task=task_id)


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
        [unit.id, str(unit.items), unit.stage, ", ".join(map(run_id_cell, unit.runs))]
        for unit in study_shown.units[:20]
    ]
    print_table(["unit", "items", "stage", "runs"], rows)
    if len(study_shown.units) > 20:
        print_line(f"and {len(study_shown.units) - 20:,} more (--json)")
