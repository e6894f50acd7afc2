"""`hitlab agreement STUDY --open` in a real terminal; without one it says what prints instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.cli.main import main
from store.store import Store
from tests.screens.agreement.sample_study import made
from tests.screens.test_terminal import painted_in_terminal


def test_the_room_opens_from_the_command_and_is_left(tmp_path: Path) -> None:
    db = tmp_path / "lab.db"
    with Store.open(db) as store:
        made(store)
    assert painted_in_terminal(["agreement", "trial", "--open", "--db", str(db)], b"Rater pairs", tmp_path) == (
        True, 0,
    )  # fmt: skip


def test_without_a_terminal_it_says_what_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    db = tmp_path / "lab.db"
    with Store.open(db) as store:
        made(store)
    assert main(["agreement", "trial", "--open", "--db", str(db)]) == 2
    assert "`hitlab agreement STUDY` prints it." in capsys.readouterr().err
    assert main(["agreement", "trial", "--open", "--json", "--db", str(db)]) == 2
