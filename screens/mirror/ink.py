"""Ink of a text: find its glyphs in a picture by the shape that the text must have, and erase them."""

from __future__ import annotations

import math
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from screens.mirror.outlines import FAINT, LINE, any_along, drop_outline, from_edges, spans_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Grid = NDArray[np.uint32]
    Mask = NDArray[np.bool_]

_FLAT = 0.3
"""Minimum share of a box with the commonest colour for that colour to count as paper.

Below it the ground is a picture.
"""
_USUAL = 0.88
"""Usual width of running text over half an em a cell, the reference for a likeness."""
_FULL, _FULL_SMALL, _FULL_STROKES, _MOTLEY = 0.66, 0.88, 0.5, 0.13
"""Upper bounds for writing: share of its box that is ink (usual, small, on a picture), and mean distance of its pixels
from blends of paper and one ink. Icons exceed them.
"""
_MANY = 12_000
"""Pixels of a box above which every fourth one is enough to find its paper."""
_SMALL, _SMALL_COARSE = 9, 36
"""Maximum height of small writing in rows of pixels, or, with coarse pixels, in the phone's pixels.

Texts of one or two letters may be as full as small writing.
"""
_COARSE = 2
"""Phone pixels in one pixel of the picture above which close strokes run together."""
_PITCH = 1.2
"""Line spacing of a paragraph in ems if no gap shows it."""
_STANDS_OUT = np.uint32(0xE0E0E0)
"""Channel bits of a difference that make a pixel ink: 32 of 255 or more in some channel."""


class Shape(NamedTuple):
    """Expected look of a text: its width in cells and the height of its glyphs in ems."""

    cells: int
    height: float
    below: float
    """Part of that height, in ems, below the baseline."""
    plain: bool
    """True if the text has one colour, that is, no pictographs."""
    dense: bool
    """True if its letters have so many strokes that they nearly fill their boxes (CJK)."""


class TextInk(NamedTuple):
    """A text found in its box. Edges are in the picture's pixels from the box's corner. Colours are packed."""

    left: int
    top: int
    right: int
    bottom: int
    lines: int
    colour: int
    paper: int
    flat: bool


@lru_cache(maxsize=2048)
def shape(text: str, cells: int) -> Shape:
    """Return the shape of a text from its letters: tall ones, and ones with descenders."""
    wide = any(unicodedata.east_asian_width(ch) in "WF" for ch in text)
    tall = wide or any(ch.isupper() or ch.isdigit() or ch in "bdfhijklt()[]{}|/%&!?$#@'\"" for ch in text)
    deep = any(ch in "gjpqyQ,;()[]{}|@/" for ch in text)
    below = 0.12 if wide else 0.21 if deep else 0.0
    return Shape(cells, (0.73 if tall else 0.53) + below, below, max(text, default="") < "\u2600" or wide, wide)


def find_ink(pixels: Grid, text_shape: Shape, scale: tuple[float, float], sure: bool) -> TextInk | None:
    """Find the glyphs of a text in the pixels of its box. Return None if nothing there has its shape.

    `scale` is the source's pixels in one of these, across and down. With `sure`, accept only a close likeness (for a
    description, which may not be written there at all).
    """
    paper, flat = paper_of(pixels)
    mask = inked(pixels, paper, flat)
    if mask[0, 0] or mask[0, -1] or mask[-1, 0] or mask[-1, -1]:
        mask &= ~from_edges(mask)
    # Ink at both the left and the right edge may be the outline of a field around the text.
    if flat and mask[:, :LINE].any() and mask[:, -LINE:].any():
        drop_outline(mask, inked(pixels, paper, True, FAINT))
    _drop_frame(mask)
    likely = _likely_places(mask, _bands(mask, text_shape, sure), text_shape, scale, sure)
    if not sure and (not likely or likely[0][0] > 0.6):
        likely = sorted(
            likely + _likely_places(mask, _guessed_bands(mask, text_shape, scale[1]), text_shape, scale, sure)
        )
    for _, (left, top, right, bottom), lines in likely[:3]:
        part = slice(top, bottom), slice(left, right)
        small = bottom - top <= max(_SMALL, _SMALL_COARSE / scale[1] if scale[0] > _COARSE else 0)
        colour = _writing_colour(pixels[part], mask[part], paper, flat, text_shape, small)
        if colour is not None:
            return TextInk(left, top, right, bottom, lines, colour, paper, flat)
    return None


def _likely_places(
    mask: Mask, bands: list[tuple[int, int, float, int]], text_shape: Shape, scale: tuple[float, float], sure: bool
) -> list[tuple[float, tuple[int, int, int, int], int]]:
    """Return where a text may lie, best first: (distance from its shape, (left, top, right, bottom), lines)."""
    likely: list[tuple[float, tuple[int, int, int, int], int]] = []
    for top, bottom, height, lines in bands:
        em = height * scale[1] / text_shape.height
        for left, right, width in _clusters(mask[top:bottom], em / scale[0], lines):
            likeness = width * scale[0] * 2 / (text_shape.cells * em)
            if _is_plausible(likeness, width * scale[0], em, text_shape.cells, sure):
                likely.append((abs(math.log(likeness / _USUAL)), (left, top, right, bottom), lines))
    return sorted(likely)


def paper_of(pixels: Grid) -> tuple[int, bool]:
    """Return the commonest colour of some pixels, and True if it is common enough to be the text's paper."""
    if pixels.size > _MANY:
        pixels = pixels[::2, ::2]
    # Count on 4 bits a channel: antialiasing and compression scatter a paper's colour.
    nibbles = pixels >> np.uint32(4)
    keys = (nibbles & 0xF) | (nibbles >> np.uint32(4) & 0xF0) | (nibbles >> np.uint32(8) & 0xF00)
    counts = np.bincount(keys.ravel(), minlength=4096)
    key = int(counts.argmax())
    commonest = pixels[keys == key]
    red, green, blue, _ = np.add.reduce(commonest.view(np.uint8).reshape(-1, 4), axis=0, dtype=np.int64).tolist()
    half, many = len(commonest) // 2, len(commonest)
    paper = (red + half) // many | (green + half) // many << 8 | (blue + half) // many << 16
    return paper, many >= _FLAT * pixels.size


def inked(pixels: Grid, paper: int, flat: bool, bits: np.uint32 = _STANDS_OUT) -> Mask:
    """Return a mask of the ink: pixels that differ from the paper, or, on a picture, from their surroundings.

    On flat paper any of `bits` in a pixel's channel differences makes it ink.
    """
    if not flat:
        return _strokes(pixels)
    values = np.ascontiguousarray(pixels).view(np.uint8)
    ground = np.full((1, pixels.shape[1]), paper, np.uint32).view(np.uint8)
    apart = (np.maximum(values, ground) - np.minimum(values, ground)).view(np.uint32)
    ink: Mask = (apart & bits) != 0
    return ink


def _strokes(pixels: Grid) -> Mask:
    """Return the thin lines on a picture: pixels lighter (or darker, if that is stronger) than the blur around them."""
    from PIL import Image, ImageFilter

    green = (pixels >> np.uint32(8)).astype(np.uint8)
    radius = max(3, min(24, pixels.shape[0] // 2))
    around = np.asarray(Image.fromarray(green).filter(ImageFilter.BoxBlur(radius)), dtype=np.int16)
    apart = green.astype(np.int16) - around
    lighter: Mask = apart > 32
    darker: Mask = apart < -32
    return lighter if int(apart.max()) >= -int(apart.min()) else darker


def _drop_frame(mask: Mask) -> None:
    """Clear lines that cross the whole box, such as a field's outline or the rule below it."""
    height, width = mask.shape
    if height >= 6 and width >= 12:
        mask[np.count_nonzero(mask, axis=1) > 0.85 * width] = False
        mask[:, np.count_nonzero(mask, axis=0) > 0.85 * height] = False


def _bands(mask: Mask, text_shape: Shape, sure: bool) -> list[tuple[int, int, float, int]]:
    """Return where lines of text may be, as (top, bottom, height of one line, lines): each line, and runs of similar
    lines.
    """
    spans = spans_of(any_along(mask, 1), 0)
    if not spans:
        return []
    # A bound on the pairs of first and last line tried below.
    spans = _join_dots(spans, 0.17 * max(end - start for start, end in spans))[:12]
    bands = [(start, end, float(end - start), 1) for start, end in spans if end - start > 1]
    if sure:
        return bands
    if text_shape.cells < 12:
        return bands
    for first in range(len(spans)):
        for last in range(first + 1, len(spans)):
            heights = sorted(end - start for start, end in spans[first : last + 1])
            pitch = (spans[last][0] - spans[first][0]) / (last - first)
            if heights[-1] > 1.9 * heights[0] or not 1.0 < pitch * text_shape.height / heights[-1] < 2.2:
                break
            bands.append((spans[first][0], spans[last][1], float(heights[-1]), last - first + 1))
    return bands


def _guessed_bands(mask: Mask, text_shape: Shape, down: float) -> list[tuple[int, int, float, int]]:
    """Return bands for lines set so tight that no gap separates them: one for each possible number of lines."""
    bands: list[tuple[int, int, float, int]] = []
    if text_shape.cells < 16:
        return bands
    for start, end in spans_of(any_along(mask, 1), 1)[:6]:
        for lines in range(2, 16):
            height = text_shape.height * (end - start) / (_PITCH * (lines - 1) + text_shape.height)
            if height * down < 20:
                break
            bands.append((start, end, height, lines))
    return bands


def _join_dots(spans: list[tuple[int, int]], gap: float) -> list[tuple[int, int]]:
    """Join the dots and accents above letters to their line: small pieces close to a larger one."""
    lines = [spans[0]]
    for start, end in spans[1:]:
        before = lines[-1]
        small = min(end - start, before[1] - before[0]) < 0.4 * max(end - start, before[1] - before[0])
        if start - before[1] <= gap + 0.5 and small:
            lines[-1] = before[0], end
        else:
            lines.append((start, end))
    return lines


def _clusters(band: Mask, em: float, lines: int) -> list[tuple[int, int, float]]:
    """Return where words may begin and end in a band: (left, right, summed width of its lines).

    Gaps of more than an em separate words.
    """
    # The bound of six keeps the pairs of first and last below few.
    spans = spans_of(any_along(band, 0), max(2.0, 1.1 * em))[:6]
    clusters: list[tuple[int, int, float]] = []
    for first in range(len(spans)):
        for last in range(first, len(spans)):
            left, right = spans[first][0], spans[last][1]
            clusters.append((left, right, _summed_width(band[:, left:right], lines)))
    return clusters


def _summed_width(band: Mask, lines: int) -> float:
    """Return the summed widths of a band's lines. Lines without a gap between them count as nearly full."""
    width = float(band.shape[1])
    if lines == 1:
        return width
    rows = spans_of(any_along(band, 1), 0)
    if len(rows) < lines:
        return width * (lines - 0.35)
    reach = (band * np.arange(1, band.shape[1] + 1)).max(axis=1)
    return float(sum(int(reach[start:end].max()) for start, end in rows if end - start > 1))


def _is_plausible(likeness: float, width: float, em: float, cells: int, sure: bool) -> bool:
    """Return True if ink of this width can be the text. `likeness` is its width over the expected width."""
    if sure:
        return cells >= 4 and 0.62 < likeness < 1.5 and 12 <= em <= 200
    if cells <= 2:
        return 0.2 < likeness < 2.8
    return 0.45 < likeness < 2.2 or (likeness <= 0.45 and width > 2.5 * em)


def _writing_colour(pixels: Grid, mask: Mask, paper: int, flat: bool, text_shape: Shape, small: bool) -> int | None:
    """Return the colour of the writing, or None if it is not writing but a picture (too full, or of many colours).

    The colour is the mean of the pixels furthest from the paper, since thin strokes are blends of the two.
    """
    full = _FULL_STROKES if not flat else _FULL_SMALL if small or text_shape.cells <= 2 or text_shape.dense else _FULL
    if not mask.any() or np.count_nonzero(mask) > full * mask.size:
        return None
    inks = np.ascontiguousarray(pixels[mask]).view(np.uint8).reshape(-1, 4)[:, :3].astype(np.float32)
    ground = np.array([paper & 255, paper >> 8 & 255, paper >> 16 & 255], np.float32)
    apart = inks - ground
    reach = np.abs(apart).sum(axis=1)
    colour = inks[reach >= 0.88 * reach.max()].mean(axis=0)
    if text_shape.plain and _is_motley(apart, colour - ground):
        return None
    red, green, blue = (int(value + 0.5) for value in colour)
    return red | green << 8 | blue << 16


def _is_motley(apart: NDArray[np.float32], ink: NDArray[np.float32]) -> bool:
    """Return True if the pixels are not blends of the paper and one ink."""
    length = float(np.linalg.norm(ink)) or 1.0
    along = apart @ (ink / length)
    aside = np.sqrt(np.maximum((apart * apart).sum(axis=1) - along * along, 0.0))
    return float(aside.mean()) > _MOTLEY * float(np.abs(along).mean() + 1.0)


def erase(pixels: Grid, mask: Mask, paper: int, flat: bool) -> None:
    """Erase ink from pixels in place: with the paper, or on a picture with the mean of the column's other pixels.

    The mask is widened by a pixel each way, because the blended edges of glyphs must go, too.
    """
    wide = mask.copy()
    wide[:, 1:] |= mask[:, :-1]
    wide[:, :-1] |= mask[:, 1:]
    tall = wide.copy()
    tall[1:] |= wide[:-1]
    tall[:-1] |= wide[1:]
    if flat:
        pixels[tall] = paper
        return
    values = pixels.view(np.uint8).reshape(*pixels.shape, 4)
    clear = ~tall
    count = np.maximum(clear.sum(axis=0), 1)[:, None]
    means = ((values * clear[..., None]).sum(axis=0) // count).astype(np.uint8)
    bare = ~clear.any(axis=0)
    if bare.any() and not bare.all():
        means[bare] = means[~bare].mean(axis=0).astype(np.uint8)
    np.copyto(values, means[None], where=tall[..., None])
