"""AndroidLab's `parsed_action` as hitlab's.

An element is a box or a point in pixels. If the model uses its own space (0 to 999, or 0 to 1), later versions store
the pixels as well (`relative_element`, `origin_element`). A swipe names the finger's direction and is as long as in the
controller's `swipe`. Type presses Enter after the text. Source: `page_executor` and `utils_mobile/and_controller.py`.
"""

from __future__ import annotations

from typing import Any

from lab.core.step import Action, ActionKind, Direction, Point
from store.formats.geometry import Box, as_coordinate, box, centre, direction, point
from store.formats.values import as_str

_KINDS: dict[str, ActionKind] = {
    "tap": "click", "click": "click", "type": "input_text", "swipe": "swipe", "long press": "long_press",
    "double tap": "double_tap", "press enter": "keyboard_enter", "enter": "keyboard_enter",
    "press home": "navigate_home", "home": "navigate_home", "press back": "navigate_back", "back": "navigate_back",
    "wait": "wait", "launch": "open_app",
}  # fmt: skip
_PIXELS = ("relative_element", "origin_element")
_REACH = {"long": 3, "medium": 2}
_STEP: dict[Direction, Point] = {"up": (0, -2), "down": (0, 2), "left": (-1, 0), "right": (1, 0)}
"""Movement of a swipe in tenths of the screen's width, before its reach."""


def action_of(raw: Any, size: Point | None) -> Action:
    """Return a parsed action as hitlab's. `size` is the screen's."""
    if not isinstance(raw, dict):
        return Action("other", raw=raw)
    name = as_str(raw.get("action") or raw.get("type")) or ""
    kwargs = raw.get("kwargs")
    args: dict[str, Any] = kwargs if isinstance(kwargs, dict) else {}
    if "finish" in (name.lower(), raw.get("operation")):
        message = as_str(args.get("message", raw.get("input")))
        if message:
            return Action("answer", text=message, raw=raw)
        return Action("status", status="complete", raw=raw)
    kind = _KINDS.get(name.strip().lower().replace("_", " "), "other")
    target, at, space = _target(args, size)
    way = direction(args.get("direction")) if kind == "swipe" else None
    vector = _vector(way, args.get("dist", "medium"), size) if way else None
    if kind == "swipe" and at is None and size:
        at = size[0] // 2, size[1] // 2
    return Action(
        kind=kind,
        at=at,
        to=(at[0] + vector[0], at[1] + vector[1]) if at and vector else None,
        text=as_str(args.get("text") or args.get("instruction")) if kind in ("input_text", "other") else None,
        direction=way,
        vector=vector,
        app=as_str(args.get("app") or args.get("package")) if kind == "open_app" else None,
        raw=raw,
        space=space,
        boxes=(target,) if target and kind != "swipe" else (),
    )


def _target(args: dict[str, Any], size: Point | None) -> tuple[Box | None, Point | None, str | None]:
    """Return the box, the point, and the space in which the model wrote them."""
    element = args.get("element")
    pixels = next((args[name] for name in _PIXELS if isinstance(args.get(name), list)), None)
    place = element if isinstance(element, list) else pixels
    if place is None or len(place) not in (2, 4):
        return None, None, None
    small = all((amount := as_coordinate(value)) is not None and 0 <= amount <= 1 for value in place)
    whole = 1.0 if small and pixels is None else None
    use = place if pixels is None or len(pixels) != len(place) else pixels
    space = "0-1" if small else "0-1000" if pixels is not None and pixels != place else None
    if len(use) == 2:
        return None, point(use[0], use[1], size, whole), space or "px"
    target = box(use, size, whole)
    return target, centre(target) if target else None, space or "box"


def _vector(way: Direction, dist: Any, size: Point | None) -> Point | None:
    """Return the finger's movement: a tenth of the width, twice that vertically, times the reach."""
    if size is None:
        return None
    unit = size[0] // 10
    if isinstance(dist, str):
        unit *= _REACH.get(dist, 1)
    elif isinstance(dist, int) and abs(dist) < 100_000:
        unit = dist
    return _STEP[way][0] * unit, _STEP[way][1] * unit
