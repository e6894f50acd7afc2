"""The commands import, pack and export: runs into a file and out of it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from lab.cli.arguments import JsonArguments, Parser, argument, flag, option
from lab.cli.database import in_file, is_new, open_store, settings_for, sweep_leftovers
from lab.cli.output import (
    print_line,
    print_result,
    warn,
)
from lab.core.errors import LabError
from lab.core.settings import load
from lab.core.values.rounding import count
from lab.studies.seats import sees_outcomes
from store.formats import READ_FORMATS, WRITTEN_FORMATS

if TYPE_CHECKING:
    from store.runs.run_import import ImportReport


class Packed(msgspec.Struct, frozen=True):
    """Result of `file pack`. `outside` counts the linked pictures, whose files are not in the copy."""

    db: str
    bytes: int
    images: bool
    outside: int = 0


class Exported(msgspec.Struct, frozen=True):
    """Result of `export`. `uncleared` counts demonstrations that nobody has cleared of private data.

    `archived` counts the runs that --all left out.
    """

    out: str
    format: str
    reviewed: bool
    runs: tuple[str, ...]
    bytes: int
    uncleared: int
    archived: int = 0


class ImportArguments(JsonArguments):
    paths: list[str] = argument("PATH", "folders or files; runs are found inside folders", nargs="+")
    format: str | None = option(
        "FORMAT", f"read them as this format (default: detect it): {', '.join(READ_FORMATS)}", choices=READ_FORMATS
    )
    encoding: str = option("NAME", "decode texts that are not UTF-8 by this encoding (e.g. gbk or cp1252)", default="")
    link: bool = flag("leave screenshots in their files (default: copy them into the database)")


def add_import(parser: Parser) -> None:
    parser.runs(import_runs, ImportArguments, prints={"import": "store.runs.run_import:ImportReport"})
    parser.examples(
        """\
  hitlab import runs/                  detects each of fifteen formats
  hitlab import runs/ --format androidworld --db study.db
  hitlab import big/ --link            screenshots stay in their files
"""
    )


def import_runs(args: ImportArguments) -> int:
    """Import recorded runs, each whole or not at all, and skip runs that are in the file."""
    from store.runs.run_import import failed_import, import_paths

    paths = [Path(path) for path in args.paths]
    settings = load(db=args.db)
    # With no file yet, sources that all fail must not leave an empty one behind.
    failure = failed_import(paths, args.format, encoding=args.encoding) if is_new(settings) else None
    if failure is not None:
        return _print_import_result(failure, args, "")
    incomplete: list[str] = []
    with open_store(settings) as store:
        with import_progress(store.size) as on_run:
            report = import_paths(
                store, paths, args.format, on_run, on_incomplete=incomplete.append, link=args.link,
                encoding=args.encoding,
            )  # fmt: skip
        report.linked = store.links.count_outside()
        code = _print_import_result(report, args, str(store.path))
    _warn_incomplete(incomplete, in_file(args.db))
    return code


def _print_import_result(result: ImportReport, args: ImportArguments, db: str) -> int:
    """Print the numbers and failures, and return the exit code."""
    print_result(result, lambda _: _print_import(result, db), json=args.json)
    for failure in result.failed:
        warn(failure.error)
    if result.interrupted:
        warn("import: stopped; what is in stays, and the same command brings in the rest.")
    for fallback in result.fallbacks:
        warn(f"import: {fallback.sentence}")
    if not result.failed and not result.interrupted:
        return 0
    return 3 if result.imported or result.skipped or result.interrupted else 1


_NAMED = 3
"""Runs with missing pictures to name. The others are counted."""


def _warn_incomplete(runs: Sequence[str], db: str) -> None:
    """Warn of runs whose sources lack pictures, and print how to complete them."""
    if not runs:
        return
    ids = " ".join(runs[:_NAMED]) + (" ..." if len(runs) > _NAMED else "")
    warn(
        f"import: {count(len(runs), 'run lacks', 'runs lack')} pictures. Once the source has them, the same command "
        f"brings the whole run in beside the one without, and `hitlab runs archive {ids}{db}` takes that out of lists."
    )


def _print_import(result: ImportReport, db: str) -> None:
    """Print the numbers with the formats' names: `26 imported (knowu), 3 already there, 1 failed, in study.db`."""
    if not (result.imported or result.skipped or result.interrupted):
        return
    several = len(result.formats) > 1
    counts = {"imported": result.imported, "skipped": result.skipped, "failed": len(result.failed)}
    words = {"imported": "imported", "skipped": "already there", "failed": "failed"}
    parts = [
        f"{count} {words[outcome]}" + (_by_format(result, outcome) if several or outcome == "imported" else "")
        for outcome, count in counts.items()
    ]
    print_line(f"{', '.join(parts)}, in {db}")
    if result.linked:
        print_line(f"{result.linked} pictures stay in their own files; moved or deleted, they are gone from here too")


def _by_format(result: ImportReport, outcome: str) -> str:
    counts = {name: getattr(tally, outcome) for name, tally in result.formats.items() if getattr(tally, outcome)}
    if len(counts) < 2:
        return "".join(f" ({name})" for name in counts)
    return f" ({', '.join(f'{count} {name}' for name, count in counts.items())})"


ImportCallback = Callable[[str, Literal["imported", "skipped", "failed"]], None]


@contextmanager
def import_progress(size: Callable[[], int]) -> Iterator[ImportCallback | None]:
    """Yield a progress callback for an import, None if stderr is not a terminal.

    `size` returns the bytes of the target file, for the transfer speed.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TransferSpeedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TransferSpeedColumn())
    bar = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
    before = size()
    counts: Counter[str] = Counter()
    with bar:
        row = bar.add_task("looking for runs", total=None)

        def on_run(name: str, outcome: Literal["imported", "skipped", "failed"]) -> None:
            counts[outcome] += 1
            words = f"{counts['imported']} in, {counts['skipped']} already there, {counts['failed']} failed"
            bar.update(row, description=words, completed=size() - before)

        yield on_run


class PackArguments(JsonArguments):
    out: str = argument("OUT.db", "the copy, a new file")
    no_images: bool = flag("leave out the screenshots")
    embed: bool = flag("copy linked screenshots into the copy")


def add_file_pack(parser: Parser) -> None:
    parser.runs(pack, PackArguments, prints={"pack": Packed})
    parser.examples(
        """\
  hitlab file pack copy.db
  hitlab file pack small.db --no-images
"""
    )


def pack(args: PackArguments) -> int:
    """Copy a database, safely while others write to it."""
    if args.no_images and args.embed:
        raise LabError("pack", "--embed and --no-images exclude each other", code=2)
    from store.store import Store

    out = Path(args.out)
    settings = settings_for(args.db, sees_outcomes, "pack")
    sweep_leftovers(out.parent)
    with open_store(settings, create=False, readonly=True) as store:
        store.pack(out, images=not args.no_images, embed=args.embed)
    with Store.open(out, create=False, readonly=True) as copy:
        outside = copy.links.count_outside()
    result = Packed(str(out), out.stat().st_size, not args.no_images, outside)
    print_result(result, lambda _: _print_packed(result, embed=args.embed), json=args.json)
    return 0


def _print_packed(result: Packed, *, embed: bool) -> None:
    print_line(f"{result.bytes:,} bytes in {result.db}" + ("" if result.images else ", without screenshots"))
    if result.outside:
        stay = "they stay in files on this machine, and the copy names them"
        print_line(f"{result.outside} linked pictures are not in it: {stay}.")
        if not embed:
            print_line("`hitlab file pack --embed` takes them in.")


class ExportArguments(JsonArguments):
    run_ids: list[str] = argument("ID", "ids of runs, or their beginnings", nargs="*", completes="run")
    all: bool = flag("export every run that is not archived (with --reviewed: every demonstration)")
    out: str = option("FOLDER", "write into this new folder (e.g. chosen)", "--output", "--out", required=True)
    format: str = option(
        "FORMAT", f"write this format: jsonl (default; complete), {', '.join(WRITTEN_FORMATS[1:])}", default="jsonl",
        choices=WRITTEN_FORMATS,
    )  # fmt: skip
    reviewed: bool = flag("export demonstrations as their proofreaders corrected them")


def add_export(parser: Parser) -> None:
    parser.runs(export, ExportArguments, prints={"export": Exported})
    parser.examples(
        """\
  hitlab export 019a 019b --output chosen
  hitlab export --all --format csv --output tables
  hitlab export --all --reviewed --output demonstrations
"""
    )


def export(args: ExportArguments) -> int:
    """Export whole runs as a new folder that `hitlab import` can read."""
    if bool(args.run_ids) == args.all:
        raise LabError(
            "export", "needs the ID of a run, or --all, and not both", "`hitlab runs list` lists runs.", code=2
        )
    settings = settings_for(args.db, sees_outcomes, "export")
    from store.runs.run_export import export_runs

    out = Path(args.out)
    sweep_leftovers(out.parent)
    with open_store(settings, create=False, readonly=True) as store:
        if args.all and args.reviewed:
            every = store.reviews.demonstrations()
        elif args.all:
            every = [run.id for run in store.runs.summaries(archived=None)]
        else:
            every = [store.runs.find(id) for id in args.run_ids]
        archived_ids = store.runs.acts.archived() if args.all else set()
        ids = [id for id in every if id not in archived_ids]
        ids = ids[::-1] if args.all else ids
        uncleared_count = len(set(ids) & set(store.reviews.uncleared()))
        run_ids: list[str] = []
        size = export_runs(store, ids, out, args.format, reviewed=args.reviewed, on_run=run_ids.append)
    result = Exported(
        str(out), args.format, args.reviewed, tuple(run_ids), size, uncleared_count, archived=len(every) - len(ids)
    )
    print_result(result, _print_export, json=args.json)
    return 0


def _print_export(result: Exported) -> None:
    reviewed = " as reviewed" if result.reviewed else ""
    print_line(f"{count(len(result.runs), 'run')}, {result.bytes:,} bytes, in {result.out}{reviewed}")
    if result.archived:
        print_line(f"{count(result.archived, 'run')} archived and left out; an export by ids takes them")
    if result.uncleared:
        print_line(f"{result.uncleared} of them nobody has cleared yet: `hitlab runs redact --list`")
