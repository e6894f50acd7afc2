"""hitlab's own complete format: a folder per run with `run.jsonl` and `blobs/<sha256>.<png|jpg|json>`.

Each line of `run.jsonl` is a JSON object with one key for its kind: `run` (the header, first), `event`, `verdict`,
`review`, `clearance`, `tombstone`, `blob` (a file in the folder), and last `end` with a count, by which a truncated
file is recognized. `jsonl.writer` writes it. docs/guides/run-file.md describes it for other programs.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from lab.core.codec import decode
from lab.core.errors import LabError
from lab.core.run.input_limits import PICTURE_BYTES
from lab.core.run.run_records import Blob, Clearance, Imported, Tombstone, Verdict
from lab.core.run.trace import VERSION as EVENT_VERSION
from lab.core.run.trace import AnyEvent, Started, Step
from lab.core.study.proofreading import VERSION as REVIEW_VERSION
from lab.core.study.proofreading import Review
from lab.core.values.json_size import check_depth
from store.formats import CandidateFile, FailedRun, Format, KnownRun, RunSource
from store.formats.failures import with_failures
from store.formats.files import open_within, read_within

NAME = "jsonl"
FORMAT = "hitlab run"
VERSION = 1
"""Newest version of the layout that this program knows."""
FILE = "run.jsonl"
BLOBS = "blobs"
ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "application/json": "json"}
"""MIME types of a run's blobs, and the file name extensions for them."""

BLANKS = 4096
"""Bytes read after the last line, which must be blank."""
_HEADER = f'{{"run": {{"format": "{FORMAT}", "v": {VERSION}, "trace": "ID"}}}} comes first'
_GUIDE = "`hitlab settings schema run-file` describes its lines."
_CUT = "Copy or export it again."
MOST_LINE = 64 * 1024**2
MOST_LINES = 4_000_000
ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,63}")
"""Pattern of run ids in this format, which are folder names."""
_UNFINISHED = re.compile(r"\..+\.part-\d+")
"""Name of a folder that an export is writing or left unfinished."""
_MARK = re.compile(rb'"format":\s*"hitlab run"|\A\{"event":\{"event":')
SHA256 = re.compile(r"[0-9a-f]{64}")


class HeaderLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The first line: run id and version of the layout. `reviewed` is the run whose reviewed text this is."""

    format: str
    v: int
    trace: str
    reviewed: str | None = None


class BlobLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file in `blobs`."""

    sha256: str
    mime: str
    size: int


class EndLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last line, with the number of lines before it."""

    lines: int


class FileLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One line, not decoded further. Exactly one field is set, and `original` only beside a reviewed event."""

    run: msgspec.Raw = msgspec.Raw()
    event: msgspec.Raw = msgspec.Raw()
    original: msgspec.Raw = msgspec.Raw()
    verdict: msgspec.Raw = msgspec.Raw()
    review: msgspec.Raw = msgspec.Raw()
    clearance: msgspec.Raw = msgspec.Raw()
    tombstone: msgspec.Raw = msgspec.Raw()
    blob: msgspec.Raw = msgspec.Raw()
    end: msgspec.Raw = msgspec.Raw()


class RunFileLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of a run.jsonl: an object with one of these keys. `original` occurs only beside `event`."""

    run: HeaderLine | None = None
    event: AnyEvent | None = None
    original: dict[str, Any] | None = None
    verdict: Verdict | None = None
    review: Review | None = None
    clearance: Clearance | None = None
    tombstone: Tombstone | None = None
    blob: BlobLine | None = None
    end: EndLine | None = None


_KINDS: dict[str, tuple[Any, int | None]] = {
    "run": (HeaderLine, VERSION),
    "event": (AnyEvent, EVENT_VERSION),
    "verdict": (Verdict, None),
    "review": (Review, REVIEW_VERSION),
    "clearance": (Clearance, 1),
    "tombstone": (Tombstone, 1),
    "blob": (BlobLine, None),
    "end": (EndLine, None),
}


@with_failures
def read(source: RunSource, is_known: Callable[[str], bool]) -> Iterator[Imported | KnownRun | FailedRun]:
    """Yield the run of a folder, after every byte of it is checked."""
    yield _read_run(source, is_known)


def _read_run(source: RunSource, is_known: Callable[[str], bool]) -> Imported | KnownRun:
    path = source.path / FILE
    lines = _read_lines(source.root, path)
    header = next(lines, (1, "", None))[2]
    if not isinstance(header, HeaderLine) or header.format != FORMAT:
        raise LabError(f"{path}, line 1", f"is not the header of a run: {_HEADER}", _GUIDE)
    if not ID.fullmatch(header.trace):
        raise LabError(f"{path}, line 1", f"field run.trace: {header.trace!r} is no run's id")
    values_by_kind: dict[str, list[Any]] = {kind: [] for kind in _KINDS}
    steps = 0
    for number, kind, value in lines:
        values_by_kind[kind].append(_check_value(path, number, kind, value, header.trace, len(values_by_kind["event"])))
        if isinstance(value, Step):
            if value.index != steps:
                raise LabError(f"{path}, line {number}", f"step {value.index} stands where step {steps} should")
            steps += 1
    if not values_by_kind["event"]:
        raise LabError(str(path), "holds no events")
    # Only now: a copy that was cut short is not the stored run. Pictures of a stored run are not read again.
    if is_known(header.trace):
        return KnownRun(header.trace, str(source.path))
    blobs = Blobs(source, values_by_kind["blob"])
    blobs.check()
    return Imported(
        values_by_kind["event"],
        blobs,
        values_by_kind["verdict"],
        values_by_kind["review"],
        values_by_kind["clearance"],
        values_by_kind["tombstone"],
    )


def _read_lines(root: Path, path: Path) -> Iterator[tuple[int, str, Any]]:
    """Yield each line's number, kind and value. Check the `end` line without yielding it."""
    with open_within(root, path) as file:
        for number in range(1, MOST_LINES):
            # One byte more shows that the line is too long.
            line = file.readline(MOST_LINE + 1)
            where = f"{path}, line {number}"
            if number == 1 and not line:
                raise LabError(str(path), "is empty: it holds no run")
            if not line:
                lines = f'{{"end": {{"lines": {number - 1}}}}}'
                raise LabError(where, f"is not there: the file is cut short. A whole one ends with {lines}", _CUT)
            if len(line) > MOST_LINE:
                raise LabError(where, f"is longer than the {MOST_LINE:,} bytes that are read")
            try:
                kind, value = _parse_line(line, where)
            except LabError as error:
                if line.endswith(b"\n"):
                    raise
                raise LabError(where, "is cut short: it ends within a line", _CUT) from error
            if kind != "end":
                yield number, kind, value
                continue
            if value.lines != number - 1:
                raise LabError(where, f"field end.lines: is {value.lines}, and {number - 1} lines come before it")
            if file.read(BLANKS).strip():
                raise LabError(f"{path}, line {number + 1}", "stands after the line `end`, which comes last")
            return
    raise LabError(str(path), f"holds more than the {MOST_LINES:,} lines that are read")


def _parse_line(line: bytes, where: str) -> tuple[str, Any]:
    check_depth(line, where)
    file_line: FileLine = decode(line, FileLine, where)
    kinds = [kind for kind in _KINDS if bytes(getattr(file_line, kind))]
    if len(kinds) != 1 or (bytes(file_line.original) and kinds != ["event"]):
        raise LabError(where, f"holds {', '.join(kinds) or 'nothing'}; it should hold one of {', '.join(_KINDS)}")
    kind, newest = _KINDS[kinds[0]]
    return kinds[0], decode(bytes(getattr(file_line, kinds[0])), kind, f"{where}, {kinds[0]}", newest=newest)


def _check_value(path: Path, number: int, kind: str, value: Any, trace: str, events: int) -> Any:
    """Return a line's value. Raise `LabError` if it belongs to another run or is out of place."""
    where = f"{path}, line {number}"
    if kind == "run":
        raise LabError(where, "begins another run; a folder holds one")
    if kind == "event":
        if value.seq < 0:
            raise LabError(where, f"field event.seq: is not there; events count from 0, and this is {events}", _GUIDE)
        if value.seq != events:
            raise LabError(where, f"event {value.seq} stands where event {events} should")
        if isinstance(value, Started) != (events == 0):
            raise LabError(where, f"field event.event: `started` is the first event and no other; this is {events}")
        if isinstance(value, Started) and value.trace != trace:
            raise LabError(where, f"is of run {value.trace}, not of {trace}")
    if kind in ("review", "clearance") and value.trace != trace:
        raise LabError(where, f"is about run {value.trace}, not about {trace}")
    if kind == "tombstone" and value.replaced_by != trace:
        raise LabError(where, "is of a run that this one does not replace")
    if kind == "blob" and not (SHA256.fullmatch(value.sha256) and value.mime in ENDINGS):
        raise LabError(where, "names no picture or phone state by its sha256")
    return value


class Blobs(Mapping[str, Blob]):
    """The files in `blobs`, read on access and never cached, so that a run's pictures need not fit in memory."""

    def __init__(self, source: RunSource, lines: list[BlobLine]) -> None:
        self._found = source
        self._read_lines = {line.sha256: line for line in lines}

    @property
    def size(self) -> int:
        """Total bytes of the files, as stated in their lines."""
        return sum(line.size for line in self._read_lines.values())

    def check(self) -> None:
        """Read each file once. Raise `LabError` for one that is missing or does not match its hash."""
        for sha256 in self._read_lines:
            self[sha256]

    def __getitem__(self, sha256: str) -> Blob:
        line = self._read_lines[sha256]
        path = self._found.path / BLOBS / f"{sha256}.{ENDINGS[line.mime]}"
        data = read_within(self._found.root, path, most=PICTURE_BYTES)
        if len(data) != line.size or hashlib.sha256(data).hexdigest() != sha256:
            raise LabError(str(path), "is damaged: its bytes are not those that its name promises")
        return Blob(data, line.mime)

    def __iter__(self) -> Iterator[str]:
        return iter(self._read_lines)

    def __len__(self) -> int:
        return len(self._read_lines)


def _is_run_file(candidate: CandidateFile) -> bool:
    """Return True if a file begins like a run, or like a damaged one. Other programs use the same file name."""
    try:
        return not candidate.opening or _MARK.search(candidate.opening) is not None
    except LabError:
        return True


JSONL = Format(
    name=NAME,
    title="hitlab's own",
    is_run_folder=lambda folder, names, root: FILE in names and _is_run_file(CandidateFile(folder / FILE, root)),
    is_file=lambda candidate: candidate.name == FILE and _is_run_file(candidate),
    skips_folder=lambda name: _UNFINISHED.fullmatch(name) is not None,
    read=read,
)
