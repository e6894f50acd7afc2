"""Links that open the endpoint's answer screen: each act on one is a row (acts on study links belong to the study)."""

from __future__ import annotations

from collections.abc import Callable

from lab.core.codec import decode, encode, storable
from lab.core.study.label import Act
from lab.core.study.study import VERSION
from store.erasing.tombstones import check_not_withdrawn
from store.file.database import Database
from store.studies.studies import check_not_kit

TABLE = "answer_link"


class AnswerLinks:
    """Acts on links that belong to no study: created, opened in a browser, revoked."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, act: Act, check: Callable[[], None] = lambda: None) -> None:
        """Store an act, durable on return. `check` may raise within the same transaction.

        Raise `LabError` if the person has withdrawn or the file is a kit.
        """
        with self._database.writing() as db:
            check()
            check_not_kit(db)
            check_not_withdrawn(db, act.rater.id, "link")
            values = (act.id, storable(act.rater.id), act.act, act.at, encode(act).decode())
            db.execute(f"INSERT INTO {TABLE} VALUES (NULL, ?, ?, ?, ?, ?)", values)

    def acts(self) -> list[Act]:
        """Return every act in order of insertion."""
        rows = self._database.rows_in(TABLE, f"SELECT body FROM {TABLE} ORDER BY n")
        return [decode(body, Act, "an act on a link in the file", newest=VERSION) for (body,) in rows]
