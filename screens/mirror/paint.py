"""Pictures as terminal cells: half blocks, packed colours, comparison of rows."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.uint32]
    Mask = NDArray[np.bool_]

BLANK, UPPER = 0x20, 0x2580
_ANOTHER = 0.25
"""Share of changed pixels above which a picture is another one, not video noise."""
BOLD = 1 << 24
"""Bit of a foreground: bold."""
NOTHING = 1 << 25
"""Background of cells outside the phone. The widget's own colour is painted there."""
RGB = 0xFFFFFF


class Cells(NamedTuple):
    """A grid of cells, each array rows x columns of uint32: code point, foreground, background.

    Colours are packed as red + green * 256 + blue * 65536.
    """

    codes: Grid
    fg: Grid
    bg: Grid

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.codes.shape
        return rows, columns

    def copy(self) -> Cells:
        return Cells(self.codes.copy(), self.fg.copy(), self.bg.copy())


def empty(rows: int, columns: int) -> Cells:
    """Return blank cells with NOTHING as their colours."""
    shape = (rows, columns)
    return Cells(
        np.full(shape, BLANK, np.uint32), np.full(shape, NOTHING, np.uint32), np.full(shape, NOTHING, np.uint32)
    )


def filled(cells: Cells, behind: int) -> Cells:
    """Return cells with the colour `behind` in place of NOTHING."""
    return Cells(
        cells.codes,
        np.where(cells.fg & np.uint32(NOTHING), np.uint32(behind), cells.fg),
        np.where(cells.bg & np.uint32(NOTHING), np.uint32(behind), cells.bg),
    )


def greyed(cells: Cells) -> Cells:
    """Return cells with most of their colour and contrast removed. Texts stay legible."""
    return Cells(cells.codes, *(_grey(part) for part in (cells.fg, cells.bg)))


def _grey(colours: Grid) -> Grid:
    red, green, blue = (colours >> np.uint32(shift) & np.uint32(255) for shift in (0, 8, 16))
    grey = (red * np.uint32(5) + green * np.uint32(9) + blue * np.uint32(2)) // np.uint32(20) + np.uint32(24)
    beside: Grid = colours & np.uint32(~RGB & 0xFFFFFFFF)
    alike: Grid = beside | grey | grey << np.uint32(8) | grey << np.uint32(16)
    return alike


def half_blocks(pixels: Grid) -> Cells:
    """Return cells for packed colours (2 * rows x columns): an upper half block, or a blank if both halves agree."""
    top, bottom = pixels[0::2], pixels[1::2]
    same = top == bottom
    return Cells(np.where(same, np.uint32(BLANK), np.uint32(UPPER)), top.copy(), bottom.copy())


def pixels_of(cells: Cells) -> Grid:
    """Return the picture that such cells show."""
    pixels = np.empty((2 * cells.codes.shape[0], cells.codes.shape[1]), np.uint32)
    pixels[0::2], pixels[1::2] = cells.fg, cells.bg
    return pixels


def changed_rows(old: Cells | None, new: Cells) -> list[int]:
    """Return the sorted numbers of rows that differ, all rows if the shape differs."""
    if old is None or old.shape != new.shape:
        return list(range(new.shape[0]))
    differs = ((old.codes != new.codes) | (old.fg != new.fg) | (old.bg != new.bg)).any(axis=1)
    rows: list[int] = np.flatnonzero(differs).tolist()
    return rows


def steadied(new: Grid, old: Grid | None, slack: int = 4) -> Grid:
    """Return `new`, but with `old`'s pixel where no channel changed by more than `slack` of 255.

    A decoded video flickers by a level or two, and a terminal should not. If much changed it is another picture, of
    which no old pixel is used: that would remain as a ghost of the one before.
    """
    if old is None or old.shape != new.shape:
        return new
    changes = changed_mask(new, old, slack)
    return new if np.count_nonzero(changes) > _ANOTHER * changes.size else np.where(changes, new, old)


def changed_mask(one: Grid, other: Grid, slack: int | NDArray[np.uint8]) -> Mask:
    """Return a mask of where two grids of packed colours differ by more than `slack` of 255 in any channel.

    `slack` may be an array with a value for each channel of each colour, as a grid of colours viewed as bytes.
    """
    a, b = one.view(np.uint8), other.view(np.uint8)
    differs: Mask = (np.maximum(a, b) - np.minimum(a, b) > slack).view(np.uint32) != 0
    return differs


def rounded_colours(pixels: Grid) -> Grid:
    """Round packed colours to six bits a channel, keeping black and white.

    Neighbours join into longer runs, invisibly.
    """
    return (pixels & np.uint32(0xFCFCFC)) | ((pixels >> np.uint32(6)) & np.uint32(0x030303))


def mean_colour(one: Grid, other: Grid) -> Grid:
    """Return the mean of packed colours."""
    # Average of packed bytes without overflow: shared bits plus half of the differing ones.
    return (one & other) + (((one ^ other) & np.uint32(0xFEFEFE)) >> np.uint32(1))


_LEVELS = np.array([0, 95, 135, 175, 215, 255], np.int32)
_CUBE = _LEVELS[np.abs(np.arange(256)[:, None] - _LEVELS).argmin(axis=1)]
"""Map each level of a channel to the nearest of the six levels in xterm's colour cube."""


def to_256(colours: Grid) -> Grid:
    """Return packed colours as the nearest ones of a 256-colour terminal. Other bits are kept.

    Rich would search its palette for each colour. Given only these 240, it caches them all.
    """
    exact = np.stack([(colours >> np.uint32(shift) & 255).astype(np.int32) for shift in (0, 8, 16)])
    cube = _CUBE[exact]
    grey = np.clip((exact.sum(axis=0) // 3 - 3) // 10, 0, 23) * 10 + 8
    greyer = np.square(exact - grey).sum(axis=0) < np.square(exact - cube).sum(axis=0)
    red, green, blue = np.where(greyer, grey, cube).astype(np.uint32)
    beside: Grid = colours & np.uint32(~RGB & 0xFFFFFFFF)
    nearest: Grid = beside | red | green << np.uint32(8) | blue << np.uint32(16)
    return nearest


def pack(red: int, green: int, blue: int) -> int:
    """Return a colour as one number."""
    return red | green << 8 | blue << 16


def unpack(colour: int) -> tuple[int, int, int]:
    """Return a packed colour's red, green and blue."""
    return colour & 255, colour >> 8 & 255, colour >> 16 & 255


@lru_cache(maxsize=4096)
def luminance(colour: int) -> float:
    """Return the relative luminance of a packed colour, 0 to 1 (WCAG 2.1)."""
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
        for channel in (value / 255 for value in unpack(colour & RGB))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: int, other: int) -> float:
    """Return the contrast ratio of two packed colours, 1 to 21 (WCAG 2.1)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@lru_cache(maxsize=4096)
def legible(ink: int, paper: int, least: float = 3.6) -> int:
    """Return `ink`, moved towards black or white only as far as a contrast of `least` with `paper` requires."""
    if contrast(ink, paper) >= least:
        return ink
    goal = 0 if luminance(paper) > 0.18 else 255
    for part in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        colour = pack(*(round(value + (goal - value) * part) for value in unpack(ink)))
        if contrast(colour, paper) >= least:
            return colour
    return pack(goal, goal, goal)
