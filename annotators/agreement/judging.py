"""A judge against the truth: accuracy, precision, recall, F1 and kappa; and boxes against boxes."""

from __future__ import annotations

from typing import Literal

from annotators.agreement.additive import Additive
from annotators.agreement.ratings import Ratings

Judged = Literal["accuracy", "precision", "recall", "f1", "kappa"]


def judged(ratings: Ratings, what: Judged, positive: str) -> Additive:
    """Of two columns, truth and judge in this order, over places where both stand; `positive` is the category that
    precision, recall and F1 are about."""
    raise NotImplementedError


Box = tuple[float, float, float, float]


def iou(one: Box, other: Box) -> float:
    """The intersection of two boxes (left, top, right, bottom) over their union; 0 where both are empty."""
    raise NotImplementedError


def same_box(one: Box, other: Box, least: float = 0.5) -> bool:
    """Whether IoU is at least `least`."""
    raise NotImplementedError


def centre_in_box(one: Box, other: Box) -> bool:
    """Whether the centre of each lies in the other."""
    raise NotImplementedError
