"""Frame on a phone's screen, moved by keys: from thing to thing, freely, or by its lower right corner."""

from __future__ import annotations

from dataclasses import dataclass

from lab.core.step import Observation, Point
from lab.core.ui_tree import Bounds

_STRIDE = 20
"""Divisor of the screen's size: the distance that a frame moves if the screen has no things."""
_NUDGE = 40
"""Divisor of the screen's size: the distance by which keys nudge a frame or its corner."""
_NEARLY_ALL = 0.9
"""Part of the screen above which a thing counts as background."""
_BESIDE = 3
"""Weight of a distance across the direction of movement, relative to one along it."""


@dataclass(frozen=True)
class RegionFrame:
    """Frame `box` in pixels of a screen of `size`, with its `things` in reading order (by row, then by column)."""

    size: Point
    box: Bounds
    things: tuple[Bounds, ...] = ()

    def move_to_nearest(self, across: int, down: int) -> RegionFrame:
        """Move to the nearest thing in that direction, if there is one. Without any things move by a stride."""
        if not self.things:
            return self._move_by(across * max(1, self.size[0] // _STRIDE), down * max(1, self.size[1] // _STRIDE))
        ahead = [(far, thing) for thing in self.things if (far := _distance(self.box, thing, across, down)) is not None]
        return self._with_box(min(ahead)[1]) if ahead else self

    def move_to_next(self, by: int) -> RegionFrame:
        """Move to the next thing in reading order (1) or the one before (-1), cyclically."""
        if not self.things:
            return self
        # The frame may lie between things: sort it in, and step from there to the next thing.
        order = sorted({*self.things, self.box}, key=_reading_order)
        step = order.index(self.box)
        while (thing := order[(step := step + by) % len(order)]) not in self.things:
            pass
        return self._with_box(thing)

    def nudge(self, across: int, down: int) -> RegionFrame:
        """Move a little in that direction, within the screen."""
        return self._move_by(across * max(1, self.size[0] // _NUDGE), down * max(1, self.size[1] // _NUDGE))

    def grow(self, across: int, down: int) -> RegionFrame:
        """Move the lower right corner a little. The frame stays on the screen and keeps an area."""
        right = self.box.right + across * max(1, self.size[0] // _NUDGE)
        bottom = self.box.bottom + down * max(1, self.size[1] // _NUDGE)
        left, top = self.box[:2]
        return self._with_box(
            Bounds(left, top, min(self.size[0], max(left + 1, right)), min(self.size[1], max(top + 1, bottom)))
        )

    def _move_by(self, across: int, down: int) -> RegionFrame:
        left = max(0, min(self.box.left + across, self.size[0] - self.box.width))
        top = max(0, min(self.box.top + down, self.size[1] - self.box.height))
        return self._with_box(Bounds(left, top, left + self.box.width, top + self.box.height))

    def _with_box(self, box: Bounds) -> RegionFrame:
        return RegionFrame(self.size, box, self.things)


def first_frame(observation: Observation | None, size: Point) -> RegionFrame:
    """Return a frame around the first thing on a screen, or in its middle if only its size is known."""
    size = observation.size if observation is not None and observation.size is not None else size
    whole = Bounds(0, 0, *size)
    nodes = observation.tree.nodes() if observation is not None and observation.tree is not None else ()
    boxes = {node.bounds.intersection(whole) for node in nodes if node.clickable or node.label.strip()}
    things = tuple(sorted((box for box in boxes if 0 < box.area < _NEARLY_ALL * whole.area), key=_reading_order))
    return RegionFrame(size, things[0] if things else _middle(size), things)


def _middle(size: Point) -> Bounds:
    """Return the middle fifth of a screen's width and height."""
    left, top = (side * 2 // 5 for side in size)
    right, bottom = (max(side * 3 // 5, side * 2 // 5 + 1) for side in size)
    return Bounds(left, top, right, bottom)


def _reading_order(box: Bounds) -> tuple[int, int, int, int]:
    return box.top, box.left, box.bottom, box.right


def _distance(here: Bounds, there: Bounds, across: int, down: int) -> int | None:
    """Return the weighted distance of a box in that direction; None if it is not in that direction."""
    (x, y), (to_x, to_y) = here.center, there.center
    along = (to_x - x) * across + (to_y - y) * down
    if along <= 0 or there == here:
        return None
    shared = here.intersection(there)
    # Boxes that share no rows (or columns, if moving down) are off the line by the distance of their centres.
    off = 0 if (shared.height if across else shared.width) else abs(to_y - y if across else to_x - x)
    return along + _BESIDE * off
