"""Adjudication: what was settled at a place on which raters disagreed, how, by whom and why. Originals never change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from lab.label import Act, Missing
from lab.labels import Spot
from lab.task import Actor
from lab.wire import convert

Means = Literal["majority", "discussion", "adjudicator"]


class Move(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Who changed their mind in a discussion, from what to what, and why; `code` is a reason in a word."""

    rater: str
    was: Any = None
    now: Any = None
    code: str = ""
    why: str = ""


class Adjudicated(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is right at a place of a unit, as it was settled; `value` is None where `reason_missing` says why.

    `minutes` are how long it was discussed. It is kept as an act (`adjudicated`) of the one who settled it; a later one
    about the same place takes its place; one with `withdrawn` set leaves the place unsettled again.
    """

    target: str
    field: str
    by_means: Means
    value: Any = None
    reason_missing: Missing | None = None
    reason: str = ""
    minutes: float | None = None
    moves: tuple[Move, ...] = ()
    withdrawn: bool = False


class Settled(msgspec.Struct, frozen=True):
    """An adjudication with where and when it was made, and by whom."""

    unit: str
    what: Adjudicated
    by: Actor
    at: str


def adjudicated(acts: Iterable[Act]) -> dict[tuple[str, Spot], Settled]:
    """What stands as settled, by unit and place; the newest word about a place is the one that stands."""
    found: dict[tuple[str, Spot], Settled] = {}
    for act in sorted(acts, key=lambda act: (act.at, act.id)):
        if act.act != "adjudicated":
            continue
        what: Adjudicated = convert(act.detail, Adjudicated, f"act {act.id}")
        place = (act.unit, Spot(what.target, what.field))
        found.pop(place, None)
        if not what.withdrawn:
            found[place] = Settled(act.unit, what, act.rater, act.at)
    return found
