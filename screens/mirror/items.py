"""One text on its way into the grid: its alignment, its limits, its line breaks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from lab.core.run.ui_tree import Bounds
from screens.mirror.fit import Fit
from screens.mirror.glyphs import NEWLINE, Glyph, cut, longest_word, on_one_line, width_of, wrap

Anchor = Literal["left", "center", "right"]
Line = tuple[Glyph, ...]
Reach = Callable[["TextBlock"], tuple[int, int]]
"""Return the columns that a text wider than its ink may take, given the picture."""

SHIFT = 2
"""Cells that a text may move sideways before it is cut."""


class TextBlock(NamedTuple):
    """A text to set: its glyphs, the boxes of its node and of its ink (pixels), its look.

    `middle` is the y of its (first) line's middle and `em` its font's size, both in pixels. `lines` is its number of
    lines in the picture. Colours are packed.
    """

    line: Line
    box: Bounds
    ink: Bounds
    holder: Bounds
    middle: float
    em: float
    lines: int
    colour: int
    paper: int
    flat: bool


@dataclass(slots=True)
class GridText:
    """A text on its way into the grid: [start, start + width) of one row, or a block of several."""

    words: TextBlock
    anchor: Anchor
    lines: list[Line]
    start: int
    low: int
    high: int
    row: int = 0
    whole: bool = True
    room: int = 1
    """Rows that its ink fills. A paragraph may get more, up to its number of lines, if free rows exist."""
    width: int = 0

    def __post_init__(self) -> None:
        self.set_lines(self.lines)

    def set_lines(self, lines: list[Line]) -> None:
        """Replace the lines and update the width."""
        self.lines = lines
        self.width = max((width_of(line) for line in lines), default=0)

    @property
    def end(self) -> int:
        return self.start + self.width

    @property
    def height(self) -> int:
        return len(self.lines)


def grid_text(words: TextBlock, edges: Edges, things: Sequence[Bounds], fit: Fit, reach: Reach | None) -> GridText:
    anchor = anchor_of(words, edges, fit.size[0])
    low, high = _limits(words, things, fit)
    if reach is not None and width_of(words.line) > (words.ink.right - words.ink.left) / fit.cell_width:
        first, last = reach(words)
        low, high = max(low, first), min(high, last)
    if words.lines > 1:
        return _paragraph(words, anchor, low, high, fit)
    item = GridText(words, anchor, [on_one_line(words.line)], 0, low, high)
    width = item.width
    if anchor == "left":
        edge = words.box.left if words.ink.left - words.box.left < 0.35 * words.em else words.ink.left
        start = rounded(fit.column(edge))
    elif anchor == "right":
        start = rounded(fit.column(words.ink.right)) - width
    else:
        start = rounded(fit.column((words.ink.left + words.ink.right) / 2) - width / 2)
    _place_within_limits(item, start)
    return item


def _place_within_limits(item: GridText, start: int) -> None:
    """Place an item at `start`, or as near as its limits allow. Cut it if it is wider than they are."""
    width = item.width
    if start + width > item.high and (item.anchor != "left" or start + width <= item.high + SHIFT):
        start = item.high - width
    item.start = min(max(item.low, start), item.high - 1)
    if item.end > item.high:
        item.set_lines([cut(item.lines[0], item.high - item.start)])
        item.whole = False


def _paragraph(words: TextBlock, anchor: Anchor, low: int, high: int, fit: Fit) -> GridText:
    """Return a paragraph wrapped in its box, or wider if it would need more rows than it has."""
    start = max(low, rounded(fit.column(words.ink.left)))
    width = max(4, rounded(fit.column(max(words.ink.right, words.box.right))) - start)
    room = max(1, int((words.ink.bottom - words.ink.top) / fit.cell_height + 0.6))
    item = GridText(words, anchor, [], start, low, max(high, start + 1), room=room)
    wrap_paragraph(item, max(room, words.lines), width)
    return item


def wrap_paragraph(item: GridText, room: int, width: int) -> None:
    """Wrap a paragraph into at most `room` lines: as wide as its box, wider to save a line or a word, then cut."""
    line, widest = item.words.line, max(1, item.high - item.start)
    word = longest_word(line)
    width = min(max(width, word if word <= widest else width), widest)
    lines = wrap(line, width)
    while len(lines) > room and width < widest:
        width += 1
        lines = wrap(line, width)
    item.whole = len(lines) <= room
    if not item.whole:
        rest = on_one_line(tuple(glyph for line in lines[room - 1 :] for glyph in (*line, NEWLINE)))
        lines = [*lines[: room - 1], cut(rest, width)]
    item.set_lines(lines)


class Edges:
    """Box edges that texts on different lines share, which shows how a column is aligned."""

    def __init__(self, words: Sequence[TextBlock]) -> None:
        self._spans: dict[tuple[str, int], tuple[float, float]] = {}
        for block in words:
            for edge in (("left", block.box.left), ("right", block.box.right)):
                low, high = self._spans.get(edge, (block.middle, block.middle))
                self._spans[edge] = min(low, block.middle), max(high, block.middle)

    def shared(self, side: str, at: int, words: TextBlock) -> bool:
        low, high = self._spans[side, at]
        return max(high - words.middle, words.middle - low) > 0.5 * words.em


def anchor_of(words: TextBlock, edges: Edges, screen: int) -> Anchor:
    """Return a text's alignment: from its ink's position in its box, or, in a tight box, from what is around it."""
    before, after = words.ink.left - words.box.left, words.box.right - words.ink.right
    slack = before + after
    if slack >= words.em:
        if abs(before - after) <= max(0.35 * words.em, 0.12 * slack):
            return "center"
        return "left" if before < after else "right"
    if edges.shared("left", words.box.left, words):
        return "left"
    middle = words.ink.left + words.ink.right
    if abs(middle - words.holder.left - words.holder.right) <= 0.7 * words.em:
        return "center"
    if edges.shared("right", words.box.right, words):
        return "right"
    if words.ink.right > 0.85 * screen and middle > 1.2 * screen:
        return "right"
    return "center" if abs(middle - screen) < 0.04 * screen else "left"


def _limits(words: TextBlock, things: Sequence[Bounds], fit: Fit) -> tuple[int, int]:
    """Return the columns that a text may take: up to the next icon or switch on its line, or the phone's edge."""
    low, high = 0, fit.cols
    middle = (words.ink.left + words.ink.right) / 2
    reach = 0.3 * fit.cell_height
    for thing in things:
        if not thing.top - reach < words.middle < thing.bottom + reach or thing.left < middle < thing.right:
            continue
        if thing.left >= middle:
            high = min(high, max(int(fit.column(thing.left)), int(fit.column(words.ink.right)) + 1))
        else:
            low = max(low, min(_ceil(fit.column(thing.right)), int(fit.column(words.ink.left))))
    return max(0, min(low, fit.cols - 1)), max(min(high, fit.cols), 1)


# Rounds halves away from zero. The built-in `round` rounds them to even.
def rounded(value: float) -> int:
    return int(value + 0.5) if value >= 0 else -int(-value + 0.5)


def _ceil(value: float) -> int:
    return -int(-value) if value <= 0 else int(value) + (value > int(value))
