"""Geometry from untrusted numbers: points in several coordinate spaces, boxes, directions of swipes."""

from __future__ import annotations

import math
from typing import Any

from lab.core.run.step import ActionKind, Direction, Point

Box = tuple[int, int, int, int]
_MOST = 2**31 - 1
_MAX_BEYOND = 1.5
"""Maximum distance of a touch from the origin, as a share of the screen."""
_VECTORS: dict[Direction, Point] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_OPPOSITES: dict[Direction, Direction] = {"up": "down", "down": "up", "left": "right", "right": "left"}


def as_coordinate(value: Any) -> float | None:
    """Return a finite number in the range of coordinates, also if written as text, or None for anything else."""
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
    """Return two numbers as a pixel. With `whole`, they range up to that across a picture of `size`.

    `whole` is 1 for coordinates from 0 to 1, 1000 for those from 0 to 1000, None for pixels. Return None if either is
    not a number, or the size is needed and unknown. Fractions are not pixels, and values far beyond `whole` use another
    space: neither is rounded to a pixel.
    """
    across, down = as_coordinate(x), as_coordinate(y)
    if across is None or down is None:
        return None
    if whole is None:
        # (1, 1) and (0, 0) can be pixels. A fraction between them cannot.
        is_share = min(across, down) >= 0 and max(across, down) <= 1 and (across % 1 or down % 1)
        return None if is_share else pixel(across, down)
    if size is None or max(abs(across), abs(down)) > _MAX_BEYOND * whole:
        return None
    return pixel(across / whole * size[0], down / whole * size[1])


def pixel(across: float, down: float) -> Point | None:
    """Return the nearest pixel, or None if it is outside the range of any screen."""
    return None if max(abs(across), abs(down)) >= _MOST else (round(across), round(down))


def box(values: Any, size: Point | None = None, whole: float | None = None) -> Box | None:
    """Return left, top, right and bottom as pixels in order (see `point`), or None if `values` are not four numbers."""
    if not isinstance(values, list | tuple) or len(values) != 4:
        return None
    first, second = point(values[0], values[1], size, whole), point(values[2], values[3], size, whole)
    if first is None or second is None:
        return None
    left, right = sorted((first[0], second[0]))
    top, bottom = sorted((first[1], second[1]))
    return left, top, right, bottom


def centre(of: Box) -> Point:
    """Return the pixel in the middle of a box."""
    return (of[0] + of[2]) // 2, (of[1] + of[3]) // 2


def direction(value: Any) -> Direction | None:
    """Return up, down, left or right in any spelling, or None for anything else."""
    word = value.strip().lower() if isinstance(value, str) else value
    return next((way for way in _VECTORS if way == word), None)


def opposite(way: Direction) -> Direction:
    """Return the opposite direction: content moves against the finger."""
    return _OPPOSITES[way]


def finger_vector(way: Direction, size: Point | None, share: float = 0.5) -> Point | None:
    """Return the finger's movement in a direction over a share of the picture's size, or None if that is unknown."""
    if size is None:
        return None
    dx, dy = _VECTORS[way]
    return round(dx * size[0] * share), round(dy * size[1] * share)


def swipe_vector(kind: ActionKind, way: Direction | None, size: Point | None) -> Point | None:
    """Return the finger's movement of a swipe or scroll, or None for other kinds.

    A scroll's direction names the content: down shows what is below, so the finger moves up.
    """
    if way is None or kind not in ("scroll", "swipe"):
        return None
    return finger_vector(opposite(way) if kind == "scroll" else way, size)


def vector_between(at: Point | None, to: Point | None) -> Point | None:
    """Return the vector from one pixel to another, or None if either is unknown or it is out of range."""
    return pixel(to[0] - at[0], to[1] - at[1]) if at and to else None


def main_direction(vector: Point) -> Direction | None:
    """Return the main direction of a finger's movement, or None if it did not move."""
    dx, dy = vector
    if not dx and not dy:
        return None
    if abs(dx) > abs(dy):
        return "right" if dx > 0 else "left"
    return "down" if dy > 0 else "up"
