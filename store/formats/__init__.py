"""Trace formats of other projects: detect runs in files and folders, and read each as `Imported`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from lab.core.codec import read_json
from lab.core.errors import LabError
from lab.core.run.input_limits import JSON_BYTES
from lab.core.run.run_records import Blob, Clearance, Imported, Tombstone, Verdict
from lab.core.run.trace import AnyEvent
from lab.core.study.proofreading import Review
from lab.core.text.suggestion import suggestion
from lab.core.text.text_encoding import decode_text, head_as_utf8, known_encoding
from store.formats.fallbacks import Fallbacks
from store.formats.files import BLANK, SNIFFED, packed_kind, read_beginning, read_unpacked
from store.formats.json_parts import first_value


@dataclass(frozen=True)
class RunSource:
    """A file or folder with runs of a format. Links inside are followed only within `root`.

    Readers read every text through `text` and count in `fallbacks` what they cannot use. `encoding` is the encoding
    that the user named for all texts, empty to detect it for each file.
    """

    format: str
    path: Path
    root: Path
    encoding: str = ""
    fallbacks: Fallbacks = field(default_factory=Fallbacks, compare=False)

    def text(self, path: Path, *, most: int = JSON_BYTES) -> bytes:
        """Return a text file as UTF-8, unpacked if its name ends in `.gz`.

        Valid UTF-8 is unchanged. Raise `LabError` if the file cannot be read or its encoding is uncertain.
        """
        return self.as_utf8(read_unpacked(self.root, path, most=most), path)

    def as_utf8(self, data: bytes, place: object) -> bytes:
        """Return a text's bytes as UTF-8. Count other encodings and damaged characters as fallbacks."""
        # ASCII is valid UTF-8. With NUL bytes it may be UTF-16.
        if not self.encoding and data.isascii() and b"\0" not in data:
            return data
        decoded = decode_text(data, str(place), self.encoding, hint=NAME_ENCODING)
        if decoded.encoding:
            self.fallbacks.add("encoding", place, decoded.encoding)
        if decoded.damaged:
            self.fallbacks.add("damaged text", place, count=decoded.damaged)
        return decoded.text.encode("utf-8", "surrogatepass") if decoded.encoding or decoded.damaged else data

    def side_text(self, path: Path, *, most: int = JSON_BYTES) -> bytes | None:
        """Return a file beside a run like `text`, or None if it is missing, or unreadable, which is counted."""
        if not path.is_file():
            return None
        try:
            return self.text(path, most=most)
        except LabError as error:
            self.fallbacks.add("side file", path, error.body)
            return None

    def side_json(self, path: Path, *, most: int = JSON_BYTES) -> Any:
        """Return the JSON of a file beside a run, or None if it is missing, or unreadable, which is counted."""
        data = self.side_text(path, most=most)
        try:
            return None if data is None else read_json(data, str(path)).value
        except LabError as error:
            self.fallbacks.add("side file", path, error.body)
            return None


class FailedRun(msgspec.Struct, frozen=True):
    """A source, or a part of one, that could not be read, with the reason as a sentence."""

    path: str
    error: str


class KnownRun(NamedTuple):
    """A run whose steps the caller already has. Its pictures were not read.

    `times` are the steps' times in the source's log. `pictures` returns the sha256 of the steps' pictures, for sources
    without times. If the stored run has others, this is a further attempt with identical steps, and `read_as` reads it
    as a run with another id.
    """

    id: str
    path: str
    times: tuple[str | None, ...] = ()
    pictures: Callable[[], tuple[str | None, ...]] | None = None
    read_as: Callable[[str], Imported] | None = None


NAME_ENCODING = "Save it as UTF-8, or name its encoding: --encoding gbk."
_SHADOW, _SHADOWS = "._", "__MACOSX"
"""Prefix of the files that macOS writes beside others on foreign disks, and their folder in its archives."""


class CandidateFile:
    """A regular file that may belong to a format. It is opened once, and only if a format inspects its content.

    A link that leads out of `root` is not opened.
    """

    def __init__(self, path: Path, root: Path) -> None:
        self.path = path
        self.root = root
        self.name = path.name

    @cached_property
    def opening(self) -> bytes:
        """First bytes, unpacked if the name ends in `.gz`, without leading blanks, as UTF-8 if they are text."""
        return head_as_utf8(read_beginning(self.path, SNIFFED, self.root)).lstrip(BLANK)

    @cached_property
    def _first_value(self) -> tuple[Any, bool]:
        return first_value(self.opening)

    @property
    def value(self) -> Any:
        """First JSON value of the opening, completed if cut off, or None if there is none."""
        return self._first_value[0]

    @property
    def items(self) -> list[dict[str, Any]]:
        """Objects in the first JSON value: itself, or the items of a list."""
        values = self.value if isinstance(self.value, list) else [self.value]
        return [item for item in values if isinstance(item, dict)]

    @property
    def is_cut(self) -> bool:
        """True if the opening ends within `value`, so that only its complete parts are read."""
        return self._first_value[1]

    @property
    def is_json(self) -> bool:
        """True if the file's name ends like a JSON file's."""
        return self.name.endswith((".json", ".json.gz"))


class Format(NamedTuple):
    """One trace format: how its folders and files are recognized and read.

    `name` is the value of `--format`, `title` the name for people. `is_run_folder` gets a folder, the names in it, and
    the root that no link may leave. Folders inside a run are not searched. `is_without_log` returns why a folder
    written by the format's own program is not a run, for example screens without a log, and an empty text for others.
    """

    name: str
    title: str
    is_run_folder: Callable[[Path, set[str], Path], bool]
    is_file: Callable[[CandidateFile], bool]
    read: Callable[[RunSource, Callable[[str], bool]], Iterator[Imported | KnownRun | FailedRun]]
    skips_folder: Callable[[str], bool] = lambda name: False
    is_without_log: Callable[[Path, set[str], Path], str] = lambda folder, names, root: ""


_READERS = {
    "jsonl": "jsonl.reader:JSONL",
    "knowu": "knowu.reader:KNOWU",
    "androidworld": "androidworld.reader:ANDROIDWORLD",
    "fingertip": "fingertip.reader:FINGERTIP",
    "mobile_use": "mobile_use.reader:MOBILE_USE",
    "memgui": "memgui.reader:MEMGUI",
    "dac": "dac.reader:DAC",
    "aitz": "aitz.reader:AITZ",
    "appagent": "appagent.reader:APPAGENT",
    "androidlab": "androidlab.reader:ANDROIDLAB",
    "droidrun": "droidrun.reader:DROIDRUN",
    "odyssey": "odyssey.reader:ODYSSEY",
    "androidcontrol": "androidcontrol.reader:ANDROIDCONTROL",
    "tau2": "tau2.reader:TAU2",
    "inspect": "inspect.reader:INSPECT",
}
"""Module and attribute of each format's reader, below this folder, in the order of detection."""

_WRITERS = {
    "jsonl": "jsonl.writer",
    "knowu": "knowu.writer",
    "dac": "dac.writer",
    "fingertip": "fingertip.writer",
    "labelstudio": "labelstudio.writer",
    "csv": "tables.csv_writer",
    "parquet": "tables.parquet_writer",
}
READ_FORMATS = tuple(_READERS)
"""Names of the formats that can be read."""
WRITTEN_FORMATS = tuple(_WRITERS)
"""Names of the formats that can be written."""


def formats() -> dict[str, Format]:
    """Return every readable format by name."""
    by_name: dict[str, Format] = {}
    # Imported on use, because few commands read a foreign format.
    for name, place in _READERS.items():
        module, _, attribute = place.partition(":")
        by_name[name] = getattr(import_module(f"store.formats.{module}"), attribute)
    return by_name


class StoredRun(Protocol):
    """A stored run, for writers. Events are read while they are written."""

    @property
    def id(self) -> str: ...

    @property
    def reviewed(self) -> str | None:
        """Id of the run whose reviewed text this is, or None for a run as recorded."""

    def events(self) -> Iterator[AnyEvent]: ...

    def original(self, seq: int) -> dict[str, Any]:
        """Return the values that a review changed in event `seq`, by field, empty if none."""

    def blobs(self) -> Iterator[tuple[str, Blob]]:
        """Yield the pictures and phone states of the run that are available, with their sha256."""

    @property
    def verdicts(self) -> Sequence[Verdict]: ...

    @property
    def reviews(self) -> Sequence[Review]: ...

    @property
    def clearances(self) -> Sequence[Clearance]: ...

    @property
    def tombstones(self) -> Sequence[Tombstone]: ...


class Writer(NamedTuple):
    """One format that can be written.

    `write` writes runs into an empty folder, one at a time, and reports the id of each when it is done. All bytes are
    on the disk when it returns. It raises `LabError` if a run does not fit the format.
    """

    name: str
    title: str
    write: Callable[[Iterable[StoredRun], Path, Callable[[str], None]], None]


def writers() -> dict[str, Writer]:
    """Return every format that can be written, by name."""
    return {name: import_module(f"store.formats.{module}").WRITER for name, module in _WRITERS.items()}


def read(
    path: Path, format: str | None = None, *, known: Callable[[str], bool] = lambda id: False
) -> Iterator[Imported | KnownRun | FailedRun]:
    """Yield every run below `path`, one at a time. An unreadable one is a `FailedRun` and does not stop the others.

    `known` returns True for ids that need not be read in full. Raise `LabError` if there is no such format.
    """
    for source in detect(path, format):
        if isinstance(source, FailedRun):
            yield source
        else:
            yield from formats()[source.format].read(source, known)


class _Search(NamedTuple):
    """Parameters of a search: formats, encoding of texts, and counts of files without runs."""

    choice: list[Format]
    is_all: bool
    encoding: str
    fallbacks: Fallbacks

    def owner(self, folder: Path, names: set[str], root: Path) -> str | None:
        """Return the name of the format whose run a folder is, or None if there is none."""
        return next((one.name for one in self.choice if one.is_run_folder(folder, names, root)), None)

    def source(self, format: str, path: Path, root: Path) -> RunSource:
        return RunSource(format, path, root, self.encoding)


def detect(
    path: Path, format: str | None = None, *, encoding: str = "", fallbacks: Fallbacks | None = None
) -> Iterator[RunSource | FailedRun]:
    """Yield the files and folders below `path` that hold runs, by name. Links to folders are not followed.

    Folders and files that look like runs but are not are counted in `fallbacks`.
    """
    codec = known_encoding(encoding) if encoding else ""
    search = _Search(_choose_formats(format), format is None, codec, Fallbacks() if fallbacks is None else fallbacks)
    try:
        if not path.is_dir():
            yield from _detect_named_file(path, search)
            return
    except OSError as error:
        yield _failed_run(path, error)
        return
    yield from _detect_in_folder(path, search)


def _detect_named_file(path: Path, search: _Search) -> Iterator[RunSource | FailedRun]:
    if not path.is_file():
        return
    if path.is_symlink():
        path = path.resolve()  # a link that the user names is resolved; links found inside folders may not leave them
    if owner := search.owner(path.parent, {path.name}, path.parent):
        yield search.source(owner, path.parent, path.parent)
        return
    sources = list(_detect_file(path, path.parent, search))
    if not sources and (kind := packed_kind(path, path.parent)):
        sources = [FailedRun(str(path), f"{path}: is packed ({kind}). Unpack it, and name the folder.")]
    yield from sources


def _failed_run(path: Path, error: OSError) -> FailedRun:
    return FailedRun(str(path), f"{error.filename or path}: cannot be read ({error.strerror}).")


def _choose_formats(format: str | None) -> list[Format]:
    formats_by_name = formats()
    if format is None:
        return list(formats_by_name.values())
    if format not in formats_by_name:
        problem = f"is not known; known are {', '.join(formats_by_name)}{suggestion(format, formats_by_name) or '.'}"
        raise LabError(f"format {format}", problem, code=2)
    return [formats_by_name[format]]


def _detect_in_folder(root: Path, search: _Search) -> Iterator[RunSource | FailedRun]:
    unreadable: list[OSError] = []
    unfinished = formats()["jsonl"].skips_folder  # an unfinished export of hitlab is skipped whatever the format
    skips = {unfinished, _SHADOWS.__eq__, *(trace_format.skips_folder for trace_format in search.choice)}
    for folder, below, names in os.walk(root, onerror=unreadable.append):
        here = Path(folder)
        # macOS copies `._run.jsonl` beside `run.jsonl`, with metadata only.
        names = [name for name in names if not name.startswith(_SHADOW)]
        try:
            owner = search.owner(here, {*names}, root)
        except OSError as error:
            below.clear()
            yield _failed_run(here, error)
            continue
        if owner is not None:
            below.clear()
            yield search.source(owner, here, root)
            continue
        below[:] = sorted(name for name in below if not any(skip(name) for skip in skips))
        yield from _detect_in_files(here, names, root, search)
    yield from (_failed_run(Path(error.filename), error) for error in unreadable)


def _detect_in_files(folder: Path, names: list[str], root: Path, search: _Search) -> Iterator[RunSource | FailedRun]:
    """Yield the runs in a folder's files. If there are none, count why the folder is not a run."""
    unclaimed: list[Path] = []
    for name in sorted(names):
        sources = list(_detect_file(folder / name, root, search))
        yield from sources
        if not sources:
            unclaimed.append(folder / name)
    reasons = (why for one in search.choice if (why := one.is_without_log(folder, {*names}, root)))
    if len(unclaimed) == len(names) and (why := next(reasons, "")):
        search.fallbacks.add("folder", folder, why)
        return
    for path in unclaimed:
        if _PACKED.search(path.name) and (kind := packed_kind(path, root)):
            search.fallbacks.add("packed", path, kind)
        # A file of two bytes is `[]` or `{}`, and holds no run.
        elif search.is_all and _RUN_LIKE.fullmatch(path.name) and path.is_file() and path.stat().st_size > 2:
            search.fallbacks.add("file", path)


_PACKED = re.compile(r"\.(?:zip|tar|tgz|tbz2?|txz|7z|rar|tar\.\w{2,4})$", re.I)
_RUN_LIKE = re.compile(r"(?:traj|trajector(?:y|ies)|trace|actions?|steps|episode)[\w-]*\.jsonl?(?:\.gz)?", re.I)
"""Names of files that typically hold an agent's steps."""


def _detect_file(path: Path, root: Path, search: _Search) -> Iterator[RunSource | FailedRun]:
    candidate = CandidateFile(path, root)
    try:
        if not path.is_file():
            return
        for trace_format in search.choice:
            if trace_format.is_file(candidate):
                yield search.source(trace_format.name, path, root)
                return
    except LabError as error:
        yield FailedRun(str(path), error.sentence)
    except OSError as error:
        yield _failed_run(path, error)
