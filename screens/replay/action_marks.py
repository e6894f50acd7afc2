"""Marks of a step on the phone: its touch, and where the gate moved it."""

from __future__ import annotations

from lab.core.run.step import Action, Point
from lab.core.run.trace import Asked, Step
from lab.runs.descriptions import one_line
from screens.mirror.marks import MarkKind, PhoneMark

_REACH = 4
"""Divisor of the screen for the length of a scroll without a vector: a quarter."""
_WAY = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_RINGS: dict[str, MarkKind] = {"double_tap": "double", "long_press": "long"}


def marks_of(event: Step | Asked, size: Point) -> list[PhoneMark]:
    """Return the marks of the proposed action and, if the gate amended it, those of the performed one."""
    proposed, decision = event.proposed.action, event.decision
    if decision is None or decision.verdict != "amend" or decision.action is None:
        return action_marks(proposed, size)
    marks = action_marks(decision.action, size)
    # Typed words stand in one place on the phone: only those that were typed are drawn there.
    return marks if proposed.kind == decision.action.kind == "input_text" else [*action_marks(proposed, size), *marks]


def action_marks(action: Action, size: Point) -> list[PhoneMark]:
    """Return the marks of an action, or none if it has no place on the screen."""
    boxes = [PhoneMark("box", (left, top), (right, bottom)) for left, top, right, bottom in action.boxes]
    at = action.at
    if action.kind in ("scroll", "swipe", "drag"):
        at = at or (size[0] // 2, size[1] // 2)
        return [
            *boxes,
            PhoneMark("drag" if action.kind == "drag" else "scroll", at, action.to or _end_point(action, at, size)),
        ]
    if action.kind == "input_text":
        return [PhoneMark("type", at, None, one_line(action.text or "", 40))]
    return boxes if at is None else [*boxes, PhoneMark(_RINGS.get(action.kind, "tap"), at)]


def _end_point(action: Action, at: Point, size: Point) -> Point:
    """Return the end of a finger's path. A scroll's direction is the content's, so the finger moves against it."""
    if action.vector is not None:
        return at[0] + action.vector[0], at[1] + action.vector[1]
    x, y = _WAY[action.direction or "up"]
    sign = -1 if action.kind == "scroll" else 1
    return at[0] + sign * x * size[0] // _REACH, at[1] + sign * y * size[1] // _REACH
