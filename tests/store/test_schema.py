"""The tables: append-only, durable, ours alone, and read by index."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from lab.core.errors import LabError
from store.file import connection, schema
from store.file.connection import connect
from store.runs.run_acts import list_condition
from store.runs.runs import _RUNS, _SUMMARY
from store.store import Store
from store.studies import progress_tables


@pytest.fixture(autouse=True)
def _tables_are_laid_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere a new file has the pages of one that was laid before."""
    monkeypatch.setattr(connection, "migrate", schema.migrate)


def test_every_table_refuses_to_change_or_lose_a_row(store: Store) -> None:
    db = store.database.connection()
    db.execute("PRAGMA foreign_keys = OFF")
    for table in schema.APPEND_ONLY:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        db.execute(f"INSERT INTO {table} VALUES ({', '.join('1' for _ in columns)})")
        for sql in (f"UPDATE {table} SET {columns[-1]} = 2", f"DELETE FROM {table}"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                db.execute(sql)
        with pytest.raises(sqlite3.IntegrityError):
            db.execute(f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('1' for _ in columns)})")
        assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (1,)


def test_every_table_of_the_file_is_append_only_but_those_that_repeat_others(store: Store) -> None:
    tables = {row[0] for row in store.database.read("SELECT name FROM sqlite_master WHERE type = 'table'")}
    kept = {*schema.APPEND_ONLY, *progress_tables.TABLES}
    assert {name for name in tables if not name.startswith(("_sqlite", "sqlite_"))} == kept
    there = {row[0] for row in store.database.read("SELECT name FROM sqlite_master WHERE type = 'trigger'")}
    assert there == {*schema.triggers(), *progress_tables.TRIGGERS}
    assert store.check() == []


def test_check_says_what_is_wrong(store: Store) -> None:
    store.database.connection().execute("DROP TRIGGER event_no_delete")
    store.database.connection().execute("INSERT INTO blob VALUES ('ab', 'image/png', 1, x'00')")
    assert store.check() == ["the trigger event_no_delete is missing", "the bytes of blob ab are not its own"]


def test_the_writers_own_connection_is_durable(store: Store) -> None:
    with store.database.writing() as db:
        assert db.execute("PRAGMA synchronous").fetchone() == (2,)
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA foreign_keys").fetchone() == (1,)
        assert db.execute("PRAGMA busy_timeout").fetchone() == (30_000,)
        assert db.in_transaction
        if sys.platform == "darwin":
            assert db.execute("PRAGMA fullfsync").fetchone() == (1,)
            assert db.execute("PRAGMA checkpoint_fullfsync").fetchone() == (1,)


def test_json_is_text_so_that_any_browser_of_databases_shows_it(store: Store) -> None:
    declared = dict(store.database.read("SELECT name, type FROM pragma_table_info('event')"))
    assert declared["body"] == "TEXT"


@pytest.mark.parametrize(
    ("sql", "values"),
    [
        ("SELECT seq, body FROM event WHERE trace = ? AND seq > ? ORDER BY seq LIMIT ?", ("t", -1, 64)),
        ("SELECT ifnull(max(seq), -1) FROM event WHERE trace = ?", ("t",)),
        ("SELECT seq, kind FROM event WHERE trace = ? ORDER BY seq DESC LIMIT 1", ("t",)),
        ("SELECT body FROM verdict WHERE trace = ? ORDER BY position", ("t",)),
        ("SELECT bytes, mime FROM blob WHERE sha256 = ?", ("t",)),
        ("SELECT text FROM draft WHERE trace = ? AND question = ? ORDER BY n DESC LIMIT 1", ("t", "q")),
        ("SELECT id FROM trace WHERE id >= ? AND id < ? ORDER BY id LIMIT 6", ("t", "u")),
        ("SELECT id FROM trace WHERE task = ? ORDER BY id LIMIT 6", ("t",)),
        ("SELECT trace FROM use WHERE sha256 = ?", ("t",)),
        (_SUMMARY.format(runs=_RUNS["one"]), ("t",)),
    ],
)
def test_reading_one_run_touches_no_other(store: Store, sql: str, values: tuple[object, ...]) -> None:
    plan = [row[3] for row in store.database.read(f"EXPLAIN QUERY PLAN {sql}", *values)]
    assert plan
    assert all(line.startswith("SEARCH") for line in plan)


@pytest.mark.parametrize(("which", "values"), [("all", (3,)), ("before", ("t", 3))])
def test_a_page_of_summaries_reads_only_its_runs_and_no_body(
    store: Store, which: str, values: tuple[object, ...]
) -> None:
    listed, _ = list_condition(store.database)
    runs = _RUNS[which].format(listed=listed)
    plan = [row[3] for row in store.database.read("EXPLAIN QUERY PLAN " + _SUMMARY.format(runs=runs), *values)]
    events = [line for line in plan if " e " in line]
    assert events == ["SEARCH e USING COVERING INDEX event_tally (trace=?)"]
    # The page itself is cut by LIMIT in the order of its key: no sort, so no run beyond it is looked at.
    page = plan[: plan.index(events[0])]
    assert not any("TEMP B-TREE" in line for line in page)
    # Whether a run is archived is read from its own rows of one index.
    acts = [line for line in plan if "run_act" in line]
    assert acts == ["SEARCH run_act USING COVERING INDEX run_act_of_run (trace=? AND tag=?)"]


def test_opening_a_file_of_this_schema_does_not_load_sqlite_utils(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    Store.open(path).close()
    code = (
        "import sys; from pathlib import Path; from store.store import Store; "
        "s = Store.open(Path(sys.argv[1])); s.runs.summaries(); s.close(); "
        "print([m for m in ('sqlite_utils', 'yaml', 'PIL', 'numpy', 'textual') if m in sys.modules])"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code, str(path)], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_migrated_file_bears_our_mark_and_version(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    Store.open(path).close()
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
    assert db.execute("PRAGMA application_id").fetchone() == (schema.APPLICATION_ID,)
    assert [row[0] for row in db.execute("SELECT name FROM _sqlite_migrations")] == [
        "001_runs",
        "002_designs",
        "003_reviews",
        "004_links",
        "005_studies",
        "006_run_acts",
        "007_shadows",
        "008_answer_links",
    ]
    db.close()


def test_a_migration_that_fails_leaves_an_empty_file_that_opens_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lab.db"
    monkeypatch.setattr(schema, "_FIRST", (*schema._FIRST, "CREATE NONSENSE"))
    with pytest.raises(LabError, match=r"lab\.db"):
        Store.open(path)
    db = connect(path)
    assert db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    db.close()
    monkeypatch.undo()
    monkeypatch.setattr(connection, "migrate", schema.migrate)
    with Store.open(path) as store:
        assert store.check() == []


def test_guarding_again_after_a_table_was_rebuilt(store: Store) -> None:
    db = store.database.connection()
    for name in (*schema.triggers(), *progress_tables.TRIGGERS):
        db.execute(f"DROP TRIGGER {name}")
    assert len(store.check()) == len(schema.triggers()) + len(progress_tables.TRIGGERS)
    schema.create_triggers(db)
    schema.create_triggers(db)
    assert store.check() == []
