"""Reads text from pictures in a process of its own, and keeps what was read in the cache folder.

A picture is known by its sha256, and what was read of it by that and the engine's version. Nothing of it is in the
hitlab file: what a phone said and what was read from its picture are never mixed.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import msgspec

from lab.core.errors import LabError
from lab.core.made_files import make_folder
from lab.core.read_text import ReadLine, ReadText
from lab.core.settings import folder
from lab.ocr.engine import check_engine
from lab.ocr.worker import LENGTH, MOST_BYTES, sent

IDLE = 60.0
"""Seconds without a picture after which the process ends."""
_PATIENCE = 60.0
"""Seconds that one picture may take, the loading of the models and the pictures before it included."""
_SILENT = {"ORT_DISABLE_TELEMETRY": "1"}
"""Without this onnxruntime makes a device id in the cache folder and reports to its maker."""
_SHA = re.compile(r"[0-9a-f]{64}")
_VERSION = 1
"""Counted up where the same engine's lines are chosen in another way: what was kept before is then read anew."""
_REMEMBERED = 64
"""Pictures whose text is held in memory."""


class _Failure(msgspec.Struct):
    error: str


_REPLY = msgspec.json.Decoder(list[ReadLine] | _Failure)
_KEPT = msgspec.json.Decoder(ReadText)


def cache_folder() -> Path:
    """Where what was read is kept: `ocr` in hitlab's cache folder."""
    return folder("cache") / "ocr"


def forget() -> None:
    """Removes all that was read, of every file: pictures were erased, and nothing of them may stay."""
    shutil.rmtree(cache_folder(), ignore_errors=True)


class TextReader:
    """Reads one picture at a time; safe on any thread. A `LabError` where no engine is installed.

    The process begins with the first picture that is not known and ends after `idle` seconds without one.
    """

    def __init__(self, *, idle: float = IDLE) -> None:
        self.engine = check_engine()
        self._folder = cache_folder() / re.sub(r"[^A-Za-z0-9.]+", "-", f"{self.engine} {_VERSION}")
        self._idle = idle
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._known: dict[str, ReadText] = {}
        self._closed = False

    def stored_text(self, sha256: str) -> ReadText | None:
        """What was read of a picture before; None where nothing was."""
        text = self._known.get(sha256)
        if text is None and _SHA.fullmatch(sha256):
            try:
                text = _KEPT.decode(self._file(sha256).read_bytes())
            except (OSError, msgspec.DecodeError):
                return None
            self._remember(sha256, text)
        return text

    def read(self, sha256: str, data: bytes, *, patience: float | None = None, keep: bool = True) -> ReadText:
        """Reads a picture (PNG or JPEG); what is known is given at once.

        Raises `LabError` where it cannot be read, or not within `patience` seconds (a minute where nothing is said),
        those in which others' pictures are read included. Without `keep` nothing is written to the cache folder.
        """
        text = self.stored_text(sha256)
        if text is not None:
            return text
        patience = _PATIENCE if patience is None else patience
        until = time.monotonic() + patience
        if not self._lock.acquire(timeout=patience):
            raise _unread(f"others before it took more than {patience:g} seconds")
        try:
            text = self.stored_text(sha256)
            if text is None:
                text = ReadText(self.engine, tuple(self._asked(data, until, patience)))
                self._remember(sha256, text)
                if keep:
                    self._keep(sha256, text)
        finally:
            self._lock.release()
        return text

    def forget(self) -> None:
        """Forgets all that was read, and removes it from the cache folder."""
        self._known.clear()
        forget()

    def close(self) -> None:
        """Ends the process; a picture that is being read is given up."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()
            process.wait()

    @property
    def pid(self) -> int | None:
        """The process that reads; None where there is none."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    # -- the process -----------------------------------------------------------------------------------------

    def _asked(self, data: bytes, until: float, patience: float) -> list[ReadLine]:
        if len(data) > MOST_BYTES:
            raise _unread(f"it has {len(data):,} bytes, more than {MOST_BYTES:,}")
        for fresh in (False, True):  # it may have ended, for nobody asked, in this very moment
            process = self._running(fresh=fresh)
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                sent(process.stdin.fileno(), data)
                reply = _reply(process.stdout.fileno(), until)
            except TimeoutError:
                process.kill()
                raise _unread(f"that took more than {patience:g} seconds") from None
            except (BrokenPipeError, EOFError):
                continue
            if isinstance(reply, _Failure):
                raise _unread(reply.error)
            return reply
        raise _unread("the engine ended")

    def _running(self, *, fresh: bool) -> subprocess.Popen[bytes]:
        process = self._process
        if process is not None and (fresh or process.poll() is not None):
            process.kill()
            process.wait()
            process = None
        if self._closed:
            raise _unread("the lab was closed")
        if process is None:
            command = [sys.executable, "-P", "-m", "lab.ocr.worker", f"{self._idle:g}"]
            process = self._process = subprocess.Popen(
                command,
                env=os.environ | _SILENT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
        return process

    # -- what is kept ----------------------------------------------------------------------------------------

    def _file(self, sha256: str) -> Path:
        return self._folder / sha256[:2] / f"{sha256}.json"

    def _remember(self, sha256: str, text: ReadText) -> None:
        self._known[sha256] = text
        while len(self._known) > _REMEMBERED:
            self._known.pop(next(iter(self._known)), None)

    def _keep(self, sha256: str, text: ReadText) -> None:
        """Keeps it for the next time; a cache that cannot be written is none."""
        if not _SHA.fullmatch(sha256):
            return
        path = self._file(sha256)
        try:
            make_folder(path.parent)
            descriptor, name = tempfile.mkstemp(dir=path.parent)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(text))
            os.replace(name, path)
        except OSError:
            return


def _reply(descriptor: int, until: float) -> list[ReadLine] | _Failure:
    """What the process says of a picture; `TimeoutError` where not `until` then, `EOFError` where it ended."""
    data, size = bytearray(), LENGTH.size
    while len(data) < size:
        if not select.select([descriptor], [], [], max(0.0, until - time.monotonic()))[0]:
            raise TimeoutError
        part = os.read(descriptor, size - len(data))
        if not part:
            raise EOFError
        data += part
        if len(data) == size == LENGTH.size:
            size += LENGTH.unpack(bytes(data))[0]
    reply: list[ReadLine] | _Failure = _REPLY.decode(bytes(data[LENGTH.size :]))
    return reply


def _unread(why: str) -> LabError:
    return LabError("words from a picture", f"could not be read: {why}.")
