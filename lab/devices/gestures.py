"""Where a finger goes for a scroll, a swipe or a drag: pure arithmetic over an action, the screen and its tree."""

from __future__ import annotations

from typing import NamedTuple

from lab.core.errors import LabError
from lab.core.step import Action, Direction, Point
from lab.core.ui_tree import Bounds, UiTree

_FINGER: dict[Direction, Point] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_SHARE = 0.6
"""How much of a list one scroll or swipe without a length moves."""
_EDGE = 0.04
"""The share of the screen at each edge where a finger means the system: back, home, notifications."""
_SCROLL_MS, _SWIPE_MS, _DRAG_MS = 500, 300, 800


class Stroke(NamedTuple):
    """A finger put down at `at`, moved to `to` in `ms`, lifted."""

    at: Point
    to: Point
    ms: int


def inside(at: Point, size: Point) -> Point:
    """A place that is on the screen; a `LabError` where it is not."""
    if 0 <= at[0] < size[0] and 0 <= at[1] < size[1]:
        return at
    raise LabError("touch", f"{at[0]}, {at[1]} is not on a screen of {size[0]} x {size[1]}.")


def stroke(action: Action, size: Point, tree: UiTree) -> Stroke:
    """The finger's way for a scroll, swipe or drag, on a screen of `size` that shows `tree`."""
    ms = {"scroll": _SCROLL_MS, "swipe": _SWIPE_MS, "drag": _DRAG_MS}[action.kind]
    ms = action.ms if action.ms else ms
    if action.at is not None and action.to is not None and action.kind != "scroll":
        return Stroke(inside(action.at, size), inside(action.to, size), ms)
    if action.vector is not None:
        at = inside(action.at, size) if action.at is not None else _clamped(_start(action.vector, _whole(size)), size)
        return Stroke(at, _clamped((at[0] + action.vector[0], at[1] + action.vector[1]), size), ms)
    if action.at is not None and action.to is not None:
        return Stroke(inside(action.at, size), inside(action.to, size), ms)
    return _by_direction(action, size, tree, ms)


def _by_direction(action: Action, size: Point, tree: UiTree, ms: int) -> Stroke:
    """A scroll names where in the content one wants to go, so the finger goes the other way; a swipe names its own."""
    direction = action.direction or ("down" if action.kind == "scroll" else "up")
    x, y = _FINGER[direction]
    if action.kind == "scroll":
        x, y = -x, -y
    at = inside(action.at, size) if action.at is not None else None
    area = _list_at(tree, at, across=bool(x)) or _whole(size)
    area = area.cut(_whole(size))
    movement = round(x * area.width * _SHARE), round(y * area.height * _SHARE)
    start = _start(movement, area)
    if at is not None:
        start = (start[0], at[1]) if x else (at[0], start[1])
    if action.kind != "scroll" and at is not None:
        start = at
    return Stroke(start, _clamped((start[0] + movement[0], start[1] + movement[1]), size), ms)


def _start(movement: Point, area: Bounds) -> Point:
    """Where a movement begins so that its middle is the middle of the area."""
    x, y = area.center
    return x - movement[0] // 2, y - movement[1] // 2


def _list_at(tree: UiTree, at: Point | None, *, across: bool) -> Bounds | None:
    """What scrolls under a place, the innermost; without a place, the largest there is.

    A tree does not say which way a thing scrolls: what is much wider than high is taken to go across.
    """
    boxes = [node.bounds for node in tree.nodes() if node.scrollable and node.bounds.area]
    fits = [box for box in boxes if (box.width > 2 * box.height) == across] or ([] if across else boxes)
    if at is None:
        return max(fits, key=lambda box: box.area, default=None)
    under = [box for box in fits if box.holds(*at)]
    return min(under, key=lambda box: box.area, default=None)


def _whole(size: Point) -> Bounds:
    """The screen without its edges."""
    wide, high = round(size[0] * _EDGE), round(size[1] * _EDGE)
    return Bounds(wide, high, size[0] - wide, size[1] - high)


def _clamped(at: Point, size: Point) -> Point:
    return min(max(at[0], 0), size[0] - 1), min(max(at[1], 0), size[1] - 1)
