"""Words of pictures in tests: what the engine, which takes seconds for each, read of them is kept in a packed file.

A picture is known by its pixels. One that is not in the file is read by the engine, once for all workers: where another
engine is installed, or a screen is drawn otherwise. In a soak each one is. `make snapshots` adds what is new.
"""

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

from lab.core.text.read_text import ReadLine
from lab.ocr.engine import engine_name
from lab.ocr.reader import TextReader
from tests import drawn_once
from tests.crossed import IN_SOAK

PACKED = Path(__file__).with_name("read_pictures.jsonl")
"""What was read, a picture a line."""
by_the_engine = TextReader._ask_worker
"""For tests of the engine's process itself."""
_known: dict[str, list[ReadLine]] = {}
_adding = False
"""Whether what the engine reads is added to the packed file."""
_one_at_a_time = threading.Lock()
_MORE = 240.0
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
            _known[key] = _read(key, lambda: by_the_engine(_shared(), data, until + _MORE, patience + _MORE))
        return _known[key]


def _read(key: str, read: Callable[[], list[ReadLine]]) -> list[ReadLine]:
    packed = None if IN_SOAK or _adding else _packed().get(_name(key))
    return _by_any_worker(key, read) if packed is None else packed


class PackedText(msgspec.Struct):
    """What an engine read of a picture, which is known by the sha256 of what names its pixels."""

    engine: str
    picture: str
    lines: list[ReadLine]


_LINES = msgspec.json.Decoder(PackedText)


def _packed() -> dict[str, list[ReadLine]]:
    """What was read by the engine that is installed."""
    texts = _LINES.decode_lines(PACKED.read_bytes()) if PACKED.exists() else []
    return {text.picture: text.lines for text in texts if text.engine == engine_name()}


def _name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def _add(key: str, lines: list[ReadLine]) -> None:
    """Puts a picture into the packed file; what other engines read goes."""
    texts = [PackedText(engine_name(), *one) for one in sorted((_packed() | {_name(key): lines}).items())]
    PACKED.write_bytes(msgspec.json.Encoder().encode_lines(texts))


def _by_any_worker(key: str, read: Callable[[], list[ReadLine]]) -> list[ReadLine]:
    """What was read of the picture in whichever worker of one run of the tests came to it first."""
    folder = Path(os.environ[drawn_once.FOLDER]).with_name("read")
    folder.mkdir(exist_ok=True)
    path = folder / _name(key)
    with _alone(path.with_suffix(".lock")):
        if not path.exists():
            lines = read()
            path.write_bytes(msgspec.json.encode(lines))
            if _adding:
                _add(key, lines)
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
def read_once(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.setattr("tests.read_once._adding", bool(request.config.getoption("update_snapshots", False)))
    monkeypatch.setattr(TextReader, "_ask_worker", _asked)
