"""Commands over what is stored: traces, show, import, pack."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from lab.commands.runs import open_store, refuse_blind
from lab.errors import LabError
from lab.output import ImportFailure, ImportResult, Packed, Shown, print_json, say, warn
from lab.records import TraceLine
from lab.settings import load
from lab.tables import print_table
from lab.trace import Started

SHORT_ID = 13
"""Characters of an id that tell runs apart in a list: a uuid7's whole millisecond."""


def traces(args: argparse.Namespace) -> int:
    """The runs in the database, newest first."""
    if args.limit is not None and args.limit < 1:
        raise LabError("traces", f"--limit {args.limit} is less than one", code=2)
    settings = load(db=getattr(args, "db", None))
    refuse_blind(settings, "traces")
    named = hasattr(args, "db")
    with open_store(settings, create=not named, readonly=named) as store:
        runs = store.summaries(args.limit)
        lines = [TraceLine(*(getattr(run, name) for name in TraceLine.__struct_fields__)) for run in runs]
        if args.json:
            print_json(lines)
        elif not lines:
            say(f"no runs in {store.path}; `hitlab demo` makes one, `hitlab import PATH` brings yours")
        else:
            columns = ["id", "task", "agent", "persona", "steps", "asked", "answered", "status", "score", "source"]
            rows = [[_cell(getattr(line, name)) for name in line.__struct_fields__] for line in lines]
            print_table(columns, [[row[0][:SHORT_ID], *row[1:]] for row in rows], wide="task")
    return 0


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)


def show(args: argparse.Namespace) -> int:
    """One run, whole."""
    settings = load(db=getattr(args, "db", None))
    refuse_blind(settings, "show")
    with open_store(settings, create=False, readonly=True) as store:
        found = store.find(args.run_id)
        trace = store.trace(found)
        verdicts = store.verdicts(found)
        if not args.json:
            from lab.commands.telling import tell_run

            tell_run(trace, str(store.path), verdicts)
            return 0
        started = next(iter(store.events(found)))
        assert isinstance(started, Started)
        print_json(
            Shown(
                id=trace.id,
                status=trace.status,
                score=trace.ended.score if trace.ended else None,
                questions=trace.questions,
                replies=trace.replies,
                started=started,
                steps=trace.steps,
                ended=trace.ended,
                verdicts=tuple(verdicts),
                spent=trace.spent,
            )
        )
    return 0


def bring(args: argparse.Namespace) -> int:
    """Recorded runs into the database, one transaction each; those already there are skipped."""
    from store.importing import import_paths

    paths = [Path(path) for path in args.paths]
    with open_store(load(db=getattr(args, "db", None))) as store:
        report = import_paths(store, paths, args.format, on_run=_progress())
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
        failed = tuple(ImportFailure(**failure) for failure in report.failed)
        result = ImportResult(report.imported, report.skipped, failed)
        if args.json:
            print_json(result)
        elif result.imported or result.skipped:
            say(f"{result.imported} imported, {result.skipped} already there, {len(failed)} failed, in {store.path}")
        for failure in failed:
            warn(failure.error)
    if not failed:
        return 0
    return 3 if result.imported or result.skipped else 1


def _progress() -> Callable[[str, str], None] | None:
    """A count that grows in place on a terminal's standard error; silence elsewhere."""
    if not sys.stderr.isatty():
        return None
    done = 0

    def on_run(name: str, outcome: str) -> None:
        nonlocal done
        done += 1
        sys.stderr.write(f"\r{done} runs read\x1b[K")
        sys.stderr.flush()

    return on_run


def pack(args: argparse.Namespace) -> int:
    """A whole copy of a database, also while it is being written."""
    out = Path(args.out)
    with open_store(load(db=getattr(args, "db", None)), create=False, readonly=True) as store:
        store.pack(out, images=not args.no_images)
    packed = Packed(str(out), out.stat().st_size, not args.no_images)
    if args.json:
        print_json(packed)
    else:
        say(f"{packed.bytes:,} bytes in {packed.db}" + ("" if packed.images else ", without screenshots"))
    return 0
