"""Taking in runs from files and folders, with totals for the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import msgspec

from lab.records import Imported
from lab.trace import Started
from store.exporting import REVIEWED
from store.formats import Failed, Known, formats, read
from store.rows import erased_words
from store.store import Store

Outcome = Literal["imported", "skipped", "failed"]

_BATCH_RUNS = 32
_BATCH_BYTES = 16 * 1024**2
"""Runs, and bytes of pictures, that share one transaction: each waits for the disk, and holds up other writers."""


class Report(msgspec.Struct):
    """What an import did, as `hitlab import --json` prints it; each failure is a path and one sentence."""

    imported: int = 0
    skipped: int = 0
    failed: list[dict[str, str]] = []


def import_paths(
    store: Store,
    paths: Iterable[Path],
    format: str | None = None,
    on_run: Callable[[str, Outcome], None] | None = None,
) -> Report:
    """Imports every run below `paths`; what cannot be read is counted with its reason, and the others still come in.

    `on_run` hears of each run once it is on the disk: its id (or the path that failed) and what became of it. A
    file that cannot be written ends the import with the store's own `LabError`; the runs told of before stay.
    """
    importing = _Import(store, on_run)
    for path in paths:
        nothing = True
        for one in read(path, format, known=store.holds):
            nothing = False
            match one:
                case Imported():
                    importing.take(one)
                case Known():
                    importing.tell(one.id, "skipped")
                case Failed():
                    importing.tell(one.path, "failed", one.error)
        if nothing:
            importing.tell(str(path), "failed", _nothing(path, format))
    importing.flush()
    return importing.report


class _Import:
    """Gathers runs into batches, and counts."""

    def __init__(self, store: Store, on_run: Callable[[str, Outcome], None] | None) -> None:
        self.store = store
        self.on_run = on_run
        self.report = Report()
        self.batch: list[Imported] = []
        self.bytes = 0

    def take(self, run: Imported) -> None:
        for id in _made_of(run):
            erased = self.store.tombstone(id)
            if erased is not None and not self.store.holds(run.id):
                self.tell(run.id, "failed", f"run {id}: {erased_words(erased)}")
                return
        self.batch.append(run)
        self.bytes += sum(len(blob.data) for blob in run.images.values())
        # What a run replaces may come next, and must be known as erased by then.
        if run.tombstones or len(self.batch) >= _BATCH_RUNS or self.bytes >= _BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        if not self.batch:
            return
        for run, new in zip(self.batch, self.store.import_runs(self.batch), strict=True):
            self.tell(run.id, "imported" if new else "skipped")
        self.batch, self.bytes = [], 0

    def tell(self, name: str, outcome: Outcome, error: str = "") -> None:
        if outcome == "failed":
            self.report.failed.append({"path": name, "error": error})
        else:
            setattr(self.report, outcome, getattr(self.report, outcome) + 1)
        if self.on_run is not None:
            self.on_run(name, outcome)


def _made_of(run: Imported) -> list[str]:
    """The run itself, and the one whose reviewed text it is."""
    first = run.events[0]
    source = first.source if isinstance(first, Started) else None
    return [run.id, *([source.path] if source is not None and source.format == REVIEWED else [])]


def _nothing(path: Path, format: str | None) -> str:
    if not path.exists():
        return f"{path}: is not there."
    return f"{path}: holds no runs of a known format ({format or ', '.join(formats())})."
