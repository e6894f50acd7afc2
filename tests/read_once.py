"""Words of pictures in tests: the engine, which takes seconds for each, reads a picture once for all workers."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import io
import os
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from pathlib import Path

import msgspec
import pytest
from PIL import Image

from lab.core.read_text import ReadLine
from lab.ocr.reader import TextReader
from tests import drawn_once

by_the_engine = TextReader._asked
"""For tests of the engine's process itself."""
_known: dict[str, list[ReadLine]] = {}
_one_at_a_time = threading.Lock()
_MORE = 900.0
"""Seconds more than the program waits for a picture."""


def _asked(reader: TextReader, data: bytes, until: float, patience: float) -> list[ReadLine]:
    """What was read of the same picture in another test; the engine has its time, however busy the machine is.

    Where a test has no patience, nothing is read. One process reads for all of a worker's session.
    """
    if patience < 1:
        return by_the_engine(reader, data, until, patience)
    key = _picture_of(data)
    with _one_at_a_time:  # of two readers that asked at once, one was told what stands in the other's picture
        if key not in _known:
            _known[key] = _by_any_worker(key, lambda: by_the_engine(_shared(), data, until + _MORE, patience + _MORE))
        return _known[key]


def _by_any_worker(key: str, read: Callable[[], list[ReadLine]]) -> list[ReadLine]:
    """What was read of the picture in whichever worker of one run of the tests came to it first."""
    folder = Path(os.environ[drawn_once.FOLDER]).with_name("read")
    folder.mkdir(exist_ok=True)
    path = folder / hashlib.sha256(key.encode()).hexdigest()
    with _alone(path.with_suffix(".lock")):
        if not path.exists():
            path.write_bytes(msgspec.json.encode(read()))
    return msgspec.json.decode(path.read_bytes(), type=list[ReadLine])


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """No other worker has this file meanwhile."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@lru_cache(64)
def _picture_of(data: bytes) -> str:
    """Names a picture by its pixels: the engine reads the same in them, whoever packed them."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            pixels = image.convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return hashlib.sha256(data).hexdigest()
    return f"{image.mode} {image.size} {hashlib.sha256(pixels.tobytes()).hexdigest()}"


def read_before(*pictures: bytes) -> None:
    """Reads pictures before an app shows them: on a busy machine that takes longer than a screen is waited for."""
    for data in pictures:
        _asked(_shared(), data, time.monotonic() + _MORE, _MORE)


@cache
def _shared() -> TextReader:
    reader = TextReader()
    atexit.register(reader.close)
    return reader


@pytest.fixture(autouse=True)
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TextReader, "_asked", _asked)
