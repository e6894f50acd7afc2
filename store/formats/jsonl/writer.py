"""Writer for hitlab's own complete format, which `jsonl.reader` reads back unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any

from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.values.made_files import make_folder
from store.formats import StoredRun, Writer
from store.formats.jsonl.reader import BLOBS, ENDINGS, FILE, FORMAT, NAME, VERSION, BlobLine, EndLine, HeaderLine
from store.formats.new_files import new_file, write_new_file


class _Lines:
    """Writes lines and counts them."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.count = 0

    def add_line(self, **kinds: Any) -> None:
        self._file.write(encode(kinds) + b"\n")
        self.count += 1


def write(runs: Iterable[StoredRun], out: Path, on_run: Callable[[str], None]) -> None:
    """Write each run into a folder named by its id, one event and picture at a time.

    If ids differ only in case, the later folder's name also has a number, because some file systems ignore case.
    """
    used_ids: set[str] = set()
    for i, run in enumerate(runs):
        folder = out / (f"{run.id}.{i + 1}" if run.id.lower() in used_ids else run.id)
        used_ids.add(run.id.lower())
        make_folder(folder, there=False)
        _write_run(run, folder)
        on_run(run.id)


def _write_run(run: StoredRun, folder: Path) -> None:
    with new_file(folder / FILE) as file:
        lines = _Lines(file)
        lines.add_line(run=HeaderLine(FORMAT, VERSION, run.id, run.reviewed))
        for event in run.events():
            original = run.original(event.seq)
            lines.add_line(event=event, **({"original": original} if original else {}))
        for verdict in run.verdicts:
            lines.add_line(verdict=verdict)
        for review in run.reviews:
            lines.add_line(review=review)
        for clearance in run.clearances:
            lines.add_line(clearance=clearance)
        for stone in run.tombstones:
            lines.add_line(tombstone=stone)
        _write_blobs(run, folder / BLOBS, lines)
        lines.add_line(end=EndLine(lines.count))


def _write_blobs(run: StoredRun, folder: Path, lines: _Lines) -> None:
    for sha256, blob in run.blobs():
        if blob.mime not in ENDINGS:
            raise LabError(f"run {run.id}", f"holds bytes of a kind that this format has no name for ({blob.mime}).")
        make_folder(folder)
        write_new_file(folder / f"{sha256}.{ENDINGS[blob.mime]}", blob.data)
        lines.add_line(blob=BlobLine(sha256, blob.mime, len(blob.data)))


WRITER = Writer(NAME, "hitlab's own, complete", write)
