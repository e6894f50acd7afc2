"""A phone that moves after it was read: which of its words still stand where they did, told without reading anew."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lab.uitree import Bounds
from screens.phone.fit import Fit
from screens.phone.ink import inked
from screens.phone.items import Words
from screens.phone.paint import moved
from screens.phone.sampling import part_of, sampled
from screens.phone.typeset import Placed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.uint32]
    Mask = NDArray[np.bool_]

Pixels = tuple[bytes, tuple[int, int]]
"""A picture's bytes, height x width x 3, and its width and height."""

_TREMBLE = 6
"""Of 255: the mean colour of half a cell differs by no more where only a video's coding differs."""
_APART = 31
"""Of 255: one pixel differs by no more where only a video's coding differs."""
_CURSOR = 3
"""Columns of pixels that a blinking cursor is wide at most."""
_PARTLY = 4
"""Words of which no more than one in so many half cells changed are looked at closely."""


class Before:
    """A picture as it was read: `bare` are its half-block pixels as they were drawn, without the ink of its `texts`."""

    def __init__(self, picture: Pixels, where: Fit, bare: Grid, texts: Sequence[Placed]) -> None:
        self.where = where
        self._picture, self._bare, self._texts = picture, bare, texts
        self._grid: Grid | None = None
        words = {id(text.words): text.words for text in texts}
        self._words = list(words.values())
        self._number = {key: number for number, key in enumerate(words)}
        self._boxes = np.array([_half_cells(one.ink, where) for one in self._words], np.intp).reshape(-1, 4)
        self._here = np.ones(len(self._words), np.bool_)

    def look(self, newer: Pixels, grid: Grid) -> tuple[Grid, Mask, list[Placed]]:
        """Beside a newer picture and its half-block pixels: what was drawn, where that still stands, and its texts."""
        if self._grid is None:
            self._grid = sampled(*self._picture, self.where)
        changed = moved(grid, self._grid, _TREMBLE)
        top, left, bottom, right = self._boxes.T
        sums = np.zeros((changed.shape[0] + 1, changed.shape[1] + 1), np.int32)
        np.cumsum(np.cumsum(changed, axis=0, dtype=np.int32), axis=1, out=sums[1:, 1:])
        counts = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
        here = counts == 0
        partly = counts * _PARTLY <= (bottom - top) * (right - left)
        for number in np.flatnonzero(~here & (partly | self._here)).tolist():
            here[number] = not self._overpainted(self._words[number], newer)
        self._here = here
        again = np.zeros_like(changed)
        for first, start, last, end in self._boxes[here].tolist():
            again[first:last, start:end] = True
        texts = [text for text in self._texts if here[self._number[id(text.words)]]]
        return self._bare, again & ~changed, texts

    def _overpainted(self, words: Words, newer: Pixels) -> bool:
        """Whether a text's own pixels, looked at one by one, are no longer what they were."""
        then, now = part_of(*self._picture, self.where, words.ink), part_of(*newer, self.where, words.ink)
        return overpainted(then, now, int(np.count_nonzero(inked(then, words.paper, words.flat))))


def overpainted(then: Grid, now: Grid, marks: int) -> bool:
    """Whether what is under a text of so many inked pixels is another; a cursor or a video's tremble is no change."""
    if then.shape != now.shape:
        return True
    if np.array_equal(then, now):
        return False
    apart = moved(np.ascontiguousarray(now), np.ascontiguousarray(then), _APART)
    columns = np.flatnonzero(np.logical_or.reduce(apart, axis=0))
    if not len(columns) or columns[-1] - columns[0] < _CURSOR:
        return False
    return int(np.count_nonzero(apart)) > max(6, 0.08 * marks)


def _half_cells(box: Bounds, where: Fit) -> tuple[int, int, int, int]:
    """The half cells of a fit that a box touches: top, left, bottom, right."""
    top, bottom = math.floor(2 * where.row(box.top)), math.ceil(2 * where.row(box.bottom))
    left, right = math.floor(where.column(box.left)), math.ceil(where.column(box.right))
    high, wide = 2 * where.rows, where.cols
    return min(max(top, 0), high), min(max(left, 0), wide), min(max(bottom, 0), high), min(max(right, 0), wide)
