"""droidrun's tool calls and macro actions as hitlab's.

Pixels come from the macro, else from the element or the call. A swipe without movement is a long press. Keys are
Android key codes. Source: `agent/utils/actions.py`, `tools/driver/recording.py` of droidrun (now mobilerun).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lab.core.run.step import Action, ActionKind, Point
from store.formats.droidrun.calls import DroidrunCall
from store.formats.droidrun.macro import kind_of
from store.formats.droidrun.screens import box_of
from store.formats.geometry import Box, as_coordinate, centre, main_direction, point, vector_between
from store.formats.values import as_str

_KINDS: dict[str, ActionKind] = {
    "click": "click", "tap": "click", "tap_by_index": "click", "tap_on_index": "click",
    "tap_by_coordinates": "click", "click_at": "click", "click_area": "click", "double_tap": "double_tap",
    "long_press": "long_press", "long_press_at": "long_press",
    "type": "input_text", "type_text": "input_text", "type_text_direct": "input_text", "input_text": "input_text",
    "type_secret": "input_text",
    "swipe": "swipe", "drag": "drag", "open_app": "open_app", "start_app": "open_app", "launch_app": "open_app",
    "wait": "wait", "sleep": "wait", "complete": "status",
    "back": "navigate_back", "press_back": "navigate_back", "home": "navigate_home", "press_home": "navigate_home",
}  # fmt: skip
_PRESSES = frozenset({"system_button", "press_button", "button_press", "press_key", "key_press"})
_KEYS: dict[str, ActionKind] = {
    "home": "navigate_home", "3": "navigate_home", "back": "navigate_back", "4": "navigate_back",
    "enter": "keyboard_enter", "66": "keyboard_enter", "recent": "press_recent", "recents": "press_recent",
    "app_switch": "press_recent", "187": "press_recent",
}  # fmt: skip


def action_of(call: DroidrunCall, macro: Sequence[dict[str, Any]], boxes: dict[int, Box]) -> Action:
    """Return a call as an action. `macro` are the actions it made on the phone, `boxes` the elements by number."""
    args = call.args
    kind = _kind(call.name, args)
    index = args.get("index")
    target = boxes.get(index) if isinstance(index, int) else None
    touch = next((action for action in macro if "x" in action or "start_x" in action), {})
    target = box_of(touch.get("element_bounds")) or target
    at, to = _end_points(touch)
    if at is None:
        at, to = _call_points(args)
    if at is None and target is not None and kind in ("click", "double_tap", "long_press", "input_text"):
        at = centre(target)
    moves = kind in ("swipe", "drag")
    vector = vector_between(at, to) if moves else None
    app = next((action.get("package") for action in macro if action.get("package")), None) or args.get("package")
    return Action(
        kind=kind,
        at=at,
        to=to if moves else None,
        text=_text(kind, args, macro),
        direction=main_direction(vector) if vector and kind == "swipe" else None,
        vector=vector,
        app=as_str(args.get("text") or app) if kind == "open_app" else None,
        status=("complete" if args.get("success", True) is not False else "infeasible") if kind == "status" else None,
        ms=_duration_ms(touch) if touch else _duration_ms(args),
        raw=call.raw,
        space="index" if index is not None and index != -1 else "px" if at else None,
        boxes=(target,) if target is not None and kind in ("click", "double_tap", "long_press", "input_text") else (),
    )


def unmatched_action(action: dict[str, Any]) -> Action:
    """Return a macro's action that belongs to no known call."""
    name = kind_of(action)
    # droidrun performs a long press as a swipe without movement.
    if name in ("swipe", "drag") and _is_still(action):
        name = "long_press"
    call = DroidrunCall(name, {key: value for key, value in action.items() if key != "action_type"})
    done_action = action_of(call, [action], {})
    return Action(
        kind=done_action.kind,
        at=done_action.at,
        to=done_action.to,
        text=done_action.text,
        direction=done_action.direction,
        vector=done_action.vector,
        app=as_str(action.get("package")),
        ms=done_action.ms,
        raw=action,
        space="px",
        boxes=done_action.boxes,
    )


def _kind(name: str, args: dict[str, Any]) -> ActionKind:
    if name in _PRESSES:
        key = args.get("button", args.get("keycode", args.get("key")))
        key_name = str(key).strip().lower().removeprefix("keycode_")
        return _KEYS.get(key_name, "other")
    return _KINDS.get(name, "other")


def _end_points(action: dict[str, Any]) -> tuple[Point | None, Point | None]:
    if "start_x" in action:
        return point(action.get("start_x"), action.get("start_y")), point(action.get("end_x"), action.get("end_y"))
    return point(action.get("x"), action.get("y")), None


def _call_points(args: dict[str, Any]) -> tuple[Point | None, Point | None]:
    """Return the start and end point in the call's own arguments."""
    first, second = args.get("coordinate"), args.get("coordinate2")
    if isinstance(first, list) and len(first) == 2:
        return point(*first), point(*second) if isinstance(second, list) and len(second) == 2 else None
    area = box_of([args.get(side) for side in ("x1", "y1", "x2", "y2")])
    return (centre(area), None) if area else _end_points(args)


def _is_still(action: dict[str, Any]) -> bool:
    at, to = _end_points(action)
    return at is not None and at == to


def _text(kind: str, args: dict[str, Any], macro: Sequence[dict[str, Any]]) -> str | None:
    if kind == "input_text":
        macro_text = next((action.get("text") for action in macro if kind_of(action) == "input_text"), None)
        return as_str(args.get("text")) or as_str(macro_text)
    if kind == "status":
        return as_str(args.get("reason", args.get("message")))
    return as_str(args.get("information", args.get("code"))) if kind == "other" else None


def _duration_ms(value: dict[str, Any]) -> int | None:
    duration = as_coordinate(value.get("duration_ms"))
    if duration is None:
        seconds = as_coordinate(value.get("duration"))
        duration = None if seconds is None else seconds * 1000
    return round(duration) if duration is not None and 0 <= duration < 2**53 else None
