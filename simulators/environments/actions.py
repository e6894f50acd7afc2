"""Conversion of our actions into those of MobileWorld and KnowU-Bench (JSON) and AndroidWorld (JSON).

Both servers name directions with surprises: MobileWorld scrolls up for left and right too, and AndroidWorld's `swipe`
is reversed horizontally. So only actions of equal meaning use a name. All others become a movement between two points.
"""

from __future__ import annotations

from typing import Any

from lab.core.errors import LabError
from lab.core.run.step import Action, Direction, Point

_FINGER: dict[Direction, Point] = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_SHARE = 0.4
"""Share of the screen that a movement without a length covers."""
_TOUCHES = {"click": "click", "double_tap": "double_tap", "long_press": "long_press"}
_SAME = frozenset({"navigate_home", "navigate_back", "keyboard_enter", "wait"})
_MS = 400


def finger_way(action: Action, size: Point) -> tuple[Point, Point]:
    """Return start and end of the finger in a scroll, swipe or drag, the end clamped to a screen of `size`."""
    middle = size[0] // 2, size[1] // 2
    if action.at is not None and action.to is not None and action.kind != "scroll":
        return action.at, action.to
    vector = action.vector
    if vector is None and action.at is not None and action.to is not None:
        return action.at, action.to
    if vector is None:
        x, y = _FINGER[action.direction or ("down" if action.kind == "scroll" else "up")]
        # A scroll names the direction in the content, so the finger moves the opposite way.
        turn = -1 if action.kind == "scroll" else 1
        vector = round(turn * x * size[0] * _SHARE), round(turn * y * size[1] * _SHARE)
    start = action.at or (middle[0] - vector[0] // 2, middle[1] - vector[1] // 2)
    return start, (_inside(start[0] + vector[0], size[0]), _inside(start[1] + vector[1], size[1]))


def for_mobileworld(action: Action, size: Point) -> list[dict[str, Any]]:
    """Return the equivalent actions of MobileWorld's server, in order. Raise `LabError` if it has none."""
    text = action.text or ""
    if action.kind in _TOUCHES:
        return [{"action_type": _TOUCHES[action.kind], **_point_fields(action.at, size)}]
    if action.kind in _SAME:
        return [{"action_type": action.kind}]
    if action.kind == "scroll" and action.direction in ("up", "down") and action.at is None and action.vector is None:
        return [{"action_type": "scroll", "direction": action.direction}]
    if action.kind in ("scroll", "swipe", "drag"):
        (x, y), (to_x, to_y) = finger_way(action, size)
        return [{"action_type": "drag", "start_x": x, "start_y": y, "end_x": to_x, "end_y": to_y}]
    if action.kind == "input_text":
        touch = [{"action_type": "click", **_point_fields(action.at, size)}] if action.at is not None else []
        return [*touch, {"action_type": "input_text", "text": text}]
    if action.kind == "open_app":
        return [{"action_type": "open_app", "app_name": action.app or text}]
    if action.kind in ("ask_user", "answer"):
        return [{"action_type": action.kind, "text": text}]
    if action.kind == "status":
        return [{"action_type": "finished", "goal_status": action.status or "complete"}]
    raise LabError("the environment", f"MobileWorld's phone has no action {action.kind}; nothing was done.")


def for_androidworld(action: Action, size: Point) -> dict[str, Any]:
    """Return the equivalent action of AndroidWorld, or a swipe. Raise `LabError` if it has none."""
    text = action.text or ""
    if action.kind in _TOUCHES:
        return {"action_type": _TOUCHES[action.kind], **_point_fields(action.at, size)}
    if action.kind in _SAME:
        return {"action_type": action.kind}
    if action.kind == "scroll" and action.direction and action.at is None and action.vector is None:
        return {"action_type": "scroll", "direction": action.direction}
    if action.kind in ("scroll", "swipe", "drag"):
        start, end = finger_way(action, size)
        return {"start": start, "end": end, "ms": action.ms or _MS}
    if action.kind == "input_text":
        return {
            "action_type": "input_text",
            "text": text,
            **(_point_fields(action.at, size) if action.at is not None else {}),
        }
    if action.kind == "open_app":
        return {"action_type": "open_app", "app_name": action.app or text}
    if action.kind == "answer":
        return {"action_type": "answer", "text": text}
    raise LabError("the environment", f"AndroidWorld's phone has no action {action.kind}; nothing was done.")


def _point_fields(at: Point | None, size: Point) -> dict[str, int]:
    x, y = at or (size[0] // 2, size[1] // 2)
    if not (0 <= x < size[0] and 0 <= y < size[1]):
        raise LabError("touch", f"{x}, {y} is not on a screen of {size[0]} x {size[1]}.")
    return {"x": x, "y": y}


def _inside(value: int, most: int) -> int:
    return min(max(value, 0), most - 1)
