"""Runs of ink, and the outlines of fields and chips, which are taken away before words are looked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

LINE, _STRAIGHT, _UPRIGHT = 3, 0.6, 0.25
"""Pixels that the line of an outline is thick at most, and how much of a side is straight, between round corners."""
FAINT = np.uint32(0xF0F0F0)
"""The line of an outline differs by 16 of 255 or more: it is thin, and blends with its paper in a reduced picture."""


def drop_outline(mask: Mask, faint: Mask) -> None:
    """Clears the outline of a field or a chip, whose corners may be round, where anything stands within."""
    if _framed(faint):
        inner = mask & ~_outermost(faint)
        if inner.any():
            mask &= inner


def _framed(mask: Mask) -> bool:
    """Whether a line runs along all four sides of the ink, but for round corners."""
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
    """The first ink that is met from each of the four sides."""
    outermost = np.zeros_like(mask)
    for turned, out in ((mask, outermost), (mask.T, outermost.T)):
        for way, into in ((turned, out), (turned[:, ::-1], out[:, ::-1])):
            begins = way.copy()
            begins[:, 1:] &= ~way[:, :-1]
            into |= way & (np.cumsum(begins, axis=1, dtype=np.int16) == 1)
    return outermost


def from_edges(mask: Mask) -> Mask:
    """Ink that runs in from an edge without a gap: what lies around a button's round corners is not its text."""
    run = np.logical_and.accumulate
    inward = run(mask, axis=1) | run(mask[:, ::-1], axis=1)[:, ::-1]
    upward: Mask = inward | run(mask, axis=0) | run(mask[::-1], axis=0)[::-1]
    return upward


def any_along(mask: Mask, axis: int) -> Mask:
    """Along which of the other axis there is any ink."""
    some: Mask = np.logical_or.reduce(mask, axis=axis)
    return some


def spans_of(full: Mask, gap: float) -> list[tuple[int, int]]:
    """Runs of true, joined across gaps of up to `gap`."""
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
