"""Leftovers: unfinished files of commands that were killed, which nobody names and which may hold what was erased.

Everything that appears whole or not at all is first written beside its place, as `.NAME.part-PID`, and what is only
needed for a while into `hitlab-PID-...` in the temporary folder. A leftover is such a file of this user whose process
is gone, and which no other holds locked (as one in another container may, whose processes cannot be seen): who writes
one holds it with flock() until it is whole.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import struct
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from lab.core.made_files import make_folder, open_descriptor
from store.schema import APPLICATION_ID

_PART = re.compile(r"\.(?P<name>.+)\.part-(?P<pid>\d{1,10})(?P<beside>-wal|-shm|-journal)?")
_TEMPORARY = re.compile(r"hitlab-(?P<pid>\d{1,10})-\w+")
_NAMELESS = re.compile(r"hitlab-[a-z0-9_]{8}")
"""What version 0.1.0 called its temporary folders: without the process."""
_AGE = 3600.0
"""Seconds after which a temporary folder that names no process is nobody's."""
_BESIDE = ("", "-journal", "-wal", "-shm")
_WRITTEN = frozenset(
    {".json", ".jsonl", ".png", ".jpg", ".jpeg", ".txt", ".log", ".csv", ".parquet", ".gz", ".bin", ""}
)
"""How the files end that exports consist of."""
_LOCKS = ((0x40000000, 512), (120, 16))
"""Where SQLite locks a database, and its `-shm`: first byte and length (SQLite, WAL-mode File Format)."""


class Swept(NamedTuple):
    """Leftovers that were removed, and those that could not be."""

    removed: tuple[Path, ...] = ()
    left: tuple[Path, ...] = ()


def temporary_prefix() -> str:
    """How this process's temporary folders begin, so that what it leaves when it is killed can be told."""
    return f"hitlab-{os.getpid()}-"


@contextmanager
def held(part: Path, *, folder: bool = False) -> Iterator[None]:
    """Makes an unfinished file (empty, or a folder) that no sweep removes within, wherever it runs.

    A file that cannot be made is left to whoever writes it, to say why.
    """
    if folder:
        make_folder(part)
    with ExitStack() as stack:
        while True:  # until no sweep came between the making and the locking
            try:
                handle = os.open(part, os.O_RDONLY) if folder else open_descriptor(part, os.O_RDWR | os.O_NOFOLLOW)
            except OSError:
                break
            stack.callback(os.close, handle)
            lock(handle)
            if is_at(part, handle):
                break
        yield


def lock(handle: int) -> bool:
    """Whether a file could be locked; it stays so until it is closed."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_at(path: Path, handle: int) -> bool:
    """Whether an open file is still the one at a path."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _held(path: Path) -> bool:
    """Whether somebody is writing a file or folder, or none can tell."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        return not lock(handle)
    finally:
        os.close(handle)


def sweep(folders: Iterable[Path], *, temporary: bool = False) -> Swept:
    """Removes the leftovers in these folders, and in the temporary one; nothing in folders below them."""
    removed_paths: list[Path] = []
    remaining_paths: list[Path] = []
    paths = [path for folder in dict.fromkeys(folders) for path in _in(folder, _is_part)]
    paths += _in(Path(tempfile.gettempdir()), _is_temporary) if temporary else []
    for path in paths:
        (removed_paths if _removed(path) else remaining_paths).append(path)
    return Swept(tuple(removed_paths), tuple(remaining_paths))


def _in(folder: Path, is_leftover: Callable[[Path, os.stat_result], bool]) -> Iterator[Path]:
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if ".part-" in entry.name or "hitlab-" in entry.name)
    except OSError:
        return
    for name in names:
        path = folder / name
        try:
            about = path.lstat()
            if about.st_uid == os.getuid() and is_leftover(path, about):
                yield path
        except OSError:
            continue  # it went meanwhile


def _is_part(path: Path, about: os.stat_result) -> bool:
    match = _PART.fullmatch(path.name)
    if match is None or _runs(int(match["pid"]), about.st_mtime):
        return False
    if stat.S_ISDIR(about.st_mode):
        return (
            not match["beside"]
            and not _held(path)
            and all(file.suffix in _WRITTEN for file in path.rglob("*") if not file.is_dir())
        )
    if not stat.S_ISREG(about.st_mode):
        return False
    whole = path.with_name(path.name.removesuffix(match["beside"] or ""))
    if match["beside"] and whole.exists():
        return False  # it goes with that
    if _held(whole):
        return False
    return match["name"] == "hitlab" or (not _locked(whole) and (_is_ours(whole) or not whole.exists()))


def _is_temporary(path: Path, about: os.stat_result) -> bool:
    if not stat.S_ISDIR(about.st_mode):
        return False
    if (match := _TEMPORARY.fullmatch(path.name)) is not None:
        return not (_runs(int(match["pid"]), about.st_mtime) or _held(path) or _locked(path / "copy.db"))
    old = time.time() - about.st_mtime > _AGE and _NAMELESS.fullmatch(path.name) is not None
    return old and (path / "copy.db").is_file() and _is_ours(path / "copy.db") and not _locked(path / "copy.db")


def _is_ours(path: Path) -> bool:
    """Whether a file is a database of ours, or the beginning of one: SQLite writes its first page last."""
    try:
        with path.open("rb") as file:
            head = file.read(72)
    except OSError:
        return False
    if not head.strip(b"\0"):
        return True
    return head.startswith(b"SQLite format 3\0") and head[68:72] in (struct.pack(">I", APPLICATION_ID), bytes(4))


def _locked(path: Path) -> bool:
    """Whether another program holds a database locked."""
    import fcntl

    for (first, length), file in zip(_LOCKS, (path, path.with_name(f"{path.name}-shm")), strict=True):
        try:
            with file.open("r+b") as handle:
                fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, length, first)
        except FileNotFoundError:
            continue
        except OSError:
            return True
    return False


def _runs(pid: int, then: float) -> bool:
    """Whether the process that wrote a file at a time still runs; where another has its number by now, it does not."""
    if pid == os.getpid():
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass  # it runs, and is another user's
    began = _began(pid)
    return began is None or began <= then + 1.0


def _began(pid: int) -> float | None:
    """When a process began, in seconds since 1970; None where the system does not tell in /proc."""
    try:
        after = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        boot_line = next(line for line in Path("/proc/stat").read_text().splitlines() if line.startswith("btime "))
        return int(boot_line.split()[1]) + int(after[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def _removed(path: Path) -> bool:
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            for ending in _BESIDE:
                path.with_name(path.name + ending).unlink(missing_ok=True)
    except OSError:
        return False
    return True
