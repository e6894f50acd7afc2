"""Servers that run on a file: where each listens, and which clients wait at an endpoint; notes in the cache folder.

A note belongs to one process, which holds a lock on it for as long as it lives. The kernel releases the lock with the
process, so that a server that was killed is never taken for one that runs.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from lab.core.made_files import make_folder, open_descriptor
from lab.core.settings import folder

ServerKind = Literal["endpoint", "serve"]
_KEPT = 7 * 24 * 3600
"""Seconds for which the note of a server that ended is kept: until then it says when its clients left."""
_MOST = 64
"""Notes of one file that are read."""


class _Note(msgspec.Struct, frozen=True):
    address: str
    here: tuple[str, ...] = ()
    left: dict[str, str] = {}


class ServerNote(NamedTuple):
    """What a server said of itself last; `at` (UTC) is when it was there last, `runs_now` whether it is there still.

    `here` are the runs in which a client waits on the line, `left` those that a client left while its question
    waited, each with the time (UTC).
    """

    address: str
    at: str
    runs_now: bool
    here: tuple[str, ...]
    left: Mapping[str, str]


class RunningServer:
    """The note of one server; made when it listens, and left as an ended one by `close`."""

    def __init__(self, db: Path, kind: ServerKind, address: str) -> None:
        self._address = address
        self._path = _notes() / f"{_key(db)}-{kind}-{secrets.token_hex(6)}.json"
        self._handle = -1
        _sweep(f"{_key(db)}-{kind}-")
        self.write()

    def write(self, here: tuple[str, ...] = (), left: Mapping[str, str] | None = None) -> None:
        """Replaces the note in one step; the new one is locked before it is there."""
        part = self._path.with_suffix(f".{secrets.token_hex(4)}")
        data = msgspec.json.encode(_Note(self._address, here, dict(left or {})))
        handle = -1
        # A cache folder that cannot be written to costs what the note says, and no answer.
        with suppress(OSError):
            make_folder(part.parent)
            handle = open_descriptor(part, os.O_WRONLY | os.O_EXCL)
            fcntl.flock(handle, fcntl.LOCK_EX)
            os.write(handle, data)
            part.replace(self._path)
            self._handle, handle = handle, self._handle
        if handle >= 0:
            os.close(handle)

    def touch(self) -> None:
        """Says that the server is there still: of one that is killed the note's time tells when its clients left."""
        with suppress(OSError):
            if self._handle >= 0:
                os.utime(self._handle)

    def close(self, left: Mapping[str, str] | None = None) -> None:
        """Says that the server ended, and when clients left whose questions wait on; with none the note goes."""
        if left:
            self.write((), left)
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
        if not left:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)


def server_notes(db: Path, kind: ServerKind) -> list[ServerNote]:
    """What servers of that kind on a file said last, the oldest first; those that ended too, for some days."""
    notes = []
    for path in sorted(_notes().glob(f"{_key(db)}-{kind}-*.json"))[:_MOST]:
        with suppress(OSError, msgspec.DecodeError):  # it was removed, or replaced, just now
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                runs_now = not _lock(handle)
                status = os.fstat(handle)
                note = msgspec.json.decode(os.read(handle, status.st_size), type=_Note)
            finally:
                os.close(handle)
            at = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="microseconds")
            notes.append(ServerNote(note.address, at, runs_now, note.here, note.left))
    return sorted(notes, key=lambda note: note.at)


def running_address(db: Path, kind: ServerKind) -> str:
    """Where the newest running server of that kind on a file listens; empty where none does."""
    return next((note.address for note in reversed(server_notes(db, kind)) if note.runs_now), "")


class Departures(NamedTuple):
    """By the run of a question at the endpoint when its client left (UTC); `ended_at` is when no endpoint ran any more.

    A run is missing where a client waits on the line, and where no endpoint knows it.
    """

    left: Mapping[str, str]
    ended_at: str = ""

    def left_at(self, run: str, asked_at: str) -> str:
        """When the client of a question left that was asked at that time; empty where it did not, or nobody knows."""
        return self.left.get(run) or (max(self.ended_at, asked_at) if self.ended_at else "")


def departures(db: Path) -> Departures:
    """Which clients of a file's endpoints left while their questions waited."""
    here: set[str] = set()
    left: dict[str, str] = {}
    notes = server_notes(db, "endpoint")
    for note in notes:
        left |= note.left
        if note.runs_now:
            here.update(note.here)
        else:
            left |= dict.fromkeys(note.here, note.at)
    ended_at = notes[-1].at if notes and not any(note.runs_now for note in notes) else ""
    return Departures({run: at for run, at in left.items() if run not in here}, ended_at)


def notes_stamp(db: Path) -> tuple[tuple[str, int], ...]:
    """What is another once any endpoint's note on a file is: to be compared, never shown."""
    stamp = []
    for path in sorted(_notes().glob(f"{_key(db)}-endpoint-*.json"))[:_MOST]:
        with suppress(OSError):
            stamp.append((path.name, path.stat().st_ino))
    return tuple(stamp)


def _notes() -> Path:
    return folder("cache") / "servers"


def _key(db: Path) -> str:
    return hashlib.sha256(os.fsencode(db.resolve())).hexdigest()[:20]


def _lock(handle: int) -> bool:
    """Whether nobody holds a note; readers do not take it for held by one another."""
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sweep(prefix: str) -> None:
    """Removes notes of servers that ended: those before this one, of which it says what is left, and old ones."""
    for path in _notes().glob("*"):
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                ended, age = _lock(handle), time.time() - os.fstat(handle).st_mtime
            finally:
                os.close(handle)
            if ended and (path.name.startswith(prefix) or age > _KEPT):
                path.unlink(missing_ok=True)
