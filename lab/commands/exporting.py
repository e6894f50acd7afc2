"""Writing runs out of a database: export."""

from __future__ import annotations

import argparse
from pathlib import Path

from lab.commands.reviews_told import Exported
from lab.commands.runs import open_store
from lab.commands.seats import check_seat
from lab.errors import LabError
from lab.output import print_json, say
from lab.settings import load
from screens.seats import sees_outcomes


def export(args: argparse.Namespace) -> int:
    """Whole runs, as folders that `hitlab import` reads back; a folder that is there already is refused."""
    if bool(args.run_ids) == args.all:
        raise LabError("export", "needs the ID of a run, or --all, and not both", "`hitlab traces` lists runs.", code=2)
    settings = load(db=getattr(args, "db", None))
    check_seat(settings, sees_outcomes, "export")
    from store.exporting import export_runs

    out = Path(args.out)
    with open_store(settings, create=False, readonly=True) as store:
        if args.all and args.reviewed:
            ids = store.demonstrations()
        elif args.all:
            ids = [run.id for run in store.summaries()]
        else:
            ids = [store.find(id) for id in args.run_ids]
        ids = ids[::-1] if args.all else ids
        uncleared = len(set(ids) & set(store.uncleared()))
        written: list[str] = []
        size = export_runs(store, ids, out, args.format, reviewed=args.reviewed, on_run=written.append)
    if args.json:
        print_json(Exported(str(out), args.format, args.reviewed, tuple(written), size, uncleared))
    else:
        say(f"{len(written)} runs, {size:,} bytes, in {out}" + (" as reviewed" if args.reviewed else ""))
        if uncleared:
            say(f"{uncleared} of them nobody has cleared yet: `hitlab privacy --list`")
    return 0
