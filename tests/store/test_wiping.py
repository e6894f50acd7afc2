"""A file that cannot be rewritten yet: what is erased is committed, the command says so, and what is left to do."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path

import pytest

from lab.core.settings import folder
from lab.core.task.task import Actor
from store.store import Store
from tests.replied import REPLY, Hitlab, bytes_of, hitlab, keep, replied
from tests.warm_code import python

_SMALL_DISK = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
most = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
from lab.cli.main import main
sys.exit(main(sys.argv[2:]))
"""
"""A disk on which no file grows beyond so many bytes."""


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "lab.db"
    others = (
        replied(f"run-{i}", by=Actor("human", "P08"), said="other words " * 900, typed=f"t{i}") for i in range(100)
    )
    keep(path, replied(), *others)
    return path


@pytest.fixture
def call(db: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hitlab:
    return hitlab(db, capsys, monkeypatch)


def small_disk(db: Path, most: int, *words: str) -> subprocess.CompletedProcess[str]:
    return python(_SMALL_DISK, most, *words, "--db", db, text=True)


def names(db: Path) -> list[str]:
    with Store.open(db, readonly=True) as store:
        return [one.id for one in store.runs.summaries()]


def test_a_withdrawal_on_a_nearly_full_disk_says_what_is_done_and_what_is_left(db: Path, call: Hitlab) -> None:
    done = small_disk(db, db.stat().st_size, "withdraw", "P07", "--yes", "--json")
    assert done.returncode == 3
    told = json.loads(done.stdout)
    assert (told["done"], told["counts"]["runs"]) == (True, 1)
    for said in (told["unwiped"], done.stderr):
        assert "it is committed, and bytes of it may still lie in the file" in said
        assert "`hitlab runs redact --wipe`" in said
        assert "Nothing was written in part" not in said
    assert "run-said" not in names(db)
    assert call("privacy", "--wipe")[0] == 0
    assert REPLY.encode() not in bytes_of(db)


def test_a_withdrawal_that_finds_no_room_at_all_does_nothing(db: Path) -> None:
    done = small_disk(db, 4096, "withdraw", "P07", "--yes")
    assert done.returncode == 1
    assert "has withdrawn" not in done.stdout
    assert "committed" not in done.stderr
    assert "run-said" in names(db)


def test_a_redaction_on_a_nearly_full_disk_says_what_is_done_and_what_is_left(db: Path, call: Hitlab) -> None:
    done = small_disk(db, db.stat().st_size, "privacy", "run-said", "--text", REPLY, "--json")
    assert done.returncode == 3
    told = json.loads(done.stdout)
    assert told["trace"] in names(db)
    assert "it is committed" in told["unwiped"]
    assert call("privacy", "--wipe")[0] == 0
    assert REPLY.encode() not in bytes_of(db)


def test_what_was_computed_of_their_answers_goes_also_where_a_reader_holds_the_file(
    db: Path, call: Hitlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert (
        call("study", "new", "success", "--even-so", "--runs", "run-said", "run-1", "--raters", "R1,R2", "--name", "s")[
            0
        ]
        == 0
    )
    assert call("study", "deal", "s")[0] == 0
    plan = json.loads(call("study", "show", "s", "--json")[1])
    yes = plan["plan"]["protocol"]["fields"][0]["options"][0]["id"]
    rows = [{"unit": one["id"], "field": "outcome", "value": yes, "commit": True} for one in plan["units"]]
    for rater in ("R1", "R2"):
        assert call("label", "s", "--as", rater, stdin="\n".join(map(json.dumps, rows)))[0] == 0
    assert call("agreement", "s")[0] == 0
    kept = folder("cache") / "agreement"
    assert list(kept.rglob("*.json"))
    reader = sqlite3.connect(db)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM trace").fetchall()
    monkeypatch.setattr("store.erasing.erasure.BUSY_SECONDS", 0.0)
    monkeypatch.setattr("store.file.connection.BUSY_SECONDS", 0.0)
    code, out, err = call("withdraw", "R2", "--yes")
    reader.close()
    assert code == 3
    assert "R2 has withdrawn" in out
    assert "another program is reading the file" in err
    assert list(kept.rglob("*.json")) == []
