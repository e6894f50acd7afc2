"""Files that cannot be ours, or cannot be written: one sentence each, and nothing written in part."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lab.core.errors import LabError
from lab.core.run.run_records import Blob, Imported, number_events
from lab.core.run.step import Action, Proposed
from lab.core.run.trace import AnyEvent, Started, Step
from lab.core.task.task import Actor, Task
from store.file.schema import VERSION
from store.store import Store
from tests.warm_code import python

ROOT = Path(__file__).parents[2]


def big_run(id: str) -> Imported:
    """A run that needs about 4 MB."""
    blobs = [Blob(os.urandom(1_000_000), "image/png") for _ in range(4)]
    events: list[AnyEvent] = [Started(trace=id, task=Task("x", "general"), agent=Actor("script", "rule"))]
    events += [Step(index=i, proposed=Proposed(Action("wait"))) for i in range(20)]
    return Imported(number_events(events), {blob.sha256: blob for blob in blobs}, [])


def refused(path: Path, words: str, **how: bool) -> None:
    with pytest.raises(LabError, match=words) as caught:
        Store.open(path, **how)
    assert str(path) in caught.value.sentence
    assert "\n" not in caught.value.sentence


def test_a_file_that_is_not_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"dear diary, " * 100)
    refused(path, "is not a SQLite file")
    assert path.read_bytes() == b"dear diary, " * 100


def test_another_programs_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE event (id)")
    db.commit()
    db.close()
    before = path.read_bytes()
    refused(path, "another program's database")
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["theirs.db"]


def test_a_newer_schema(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    with Store.open(path) as store:
        store.database.connection().execute(f"PRAGMA user_version = {VERSION + 1}")
    refused(path, "newer hitlab")
    refused(path, "newer hitlab", readonly=True)


def test_a_missing_file_a_folder_and_a_missing_folder(tmp_path: Path) -> None:
    refused(tmp_path / "none.db", "is not there", create=False)
    refused(tmp_path / "none.db", "is not there", readonly=True)
    refused(tmp_path, "is a folder")
    for nameless in (Path("/"), Path(".")):
        refused(nameless, "is a folder")
        refused(nameless, "is a folder", readonly=True)
    refused(tmp_path / "no" / "lab.db", "is not there")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_becomes_ours(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    path.touch()
    with Store.open(path) as store:
        assert store.check() == []


def test_a_file_opened_for_reading_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    with Store.open(path) as store:
        store.runs.add(big_run("t1"))
    before = path.read_bytes()
    with Store.open(path, readonly=True) as store:
        assert store.runs.last_seq("t1") == 20
        assert store.check() == []
        with pytest.raises(LabError, match="read-only"):
            store.runs.add(big_run("t2"))
    assert path.read_bytes() == before


UNPRIVILEGED = """
import os, sys, urllib.parse  # pathlib imports it late, when the interpreter's own folder may be out of reach
from pathlib import Path
from lab.core.errors import LabError
from store.store import Store
if os.geteuid() == 0:
    os.setgid(65534); os.setuid(65534)
for path, readonly in ((sys.argv[1], False), (sys.argv[2], False), (sys.argv[1], True), (sys.argv[3], True)):
    try:
        with Store.open(Path(path), readonly=readonly) as store:
            print(len(store.runs.summaries()), store.check())
    except LabError as error:
        print(error.sentence)
"""


def test_a_read_only_folder() -> None:
    """As a user without rights, since root may write anywhere; outside pytest's own folder, which is private."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path, new, closed = folder / "lab.db", folder / "new.db", folder / "closed" / "lab.db"
        with Store.open(path) as store:
            store.runs.add(big_run("t1"))
        path.chmod(0o444)
        closed.parent.mkdir(mode=0)
        folder.chmod(0o555)
        words = [sys.executable, "-B", "-c", UNPRIVILEGED, str(path), str(new), str(closed)]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
        folder.chmod(0o755)
        assert sorted(p.name for p in folder.iterdir()) == ["closed", "lab.db"]
    assert done.stderr == ""
    written, made, read, refused = done.stdout.splitlines()
    assert "read-only" in written
    assert str(path) in written
    assert "read-only" in made
    assert str(new) in made
    assert read == "1 []"
    assert refused == f"database {closed}: cannot be read (Permission denied)."


FULL = """
import resource, sys
from pathlib import Path
sys.path.insert(0, str(Path(sys.argv[2])))
from lab.core.errors import LabError
from store.store import Store
from test_refusals import big_run
path = Path(sys.argv[1])
limit = int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    with Store.open(path) as store:
        store.runs.add(big_run("t2"))
        print("imported")
except LabError as error:
    print(error.sentence)
"""


@pytest.mark.parametrize("limit", [1_000, 200_000, 2_000_000])
def test_a_full_disk_gives_one_sentence_and_leaves_whole_runs_only(tmp_path: Path, limit: int) -> None:
    """A disk that is full at the very first page, while the schema is laid, and in the middle of a run."""
    path = tmp_path / "lab.db"
    done = python(FULL, path, Path(__file__).parent, limit, text=True)
    assert done.stderr == ""
    (sentence,) = done.stdout.splitlines()
    assert "the disk is full" in sentence
    assert str(path) in sentence
    with Store.open(path) as store:
        assert store.check() == []
        assert store.runs.summaries() == []
        assert store.database.read("SELECT count(*) FROM blob") == [(0,)]
        assert store.runs.add(big_run("t2"))


def test_a_file_that_may_not_grow_keeps_what_it_had(store: Store) -> None:
    store.runs.add(big_run("t1"))
    db = store.database.connection()
    pages = db.execute("PRAGMA page_count").fetchone()[0]
    db.execute(f"PRAGMA max_page_count = {pages + 5}")
    with pytest.raises(LabError, match="the disk is full"):
        store.runs.add(big_run("t2"))
    assert not db.in_transaction
    assert [s.id for s in store.runs.summaries()] == ["t1"]
    assert store.check() == []


def test_a_damaged_file_gets_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    with Store.open(path) as store:
        store.runs.add(big_run("t1"))
        store.database.connection().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    for start in range(4096, len(data), 4096):
        data[start : start + 16] = b"\xff" * 16
    path.write_bytes(data)
    with pytest.raises(LabError, match=r"lab\.db.*damaged"):
        Store.open(path).runs.trace("t1")
