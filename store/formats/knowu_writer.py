"""KnowU-Bench and MobileWorld: not written yet."""

from __future__ import annotations

from lab.errors import LabError
from store.formats import Writer


def _no(*_: object) -> None:
    raise LabError("format knowu", "is not written yet")


WRITER = Writer("knowu", "KnowU-Bench and MobileWorld", _no)
