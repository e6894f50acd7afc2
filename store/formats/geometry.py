"""A stranger's numbers as pixels: points in several spaces, boxes, and which way a finger moves."""

from __future__ import annotations

import math
from typing import Any

from lab.core.step import ActionKind, Direction, Point

Box = tuple[int, int, int, int]
_MOST = 2**31 - 1
_BEYOND = 1.5
"""How far a finger may leave the screen, as a part of it."""
_WAY: dict[Direction, Point] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_BACK: dict[Direction, Direction] = {"up": "down", "down": "up", "left": "right", "right": "left"}


def number(value: Any) -> float | None:
    """A finite number that can be a coordinate, also one written as text; None for anything else."""
    if type(value) is int and -_MOST < value < _MOST:
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        amount = float(value)
    except (ValueError, OverflowError):
        return None
    return amount if math.isfinite(amount) and abs(amount) < _MOST else None


def point(x: Any, y: Any, size: Point | None = None, whole: float | None = None) -> Point | None:
    """Two numbers as a pixel; with `whole`, they count up to that across and down a picture of `size`.

    `whole` is 1 for coordinates from 0 to 1, 1000 for those from 0 to 1000; None for pixels. None where either is
    no number, or the picture's size is needed and not known. A fraction is no pixel, and what lies far beyond
    `whole` counts something else: neither is rounded to a place.
    """
    across, down = number(x), number(y)
    if across is None or down is None:
        return None
    if whole is None:
        is_share = min(across, down) >= 0 and max(across, down) <= 1 and (across % 1 or down % 1)
        return None if is_share else pixel(across, down)
    if size is None or max(abs(across), abs(down)) > _BEYOND * whole:
        return None
    return pixel(across / whole * size[0], down / whole * size[1])


def pixel(across: float, down: float) -> Point | None:
    """The pixel that two computed numbers are nearest to; None where no screen is that large."""
    return None if max(abs(across), abs(down)) >= _MOST else (round(across), round(down))


def box(values: Any, size: Point | None = None, whole: float | None = None) -> Box | None:
    """Four numbers, left, top, right, bottom, as pixels (see `point`), put in order; None where they are none."""
    if not isinstance(values, list | tuple) or len(values) != 4:
        return None
    first, second = point(values[0], values[1], size, whole), point(values[2], values[3], size, whole)
    if first is None or second is None:
        return None
    left, right = sorted((first[0], second[0]))
    top, bottom = sorted((first[1], second[1]))
    return left, top, right, bottom


def centre(of: Box) -> Point:
    """The pixel in the middle of a box."""
    return (of[0] + of[2]) // 2, (of[1] + of[3]) // 2


def direction(value: Any) -> Direction | None:
    """up, down, left or right, however it is written; None for anything else."""
    word = value.strip().lower() if isinstance(value, str) else value
    return next((way for way in _WAY if way == word), None)


def opposite(way: Direction) -> Direction:
    """The content's direction of a finger's, and the other way round."""
    return _BACK[way]


def finger(way: Direction, size: Point | None, share: float = 0.5) -> Point | None:
    """The movement of a finger in that direction, over a share of the picture's width or height; None without one."""
    if size is None:
        return None
    dx, dy = _WAY[way]
    return round(dx * size[0] * share), round(dy * size[1] * share)


def swept(kind: ActionKind, way: Direction | None, size: Point | None) -> Point | None:
    """The finger's movement of a swipe, or of a scroll, whose direction names the content; None for other kinds.

    Down shows what is below: there the finger moves up.
    """
    if way is None or kind not in ("scroll", "swipe"):
        return None
    return finger(opposite(way) if kind == "scroll" else way, size)


def moved(at: Point | None, to: Point | None) -> Point | None:
    """The way from one pixel to another; None where either is not known, or no screen is that large."""
    return pixel(to[0] - at[0], to[1] - at[1]) if at and to else None


def way_of(vector: Point) -> Direction | None:
    """The direction in which a finger moved most; None where it did not move."""
    dx, dy = vector
    if not dx and not dy:
        return None
    if abs(dx) > abs(dy):
        return "right" if dx > 0 else "left"
    return "down" if dy > 0 else "up"
