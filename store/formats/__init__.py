"""Published trace formats: find the runs in files and folders, and read each as `Imported`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from lab.core.codec import read_json
from lab.core.errors import LabError
from lab.core.limits import JSON_BYTES
from lab.core.proofreading import Review
from lab.core.run_records import Blob, Clearance, Imported, Tombstone, Verdict
from lab.core.suggestion import suggestion
from lab.core.text_encoding import decode_text, known_encoding, opening_as_utf8
from lab.core.trace import AnyEvent
from store.formats.fallbacks import Fallbacks
from store.formats.files import BLANK, SNIFFED, beginning, packed_kind, unpacked
from store.formats.json_parts import first_value


@dataclass(frozen=True)
class RunSource:
    """A file or folder that holds runs of a format; links inside are followed only within `root`.

    Its reader reads every text by `text`, and counts in `fallbacks` what it does not take as it stands. `encoding`
    is the one that was named for all text, empty where each file tells its own.
    """

    format: str
    path: Path
    root: Path
    encoding: str = ""
    fallbacks: Fallbacks = field(default_factory=Fallbacks, compare=False)

    def text(self, path: Path, *, most: int = JSON_BYTES) -> bytes:
        """A text file's bytes in UTF-8, whatever its encoding, unpacked where its name ends in `.gz`.

        Valid UTF-8 stays as it is. A `LabError` where the file cannot be read, or its encoding is not sure.
        """
        return self.as_utf8(unpacked(self.root, path, most=most), path)

    def as_utf8(self, data: bytes, place: object) -> bytes:
        """Bytes of a text as UTF-8; another encoding, and damaged characters, are counted."""
        if not self.encoding and data.isascii() and b"\0" not in data:
            return data
        decoded = decode_text(data, str(place), self.encoding, hint=NAME_ENCODING)
        if decoded.encoding:
            self.fallbacks.add("encoding", place, decoded.encoding)
        if decoded.damaged:
            self.fallbacks.add("damaged text", place, count=decoded.damaged)
        return decoded.text.encode("utf-8", "surrogatepass") if decoded.encoding or decoded.damaged else data

    def side_text(self, path: Path, *, most: int = JSON_BYTES) -> bytes | None:
        """As `text`, of a file beside a run; None where it is not there, or cannot be read, which is counted."""
        if not path.is_file():
            return None
        try:
            return self.text(path, most=most)
        except LabError as error:
            self.fallbacks.add("side file", path, error.body)
            return None

    def side_json(self, path: Path, *, most: int = JSON_BYTES) -> Any:
        """The JSON of a file beside a run; None where it is not there, or cannot be read, which is counted."""
        data = self.side_text(path, most=most)
        try:
            return None if data is None else read_json(data, str(path)).value
        except LabError as error:
            self.fallbacks.add("side file", path, error.body)
            return None


class FailedRun(NamedTuple):
    """A source, or a part of one, that could not be read, and why in one sentence."""

    path: str
    error: str


class KnownRun(NamedTuple):
    """A run that the asker said it has already; its pictures were not read.

    `times` are those of its steps in its source's log; where a source has none, `pictures` reads the sha256 of its
    steps' pictures. Where the run that is here bears others, this is a further attempt of the very same steps, and
    `under` reads it as a run of another id.
    """

    id: str
    path: str
    times: tuple[str | None, ...] = ()
    pictures: Callable[[], tuple[str | None, ...]] | None = None
    under: Callable[[str], Imported] | None = None


NAME_ENCODING = "Save it as UTF-8, or name its encoding: --encoding gbk."
_SHADOW, _SHADOWS = "._", "__MACOSX"
"""What macOS calls the files that it lays beside others on foreign disks, and their folder in its archives."""


class CandidateFile:
    """A regular file that may be of some format; it is opened only where a format asks how it begins, and once.

    A link that leads out of `root` is not opened.
    """

    def __init__(self, path: Path, root: Path) -> None:
        self.path = path
        self.root = root
        self.name = path.name

    @cached_property
    def opening(self) -> bytes:
        """Its first bytes, unpacked where its name ends in `.gz`, from the first that is no blank; text as UTF-8."""
        return opening_as_utf8(beginning(self.path, SNIFFED, self.root)).lstrip(BLANK)

    @cached_property
    def _first(self) -> tuple[Any, bool]:
        return first_value(self.opening)

    @property
    def value(self) -> Any:
        """The first JSON value of its opening, as far as that goes; None where it begins with none."""
        return self._first[0]

    @property
    def items(self) -> list[dict[str, Any]]:
        """The mappings that its first JSON value is or, where that is a list, holds."""
        values = self.value if isinstance(self.value, list) else [self.value]
        return [item for item in values if isinstance(item, dict)]

    @property
    def is_cut(self) -> bool:
        """Whether `value` is only what is whole of a value that is longer than the opening, or cut off."""
        return self._first[1]

    @property
    def is_json(self) -> bool:
        """Whether its name says that it holds JSON."""
        return self.name.endswith((".json", ".json.gz"))


class Format(NamedTuple):
    """One trace format: which folders (with the names in them) and files are its own, and how they are read.

    `name` is what `--format` takes, `title` what people call it. A folder that is a run is not looked into further;
    `is_run_folder` is given the folder, the names in it, and the root that no link may lead out of. `is_without_log`
    tells why a folder that the format's own program left is no run, as one with screens but no log; empty for others.
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
"""Which module below this folder reads a format, and by what name; in the order in which they are asked."""

_WRITERS = {
    "jsonl": "jsonl.writer",
    "knowu": "knowu.writer",
    "dac": "dac.writer",
    "fingertip": "fingertip.writer",
    "labelstudio": "labelstudio.writer",
    "csv": "tables.csv_writer",
    "parquet": "tables.parquet_writer",
}
FORMATS = tuple(_READERS)
"""What runs are read from, by name."""
WRITTEN = tuple(_WRITERS)
"""What runs are written as, by name."""


def formats() -> dict[str, Format]:
    """Every known format by name."""
    by_name: dict[str, Format] = {}
    for name, place in _READERS.items():
        module, _, attribute = place.partition(":")
        by_name[name] = getattr(import_module(f"store.formats.{module}"), attribute)
    return by_name


class StoredRun(Protocol):
    """A run as it is kept, for those who write it elsewhere; events are read as they are written."""

    @property
    def id(self) -> str: ...

    @property
    def reviewed(self) -> str | None:
        """The run whose reviewed text this is; None where it is as it was recorded."""

    def events(self) -> Iterator[AnyEvent]: ...

    def original(self, seq: int) -> dict[str, Any]:
        """The values that event `seq` had before it was reviewed, by field; empty where it is as it was recorded."""

    def blobs(self) -> Iterator[tuple[str, Blob]]:
        """The pictures and phone states that are in the file, by their sha256."""

    @property
    def verdicts(self) -> Sequence[Verdict]: ...

    @property
    def reviews(self) -> Sequence[Review]: ...

    @property
    def clearances(self) -> Sequence[Clearance]: ...

    @property
    def tombstones(self) -> Sequence[Tombstone]: ...


class Writer(NamedTuple):
    """One format that is written.

    `write` puts runs into an empty folder, takes them one at a time (each is read as it is written), tells the id of
    each that is done, and has every byte on the disk on return. `LabError` where a run has no place in the format.
    """

    name: str
    title: str
    write: Callable[[Iterable[StoredRun], Path, Callable[[str], None]], None]


def writers() -> dict[str, Writer]:
    """Every format that runs are written in, by name."""
    return {name: import_module(f"store.formats.{module}").WRITER for name, module in _WRITERS.items()}


def read(
    path: Path, format: str | None = None, *, known: Callable[[str], bool] = lambda id: False
) -> Iterator[Imported | KnownRun | FailedRun]:
    """Every run below `path`, one at a time; what cannot be read is a `FailedRun`, and the others still come.

    `known` tells which ids need not be read in full. Raises `LabError` where there is no such format.
    """
    for source in detect(path, format):
        if isinstance(source, FailedRun):
            yield source
        else:
            yield from formats()[source.format].read(source, known)


class _Search(NamedTuple):
    """What is looked for: formats, in which encoding texts are, and where what holds no run is counted."""

    choice: list[Format]
    is_all: bool
    encoding: str
    fallbacks: Fallbacks

    def owner(self, folder: Path, names: set[str], root: Path) -> str | None:
        """The format of which a folder is a run."""
        return next((one.name for one in self.choice if one.is_run_folder(folder, names, root)), None)

    def source(self, format: str, path: Path, root: Path) -> RunSource:
        return RunSource(format, path, root, self.encoding)


def detect(
    path: Path, format: str | None = None, *, encoding: str = "", fallbacks: Fallbacks | None = None
) -> Iterator[RunSource | FailedRun]:
    """The files and folders below `path` that hold runs, in the order of their names; links to folders are left.

    Folders and files that should hold a run and do not are counted in `fallbacks`.
    """
    codec = known_encoding(encoding) if encoding else ""
    search = _Search(_chosen(format), format is None, codec, Fallbacks() if fallbacks is None else fallbacks)
    try:
        if not path.is_dir():
            yield from _named_file(path, search)
            return
    except OSError as error:
        yield _unreadable(path, error)
        return
    yield from _in_folder(path, search)


def _named_file(path: Path, search: _Search) -> Iterator[RunSource | FailedRun]:
    if not path.is_file():
        return
    if path.is_symlink():
        path = path.resolve()  # who names a link means what it leads to; links that are met are not followed out
    if owner := search.owner(path.parent, {path.name}, path.parent):
        yield search.source(owner, path.parent, path.parent)
        return
    sources = list(_one_file(path, path.parent, search))
    if not sources and (kind := packed_kind(path, path.parent)):
        sources = [FailedRun(str(path), f"{path}: is packed ({kind}). Unpack it, and name the folder.")]
    yield from sources


def _unreadable(path: Path, error: OSError) -> FailedRun:
    return FailedRun(str(path), f"{error.filename or path}: cannot be read ({error.strerror}).")


def _chosen(format: str | None) -> list[Format]:
    formats_by_name = formats()
    if format is None:
        return list(formats_by_name.values())
    if format not in formats_by_name:
        problem = f"is not known; known are {', '.join(formats_by_name)}{suggestion(format, formats_by_name) or '.'}"
        raise LabError(f"format {format}", problem, code=2)
    return [formats_by_name[format]]


def _in_folder(root: Path, search: _Search) -> Iterator[RunSource | FailedRun]:
    unreadable: list[OSError] = []
    unfinished = formats()["jsonl"].skips_folder  # half an export of ours is no format's run
    skips = {unfinished, _SHADOWS.__eq__, *(trace_format.skips_folder for trace_format in search.choice)}
    for folder, below, names in os.walk(root, onerror=unreadable.append):
        here = Path(folder)
        names = [name for name in names if not name.startswith(_SHADOW)]
        try:
            owner = search.owner(here, {*names}, root)
        except OSError as error:
            below.clear()
            yield _unreadable(here, error)
            continue
        if owner is not None:
            below.clear()
            yield search.source(owner, here, root)
            continue
        below[:] = sorted(name for name in below if not any(skip(name) for skip in skips))
        yield from _in_files(here, names, root, search)
    yield from (_unreadable(Path(error.filename), error) for error in unreadable)


def _in_files(folder: Path, names: list[str], root: Path, search: _Search) -> Iterator[RunSource | FailedRun]:
    """The runs in a folder's files; where none is, why the folder should have been one is counted."""
    unclaimed: list[Path] = []
    for name in sorted(names):
        sources = list(_one_file(folder / name, root, search))
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
        elif search.is_all and _RUN_LIKE.fullmatch(path.name) and path.is_file() and path.stat().st_size > 2:
            search.fallbacks.add("file", path)


_PACKED = re.compile(r"\.(?:zip|tar|tgz|tbz2?|txz|7z|rar|tar\.\w{2,4})$", re.I)
_RUN_LIKE = re.compile(r"(?:traj|trajector(?:y|ies)|trace|actions?|steps|episode)[\w-]*\.jsonl?(?:\.gz)?", re.I)
"""How files are named that hold an agent's steps."""


def _one_file(path: Path, root: Path, search: _Search) -> Iterator[RunSource | FailedRun]:
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
        yield _unreadable(path, error)
