"""Leftovers: unfinished files of killed commands, unseen by users, which may hold erased content.

A file that must appear whole or not at all is first written beside its place as `.NAME.part-PID`. Temporary data goes
into `hitlab-PID-...` in the temporary folder. The writer holds an flock() on it until it is whole. A leftover is such a
file of this user whose process is gone and that is not locked. A process in another container may hold the lock without
being visible here.
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

from lab.core.values.made_files import make_folder, open_descriptor
from store.file.schema import APPLICATION_ID

_PART = re.compile(r"\.(?P<name>.+)\.part-(?P<pid>\d{1,10})(?P<beside>-wal|-shm|-journal)?")
_TEMPORARY = re.compile(r"hitlab-(?P<pid>\d{1,10})-\w+")
_NAMELESS = re.compile(r"hitlab-[a-z0-9_]{8}")
"""Names of temporary folders in version 0.1.0, without a process id."""
_MAX_AGE = 3600.0
"""Seconds after which a temporary folder without a process id counts as a leftover."""
_JOURNALS = ("", "-journal", "-wal", "-shm")
_EXPORT_SUFFIXES = frozenset(
    {".json", ".jsonl", ".png", ".jpg", ".jpeg", ".txt", ".log", ".csv", ".parquet", ".gz", ".bin", ""}
)
"""Suffixes of files in exports."""
_LOCKS = ((0x40000000, 512), (120, 16))
"""Bytes (first, length) that SQLite locks in a database and its `-shm` (SQLite, WAL-mode File Format)."""


class Swept(NamedTuple):
    """Leftovers that were removed, and those that could not be."""

    removed: tuple[Path, ...] = ()
    remaining: tuple[Path, ...] = ()


def temporary_prefix() -> str:
    """Return the prefix of this process's temporary folders, by which a sweep recognizes them after a crash."""
    return f"hitlab-{os.getpid()}-"


@contextmanager
def locked_part(part: Path, *, folder: bool = False) -> Iterator[None]:
    """Create an unfinished file (or folder) and lock it against sweeps within the block, also from other containers.

    If the file cannot be created, do nothing: the writer will report why.
    """
    if folder:
        make_folder(part)
    with ExitStack() as stack:
        while True:  # until no sweep removed it between creation and lock
            try:
                # O_NOFOLLOW: a link in its place might lead to somebody's file.
                handle = os.open(part, os.O_RDONLY) if folder else open_descriptor(part, os.O_RDWR | os.O_NOFOLLOW)
            except OSError:
                break
            stack.callback(os.close, handle)
            lock(handle)
            if is_same_file(part, handle):
                break
        yield


def lock(handle: int) -> bool:
    """Lock an open file until it is closed. Return False if another process holds it."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_same_file(path: Path, handle: int) -> bool:
    """Return True if an open file is still the one at a path."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _is_held(path: Path) -> bool:
    """Return True if another process is writing a file or folder, or if that is unknown."""
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
    """Remove leftovers that lie directly in these folders. `temporary` also sweeps the system's temporary folder."""
    removed_paths: list[Path] = []
    remaining_paths: list[Path] = []
    paths = [path for folder in dict.fromkeys(folders) for path in _leftovers_in(folder, _is_part)]
    paths += _leftovers_in(Path(tempfile.gettempdir()), _is_temporary) if temporary else []
    for path in paths:
        (removed_paths if _remove(path) else remaining_paths).append(path)
    return Swept(tuple(removed_paths), tuple(remaining_paths))


def _leftovers_in(folder: Path, is_leftover: Callable[[Path, os.stat_result], bool]) -> Iterator[Path]:
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
            continue  # removed meanwhile


def _is_part(path: Path, about: os.stat_result) -> bool:
    match = _PART.fullmatch(path.name)
    if match is None or _is_running(int(match["pid"]), about.st_mtime):
        return False
    if stat.S_ISDIR(about.st_mode):
        return (
            not match["beside"]
            and not _is_held(path)
            and all(file.suffix in _EXPORT_SUFFIXES for file in path.rglob("*") if not file.is_dir())
        )
    if not stat.S_ISREG(about.st_mode):
        return False
    whole = path.with_name(path.name.removesuffix(match["beside"] or ""))
    if match["beside"] and whole.exists():
        return False  # removed together with it
    if _is_held(whole):
        return False
    return match["name"] == "hitlab" or (
        not _is_locked_by_sqlite(whole) and (_is_hitlab_file(whole) or not whole.exists())
    )


def _is_temporary(path: Path, about: os.stat_result) -> bool:
    if not stat.S_ISDIR(about.st_mode):
        return False
    if (match := _TEMPORARY.fullmatch(path.name)) is not None:
        return not (
            _is_running(int(match["pid"]), about.st_mtime) or _is_held(path) or _is_locked_by_sqlite(path / "copy.db")
        )
    old = time.time() - about.st_mtime > _MAX_AGE and _NAMELESS.fullmatch(path.name) is not None
    return (
        old
        and (path / "copy.db").is_file()
        and _is_hitlab_file(path / "copy.db")
        and not _is_locked_by_sqlite(path / "copy.db")
    )


def _is_hitlab_file(path: Path) -> bool:
    """Return True if a file is a hitlab database or an unfinished one: SQLite writes the first page last."""
    try:
        with path.open("rb") as file:
            head = file.read(72)
    except OSError:
        return False
    if not head.strip(b"\0"):
        return True
    # Bytes 68 to 71 are the application id (SQLite, Database File Format 1.3).
    return head.startswith(b"SQLite format 3\0") and head[68:72] in (struct.pack(">I", APPLICATION_ID), bytes(4))


def _is_locked_by_sqlite(path: Path) -> bool:
    """Return True if another program holds a SQLite lock on a database."""
    import fcntl

    for (first, length), file in zip(_LOCKS, (path, path.with_name(f"{path.name}-shm")), strict=True):
        try:
            with file.open("r+b") as handle:
                # SQLite uses POSIX locks, which flock() does not see.
                fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, length, first)
        except FileNotFoundError:
            continue
        except OSError:
            return True
    return False


def _is_running(pid: int, then: float) -> bool:
    """Return True if the process that wrote a file at time `then` still runs, and not a later one with its number."""
    if pid == os.getpid():
        return True
    try:
        # Signal 0 only checks that the process exists.
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass  # it runs, as another user
    began = _start_time(pid)
    # File times and the start of a process come from different clocks: allow a second.
    return began is None or began <= then + 1.0


def _start_time(pid: int) -> float | None:
    """Return the start of a process in seconds since 1970, or None without /proc."""
    try:
        # A program's name may contain spaces and parentheses, so split after the last one.
        after = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        boot_line = next(line for line in Path("/proc/stat").read_text().splitlines() if line.startswith("btime "))
        # Field 22 of proc(5), the start in clock ticks since boot. The list begins with field 3.
        return int(boot_line.split()[1]) + int(after[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def _remove(path: Path) -> bool:
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            for ending in _JOURNALS:
                path.with_name(path.name + ending).unlink(missing_ok=True)
    except OSError:
        return False
    return True
