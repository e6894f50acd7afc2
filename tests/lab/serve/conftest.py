"""A file in a home of its own, whose manager is `boss`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.serve.open_links import RoomLink
from lab.serve.server import LabServer
from store.store import Store
from tests.warm import shim

_STARTED = LabServer._command
PYTHON = 4
"""Words of a window's command before those of hitlab itself."""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HITLAB_PERSON", "boss")
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture
def forked_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The app of each window is forked from one that is loaded, not started."""
    program = str(shim(tmp_path / "hitlab"))

    def command(server: LabServer, link: RoomLink) -> list[str]:
        return [program, *_STARTED(server, link)[PYTHON:]]

    monkeypatch.setattr(LabServer, "_command", command)


@pytest.fixture
def started_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each app is started by Python, in a file where the others are forked."""
    monkeypatch.setattr(LabServer, "_command", _STARTED)
