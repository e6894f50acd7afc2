"""A SQLite file whose schema would run code of its maker's is one sentence, wherever a file is opened."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from lab.core.errors import LabError
from store.file.schema import APPLICATION_ID, VERSION
from store.store import Store
from tests.bounded import MB, bounded, refusal
from tests.store.test_pack import fill

ENDLESS = "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT"
COMMANDS = [
    ("traces", "--db", "bad.db"), ("show", "x", "--db", "bad.db"), ("doctor", "--db", "bad.db"),
    ("merge", "bad.db", "--db", "mine.db"), ("study", "take", "bad.db", "--db", "mine.db"),
    ("pack", "copy.db", "--db", "bad.db"), ("pack", "copy.db", "--no-images", "--db", "bad.db"),
    ("study", "status", "s", "--db", "bad.db"), ("export", "x", "--out", "o", "--db", "bad.db"),
    ("metrics", "--db", "bad.db"), ("runs", "--db", "bad.db"), ("withdraw", "P1", "--yes", "--db", "bad.db"),
    ("import", "in", "--db", "bad.db"),
]  # fmt: skip


def views(path: Path) -> None:
    """Our header, and in the place of each table a view that never ends."""
    with Store.open(path.with_name("mine.db")) as store:
        tables = [name for (name,) in store.database.read("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {table: [row[1] for row in store.database.read(f"PRAGMA table_info({table})")] for table in tables}
    with sqlite3.connect(path) as db:
        for table in tables:
            named = ", ".join(f"n AS {column}" for column in columns[table])
            db.execute(f"CREATE VIEW {table} AS {ENDLESS} {named} FROM x")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {VERSION}")
    db.close()


@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_endless_views_in_the_tables_place_are_one_sentence(tmp_path: Path, args: tuple[str, ...]) -> None:
    views(tmp_path / "bad.db")
    (tmp_path / "in").mkdir()
    before = (tmp_path / "bad.db").read_bytes()
    done = bounded(*args, cwd=tmp_path)
    said = done.out if args[0] == "doctor" else refusal(done)
    assert "bad.db" in said
    assert "stands in the place of a table that hitlab makes" in said
    assert done.code != 0
    assert (tmp_path / "bad.db").read_bytes() == before


def grown(path: Path, kind: str) -> None:
    """A file of ours with a schema of a kind that SQLite itself would read for hours, or fill the memory with."""
    Store.open(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = DELETE")
    db.execute("PRAGMA writable_schema = ON")
    parts = ((f"t{n}", f"CREATE TABLE t{n}(a)") for n in range(50_000))
    if kind == "long":
        parts = ((f"t{n}", f"CREATE TABLE t{n}(a /* {'x' * 10 * MB} */)") for n in range(2))
    db.executemany("INSERT INTO sqlite_master VALUES ('table', ?1, ?1, 2, ?2)", parts)
    db.commit()
    db.close()


@pytest.mark.parametrize(
    ("kind", "words"), [("many", "more than the 2,000 tables"), ("long", "of more than 64 kB of SQL")]
)
def test_a_schema_without_end_is_one_sentence(tmp_path: Path, kind: str, words: str) -> None:
    grown(tmp_path / "bad.db", kind)
    with Store.open(tmp_path / "mine.db") as store:
        fill(store)
    before = (tmp_path / "bad.db").read_bytes()
    (tmp_path / "in").mkdir()
    mine = ("--db", "mine.db")
    for args in (*COMMANDS[:3:2], COMMANDS[-1], ("merge", "bad.db", *mine), ("pack", "copy.db", "--db", "bad.db")):
        done = bounded(*args, cwd=tmp_path)
        said = done.out if args[0] == "doctor" else refusal(done)
        assert "bad.db" in said
        assert words in said
        assert done.code != 0
    assert (tmp_path / "bad.db").read_bytes() == before


def test_hundreds_of_a_persons_own_tables_are_let_be(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        fill(store)
    db = sqlite3.connect(tmp_path / "lab.db")
    db.executescript("".join(f"CREATE TABLE my_{n} (a); CREATE INDEX my_i{n} ON my_{n} (a);" for n in range(800)))
    db.close()
    for readonly in (True, False):
        with Store.open(tmp_path / "lab.db", readonly=readonly) as store:
            assert store.check() == []


HARM = {
    "a trigger": ("CREATE TRIGGER quick AFTER INSERT ON trace BEGIN SELECT 1; END", "is no trigger that hitlab makes"),
    "ours, changed": (
        f"DROP TRIGGER trace_no_update; CREATE TRIGGER trace_no_update BEFORE UPDATE ON trace "
        f"BEGIN {ENDLESS} n FROM x; END",
        "does something else",
    ),
    "an index": ("CREATE INDEX slow ON trace (hex(zeroblob(100000000)))", "indexes more than columns"),
    "a condition": ("CREATE INDEX slow ON trace (id) WHERE length(hex(zeroblob(9))) > 1", "indexes more than columns"),
    "a generated column": (
        "DROP TABLE draft; CREATE TABLE draft (n INTEGER PRIMARY KEY, trace TEXT, question TEXT, at TEXT, "
        "text TEXT AS (hex(zeroblob(100000000))))",
        "computes values",
    ),
    "a check": ("DROP TABLE draft; CREATE TABLE draft (n, trace, question, at, text CHECK (n > 1))", "computes values"),
    "a virtual table": ("DROP TABLE draft; CREATE VIRTUAL TABLE draft USING fts5(text)", "stands in the place"),
    "in capitals": ("DROP TABLE draft; CREATE VIEW DRAFT AS SELECT 1 AS n", "stands in the place"),
}


@pytest.mark.parametrize("harm", HARM)
def test_what_else_of_a_schema_would_run_is_named(tmp_path: Path, harm: str) -> None:
    statements, words = HARM[harm]
    Store.open(tmp_path / "bad.db").close()
    db = sqlite3.connect(tmp_path / "bad.db")
    db.executescript(statements)
    db.close()
    with pytest.raises(LabError, match=words):
        Store.open(tmp_path / "bad.db").close()


def test_what_a_person_added_beside_the_tables_is_let_be(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        fill(store)
    db = sqlite3.connect(tmp_path / "lab.db")
    db.executescript(
        'CREATE VIEW my_runs AS SELECT id FROM trace; CREATE INDEX my_index ON trace (started_at DESC, "agent");'
        "CREATE TABLE my_notes (n INTEGER PRIMARY KEY, words TEXT CHECK (length(words) > 1))"
    )
    db.close()
    for readonly in (True, False):
        with Store.open(tmp_path / "lab.db", readonly=readonly) as store:
            assert len(store.runs.summaries()) == 1
            assert store.check() == []


def test_a_trigger_is_let_be_where_a_file_is_read_and_refused_where_it_is_written(tmp_path: Path) -> None:
    """Also by one program that opens it in both ways, one after the other."""
    path = tmp_path / "lab.db"
    with Store.open(path) as store:
        fill(store)
    with sqlite3.connect(path) as db:
        db.execute("CREATE TRIGGER theirs AFTER INSERT ON label BEGIN SELECT 1; END")
    db.close()
    for _ in range(2):
        with Store.open(path, readonly=True) as store:
            assert store.runs.summaries()
        with pytest.raises(LabError, match="trigger theirs: is no trigger that hitlab makes"):
            Store.open(path)
