"""AndroidWorld's actions and UI elements as hitlab's.

A scroll names the content's direction, a swipe the finger's. `index` refers to the list of elements shown to the agent.
Source: `android_world/env/json_action.py`, `actuation.py` and `representation_utils.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from lab.core.codec import escape_surrogates
from lab.core.run.step import Action, ActionKind, Point
from lab.core.run.ui_tree import Bounds, Node, UiTree
from store.formats.androidworld.values import fields_of
from store.formats.geometry import as_coordinate, direction, pixel, point, swipe_vector, vector_between
from store.formats.values import as_str

_KINDS: dict[str, ActionKind] = {
    "click": "click",
    "double_tap": "double_tap",
    "long_press": "long_press",
    "drag": "drag",
    "drag_and_drop": "drag",
    "swipe": "swipe",
    "scroll": "scroll",
    "input_text": "input_text",
    "type": "input_text",
    "navigate_home": "navigate_home",
    "navigate_back": "navigate_back",
    "keyboard_enter": "keyboard_enter",
    "open_app": "open_app",
    "wait": "wait",
    "answer": "answer",
    "ask_user": "ask_user",
    "status": "status",
    "finished": "status",
}
_STATUS = {"complete": "complete", "success": "complete", "infeasible": "infeasible", "impossible": "infeasible"}
_PLACED: frozenset[str] = frozenset({"click", "double_tap", "long_press", "input_text", "scroll", "swipe", "drag"})

_REASON = re.compile(r"^[^\S\n]*+Reason\s*+[:：]", re.M)
_NEXT_ACTION = re.compile(r"^[^\S\n]*+Action\s*+[:：]", re.M)
_ACTION = re.compile(r"Action\s*+[:：]\s*+(?=\{)")
_FLAGS = ("checkable", "checked", "clickable", "focusable", "focused", "scrollable", "long_clickable", "selected")
_UNPLACED = ("hint_text", "tooltip", "is_editable", "metadata")
"""Fields of an element for which a node has no place."""


def action_of(
    raw: Any, size: Point | None, scale: float = 1, boxes: Callable[[int], Bounds | None] | None = None
) -> Action:
    """Return a JSON action as hitlab's, with `raw` unchanged. Unknown or missing types become `other`.

    `size` is the observed screen's in pixels. `scale` converts the source's pixels to observed ones. `boxes` returns an
    element's box by index, in observed pixels.
    """
    if not isinstance(raw, dict):
        return Action("other", raw=raw)
    name = str(raw.get("action_type", "")).strip().lower().replace("-", "_").replace(" ", "_")
    kind = _KINDS.get(name, "other")
    at, box, space = _locate(raw, kind, scale, boxes)
    end = _scale_point(_point(raw.get("end_x"), raw.get("end_y"), raw.get("touch_end")), scale)
    way = direction(raw.get("direction"))
    vector = vector_between(at, end)
    vector = vector or swipe_vector(kind, way, size)
    goal = str(raw.get("goal_status", "complete" if name == "finished" else "")).lower()
    status = _STATUS.get(goal) if kind == "status" else None
    return Action(
        kind=kind,
        at=at,
        to=end,
        text=as_str(raw.get("text")),
        direction=way,
        vector=vector,
        app=as_str(raw.get("app_name")),
        status="complete" if status == "complete" else "infeasible" if status else None,
        raw=raw,
        space=space,
        boxes=((box.left, box.top, box.right, box.bottom),) if box else (),
    )


def _locate(
    raw: dict[str, Any], kind: str, scale: float, boxes: Callable[[int], Bounds | None] | None
) -> tuple[Point | None, Bounds | None, str | None]:
    """Return the position of an action, the box of its element, and the space of the source's coordinates."""
    at = _point(raw.get("x"), raw.get("y")) or _point(raw.get("start_x"), raw.get("start_y"), raw.get("touch_start"))
    if at is not None:
        return _scale_point(at, scale), None, "px"
    index = as_coordinate(raw.get("index"))
    if index is None or kind not in _PLACED:
        return None, None, None
    box = boxes(int(index)) if boxes is not None and index >= 0 else None
    return (box.center if box else None), box, "index"


def _point(x: Any, y: Any, pair: Any = None) -> Point | None:
    if isinstance(pair, list) and len(pair) == 2 and x is None:
        x, y = pair
    return point(x, y)


def _scale_point(at: Point | None, scale: float) -> Point | None:
    return None if at is None else pixel(at[0] * scale, at[1] * scale)


def parse_action(output: Any) -> dict[str, Any] | None:
    """Return the action in a model's output, given as `Action: {...}` or as JSON only, or None if there is none."""
    if not isinstance(output, str):
        return None
    match = _ACTION.search(output)
    start = match.end() if match else output.find("{") if output.lstrip().startswith(("{", "`")) else -1
    if start < 0:
        return None
    try:
        # The output may go on after the action, so only the first value is decoded.
        value, _ = json.JSONDecoder().raw_decode(output[start : start + 100_000])
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and "action_type" in value else None


def reason_in(output: Any) -> str:
    """Return the reasoning in a model's output, between `Reason:` and the action, empty if there is none."""
    if not isinstance(output, str) or (match := _REASON.search(output)) is None:
        return ""
    then = _NEXT_ACTION.search(output, match.end())
    return output[match.end() : then.start() if then else None].strip()


def tree_of(elements: list[Any], screen: Point | None, scale: float = 1) -> UiTree:
    """Return elements as sibling nodes in their order, so that an index stays valid."""
    return UiTree(tuple(_node(fields_of(element) or {}, screen, scale) for element in elements))


def unplaced_fields(elements: list[Any]) -> dict[str, dict[str, Any]]:
    """Return fields for which a node has no place, by the element's index, without empty ones."""
    more_fields = {}
    for i, element in enumerate(elements):
        fields = fields_of(element) or {}
        others = {name: fields[name] for name in _UNPLACED if fields.get(name)}
        if fields.get("is_visible") is False:
            others["is_visible"] = False
        if others:
            more_fields[str(i)] = others
    return more_fields


def _node(fields: dict[Any, Any], screen: Point | None, scale: float) -> Node:
    flags: dict[str, Any] = {flag: fields.get(f"is_{flag}") is True for flag in _FLAGS}
    return Node(
        bounds=_bounds(fields, screen, scale),
        text=_escaped_text(fields.get("text")),
        desc=_escaped_text(fields.get("content_description")),
        id=_escaped_text(fields.get("resource_name")) or _escaped_text(fields.get("resource_id")),
        cls=_escaped_text(fields.get("class_name")) or "android.view.View",
        package=_escaped_text(fields.get("package_name")),
        enabled=fields.get("is_enabled") is not False,
        **flags,
    )


def _escaped_text(value: Any) -> str:
    return escape_surrogates(value) if isinstance(value, str) else ""


def _bounds(fields: dict[Any, Any], screen: Point | None, scale: float) -> Bounds:
    """Return the box in pixels of the observed screen, from the pixel box or else from the normalized one."""
    for name, across, down in (("bbox_pixels", 1.0, 1.0), ("bbox", *(screen or (0.0, 0.0)))):
        box = fields_of(fields.get(name)) or {}
        corners = [as_coordinate(box.get(side)) for side in ("x_min", "y_min", "x_max", "y_max")]
        if None in corners:
            continue
        left, top, right, bottom = (side or 0 for side in corners)
        first = pixel(left * across * scale, top * down * scale)
        last = pixel(right * across * scale, bottom * down * scale)
        if first and last:
            return Bounds(*first, *last)
    return Bounds(0, 0, 0, 0)
