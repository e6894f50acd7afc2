"""A frame on a phone's screen that keys move: from thing to thing, freely, and by its lower right corner."""

from __future__ import annotations

from dataclasses import dataclass

from lab.core.step import Observation, Point
from lab.core.ui_tree import Bounds

_STRIDE = 20
"""A frame goes this part of the screen where there are no things to go to."""
_NUDGE = 40
"""A frame or its corner is nudged by this part of the screen."""
_NEARLY_ALL = 0.9
"""A thing that takes this part of the screen is its background."""
_BESIDE = 3
"""Being off the line counts this much more than being further along it."""


@dataclass(frozen=True)
class RegionFrame:
    """`box` in pixels of a screen of `size`; `things` in reading order: upper ones first, of one row the left ones."""

    size: Point
    box: Bounds
    things: tuple[Bounds, ...] = ()

    def go(self, across: int, down: int) -> RegionFrame:
        """To the nearest thing that way, if there is one; a stride that way where there are no things at all."""
        if not self.things:
            return self._moved(across * max(1, self.size[0] // _STRIDE), down * max(1, self.size[1] // _STRIDE))
        ahead = [(far, thing) for thing in self.things if (far := _far(self.box, thing, across, down)) is not None]
        return self._with(min(ahead)[1]) if ahead else self

    def turn(self, by: int) -> RegionFrame:
        """To the next thing in reading order (1) or the one before (-1); after the last comes the first."""
        if not self.things:
            return self
        order = sorted({*self.things, self.box}, key=_read)
        step = order.index(self.box)
        while (thing := order[(step := step + by) % len(order)]) not in self.things:
            pass
        return self._with(thing)

    def nudge(self, across: int, down: int) -> RegionFrame:
        """As it is, a little that way, as far as the screen goes."""
        return self._moved(across * max(1, self.size[0] // _NUDGE), down * max(1, self.size[1] // _NUDGE))

    def grow(self, across: int, down: int) -> RegionFrame:
        """Its lower right corner goes a little that way; it stays on the screen and never closes."""
        right = self.box.right + across * max(1, self.size[0] // _NUDGE)
        bottom = self.box.bottom + down * max(1, self.size[1] // _NUDGE)
        left, top = self.box[:2]
        return self._with(
            Bounds(left, top, min(self.size[0], max(left + 1, right)), min(self.size[1], max(top + 1, bottom)))
        )

    def _moved(self, across: int, down: int) -> RegionFrame:
        left = max(0, min(self.box.left + across, self.size[0] - self.box.width))
        top = max(0, min(self.box.top + down, self.size[1] - self.box.height))
        return self._with(Bounds(left, top, left + self.box.width, top + self.box.height))

    def _with(self, box: Bounds) -> RegionFrame:
        return RegionFrame(self.size, box, self.things)


def framed(observation: Observation | None, size: Point) -> RegionFrame:
    """A frame around the first thing on a screen; in its middle where nothing is known of it but its size."""
    size = observation.size if observation is not None and observation.size is not None else size
    whole = Bounds(0, 0, *size)
    nodes = observation.tree.nodes() if observation is not None and observation.tree is not None else ()
    boxes = {node.bounds.cut(whole) for node in nodes if node.clickable or node.label.strip()}
    things = tuple(sorted((box for box in boxes if 0 < box.area < _NEARLY_ALL * whole.area), key=_read))
    return RegionFrame(size, things[0] if things else _middle(size), things)


def _middle(size: Point) -> Bounds:
    """A fifth of a screen's width and height."""
    left, top = (side * 2 // 5 for side in size)
    right, bottom = (max(side * 3 // 5, side * 2 // 5 + 1) for side in size)
    return Bounds(left, top, right, bottom)


def _read(box: Bounds) -> tuple[int, int, int, int]:
    return box.top, box.left, box.bottom, box.right


def _far(here: Bounds, there: Bounds, across: int, down: int) -> int | None:
    """How far a box is that way; None where it is not."""
    (x, y), (to_x, to_y) = here.center, there.center
    along = (to_x - x) * across + (to_y - y) * down
    if along <= 0 or there == here:
        return None
    shared = here.cut(there)
    # Cut boxes that share nothing of a side have none of it: how far apart their centres are there counts.
    off = 0 if (shared.height if across else shared.width) else abs(to_y - y if across else to_x - x)
    return along + _BESIDE * off
