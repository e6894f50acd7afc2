"""tables as CSV: not written yet."""

from __future__ import annotations

from lab.errors import LabError
from store.formats import Writer


def _no(*_: object) -> None:
    raise LabError("format csv", "is not written yet")


WRITER = Writer("csv", "tables as CSV", _no)
