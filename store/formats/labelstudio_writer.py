"""Label Studio: not written yet."""

from __future__ import annotations

from lab.errors import LabError
from store.formats import Writer


def _no(*_: object) -> None:
    raise LabError("format labelstudio", "is not written yet")


WRITER = Writer("labelstudio", "Label Studio", _no)
