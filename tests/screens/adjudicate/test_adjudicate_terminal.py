"""`hitlab labels adjudicate STUDY` in a real terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.store import Store
from tests.screens.adjudicate.test_adjudicate import studied
from tests.screens.test_terminal import painted_in_terminal


def test_the_room_opens_from_the_command_and_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HITLAB_PERSON", "D1")
    db = tmp_path / "lab.db"
    with Store.open(db) as store:
        plan = studied(store)
    assert painted_in_terminal(["adjudicate", plan.id, "--db", str(db)], b"3 to settle", tmp_path) == (True, 0)
