"""Taking in runs from files and folders, with totals for the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from lab.core.errors import LabError
from lab.core.run_records import Blob, Imported, whole_and_incomplete
from lab.core.trace import Started
from store.formats import FailedRun, KnownRun, RunSource, detect, formats
from store.formats.fallbacks import Fallback, Fallbacks
from store.formats.jsonl.reader import Blobs
from store.formats.pictures import Pictures
from store.incomplete_runs import MissingPictures, as_incomplete, missing_pictures
from store.repeated_attempts import further_attempt, is_told_apart
from store.run_export import REVIEWED
from store.run_fallbacks import fallbacks_in
from store.run_rows import erased_words
from store.store import Store

Outcome = Literal["imported", "skipped", "failed"]

_BATCH_RUNS = 32
_BATCH_BYTES = 16 * 1024**2
"""Runs, and bytes of pictures, that share one transaction: each waits for the disk, and holds up other writers."""

_USUAL_PICTURE = 256 * 1024
"""What a picture counts whose size nobody has told."""


class Tally(msgspec.Struct):
    """How many runs of one format came in, were there already, or failed."""

    imported: int = 0
    skipped: int = 0
    failed: int = 0


class Report(msgspec.Struct):
    """What an import did, as `hitlab import --json` prints it; each failure is a path and one sentence.

    `formats` counts by format; a file that could not even be told apart counts in none. `interrupted`: there was more.
    """

    imported: int = 0
    skipped: int = 0
    failed: list[dict[str, str]] = []
    formats: dict[str, Tally] = {}
    interrupted: bool = False
    incomplete: list[tuple[str, MissingPictures]] = []
    """The ids of runs whose source lacks pictures."""
    fallbacks: list[Fallback] = []
    """What of runs that came in was not taken as it stands, and what holds no run: one of each kind."""


def import_paths(
    store: Store,
    paths: Iterable[Path],
    format: str | None = None,
    on_run: Callable[[str, Outcome], None] | None = None,
    *,
    link: bool = False,
    encoding: str = "",
) -> Report:
    """Imports every run below `paths`; what cannot be read is counted with its reason, and the others still come in.

    `on_run` hears of each run once it is on the disk: its id (or the path that failed) and what became of it. With
    `link`, screenshots that are whole files stay where they are. Texts are in the `encoding` that is named, or in
    that which each file tells. Ctrl-C ends it, and what came in stays. A file that cannot be written ends the import
    with the store's own `LabError`; the runs told of before stay.
    """
    importing = _Import(store, on_run, link=link)
    try:
        for path in paths:
            importing.read(path, format, encoding)
        importing.flush()
    except KeyboardInterrupt:
        importing.report.interrupted = True
    importing.report.fallbacks = list(importing.fallbacks)
    return importing.report


def failed_import(paths: Iterable[Path], format: str | None = None, *, encoding: str = "") -> Report | None:
    """The report of an import below `paths` from which no run comes, without a file for them; None where one does."""
    report = Report()
    fallbacks = Fallbacks()
    for path in paths:
        count = len(report.failed)
        for source, run in _read(path, format, lambda _: False, encoding, fallbacks):
            if not isinstance(run, FailedRun):
                return None
            report.failed.append({"path": run.path, "error": run.error})
            if source is not None:
                report.formats.setdefault(source.format, Tally()).failed += 1
        if len(report.failed) == count:
            report.failed.append({"path": str(path), "error": _nothing(path, format)})
    report.fallbacks = list(fallbacks)
    return report


class _PendingRun(NamedTuple):
    """A run that waits for its batch."""

    run: Imported
    format: str
    path: str
    missing: MissingPictures | None
    fallbacks: Sequence[Fallback]


class _Import:
    """Gathers runs into batches, and counts."""

    def __init__(self, store: Store, on_run: Callable[[str, Outcome], None] | None, *, link: bool) -> None:
        self.store = store
        self.on_run = on_run
        self.link = link
        self.report = Report()
        self.fallbacks = Fallbacks()
        self.batch: list[_PendingRun] = []
        self.bytes = 0

    def read(self, path: Path, format: str | None, encoding: str = "") -> None:
        """Everything below one path."""
        nothing = True
        for source, run in _read(path, format, self._known, encoding, self.fallbacks):
            nothing = False
            kind = source.format if source is not None else ""
            match run:
                case Imported():
                    self.take(run, kind, source)
                case KnownRun():
                    self.take_known(run, kind, source)
                case FailedRun():
                    self.tell(run.path, "failed", kind, run.error)
        if nothing:
            self.tell(str(path), "failed", "", _nothing(path, format))

    def take(self, run: Imported, format: str, found: RunSource | None) -> None:
        fallbacks = Fallbacks()
        fallbacks.extend(fallbacks_in(run, self.store.links.holds))
        fallbacks.extend(found.fallbacks.taken() if found is not None else ())
        missing = missing_pictures(run) if not self._comes(run.id) else None
        if missing is not None:
            fallbacks.add("picture", missing.first, count=missing.pictures)
            run = as_incomplete(run)
        first = run.events[0]
        source = first.source if isinstance(first, Started) else None
        path = source.path if source is not None and source.path else run.id
        for id in _sources(run):
            tombstone = self.store.erasure.tombstone(id)
            if tombstone is not None and not self.store.runs.holds(run.id):
                self.tell(run.id, "failed", format, f"run {id}: {erased_words(tombstone)}")
                return
        self.batch.append(_PendingRun(run, format, path, missing, list(fallbacks)))
        self.bytes += _weight(run.images)
        # What a run replaces may come next, and must be known as erased by then.
        if run.tombstones or len(self.batch) >= _BATCH_RUNS or self.bytes >= _BATCH_BYTES:
            self.flush()

    def take_known(self, run: KnownRun, format: str, source: RunSource | None) -> None:
        """A source whose steps are here: nothing comes in, but for a further attempt of the very same steps."""
        id = further_attempt(run, self.store.runs)
        if id is None or run.under is None:
            self.tell(run.id, "skipped", format)
        elif self._known(id):
            self.tell(id, "skipped", format)
        else:
            self.take(run.under(id), format, source)

    def _comes(self, id: str) -> bool:
        """Whether a run is here, or in the batch: a source of it that lacks pictures brings nothing then."""
        return any(entry.run.id == id for entry in self.batch) or self.store.runs.holds(id)

    def flush(self) -> None:
        """Puts the batch on the disk, and tells of it; a run that cannot be taken in leaves the others be."""
        if not self.batch:
            return
        batch, self.batch, self.bytes = self.batch, [], 0
        outcomes = self.store.runs.add_each([entry.run for entry in batch], link=self.link)
        for entry, new in zip(batch, outcomes, strict=True):
            if isinstance(new, LabError):
                self.tell(entry.path, "failed", entry.format, f"{entry.path}: {new.sentence}")
                continue
            self.tell(entry.run.id, "imported" if new else "skipped", entry.format)
            self.fallbacks.extend(entry.fallbacks if new or entry.missing is not None else ())
            if entry.missing is not None:
                self.report.incomplete.append((entry.run.id, entry.missing))

    def tell(self, name: str, outcome: Outcome, format: str, error: str = "") -> None:
        """Counts a run, and says so to who listens."""
        if outcome == "failed":
            self.report.failed.append({"path": name, "error": error})
        else:
            setattr(self.report, outcome, getattr(self.report, outcome) + 1)
        if format:
            tally = self.report.formats.setdefault(format, Tally())
            setattr(tally, outcome, getattr(tally, outcome) + 1)
        if self.on_run is not None:
            self.on_run(name, outcome)

    def _known(self, id: str) -> bool:
        if any(entry.run.id == id and is_told_apart(entry.run) for entry in self.batch):
            self.flush()  # a further attempt is told from what is in the file
        return self.store.links.complete(id, link=self.link)


def _read(
    path: Path, format: str | None, is_known: Callable[[str], bool], encoding: str, fallbacks: Fallbacks
) -> Iterator[tuple[RunSource | None, Imported | KnownRun | FailedRun]]:
    """Each run below a path with the source that it is of, None where no format could be told."""
    for source in detect(path, format, encoding=encoding, fallbacks=fallbacks):
        if isinstance(source, FailedRun):
            yield None, source
            continue
        try:
            for run in formats()[source.format].read(source, is_known):
                yield source, run
        except MemoryError:
            yield source, FailedRun(str(source.path), f"{source.path}: is more than this machine's memory can hold.")


def _weight(images: Mapping[str, Blob]) -> int:
    """The bytes of a run's pictures, without reading those that are not in memory."""
    if isinstance(images, dict):
        return sum(len(blob.data) for blob in images.values())
    return images.size if isinstance(images, Pictures | Blobs) else len(images) * _USUAL_PICTURE


def _sources(run: Imported) -> list[str]:
    """The run itself, and the one whose reviewed text it is."""
    first = run.events[0]
    source = first.source if isinstance(first, Started) else None
    return [*whole_and_incomplete(run.id), *([source.path] if source is not None and source.format == REVIEWED else [])]


def _nothing(path: Path, format: str | None) -> str:
    if not path.exists():
        return f"{path}: is not there."
    return f"{path}: holds no runs of a known format ({format or ', '.join(formats())})."
