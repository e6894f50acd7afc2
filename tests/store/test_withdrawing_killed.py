"""A withdrawal that is killed: the file is as it was, or nothing of the person is in it, and nothing between."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from store.file.schema import APPEND_ONLY, triggers
from store.store import Store
from tests.crossed import IN_SOAK, crossed
from tests.killing import ticking
from tests.withdrawals import CODE, Filled, fill

KILLS = 12
_WITHDRAW = f"""
from store.erasing.withdrawal import withdraw
withdraw(store, {CODE!r}, Actor("human", "D01"))
"""


def withdrawing(db: Path, ticks: int) -> int:
    """Withdraws in a process that kills itself after so many hundreds of SQLite's instructions; 0: how many."""
    return ticking(_WITHDRAW, db, ticks)


def rows_of(db: Path) -> list[list[tuple[object, ...]]]:
    raw = sqlite3.connect(db)
    try:
        return [raw.execute(f"SELECT * FROM {table}").fetchall() for table in APPEND_ONLY]
    finally:
        raw.close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Filled, int]:
    """A file with everything of theirs in it, and how long a withdrawal is that nobody kills."""
    folder = tmp_path_factory.mktemp("whole")
    with Store.open(folder / "lab.db") as store:
        filled = fill(store, folder)
    shutil.copy(folder / "lab.db", folder / "other.db")
    return folder / "lab.db", filled, withdrawing(folder / "other.db", 0)


@crossed
@pytest.mark.parametrize("kill", range(1, KILLS + 1) if IN_SOAK else (1, 4, 8, 11, 12))
def test_it_is_done_or_not_done(tmp_path: Path, whole: tuple[Path, Filled, int], kill: int) -> None:
    (source, filled, ticks), db = whole, tmp_path / "lab.db"
    shutil.copy(source, db)
    before = rows_of(db)
    withdrawing(db, ticks * kill // KILLS)
    raw = sqlite3.connect(db)
    assert raw.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    there = {name for (name,) in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")}
    assert there >= set(triggers())
    with pytest.raises(sqlite3.DatabaseError, match="append-only"):
        raw.execute("DELETE FROM label")
    raw.close()
    with Store.open(db) as store:
        gone = store.labels.has_withdrawn(CODE)
        assert store.check() == []
    if not gone:
        assert rows_of(db) == before
        return
    held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert [word for word in filled.gone if word.encode() in held] == []  # also where nobody got as far as to wipe it
    assert [word for word in filled.kept if word.encode() not in held] == []
