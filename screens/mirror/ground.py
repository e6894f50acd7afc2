"""The ground of a picture over which a text may extend, and the distance of colours."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from lab.core.run.ui_tree import UiTree
from screens.mirror.fit import Fit
from screens.mirror.items import TextBlock
from screens.mirror.paint import Cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.uint32]

_EDGE = 3
"""Cells of an object that a text must not cover. It may cover fewer: the edge of a bubble, but not an icon."""
MIN_CONTRAST_STEP = 48
"""Distance of two colours, summed over channels, up to which a text's paper needs no patch of its own."""


class Ground:
    """Ground over which texts may extend: their own paper, plain ground, and at most an edge of anything else."""

    def __init__(self, phone: Cells, mean: Grid, where: Fit, tree: UiTree | None = None) -> None:
        before = np.concatenate([mean[:, :1], mean[:, :-1]], axis=1)
        self._uneven = (colour_difference(phone.fg, phone.bg) > MIN_CONTRAST_STEP) | (
            colour_difference(mean, before) > MIN_CONTRAST_STEP
        )
        self._mean, self._where = mean, where
        # An upright app on a phone in landscape lies between black bars: its texts would look detached on them.
        turned = tree is not None and tree.rotation % 2 == 1
        roots = [root.bounds for root in tree.roots if root.bounds.area] if tree is not None and turned else []
        self._low = max(0, int(where.column(min((box.left for box in roots), default=0))))
        self._high = min(where.cols, ceil(where.column(max((box.right for box in roots), default=where.size[0]))))
        self._rows: dict[int, list[tuple[int, int]]] = {}

    def reach(self, words: TextBlock) -> tuple[int, int]:
        """Return the columns [low, high) that a text may take: from its ink outwards to the last cell of an edge."""
        where = self._where
        row = min(max(int(where.row(words.middle)), 0), where.rows - 1)
        first = min(max(int(where.column(words.ink.left)), 0), where.cols - 1)
        last = min(max(int(where.column(words.ink.right)) + 1, 1), where.cols)
        if not words.flat:
            return self._low, self._high
        busy = [column for column, colour in self._busy_cells(row) if not _similar(colour, words.paper)]
        left, right = [c for c in busy if c < first], [c for c in busy if c >= last]
        return (
            max(self._low, left[-_EDGE] + 1 if len(left) >= _EDGE else 0),
            min(self._high, right[_EDGE - 1] if len(right) >= _EDGE else where.cols),
        )

    def _busy_cells(self, row: int) -> list[tuple[int, int]]:
        """Return the cells of a row that show more than plain ground, as (column, colour)."""
        if row not in self._rows:
            columns = np.flatnonzero(self._uneven[row])
            self._rows[row] = list(zip(columns.tolist(), self._mean[row, columns].tolist(), strict=True))
        return self._rows[row]


def _similar(one: int, other: int) -> bool:
    """Return True if two packed colours are so close that a text needs no patch."""
    red, green, blue = (
        abs((one & 255) - (other & 255)),
        (one >> 8 & 255) - (other >> 8 & 255),
        (one >> 16) - (other >> 16),
    )
    return red + abs(green) + abs(blue) <= MIN_CONTRAST_STEP


def colour_difference(some: Grid, others: Grid) -> NDArray[np.int32]:
    """Return the summed channel differences of packed colours, element by element."""
    one, other = np.broadcast_arrays(some, others)
    a, b = np.ascontiguousarray(one).view(np.uint8), np.ascontiguousarray(other).view(np.uint8)
    channels = (np.maximum(a, b) - np.minimum(a, b)).reshape(*one.shape, 4)
    total: NDArray[np.int32] = np.add.reduce(channels, axis=-1, dtype=np.int32)
    return total
