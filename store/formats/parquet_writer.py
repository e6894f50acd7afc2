"""tables as Parquet: not written yet."""

from __future__ import annotations

from lab.errors import LabError
from store.formats import Writer


def _no(*_: object) -> None:
    raise LabError("format parquet", "is not written yet")


WRITER = Writer("parquet", "tables as Parquet", _no)
