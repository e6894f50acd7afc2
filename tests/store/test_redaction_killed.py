"""A redaction that is killed: the runs are whole, as they were or as they became, and nothing between."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from lab.core.run.trace import Trace
from store.file.schema import triggers
from store.store import Store
from tests.crossed import IN_SOAK, crossed
from tests.demonstrations import DEMO, MAIL, NAME, demonstration
from tests.killing import ticking

KILLS = 10
_REDACT = f"""
from store.erasing.run_redaction import redact
redact(store, {DEMO!r}, Actor("human", "D01"), boxes={{}}, words=({NAME!r}, {MAIL!r}))
"""


def redacting(db: Path, ticks: int) -> int:
    """Redacts in a process that kills itself after so many hundreds of SQLite's instructions; 0: how many there are."""
    return ticking(_REDACT, db, ticks)


def filled(db: Path) -> Trace:
    with Store.open(db) as store:
        store.runs.add(demonstration())
        return store.runs.trace(DEMO)


@pytest.fixture(scope="module")
def ticks(tmp_path_factory: pytest.TempPathFactory) -> int:
    """How long a redaction is that nobody kills."""
    db = tmp_path_factory.mktemp("whole") / "lab.db"
    filled(db)
    return redacting(db, 0)


@crossed
@pytest.mark.parametrize("kill", range(1, KILLS + 1) if IN_SOAK else (1, 4, 7, 9, 10))
def test_it_is_done_or_not_done(tmp_path: Path, ticks: int, kill: int) -> None:
    db = tmp_path / "lab.db"
    before = filled(db)
    redacting(db, ticks * kill // KILLS)
    raw = sqlite3.connect(db)
    assert raw.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    there = {name for (name,) in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")}
    assert there >= set(triggers())
    with pytest.raises(sqlite3.DatabaseError, match="append-only"):
        raw.execute("DELETE FROM event")
    raw.close()
    with Store.open(db) as store:
        stone = store.erasure.tombstone(DEMO)
        assert store.check() == []
        if stone is None:
            assert store.runs.trace(DEMO) == before
            return
        assert not store.runs.has_run(DEMO)
        assert store.runs.trace(stone.replaced_by or "").steps
    held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert NAME.encode() not in held  # also where nobody got as far as to wipe the file
    assert MAIL.encode() not in held
