"""Actions of the `mobile_use` tool (Qwen's, MAI-UI's, GUI-Owl's) as hitlab's.

Coordinates range from 0 to 1000 over the picture, unless a run's own numbers show otherwise. A swipe names the finger's
direction, a scroll the content's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

from lab.core.step import Action, ActionKind, Point
from store.formats.geometry import (
    Box,
    as_coordinate,
    box,
    centre,
    direction,
    main_direction,
    point,
    swipe_vector,
    vector_between,
)
from store.formats.values import as_text

Space = Literal["0-1000", "0-1", "px"]
_WHOLE: dict[str, float | None] = {"0-1000": 1000, "0-1": 1, "px": None}

_KINDS: dict[str, ActionKind] = {
    "open": "open_app",
    "open_app": "open_app",
    "launch": "open_app",
    "click": "click",
    "tap": "click",
    "left_click": "click",
    "double_click": "double_tap",
    "double_tap": "double_tap",
    "left_double": "double_tap",
    "long_press": "long_press",
    "long_click": "long_press",
    "type": "input_text",
    "input_text": "input_text",
    "swipe": "swipe",
    "scroll": "scroll",
    "drag": "drag",
    "wait": "wait",
    "answer": "answer",
    "interact": "ask_user",
    "ask_user": "ask_user",
    "call_user": "ask_user",
    "terminate": "status",
    "status": "status",
    "complete": "status",
    "finished": "status",
    "finish": "status",
    "done": "status",
    "fail": "status",
    "infeasible": "status",
    "press_home": "navigate_home",
    "navigate_home": "navigate_home",
    "press_back": "navigate_back",
    "navigate_back": "navigate_back",
    "keyboard_enter": "keyboard_enter",
}
_BUTTONS: dict[str, ActionKind] = {
    "back": "navigate_back",
    "home": "navigate_home",
    "enter": "keyboard_enter",
    "recent": "press_recent",
    "recents": "press_recent",
    "app_switch": "press_recent",
}
_FAILED = frozenset({"fail", "failed", "failure", "infeasible", "impossible"})
_PLACES = ("coordinate", "start_coordinate", "point", "start")
_ENDS = ("coordinate2", "end_coordinate", "end")
_APPS = ("app_name", "app", "package")
_TEXTS = ("text", "value", "content", "message", "summary", "question")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def space_of(calls: Iterable[dict[str, Any]]) -> Space:
    """Return the space of a run's coordinates: pixels if any exceeds 1000, shares if they are fractions up to 1."""
    numbers = [n for call in calls for name in (*_PLACES, *_ENDS) for n in _coordinates(call.get(name))]
    if any(n > 1000 for n in numbers):
        return "px"
    return "0-1" if any(n % 1 for n in numbers) and all(n <= 1 for n in numbers) else "0-1000"


def action_of(call: dict[str, Any], size: Point | None, space: Space, raw: Any = None) -> Action:
    """Return a call's arguments as an action. Unknown ones become `other`. `raw` is stored with it."""
    name = str(call.get("action", "")).strip().lower().replace(" ", "_")
    kind = _KINDS.get(name, "other")
    if name in ("system_button", "key"):
        button = str(call.get("button") or call.get("text") or "").strip().lower().removeprefix("keycode_")
        kind = _BUTTONS.get(button.replace(" ", "_"), "other")
    start, target = _locate(call, _PLACES, size, space)
    end, _ = _locate(call, _ENDS, size, space)
    way = direction(call.get("direction"))
    vector = vector_between(start, end)
    vector = vector or swipe_vector(kind, way, size)
    if kind == "swipe" and way is None and vector is not None:
        way = main_direction(vector)
    text = next((str(call[key]) for key in _TEXTS if isinstance(call.get(key), str | int | float)), None)
    if name == "system_button" and kind == "other" and call.get("button"):
        text = str(call["button"])
    return Action(
        kind=kind,
        at=start,
        to=end,
        text=None if kind == "open_app" else text,
        direction=way,
        vector=vector,
        app=text or next((as_text(call.get(key)) for key in _APPS if call.get(key)), None)
        if kind == "open_app"
        else None,
        status=_status(name, call.get("status")) if kind == "status" else None,
        ms=_milliseconds(call.get("time", call.get("duration"))) if kind in ("wait", "long_press") else None,
        raw=call if raw is None else raw,
        space=space if any(_coordinates(call.get(key)) for key in (*_PLACES, *_ENDS)) else None,
        boxes=(target,) if target else (),
    )


def scaled_call(call: dict[str, Any], stated_point: Point | None, size: Point | None) -> dict[str, Any]:
    """Return a call with coordinates converted to the picture's pixels, if they refer to a screen of another size."""
    if stated_point is None or size is None or stated_point == size:
        return call
    shares = size[0] / stated_point[0], size[1] / stated_point[1]
    return {
        key: [n * shares[i % 2] for i, n in enumerate(numbers)]
        if key in (*_PLACES, *_ENDS) and (numbers := _coordinates(value))
        else value
        for key, value in call.items()
    }


def _status(name: str, status: Any) -> Literal["complete", "infeasible"]:
    first = status[0] if isinstance(status, list) and status else status
    return "infeasible" if {name, str(first).strip().lower()} & _FAILED else "complete"


def _milliseconds(seconds: Any) -> int | None:
    amount = as_coordinate(seconds)
    return None if amount is None or not 0 <= amount <= 2**20 else round(amount * 1000)


def _coordinates(value: Any) -> list[float]:
    """Return the coordinates in a list, or in text such as `(500, 300)`."""
    parts = _NUMBER.findall(value[:200]) if isinstance(value, str) else value if isinstance(value, list) else []
    amounts = [as_coordinate(part) for part in parts]
    return [n for n in amounts if n is not None] if len(parts) in (2, 4) and None not in amounts else []


def _locate(
    call: dict[str, Any], names: tuple[str, ...], size: Point | None, space: Space
) -> tuple[Point | None, Box | None]:
    """Return the pixel that a call names, and its box if it names one."""
    whole = _WHOLE[space]
    for name in names:
        numbers = _coordinates(call.get(name))
        if len(numbers) == 2:
            return point(numbers[0], numbers[1], size, whole), None
        if len(numbers) == 4 and (target := box(numbers, size, whole)):
            return centre(target), target
    return None, None
