"""What was acknowledged survives a SIGKILL at any moment, and the next run works."""

from __future__ import annotations

import json
import random
from pathlib import Path

from store.store import Store
from tests.crashing import command, kill_at_random
from tests.warm import run

KILLS = 4
"""One may come before the first event and one after the last; `make soak` kills by the hundred."""


def test_every_printed_event_is_in_the_file_after_a_kill(tmp_path: Path) -> None:
    kill_and_go_on(tmp_path / "lab.db", random.Random(1), KILLS)


def kill_and_go_on(db: Path, dice: random.Random, kills: int) -> None:
    """Kills runs on one file at random moments; nothing printed is lost, and the next run works."""
    killed = [kill_at_random(db, dice) for _ in range(kills)]
    for one in killed:
        assert one.missing == []
        assert one.integrity == "ok"
    assert sum(one.printed for one in killed) > 0
    assert any(not one.ended for one in killed)

    done = run(command(db))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["status"] == "completed"
    with Store.open(db) as store:
        assert store.check() == []
        assert len(store.runs.summaries()) >= 1


def test_the_writers_own_connection_syncs_fully(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        assert store.database.connection().execute("PRAGMA synchronous").fetchone() == (2,)
