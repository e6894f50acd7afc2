"""A phone's newest picture at the size in which its ink is looked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from lab.uitree import Bounds
from screens.phone.fit import Fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.uint32]

Rows = tuple[int, int]
"""From the first row that changed up to, not including, the first after the last."""


BLANK_PHONE, BLANK_BOX, BLANK_INK = 0x2B2724, 0x3A3632, 0xE0DCD8
"""Packed colours of a phone of which there is no picture: its screen, what can be tapped on it, its words."""


_BAND = 120
"""Rows that are compared at a time: few enough to stay in the processor's cache."""


class Picture:
    """Pixels as packed colours, a few of the source's in each; only rows that changed are made anew."""

    def __init__(self) -> None:
        self.size = (0, 0)
        """The source's own pixels."""
        self.space = (0, 0)
        """The phone's, in which its tree is counted."""
        self.scale = (1.0, 1.0)
        """The phone's pixels in one of ours, across and down."""
        self._by = (1, 1)
        self.raw: Grid = np.zeros((0, 0), np.uint32)
        self._source: NDArray[np.uint8] | None = None

    def take(self, rgb: bytes, size: tuple[int, int], fit: Fit) -> Rows | None:
        """A new source of height x width x 3 bytes, of a phone of the fit's size; our rows that changed, or None."""
        width, height = size
        by = _by(size, fit)
        source = np.frombuffer(rgb, np.uint8).reshape(height, width * 3)
        fresh = self._source is None or (size, fit.size, by) != (self.size, self.space, self._by)
        if fresh:
            self.size, self.space, self._by = size, fit.size, by
            self.scale = fit.size[0] / width * by[0], fit.size[1] / height * by[1]
            self.raw = np.zeros((-(-height // by[1]), -(-width // by[0])), np.uint32)
            changed: Rows | None = (0, height)
        else:
            assert self._source is not None
            changed = _changed(self._source, source, _step(by))
        self._source = source
        if changed is None:
            return None
        first, last = changed[0] // by[1], min(-(-changed[1] // by[1]), self.raw.shape[0])
        self._reduce(source, first, last)
        return first, last

    def blank(self, size: tuple[int, int], boxes: Iterable[Bounds], fit: Fit) -> Rows:
        """A phone without a picture: plain, with the boxes of what can be tapped."""
        self.size = self.space = size
        across, down = self._by = _by(size, fit)
        self.scale, self._source = (float(across), float(down)), None
        self.raw = np.full((-(-size[1] // down), -(-size[0] // across)), BLANK_PHONE, np.uint32)
        for box in boxes:
            self.raw[box.top // down : -(-box.bottom // down), box.left // across : -(-box.right // across)] = BLANK_BOX
        return 0, self.raw.shape[0]

    def _reduce(self, source: NDArray[np.uint8], first: int, last: int) -> None:
        """Box means of source rows."""
        across, down = self._by
        step = _step(self._by)
        part = source[first * down : last * down : step]
        tall = down // step
        if tall == 2 and part.shape[0] % 2 == 0 and part.shape[1] % 8 == 0:
            part, tall = _paired(part), 1
        image = Image.frombuffer("RGB", (self.size[0], part.shape[0]), part.tobytes(), "raw", "RGB", 0, 1)
        if across > 1 or tall > 1:
            image = image.reduce((across, tall))
        data = image.tobytes("raw", "RGBX")
        self.raw[first:last] = np.frombuffer(data, np.uint32).reshape(image.height, image.width)[: last - first]
        self.raw[first:last] &= np.uint32(0xFFFFFF)

    def pixels(self, image: Grid, fit: Fit) -> Grid:
        """`image` (of our size) as the half-block pixels of a fit, 2 * rows x cols."""
        across, down = self.scale
        height, width = image.shape
        box = (fit.x0 / across, fit.y0 / down, min(fit.x1 / across, width), min(fit.y1 / down, height))
        picture = Image.frombuffer("RGBX", (width, height), image, "raw", "RGBX", 0, 1)
        small = picture.resize((fit.cols, fit.rows * 2), Image.Resampling.BOX, box=box)
        grid: Grid = np.frombuffer(small.tobytes(), np.uint32).reshape(fit.rows * 2, fit.cols) & np.uint32(0xFFFFFF)
        return grid


def _paired(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The means of each two rows, eight channels at a time."""
    whole = rows.view(np.uint64)
    one, other = whole[0::2], whole[1::2]
    means: NDArray[np.uint8] = ((one & other) + (((one ^ other) >> np.uint64(1)) & np.uint64(0x7F7F7F7F7F7F7F7F))).view(
        np.uint8
    )
    return means


def _step(by: tuple[int, int]) -> int:
    """Which of the source's rows are looked at: every second, where several make one of ours; no eye can tell."""
    return 2 if by[1] % 2 == 0 else 1


def _by(size: tuple[int, int], fit: Fit) -> tuple[int, int]:
    """How far a source of `size` pixels is reduced: one that is smaller than the phone already, by less."""
    across, down = _scale(fit)
    return max(1, across * size[0] // fit.size[0]), max(1, down * size[1] // fit.size[1])


def _scale(fit: Fit) -> tuple[int, int]:
    """How many of the phone's pixels may become one before its ink is looked for: about four are left in a cell."""
    finest = min(fit.cell_width, fit.cell_height / 2)
    if finest >= 9:
        return 3, 4
    return (2, 2) if finest >= 5 else (1, 1)


def _changed(old: NDArray[np.uint8], new: NDArray[np.uint8], step: int) -> Rows | None:
    """The range of rows in which two pictures of one shape differ; every `step`th is looked at."""
    if old is new or old.base is new.base:
        return None
    old, new = old[::step], new[::step]
    if old.shape[1] % 8 == 0:
        old, new = old.view(np.uint64), new.view(np.uint64)
    first = _differing(old, new)
    if first is None:
        return None
    last = _differing(old[:first:-1], new[:first:-1])
    return first * step, (first + 1 if last is None else len(old) - last) * step


def _differing(old: NDArray[Any], new: NDArray[Any]) -> int | None:
    """The first row in which two pictures differ; looked at a few at a time, none after it."""
    for start in range(0, len(old), _BAND):
        differs = old[start : start + _BAND] != new[start : start + _BAND]
        if differs.any():
            row: int = start + int(differs.argmax()) // old.shape[1]
            return row
    return None
