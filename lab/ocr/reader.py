"""Read text from pictures in a separate process, and cache it in the cache folder.

The key of a picture is its sha256, that of its text the sha256 and the engine's version. The hitlab file stores none of
it, so text reported by a phone and text read from a picture never mix.
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
from lab.core.settings import folder
from lab.core.text.read_text import ReadLine, ReadText
from lab.core.values.made_files import make_folder
from lab.ocr.engine import check_engine
from lab.ocr.worker import LENGTH, MOST_BYTES, write_message

IDLE = 60.0
"""Seconds without a picture after which the process ends."""
_PATIENCE = 60.0
"""Seconds for one picture, including the loading of the models and the pictures before it."""
_NO_TELEMETRY = {"ORT_DISABLE_TELEMETRY": "1"}
"""Environment that stops onnxruntime from creating a device id in the cache folder and sending telemetry."""
_SHA = re.compile(r"[0-9a-f]{64}")
_VERSION = 1
"""Version of the selection of lines. Increase it to invalidate the cache of the same engine."""
_REMEMBERED = 64
"""Pictures whose text is cached in memory."""


class _Failure(msgspec.Struct):
    error: str


_REPLY = msgspec.json.Decoder(list[ReadLine] | _Failure)
_KEPT = msgspec.json.Decoder(ReadText)


def cache_folder() -> Path:
    """Return the folder of the cached text: `ocr` in hitlab's cache folder."""
    return folder("cache") / "ocr"


def forget() -> None:
    """Delete the cached text of all files, for use after pictures were erased."""
    shutil.rmtree(cache_folder(), ignore_errors=True)


class TextReader:
    """Read one picture at a time. Thread-safe. Raise `LabError` if no engine is installed.

    The process starts with the first unknown picture and ends after `idle` seconds without one.
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
        """Return the cached text of a picture, or None if it is not cached."""
        text = self._known.get(sha256)
        # The hash becomes a path.
        if text is None and _SHA.fullmatch(sha256):
            try:
                text = _KEPT.decode(self._cache_path(sha256).read_bytes())
            except (OSError, msgspec.DecodeError):
                return None
            self._cache_in_memory(sha256, text)
        return text

    def read(self, sha256: str, data: bytes, *, patience: float | None = None, keep: bool = True) -> ReadText:
        """Read a picture (PNG or JPEG), or return its cached text at once.

        Raise `LabError` if it cannot be read, or not within `patience` seconds (default: a minute), including the wait
        for other pictures. Without `keep` nothing is written to the cache folder.
        """
        text = self.stored_text(sha256)
        if text is not None:
            return text
        patience = _PATIENCE if patience is None else patience
        until = time.monotonic() + patience
        if not self._lock.acquire(timeout=patience):
            raise _read_error(f"others before it took more than {patience:g} seconds")
        # Another thread may have read it during the wait.
        try:
            text = self.stored_text(sha256)
            if text is None:
                text = ReadText(self.engine, tuple(self._ask_worker(data, until, patience)))
                self._cache_in_memory(sha256, text)
                if keep:
                    self._write_cache(sha256, text)
        finally:
            self._lock.release()
        return text

    def forget(self) -> None:
        """Delete the cached text in memory and in the cache folder."""
        self._known.clear()
        forget()

    def close(self) -> None:
        """End the process, even in the middle of a picture."""
        # Without the lock, which `read` may hold for a minute. Killing the process ends that read.
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()
            process.wait()

    @property
    def pid(self) -> int | None:
        """Process id of the reader, or None if it is not running."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    # -- the process -----------------------------------------------------------------------------------------

    def _ask_worker(self, data: bytes, until: float, patience: float) -> list[ReadLine]:
        if len(data) > MOST_BYTES:
            raise _read_error(f"it has {len(data):,} bytes, more than {MOST_BYTES:,}")
        for fresh in (False, True):  # an idle process may end between the check and the write
            process = self._running_worker(fresh=fresh)
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                write_message(process.stdin.fileno(), data)
                reply = _reply(process.stdout.fileno(), until)
            except TimeoutError:
                process.kill()
                raise _read_error(f"that took more than {patience:g} seconds") from None
            except (BrokenPipeError, EOFError):
                continue
            if isinstance(reply, _Failure):
                raise _read_error(reply.error)
            return reply
        raise _read_error("the engine ended")

    def _running_worker(self, *, fresh: bool) -> subprocess.Popen[bytes]:
        process = self._process
        if process is not None and (fresh or process.poll() is not None):
            process.kill()
            process.wait()
            process = None
        if self._closed:
            raise _read_error("the lab was closed")
        if process is None:
            # -P: never import modules from the working folder.
            command = [sys.executable, "-P", "-m", "lab.ocr.worker", f"{self._idle:g}"]
            process = self._process = subprocess.Popen(
                command,
                env=os.environ | _NO_TELEMETRY,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
        return process

    # -- what is kept ----------------------------------------------------------------------------------------

    def _cache_path(self, sha256: str) -> Path:
        return self._folder / sha256[:2] / f"{sha256}.json"

    def _cache_in_memory(self, sha256: str, text: ReadText) -> None:
        self._known[sha256] = text
        while len(self._known) > _REMEMBERED:
            self._known.pop(next(iter(self._known)), None)

    def _write_cache(self, sha256: str, text: ReadText) -> None:
        """Write the text to the cache. Ignore errors, because a cache is optional."""
        if not _SHA.fullmatch(sha256):
            return
        path = self._cache_path(sha256)
        try:
            make_folder(path.parent)
            descriptor, name = tempfile.mkstemp(dir=path.parent)
            # Write and rename, so that other processes never read half a file.
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(text))
            os.replace(name, path)
        except OSError:
            return


def _reply(descriptor: int, until: float) -> list[ReadLine] | _Failure:
    """Read the process's reply. Raise `TimeoutError` after `until`, `EOFError` if the process ended."""
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


def _read_error(why: str) -> LabError:
    return LabError("words from a picture", f"could not be read: {why}.")
