"""Reduction of a picture's pixels: exact for reading, or from some of its rows for motion."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from lab.core.run.ui_tree import Bounds
from lab.core.seams import LazyPixels, rgb_of
from screens.mirror.fit import Fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.uint32]

RGB = np.uint32(0xFFFFFF)
BLOCK = 6, 12
"""Pixels of the phone, across and down, in the patches whose mean colours show that a text changed.

A patch is smaller than a letter, and larger than what video coding disturbs.
"""
_BAND = 48
"""Rows averaged at a time, few enough for the processor's cache."""
_ROWS = 1.5
"""Minimum rows of a source sampled for each patch, if it has as many."""


def reduction(size: tuple[int, int], fit: Fit) -> tuple[int, int]:
    """Return the factors, across and down, by which a source of `size` pixels is reduced before ink is searched for.

    About four pixels remain in a cell each way. A source smaller than the phone is reduced less.
    """
    finest = min(fit.cell_width, fit.cell_height / 2)
    across, down = (3, 4) if finest >= 9 else (2, 2) if finest >= 5 else (1, 1)
    return max(1, across * size[0] // fit.size[0]), max(1, down * size[1] // fit.size[1])


def reduced(rows: NDArray[np.uint8], by: tuple[int, int]) -> Grid:
    """Return box means of a source's rows (height x width * 3), packed. Skip every second row if several make one."""
    across, down = by
    step = row_step(by)
    part, tall = rows[::step], down // step
    if tall == 2 and part.shape[0] % 2 == 0:
        part, tall = paired(part), 1
    pixels = np.ascontiguousarray(part)
    image = Image.frombuffer("RGB", (part.shape[1] // 3, part.shape[0]), pixels, "raw", "RGB", 0, 1)
    return packed(image.reduce((across, tall)) if across > 1 or tall > 1 else image)


def row_step(by: tuple[int, int]) -> int:
    """Return the step between sampled rows: 2 if an even number of rows makes one of ours.

    The difference is invisible.
    """
    return 2 if by[1] % 2 == 0 else 1


def part_of(pixels: bytes | LazyPixels, size: tuple[int, int], fit: Fit, box: Bounds) -> Grid:
    """Return the part of a source under a box of the phone's pixels, reduced as for reading."""
    by = reduction(size, fit)
    across, down = fit.size[0] / size[0] * by[0], fit.size[1] / size[1] * by[1]
    source = np.frombuffer(rgb_of(pixels), np.uint8).reshape(size[1], size[0] * 3)
    top, bottom = int(box.top / down) * by[1], math.ceil(box.bottom / down) * by[1]
    left, right = int(box.left / across) * by[0] * 3, math.ceil(box.right / across) * by[0] * 3
    return reduced(np.ascontiguousarray(source[top:bottom, left:right]), by)


def sampled(pixels: bytes | LazyPixels, size: tuple[int, int], fit: Fit) -> Grid:
    """Return the part of a source that a fit shows as patches of BLOCK phone pixels, or smaller if cells require it.

    Only some rows are sampled, which is enough for a picture that is soon replaced.
    """
    width, height = size
    down, across = height / fit.size[1], width / fit.size[0]
    patches = patch_counts(fit)
    # Lazy pixels compute their means themselves, without making the whole picture.
    if not isinstance(pixels, bytes) and (fit.x1 - fit.x0, fit.y1 - fit.y0) == fit.size:
        return packed(Image.frombuffer("RGB", patches[::-1], pixels.means(patches[::-1]), "raw", "RGB", 0, 1))
    step = max(1, int((fit.y1 - fit.y0) * down / patches[0] / _ROWS))
    part = np.frombuffer(rgb_of(pixels), np.uint8).reshape(height, width * 3)[::step]
    image = Image.frombuffer("RGB", (width, len(part)), part.tobytes(), "raw", "RGB", 0, 1)
    top, bottom = fit.y0 * down / step, min(fit.y1 * down / step, len(part))
    box = fit.x0 * across, top, min(fit.x1 * across, width), bottom
    return packed(image.resize(patches[::-1], Image.Resampling.BOX, box=box, reducing_gap=1.0))


def patch_counts(fit: Fit) -> tuple[int, int]:
    """Return the number of patches in the part that a fit shows: down, across."""
    return (
        max(2 * fit.rows, math.ceil((fit.y1 - fit.y0) / BLOCK[1])),
        max(fit.cols, math.ceil((fit.x1 - fit.x0) / BLOCK[0])),
    )


def half_cells(grid: Grid, fit: Fit) -> Grid:
    """Return patches as the half-block pixels of a fit, 2 * rows x cols."""
    if grid.shape == (2 * fit.rows, fit.cols):
        return grid
    picture = Image.frombuffer("RGBX", grid.shape[::-1], grid, "raw", "RGBX", 0, 1)
    small = picture.resize((fit.cols, 2 * fit.rows), Image.Resampling.BOX)
    cells: Grid = np.frombuffer(small.tobytes(), np.uint32).reshape(2 * fit.rows, fit.cols) & RGB
    return cells


def paired(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the mean of each two rows, computed on the widest integers into which a row divides."""
    whole, low = _as_widest_integers(rows)
    one, other = whole[0::2], whole[1::2]
    means, shared = np.empty(one.shape, one.dtype), np.empty((_BAND, one.shape[1]), one.dtype)
    # Average of packed bytes without overflow: shared bits plus half of the differing ones.
    for first in range(0, len(one), _BAND):
        upper, lower, mean = one[first : first + _BAND], other[first : first + _BAND], means[first : first + _BAND]
        np.bitwise_xor(upper, lower, out=mean)
        mean >>= one.dtype.type(1)
        mean &= low
        mean += np.bitwise_and(upper, lower, out=shared[: len(mean)])
    return means.view(np.uint8)


def _as_widest_integers(rows: NDArray[np.uint8]) -> tuple[NDArray[Any], Any]:
    """Return rows as the widest integers into which they divide, and a mask of each byte's lower seven bits."""
    for kind in (np.uint64, np.uint32, np.uint16):
        size = np.dtype(kind).itemsize
        if rows.shape[1] % size == 0 and rows.strides[0] % size == 0:
            return rows.view(kind), kind(int.from_bytes(b"\x7f" * size, "little"))
    return rows, np.uint8(0x7F)


def packed(image: Image.Image) -> Grid:
    """Return an RGB picture as packed colours."""
    grid: Grid = np.frombuffer(image.tobytes("raw", "RGBX"), np.uint32).reshape(image.height, image.width) & RGB
    return grid
