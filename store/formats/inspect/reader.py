"""Inspect's logs: `.eval` (a zip with an entry for each sample) and `.json`; what a sample means is in `run`.

Source: `src/inspect_ai/log/_recorders/eval.py` and `json.py`. The header of a log that was cut off while it was made
stands in its journal; in the first versions of `.eval` it was called `start.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lab.errors import LabError
from lab.records import Imported
from lab.wire import Read, escape_surrogates, read_json
from store.formats import Failed, Format, Found, Known, Seen
from store.formats.failures import failures_told
from store.formats.files import check_within, unpacked
from store.formats.inspect.archive import Entries
from store.formats.inspect.run import NAME, imported
from store.formats.pictures import Pictures
from store.formats.pieces import pieces

_HEADERS = ("header.json", "_journal/start.json", "start.json")
_SAMPLES = "samples/"


@failures_told
def read(found: Found, known: Callable[[str], bool]) -> Iterator[Imported | Known | Failed]:
    """Every sample of a log."""
    path = found.path
    check_within(found.root, path)
    if path.suffix == ".eval":
        yield from _zipped(found, known)
        return
    held = pieces(unpacked(path), "samples", str(path))
    for i, sample in enumerate(held.items):
        yield _one(sample, held.rest, found, f"{path}#{i}", known)


def _zipped(found: Found, known: Callable[[str], bool]) -> Iterator[Imported | Known | Failed]:
    with Entries(found.path) as entries:
        header = _header(entries, found.path)
        for name in sorted(entries.names):
            if not (name.startswith(_SAMPLES) and name.endswith(".json")):
                continue
            what = f"{found.path}#{name}"
            try:
                sample: Read | LabError = read_json(entries.read(name), what)
            except LabError as error:
                sample = error
            yield _one(sample, header, found, what, known)


def _header(entries: Entries, path: Path) -> dict[str, Any]:
    for name in _HEADERS:
        if name in entries.names:
            value = read_json(entries.read(name), f"{path}#{name}").value
            if isinstance(value, dict):
                return value
    raise LabError(str(path), "holds no header.json; it is no log of Inspect")


def _one(
    sample: Read | LabError, header: dict[str, Any], found: Found, what: str, known: Callable[[str], bool]
) -> Imported | Known | Failed:
    try:
        if isinstance(sample, LabError):
            raise sample
        if not isinstance(sample.value, dict):
            raise LabError(what, "is no sample")
        path = escape_surrogates(str(found.path))
        return imported(sample.value, sample.notes, header, path, Pictures(found.root), known)
    except LabError as error:
        return Failed(what, error.sentence)


def _is_log(seen: Seen) -> bool:
    if seen.name.endswith(".eval"):
        return seen.opening.startswith(b"PK")
    if not seen.is_json:
        return False
    opening = seen.opening
    return opening.startswith(b"{") and b'"eval"' in opening and b'"run_id"' in opening and b'"version"' in opening


INSPECT = Format(name=NAME, title="Inspect", is_run_folder=lambda folder, names: False, is_file=_is_log, read=read)
