"""Published trace formats: find the runs in files and folders, and read each as `Imported`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from lab.errors import LabError
from lab.records import Blob, Clearance, Imported, Tombstone, Verdict
from lab.review import Review
from lab.trace import AnyEvent


class Found(NamedTuple):
    """A file or folder that holds runs of a format; links inside are followed only within `root`."""

    format: str
    path: Path
    root: Path


class Failed(NamedTuple):
    """A source, or a part of one, that could not be read, and why in one sentence."""

    path: str
    error: str


class Known(NamedTuple):
    """A run that the asker said it has already; its pictures were not read."""

    id: str
    path: str


SNIFFED = 64 * 1024
"""Bytes of a file that are looked at to tell what it is."""

BLANK = b"\xef\xbb\xbf \t\r\n"
"""Bytes that may stand before the first of a text."""


_SHADOW, _SHADOWS = "._", "__MACOSX"
"""What macOS calls the files that it lays beside others on foreign disks, and their folder in its archives."""


class Seen:
    """A regular file that may be of some format; it is opened only where a format asks how it begins, and once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name

    @cached_property
    def opening(self) -> bytes:
        """Its first bytes, unpacked where its name ends in `.gz`, from the first that is no blank."""
        from store.formats.files import beginning

        return beginning(self.path, SNIFFED).lstrip(BLANK)

    @property
    def is_json(self) -> bool:
        """Whether its name says that it holds JSON."""
        return self.name.endswith((".json", ".json.gz"))


class Format(NamedTuple):
    """One trace format: which folders (with the names in them) and files are its own, and how they are read.

    `name` is what `--format` takes, `title` what people call it. A folder that is a run is not looked into further.
    """

    name: str
    title: str
    is_run_folder: Callable[[Path, set[str]], bool]
    is_file: Callable[[Seen], bool]
    read: Callable[[Found, Callable[[str], bool]], Iterator[Imported | Known | Failed]]
    skips_folder: Callable[[str], bool] = lambda name: False


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


def formats() -> dict[str, Format]:
    """Every known format by name."""
    found: dict[str, Format] = {}
    for name, place in _READERS.items():
        module, _, attribute = place.partition(":")
        found[name] = getattr(import_module(f"store.formats.{module}"), attribute)
    return found


class Kept(Protocol):
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
    write: Callable[[Iterable[Kept], Path, Callable[[str], None]], None]


def writers() -> dict[str, Writer]:
    """Every format that runs are written in, by name."""
    return {name: import_module(f"store.formats.{module}").WRITER for name, module in _WRITERS.items()}


def read(
    path: Path, format: str | None = None, *, known: Callable[[str], bool] = lambda id: False
) -> Iterator[Imported | Known | Failed]:
    """Every run below `path`, one at a time; what cannot be read is a `Failed`, and the others still come.

    `known` tells which ids need not be read in full. Raises `LabError` where there is no such format.
    """
    for found in detect(path, format):
        if isinstance(found, Failed):
            yield found
        else:
            yield from formats()[found.format].read(found, known)


def detect(path: Path, format: str | None = None) -> Iterator[Found | Failed]:
    """The files and folders below `path` that hold runs, in the order of their names; links to folders are left."""
    choice = _chosen(format)
    try:
        if not path.is_dir():
            yield from _named_file(path, choice)
            return
    except OSError as error:
        yield _unreadable(path, error)
        return
    yield from _in_folder(path, choice)


def _named_file(path: Path, choice: list[Format]) -> Iterator[Found | Failed]:
    if not path.is_file():
        return
    if path.is_symlink():
        path = path.resolve()  # who names a link means what it leads to; links that are met are not followed out
    for known in choice:
        if known.is_run_folder(path.parent, {path.name}):
            yield Found(known.name, path.parent, path.parent)
            return
    yield from _one_file(path, path.parent, choice)


def _unreadable(path: Path, error: OSError) -> Failed:
    return Failed(str(path), f"{error.filename or path}: cannot be read ({error.strerror}).")


def _chosen(format: str | None) -> list[Format]:
    known = formats()
    if format is None:
        return list(known.values())
    if format not in known:
        raise LabError(f"format {format}", f"is not known; known are {', '.join(known)}.", code=2)
    return [known[format]]


def _in_folder(root: Path, choice: list[Format]) -> Iterator[Found | Failed]:
    unreadable: list[OSError] = []
    unfinished = formats()["jsonl"].skips_folder  # half an export of ours is no format's run
    skips = {unfinished, _SHADOWS.__eq__, *(known.skips_folder for known in choice)}
    for folder, below, names in os.walk(root, onerror=unreadable.append):
        here = Path(folder)
        names = [name for name in names if not name.startswith(_SHADOW)]
        try:
            owner = _owner(here, set(names), choice)
        except OSError as error:
            below.clear()
            yield _unreadable(here, error)
            continue
        if owner is not None:
            below.clear()
            yield Found(owner, here, root)
            continue
        below[:] = sorted(name for name in below if not any(skip(name) for skip in skips))
        for name in sorted(names):
            yield from _one_file(here / name, root, choice)
    yield from (_unreadable(Path(error.filename), error) for error in unreadable)


def _owner(folder: Path, names: set[str], choice: list[Format]) -> str | None:
    return next((known.name for known in choice if known.is_run_folder(folder, names)), None)


def _one_file(path: Path, root: Path, choice: list[Format]) -> Iterator[Found | Failed]:
    from store.formats.files import check_within

    seen = Seen(path)
    try:
        if not path.is_file():
            return
        for known in choice:
            if known.is_file(seen):
                check_within(root, path)
                yield Found(known.name, path, root)
                return
    except LabError as error:
        yield Failed(str(path), error.sentence)
    except OSError as error:
        yield _unreadable(path, error)
