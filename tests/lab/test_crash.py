"""What was acknowledged survives a SIGKILL at any moment, and the next run works."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path

import pytest

from store.store import Store
from tests.crashing import command, kill_at_random

KILLS = 25


@pytest.mark.parametrize("seed", range(3))
def test_every_printed_event_is_in_the_file_after_a_kill(tmp_path: Path, seed: int) -> None:
    db = tmp_path / "lab.db"
    dice = random.Random(seed)
    killed = [kill_at_random(db, dice) for _ in range(KILLS // 5)]
    for one in killed:
        assert one.missing == []
        assert one.integrity == "ok"
    assert sum(one.printed for one in killed) > 0
    assert any(not one.ended for one in killed)

    done = subprocess.run(command(db), capture_output=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1])["status"] == "completed"
    with Store.open(db) as store:
        assert store.check() == []
        assert len(store.summaries()) >= 1


def test_the_writers_own_connection_syncs_fully(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        assert store._connection().execute("PRAGMA synchronous").fetchone() == (2,)
