"""AITZ's actions as hitlab's. Its coordinates are shares of the screen, y first, and -1 for none.

Source: `coat/action_utils.py` of IMNearth/CoAT. AgentCPM-GUI's data of the same shape adds types 0, 1 and 12.
"""

from __future__ import annotations

import math
from typing import Any

from lab.core.step import Action, Direction, Point
from lab.core.ui_tree import Bounds, Node, UiTree
from store.formats.geometry import as_coordinate, point, vector_between
from store.formats.values import numbers, words

SPACE = "0-1"
RAW = ("result_action_type", "result_action_text", "result_touch_yx", "result_lift_yx", "result_action_app_name")
"""Fields of a step that spell its action."""

_MAX_TAP = 0.04
"""Maximum movement of a tap, as a share of the screen."""
_STEEP = 0.9
"""Ratio of vertical to horizontal movement from which on a swipe counts as up or down."""
_NAMED = {
    "LONG_POINT": 0, "NO_ACTION": 1, "TYPE": 3, "DUAL_POINT": 4, "PRESS_BACK": 5, "PRESS_HOME": 6, "PRESS_ENTER": 7,
    "STATUS_TASK_COMPLETE": 10, "STATUS_TASK_IMPOSSIBLE": 11, "OPEN_APP": 12,
}  # fmt: skip


def action_of(step: dict[str, Any], size: Point | None) -> Action:
    """Return a step's action. Unknown types become `other`.

    `size` is the screenshot's. Without it positions are None.
    """
    raw = {key: step[key] for key in RAW if key in step}
    text = words(step.get("result_action_text"))
    match _action_type(step.get("result_action_type")):
        case 0:
            return Action("long_press", at=_pixel(step.get("result_touch_yx"), size), raw=raw, space=SPACE)
        case 1:
            return Action("wait", raw=raw, space=SPACE)
        case 3:
            return Action("input_text", text=text, raw=raw, space=SPACE)
        case 4:
            return _gesture(step, size, raw)
        case 5:
            return Action("navigate_back", raw=raw, space=SPACE)
        case 6:
            return Action("navigate_home", raw=raw, space=SPACE)
        case 7:
            return Action("keyboard_enter", raw=raw, space=SPACE)
        case 10:
            return Action("status", status="complete", text=text or None, raw=raw, space=SPACE)
        case 11:
            return Action("status", status="infeasible", text=text or None, raw=raw, space=SPACE)
        case 12:
            return Action("open_app", app=words(step.get("result_action_app_name")) or None, raw=raw, space=SPACE)
    return Action("other", text=text or None, raw=raw, space=SPACE)


def _action_type(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().upper() in _NAMED:
        return _NAMED[value.strip().upper()]
    amount = as_coordinate(value)
    return int(amount) if amount is not None and amount == int(amount) else None


def _gesture(step: dict[str, Any], size: Point | None, raw: dict[str, Any]) -> Action:
    """Return a tap if the finger hardly moved, else a swipe with its vector."""
    touch, lift = _relative_position(step.get("result_touch_yx")), _relative_position(step.get("result_lift_yx"))
    if touch is None:
        return Action("other", raw=raw, space=SPACE)
    at = point(touch[1], touch[0], size, 1)
    if lift is None or math.dist(touch, lift) <= _MAX_TAP:
        return Action("click", at=at, raw=raw, space=SPACE)
    to = point(lift[1], lift[0], size, 1)
    return Action(
        "swipe",
        at=at,
        to=to,
        direction=_main_direction(lift[1] - touch[1], lift[0] - touch[0]),
        vector=vector_between(at, to),
        raw=raw,
        space=SPACE,
    )


def _main_direction(across: float, down: float) -> Direction:
    if abs(down) >= _STEEP * abs(across):
        return "up" if down < 0 else "down"
    return "left" if across < 0 else "right"


def _relative_position(value: Any) -> tuple[float, float] | None:
    """Return a position as y and x, or None if it is missing (-1, -1 in the source) or invalid."""
    shares = [as_coordinate(coordinate) for coordinate in numbers(value)]
    if len(shares) != 2 or shares[0] is None or shares[1] is None or shares == [-1, -1]:
        return None
    return shares[0], shares[1]


def _pixel(value: Any, size: Point | None) -> Point | None:
    share = _relative_position(value)
    return point(share[1], share[0], size, 1) if share else None


def tree_of(step: dict[str, Any], size: Point | None) -> UiTree | None:
    """Return the elements detected on the screenshot, with text and type, or None if there are none.

    A box is y, x, height and width: in pixels, or in shares of the screen if none is above 1.
    """
    boxes = [numbers(box) for box in numbers(step.get("ui_positions"))]
    texts, types = numbers(step.get("ui_text")), numbers(step.get("ui_types"))
    shares = all((as_coordinate(part) or 0) <= 1 for box in boxes for part in box)
    nodes = []
    for i, box in enumerate(boxes):
        bounds = _bounds(box, size, 1 if shares else None)
        if bounds is not None:
            text = words(texts[i]) if i < len(texts) else ""
            cls = words(types[i]) if i < len(types) else ""
            nodes.append(Node(bounds, text=text, cls=cls))
    return UiTree(tuple(nodes)) if nodes else None


def _bounds(box: list[Any], size: Point | None, whole: float | None) -> Bounds | None:
    if len(box) != 4:
        return None
    start, extent = point(box[1], box[0], size, whole), point(box[3], box[2], size, whole)
    if start is None or extent is None or min(extent) < 0:
        return None
    return Bounds(*start, start[0] + extent[0], start[1] + extent[1])
