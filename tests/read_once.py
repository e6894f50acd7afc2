"""Words of pictures in tests of screens: the engine, which takes a second for each, reads a picture once a session."""

from __future__ import annotations

import hashlib

import pytest

from lab.core.read_text import ReadLine
from lab.ocr.reader import TextReader

by_the_engine = TextReader._asked
"""For tests of the engine's process itself."""
_known: dict[str, list[ReadLine]] = {}
_MORE = 120.0
"""Seconds more than the program waits for a picture."""


def _asked(reader: TextReader, data: bytes, until: float, patience: float) -> list[ReadLine]:
    """What was read of the same picture in another test; the engine has its time, however busy the machine is.

    Where a test has no patience at all, nothing is read.
    """
    if not patience:
        return by_the_engine(reader, data, until, patience)
    key = hashlib.sha256(data).hexdigest()
    if key not in _known:
        _known[key] = by_the_engine(reader, data, until + _MORE, patience + _MORE)
    return _known[key]


@pytest.fixture(autouse=True)
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TextReader, "_asked", _asked)
