"""Copies of a file that went their own ways, and all that a file holds, whatever order it came in."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from lab.core.study.rating_sheet import FieldReference, answer_to
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import uuid7
from store.file.schema import APPEND_ONLY
from store.store import Store
from tests.studies import label


def content(path: Path) -> dict[str, list[str]]:
    """All rows of a file by table, without what depends on the order in which they came."""
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    found = {}
    for table in APPEND_ONLY:
        rows = [dict(row) for row in db.execute(f"SELECT * FROM {table}")]
        found[table] = sorted(repr({k: _plain(table, k, v) for k, v in row.items() if k != "n"}) for row in rows)
    db.close()
    return found


def _plain(table: str, column: str, value: object) -> object:
    """Where two files dealt the same, or erased the same, each says when; whose word stays is not content."""
    if table == "assignment" and column in ("at", "position", "body"):
        return None
    if table in ("withdrawal", "tombstone") and column not in ("code", "trace", "why", "replaced_by"):
        return None
    if column == "body":
        return json.loads(str(value), parse_int=float)  # 0 and 0.0 are the same where a number may be broken
    return value


def say(store: Store, plan: Study, unit: Unit, who: str, spot: FieldReference, value: object, **said: Any) -> None:
    """Answers as a person would, superseding what stands."""
    by = Actor("human", who)
    store.labels.record_each(
        plan, unit, by, 1,
        [lambda sheet: answer_to(sheet, replace(label(plan, unit, *spot, value, rater=by, **said), id=uuid7()))],
    )  # fmt: skip
