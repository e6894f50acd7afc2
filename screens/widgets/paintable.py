"""The last check before text reaches the terminal: no character in it steers the terminal or turns a line around.

Rooms show a stranger's text by `plain`, which makes such characters visible. A text that comes another way loses them.
"""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_CONTROLS = "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000), 0x2028, 0x2029, 0xFEFF)))
_PAINTED = str.maketrans({"\u00ad": "-"} | dict.fromkeys(_TURNS + _CONTROLS, "\u200b"))
"""Replacements at painting. Each keeps the width of its character."""


class PaintableFilter(LineFilter):
    """Replace characters that a terminal obeys, in every row of every widget."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return paintable(segments)


def paintable(segments: list[Segment]) -> list[Segment]:
    """Return segments without such characters: the same list if there are none."""
    if all(segment.text.isprintable() for segment in segments):
        return segments
    return [Segment(text.translate(_PAINTED), style, control) for text, style, control in segments]
