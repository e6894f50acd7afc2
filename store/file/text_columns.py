"""Text columns of a hitlab file, read from its schema, so that tables added later are included."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

Read = Callable[..., Iterable[Any]]


class TextTable(NamedTuple):
    """A table's text and byte columns, and those of them that are keys."""

    name: str
    columns: tuple[str, ...]
    keys: frozenset[str]
    has_rowid: bool


def text_tables(read: Read) -> list[TextTable]:
    """Return the tables of a file that hold text. `read` runs SQL.

    Virtual tables and generated columns are left out.
    """
    tables = []
    rows = list(read("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY rowid"))
    for name, sql in rows:
        if name.startswith("sqlite_") or re.match(r"\s*CREATE\s+VIRTUAL", sql, re.IGNORECASE):
            continue
        table = _quote_name(name)
        # Column 6 (`hidden`) is not 0 for generated columns, column 5 (`pk`) not 0 for primary keys.
        about = [row for row in read(f"PRAGMA table_xinfo({table})") if not row[6]]
        numbers = ("INT", "REAL", "FLOA", "DOUB", "NUM")
        columns = [row[1] for row in about if not str(row[2]).upper().startswith(numbers)]
        keys = {row[1] for row in about if row[5]}
        keys |= {row[3] for row in read(f"PRAGMA foreign_key_list({table})")}
        for _, index, is_unique, *_ in list(read(f"PRAGMA index_list({table})")):
            if is_unique:
                keys |= {row[2] for row in read(f"PRAGMA index_info({_quote_name(index)})")}
        has_rowid = not re.search(r"WITHOUT\s+ROWID\s*\Z", sql, re.IGNORECASE)
        tables.append(TextTable(table, tuple(map(_quote_name, columns)), frozenset(map(_quote_name, keys)), has_rowid))
    return tables


def _quote_name(name: str) -> str:
    """Return a name quoted for SQL."""
    return name if re.fullmatch(r"[a-z_]+", name) and name != "use" else '"' + name.replace('"', '""') + '"'
