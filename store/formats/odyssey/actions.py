"""GUI-Odyssey's actions as hitlab's. Its coordinates range from 0 to 1000 over the screenshot.

Depending on the action, `info` is a list of points, the name of a key, or a text. Older annotations spell some of it
differently. Source: `data/format_converter.py` and `src/eval_mm` of OpenGVLab/GUI-Odyssey.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from lab.core.step import Action, ActionKind, Point
from store.formats.geometry import Box, box, direction, finger_vector, main_direction, point, vector_between
from store.formats.values import numbers, words

SPACE = "0-1000"
_WHOLE = 1000
_KEYS: dict[str, ActionKind] = {
    "HOME": "navigate_home",
    "BACK": "navigate_back",
    "APPSELECT": "press_recent",
    "RECENT": "press_recent",
    "ENTER": "keyboard_enter",
}
_POINTED: dict[str, ActionKind] = {"CLICK": "click", "TAP": "click", "LONG_PRESS": "long_press"}
_ENDS: dict[str, Literal["complete", "infeasible"]] = {
    "COMPLETE": "complete",
    "INCOMPLETE": "infeasible",
    "IMPOSSIBLE": "infeasible",
}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def action_of(step: dict[str, Any], size: Point | None) -> Action:
    """Return a step's action. Unknown ones become `other`.

    `size` is the screenshot's. Without it positions are None.
    """
    raw: dict[str, Any] = {key: step[key] for key in ("action", "info", "ps", "sam2_bbox") if key in step}
    name = re.sub(r"[\s-]+", "_", words(step.get("action")).strip().upper())
    info = step.get("info")
    if (key := _key_action(name) or (_key_action(words(info)) if name in _POINTED else None)) is not None:
        return Action(key, raw=raw, space=SPACE)
    if name in _POINTED:
        return _touch(_POINTED[name], step, size, raw)
    if name in ("SCROLL", "SWIPE"):
        return _swipe(info, size, raw)
    if name in ("TEXT", "TYPE"):
        return Action("input_text", text=words(info), raw=raw, space=SPACE)
    if name in _ENDS:
        why = words(step.get("ps")).strip() or words(info).strip()
        return Action("status", status=_ENDS[name], text=why or None, raw=raw, space=SPACE)
    return Action("wait" if name == "WAIT" else "other", text=words(info) or None, raw=raw, space=SPACE)


def _key_action(name: str) -> ActionKind | None:
    """Return the action of a key named KEY_HOME, PRESS_HOME or HOME, or None if it is not a key."""
    return _KEYS.get(re.sub(r"^(KEY|PRESS)_", "", name.strip().upper()))


def _touch(kind: ActionKind, step: dict[str, Any], size: Point | None, raw: dict[str, Any]) -> Action:
    points = _points(step.get("info"), size)
    target = target_of(step, size)
    return Action(kind, at=points[0] if points else None, raw=raw, space=SPACE, boxes=(target,) if target else ())


def _swipe(info: Any, size: Point | None, raw: dict[str, Any]) -> Action:
    """Return a swipe. In this format `SCROLL: UP` names the finger's direction."""
    points = _points(info, size)
    if len(points) < 2:
        way = direction(info)
        return Action("swipe", direction=way, vector=finger_vector(way, size) if way else None, raw=raw, space=SPACE)
    at, to = points[0], points[-1]
    vector = vector_between(at, to)
    way = main_direction(vector) if vector else None
    return Action("swipe", at=at, to=to, direction=way, vector=vector, raw=raw, space=SPACE)


def target_of(step: dict[str, Any], size: Point | None) -> Box | None:
    """Return the box of the touched element, or None if it is not recorded."""
    return box(numbers(step.get("sam2_bbox")), size, _WHOLE)


def _points(info: Any, size: Point | None) -> list[Point]:
    """Return points in pixels from a list of pairs, one pair, or a text of either."""
    values = numbers(info)
    if not values and isinstance(info, str):
        values = [float(matches) for matches in _NUMBER.findall(info)]
    if values and not isinstance(values[0], list):
        values = [values[i : i + 2] for i in range(0, len(values) - 1, 2)]
    pairs = [pair for pair in values if isinstance(pair, list) and len(pair) == 2]
    matches = [point(x, y, size, _WHOLE) for x, y in pairs]
    return [at for at in matches if at is not None]
