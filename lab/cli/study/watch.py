"""The command study watch: each person's progress, pace and expected end, and the stragglers."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from rich.cells import cell_len

from lab.cli.app import show_room
from lab.cli.arguments import JsonArguments, Parser, argument, flag, option, seconds
from lab.cli.database import open_store, settings_for
from lab.cli.output import print_line, print_result
from lab.cli.study.repaint import can_repaint, repaint
from lab.core.errors import LabError
from lab.core.settings import Settings
from lab.core.study.study import Study
from lab.core.study.study_progress import StudyProgress
from lab.core.text.text_table import GAP, cut, join_cells, wrap_cells
from lab.studies.planning.study_places import study_named
from lab.studies.progress import progress_words
from lab.studies.progress.progress_words import FIELDS, RATERS, STRAGGLERS, STUDIES, Cells, ProgressColumn, ProgressRow
from lab.studies.seats import sees_outcomes

if TYPE_CHECKING:
    from store.store import Store

EVERY = 5.0
"""Seconds between two reads."""
_LEAST = 0.5
_WIDE = 1_000_000
"""Columns if the output is not a terminal."""


class StudiesWatched(msgspec.Struct, frozen=True):
    """Progress of studies `at` a time (UTC), without any answer: `study watch`."""

    at: str
    studies: tuple[StudyProgress, ...]


class StudyWatchArguments(JsonArguments):
    study: list[str] = argument("STUDY", "names of studies (default: all under way)", nargs="*", completes="study")
    every: float = option(
        "SECONDS", f"refresh every SECONDS (default: {EVERY:g})", "--interval", "--every", type=seconds, default=EVERY
    )
    once: bool = flag("print once and exit (default for --json and pipes)")
    open: bool = flag("open the screen of one study in the app instead")


def add_study_watch(parser: Parser) -> None:
    parser.runs(watch, StudyWatchArguments, prints={"study-watch": StudiesWatched})
    parser.examples(
        """\
  hitlab study watch                   all studies under way, a line each
  hitlab study watch tdg               a line for each person; q ends it
  hitlab study watch tdg pspa-e3 --interval 30
  hitlab study watch tdg --once        printed, with what each column means
"""
    )


def watch(args: StudyWatchArguments) -> int:
    """Show the progress of studies, on a terminal repeatedly. Without a name show all running ones, one line each."""
    settings = settings_for(args.db, sees_outcomes, "study watch")
    if args.every < _LEAST:
        raise LabError("--interval", f"{args.every:g} seconds are too few: {_LEAST:g} or more.", code=2)
    if args.open:
        return _open_screen(args, settings)
    with open_store(settings, create=False, readonly=True) as store:
        from lab.studies.progress.study_progress import ProgressReader, check_whole

        check_whole(store, "study watch")
        reader = ProgressReader(store)
        studies = [study_named(store, name) for name in dict.fromkeys(args.study)]
        if args.json or args.once or not can_repaint():
            overview = _read_studies(reader.read, studies or _running_studies(store))
            print_result(overview, lambda _: _print(overview, each=bool(studies)), json=args.json)
            return 0

        def page(columns: int, rows: int) -> list[str]:
            overview = _read_studies(reader.read, studies or _running_studies(store))
            return _page_lines(overview, columns, rows, each=bool(studies))

        repaint(page, args.every)
    return 0


def _open_screen(args: StudyWatchArguments, settings: Settings) -> int:
    """Open the screen of one study."""
    if args.json or args.once or len(args.study) != 1:
        raise LabError("study watch", "--open shows the room of one study, and prints nothing.", code=2)
    with open_store(settings, create=False) as store:
        from lab.studies.progress.study_progress import check_whole
        from screens.navigation import Opening

        check_whole(store, "study watch")
        study = study_named(store, args.study[0])
        opening = Opening("progress", study=study)
        return show_room(store, settings, opening, f"study {study.id}", "`hitlab study watch STUDY` prints it.")


def _running_studies(store: Store) -> list[Study]:
    from lab.studies.progress.study_progress import running_studies

    return running_studies(store)


def _read_studies(read: Callable[[Study, float], StudyProgress], studies: Sequence[Study]) -> StudiesWatched:
    from lab.studies.progress.study_progress import iso_time

    now = time.time()
    return StudiesWatched(iso_time(now), tuple(read(study, now) for study in studies))


# -- lines -------------------------------------------------------------------------------------------------------


def _print(overview: StudiesWatched, *, each: bool) -> None:
    """Print everything, with the meaning of the columns."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDE
    lines, means = _lines(overview, width, each=each)
    for line in (*lines, *means):
        print_line(line)


def _page_lines(overview: StudiesWatched, columns: int, rows: int, *, each: bool) -> list[str]:
    """Return as many lines as the terminal has, the last with the time of reading and the key to quit."""
    room = max(1, rows - 1)
    most = room // max(1, len(overview.studies)) if each else None
    lines, means = _lines(overview, columns, each=each, most=most)
    if len(lines) > room:
        lines = [*lines[: room - 1], f"and {len(lines) - room + 1:,} more lines (--once prints all)"]
    lines = [*lines, *means][:room]
    blank = [""] * (room - len(lines))
    return [cut(line, columns) for line in (*lines, *blank, f"{overview.at[11:19]} UTC   q ends it")]


def _lines(overview: StudiesWatched, width: int, *, each: bool, most: int | None = None) -> tuple[list[str], list[str]]:
    """Return the lines of every study (at most `most` a study, if given) and the meaning of the columns."""
    if not overview.studies:
        return ["no study goes on; `hitlab study new PRESET --runs all --raters P1,P2` freezes one"], []
    if not each:
        return _layout_table(STUDIES, list(map(progress_words.study_cells, overview.studies)), width)[0], []
    lines: list[str] = []
    column_names: dict[str, None] = {}
    for progress in overview.studies:
        table, shown = _study_table(progress, width, most - bool(lines) if most is not None else None)
        lines += [*([""] if lines else []), *table]
        column_names |= dict.fromkeys(shown)
    means = [*progress_words.legend([name for name in RATERS if name in column_names], RATERS), *STRAGGLERS]
    return lines, ["", *_fold_all(means, width)]


def _study_table(progress: StudyProgress, width: int, most: int | None) -> tuple[list[str], Iterable[str]]:
    """Return a study's people, judges, totals and questions, and the names of the columns of people."""
    intervals = map(progress_words.interval_words, progress.intervals)
    head = _fold_all([progress_words.head_words(progress), *intervals], width)
    rows, fields = progress_words.people_rows(progress), progress_words.question_rows(progress)
    lines, shown = _layout_table(RATERS, [row.cells for row in rows], width)
    questions = ["", *_layout_table(FIELDS, [row.cells for row in fields], width)[0]] if fields else []
    if most is not None and len(head) + len(lines) + len(questions) > most:
        questions = []
    if most is not None and len(head) + len(lines) > most:
        lines = _shorten(rows, lines, max(1, most - len(head) - 3))
    return [*head, *lines, *questions], shown


def _shorten(table: Sequence[ProgressRow], lines: list[str], most: int) -> list[str]:
    """Shorten a table to `most` people: first those who need the manager, then others in order."""
    title, *rows, total = lines
    urgent = [at for at, row in enumerate(table) if row.urgent]
    order = dict.fromkeys([*urgent, *range(len(rows))])
    places = sorted([*order][:most])
    return [title, *(rows[at] for at in places), f"and {len(rows) - len(places):,} more (--once prints all)", total]


def _layout_table(
    table: Mapping[str, ProgressColumn], rows: Sequence[Cells], width: int
) -> tuple[list[str], Iterable[str]]:
    """Return a table as lines of text, titles first, and the names of the columns that fit."""
    cells = [{name: column.title for name, column in table.items()}, *rows]
    needs = {name: max(cell_len(row.get(name, "")) for row in cells) for name in table}
    widths = progress_words.column_widths(table, rows, needs, width, GAP)
    right = [table[name].right for name in widths]
    lines = [
        line.rstrip()
        for row in cells
        for line in join_cells(
            [[cut(row.get(name, ""), wide)] for name, wide in widths.items()], [*widths.values()], right
        )
    ]
    return lines, widths


def _fold_all(texts: Sequence[str], width: int) -> list[str]:
    return [line for text in texts for line in wrap_cells(text, width)]
