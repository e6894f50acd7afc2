"""Export of runs to a folder that appears whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.run.run_records import Blob, Clearance, Tombstone, Verdict, imported_id
from lab.core.run.trace import AnyEvent, Source, Started
from lab.core.study.proofread_text import ReviewedEvent, settled_events
from lab.core.study.proofreading import READY, Proof, ProofreadingState, Review, proofreading_state
from lab.core.text.suggestion import suggestion
from store.file.leftovers import locked_part
from store.formats import writers
from store.store import Store

REVIEWED = "hitlab-reviewed"
"""Source format of a run that is the reviewed text of another."""


def export_runs(
    store: Store,
    ids: Sequence[str],
    out: Path,
    format: str = "jsonl",
    *,
    reviewed: bool = False,
    on_run: Callable[[str], None] = lambda id: None,
) -> int:
    """Write runs to the new folder `out`, one folder each. Return the number of bytes.

    `reviewed` exports each demonstration's reviewed text as a run with its own id. Raise `LabError` if any run cannot
    be written. Nothing is written then.
    """
    writer = writers().get(format)
    if writer is None:
        names = writers()
        problem = f"is not written; written are {', '.join(names)}{suggestion(format, names) or '.'}"
        raise LabError(f"format {format}", problem, code=2)
    if out.exists() or out.is_symlink():
        raise LabError(str(out), "is there already; nothing was written.", "Name a new folder.")
    runs = [ReviewedRun(store, id) if reviewed else ExportedRun(store, id) for id in dict.fromkeys(ids)]
    part = out.with_name(f".{out.name}.part-{os.getpid()}")
    try:
        with locked_part(part, folder=True):
            writer.write(runs, part, on_run)
            size = sum(path.stat().st_size for path in part.rglob("*") if path.is_file())
            # The folder appears whole or not at all.
            part.rename(out)
    except OSError as error:
        raise LabError(str(out), f"cannot be written ({error.strerror}); nothing was.") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return size


class ExportedRun:
    """A run as stored in the file."""

    reviewed: str | None = None

    def __init__(self, store: Store, id: str) -> None:
        from store.formats.jsonl.reader import ID

        self.store = store
        self.source = id
        self.id = id
        if not ID.fullmatch(id):
            raise LabError(f"run {id!r}", "has an id that no folder can be named by.")
        store.runs.summary(id)

    def events(self) -> Iterator[AnyEvent]:
        return self.store.runs.events(self.source)

    def original(self, seq: int) -> dict[str, Any]:
        return {}

    def blobs(self) -> Iterator[tuple[str, Blob]]:
        for sha256 in self.store.runs.blob_ids(self.source):
            blob = self.store.runs.blob(sha256)
            if blob is not None:
                yield sha256, blob

    @property
    def verdicts(self) -> Sequence[Verdict]:
        return self.store.runs.verdicts(self.source)

    @property
    def reviews(self) -> Sequence[Review]:
        return self.store.reviews.of_run(self.source)

    @property
    def clearances(self) -> Sequence[Clearance]:
        return self.store.reviews.clearances(self.source)

    @property
    def tombstones(self) -> Sequence[Tombstone]:
        return self.store.erasure.replaced_by(self.source)


class ReviewedRun(ExportedRun):
    """A demonstration's reviewed text as a run of its own, with an id derived from the reviewed values."""

    def __init__(self, store: Store, id: str) -> None:
        super().__init__(store, id)
        self.demo: Proof = store.reviews.proof_of(id)
        self.standing: ProofreadingState = proofreading_state(self.demo, store.reviews.of_run(id))
        if self.standing.state not in READY:
            raise LabError(
                f"run {id}",
                f"is not reviewed to an end: {self.standing.state}.",
                "`hitlab runs review --list` says what is; leave out --reviewed for the runs as they were recorded.",
            )
        settled_values = [(place.step, place.field, value) for place, value in self.standing.values.items()]
        self.reviewed = id
        self.id = imported_id(REVIEWED, encode((id, settled_values)))
        self._originals: dict[int, dict[str, Any]] = {}

    def events(self) -> Iterator[AnyEvent]:
        for reviewed_event in settled_events(super().events(), self.demo, self.standing):
            yield self._with_own_id(reviewed_event)

    def _with_own_id(self, reviewed_event: ReviewedEvent) -> AnyEvent:
        event = reviewed_event.event
        if reviewed_event.original:
            self._originals[event.seq] = reviewed_event.original
        if not isinstance(event, Started):
            return event
        return msgspec.structs.replace(event, trace=self.id, source=Source(REVIEWED, self.source))

    def original(self, seq: int) -> dict[str, Any]:
        # Writers ask once for each event, so the values need not stay in memory.
        return self._originals.pop(seq, {})

    @property
    def reviews(self) -> Sequence[Review]:
        return ()

    @property
    def clearances(self) -> Sequence[Clearance]:
        return ()

    @property
    def tombstones(self) -> Sequence[Tombstone]:
        return ()
