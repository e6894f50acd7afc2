"""Rows of cells as Textual's strips: written with as few escape codes as it takes, cut up only when asked."""

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

if TYPE_CHECKING:
    from screens.phone.glyphs import Codes
    from screens.phone.paint import Cells

BOLD, RGB = 1 << 24, 0xFFFFFF

Run = tuple[str, int, int]
"""Text that is drawn alike: it, its foreground and its background, packed."""


class CellStrip(Strip):
    """One row of cells. Its segments are made when something needs them (a dialog over it, an exported picture);
    a terminal of true colour is sent its runs directly.
    """

    def __init__(self, runs: Sequence[Run], columns: int) -> None:
        self._runs = runs
        self._made: list[Segment] | None = None
        super().__init__((), columns)
        self._made = None

    @property
    def _segments(self) -> list[Segment]:
        if self._made is None:
            self._made = [Segment(text, _style(fg, bg)) for text, fg, bg in self._runs]
        return self._made

    @_segments.setter
    def _segments(self, segments: list[Segment]) -> None:
        self._made = segments

    def apply_filter(self, filter: LineFilter, background: Color) -> Strip:
        """As every strip; one that only replaces the terminal's own colours has nothing to do here."""
        if isinstance(filter, ANSIToTruecolor):
            return self
        return super().apply_filter(filter, background)

    def render(self, console: Console) -> str:
        """The row as escape codes: each run states only what differs from the run before it."""
        if self._render_cache is None:
            if console._color_system not in (None, ColorSystem.TRUECOLOR):
                return super().render(console)
            self._render_cache = _written(self._runs)
        return self._render_cache


def _written(runs: Sequence[Run]) -> str:
    out: list[str] = []
    was_fg, was_bg = -1, -1
    for text, fg, bg in runs:
        if bg != was_bg:
            if fg == was_fg:
                out.append(f"\x1b[48;2;{_rgb(bg)}m{text}")
            else:
                out.append(f"\x1b[{_fore(fg, was_fg)};48;2;{_rgb(bg)}m{text}")
        elif fg != was_fg:
            out.append(f"\x1b[{_fore(fg, was_fg)}m{text}")
        else:
            out.append(text)
        was_fg, was_bg = fg, bg
    out.append("\x1b[0m")
    return "".join(out)


@lru_cache(maxsize=32768)
def _rgb(colour: int) -> str:
    return f"{colour & 255};{colour >> 8 & 255};{colour >> 16 & 255}"


def _fore(fg: int, was: int) -> str:
    """A foreground's codes, boldness too where it changes."""
    if not (fg ^ max(was, 0)) & BOLD:
        return "38;2;" + _rgb(fg & RGB)
    return ("1;38;2;" if fg & BOLD else "22;38;2;") + _rgb(fg & RGB)


@lru_cache(maxsize=8192)
def _style(fg: int, bg: int) -> Style:
    return Style(
        color=RichColor.from_rgb(fg & 255, fg >> 8 & 255, fg >> 16 & 255),
        bgcolor=RichColor.from_rgb(bg & 255, bg >> 8 & 255, bg >> 16 & 255),
        bold=True if fg & BOLD else None,
    )


def strips(cells: Cells, rows: Sequence[int], codes: Codes) -> list[CellStrip]:
    """The strips of some rows of cells; none of their backgrounds may be NOTHING any more."""
    import numpy as np

    if not rows:
        return []
    chosen = list(rows)
    columns = cells.shape[1]
    text, fg, bg = cells.codes[chosen], cells.fg[chosen], cells.bg[chosen]
    starts = np.ones(text.shape, np.bool_)
    starts[:, 1:] = (fg[:, 1:] != fg[:, :-1]) | (bg[:, 1:] != bg[:, :-1])
    out: list[CellStrip] = []
    for index in range(len(chosen)):
        at = np.flatnonzero(starts[index])
        row = text[index].tobytes().decode("utf-32-le")
        own = int(text[index].max()) >= 0x100000
        begins = at.tolist()
        ends = [*begins[1:], columns]
        runs = [
            (codes.text(row[begin:end]) if own else row[begin:end], fore, back)
            for begin, end, fore, back in zip(begins, ends, fg[index][at].tolist(), bg[index][at].tolist(), strict=True)
        ]
        out.append(CellStrip([run for run in runs if run[0]] if own else runs, columns))
    return out
