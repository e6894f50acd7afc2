"""What raters said at the places of one field, as arrays: the one form that every coefficient reads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Place(NamedTuple):
    """An item: a target (empty: the unit itself) of a unit."""

    unit: str
    target: str


class Ratings(NamedTuple):
    """Answers that are categories, declared in order by the protocol.

    `codes` (places x raters, int16) index `categories`; -1 is missing. `trace` (places) indexes `traces`, the clusters.
    `scores` are the categories as numbers where they are ordered on a scale ("1" .. "5"); None where they are not.
    `reasons` counts answers that were to be given and were not. `derived` is `after` once paths and dependencies apply.
    """

    field: str
    categories: tuple[str, ...]
    codes: npt.NDArray[np.int16]
    raters: tuple[str, ...]
    trace: npt.NDArray[np.int32]
    traces: tuple[str, ...]
    places: tuple[Place, ...]
    scores: tuple[float, ...] | None = None
    reasons: dict[str, int] = {}
    derived: str = ""


class Numbers(NamedTuple):
    """Answers that are numbers: `values` (places x raters, float64), nan where missing; the rest as in `Ratings`."""

    field: str
    values: Floats
    raters: tuple[str, ...]
    trace: npt.NDArray[np.int32]
    traces: tuple[str, ...]
    places: tuple[Place, ...]
    reasons: dict[str, int] = {}
