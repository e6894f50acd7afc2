"""FingerTip-20K: not written yet."""

from __future__ import annotations

from lab.errors import LabError
from store.formats import Writer


def _no(*_: object) -> None:
    raise LabError("format fingertip", "is not written yet")


WRITER = Writer("fingertip", "FingerTip-20K", _no)
