"""Schema of a hitlab file: numbered migrations, and triggers that make every table append-only."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from store.studies import progress_tables

VERSION = 8
"""Newest schema that this program knows. It is stored in `PRAGMA user_version` and grows by one with each migration."""

APPLICATION_ID = int.from_bytes(b"hitl", "big")
"""Marks the file's header, so that another program's database is never mistaken for a hitlab file."""

APPEND_ONLY = (
    "trace", "event", "blob", "use", "verdict", "draft", "design", "review", "clearance", "tombstone", "link",
    "study", "unit", "assignment", "label", "act", "withdrawal", "kit", "run_act", "shadow", "answer_link",
)  # fmt: skip
"""Tables whose rows are never changed or deleted. Corrections are new rows. Only `store.erasing.erasure` deletes."""

_FIRST = (
    # `n` orders runs by their insertion into this file. VACUUM may renumber an implicit rowid, but never this column.
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
    # `question`, `reply`, `status` and `score` duplicate fields of `body`, so that a list of runs reads no body.
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
    # No foreign key to blob: a file packed without images still records which ones are missing.
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
    # One row for each act on a design. `body` holds the whole design after the act, so that each row is readable on
    # its own.
    # `supersedes` is a JSON list, because one row can settle two heads.
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
    # Reviews of a demonstration by two proofreaders, field by field. `body` holds the whole row, as in `design`.
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
    # No foreign key to trace: the run is no longer in the file, and must not return.
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
    # Pictures that stay in their files. A blob with the same sha256 takes precedence. A picture may have several
    # links, so
    # that importing a moved folder again repairs them.
    """CREATE TABLE link (
        sha256 TEXT NOT NULL,
        mime TEXT NOT NULL,
        size INTEGER NOT NULL,
        path TEXT NOT NULL,
        PRIMARY KEY (sha256, path)
    )""",
)

_FIFTH = (
    # Versions of studies. Units have a table of their own, so that a study of 100,000 units opens as fast as one of
    # ten.
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
    # `kind` and `rater` identify who gave the label. `body` holds the whole label, as in `design`.
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
    # No foreign keys: all that remains of a person who withdrew, so that their data is never accepted again.
    "CREATE TABLE withdrawal (code TEXT PRIMARY KEY, at TEXT NOT NULL, body TEXT NOT NULL)",
    # One row if this file is a kit (`store.copies.kit_export`), which holds only what one rater of one study may see.
    "CREATE TABLE kit (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, rater TEXT NOT NULL, body TEXT NOT NULL)",
    *progress_tables.TABLES.values(),
    *progress_tables.TRIGGERS.values(),
)

_SIXTH = (
    # Acts on runs in lists: archived, tagged. `tag` is empty except for tags, in lower case. For each run and tag the
    # last
    # row by `at` and `id` applies, in whichever file it was written.
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
    # Answers of models that were asked the same as a run's person. They are not events, so that nobody who gets a run
    # gets these. `supersedes` names an earlier row that recorded a failure.
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
    # Acts on links to the endpoint's answer screen, which belongs to no study. `body` is an act, as in `act`.
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
def _import_blocked(module: str) -> Iterator[None]:
    """Block the import of a module that a library would load without needing it: pandas takes half a second."""
    absent = module not in sys.modules
    if absent:
        sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        if absent:
            sys.modules.pop(module, None)


def migrate(connection: sqlite3.Connection) -> None:
    """Migrate an empty or older file to `VERSION` in one transaction. Do nothing if another process just did.

    Only this function imports sqlite-utils, because that takes longer than opening a file.
    """
    with _import_blocked("pandas"):
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
        # Another process may have migrated the file while this one waited for the lock.
        if user_version(connection) < VERSION:
            migrations.apply(Database(connection))
            create_triggers(connection)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def create_triggers(connection: sqlite3.Connection) -> None:
    """Create every trigger again, because changing a table's schema drops its triggers."""
    for name, statement in {**triggers(), **progress_tables.TRIGGERS}.items():
        connection.execute(f"DROP TRIGGER IF EXISTS {name}")
        connection.execute(statement)


def triggers(tables: Collection[str] = APPEND_ONLY) -> dict[str, str]:
    """Return name and SQL of each append-only trigger for these tables. A file of an older schema has fewer."""
    return {
        f"{table}_no_{act.lower()}": f"CREATE TRIGGER {table}_no_{act.lower()} BEFORE {act} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
        for table in APPEND_ONLY
        if table in tables
        for act in ("UPDATE", "DELETE")
    }


def user_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
