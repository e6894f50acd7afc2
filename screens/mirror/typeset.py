"""Typesetting of a phone's texts in a grid of cells: each on its own row, near its place, without overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lab.core.run.ui_tree import Bounds
from screens.mirror.fit import Fit
from screens.mirror.glyphs import cut, longest_word, on_one_line, width_of, wrap
from screens.mirror.items import SHIFT, Edges, GridText, Line, Reach, TextBlock, grid_text, rounded, wrap_paragraph


class PlacedLine(NamedTuple):
    """One line of a text at a row and column, counted from the phone's top left cell."""

    row: int
    column: int
    line: Line
    words: TextBlock
    whole: bool
    """True if no part of this line's text is cut off."""


def typeset(
    words: Sequence[TextBlock], things: Sequence[Bounds], fit: Fit, reach: Reach | None = None
) -> list[PlacedLine]:
    """Return the lines of all texts with their places. Leave out a text that cannot be set without covering another.

    `reach` returns the columns that a text wider than its ink may take, given the picture.
    """
    visible = [w for w in words if w.line and 0 <= fit.row(w.middle) < fit.rows and _in_view(w, fit)]
    edges = Edges(visible)
    items = [grid_text(w, edges, things, fit, reach) for w in visible]
    levels = levels_of(items, fit)
    join_close_lines(levels)
    # Each pass shortens a paragraph or removes a level, so the loop ends.
    while (strays := set_rows(levels, fit.rows)) is not None:
        roomy = [level for level in strays if level.height > level.items[0].room]
        if roomy:
            tighten(roomy[0], fit)
        else:
            levels.remove(min(strays, key=lambda level: level.weight))
    rows: dict[int, list[GridText]] = {}
    for level in levels:
        for item in level.items:
            for row in range(item.row, item.row + item.height):
                rows.setdefault(row, []).append(item)
    row_items = _arrange_rows(rows)
    _continue_below(row_items, fit)
    lines = [
        PlacedLine(item.row + offset, _line_start(item, line), line, item.words, item.whole)
        for item in row_items
        for offset, line in enumerate(item.lines)
        if line
    ]
    return _free_lines(lines, fit)


def _free_lines(lines: list[PlacedLine], fit: Fit) -> list[PlacedLine]:
    """Return the lines inside the phone that overlap no other, larger fonts first. This is the final check."""
    used_cells: set[tuple[int, int]] = set()
    free_lines: list[PlacedLine] = []
    for line in sorted(lines, key=lambda p: -p.words.em):
        cells = {(line.row, column) for column in range(line.column, line.column + width_of(line.line))}
        if line.column < 0 or line.column + width_of(line.line) > fit.cols or not 0 <= line.row < fit.rows:
            continue
        if not cells & used_cells:
            used_cells |= cells
            free_lines.append(line)
    return free_lines


def _in_view(words: TextBlock, fit: Fit) -> bool:
    return words.ink.right > fit.x0 and words.ink.left < fit.x1


def _arrange_rows(rows: dict[int, list[GridText]]) -> list[GridText]:
    """Arrange items side by side on each row: move them a little, then cut, then drop the less important one."""
    removed_ids: set[int] = set()
    order: dict[int, GridText] = {}
    for row in sorted(rows):
        line = sorted(
            (i for i in rows[row] if id(i) not in removed_ids), key=lambda i: i.words.ink.left + i.words.ink.right
        )
        for item in line:
            order[id(item)] = item
        index = 0
        while index + 1 < len(line):
            before = line[index - 1].end + 1 if index else 0
            after = line[index + 2].start - 1 if index + 2 < len(line) else line[index + 1].high
            if _separate(line[index], line[index + 1], before, after):
                index += 1
                continue
            loser = min(line[index : index + 2], key=lambda i: (i.words.em, -i.words.middle))
            removed_ids.add(id(loser))
            line.remove(loser)
            index = max(0, index - 1)
    return [item for key, item in order.items() if key not in removed_ids]


def _separate(left: GridText, right: GridText, before: int, after: int) -> bool:
    """Separate two neighbours that touch, inside the free columns from `before` to `after`.

    Return False if impossible.
    """
    gap = 0 if left.width == 1 or right.width == 1 else 1
    over = left.end + gap - right.start
    if over <= 0:
        return True
    if left.height > 1 or right.height > 1:
        return False
    give = min(over, max(0, left.start - max(before, left.low)), SHIFT if left.anchor == "left" else over)
    left.start -= give
    over -= give
    give = min(over, max(0, min(after, right.high) - right.end), SHIFT)
    right.start += give
    over -= give
    if not over:
        return True
    ink_gap = (left.words.ink.right + right.words.ink.left) / 2
    share = (ink_gap - left.words.ink.left) / max(1, right.words.ink.right - left.words.ink.left)
    border = left.start + rounded((right.end - left.start) * share)
    border = min(max(border, right.end - right.width), left.end + gap)
    return _cut_to(left, left.start, border - gap) and _cut_to(right, border, right.end)


def _cut_to(item: GridText, start: int, end: int) -> bool:
    """Cut a one-line item to [start, end). Return False if nothing readable would remain."""
    start = max(start, item.start)
    if item.width > end - start:
        if end - start < 3:
            return False
        item.set_lines([cut(on_one_line(item.words.line), end - start)])
        item.whole = False
    item.start = max(start, min(item.start, end - item.width))
    return True


def _continue_below(items: list[GridText], fit: Fit) -> None:
    """Continue a cut text in the row below if no other text or box is there."""
    spans_by_row: dict[int, list[tuple[int, int]]] = {}
    for item in items:
        for offset, line in enumerate(item.lines):
            start = _line_start(item, line)
            spans_by_row.setdefault(item.row + offset, []).append((start, start + width_of(line)))
    for item in items:
        if item.whole or item.height > 1 or item.words.box.height < 0.6 * fit.cell_height:
            continue
        row, room = item.row + 1, item.high - item.start
        if row >= fit.rows or room < 6 or longest_word(item.words.line) > room:
            continue
        lines = wrap(item.words.line, room)
        spans = spans_by_row.setdefault(row, [])
        end = item.start + max(width_of(line) for line in lines)
        if len(lines) == 2 and all(end < start or item.start > stop for start, stop in spans):
            if any(
                item.start < stop + 1 and start < end + 1
                for start, stop in spans_by_row[item.row]
                if start != item.start
            ):
                continue
            item.set_lines(lines)
            item.whole = True
            spans.append((item.start, end))


def _line_start(item: GridText, line: Line) -> int:
    """Return the column of one line of an item."""
    if item.height == 1 or item.anchor == "left":
        return item.start
    width = item.width - width_of(line)
    return item.start + (width // 2 if item.anchor == "center" else width)


_STRAY = 1.05
"""Rows that a text may stray from its place before the less important text is dropped."""


@dataclass(slots=True)
class Level:
    """Items on one line of the picture, and so on one row. `top` is their ideal place, in rows."""

    items: list[GridText] = field(default_factory=list)
    top: float = 0.0
    height: int = 1

    @property
    def weight(self) -> float:
        return max(item.words.em for item in self.items)


def levels_of(items: list[GridText], fit: Fit) -> list[Level]:
    """Group items by their line in the picture, from top to bottom. A paragraph is a level of its own."""
    levels: list[Level] = []
    open_level: Level | None = None
    middles: list[float] = []
    for item in sorted(items, key=lambda i: i.words.middle):
        middle = item.words.middle
        if item.height == 1 and open_level is not None and middle - middles[0] <= 0.4 * item.words.em:
            open_level.items.append(item)
            middles.append(middle)
        else:
            middles = [middle]
            level = Level([item], height=item.height)
            levels.append(level)
            open_level = level if item.height == 1 else None
        if open_level is not None:
            open_level.top = fit.row(sum(middles) / len(middles)) - 0.5
        else:
            ink = item.words.ink
            levels[-1].top = fit.row((ink.top + ink.bottom) / 2) - item.height / 2
    return levels


def join_close_lines(levels: list[Level]) -> None:
    """Move lines that lie close under one another (a title and its subtitle) exactly one row apart."""
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


def _follower(levels: list[Level], index: int) -> int | None:
    """Return the level right under another, or None. Levels beside both (a picture's initial) may lie between."""
    for other in range(index + 1, min(index + 4, len(levels))):
        if _adjoin(levels[index], levels[other]):
            return other
    return None


def _adjoin(upper: Level, lower: Level) -> bool:
    """Return True if one line lies about a row under another, at the same left edge."""
    if max(upper.height, lower.height) > 1 or not 0.6 < lower.top - upper.top < 1.6:
        return False
    return any(
        abs(item.words.box.left - other.words.box.left) <= 4
        and -8 <= other.words.box.top - item.words.box.bottom <= 0.6 * item.words.em
        for item in upper.items
        for other in lower.items
    )


def set_rows(levels: list[Level], rows: int) -> list[Level] | None:
    """Give each level its row, in order, without overlap and as near to its place as possible.

    Pools adjacent violators (isotonic regression). Return None, or, if a level strayed too far, that one and its
    neighbours.
    """
    offsets: list[int] = []
    for index, level in enumerate(levels):
        needed = offsets[-1] if offsets else 0
        # Only the twelve levels before: the work stays linear in the number of texts.
        for other in range(max(0, index - 12), index):
            if _overlap(levels[other], level):
                needed = max(needed, offsets[other] + levels[other].height)
        offsets.append(needed)
    # Relative to the least row of each level, any non-decreasing rows are free of overlaps.
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
        row = min(max(rounded(ideal[index]) + offset, 0), max(0, rows - level.height))
        for item in level.items:
            item.row = row
        stray = abs(row - level.top)
        if stray > _STRAY and (worst is None or stray > worst[0]):
            worst = stray, index
    if worst is None:
        return None
    return levels[max(0, worst[1] - 2) : worst[1] + 3]


def _overlap(one: Level, other: Level) -> bool:
    """Return True if two levels would overlap on the same row."""
    return any(a.start < b.end + 1 and b.start < a.end + 1 for a in one.items for b in other.items)


def tighten(level: Level, fit: Fit) -> None:
    """Take back the rows that a paragraph got beyond those that its ink fills."""
    item = level.items[0]
    ink = item.words.ink
    wrap_paragraph(item, item.room, item.width)
    level.height = item.height
    level.top = fit.row((ink.top + ink.bottom) / 2) - item.height / 2
