"""The command merge: combine rater copies of a file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lab.cli.arguments import JsonArguments, Parser, argument
from lab.cli.database import ERASED_WORDS, erased_or_unwiped, not_wiped, settings_for, sweep_leftovers
from lab.cli.output import print_line, print_result, warn
from lab.core.settings import database
from lab.core.study.rating_sheet import FINAL_WORDS
from lab.core.values.made_files import make_folder
from lab.studies.seats import sees_outcomes

if TYPE_CHECKING:
    from store.copies.merge import Merged


class MergeClash(msgspec.Struct, frozen=True):
    """A place with two last labels of one rater. `target` is empty for the unit itself.

    On a unit that is `handed_in` its rater may still settle on one of them, and nothing else changes.
    """

    study: str
    version: int
    rater: str
    unit: str
    run: int
    target: str
    field: str
    handed_in: bool


class MergeDone(msgspec.Struct, frozen=True):
    """Result of `file merge`.

    `came` counts new rows by kind, `there` those that were here before. `gone` counts rows deleted because another file
    records a withdrawal (`withdrew`) or an erased run. `kits` are those of the files that were kits. `clashes` are all
    current ones, for their raters to settle. `outside` are files with linked pictures of deleted runs, which remain on
    the disk.
    """

    db: str
    files: tuple[str, ...]
    came: dict[str, int]
    there: int
    gone: dict[str, int]
    withdrew: tuple[str, ...]
    kits: tuple[str, ...]
    clashes: tuple[MergeClash, ...]
    outside: tuple[str, ...]


CAME = {
    "runs": "runs", "events": "moments of runs", "pictures": "pictures and states of runs",
    "reviews": "words on demonstrations", "clearances": "demonstrations cleared", "designs": "acts on designs",
    "run_acts": "runs archived, brought back or tagged",
    "shadows": "answers of shadow models",
    "studies": "studies", "units": "items",
    "dealt": "items dealt to people", "labels": "answers, with their history", "acts": "acts of people in studies",
}  # fmt: skip
"""Words for each count, in printing order."""
_MOST = 20
"""Clashes to name one by one."""


class MergeArguments(JsonArguments):
    files: list[str] = argument("FILE", "hitlab files to merge into the database; they stay unchanged", nargs="+")


def add_file_merge(parser: Parser) -> None:
    parser.runs(merge, MergeArguments, prints={"merge": MergeDone})
    parser.examples(
        """\
  hitlab file merge R1.db R2.db --db study.db
  hitlab file merge laptop.db lab.db --db all.db --json
"""
    )


def merge(args: MergeArguments) -> int:
    """Add everything of the files that is not here, in one transaction."""
    settings = settings_for(args.db, sees_outcomes, "merge")
    from store.copies.merge import merge_into

    path = database(settings)
    if not settings.db:
        make_folder(path.parent)
    sweep_leftovers(path.parent, temporary=True)
    outcome, unwiped = erased_or_unwiped(path, lambda: merge_into(path, [Path(file) for file in args.files]))
    print_result(
        _merge_report(path, args.files, outcome), lambda _: _print_merge(path, args.files, outcome), json=args.json
    )
    for file in outcome.linked_files:
        warn(f"{file} is still there: its picture was linked, not taken in, and is yours to delete")
    return not_wiped(unwiped)


def _merge_report(path: Path, files: list[str], outcome: Merged) -> MergeDone:
    clashes = tuple(MergeClash(*clash) for clash in outcome.clashes)
    return MergeDone(
        str(path), tuple(files), outcome.added, outcome.already_present, outcome.removed, outcome.withdrew,
        outcome.kits, clashes,
        outcome.linked_files,
    )  # fmt: skip


def _print_merge(path: Path, files: list[str], outcome: Merged) -> None:
    print_line(f"{path}: {len(files):,} {'file' if len(files) == 1 else 'files'} brought together")
    for name, words in CAME.items():
        if count := outcome.added.get(name, 0):
            print_line(f"{count:9,} {words}")
    if not outcome.added:
        print_line("          nothing new")
    if outcome.already_present:
        print_line(f"{outcome.already_present:9,} rows were here already")
    _print_gone(outcome)
    _print_clashes(path, outcome)


def _print_gone(outcome: Merged) -> None:
    if outcome.withdrew:
        print_line(
            f"{', '.join(outcome.withdrew)} withdrew elsewhere and {'is' if len(outcome.withdrew) == 1 else 'are'} "
            "taken out here, too")  # fmt: skip
    for name, count in outcome.removed.items():
        print_line(f"{count:9,} went: {ERASED_WORDS.get(name, name)}")


def _count_final(path: Path, outcome: Merged) -> int:
    """Count the clashes that nobody can settle, as `study status` does."""
    from store.store import Store

    sheets = Counter((study, version, rater, unit, run) for study, version, rater, unit, run, *_ in outcome.clashes)
    with Store.open(path, readonly=True) as store:

        def is_final(id: str, version: int, rater: str, unit: str, run: int) -> bool:
            study = store.studies.study(id, version)
            return store.labels.sheet(study, store.studies.unit(study, unit), rater, run).is_final

        return sum(places for sheet, places in sheets.items() if is_final(*sheet))


def _print_clashes(path: Path, outcome: Merged) -> None:
    if outcome.clashes:
        count, final_count = len(outcome.clashes), _count_final(path, outcome)
        print_line(
            f"{count:9,} {'place has' if count == 1 else 'places have'} two last words of one rater, who settles them "
            "on opening the study")  # fmt: skip
        if final_count:
            print_line(f"{final_count:9,} of these stay open: {FINAL_WORDS}")
    for study, version, rater, unit, run, target, field, is_handed_in in outcome.clashes[:_MOST]:
        again = f", rating {run}" if run > 1 else ""
        first = ", handed in" if is_handed_in else ""
        place = f"{field} of {target}" if target else field
        print_line(f"          {rater} in {study} v{version}: {place} in {unit}{again}{first}")
    if len(outcome.clashes) > _MOST:
        print_line(f"          and {len(outcome.clashes) - _MOST:,} more; --json lists them")
