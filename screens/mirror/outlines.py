"""Runs of ink, and removal of outlines of fields and chips before the search for texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

LINE, _STRAIGHT, _UPRIGHT = 3, 0.6, 0.25
"""Maximum thickness of an outline in pixels, and straight share of a horizontal and of a vertical side.
"""
FAINT = np.uint32(0xF0F0F0)
"""Channel bits of a difference that make a pixel part of an outline: 16 of 255 or more.

An outline is thin and blends with its paper in a reduced picture.
"""


def drop_outline(mask: Mask, faint: Mask) -> None:
    """Clear the outline of a field or chip, with or without round corners, if it encloses anything."""
    if _is_framed(faint):
        inner = mask & ~_outermost(faint)
        if inner.any():
            mask &= inner


def _is_framed(mask: Mask) -> bool:
    """Return True if a line runs along all four sides of the ink, round corners excepted."""
    down, along = np.flatnonzero(any_along(mask, 1)), np.flatnonzero(any_along(mask, 0))
    if len(down) < 12 or len(along) < 12:
        return False
    ink = mask[down[0] : down[-1] + 1, along[0] : along[-1] + 1]
    height, width = ink.shape
    level, upright = _STRAIGHT * width, _UPRIGHT * height
    return all(
        any(end - start > least for line in side for start, end in spans_of(line, 0))
        for side, least in (
            (ink[:LINE], level), (ink[-LINE:], level), (ink[:, :LINE].T, upright), (ink[:, -LINE:].T, upright),
        )
    )  # fmt: skip


def _outermost(mask: Mask) -> Mask:
    """Return the first run of ink met from each of the four sides."""
    outermost = np.zeros_like(mask)
    for turned, out in ((mask, outermost), (mask.T, outermost.T)):
        for way, into in ((turned, out), (turned[:, ::-1], out[:, ::-1])):
            begins = way.copy()
            begins[:, 1:] &= ~way[:, :-1]
            into |= way & (np.cumsum(begins, axis=1, dtype=np.int16) == 1)
    return outermost


def from_edges(mask: Mask) -> Mask:
    """Return ink that extends from an edge without a gap. What lies around a button's round corners is not its text."""
    run = np.logical_and.accumulate
    inward = run(mask, axis=1) | run(mask[:, ::-1], axis=1)[:, ::-1]
    upward: Mask = inward | run(mask, axis=0) | run(mask[::-1], axis=0)[::-1]
    return upward


def any_along(mask: Mask, axis: int) -> Mask:
    """Return which rows (axis 1) or columns (axis 0) hold any ink."""
    some: Mask = np.logical_or.reduce(mask, axis=axis)
    return some


def spans_of(full: Mask, gap: float) -> list[tuple[int, int]]:
    """Return runs of true as [start, end), joined across gaps of up to `gap`."""
    padded = np.zeros(len(full) + 2, np.bool_)
    padded[1:-1] = full
    edges = np.flatnonzero(padded[1:] != padded[:-1]).tolist()
    spans: list[tuple[int, int]] = []
    for start, end in zip(edges[0::2], edges[1::2], strict=True):
        if spans and start - spans[-1][1] <= gap:
            spans[-1] = spans[-1][0], end
        else:
            spans.append((start, end))
    return spans
