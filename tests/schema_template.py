"""New hitlab files in tests: the tables are laid once in each worker, and other empty files get their pages."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable

Migrate = Callable[[sqlite3.Connection], None]


class SchemaTemplate:
    """Stands in place of `store.file.schema.migrate`: two thirds of what opening a new file takes are its tables."""

    def __init__(self, migrate: Migrate) -> None:
        self._migrate = migrate
        self._lock = threading.Lock()
        self._pages: sqlite3.Connection | None = None

    def __call__(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                self._migrate(connection)  # an older file, or one that another laid just now
                return
            if self._pages is None:
                self._migrate(connection)
                self._pages = sqlite3.connect(":memory:", check_same_thread=False)
                connection.backup(self._pages)
            else:
                self._pages.backup(connection)
