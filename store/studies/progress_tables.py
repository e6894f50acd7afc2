"""Two small tables derived from assignments, acts and labels, so that a large study opens as fast as a small one.

`todo` has the position of each assignment not handed in. `tally` counts each person's assignments dealt and left, and
sheets begun. Triggers update both whenever their source rows are inserted or deleted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

TABLES = {
    "todo": """CREATE TABLE todo (
        study TEXT NOT NULL,
        version INTEGER NOT NULL,
        rater TEXT NOT NULL,
        position INTEGER NOT NULL,
        PRIMARY KEY (study, version, rater, position)
    ) WITHOUT ROWID""",
    "tally": """CREATE TABLE tally (
        study TEXT NOT NULL,
        version INTEGER NOT NULL,
        rater TEXT NOT NULL,
        dealt INTEGER NOT NULL,
        left INTEGER NOT NULL,
        begun INTEGER NOT NULL,
        PRIMARY KEY (study, version, rater)
    ) WITHOUT ROWID""",
}

_PERSON = "study = {0}.study AND version = {0}.version AND rater = {0}.rater"
_SHEET = _PERSON + " AND unit = {0}.unit AND run = {0}.run"
_LAST = f"(SELECT act FROM act WHERE {_SHEET} AND act IN ('commit', 'reopen') ORDER BY at DESC, id DESC LIMIT 1)"
"""Last act on a sheet by its own time, not by the order of insertion: a merge inserts older acts later."""

_ENSURE_TALLY = (
    "INSERT INTO tally SELECT NEW.study, NEW.version, NEW.rater, 0, 0, 0 "
    f"WHERE NOT EXISTS (SELECT 1 FROM tally WHERE {_PERSON.format('NEW')})"
)


def _count_sql(column: str, by: str, row: str) -> str:
    return f"UPDATE tally SET {column} = {column} {by} WHERE {_PERSON.format(row)}"


def _hand_in_sql(row: str) -> tuple[str, str]:
    """Return SQL that removes a sheet's position from `todo` or adds it, depending on the sheet's last act."""
    # `IS NOT 'commit'` is also true for NULL, a sheet without any act.
    places = f"SELECT position FROM assignment WHERE {_SHEET.format(row)}"
    last = _LAST.format(row)
    return (
        f"DELETE FROM todo WHERE {_PERSON.format(row)} AND position IN ({places}) AND {last} = 'commit'",
        f"INSERT INTO todo SELECT {row}.study, {row}.version, {row}.rater, position FROM assignment a "
        f"WHERE {_SHEET.format(row)} AND {last} IS NOT 'commit' AND NOT EXISTS "
        f"(SELECT 1 FROM todo WHERE {_PERSON.format(row)} AND position = a.position)",
    )


_FIRST_OF_SHEET = "NOT EXISTS (SELECT 1 FROM label WHERE {} AND n <> {}.n)"
_TRIGGERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "todo_one_more": ("INSERT ON todo", (_count_sql("left", "+ 1", "NEW"),)),
    "todo_one_less": ("DELETE ON todo", (_count_sql("left", "- 1", "OLD"),)),
    "assignment_counted": (
        "INSERT ON assignment",
        (
            _ENSURE_TALLY,
            _count_sql("dealt", "+ 1", "NEW"),
            "INSERT INTO todo SELECT NEW.study, NEW.version, NEW.rater, NEW.position "
            f"WHERE {_LAST.format('NEW')} IS NOT 'commit'",
        ),
    ),
    "assignment_gone": (
        "DELETE ON assignment",
        (
            f"DELETE FROM todo WHERE {_PERSON.format('OLD')} AND position = OLD.position",
            _count_sql("dealt", "- 1", "OLD"),
        ),
    ),
    "act_counted": ("INSERT ON act WHEN NEW.act IN ('commit', 'reopen')", _hand_in_sql("NEW")),
    "act_gone": ("DELETE ON act WHEN OLD.act IN ('commit', 'reopen')", _hand_in_sql("OLD")),
    "label_counted": (
        f"INSERT ON label WHEN {_FIRST_OF_SHEET.format(_SHEET.format('NEW'), 'NEW')}",
        (_ENSURE_TALLY, _count_sql("begun", "+ 1", "NEW")),
    ),
    "label_gone": (
        f"DELETE ON label WHEN {_FIRST_OF_SHEET.format(_SHEET.format('OLD'), 'OLD')}",
        (_count_sql("begun", "- 1", "OLD"),),
    ),
}

TRIGGERS = {
    name: f"CREATE TRIGGER {name} AFTER {when} BEGIN {'; '.join(does)}; END" for name, (when, does) in _TRIGGERS.items()
}
"""Triggers that maintain the tables: SQL by name."""

INCONSISTENT_TABLES = f"""
SELECT 'todo' WHERE EXISTS (
    SELECT study, version, rater, position FROM assignment a WHERE {_LAST.format("a")} IS NOT 'commit'
    EXCEPT SELECT study, version, rater, position FROM todo
) OR EXISTS (
    SELECT study, version, rater, position FROM todo
    EXCEPT SELECT study, version, rater, position FROM assignment a WHERE {_LAST.format("a")} IS NOT 'commit'
) UNION ALL SELECT 'tally' WHERE EXISTS (
    SELECT 1 FROM tally t WHERE
    t.dealt <> (SELECT count(*) FROM assignment WHERE {_PERSON.format("t")})
    OR t.left <> (SELECT count(*) FROM todo WHERE {_PERSON.format("t")})
    OR t.begun <> (SELECT count(*) FROM (SELECT DISTINCT unit, run FROM label WHERE {_PERSON.format("t")}))
) OR EXISTS (SELECT study, version, rater FROM assignment EXCEPT SELECT study, version, rater FROM tally)
"""
"""Query for the names of tables that disagree with their source rows, none if all is consistent."""


@contextmanager
def deferred_counting(db: sqlite3.Connection) -> Iterator[None]:
    """Lift the counting triggers while many assignments are inserted, then count them at once.

    Counting row by row takes four times as long. If the caller's transaction fails, its rollback restores the triggers.
    """
    # Rows with a higher number are those inserted in the block.
    last = db.execute("SELECT ifnull(max(n), 0) FROM assignment").fetchone()[0]
    lifted = ("assignment_counted", "todo_one_more")
    for name in lifted:
        db.execute(f"DROP TRIGGER {name}")
    yield
    db.execute(
        "INSERT INTO todo SELECT study, version, rater, position FROM assignment a "
        f"WHERE n > ? AND {_LAST.format('a')} IS NOT 'commit'",
        (last,),
    )
    db.execute(
        "INSERT INTO tally SELECT a.study, a.version, a.rater, count(*), count(t.position), 0 FROM assignment a "
        "LEFT JOIN todo t ON t.study = a.study AND t.version = a.version AND t.rater = a.rater "
        "AND t.position = a.position WHERE a.n > ? GROUP BY a.study, a.version, a.rater "
        "ON CONFLICT (study, version, rater) DO UPDATE "
        "SET dealt = dealt + excluded.dealt, left = left + excluded.left",
        (last,),
    )
    for name in lifted:
        db.execute(TRIGGERS[name])
