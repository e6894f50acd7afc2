"""A phone's newest picture, reduced to the size in which ink is searched for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from lab.core.run.ui_tree import Bounds
from screens.mirror.fit import Fit
from screens.mirror.sampling import RGB, reduced, reduction, row_step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.uint32]

Rows = tuple[int, int]
"""Changed rows as [first, last)."""


BLANK_PHONE, BLANK_BOX, BLANK_INK = 0x2B2724, 0x3A3632, 0xE0DCD8
"""Packed colours of a phone without a picture: its screen, its clickable boxes, its texts."""


_BAND = 120
"""Rows compared at a time, few enough for the processor's cache."""


class PackedPicture:
    """Pixels as packed colours, each from a few of the source's. Only changed rows are computed again."""

    def __init__(self) -> None:
        self.size = (0, 0)
        """Source size in pixels."""
        self.space = (0, 0)
        """Phone size, in whose pixels its tree is given."""
        self.scale = (1.0, 1.0)
        """Phone pixels in one of ours, across and down."""
        self._reduction = (1, 1)
        self._rgb: bytes | None = None
        self.raw: Grid = np.zeros((0, 0), np.uint32)
        self._source: NDArray[np.uint8] | None = None

    def take(self, rgb: bytes, size: tuple[int, int], fit: Fit) -> Rows | None:
        """Take a new source of height x width x 3 bytes, of a phone of the fit's size.

        Return our changed rows, or None.
        """
        width, height = size
        by = reduction(size, fit)
        # A device passes the same object for the same picture: its bytes need no comparison.
        if rgb is self._rgb and (size, fit.size, by) == (self.size, self.space, self._reduction):
            return None
        self._rgb = rgb
        source = np.frombuffer(rgb, np.uint8).reshape(height, width * 3)
        fresh = self._source is None or (size, fit.size, by) != (self.size, self.space, self._reduction)
        if fresh:
            self.size, self.space, self._reduction = size, fit.size, by
            self.scale = fit.size[0] / width * by[0], fit.size[1] / height * by[1]
            self.raw = np.zeros((-(-height // by[1]), -(-width // by[0])), np.uint32)
            changed_rows: Rows | None = (0, height)
        else:
            assert self._source is not None
            changed_rows = _changed_range(self._source, source, row_step(by))
        self._source = source
        if changed_rows is None:
            return None
        first, last = changed_rows[0] // by[1], min(-(-changed_rows[1] // by[1]), self.raw.shape[0])
        self.raw[first:last] = reduced(source[first * by[1] : last * by[1]], by)[: last - first]
        return first, last

    def blank(self, size: tuple[int, int], boxes: Iterable[Bounds], fit: Fit) -> Rows:
        """Make a plain picture with the boxes of clickable nodes."""
        self.size = self.space = size
        across, down = self._reduction = reduction(size, fit)
        self.scale, self._source, self._rgb = (float(across), float(down)), None, None
        self.raw = np.full((-(-size[1] // down), -(-size[0] // across)), BLANK_PHONE, np.uint32)
        for box in boxes:
            self.raw[box.top // down : -(-box.bottom // down), box.left // across : -(-box.right // across)] = BLANK_BOX
        return 0, self.raw.shape[0]

    def pixels(self, image: Grid, fit: Fit) -> Grid:
        """Return `image` (of our size) as the half-block pixels of a fit, 2 * rows x cols."""
        across, down = self.scale
        height, width = image.shape
        box = (fit.x0 / across, fit.y0 / down, min(fit.x1 / across, width), min(fit.y1 / down, height))
        picture = Image.frombuffer("RGBX", (width, height), image, "raw", "RGBX", 0, 1)
        small = picture.resize((fit.cols, fit.rows * 2), Image.Resampling.BOX, box=box)
        grid: Grid = np.frombuffer(small.tobytes(), np.uint32).reshape(fit.rows * 2, fit.cols) & RGB
        return grid


def _changed_range(old: NDArray[np.uint8], new: NDArray[np.uint8], step: int) -> Rows | None:
    """Return the range of rows in which two pictures of one shape differ. Compare every `step`th row only."""
    old, new = old[::step], new[::step]
    # Eight bytes at a time if the width allows: this runs on every frame.
    if old.shape[1] % 8 == 0:
        old, new = old.view(np.uint64), new.view(np.uint64)
    first = _first_difference(old, new)
    if first is None:
        return None
    last = _first_difference(old[:first:-1], new[:first:-1])
    return first * step, (first + 1 if last is None else len(old) - last) * step


def _first_difference(old: NDArray[Any], new: NDArray[Any]) -> int | None:
    """Return the first row in which two pictures differ. Compare in bands, and stop at the first difference."""
    for start in range(0, len(old), _BAND):
        differs = old[start : start + _BAND] != new[start : start + _BAND]
        if differs.any():
            row: int = start + int(differs.argmax()) // old.shape[1]
            return row
    return None
