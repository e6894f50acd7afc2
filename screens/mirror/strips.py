"""Rows of cells as Textual strips, written with a minimum of escape codes and split into segments only on demand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import ANSIToTruecolor, LineFilter
from textual.strip import Strip

from screens.mirror.glyphs import FIRST

if TYPE_CHECKING:
    from screens.mirror.glyphs import Codes
    from screens.mirror.paint import Cells

BOLD, RGB = 1 << 24, 0xFFFFFF
_FORE, _BACK, _WEIGHT = 1 << 50, 1 << 51, 1 << 52
"""Bits of a run's number: its foreground, background or boldness differs from the run before."""

Run = tuple[int, str]
"""A run's look as one number (background, foreground 25 bits higher, changes), and its text."""


class CellStrip(Strip):
    """One row of cells.

    Its segments are made only on demand (for a dialog over it, or an exported picture). A truecolor terminal gets its
    runs directly.
    """

    def __init__(self, runs: Sequence[Run], columns: int) -> None:
        self._runs = runs
        self._made: list[Segment] | None = None
        super().__init__((), columns)
        # `Strip.__init__` has set the segments: undo that, so that they are made on demand.
        self._made = None

    @property
    def _segments(self) -> list[Segment]:
        if self._made is None:
            self._made = [Segment(text, _style(look)) for look, text in self._runs]
        return self._made

    @_segments.setter
    def _segments(self, segments: list[Segment]) -> None:
        self._made = segments

    def apply_filter(self, filter: LineFilter, background: Color) -> Strip:
        """Apply a filter like any strip.

        Skip the one that only replaces the terminal's own colours: no cell uses these.
        """
        if isinstance(filter, ANSIToTruecolor):
            return self
        return super().apply_filter(filter, background)

    def render(self, console: Console) -> str:
        """Return the row as escape codes. Each run states only what differs from the run before it."""
        if self._render_cache is None:
            # With fewer colours Rich must map each style to its palette.
            if console._color_system not in (None, ColorSystem.TRUECOLOR):
                return super().render(console)
            self._render_cache = "".join([_code(look) + text for look, text in self._runs]) + "\x1b[0m"
        return self._render_cache


@lru_cache(maxsize=32768)
def _code(look: int) -> str:
    """Return the escape code at the start of a run."""
    fg, bg = look >> 25 & (BOLD | RGB), look & RGB
    codes = []
    if look & _WEIGHT:
        codes.append("1" if fg & BOLD else "22")
    if look & _FORE:
        codes.append(f"38;2;{fg & 255};{fg >> 8 & 255};{fg >> 16 & 255}")
    if look & _BACK:
        codes.append(f"48;2;{bg & 255};{bg >> 8 & 255};{bg >> 16 & 255}")
    return f"\x1b[{';'.join(codes)}m" if codes else ""


@lru_cache(maxsize=8192)
def _style(look: int) -> Style:
    fg, bg = look >> 25 & (BOLD | RGB), look & RGB
    return Style(
        color=RichColor.from_rgb(fg & 255, fg >> 8 & 255, fg >> 16 & 255),
        bgcolor=RichColor.from_rgb(bg & 255, bg >> 8 & 255, bg >> 16 & 255),
        bold=True if fg & BOLD else None,
    )


def strips(cells: Cells, rows: Sequence[int], codes: Codes) -> list[CellStrip]:
    """Return the strips of some rows of cells. None of their backgrounds may be NOTHING."""
    import numpy as np

    if not rows:
        return []
    columns = cells.shape[1]
    glyphs, fg, bg = (part[rows] for part in cells)
    fore, back = np.ones(fg.shape, np.bool_), np.ones(bg.shape, np.bool_)
    np.not_equal(fg[:, 1:], fg[:, :-1], out=fore[:, 1:])
    np.not_equal(bg[:, 1:], bg[:, :-1], out=back[:, 1:])
    heavy = fg & np.uint32(BOLD)
    weight = heavy != 0
    np.not_equal(heavy[:, 1:], heavy[:, :-1], out=weight[:, 1:])
    begins = np.flatnonzero(fore | back)
    looks = fg.ravel()[begins].astype(np.uint64) << np.uint64(25) | bg.ravel()[begins]
    for new, bit in ((fore, _FORE), (back, _BACK), (weight, _WEIGHT)):
        looks |= new.ravel()[begins] * np.uint64(bit)
    # One code point for each cell, so an offset in the text is an offset in the cells.
    text = glyphs.tobytes().decode("utf-32-le")
    own: list[bool] = (glyphs.max(axis=1) >= FIRST).tolist()
    places = [*begins.tolist(), len(text)]
    runs = [(look, text[start:end]) for look, start, end in zip(looks.tolist(), places[:-1], places[1:], strict=True)]
    bounds = np.searchsorted(begins, np.arange(len(rows) + 1) * columns).tolist()
    out: list[CellStrip] = []
    for number, first in enumerate(bounds[:-1]):
        row = runs[first : bounds[number + 1]]
        if own[number]:
            row = [(look, codes.text(part)) for look, part in row]
        out.append(CellStrip(row, columns))
    return out
