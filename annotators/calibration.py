"""A rater's answers beside gold: what a pilot teaches, and whether a rater meets the study's bar."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from lab.labels import MISSING, Sheet, Spot
from lab.study import Gold


class Compared(NamedTuple):
    """One place of a calibration unit: what the rater said (in words where it is a reason), and what is right."""

    spot: Spot
    said: Any
    gold: Gold

    @property
    def right(self) -> bool:
        return bool(self.said == self.gold.value)


def compared(sheet: Sheet) -> list[Compared]:
    """Each place of a calibration unit that has gold, in the sheet's order."""
    found = []
    for gold in sheet.unit.gold:
        spot = Spot(gold.target, gold.field)
        head = sheet.head(spot)
        said = None if head is None else MISSING[head.reason_missing] if head.reason_missing else head.value
        found.append(Compared(spot, said, gold))
    return found


def share_right(sheets: Iterable[Sheet]) -> float | None:
    """The share of gold places at which a rater said what is right, over all units; None where there is no gold."""
    all_of = [one.right for sheet in sheets for one in compared(sheet)]
    return sum(all_of) / len(all_of) if all_of else None
