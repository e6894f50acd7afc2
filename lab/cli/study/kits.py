"""The commands study kit export and study kit import: send one rater's part of a study out, and take it back."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import msgspec

from lab.cli.arguments import JsonArguments, Parser, StudyArguments, argument, option, study_code
from lab.cli.database import erased_or_unwiped, not_wiped, open_store, settings_for, sweep_leftovers
from lab.cli.output import print_line, print_result, record_of
from lab.core.study.rating_sheet import FINAL_WORDS
from lab.core.values.rounding import count
from lab.studies.planning.study_places import study_named
from lab.studies.seats import sees_outcomes


class KitMade(msgspec.Struct, frozen=True):
    """Result of `study kit export`. `labels` and `acts` are the rater's so far, `bytes` is the file's size."""

    out: str
    study: str
    version: int
    rater: str
    units: int
    runs: int
    labels: int
    acts: int
    bytes: int


class KitTaken(msgspec.Struct, frozen=True):
    """Result of `study kit import`. `there` counts rows that were here before, `dealt` plays dealt again.

    `clashes` are the places (unit, target, field) where the rater's two copies have different last labels. If the study
    was extended meanwhile, `carried` answers count in its `newest` version too.
    """

    study: str
    version: int
    rater: str
    labels: int
    acts: int
    runs: int
    dealt: int
    there: int
    clashes: tuple[tuple[str, str, str], ...]
    carried: int = 0
    newest: int = 0


class StudyKitArguments(StudyArguments, JsonArguments):
    rater: str = option("R1", "make the kit of this rater", required=True, type=study_code, completes="rater")
    out: str = option("R1.db", "write the kit to this new file", "--output", "--out", required=True)


def add_study_kit_export(parser: Parser) -> None:
    parser.runs(kit, StudyKitArguments, prints={"study-kit": KitMade})
    parser.examples("  hitlab study kit export tdg --rater R1 --output R1.db\n")


def kit(args: StudyKitArguments) -> int:
    """Write one rater's kit as a new file."""
    settings = settings_for(args.db, sees_outcomes, "study kit")
    from store.copies.kit_export import make_kit

    out = Path(args.out)
    with open_store(settings, create=False, readonly=True) as store:
        sweep_leftovers(out.parent)
        rater_kit = make_kit(store, study_named(store, args.study), args.rater, out)
    result = record_of(KitMade, rater_kit, out=str(out), runs=len(rater_kit.runs), bytes=out.stat().st_size)
    print_result(result, _print_kit, json=args.json)
    return 0


def _print_kit(result: KitMade) -> None:
    name = Path(result.out).name
    print_line(f"{result.out}: {result.study} v{result.version} for {result.rater}, {result.bytes:,} bytes")
    print_line(f"{count(result.units, 'item')}, {count(result.runs, 'run')}, {count(result.labels, 'answer')} so far")
    command = f"hitlab study rate {result.study} --person {result.rater} --db {name}"
    print_line(f"There: `{command}`; back here: `hitlab study kit import {name}`.")


class StudyTakeArguments(JsonArguments):
    kit: str = argument("R1.db", "the kit that its rater returned")


def add_study_kit_import(parser: Parser) -> None:
    parser.runs(take, StudyTakeArguments, prints={"study-take": KitTaken})
    parser.examples(
        """\
  hitlab study kit import R1.db
  hitlab study kit import R1.db --db study.db --json
"""
    )


def take(args: StudyTakeArguments) -> int:
    """Import a kit's work. Rows that are here already are skipped."""
    settings = settings_for(args.db, sees_outcomes, "study kit import")
    from store.copies.kit_import import import_kit

    with open_store(settings, create=False) as store:
        content, unwiped = erased_or_unwiped(store.path, lambda: import_kit(store, Path(args.kit)))
        newest = store.studies.newest_of(store.studies.study(content.kit.study, content.kit.version)).version
    study_kit = content.kit
    result = KitTaken(
        study_kit.study, study_kit.version, study_kit.rater,
        content.labels, content.acts, content.runs, content.repeated_plays, content.already_present, content.clashes,
        content.carried,
        newest,
    )  # fmt: skip
    print_result(result, lambda _: _print_taken(result, content.unsettled_clashes), json=args.json)
    return not_wiped(unwiped)


def _print_taken(result: KitTaken, final: Collection[tuple[str, str, str]]) -> None:
    counts = f"{count(result.labels, 'answer')} and {count(result.acts, 'act')} came in"
    print_line(f"{result.rater} in {result.study} v{result.version}: {counts}")
    if result.runs:
        print_line(f"{count(result.runs, 'run that was played', 'runs that were played')} came in")
    if result.newest != result.version:
        carried = count(result.carried, "of these answers counts", "of these answers count")
        print_line(f"{carried} in v{result.newest}, as which the study goes on")
    if result.there:
        print_line(f"{result.there:,} were here already")
    for clash in result.clashes:
        unit, target, field = clash
        place = f"{field} of {target}" if target else field
        what = f"; it stays open: {FINAL_WORDS}" if clash in final else " and settles it on opening it"
        print_line(f"{place} in {unit} has two last words: {result.rater} worked on both copies{what}")
