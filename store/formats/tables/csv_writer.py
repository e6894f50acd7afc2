"""Tables as CSV (RFC 4180): runs.csv, steps.csv, questions.csv, verdicts.csv, and columns.csv with their meanings.

UTF-8 without byte order mark, lines end with CR LF, the first line has the names. Every text is quoted and no number
is. A missing value is an empty cell, an empty text a pair of quotes. A spreadsheet would run a text that begins with =
+ - @ (or a tab or line end) as a formula. Such a text, unless it is a number, gets one apostrophe in front. A text that
already began with an apostrophe and such a sign gets one more, so that removing one apostrophe before such a sign
restores every text. Parquet has the texts unchanged.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from lab.core.values.made_files import open_file
from store.formats import StoredRun, Writer
from store.formats.tables.columns import TABLES, FormatColumn
from store.formats.tables.rows import rows_of

_RUNS_AS_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_NUMBER = re.compile(r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?")
_TEXTS = frozenset({"text", "time", "json"})


def write(runs: Iterable[StoredRun], out: Path, on_run: Callable[[str], None]) -> None:
    """Append each run's rows to the tables, one run at a time."""
    with ExitStack() as stack:
        files = {name: stack.enter_context(_new_file(out / f"{name}.csv")) for name in TABLES}
        for name, columns in TABLES.items():
            files[name].write(line([column.name for column in columns]))
        for run in runs:
            for name, rows in rows_of(run).items():
                files[name].writelines(
                    line([_safe_value(column, row.get(column.name)) for column in TABLES[name]]) for row in rows
                )
            on_run(run.id)
        files["columns"] = stack.enter_context(_new_file(out / "columns.csv"))
        files["columns"].write(line(["table", "column", "holds", "meaning"]))
        for name, columns in TABLES.items():
            files["columns"].writelines(line([name, *column]) for column in columns)
        for file in files.values():
            file.flush()
            os.fsync(file.fileno())


def _new_file(path: Path) -> IO[str]:
    return open_file(path, "x", encoding="utf-8", newline="")


def _safe_value(column: FormatColumn, value: Any) -> Any:
    if value is None or column.kind not in _TEXTS:
        return value
    return escape_formula(str(value))


def escape_formula(text: str) -> str:
    """Return a text that no spreadsheet treats as a formula, with an apostrophe in front if it would be one."""
    return "'" + text if _RUNS_AS_FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def line(values: Sequence[Any]) -> str:
    """Return one line of CSV: text quoted, None as nothing, booleans as `true` and `false`."""
    return ",".join(_cell(value) for value in values) + "\r\n"


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return '"' + value.replace('"', '""') + '"'
    # repr() has every digit of a float.
    return repr(value)


WRITER = Writer("csv", "tables as CSV", write)
