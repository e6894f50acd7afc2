"""The verb by which agreement reads a study's labels; what it needs beneath is loaded when it is asked for."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lab.study import Study
from store.connect import told

if TYPE_CHECKING:
    from lab.columns import Columns


class Heads:
    """The verb of `Store` that agreement reads by; what is beneath it is the store's own."""

    path: Path

    def _connection(self) -> sqlite3.Connection:
        raise NotImplementedError

    def columns(self, study: Study) -> Columns:
        """The labels that stand in a study, of people only what is handed in; all of one moment.

        Raises `LabError` where a label was written by a newer hitlab.
        """
        from store.standing import standing

        with self._one_moment() as db:
            return standing(db, study)

    @contextmanager
    def _one_moment(self) -> Iterator[sqlite3.Connection]:
        """What is read within is of one moment, whoever writes meanwhile."""
        with told(self.path):
            db = self._connection()
            db.execute("BEGIN")
            try:
                yield db
            finally:
                db.execute("COMMIT")
