"""What stands in the terminal once a study is left, and what a kit opens as a file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from store.copies.kit_export import make_kit
from store.store import Store
from tests.screens.live.test_live_terminal import leaving, read_until
from tests.studies import frozen, unit


@pytest.mark.parametrize("by_name", [True, False])
def test_a_kit_opens_its_rater_s_room_and_quitting_says_how_to_come_back(tmp_path: Path, by_name: bool) -> None:
    kit = tmp_path / "R1 kit.db"
    with Store.open(tmp_path / "lab.db", create=True) as store:
        make_kit(store, frozen(store, [unit("u1")], title="The first study"), "R1", kit)
    with leaving([str(kit)] if by_name else ["--db", str(kit)], tmp_path) as main:
        seen = read_until(main, b"The first study").decode(errors="replace")
        assert "Devices" not in seen
        assert "Tasks" not in seen
        os.write(main, b"\x11")
        told = read_until(main, b"kit.db'").decode(errors="replace")
    assert "The first study: what you answered is kept. To go on where you were:" in told
    assert f"hitlab study rate trial --person R1 --db '{kit}'" in told
