"""What the store's tests share: a fresh store, and small runs to put in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from store.store import Store
from tests.drawn_once import drawn_once

__all__ = ["drawn_once", "store"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened
