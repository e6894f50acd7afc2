"""Packing: a copy that can be sent, whole or without pictures, of a file that is being written."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from lab.core.errors import LabError
from lab.core.run.run_records import Blob, Imported, Verdict, number_events
from lab.core.run.trace import Ended, Started
from lab.core.task.task import Actor, Task
from store.file.connection import connect
from store.store import Store
from tests.warm_code import python

PICTURE = Blob(b"\x89PNG" * 500_000, "image/png")
STATE = Blob(b"{}", "application/json")


def fill(store: Store) -> None:
    started = Started(trace="t1", task=Task("x", "general"), agent=Actor("script", "rule"))
    blobs = {blob.sha256: blob for blob in (PICTURE, STATE)}
    store.runs.add(Imported(number_events([started, Ended(status="completed")]), blobs, [Verdict("result", 1.0)]))
    store.runs.save_draft("t1", "q", "words")


@pytest.mark.parametrize("images", [True, False])
def test_the_file_is_opened_as_any_that_may_only_be_read(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, images: bool
) -> None:
    opened: list[tuple[Path, bool]] = []

    def connect_and_tell(path: Path, *, readonly: bool = False) -> sqlite3.Connection:
        opened.append((path, readonly))
        return connect(path, readonly=readonly)

    monkeypatch.setattr("store.copies.pack.connect", connect_and_tell)
    store.pack(tmp_path / "out.db", images=images)
    assert (store.path, True) in opened, "which knows of folders that may only be read"


@pytest.mark.parametrize("images", [True, False])
def test_a_packed_file_holds_what_the_wal_holds_and_opens_anywhere(store: Store, tmp_path: Path, images: bool) -> None:
    fill(store)
    out = tmp_path / "out.db"
    store.pack(out, images=images)
    with Store.open(out, readonly=True) as copy:
        assert copy.check() == []
        assert copy.runs.summaries() == store.runs.summaries()
        assert list(copy.runs.events("t1")) == list(store.runs.events("t1"))
        assert copy.runs.verdicts("t1") == store.runs.verdicts("t1")
        assert copy.runs.draft("t1", "q") == "words"
        assert copy.runs.blob(STATE.sha256) == STATE
        assert copy.runs.blob(PICTURE.sha256) == (PICTURE if images else None)
    assert (out.stat().st_size > 2_000_000) == images
    assert sorted(p.name for p in tmp_path.iterdir()) == ["lab.db", "lab.db-shm", "lab.db-wal", "out.db"]
    plain = sqlite3.connect(out)
    assert plain.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    plain.close()


def test_a_packed_file_can_be_written_again(store: Store, tmp_path: Path) -> None:
    fill(store)
    store.pack(tmp_path / "out.db")
    with Store.open(tmp_path / "out.db") as copy:
        copy.runs.save_draft("t1", "q", "more")
        assert copy.check() == []
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            copy.database.connection().execute("DELETE FROM trace")


def test_packing_never_overwrites(store: Store, tmp_path: Path) -> None:
    out = tmp_path / "out.db"
    out.write_bytes(b"precious")
    with pytest.raises(LabError, match=r"out\.db.*already"):
        store.pack(out)
    assert out.read_bytes() == b"precious"


def test_packing_into_a_missing_folder_gets_a_sentence(store: Store, tmp_path: Path) -> None:
    for images in (True, False):
        with pytest.raises(LabError, match="is not there"):
            store.pack(tmp_path / "no" / "out.db", images=images)


def test_what_stands_beside_a_copy_is_left_as_it_is(store: Store, tmp_path: Path) -> None:
    fill(store)
    (tmp_path / "out.db.part").write_text("mine")
    (tmp_path / "link.db").symlink_to("nowhere")
    store.pack(tmp_path / "out.db")
    with pytest.raises(LabError, match="is there already"):
        store.pack(tmp_path / "link.db")
    assert (tmp_path / "out.db.part").read_text() == "mine"
    assert (tmp_path / "link.db").is_symlink()


FULL = """
import resource, sys
from pathlib import Path
from lab.core.errors import LabError
from store.store import Store
with Store.open(Path(sys.argv[1]), readonly=True) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    try:
        store.pack(Path(sys.argv[2]), images=sys.argv[3] == "True")
    except LabError as error:
        print(error.sentence)
"""


@pytest.mark.parametrize("images", [True, False])
def test_a_disk_that_is_full_leaves_nothing_of_a_copy(store: Store, tmp_path: Path, images: bool) -> None:
    fill(store)
    with store.database.writing() as db:
        db.execute("INSERT INTO blob VALUES ('x', 'application/json', 200000, ?)", (bytes(200_000),))
    (tmp_path / "out").mkdir()
    done = python(FULL, store.path, tmp_path / "out" / "copy.db", images, text=True)
    assert done.returncode == 0, done.stderr
    assert "the disk is full" in done.stdout
    assert list((tmp_path / "out").iterdir()) == []
