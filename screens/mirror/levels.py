"""Assign rows: texts on one line of the picture share a row, in order and as near to their places as possible."""

from __future__ import annotations

from dataclasses import dataclass, field

from screens.mirror.fit import Fit
from screens.mirror.items import GridText, rounded, wrap_paragraph

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
