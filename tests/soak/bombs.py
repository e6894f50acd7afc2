"""Every bomb at every command that reads a stranger's file; `make test` has one at each."""

from __future__ import annotations

from pathlib import Path

from tests.lab.cli.test_hostile_files import BOMBS, ENTRIES, filled, thrown


def test_every_bomb_at_every_entry(tmp_path: Path) -> None:
    home = filled(tmp_path)
    for args, name in ENTRIES:
        thrown(home, args, name, BOMBS)
