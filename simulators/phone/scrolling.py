"""The list that a movement scrolls, and the distance in pixels."""

from __future__ import annotations

from lab.core.run.step import Action, Point
from simulators.phone.app import State
from simulators.phone.kit.boxes import Box, Window
from simulators.phone.tree import walk

_SHARE = 0.6
"""Share of a list that a scroll or swipe without a length moves."""

_BELOW = 24
"""Free pixels below a field that was scrolled into view."""

_FINGER = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def vector(screen_windows: list[Window], action: Action) -> Point:
    """Return the finger's movement in pixels. A scroll's direction is the content's, so the finger moves opposite."""
    if action.vector is not None:
        return action.vector
    if action.at is not None and action.to is not None:
        return action.to[0] - action.at[0], action.to[1] - action.at[1]
    x, y = _FINGER[action.direction or ("down" if action.kind == "scroll" else "up")]
    if action.kind == "scroll":
        x, y = -x, -y
    box = list_at(screen_windows, action.at, across=bool(x))
    wide, high = (box.bounds.width, box.bounds.height) if box else (1000, 1000)
    return round(x * wide * _SHARE), round(y * high * _SHARE)


def list_at(screen_windows: list[Window], at: Point | None, *, across: bool) -> Box | None:
    """Return the list under a point that moves along that axis, else the largest of the topmost window that has one."""
    for window in reversed(screen_windows):
        boxes = [(box, visible) for box, visible in walk(window.root) if box.scroll and box.scroll.across == across]
        under = [box for box, visible in boxes if at is not None and visible.contains(*at)]
        if under:
            return under[-1]
        if at is not None and window.root.bounds.contains(*at) and not boxes:
            continue
        if boxes and (at is None or window.root.bounds.contains(*at) or window.modal):
            return max(boxes, key=lambda pair: pair[1].area)[0]
        if window.modal:
            return None
    return None


def reveal(state: State, chain: list[Box]) -> None:
    """Scroll the list around a field (the last of `chain`) until the field, or at least its lower end, is visible."""
    lists = [box for box in chain if box.scroll is not None and not box.scroll.across]
    if not lists or lists[-1].scroll is None:
        return
    around, field, scroll = lists[-1].bounds, chain[-1].bounds, lists[-1].scroll
    by = max(0, field.bottom + _BELOW - around.bottom) or min(0, field.top - around.top)
    if by < 0 and field.height > around.height:
        by = 0
    if by:
        state["scroll"][scroll.key] = min(scroll.limit, max(0, scroll.offset + by))


def move(state: State, box: Box, way: Point) -> None:
    """Scroll a list with the finger, at most to its ends."""
    scroll = box.scroll
    assert scroll is not None
    by = way[0] if scroll.across else way[1]
    state["scroll"][scroll.key] = min(scroll.limit, max(0, scroll.offset - by))
