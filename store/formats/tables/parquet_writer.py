"""Tables as Parquet: `runs.parquet`, `steps.parquet`, `questions.parquet`, `verdicts.parquet`, every column typed.

Times are timestamps in UTC, null if the source has none. A column's meaning is in its metadata, under `meaning`. Texts
are unchanged. This needs pyarrow, from the extra `parquet`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any

from lab.core.errors import LabError
from lab.core.values.made_files import make_file
from store.formats import StoredRun, Writer
from store.formats.tables.columns import TABLES, FormatColumn
from store.formats.tables.rows import Row, rows_of

_MOST_ROWS = 4096
_MOST_TEXT = 16 * 1024**2
"""Characters of text after which a row group is written, which bounds the memory of any export."""


def write(runs: Iterable[StoredRun], out: Path, on_run: Callable[[str], None]) -> None:
    """Append each run's rows to the tables, with at most one row group of each in memory."""
    arrow, parquet = _import_arrow("pyarrow"), _import_arrow("pyarrow.parquet")
    with ExitStack() as stack:
        tables = {
            name: stack.enter_context(_Table(arrow, parquet, out / f"{name}.parquet", columns))
            for name, columns in TABLES.items()
        }
        for run in runs:
            for name, rows in rows_of(run).items():
                tables[name].add(rows)
            on_run(run.id)
    # ParquetWriter closes its own files, so open them again to sync them.
    for name in TABLES:
        with (out / f"{name}.parquet").open("rb+") as file:
            os.fsync(file.fileno())


def _import_arrow(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise LabError(
            "format parquet", "needs pyarrow, which is not installed.", 'pip install "hitlab[parquet]" brings it.'
        ) from None


class _Table:
    """A table being written, one row group at a time."""

    def __init__(self, arrow: Any, parquet: Any, path: Path, columns: tuple[FormatColumn, ...]) -> None:
        self._import_arrow = arrow
        self._columns = columns
        types = {
            "text": arrow.string(),
            "json": arrow.string(),
            "integer": arrow.int64(),
            "number": arrow.float64(),
            "truth": arrow.bool_(),
            "time": arrow.timestamp("us", tz="UTC"),
        }
        self._schema = arrow.schema(
            [arrow.field(c.name, types[c.kind], metadata={"meaning": c.meaning, "holds": c.kind}) for c in columns]
        )
        make_file(path)
        self._writer = parquet.ParquetWriter(str(path), self._schema)
        self._rows: list[Row] = []
        self._text = 0

    def __enter__(self) -> _Table:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._flush()
        finally:
            self._writer.close()

    def add(self, rows: list[Row]) -> None:
        """Add rows, and write them if enough are in memory."""
        for row in rows:
            self._rows.append(row)
            self._text += sum(len(value) for value in row.values() if isinstance(value, str))
            if len(self._rows) >= _MOST_ROWS or self._text >= _MOST_TEXT:
                self._flush()

    def _flush(self) -> None:
        if not self._rows:
            return
        arrays = [
            self._import_arrow.array(
                [_arrow_value(column, row.get(column.name)) for row in self._rows], type=field.type
            )
            for column, field in zip(self._columns, self._schema, strict=True)
        ]
        self._writer.write_table(self._import_arrow.Table.from_arrays(arrays, schema=self._schema))
        self._rows, self._text = [], 0


def _arrow_value(column: FormatColumn, value: Any) -> Any:
    if value is None:
        return None
    if column.kind == "time":
        try:
            moment = datetime.fromisoformat(value)
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (ValueError, OverflowError):
            return None
    return float(value) if column.kind == "number" else value


WRITER = Writer("parquet", "tables as Parquet", write)
