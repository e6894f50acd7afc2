"""Note files in the cache folder about servers on a database: their address, and the clients connected to an endpoint.

A note belongs to one process, which locks it while it lives. The kernel releases the lock with the process, so that a
killed server never passes for a running one.
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

from lab.core.settings import folder
from lab.core.values.made_files import make_folder, open_descriptor

ServerKind = Literal["endpoint", "serve"]
_KEPT_SECONDS = 7 * 24 * 3600
"""Seconds to preserve the note of a server that ended. It says when its clients left."""
_MOST = 64
"""Maximum number of notes to read for one database."""


class _Note(msgspec.Struct, frozen=True):
    address: str
    here: tuple[str, ...] = ()
    left: dict[str, str] = {}


class ServerNote(NamedTuple):
    """A server's last note. `at` (UTC) is when it last ran, and `runs_now` is true if it still does.

    `here` are the runs with a connected client. `left` maps runs whose client left a waiting question to the time
    (UTC).
    """

    address: str
    at: str
    runs_now: bool
    here: tuple[str, ...]
    left: Mapping[str, str]


class RunningServer:
    """The note of one running server. `close` marks it as ended or removes it."""

    def __init__(self, db: Path, kind: ServerKind, address: str) -> None:
        self._address = address
        self._path = _notes_folder() / f"{_db_key(db)}-{kind}-{secrets.token_hex(6)}.json"
        self._handle = -1
        _remove_ended(f"{_db_key(db)}-{kind}-")
        self.write()

    def write(self, here: tuple[str, ...] = (), left: Mapping[str, str] | None = None) -> None:
        """Replace the note atomically. The new file is locked before it takes the name."""
        part = self._path.with_suffix(f".{secrets.token_hex(4)}")
        data = msgspec.json.encode(_Note(self._address, here, dict(left or {})))
        handle = -1
        # A cache folder that cannot be written to costs what the note says, and no answer.
        with suppress(OSError):
            make_folder(part.parent)
            handle = open_descriptor(part, os.O_WRONLY | os.O_EXCL)
            # Locked under its temporary name, so that no reader finds the note unlocked.
            fcntl.flock(handle, fcntl.LOCK_EX)
            os.write(handle, data)
            part.replace(self._path)
            # The old note's lock is released only after the new one took its place.
            self._handle, handle = handle, self._handle
        if handle >= 0:
            os.close(handle)

    def touch(self) -> None:
        """Update the note's time. If the server is killed, that is when its clients left."""
        with suppress(OSError):
            if self._handle >= 0:
                os.utime(self._handle)

    def close(self, left: Mapping[str, str] | None = None) -> None:
        """Mark the server as ended, with the times at which clients left waiting questions.

        Without any, remove the note.
        """
        if left:
            self.write((), left)
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
        if not left:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)


def server_notes(db: Path, kind: ServerKind) -> list[ServerNote]:
    """Return the notes of a database's servers of that kind, the oldest first. Ended ones stay for some days."""
    notes = []
    for path in sorted(_notes_folder().glob(f"{_db_key(db)}-{kind}-*.json"))[:_MOST]:
        with suppress(OSError, msgspec.DecodeError):  # it was removed, or replaced, just now
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                runs_now = not _try_lock(handle)
                status = os.fstat(handle)
                note = msgspec.json.decode(os.read(handle, status.st_size), type=_Note)
            finally:
                os.close(handle)
            at = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="microseconds")
            notes.append(ServerNote(note.address, at, runs_now, note.here, note.left))
    return sorted(notes, key=lambda note: note.at)


def running_address(db: Path, kind: ServerKind) -> str:
    """Return the address of the newest running server of that kind, empty if none runs."""
    return next((note.address for note in reversed(server_notes(db, kind)) if note.runs_now), "")


class Departures(NamedTuple):
    """The times (UTC) at which clients of waiting questions left, by run. `ended_at` is when the last endpoint ended.

    A run is missing if its client is connected, or if no endpoint knows it.
    """

    left: Mapping[str, str]
    ended_at: str = ""

    def left_at(self, run: str, asked_at: str) -> str:
        """Return when the client of a question asked at `asked_at` left, empty if it is connected or unknown."""
        return self.left.get(run) or (max(self.ended_at, asked_at) if self.ended_at else "")


def departures(db: Path) -> Departures:
    """Return which clients of a database's endpoints left while their questions waited."""
    connected: set[str] = set()
    left: dict[str, str] = {}
    notes = server_notes(db, "endpoint")
    for note in notes:
        left |= note.left
        if note.runs_now:
            connected.update(note.here)
        else:
            left |= dict.fromkeys(note.here, note.at)
    ended_at = notes[-1].at if notes and not any(note.runs_now for note in notes) else ""
    return Departures({run: at for run, at in left.items() if run not in connected}, ended_at)


def notes_stamp(db: Path) -> tuple[tuple[str, int], ...]:
    """Return a value that changes with any endpoint note of a database. Only for comparison."""
    stamp = []
    for path in sorted(_notes_folder().glob(f"{_db_key(db)}-endpoint-*.json"))[:_MOST]:
        with suppress(OSError):
            stamp.append((path.name, path.stat().st_ino))
    return tuple(stamp)


def _notes_folder() -> Path:
    return folder("cache") / "servers"


def _db_key(db: Path) -> str:
    return hashlib.sha256(os.fsencode(db.resolve())).hexdigest()[:20]


def _try_lock(handle: int) -> bool:
    """Return True if no server holds a note's lock. Readers share the lock, so they do not block one another."""
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_ended(prefix: str) -> None:
    """Remove notes of ended servers: this database's earlier ones, which the new note supersedes, and old ones."""
    for path in _notes_folder().glob("*"):
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                ended, age = _try_lock(handle), time.time() - os.fstat(handle).st_mtime
            finally:
                os.close(handle)
            if ended and (path.name.startswith(prefix) or age > _KEPT_SECONDS):
                path.unlink(missing_ok=True)
