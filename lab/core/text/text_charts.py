"""Draw numbers as one line of characters, for commands and screens: intervals, bars, scales."""

from __future__ import annotations

POINT, DASH, FIRST, LAST, BLANK, ZERO = "●", "─", "├", "┤", "·", "┊"
OFF_LEFT, OFF_RIGHT = "◂", "▸"
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def column_of(value: float, width: int, least: float, most: float) -> int:
    """Return the column (from 0) of a value on a scale of `width` columns. A value beyond the scale is at its end."""
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
    """Draw a point with its interval on a scale: `··├──●────┤···`, or only dots without a value.

    An end beyond the scale is drawn as an arrow. If 0 is inside the scale, its column is marked.
    """
    if width < 1:
        return ""
    cells = [BLANK] * width
    if least < 0 < most:
        cells[column_of(0.0, width, least, most)] = ZERO
    if value is None:
        return "".join(cells)
    if low is not None and high is not None:
        first, last = column_of(low, width, least, most), column_of(high, width, least, most)
        cells[first : last + 1] = [DASH] * (last - first + 1)
        cells[first] = FIRST if low >= least else OFF_LEFT
        cells[last] = LAST if high <= most else OFF_RIGHT
    cells[column_of(value, width, least, most)] = POINT if least <= value <= most else _arrow(value, least)
    return "".join(cells)


def _arrow(value: float, least: float) -> str:
    return OFF_LEFT if value < least else OFF_RIGHT


def scale(width: int, least: float = 0.0, most: float = 1.0) -> str:
    """Draw the scale above such bars: minimum, 0 or the middle, and maximum, each above its column."""
    middle = 0.0 if least < 0 < most else (least + most) / 2
    words = [_format_value(least), _format_value(middle), _format_value(most)]
    if width < sum(map(len, words)) + 4:
        return (words[0] + words[2].rjust(width - len(words[0])))[:width] if width > len(words[0] + words[2]) else ""
    at = column_of(middle, width, least, most)
    start = max(len(words[0]) + 1, min(at - len(words[1]) // 2, width - len(words[2]) - 1 - len(words[1])))
    line = words[0].ljust(start) + words[1]
    return line + words[2].rjust(width - len(line))


def _format_value(value: float) -> str:
    return f"{value:g}"


def share_bar(value: float | None, width: int, most: float = 1.0) -> str:
    """Draw a bar from the left in eighths of a column, or blanks without a value."""
    if value is None or width < 1 or most <= 0:
        return " " * max(0, width)
    eighths = round(max(0.0, min(1.0, value / most)) * width * 8)
    whole, part = divmod(eighths, 8)
    return (_EIGHTHS[8] * whole + (_EIGHTHS[part] if part else "")).ljust(width)


def shade(count: float, most: float, levels: int = 4) -> int:
    """Return the shade of a grid's cell by its share of the largest count: 0 for none, else 1 to `levels`."""
    if count <= 0 or most <= 0:
        return 0
    # Rounded up, so that the smallest count is still visible.
    return max(1, min(levels, -int(-count * levels // most)))
