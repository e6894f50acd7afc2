"""The tables of a hitlab file: numbered migrations, and triggers that make every table append-only."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from store import progress_tables

VERSION = 8
"""The newest schema this program knows; kept in `PRAGMA user_version`, one more with each migration."""

APPLICATION_ID = int.from_bytes(b"hitl", "big")
"""Kept in the file's header, so that another program's database is never taken for ours."""

APPEND_ONLY = (
    "trace", "event", "blob", "use", "verdict", "draft", "design", "review", "clearance", "tombstone", "link",
    "study", "unit", "assignment", "label", "act", "withdrawal", "kit", "run_act", "shadow", "answer_link",
)  # fmt: skip
"""Tables of which no row is ever changed or removed; corrections are further rows. `store.erasure` is the exception."""

_FIRST = (
    # `n` orders runs by when they came into this file; VACUUM may renumber an implicit rowid, never this.
    """CREATE TABLE trace (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        task TEXT NOT NULL,
        kind TEXT NOT NULL,
        agent TEXT NOT NULL,
        persona TEXT,
        user TEXT,
        device TEXT NOT NULL,
        seat TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        parent TEXT,
        source TEXT,
        source_path TEXT,
        started_at TEXT NOT NULL
    )""",
    "CREATE INDEX trace_by_task ON trace (task, id)",
    # `question`, `reply`, `status` and `score` repeat what stands in `body`, so that a list of runs reads no body.
    """CREATE TABLE event (
        trace TEXT NOT NULL REFERENCES trace (id),
        seq INTEGER NOT NULL,
        kind TEXT NOT NULL,
        at TEXT NOT NULL,
        ms REAL,
        question INTEGER NOT NULL,
        reply INTEGER NOT NULL,
        status TEXT,
        score REAL,
        body TEXT NOT NULL,
        PRIMARY KEY (trace, seq)
    )""",
    "CREATE INDEX event_tally ON event (trace, kind, seq, question, reply, status, score)",
    "CREATE TABLE blob (sha256 TEXT PRIMARY KEY, mime TEXT NOT NULL, size INTEGER NOT NULL, bytes BLOB NOT NULL)",
    # No reference to blob: a file packed without images still says which it would hold.
    """CREATE TABLE use (
        trace TEXT NOT NULL REFERENCES trace (id),
        sha256 TEXT NOT NULL,
        PRIMARY KEY (trace, sha256)
    ) WITHOUT ROWID""",
    "CREATE INDEX use_by_blob ON use (sha256, trace)",
    """CREATE TABLE verdict (
        trace TEXT NOT NULL REFERENCES trace (id),
        position INTEGER NOT NULL,
        name TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (trace, position)
    )""",
    """CREATE TABLE draft (
        n INTEGER PRIMARY KEY,
        trace TEXT NOT NULL REFERENCES trace (id),
        question TEXT NOT NULL,
        at TEXT NOT NULL,
        text TEXT NOT NULL
    )""",
    "CREATE INDEX draft_by_question ON draft (trace, question, n)",
)

_SECOND = (
    # One row for each act on a design; `body` holds the whole design as that act left it, so that no row needs another
    # to be read. `supersedes` is a JSON list: two heads are settled by one row.
    """CREATE TABLE design (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        task TEXT NOT NULL,
        asked TEXT NOT NULL,
        version INTEGER NOT NULL,
        act TEXT NOT NULL,
        by TEXT NOT NULL,
        at TEXT NOT NULL,
        supersedes TEXT NOT NULL,
        note TEXT NOT NULL,
        body TEXT NOT NULL
    )""",
    "CREATE INDEX design_by_task ON design (task, asked, version, act, by)",
)

_THIRD = (
    # What two proofreaders said of a demonstration, field by field; `body` holds the whole row, as in `design`.
    """CREATE TABLE review (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        trace TEXT NOT NULL REFERENCES trace (id),
        step INTEGER,
        field TEXT NOT NULL,
        act TEXT NOT NULL,
        by TEXT NOT NULL,
        at TEXT NOT NULL,
        supersedes TEXT,
        body TEXT NOT NULL
    )""",
    "CREATE INDEX review_by_trace ON review (trace, n)",
    """CREATE TABLE clearance (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        trace TEXT NOT NULL REFERENCES trace (id),
        by TEXT NOT NULL,
        at TEXT NOT NULL,
        body TEXT NOT NULL
    )""",
    "CREATE INDEX clearance_by_trace ON clearance (trace, n)",
    # No reference to trace: the run that `trace` names is not here any more, and must not come back.
    """CREATE TABLE tombstone (
        trace TEXT PRIMARY KEY,
        why TEXT NOT NULL,
        replaced_by TEXT,
        by TEXT NOT NULL,
        at TEXT NOT NULL,
        body TEXT NOT NULL
    )""",
)

_FOURTH = (
    # Pictures that stay in the files they were found in; a blob of the same sha256 goes before them. A picture may
    # stand in several files, so that a folder that has moved is linked by importing it again.
    """CREATE TABLE link (
        sha256 TEXT NOT NULL,
        mime TEXT NOT NULL,
        size INTEGER NOT NULL,
        path TEXT NOT NULL,
        PRIMARY KEY (sha256, path)
    )""",
)

_FIFTH = (
    # A study's versions; its units stand apart, so that a study of 100,000 opens as quickly as one of ten.
    """CREATE TABLE study (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL,
        version INTEGER NOT NULL,
        title TEXT NOT NULL,
        sha TEXT NOT NULL,
        at TEXT NOT NULL,
        body TEXT NOT NULL,
        UNIQUE (id, version)
    )""",
    """CREATE TABLE unit (
        n INTEGER PRIMARY KEY,
        study TEXT NOT NULL,
        version INTEGER NOT NULL,
        position INTEGER NOT NULL,
        id TEXT NOT NULL,
        body TEXT NOT NULL,
        UNIQUE (study, version, id),
        FOREIGN KEY (study, version) REFERENCES study (id, version)
    )""",
    "CREATE INDEX unit_in_order ON unit (study, version, position)",
    """CREATE TABLE assignment (
        n INTEGER PRIMARY KEY,
        study TEXT NOT NULL,
        version INTEGER NOT NULL,
        rater TEXT NOT NULL,
        position INTEGER NOT NULL,
        unit TEXT NOT NULL,
        run INTEGER NOT NULL,
        stage TEXT NOT NULL,
        at TEXT NOT NULL,
        body TEXT NOT NULL,
        UNIQUE (study, version, rater, position),
        UNIQUE (study, version, rater, unit, run),
        FOREIGN KEY (study, version) REFERENCES study (id, version)
    )""",
    "CREATE INDEX assignment_of_unit ON assignment (study, version, unit)",
    # `kind` and `rater` are who gave it; `body` holds the whole label, as in `design`.
    """CREATE TABLE label (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        study TEXT NOT NULL,
        version INTEGER NOT NULL,
        unit TEXT NOT NULL,
        target TEXT NOT NULL,
        field TEXT NOT NULL,
        kind TEXT NOT NULL,
        rater TEXT NOT NULL,
        run INTEGER NOT NULL,
        at TEXT NOT NULL,
        supersedes TEXT,
        body TEXT NOT NULL,
        FOREIGN KEY (study, version) REFERENCES study (id, version)
    )""",
    "CREATE INDEX label_on_sheet ON label (study, version, rater, unit, run, kind)",
    "CREATE INDEX label_of_unit ON label (study, version, unit)",
    """CREATE TABLE act (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        study TEXT NOT NULL,
        version INTEGER NOT NULL,
        rater TEXT NOT NULL,
        unit TEXT NOT NULL,
        run INTEGER NOT NULL,
        act TEXT NOT NULL,
        at TEXT NOT NULL,
        body TEXT NOT NULL,
        FOREIGN KEY (study, version) REFERENCES study (id, version)
    )""",
    "CREATE INDEX act_of_rater ON act (study, version, rater, act, at, unit, run)",
    "CREATE INDEX act_on_sheet ON act (study, version, rater, unit, run)",
    "CREATE INDEX act_of_study ON act (study, version, act)",
    # No reference to anything: what stays of a person who withdrew, so that nothing of theirs comes back.
    "CREATE TABLE withdrawal (code TEXT PRIMARY KEY, at TEXT NOT NULL, body TEXT NOT NULL)",
    # One row where this file is a kit: only what one rater of one study may see. See `store.kit_export`.
    "CREATE TABLE kit (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, rater TEXT NOT NULL, body TEXT NOT NULL)",
    *progress_tables.TABLES.values(),
    *progress_tables.TRIGGERS.values(),
)

_SIXTH = (
    # What people did with runs in their lists: archived them, tagged them. `tag` is empty but for tags, in small
    # letters: of the rows of one run and tag the last by `at` and `id` says how it stands, wherever it was written.
    """CREATE TABLE run_act (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        trace TEXT NOT NULL REFERENCES trace (id),
        tag TEXT NOT NULL,
        act TEXT NOT NULL,
        by TEXT NOT NULL,
        at TEXT NOT NULL,
        body TEXT NOT NULL
    )""",
    "CREATE INDEX run_act_of_run ON run_act (trace, tag, at, id, act)",
)

_SEVENTH = (
    # What models answered that were asked the same as a run's person; apart from its events, so that nobody who gets
    # a run gets these. `supersedes` leads to the row that says why there was none yet.
    """CREATE TABLE shadow (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        trace TEXT NOT NULL REFERENCES trace (id),
        question TEXT NOT NULL,
        by TEXT NOT NULL,
        at TEXT NOT NULL,
        supersedes TEXT,
        body TEXT NOT NULL
    )""",
    "CREATE INDEX shadow_of_run ON shadow (trace, question, by, at)",
)

_EIGHTH = (
    # What happened to links into the room Answer, which belongs to no study; `body` is an act, as in `act`.
    """CREATE TABLE answer_link (
        n INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        person TEXT NOT NULL,
        act TEXT NOT NULL,
        at TEXT NOT NULL,
        body TEXT NOT NULL
    )""",
)


@contextmanager
def _without(module: str) -> Iterator[None]:
    """Holds back a module that is loaded for use where it is installed, and is not used: half a second for pandas."""
    absent = module not in sys.modules
    if absent:
        sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        if absent:
            sys.modules.pop(module, None)


def migrate(connection: sqlite3.Connection) -> None:
    """Brings an empty or older file to `VERSION` in one transaction; does nothing where another just has.

    sqlite-utils is imported here and nowhere else in `store`: it costs more than opening a file does.
    """
    with _without("pandas"):
        from sqlite_utils import Database
        from sqlite_utils.migrations import Migrations

    migrations = Migrations("hitlab")

    @migrations(name="001_runs")
    def runs(db: Database) -> None:
        for statement in _FIRST:
            db.conn.execute(statement)

    @migrations(name="002_designs")
    def designs(db: Database) -> None:
        for statement in _SECOND:
            db.conn.execute(statement)

    @migrations(name="003_reviews")
    def reviews(db: Database) -> None:
        for statement in _THIRD:
            db.conn.execute(statement)

    @migrations(name="004_links")
    def links(db: Database) -> None:
        for statement in _FOURTH:
            db.conn.execute(statement)

    @migrations(name="005_studies")
    def studies(db: Database) -> None:
        for statement in _FIFTH:
            db.conn.execute(statement)

    @migrations(name="006_run_acts")
    def run_acts(db: Database) -> None:
        for statement in _SIXTH:
            db.conn.execute(statement)

    @migrations(name="007_shadows")
    def shadows(db: Database) -> None:
        for statement in _SEVENTH:
            db.conn.execute(statement)

    @migrations(name="008_answer_links")
    def answer_links(db: Database) -> None:
        for statement in _EIGHTH:
            db.conn.execute(statement)

    connection.execute("BEGIN IMMEDIATE")
    try:
        if user_version(connection) < VERSION:
            migrations.apply(Database(connection))
            guard(connection)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def guard(connection: sqlite3.Connection) -> None:
    """Puts every trigger in place anew: changing a table's shape drops its triggers."""
    for name, statement in {**triggers(), **progress_tables.TRIGGERS}.items():
        connection.execute(f"DROP TRIGGER IF EXISTS {name}")
        connection.execute(statement)


def triggers(tables: Collection[str] = APPEND_ONLY) -> dict[str, str]:
    """Name and SQL of each append-only trigger, of these tables only (a file of an older schema has fewer)."""
    return {
        f"{table}_no_{act.lower()}": f"CREATE TRIGGER {table}_no_{act.lower()} BEFORE {act} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
        for table in APPEND_ONLY
        if table in tables
        for act in ("UPDATE", "DELETE")
    }


def user_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
