"""A person's touch on the mirror as an action, and an action as the marks that show it."""

from __future__ import annotations

from lab.core.run.step import Action, Point
from screens.mirror.marks import MarkKind, PhoneMark
from screens.mirror.touchscreen import Touchscreen

Touch = Touchscreen.Tapped | Touchscreen.Dragged | Touchscreen.Wheeled

_FLING = 600
"""Length of an arrow in pixels if an action gives only a direction."""
_TOWARDS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def touch_action(message: Touch) -> Action:
    """Return a tap, long press, drag or turn of the wheel as an action in the phone's pixels."""
    if isinstance(message, Touchscreen.Tapped):
        return Action("long_press" if message.long else "click", at=message.at)
    if isinstance(message, Touchscreen.Dragged):
        return Action("drag", at=message.at, to=message.to, ms=message.ms)
    return Action("scroll", at=message.at, direction=message.direction)


def marks_of(action: Action | None) -> list[PhoneMark]:
    """Return the marks for where and how an action touches the phone."""
    if action is None:
        return []
    if action.kind == "input_text":
        return [PhoneMark("type", action.at, label=action.text or "")]
    if action.at is None:
        return []
    if action.kind in ("drag", "swipe", "scroll"):
        return [PhoneMark("scroll" if action.kind == "scroll" else "drag", action.at, _arrow_end(action, action.at))]
    ring: dict[str, MarkKind] = {"double_tap": "double", "long_press": "long"}
    return [PhoneMark(ring.get(action.kind, "tap"), action.at)]


def _arrow_end(action: Action, at: Point) -> Point:
    """Return the arrow's end. A scroll points towards the content that it brings into view."""
    if action.to is not None:
        return action.to
    if action.vector is not None:
        return at[0] + action.vector[0], at[1] + action.vector[1]
    x, y = _TOWARDS.get(action.direction or "", (0, 0))
    return at[0] + x * _FLING, at[1] + y * _FLING
