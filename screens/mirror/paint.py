"""Pictures as terminal cells: half blocks, colours packed in one number, rows compared."""

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
"""The share of pixels of which more change with another picture than with a video's tremble."""
BOLD = 1 << 24
"""Set in a foreground: drawn bold."""
NOTHING = 1 << 25
"""A background that is none of the phone's: the widget's own shows there."""
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
    """Cells in which nothing is drawn."""
    shape = (rows, columns)
    return Cells(
        np.full(shape, BLANK, np.uint32), np.full(shape, NOTHING, np.uint32), np.full(shape, NOTHING, np.uint32)
    )


def filled(cells: Cells, behind: int) -> Cells:
    """Cells with the colour `behind` where nothing is drawn."""
    return Cells(
        cells.codes,
        np.where(cells.fg & np.uint32(NOTHING), np.uint32(behind), cells.fg),
        np.where(cells.bg & np.uint32(NOTHING), np.uint32(behind), cells.bg),
    )


def greyed(cells: Cells) -> Cells:
    """Cells without most of their colour and contrast; words stay legible."""
    return Cells(cells.codes, *(_greyed(part) for part in (cells.fg, cells.bg)))


def _greyed(colours: Grid) -> Grid:
    red, green, blue = (colours >> np.uint32(shift) & np.uint32(255) for shift in (0, 8, 16))
    grey = (red * np.uint32(5) + green * np.uint32(9) + blue * np.uint32(2)) // np.uint32(20) + np.uint32(24)
    beside: Grid = colours & np.uint32(~RGB & 0xFFFFFFFF)
    alike: Grid = beside | grey | grey << np.uint32(8) | grey << np.uint32(16)
    return alike


def half_blocks(pixels: Grid) -> Cells:
    """Cells of a picture of packed colours, 2 * rows x columns: an upper half block, or a blank where both agree.

    A blank takes the foreground of the cell before it where the backgrounds agree, so that a run goes on.
    """
    top, bottom = pixels[0::2], pixels[1::2]
    same = top == bottom
    return Cells(np.where(same, np.uint32(BLANK), np.uint32(UPPER)), top.copy(), bottom.copy())


def pixels_of(cells: Cells) -> Grid:
    """The picture that such cells show: its pixels again."""
    pixels = np.empty((2 * cells.codes.shape[0], cells.codes.shape[1]), np.uint32)
    pixels[0::2], pixels[1::2] = cells.fg, cells.bg
    return pixels


def changed_rows(old: Cells | None, new: Cells) -> list[int]:
    """The rows that are not as they were, in order; all where the shape is another."""
    if old is None or old.shape != new.shape:
        return list(range(new.shape[0]))
    differs = ((old.codes != new.codes) | (old.fg != new.fg) | (old.bg != new.bg)).any(axis=1)
    rows: list[int] = np.flatnonzero(differs).tolist()
    return rows


def steady(new: Grid, old: Grid | None, slack: int = 4) -> Grid:
    """`new`, with every pixel as it was in `old` where no channel moved by more than `slack` of 255.

    A decoded video trembles by a level or two; a terminal need not. Where much moved it is another picture, of which
    no pixel is kept: it would stand there as a ghost of the one before.
    """
    if old is None or old.shape != new.shape:
        return new
    changes = moved(new, old, slack)
    return new if np.count_nonzero(changes) > _ANOTHER * changes.size else np.where(changes, new, old)


def moved(one: Grid, other: Grid, slack: int | NDArray[np.uint8]) -> Mask:
    """Where two grids of packed colours differ by more than `slack` of 255 in any channel.

    `slack` may be given for each channel of each colour, as a grid of colours viewed as bytes.
    """
    a, b = one.view(np.uint8), other.view(np.uint8)
    differs: Mask = (np.maximum(a, b) - np.minimum(a, b) > slack).view(np.uint32) != 0
    return differs


def rounded(pixels: Grid) -> Grid:
    """Packed colours to six bits a channel, black and white kept: neighbours join into longer runs, unseen."""
    return (pixels & np.uint32(0xFCFCFC)) | ((pixels >> np.uint32(6)) & np.uint32(0x030303))


def between(one: Grid, other: Grid) -> Grid:
    """The mean of packed colours."""
    return (one & other) + (((one ^ other) & np.uint32(0xFEFEFE)) >> np.uint32(1))


_LEVELS = np.array([0, 95, 135, 175, 215, 255], np.int32)
_CUBE = _LEVELS[np.abs(np.arange(256)[:, None] - _LEVELS).argmin(axis=1)]
"""For each level of a channel, the nearest of the six that xterm's colour cube has."""


def to_256(colours: Grid) -> Grid:
    """Packed colours as the nearest that a 256-colour terminal has; what is set beside the colour stays.

    Rich would search its palette for each of them; given these 240 alone, it remembers them all.
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
    """One colour as one number."""
    return red | green << 8 | blue << 16


def unpack(colour: int) -> tuple[int, int, int]:
    """A packed colour's red, green and blue."""
    return colour & 255, colour >> 8 & 255, colour >> 16 & 255


@lru_cache(maxsize=4096)
def luminance(colour: int) -> float:
    """Relative luminance of a packed colour, 0 to 1 (WCAG 2.1)."""
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
        for channel in (value / 255 for value in unpack(colour & RGB))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: int, other: int) -> float:
    """Contrast ratio of two packed colours, 1 to 21 (WCAG 2.1)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@lru_cache(maxsize=4096)
def legible(ink: int, paper: int, least: float = 3.6) -> int:
    """`ink`, moved towards black or white no further than it takes to stand out from `paper` by `least`."""
    if contrast(ink, paper) >= least:
        return ink
    goal = 0 if luminance(paper) > 0.18 else 255
    for part in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        colour = pack(*(round(value + (goal - value) * part) for value in unpack(ink)))
        if contrast(colour, paper) >= least:
            return colour
    return pack(goal, goal, goal)
