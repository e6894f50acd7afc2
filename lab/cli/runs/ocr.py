"""The command read: recognize words in pictures before anybody needs them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from lab.cli.arguments import JsonArguments, Parser, argument, flag, option
from lab.cli.database import open_store, settings_for
from lab.cli.output import print_line, print_result
from lab.core.errors import LabError
from lab.core.text.plain_text import plain
from lab.core.values.rounding import count
from lab.runs.replay.picture_text import UnreadPicture
from lab.studies.planning.study_places import study_named
from lab.studies.seats import sees_outcomes
from store.store import Store


class PicturesRead(msgspec.Struct, frozen=True):
    """Result of `read`: the pictures of `runs` whose screen has no UI text.

    `known` were read before, `read` now, by `engine`.
    """

    engine: str
    runs: int
    pictures: int
    known: int
    read: int
    unread: tuple[UnreadPicture, ...]


class ReadArguments(JsonArguments):
    runs: list[str] = argument("ID", "ids of runs, or their beginnings", nargs="*", completes="run")
    study: str | None = option("STUDY", "read all runs of a study", completes="study")
    all: bool = flag("read all runs of the database")


def add_runs_ocr(parser: Parser) -> None:
    parser.runs(read, ReadArguments, prints={"read": PicturesRead})
    parser.examples(
        """\
  hitlab runs ocr 019a
  hitlab runs ocr --study tdg
  hitlab runs ocr --all --json
"""
    )


def read(args: ReadArguments) -> int:
    """Recognize words in the pictures of runs without UI text, so that screens show them at once."""
    from lab.ocr.reader import TextReader
    from lab.runs.replay.picture_text import read_pictures, wordless_pictures

    if [bool(args.runs), args.study is not None, args.all].count(True) != 1:
        raise LabError("runs ocr", "takes runs, --study or --all", "`hitlab runs list` lists runs.", code=2)
    settings = settings_for(args.db, sees_outcomes, "runs ocr")
    reader = TextReader()
    try:
        with open_store(settings, create=False, readonly=True) as store:
            runs = _find_runs(args, store)
            pictures = wordless_pictures(store, runs)
            new = [picture for picture in pictures if reader.stored_text(picture.sha256) is None]
            with _progress_bar(len(new)) as advance:
                unread_pictures = read_pictures(store, new, reader, advance)
    finally:
        reader.close()
    lines = tuple(unread_pictures)
    known_count = len(pictures) - len(new)
    print_result(
        PicturesRead(reader.engine, len(runs), len(pictures), known_count, len(new) - len(lines), lines),
        _print_readings,
        json=args.json,
    )
    return 3 if lines else 0


def _find_runs(args: ReadArguments, store: Store) -> list[str]:
    if args.all:
        return [run.id for run in store.runs.summaries()]
    if args.study is None:
        return list(dict.fromkeys(store.runs.find(run) for run in args.runs))
    study = study_named(store, args.study)
    units = store.studies.units(study)
    return list(dict.fromkeys(run for unit in units for run in unit.runs if store.runs.has_run(run)))


def _print_readings(result: PicturesRead) -> None:
    if not result.pictures:
        print_line(f"{count(result.runs, 'run')}: no picture of a screen without words.")
        return
    print_line(
        f"{count(result.read, 'picture')} of {count(result.runs, 'run')} read by {result.engine}, "
        f"{result.known:,} known before, {len(result.unread):,} unread."
    )
    for line in result.unread:
        print_line(plain(f"  {line.run}@{line.step}: {line.why}", lines=False))


@contextmanager
def _progress_bar(pictures: int) -> Iterator[Callable[[], None]]:
    """Show progress on standard error with the remaining time. Yield a callback for each finished picture."""
    if not sys.stderr.isatty() or not pictures:
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("reading"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading", total=pictures)
        yield lambda: progress.advance(task)
