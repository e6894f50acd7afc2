"""Import of runs from files and folders, with totals for the command line.

A run's id is derived from its name and steps. Repeated attempts with identical steps differ only in their logs' times
or their pictures: the first imported attempt gets the derived id, and for later ones these times, or else the pictures,
are part of the id.

A run whose source has lost pictures is stored under an id of its own. Rows are never changed, so the same run with its
pictures restored is another run, stored beside the incomplete one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from lab.core.errors import LabError
from lab.core.run.run_records import Blob, Imported, imported_id, whole_and_incomplete
from lab.core.run.step import Action
from lab.core.run.trace import AnyEvent, Started, Step
from store.formats import FailedRun, KnownRun, RunSource, detect, formats
from store.formats.fallbacks import Fallback, Fallbacks
from store.formats.jsonl.reader import Blobs
from store.formats.pictures import Pictures
from store.runs.run_export import REVIEWED
from store.runs.run_rows import erasure_reason, referenced_blobs
from store.runs.runs import Runs
from store.store import Store

Outcome = Literal["imported", "skipped", "failed"]

_BATCH_RUNS = 32
_BATCH_BYTES = 16 * 1024**2
"""Runs, and bytes of pictures, per transaction: each commit waits for the disk and blocks other writers."""

_USUAL_PICTURE = 256 * 1024
"""Assumed size of a picture whose size is unknown."""


class Tally(msgspec.Struct):
    """Numbers of one format's runs by outcome."""

    imported: int
    skipped: int
    failed: int


class ImportReport(msgspec.Struct):
    """Result of `import`. `skipped` runs were in the file before. `formats` holds the numbers by format.

    `formats` leaves out files of unknown format. `interrupted` means that a person stopped it early. `linked` counts
    the database's pictures in outside files. `fallbacks` lists what was not imported as it is, and files that should
    hold a run but do not.
    """

    imported: int
    skipped: int
    failed: list[FailedRun]
    formats: dict[str, Tally] = {}
    interrupted: bool = False
    linked: int = 0
    fallbacks: list[Fallback] = []

    def count(self, format: str, outcome: Outcome) -> None:
        """Count a run of a format."""
        tally = self.formats.setdefault(format, Tally(0, 0, 0))
        setattr(tally, outcome, getattr(tally, outcome) + 1)


def import_paths(
    store: Store,
    paths: Iterable[Path],
    format: str | None = None,
    on_run: Callable[[str, Outcome], None] | None = None,
    *,
    on_incomplete: Callable[[str], None] = lambda _: None,
    link: bool = False,
    encoding: str = "",
) -> ImportReport:
    """Import every run below `paths`. An unreadable run is reported as failed and the others still come in.

    `on_run` is called once a run is on the disk, with its id (or the path that failed) and the outcome,
    `on_incomplete` with the id of a run whose source lacks pictures. `link` leaves whole-file screenshots in place.
    `encoding` overrides the detected encoding of texts. Ctrl-C stops the import and keeps what is done. If the
    database cannot be written, its `LabError` ends the import, and the runs reported before remain.
    """
    importing = _Import(store, on_run, on_incomplete, link=link)
    try:
        for path in paths:
            importing.read(path, format, encoding)
        # The last batch is rarely full.
        importing.flush()
    # The unwritten batch is dropped. All earlier runs are committed.
    except KeyboardInterrupt:
        importing.report.interrupted = True
    importing.report.fallbacks = list(importing.fallbacks)
    return importing.report


def failed_import(paths: Iterable[Path], format: str | None = None, *, encoding: str = "") -> ImportReport | None:
    """Return the report of an import that would yield no run, without a database, or None if any run is readable."""
    report = ImportReport(0, 0, [])
    fallbacks = Fallbacks()
    for path in paths:
        count = len(report.failed)
        for source, run in _read_path(path, format, lambda _: False, encoding, fallbacks):
            if not isinstance(run, FailedRun):
                return None
            report.failed.append(run)
            if source is not None:
                report.count(source.format, "failed")
        if len(report.failed) == count:
            report.failed.append(FailedRun(str(path), _no_runs_message(path, format)))
    report.fallbacks = list(fallbacks)
    return report


class _PendingRun(NamedTuple):
    """A run that waits for its batch to be written."""

    run: Imported
    format: str
    path: str
    missing: MissingPictures | None
    fallbacks: Sequence[Fallback]


class _Import:
    """State of an import: the current batch, and totals."""

    def __init__(
        self,
        store: Store,
        on_run: Callable[[str, Outcome], None] | None,
        on_incomplete: Callable[[str], None],
        *,
        link: bool,
    ) -> None:
        self.store = store
        self.on_run = on_run
        self.on_incomplete = on_incomplete
        self.link = link
        self.report = ImportReport(0, 0, [])
        self.fallbacks = Fallbacks()
        self.batch: list[_PendingRun] = []
        self.bytes = 0

    def read(self, path: Path, format: str | None, encoding: str = "") -> None:
        """Import everything below one path."""
        nothing = True
        for source, run in _read_path(path, format, self._is_known, encoding, self.fallbacks):
            nothing = False
            kind = source.format if source is not None else ""
            match run:
                case Imported():
                    self.take(run, kind, source)
                case KnownRun():
                    self.take_known(run, kind, source)
                case FailedRun():
                    self.report_run(run.path, "failed", kind, run.error)
        if nothing:
            self.report_run(str(path), "failed", "", _no_runs_message(path, format))

    def take(self, run: Imported, format: str, found: RunSource | None) -> None:
        fallbacks = Fallbacks()
        fallbacks.extend(find_fallbacks(run, self.store.links.has_picture))
        fallbacks.extend(found.fallbacks.drain() if found is not None else ())
        missing = missing_pictures(run) if not self._is_pending_or_stored(run.id) else None
        if missing is not None:
            fallbacks.add("picture", missing.first, count=missing.pictures)
            run = as_incomplete(run)
        first = run.events[0]
        source = first.source if isinstance(first, Started) else None
        path = source.path if source is not None and source.path else run.id
        # Check again here: a run may have been erased while its source was being read.
        for id in _erasable_ids(run):
            tombstone = self.store.erasure.tombstone(id)
            if tombstone is not None and not self.store.runs.has_run(run.id):
                self.report_run(run.id, "failed", format, f"run {id}: {erasure_reason(tombstone)}")
                return
        self.batch.append(_PendingRun(run, format, path, missing, list(fallbacks)))
        self.bytes += _pictures_size(run.images)
        # The next run may be one that this run replaced, whose tombstone must be in the file by then.
        if run.tombstones or len(self.batch) >= _BATCH_RUNS or self.bytes >= _BATCH_BYTES:
            self.flush()

    def take_known(self, run: KnownRun, format: str, source: RunSource | None) -> None:
        """Count a run that is already stored. Import it only as a further attempt with identical steps."""
        id = further_attempt_id(run, self.store.runs)
        if id is None or run.read_as is None:
            self.report_run(run.id, "skipped", format)
        elif self._is_known(id):
            self.report_run(id, "skipped", format)
        else:
            self.take(run.read_as(id), format, source)

    def _is_pending_or_stored(self, id: str) -> bool:
        """Return True if a run is stored or in the batch, so that an incomplete copy of it adds nothing."""
        return any(entry.run.id == id for entry in self.batch) or self.store.runs.has_run(id)

    def flush(self) -> None:
        """Write the batch and report each run. A run that fails does not affect the others."""
        if not self.batch:
            return
        batch, self.batch, self.bytes = self.batch, [], 0
        outcomes = self.store.runs.add_independently([entry.run for entry in batch], link=self.link)
        for entry, new in zip(batch, outcomes, strict=True):
            if isinstance(new, LabError):
                self.report_run(entry.path, "failed", entry.format, f"{entry.path}: {new.sentence}")
                continue
            self.report_run(entry.run.id, "imported" if new else "skipped", entry.format)
            self.fallbacks.extend(entry.fallbacks if new or entry.missing is not None else ())
            if entry.missing is not None:
                self.on_incomplete(entry.run.id)

    def report_run(self, name: str, outcome: Outcome, format: str, error: str = "") -> None:
        """Count a run and report it to `on_run`."""
        if outcome == "failed":
            self.report.failed.append(FailedRun(name, error))
        else:
            setattr(self.report, outcome, getattr(self.report, outcome) + 1)
        if format:
            self.report.count(format, outcome)
        if self.on_run is not None:
            self.on_run(name, outcome)

    def _is_known(self, id: str) -> bool:
        if any(entry.run.id == id and is_distinguishable(entry.run) for entry in self.batch):
            self.flush()  # a further attempt is compared with the stored run
        return self.store.links.complete(id, link=self.link)


def _read_path(
    path: Path, format: str | None, is_known: Callable[[str], bool], encoding: str, fallbacks: Fallbacks
) -> Iterator[tuple[RunSource | None, Imported | KnownRun | FailedRun]]:
    """Yield each run below a path with its source. The source is None if no format was recognized."""
    for source in detect(path, format, encoding=encoding, fallbacks=fallbacks):
        if isinstance(source, FailedRun):
            yield None, source
            continue
        try:
            for run in formats()[source.format].read(source, is_known):
                yield source, run
        # One oversized file must not end the import of the others.
        except MemoryError:
            yield source, FailedRun(str(source.path), f"{source.path}: is more than this machine's memory can hold.")


def _pictures_size(images: Mapping[str, Blob]) -> int:
    """Return the bytes of a run's pictures without loading those on the disk."""
    if isinstance(images, dict):
        return sum(len(blob.data) for blob in images.values())
    return images.size if isinstance(images, Pictures | Blobs) else len(images) * _USUAL_PICTURE


def _erasable_ids(run: Imported) -> list[str]:
    """Return the ids that this run may be erased under: its own, whole or incomplete, and its reviewed original."""
    first = run.events[0]
    source = first.source if isinstance(first, Started) else None
    return [*whole_and_incomplete(run.id), *([source.path] if source is not None and source.format == REVIEWED else [])]


def _no_runs_message(path: Path, format: str | None) -> str:
    if not path.exists():
        return f"{path}: is not there."
    return f"{path}: holds no runs of a known format ({format or ', '.join(formats())})."


_KIND = "attempt"
_BY_PICTURES = ("knowu", "mobile_use")
"""Formats whose runs are identified by task and steps, without times."""

Marks = tuple[str | None, ...]
"""Marks that distinguish attempts: per step, the time in its log or the sha256 of its picture."""


def is_distinguishable(run: Imported) -> bool:
    """Return True if the run has times or pictures that can distinguish another attempt with identical steps."""
    first = run.events[0]
    by_pictures = isinstance(first, Started) and first.source is not None and first.source.format in _BY_PICTURES
    return any(_log_times(run.events)) or (by_pictures and any(_picture_hashes(run.events)))


def further_attempt_id(source: KnownRun, runs: Runs) -> str | None:
    """Return the id of a source as a further attempt, or None if it is the stored run or cannot be distinguished."""
    timed = any(source.times)
    if not (timed or source.pictures) or not runs.has_run(source.id):
        return None
    events = list(runs.events(source.id))
    here = _log_times(events)
    if timed != any(here):
        return None
    if timed:
        marks, differs = source.times, source.times != here
    else:
        marks = source.pictures() if source.pictures else ()
        pairs = zip(marks, _picture_hashes(events), strict=False)
        differs = any(mine and other and mine != other for mine, other in pairs)
    return imported_id(_KIND, "\0".join([source.id, *(mark or "" for mark in marks)]).encode()) if differs else None


def _log_times(events: Iterable[AnyEvent]) -> Marks:
    return tuple(event.extra.get("log_time") for event in events if isinstance(event, Step))


def _picture_hashes(events: Iterable[AnyEvent]) -> Marks:
    return tuple(event.before.image for event in events if isinstance(event, Step))


_THINKING = frozenset({"knowu", "androidworld", "mobile_use", "memgui", "aitz", "appagent", "androidlab", "droidrun"})
"""Formats whose steps have a field for the agent's thought."""
_TOUCHES = frozenset({"click", "double_tap", "long_press", "drag"})
_OFF_SCREEN = frozenset(
    {
        "unknown", "error_env", "error", "mcp", "grid", "remember", "memory_add", "memory_update", "memory_delete",
        "take_screenshot", "screenshot", "zoom", "get_state", "get_clickables", "list_packages", "get_memory",
        "cursor_position", "call_api", "snapshot", "no_action", "script", "key", "hold_key", "mouse_move",
        "left_mouse_down", "left_mouse_up", "middle_click", "right_click", "back_click", "forward_click",
    }
)  # fmt: skip
"""Action names of sources that do nothing on the phone's screen, so that `other` is not a fallback."""
_TOOLS = frozenset({"tau2", "inspect"})
"""Formats whose agents call tools of any name."""


def find_fallbacks(run: Imported, has_blob: Callable[[str], bool]) -> Fallbacks:
    """Return what a run's reader could not use, by the same rules for every format.

    `has_blob` returns True if a picture's bytes are already in the file.
    """
    found = Fallbacks()
    started = run.events[0]
    if not isinstance(started, Started):
        return found
    if isinstance(run.images, Blobs):  # hitlab's own format loses nothing else
        _add_missing_blobs(found, run, has_blob)
        return found
    if started.source is None:
        return found
    format, path = started.source.format, started.source.path
    steps = [event for event in run.events if isinstance(event, Step)]
    if not started.task.instruction.strip():
        found.add("goal", f"{started.task.id} in {path}")
    if steps and format in _THINKING and started.agent.kind == "model" and not any(s.proposed.thought for s in steps):
        found.add("thought", f"{started.task.id} in {path}")
    for step in steps:
        place = f"step {step.index + 1} of {path}"
        if isinstance(why := step.extra.get("screenshot"), str) and not isinstance(run.images, Pictures):
            found.add("picture", place, why)  # `missing_pictures` counts missing files
        _add_step(found, step, place, format)
    return found


def _add_missing_blobs(found: Fallbacks, run: Imported, has_blob: Callable[[str], bool]) -> None:
    """Count pictures and phone states that events refer to but no `blob` line holds."""
    counted = set(run.images)
    for event in run.events:
        for sha256 in sorted(referenced_blobs(event) - counted):
            counted.add(sha256)
            if not has_blob(sha256):
                found.add("picture", f"event {event.seq} of run {run.id}", f"no blob line for {sha256[:12]}")


def _add_step(found: Fallbacks, step: Step, place: str, format: str) -> None:
    action = step.proposed.action
    if why := step.extra.get("tree") or step.extra.get("ui_state"):
        found.add("tree", place, str(why))
    if (time := step.extra.get("timestamp")) and not step.at:
        found.add("time", place, str(time))
    for field, value in step.extra.get("missing") or ():
        found.add("value", f"{place} field {field}", str(value))
    if action.kind == "other" and format not in _TOOLS and source_action_name(action).lower() not in _OFF_SCREEN:
        found.add("action", place, _action_words(action))
    if action.kind in _TOUCHES and action.at is None:
        found.add("place", place, _action_words(action))


def source_action_name(action: Action) -> str:
    """Return the source's name of an action, guessed from its raw form, empty if none."""
    raw: Any = action.raw
    for _ in range(3):
        if isinstance(raw, dict):
            names = ("action_type", "action", "name", "operation", "function", "type")
            raw = next((raw[key] for key in names if raw.get(key)), "")
        elif isinstance(raw, list):
            raw = raw[0] if raw else ""
    text = raw if isinstance(raw, str) else action.text or ""
    return text.partition("(")[0].strip()


def _action_words(action: Action) -> str:
    """Return an action's original words, shortened for a sentence."""
    words = action.raw if isinstance(action.raw, str) else source_action_name(action)
    return " ".join(words.split())[:60]


_KEYED = "fingertip"
"""Format whose actions name pictures, even if the files do not exist."""


class MissingPictures(NamedTuple):
    """Number of missing or truncated pictures of a run, and the first by its step, with the reason if known."""

    pictures: int
    first: str


def missing_pictures(run: Imported) -> MissingPictures | None:
    """Return the missing pictures of a run that has a picture file per step, or None if complete or another kind."""
    places = list(_missing_places(run))
    return MissingPictures(len(places), places[0]) if places else None


def _missing_places(run: Imported) -> Iterator[str]:
    first = run.events[0]
    if not isinstance(run.images, Pictures) or not isinstance(first, Started) or first.source is None:
        return
    # Such a run may never have had pictures, so nothing is missing.
    if first.source.format == _KEYED and not run.images.from_files:
        return
    for event in run.events:
        if not isinstance(event, Step):
            continue
        image = event.before.image
        why = event.extra.get("screenshot") if image is None else run.images.truncated.get(image)
        if why or (image is None and run.images.from_files):
            yield f"step {event.index + 1} of {first.source.path}" + (f" ({why})" if isinstance(why, str) else "")


def as_incomplete(run: Imported) -> Imported:
    """Return the run under the id for incomplete runs."""
    first = run.events[0]
    assert isinstance(first, Started)
    return run._replace(events=[replace(first, trace=whole_and_incomplete(run.id)[1]), *run.events[1:]])
