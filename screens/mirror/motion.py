"""Motion of a phone after it was read: find the texts that are still in place, without reading the picture again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageChops

from screens.mirror.fit import Fit
from screens.mirror.items import TextBlock
from screens.mirror.paint import moved
from screens.mirror.sampling import BLOCK, blocks, half_cells, part_of, sampled
from screens.mirror.typeset import PlacedLine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lab.core.seams import LazyPixels

    Grid = NDArray[np.uint32]
    Mask = NDArray[np.bool_]

Pixels = tuple["bytes | LazyPixels", tuple[int, int]]
"""Pixels of a picture (see `Frame`), with its width and height."""

_TREMBLE = 6
"""Difference (of 255) of a half cell's mean colour up to which it counts as video noise."""
_SHARE, _LEAST = 0.16, 10
"""Difference of a patch's mean colour up to which it counts as video noise: share of a text's contrast, and minimum (of
255).

Measured at 360x800 and 540x1200: H.264 of 2 to 8 Mbit/s changes it by 2 to 4 of 255, of 0.4 Mbit/s by up to 25. Another
digit changes it by 31 or more if the contrast is 190.
"""
_CURSOR = 3
"""Maximum width of a blinking cursor in columns of pixels."""
_NARROW = 3
"""Patches across which a change is inspected closely, since it may be a cursor."""


class PreviousPicture:
    """A picture as it was read. `bare` are its half-block pixels as drawn, without the ink of its `texts`."""

    def __init__(self, picture: Pixels, where: Fit, bare: Grid, texts: Sequence[PlacedLine]) -> None:
        self.where, self.size = where, picture[1]
        self._picture, self._bare, self._texts = picture, bare, texts
        self._grids: tuple[Grid, Grid] | None = None

    def _prepare(self) -> tuple[Grid, Grid]:
        """Prepare the comparison, and return the picture as patches and half cells.

        Called once a picture is compared: with most none is, since the next one is read.
        """
        where = self.where
        words = {id(text.words): text.words for text in self._texts}
        self._words = list(words.values())
        self._number = {key: number for number, key in enumerate(words)}
        self._cells = _grid_spans(self._words, where, (2 * where.rows, where.cols))
        self._patches = _grid_spans(self._words, where, blocks(where))
        self._in_place = np.ones(len(self._words), np.bool_)
        slack = np.full(blocks(where), 255, np.uint8)
        for block, (top, left, bottom, right) in zip(self._words, self._patches.tolist(), strict=True):
            part = slack[top:bottom, left:right]
            np.minimum(part, slack_of(block), out=part)
        self._slack = np.repeat(slack, 4, axis=1)
        then = sampled(*self._picture, where)
        return then, half_cells(then, where)

    def look(self, newer: Pixels, patches: Grid, cells: Grid) -> tuple[Grid, Mask, list[PlacedLine]]:
        """Compare a newer picture, as patches and half cells.

        Return what was drawn, a mask of where that is still valid, and the texts still in place.
        """
        if self._grids is None:
            self._grids = self._prepare()
        changes = moved(patches, self._grids[0], self._slack)
        top, left, bottom, right = self._patches.T
        # Summed-area table: the number of changes in each text's box in four look-ups.
        sums = np.zeros((changes.shape[0] + 1, changes.shape[1] + 1), np.int32)
        np.cumsum(np.cumsum(changes, axis=0, dtype=np.int32), axis=1, out=sums[1:, 1:])
        here = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left] == 0
        for number in np.flatnonzero(~here & self._in_place).tolist():
            here[number] = self._blinks(number, newer, changes)
        self._in_place = here
        stands = ~moved(cells, self._grids[1], 0 if isinstance(newer[0], bytes) else _TREMBLE)
        for first, start, last, end in self._cells[~here].tolist():
            stands[first:last, start:end] = False
        return self._bare, stands, [text for text in self._texts if here[self._number[id(text.words)]]]

    def _blinks(self, number: int, newer: Pixels, changes: Mask) -> bool:
        """Return True if the only change in a text is a cursor."""
        top, left, bottom, right = self._patches[number].tolist()
        columns = np.flatnonzero(np.logical_or.reduce(changes[top:bottom, left:right], axis=0))
        if columns[-1] - columns[0] >= _NARROW:
            return False
        words = self._words[number]
        then, now = part_of(*self._picture, self.where, words.ink), part_of(*newer, self.where, words.ink)
        return then.shape == now.shape and _only_cursor_differs(then, now)


def slack_of(words: TextBlock) -> int:
    """Return the difference (of 255) up to which a patch of a text counts as unchanged."""
    contrast = max(abs((words.colour >> shift & 255) - (words.paper >> shift & 255)) for shift in (0, 8, 16))
    return max(_LEAST, int(_SHARE * contrast))


def overpainted(then: Grid, now: Grid, scale: tuple[float, float], slack: int) -> bool:
    """Return True if pixels now show another text or state. A cursor and video noise are not a change."""
    if then.shape != now.shape:
        return True
    if np.array_equal(then, now):
        return False
    by = max(1, round(BLOCK[0] / scale[0])), max(1, round(BLOCK[1] / scale[1]))
    one, other = (
        Image.frombuffer("RGBX", g.shape[::-1], np.ascontiguousarray(g), "raw", "RGBX", 0, 1) for g in (then, now)
    )
    differs = ImageChops.difference(one.convert("RGB").reduce(by), other.convert("RGB").reduce(by))
    return int(np.asarray(differs).max()) > slack and not _only_cursor_differs(then, now)


def _only_cursor_differs(then: Grid, now: Grid) -> bool:
    """Return True if two pictures differ in no more columns than a cursor is wide."""
    columns = np.flatnonzero(
        np.logical_or.reduce(moved(np.ascontiguousarray(now), np.ascontiguousarray(then), 31), axis=0)
    )
    return not len(columns) or bool(columns[-1] - columns[0] < _CURSOR)


def _grid_spans(words: Sequence[TextBlock], where: Fit, shape: tuple[int, int]) -> NDArray[np.intp]:
    """Return for each text the part of a grid over the fit that its ink touches: top, left, bottom, right."""
    down, across = shape[0] / (where.y1 - where.y0), shape[1] / (where.x1 - where.x0)
    spans = [
        (
            math.floor((block.ink.top - where.y0) * down), math.floor((block.ink.left - where.x0) * across),
            math.ceil((block.ink.bottom - where.y0) * down), math.ceil((block.ink.right - where.x0) * across),
        )
        for block in words
    ]  # fmt: skip
    edges = np.array(spans, np.intp).reshape(-1, 4)
    return np.clip(edges, 0, np.array([shape[0], shape[1], shape[0], shape[1]]))
