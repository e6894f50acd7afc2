"""Numbers drawn in a line of plain characters, for terminals and for screens: intervals, bars, scales."""

from __future__ import annotations

POINT, DASH, FIRST, LAST, BLANK, ZERO = "●", "─", "├", "┤", "·", "┊"
OFF_LEFT, OFF_RIGHT = "◂", "▸"
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def place_of(value: float, width: int, least: float, most: float) -> int:
    """The column (from 0) of a value on a scale `width` columns wide; what lies beyond it is at its end."""
    share = (value - least) / (most - least)
    return max(0, min(width - 1, int(share * (width - 1) + 0.5)))


def interval_bar(
    value: float | None,
    low: float | None,
    high: float | None,
    width: int,
    least: float = 0.0,
    most: float = 1.0,
) -> str:
    """A point with its interval on a scale: `··├──●────┤···`; only dots where there is no value.

    Where an end lies beyond the scale its mark is an arrow; where the scale holds 0 inside it, that column is marked.
    """
    if width < 1:
        return ""
    cells = [BLANK] * width
    if least < 0 < most:
        cells[place_of(0.0, width, least, most)] = ZERO
    if value is None:
        return "".join(cells)
    if low is not None and high is not None:
        first, last = place_of(low, width, least, most), place_of(high, width, least, most)
        cells[first : last + 1] = [DASH] * (last - first + 1)
        cells[first] = FIRST if low >= least else OFF_LEFT
        cells[last] = LAST if high <= most else OFF_RIGHT
    cells[place_of(value, width, least, most)] = POINT if least <= value <= most else _beyond(value, least)
    return "".join(cells)


def _beyond(value: float, least: float) -> str:
    return OFF_LEFT if value < least else OFF_RIGHT


def scale(width: int, least: float = 0.0, most: float = 1.0) -> str:
    """What stands above such bars: the least value, 0 or the middle, the most, each above its column."""
    middle = 0.0 if least < 0 < most else (least + most) / 2
    words = [_short(least), _short(middle), _short(most)]
    if width < sum(map(len, words)) + 4:
        return (words[0] + words[2].rjust(width - len(words[0])))[:width] if width > len(words[0] + words[2]) else ""
    at = place_of(middle, width, least, most)
    start = max(len(words[0]) + 1, min(at - len(words[1]) // 2, width - len(words[2]) - 1 - len(words[1])))
    line = words[0].ljust(start) + words[1]
    return line + words[2].rjust(width - len(line))


def _short(value: float) -> str:
    return f"{value:g}"


def share_bar(value: float | None, width: int, most: float = 1.0) -> str:
    """A bar from the left, in eighths of a column; blanks where there is no value."""
    if value is None or width < 1 or most <= 0:
        return " " * max(0, width)
    eighths = round(max(0.0, min(1.0, value / most)) * width * 8)
    whole, part = divmod(eighths, 8)
    return (_EIGHTHS[8] * whole + (_EIGHTHS[part] if part else "")).ljust(width)


def shade(count: float, most: float, levels: int = 4) -> int:
    """How dark a cell of a grid is: 0 for none, else from 1 up to `levels`, by its share of the largest count."""
    if count <= 0 or most <= 0:
        return 0
    return max(1, min(levels, -int(-count * levels // most)))
