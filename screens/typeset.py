"""Texts of a phone set in a grid of cells: each on its own row, where it stood, none over another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from lab.uitree import Bounds
from screens.fit import Fit
from screens.glyphs import NEWLINE, Glyph, cut, flat, width_of, wrap

Anchor = Literal["left", "center", "right"]
Line = tuple[Glyph, ...]

Reach = Callable[["Words"], tuple[int, int]]

_SHIFT = 2
"""Cells that a text may leave its place sideways before it is cut."""
_STRAY = 1.05
"""Rows that a text may leave its place up or down before the less important is dropped."""


class Words(NamedTuple):
    """A text to set: its glyphs, its node's box and the box of its ink (pixels), its look.

    `middle` is the height of its (first) line's middle, `em` its font's size, both in pixels; `lines` is how many
    it fills in the picture. Colours are packed.
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


class Placed(NamedTuple):
    """One line of a text at a row and column, counted from the phone's own top left cell."""

    row: int
    column: int
    line: Line
    words: Words
    whole: bool
    """Whether the text that it belongs to could be set without leaving anything out."""


@dataclass(slots=True)
class _Item:
    """A text on its way into the grid: [start, start + width) of one row, or a block of several."""

    words: Words
    anchor: Anchor
    lines: list[Line]
    start: int
    low: int
    high: int
    row: int = 0
    whole: bool = True
    room: int = 1
    """Rows that its ink fills; a paragraph may be given more, as many as it has lines, where there are some."""
    width: int = 0

    def __post_init__(self) -> None:
        self.put(self.lines)

    def put(self, lines: list[Line]) -> None:
        """Gives it other lines."""
        self.lines = lines
        self.width = max((width_of(line) for line in lines), default=0)

    @property
    def end(self) -> int:
        return self.start + self.width

    @property
    def height(self) -> int:
        return len(self.lines)


@dataclass(slots=True)
class _Level:
    """Items that stand on one line of the picture and so on one row: `top` is where it would lie, in rows."""

    items: list[_Item] = field(default_factory=list)
    top: float = 0.0
    height: int = 1

    @property
    def weight(self) -> float:
        return max(item.words.em for item in self.items)


def typeset(words: Sequence[Words], things: Sequence[Bounds], fit: Fit, reach: Reach | None = None) -> list[Placed]:
    """Where each line of each text goes; what cannot be set without covering another text is left out.

    `reach` tells, of a text that is wider than its ink, the columns that it may take in view of the picture.
    """
    shown = [w for w in words if w.line and 0 <= fit.row(w.middle) < fit.rows and _in_view(w, fit)]
    edges = _Edges(shown)
    items = [_item(w, edges, things, fit, reach) for w in shown]
    levels = _levels(items, fit)
    _glue(levels)
    while (strays := _set_rows(levels, fit.rows)) is not None:
        roomy = [level for level in strays if level.height > level.items[0].room]
        if roomy:
            _tighten(roomy[0], fit)
        else:
            levels.remove(min(strays, key=lambda level: level.weight))
    rows: dict[int, list[_Item]] = {}
    for level in levels:
        for item in level.items:
            for row in range(item.row, item.row + item.height):
                rows.setdefault(row, []).append(item)
    kept = _settle(rows)
    _spill(kept, fit)
    placed = [
        Placed(item.row + offset, _line_start(item, line), line, item.words, item.whole)
        for item in kept
        for offset, line in enumerate(item.lines)
        if line
    ]
    return _free(placed, fit)


def _free(placed: list[Placed], fit: Fit) -> list[Placed]:
    """Those lines that lie on the phone and on no other: the last word on what may be drawn."""
    taken: set[tuple[int, int]] = set()
    kept: list[Placed] = []
    for one in sorted(placed, key=lambda p: -p.words.em):
        cells = {(one.row, column) for column in range(one.column, one.column + width_of(one.line))}
        if one.column < 0 or one.column + width_of(one.line) > fit.cols or not 0 <= one.row < fit.rows:
            continue
        if not cells & taken:
            taken |= cells
            kept.append(one)
    return kept


def _in_view(words: Words, fit: Fit) -> bool:
    return words.ink.right > fit.x0 and words.ink.left < fit.x1


def _item(words: Words, edges: _Edges, things: Sequence[Bounds], fit: Fit, reach: Reach | None) -> _Item:
    anchor = anchored(words, edges, fit.size[0])
    low, high = _limits(words, things, fit)
    if reach is not None and width_of(words.line) > (words.ink.right - words.ink.left) / fit.cell_width:
        first, last = reach(words)
        low, high = max(low, first), min(high, last)
    if words.lines > 1:
        return _block(words, anchor, low, high, fit)
    item = _Item(words, anchor, [flat(words.line)], 0, low, high)
    width = item.width
    if anchor == "left":
        edge = words.box.left if words.ink.left - words.box.left < 0.35 * words.em else words.ink.left
        start = _round(fit.column(edge))
    elif anchor == "right":
        start = _round(fit.column(words.ink.right)) - width
    else:
        start = _round(fit.column((words.ink.left + words.ink.right) / 2) - width / 2)
    _hold(item, start)
    return item


def _hold(item: _Item, start: int) -> None:
    """Puts an item at `start`, or as near as its limits allow; cuts what is wider than they are."""
    width = item.width
    if start + width > item.high and (item.anchor != "left" or start + width <= item.high + _SHIFT):
        start = item.high - width
    item.start = min(max(item.low, start), item.high - 1)
    if item.end > item.high:
        item.put([cut(item.lines[0], item.high - item.start)])
        item.whole = False


def _block(words: Words, anchor: Anchor, low: int, high: int, fit: Fit) -> _Item:
    """A paragraph: wrapped in its box, in a wider one where it would need more rows than it has."""
    start = max(low, _round(fit.column(words.ink.left)))
    width = max(4, _round(fit.column(max(words.ink.right, words.box.right))) - start)
    room = max(1, int((words.ink.bottom - words.ink.top) / fit.cell_height + 0.6))
    item = _Item(words, anchor, [], start, low, max(high, start + 1), room=room)
    _flow(item, max(room, words.lines), width)
    return item


def _flow(item: _Item, room: int, width: int) -> None:
    """Wraps a paragraph into at most `room` lines: as wide as its box, wider where that spares a line, then cut."""
    line, widest = item.words.line, max(1, item.high - item.start)
    width = min(width, widest)
    lines = wrap(line, width)
    while len(lines) > room and width < widest:
        width += 1
        lines = wrap(line, width)
    item.whole = len(lines) <= room
    if not item.whole:
        rest = flat(tuple(glyph for line in lines[room - 1 :] for glyph in (*line, NEWLINE)))
        lines = [*lines[: room - 1], cut(rest, width)]
    item.put(lines)


def _tighten(level: _Level, fit: Fit) -> None:
    """Takes back the rows that a paragraph was given beyond those that its ink fills."""
    item = level.items[0]
    ink = item.words.ink
    _flow(item, item.room, item.width)
    level.height = item.height
    level.top = fit.row((ink.top + ink.bottom) / 2) - item.height / 2


class _Edges:
    """Which box edges are shared by texts on different lines: what a column is aligned by."""

    def __init__(self, words: Sequence[Words]) -> None:
        self._spans: dict[tuple[str, int], tuple[float, float]] = {}
        for one in words:
            for edge in (("left", one.box.left), ("right", one.box.right)):
                low, high = self._spans.get(edge, (one.middle, one.middle))
                self._spans[edge] = min(low, one.middle), max(high, one.middle)

    def shared(self, side: str, at: int, words: Words) -> bool:
        low, high = self._spans[side, at]
        return max(high - words.middle, words.middle - low) > 0.5 * words.em


def anchored(words: Words, edges: _Edges, screen: int) -> Anchor:
    """How a text is aligned: by where its ink lies in its box, and in a tight box by what stands around it."""
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


def _limits(words: Words, things: Sequence[Bounds], fit: Fit) -> tuple[int, int]:
    """The columns that a text may take: up to the next icon or switch on its line, or the phone's edge."""
    low, high = 0, fit.cols
    middle = (words.ink.left + words.ink.right) / 2
    reach = 0.3 * fit.cell_height
    for thing in things:
        if not thing.top - reach < words.middle < thing.bottom + reach or thing.left < middle < thing.right:
            continue
        if thing.left >= middle:
            high = min(high, max(int(fit.column(thing.left)), int(fit.column(words.ink.right)) + 1))
        else:
            low = max(low, min(_up(fit.column(thing.right)), int(fit.column(words.ink.left))))
    return max(0, min(low, fit.cols - 1)), max(min(high, fit.cols), 1)


def _levels(items: list[_Item], fit: Fit) -> list[_Level]:
    """Items grouped by the line they stand on in the picture; paragraphs alone, lowest line last."""
    levels: list[_Level] = []
    open_level: _Level | None = None
    seen: list[float] = []
    for item in sorted(items, key=lambda i: i.words.middle):
        middle = item.words.middle
        if item.height == 1 and open_level is not None and middle - seen[0] <= 0.4 * item.words.em:
            open_level.items.append(item)
            seen.append(middle)
        else:
            seen = [middle]
            level = _Level([item], height=item.height)
            levels.append(level)
            open_level = level if item.height == 1 else None
        if open_level is not None:
            open_level.top = fit.row(sum(seen) / len(seen)) - 0.5
        else:
            ink = item.words.ink
            levels[-1].top = fit.row((ink.top + ink.bottom) / 2) - item.height / 2
    return levels


def _glue(levels: list[_Level]) -> None:
    """Brings lines that stand close under one another (a title and what is said about it) one row apart."""
    glued: set[int] = set()
    for first in range(len(levels)):
        run = [first]
        while first not in glued and (following := _follower(levels, run[-1])) is not None:
            run.append(following)
        if len(run) > 1:
            glued.update(run)
            middle = sum(levels[index].top for index in run) / len(run)
            for place, index in enumerate(run):
                levels[index].top = middle + place - (len(run) - 1) / 2
    levels.sort(key=lambda level: level.top)


def _follower(levels: list[_Level], index: int) -> int | None:
    """The level that stands right under one; what stands beside both (a picture's initial) may lie between."""
    for other in range(index + 1, min(index + 4, len(levels))):
        if _adjoin(levels[index], levels[other]):
            return other
    return None


def _adjoin(upper: _Level, lower: _Level) -> bool:
    """Whether one line stands right under another, at the same left edge, about a row below it."""
    if max(upper.height, lower.height) > 1 or not 0.6 < lower.top - upper.top < 1.6:
        return False
    return any(
        abs(one.words.box.left - other.words.box.left) <= 4
        and -8 <= other.words.box.top - one.words.box.bottom <= 0.6 * one.words.em
        for one in upper.items
        for other in lower.items
    )


def _set_rows(levels: list[_Level], rows: int) -> list[_Level] | None:
    """Gives every level its row, in order, none on another that it would cover, each as near its place as can be.

    Pools adjacent violators (isotonic regression). Where one had to stray too far, returns it and those around it.
    """
    offsets: list[int] = []
    for index, level in enumerate(levels):
        needed = offsets[-1] if offsets else 0
        for other in range(max(0, index - 12), index):
            if _beside(levels[other], level):
                needed = max(needed, offsets[other] + levels[other].height)
        offsets.append(needed)
    pools: list[list[float]] = []
    for level, offset in zip(levels, offsets, strict=True):
        pools.append([level.top - offset, 1.0])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, count = pools.pop()
            pools[-1][0] = (pools[-1][0] * pools[-1][1] + mean * count) / (pools[-1][1] + count)
            pools[-1][1] += count
    ideal = [mean for mean, count in pools for _ in range(int(count))]
    worst: tuple[float, int] | None = None
    for index, (level, offset) in enumerate(zip(levels, offsets, strict=True)):
        row = min(max(_round(ideal[index]) + offset, 0), max(0, rows - level.height))
        for item in level.items:
            item.row = row
        stray = abs(row - level.top)
        if stray > _STRAY and (worst is None or stray > worst[0]):
            worst = stray, index
    if worst is None:
        return None
    return levels[max(0, worst[1] - 2) : worst[1] + 3]


def _beside(one: _Level, other: _Level) -> bool:
    """Whether two levels would cover one another on the same row."""
    return any(a.start < b.end + 1 and b.start < a.end + 1 for a in one.items for b in other.items)


def _settle(rows: dict[int, list[_Item]]) -> list[_Item]:
    """Items side by side on each row: moved a little, then cut, then, the less important, left out."""
    gone: set[int] = set()
    order: dict[int, _Item] = {}
    for row in sorted(rows):
        line = sorted((i for i in rows[row] if id(i) not in gone), key=lambda i: i.words.ink.left + i.words.ink.right)
        for item in line:
            order[id(item)] = item
        index = 0
        while index + 1 < len(line):
            before = line[index - 1].end + 1 if index else 0
            after = line[index + 2].start - 1 if index + 2 < len(line) else line[index + 1].high
            if _part(line[index], line[index + 1], before, after):
                index += 1
                continue
            loser = min(line[index : index + 2], key=lambda i: (i.words.em, -i.words.middle))
            gone.add(id(loser))
            line.remove(loser)
            index = max(0, index - 1)
    return [item for key, item in order.items() if key not in gone]


def _part(left: _Item, right: _Item, before: int, after: int) -> bool:
    """Parts two neighbours that touch, within the free columns from `before` to `after`; False where it cannot."""
    gap = 0 if left.width == 1 or right.width == 1 else 1
    over = left.end + gap - right.start
    if over <= 0:
        return True
    if left.height > 1 or right.height > 1:
        return False
    give = min(over, max(0, left.start - max(before, left.low)), _SHIFT if left.anchor == "left" else over)
    left.start -= give
    over -= give
    give = min(over, max(0, min(after, right.high) - right.end), _SHIFT)
    right.start += give
    over -= give
    if not over:
        return True
    ink_gap = (left.words.ink.right + right.words.ink.left) / 2
    share = (ink_gap - left.words.ink.left) / max(1, right.words.ink.right - left.words.ink.left)
    border = left.start + _round((right.end - left.start) * share)
    border = min(max(border, right.end - right.width), left.end + gap)
    return _cut_to(left, left.start, border - gap) and _cut_to(right, border, right.end)


def _cut_to(item: _Item, start: int, end: int) -> bool:
    """Cuts a one-line item to [start, end); False where nothing readable would remain."""
    start = max(start, item.start)
    if item.width > end - start:
        if end - start < 3:
            return False
        item.put([cut(flat(item.words.line), end - start)])
        item.whole = False
    item.start = max(start, min(item.start, end - item.width))
    return True


def _spill(items: list[_Item], fit: Fit) -> None:
    """Lets a text that was cut run on in the row below, where no other text or box stands."""
    taken: dict[int, list[tuple[int, int]]] = {}
    for item in items:
        for offset, line in enumerate(item.lines):
            start = _line_start(item, line)
            taken.setdefault(item.row + offset, []).append((start, start + width_of(line)))
    for item in items:
        if item.whole or item.height > 1 or item.words.box.height < 0.6 * fit.cell_height:
            continue
        row, room = item.row + 1, item.high - item.start
        if row >= fit.rows or room < 6:
            continue
        lines = wrap(item.words.line, room)
        spans = taken.setdefault(row, [])
        end = item.start + max(width_of(line) for line in lines)
        if len(lines) == 2 and all(end < start or item.start > stop for start, stop in spans):
            if any(item.start < stop + 1 and start < end + 1 for start, stop in taken[item.row] if start != item.start):
                continue
            item.put(lines)
            item.whole = True
            spans.append((item.start, end))


def _line_start(item: _Item, line: Line) -> int:
    """The column of one line of an item."""
    if item.height == 1 or item.anchor == "left":
        return item.start
    width = item.width - width_of(line)
    return item.start + (width // 2 if item.anchor == "center" else width)


def _round(value: float) -> int:
    return int(value + 0.5) if value >= 0 else -int(-value + 0.5)


def _up(value: float) -> int:
    return -int(-value) if value <= 0 else int(value) + (value > int(value))
