"""Check of a file's schema against hitlab's before any row is read.

A view in place of a table, a trigger, a generated column or an indexed expression is code of whoever made the file, and
would run here: a recursive view never ends. Other tables with names of their own are ignored and never read.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path

from lab.core.errors import LabError
from lab.core.run import input_limits
from store.file.schema import APPEND_ONLY, VERSION, triggers, user_version
from store.studies import progress_tables

TABLES = frozenset({*APPEND_ONLY, *progress_tables.TABLES})
_COMPUTED = re.compile(r"\b(?:CHECK|GENERATED)\b|\b(?:AS|DEFAULT)\s*\(", re.IGNORECASE)
"""SQL by which a table computes values on read or write. No table of hitlab has any."""
_COLUMNS = re.compile(r"\bON\b[^(]*\(([\w\s,\"`\[\]]*)\)\s*\Z", re.IGNORECASE)
"""End of the SQL of an index on plain columns: no expression and no condition."""
_MAX_NAME = 80
_CHANGED = "Somebody changed the file; it is not read."


_INSTRUCTIONS = 10
"""SQLite VM instructions allowed for each object of a schema. SQLite needs seven."""


@contextmanager
def schema_bounded(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Raise `LabError` if the schema, which SQLite reads with the first statement, exceeds the limits."""
    # A progress handler that returns 1 interrupts SQLite after that many instructions.
    connection.set_progress_handler(lambda: 1, input_limits.SCHEMA_PARTS * _INSTRUCTIONS)
    longest = connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, input_limits.SCHEMA_SQL)
    try:
        yield
    except sqlite3.Error as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            words = (
                f"holds more than the {input_limits.SCHEMA_PARTS:,} tables, indices, views and triggers that are read."
            )
        elif error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG:
            size = input_limits.SCHEMA_SQL // input_limits.KB
            words = f"holds a table, index, view or trigger of more than {size} kB of SQL."
        else:
            raise
        raise LabError(f"database {path}", words, _CHANGED) from error
    finally:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
        connection.set_progress_handler(None, 0)


def check_schema(connection: sqlite3.Connection, path: Path, *, readonly: bool) -> None:
    """Raise `LabError` that names a part of the schema that hitlab did not create.

    Triggers are ignored in a read-only file, where they never run.
    """
    current = user_version(connection) == VERSION
    for kind, name, table, root, sql in connection.execute(
        "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master"
    ):
        reason = _refusal_reason(
            str(kind), str(name), str(table), bool(root), str(sql or ""), readonly=readonly, current=current
        )
        if reason:
            short_name = str(name)[:_MAX_NAME]
            raise LabError(
                f"database {path}",
                f"{kind} {short_name}: {reason}.",
                f"If it is your file and you added it, take it out again (DROP {str(kind).upper()} {short_name})."
                if kind in ("trigger", "index")
                else _CHANGED,
            )


@lru_cache(maxsize=512)
def _refusal_reason(kind: str, name: str, table: str, rooted: bool, sql: str, *, readonly: bool, current: bool) -> str:
    """Return why a part of the schema is refused, empty if it is accepted.

    Results are cached, because every file has the same hundred parts.
    """
    ours = table.lower() in TABLES
    if kind == "trigger":
        return "" if readonly else _trigger_problem(name, sql, current=current)
    if not ours or (kind == "index" and not sql):
        return ""
    if kind == "index":
        return "" if _COLUMNS.search(sql) else "indexes more than columns, which hitlab never does"
    # A virtual table has no root page.
    if kind != "table" or not rooted:
        return "stands in the place of a table that hitlab makes"
    return "computes values, which no table of hitlab's does" if _COMPUTED.search(sql) else ""


def _trigger_problem(name: str, sql: str, *, current: bool) -> str:
    own_sql = _own_triggers().get(name)
    if own_sql is None:
        return "is no trigger that hitlab makes"
    if current and " ".join(sql.split()) != own_sql:  # `create_triggers` creates an older file's triggers again
        return "does something else than the trigger that hitlab makes"
    return ""


@cache
def _own_triggers() -> dict[str, str]:
    """Return hitlab's triggers with normalized whitespace: SQL by name."""
    return {name: " ".join(sql.split()) for name, sql in {**triggers(), **progress_tables.TRIGGERS}.items()}
