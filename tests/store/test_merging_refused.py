"""What is no hitlab file, or is damaged, newer or hostile, is one sentence that names it; an older one is read."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from pathlib import Path

import pytest

from lab.core.errors import LabError
from store.copies.merge import merge_into
from store.file.schema import APPEND_ONLY, VERSION
from store.store import Store
from tests.merging import content, say
from tests.store.test_kits_taken import forge
from tests.store.test_merging import STATE, UNITS, ran
from tests.studies import frozen


@pytest.fixture
def here(tmp_path: Path) -> Path:
    with Store.open(tmp_path / "here.db") as store:
        say(store, frozen(store, UNITS), UNITS[0], "R1", STATE, "completed")
    return tmp_path / "here.db"


@pytest.fixture
def good(tmp_path: Path, here: Path) -> Path:
    with Store.open(here) as store:
        store.pack(tmp_path / "good.db")
    with Store.open(tmp_path / "good.db") as store:
        say(store, store.studies.study("trial"), UNITS[1], "R2", STATE, "completed")
        store.runs.add(ran("r", 2, ended=True))
    return tmp_path / "good.db"


def refused(here: Path, bad: Path, match: str, *more: Path) -> None:
    """It is refused with one sentence that names it, and nothing of it or of the others came in."""
    before = content(here)
    with pytest.raises(LabError, match=match) as error:
        merge_into(here, [*more, bad])
    assert str(bad) in error.value.sentence
    assert "\n" not in error.value.sentence
    assert len(error.value.sentence) < 400
    assert content(here) == before
    with pytest.raises(LabError, match=match):
        merge_into(here.with_name("new.db"), [*more, bad])
    assert not here.with_name("new.db").exists()
    assert not list(here.parent.glob(".*.part-*"))


def test_what_is_no_hitlab_file_is_refused_with_all_others(tmp_path: Path, here: Path, good: Path) -> None:
    bad = tmp_path / "bad.db"
    refused(here, bad, "is not there", good)
    bad.write_text("not a database at all, but a text that is long enough to be taken for one " * 20)
    refused(here, bad, "not a SQLite file", good)
    bad.unlink()
    with sqlite3.connect(bad) as db:
        db.execute("CREATE TABLE label (id TEXT)")
    refused(here, bad, "another program's", good)
    bad.unlink()
    bad.mkdir()
    refused(here, bad, "folder", good)
    bad.rmdir()
    os.mkfifo(bad)
    refused(here, bad, "a device or a pipe", good)


def test_a_missing_folder_is_told_of_the_file_that_was_named(tmp_path: Path, good: Path) -> None:
    path = tmp_path / "no" / "all.db"
    with pytest.raises(LabError) as refusal:
        merge_into(path, [good])
    assert refusal.value.sentence == f"database {path}: cannot be made: the folder {path.parent} is not there."


def test_a_file_of_a_newer_schema_is_refused(here: Path, good: Path) -> None:
    with sqlite3.connect(good) as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    refused(here, good, "newer hitlab")


@pytest.mark.parametrize(
    ("sql", "match"),
    [
        ("UPDATE label SET body = CAST(x'fffe' AS TEXT)", "UTF-8"),
        ("UPDATE label SET body = x'7b7d'", "no text"),
        ("UPDATE label SET body = 7", "must be a mapping"),
        ('UPDATE label SET body = replace(body, \'"version":1\', \'"version":"one"\')', "field version"),
        (
            "UPDATE label SET body = replace(body, '\"version\":1', '\"version\":99999999999999999999999')",
            "is of study trial v9",
        ),
        ("UPDATE label SET body = replace(body, '{', '{\"v\":99,')", "newer hitlab"),
        ("UPDATE label SET body = replace(body, '\"unit\"', '\"nuit\"')", "none of that name"),
        ("UPDATE unit SET position = 'first' WHERE id = 'u1'", "unit|damaged|TEXT"),
        ("UPDATE unit SET body = replace(body, 'Pay', 'Do not pay')", "differs from the one|not those that its plan"),
        ("UPDATE study SET body = '[]'", "must be a mapping"),
        ("UPDATE assignment SET body = replace(body, 'R2', 'R1')", "is of R1 in trial v1, not of R2"),
        ("UPDATE event SET body = '{}' WHERE seq = 1", "field|missing|type"),
        ("DELETE FROM event WHERE seq = 1", "expects event 1"),
        ("DELETE FROM event", "holds nothing"),
        ("UPDATE event SET body = replace(body, '\"seq\":0', '\"seq\":1') WHERE seq = 0", "expects event|begin"),
    ],
)
def test_rows_that_say_what_they_cannot_are_refused(here: Path, good: Path, sql: str, match: str) -> None:
    forge(good, "", sql=sql)
    refused(here, good, match)


def test_a_file_whose_tables_or_triggers_are_others_is_refused(here: Path, good: Path) -> None:
    with sqlite3.connect(good) as db:
        db.execute("DROP TRIGGER label_no_update")
    refused(here, good, "label_no_update is missing")
    with sqlite3.connect(good) as db:
        db.execute("DROP TABLE label")
    refused(here, good, "label")


def test_a_torn_file_is_refused(here: Path, good: Path) -> None:
    data = bytearray(good.read_bytes())
    for at in range(len(data) // 3, len(data), 4096):
        data[at : at + 64] = b"\xff" * 64
    good.write_bytes(bytes(data))
    refused(here, good, "damaged|malformed|SQLite")


def test_a_row_beyond_measure_is_refused_unread(here: Path, good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.file.foreign_file.MOST_OF_A_ROW", 100_000)
    forge(good, "", sql="UPDATE label SET body = body || printf('%200000s', ' ')")
    refused(here, good, "too big")


def test_a_kit_that_is_tampered_with_is_refused_with_all_others(tmp_path: Path, here: Path, good: Path) -> None:
    from store.copies.kit_export import make_kit

    with Store.open(here) as store:
        make_kit(store, store.studies.study("trial"), "R1", tmp_path / "kit.db")
    forge(tmp_path / "kit.db", "", sql="UPDATE label SET body = replace(body, 'completed', 'not_completed')")
    before = content(here)
    with pytest.raises(LabError, match="tampered") as error:
        merge_into(here, [good, tmp_path / "kit.db"])
    assert str(tmp_path / "kit.db") in error.value.sentence
    assert content(here) == before


def test_an_older_file_is_read_and_stays_as_it_is(tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    with sqlite3.connect(old) as db:
        db.executescript((Path(__file__).with_name("version1.sql")).read_text(encoding="utf-8"))
    db.close()
    with Store.open(old, readonly=True) as store:
        runs = [line.id for line in store.runs.summaries()]
    before = hashlib.sha256(old.read_bytes()).digest()
    done = merge_into(tmp_path / "whole.db", [old])
    assert done.added["runs"] == len(runs) > 0
    assert hashlib.sha256(old.read_bytes()).digest() == before
    with Store.open(tmp_path / "whole.db") as store:
        assert sorted(line.id for line in store.runs.summaries()) == sorted(runs)
        assert store.check() == []


def test_every_table_comes_in() -> None:
    """A table that is added to the schema is one that merging must know, or must know to leave out."""
    known = {
        "trace", "event", "blob", "use", "verdict", "draft", "design", "review", "clearance", "tombstone", "link",
        "study", "unit", "assignment", "label", "act", "withdrawal", "kit", "run_act", "shadow", "answer_link",
    }  # fmt: skip
    assert set(APPEND_ONLY) == known
