"""A file in a home of its own, whose manager is `boss`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.store import Store


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HITLAB_PERSON", "boss")
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened
