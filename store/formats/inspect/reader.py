"""Inspect's logs: `.eval` (a zip with an entry for each sample) and `.json`. `run` interprets a sample.

Source: `src/inspect_ai/log/_recorders/eval.py` and `json.py`. An interrupted log has its header in its journal. The
first versions of `.eval` called it `start.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lab.core.codec import StorableValue, escape_surrogates, read_json
from lab.core.errors import LabError
from lab.core.run.run_records import Imported
from store.formats import CandidateFile, FailedRun, Format, KnownRun, RunSource
from store.formats.failures import with_failures
from store.formats.inspect.archive import Entries
from store.formats.inspect.run import NAME, imported
from store.formats.json_parts import split_object
from store.formats.pictures import Pictures

_HEADERS = ("header.json", "_journal/start.json", "start.json")
_SAMPLES = "samples/"
_ENTRIES = (b"_journal/", b"header.json", b"start.json", b"samples/")
"""Names of entries, at least one of which is among the first of a log."""


@with_failures
def read(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    """Yield every sample of a log."""
    path = source.path
    if path.suffix == ".eval":
        yield from _read_zip(source, is_known)
        return
    log = split_object(source.text(path), "samples", str(path))
    for i, sample in enumerate(log.items):
        yield _read_sample(sample, log.rest, source, f"{path}#{i}", is_known)


def _read_zip(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    with Entries(source.root, source.path) as entries:
        header = _read_header(entries, source.path)
        for name in sorted(entries.names):
            if not (name.startswith(_SAMPLES) and name.endswith(".json")):
                continue
            what = f"{source.path}#{name}"
            try:
                sample: StorableValue | LabError = read_json(entries.read(name), what)
            except LabError as error:
                sample = error
            yield _read_sample(sample, header, source, what, is_known)


def _read_header(entries: Entries, path: Path) -> dict[str, Any]:
    for name in _HEADERS:
        if name in entries.names:
            value = read_json(entries.read(name), f"{path}#{name}").value
            if isinstance(value, dict):
                return value
    raise LabError(str(path), "holds no header.json; it is no log of Inspect")


def _read_sample(
    sample: StorableValue | LabError,
    header: dict[str, Any],
    source: RunSource,
    what: str,
    is_known: Callable[[str], bool],
) -> Imported | KnownRun | FailedRun:
    try:
        if isinstance(sample, LabError):
            raise sample
        if not isinstance(sample.value, dict):
            raise LabError(what, "is no sample")
        path = escape_surrogates(str(source.path))
        return imported(sample.value, sample.notes, header, path, Pictures(source), is_known)
    except LabError as error:
        return FailedRun(what, error.sentence)


def _is_log(candidate: CandidateFile) -> bool:
    if candidate.name.endswith(".eval"):
        return candidate.opening.startswith(b"PK") and any(name in candidate.opening for name in _ENTRIES)
    if not candidate.is_json:
        return False
    if (
        b'"eval"' not in candidate.opening
        or b'"run_id"' not in candidate.opening
        or not isinstance(candidate.value, dict)
    ):
        return False
    evaluation = candidate.value.get("eval")
    return "version" in candidate.value and isinstance(evaluation, dict) and "run_id" in evaluation


INSPECT = Format(
    name=NAME, title="Inspect", is_run_folder=lambda folder, names, root: False, is_file=_is_log, read=read
)
