"""Commands over what is stored: traces, show, import, pack."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

from lab.commands.incoming import incoming
from lab.commands.runs import open_store
from lab.commands.seats import check_seat
from lab.errors import LabError
from lab.output import ImportResult, Packed, Shown, print_json, say, warn
from lab.records import TraceLine
from lab.settings import Settings, load
from lab.tables import print_table
from lab.trace import Started
from screens.seats import sees_outcomes

SHORT_ID = 13
"""Characters of an id that tell runs apart in a list: a uuid7's whole millisecond."""


def traces(args: argparse.Namespace) -> int:
    """The runs in the database, newest first."""
    if args.limit is not None and args.limit < 1:
        raise LabError("traces", f"--limit {args.limit} is less than one", code=2)
    settings = load(db=getattr(args, "db", None))
    _refuse_outcomes(settings, "traces")
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


def _refuse_outcomes(settings: Settings, what: str) -> None:
    """Scores and agents' names are printed here: raises `LabError` for a seat that judges without them."""
    check_seat(settings, sees_outcomes, what)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)


def show(args: argparse.Namespace) -> int:
    """One run, whole."""
    settings = load(db=getattr(args, "db", None))
    _refuse_outcomes(settings, "show")
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
    """Recorded runs into the database, each whole or not at all; those already there are skipped."""
    from store.importing import import_paths

    paths = [Path(path) for path in args.paths]
    with open_store(load(db=getattr(args, "db", None))) as store:
        with incoming(store.size) as on_run:
            report = import_paths(store, paths, args.format, on_run=on_run, link=args.link)
        result = msgspec.convert({**msgspec.to_builtins(report), "linked": store.outside()}, ImportResult)
        if args.json:
            print_json(result)
        else:
            _tell_import(result, str(store.path))
        for failure in result.failed:
            warn(failure.error)
    if report.interrupted:
        warn("import: stopped; what is in stays, and the same command brings in the rest.")
    if not result.failed and not report.interrupted:
        return 0
    return 3 if result.imported or result.skipped or report.interrupted else 1


def _tell_import(result: ImportResult, db: str) -> None:
    """Counts, with the formats' names: `26 imported (knowu), 3 already there, 1 failed, in study.db`."""
    if not (result.imported or result.skipped or result.interrupted):
        return
    several = len(result.formats) > 1
    counts = {"imported": result.imported, "skipped": result.skipped, "failed": len(result.failed)}
    words = {"imported": "imported", "skipped": "already there", "failed": "failed"}
    said = [
        f"{count} {words[outcome]}" + (_by_format(result, outcome) if several or outcome == "imported" else "")
        for outcome, count in counts.items()
    ]
    say(f"{', '.join(said)}, in {db}")
    if result.linked:
        say(f"{result.linked} pictures stay in their own files; moved or deleted, they are gone from here too")


def _by_format(result: ImportResult, outcome: str) -> str:
    counts = {name: getattr(tally, outcome) for name, tally in result.formats.items() if getattr(tally, outcome)}
    if len(counts) < 2:
        return "".join(f" ({name})" for name in counts)
    return f" ({', '.join(f'{count} {name}' for name, count in counts.items())})"


def pack(args: argparse.Namespace) -> int:
    """A whole copy of a database, also while it is being written."""
    if args.no_images and args.embed:
        raise LabError("pack", "--embed and --no-images exclude each other", code=2)
    from store.store import Store

    out = Path(args.out)
    settings = load(db=getattr(args, "db", None))
    _refuse_outcomes(settings, "pack")
    with open_store(settings, create=False, readonly=True) as store:
        store.pack(out, images=not args.no_images, embed=args.embed)
    with Store.open(out, create=False, readonly=True) as copy:
        outside = copy.outside()
    packed = Packed(str(out), out.stat().st_size, not args.no_images, outside)
    if args.json:
        print_json(packed)
        return 0
    say(f"{packed.bytes:,} bytes in {packed.db}" + ("" if packed.images else ", without screenshots"))
    if outside:
        say(f"{outside} linked pictures are not in it: they stay in files on this machine, and the copy names them.")
        if not args.embed:
            say("`hitlab pack --embed` takes them in.")
    return 0
