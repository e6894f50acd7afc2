"""How files were opened: a command that only tells opens them only to read, so that a read-only copy is enough."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from store.file.connection import connect


def openings(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Fills with what each opening from now on is: whether only to read."""
    opened: list[bool] = []

    def connect_and_tell(path: Path, *, readonly: bool = False) -> sqlite3.Connection:
        opened.append(readonly)
        return connect(path, readonly=readonly)

    monkeypatch.setattr("store.file.database.connect", connect_and_tell)
    return opened
