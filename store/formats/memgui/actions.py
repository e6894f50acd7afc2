"""MemGUI-Bench's and SPA-Bench's actions as hitlab's: AndroidWorld's names, and those of SPA-Bench's other agents.

Source: `framework/models/AndroidWorld/benchmark_run.py` of MemGUI-Bench, the task executors of SPA-Bench. A step's
`action` is what was performed, with pixels or a sentence. `raw_action` is the model's output, in its own coordinates. A
scroll names the content's direction, a swipe the finger's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

from lab.core.codec import read_json
from lab.core.errors import LabError
from lab.core.run.step import Action, ActionKind, Direction, Point
from store.formats.geometry import as_coordinate, direction, main_direction, point, swipe_vector, vector_between
from store.formats.values import as_str

_KINDS: dict[str, ActionKind] = {
    "click": "click", "tap": "click", "touch": "click", "left_click": "click", "dual_point": "click",
    "double_tap": "double_tap", "double_click": "double_tap",
    "long_press": "long_press", "longpress": "long_press", "long_click": "long_press", "long_touch": "long_press",
    "drag": "drag", "swipe": "swipe", "scroll": "scroll",
    "input_text": "input_text", "type": "input_text", "text": "input_text", "set_text": "input_text",
    "input": "input_text",
    "navigate_home": "navigate_home", "home": "navigate_home", "press_home": "navigate_home",
    "exit": "navigate_home", "page": "scroll", "click_text": "click", "click_icon": "click",
    "navigate_back": "navigate_back", "back": "navigate_back", "press_back": "navigate_back",
    "keyboard_enter": "keyboard_enter", "enter": "keyboard_enter", "press_enter": "keyboard_enter",
    "open_app": "open_app", "open": "open_app", "launch": "open_app", "start_app": "open_app",
    "wait": "wait", "idle": "wait", "answer": "answer",
    "ask_user": "ask_user", "call_user": "ask_user",
    "press_recent": "press_recent", "app_switch": "press_recent",
    "status": "status", "finish": "status", "finished": "status", "stop": "status",
    "complete": "status", "terminate": "status", "task_complete": "status", "task_completed": "status",
    "status_task_complete": "status", "status_task_impossible": "status",
    "task_impossible": "status", "impossible": "status", "infeasible": "status",
}  # fmt: skip
_UNDONE = ("impossible", "infeasible", "fail")
_PATH = re.compile(r"\((-?[\d.]+),\s*(-?[\d.]+)\)\D{1,20}?\((-?[\d.]+),\s*(-?[\d.]+)\)")
_FROM = re.compile(r"\((-?[\d.]+),\s*(-?[\d.]+)\)")
_AFTER = re.compile(r"[\"(].*", re.S)
_NAMED_APP = re.compile(r"\(([^()]+)\)")
_DIRECTED = ("swipe", "scroll", "page")
_TYPED = re.compile(r'The text "(.*)" has been inputted', re.S)
_ANSWERED = re.compile(r'The answer is "(.*)"\.?\s*$', re.S)
_STARTS = ("coordinate", "coordinate1", "start", "start_point", "start_box", "point")
_ENDS = ("coordinate2", "end", "end_point", "end_box")
_LONGEST = 2000
Status = Literal["complete", "infeasible"]


def action_of(step: dict[str, Any], size: Point | None, space: str | None) -> Action:
    """Return a step's action as hitlab's. `size` is its screen's, `space` the run's (see `space_of`)."""
    name, detail = _performed_action(step.get("action"))
    raw = raw_action_fields(step.get("raw_action"))
    name = name or as_str(raw.get("action_type") or raw.get("action")) or ""
    plain = _plain_name(name)
    base, _, way = plain.rpartition("_")
    kind = _KINDS.get(base if base in _DIRECTED and direction(way) else plain, "other")
    start, end = _end_points(raw, detail, size, space)
    vector = vector_between(start, end)
    heading = direction(raw.get("direction")) or _named_direction(detail) or direction(way)
    if kind == "swipe" and vector:
        heading = main_direction(vector)  # a swipe's own word names the content where it goes left or right
    vector = vector or swipe_vector(kind, heading, size)
    return Action(
        kind=kind,
        at=start,
        to=end,
        text=_action_text(kind, raw, detail),
        direction=heading if kind in ("scroll", "swipe") else None,
        vector=vector,
        app=_app_name(raw, name, detail) if kind == "open_app" else None,
        status=_status(plain, raw, detail) if kind == "status" else None,
        raw=step["raw_action"] if step.get("raw_action") is not None else step.get("action"),
        space=space if raw else "px",
    )


def space_of(steps: Iterable[dict[str, Any]]) -> str | None:
    """Return the space of a run's raw coordinates: `0-1`, `px` or `0-1000`, or None if it cannot be determined."""
    written_px: list[tuple[float, float]] = []
    for step in steps:
        first = next(iter(_written_points(raw_action_fields(step.get("raw_action")))), None)
        if first is None:
            continue
        _, detail = _performed_action(step.get("action"))
        pixel = point(*detail[:2]) if isinstance(detail, list) and len(detail) >= 2 else None
        written_px += [(value, float(px)) for value, px in zip(first, pixel or (-1, -1), strict=True)]
    if not written_px:
        return None
    if all(0 <= value <= 1 for value, _ in written_px):
        return "0-1"
    differences = [abs(value - px) for value, px in written_px if px >= 0]
    if differences and max(differences) <= 1:
        return "px"
    return "0-1000" if all(0 <= value <= 1000 for value, _ in written_px) else None


def raw_action_fields(raw: Any) -> dict[str, Any]:
    """Return the model's own action as a mapping, given as one or as JSON, empty if it is neither."""
    if isinstance(raw, str) and raw.lstrip().startswith("{"):
        try:
            raw = read_json(escape(raw), "raw_action").value
        except LabError:
            return {}
    if not isinstance(raw, dict):
        return {}
    inner = raw.get("arguments")
    return {**raw, **inner} if isinstance(inner, dict) else raw


def escape(text: str) -> bytes:
    """Return text as bytes that decode to the same text."""
    return text.encode("utf-8", "surrogatepass")


def _performed_action(action: Any) -> tuple[str | None, Any]:
    """Return name and detail of `["click", {"detail_type": ..., "detail": ...}]`."""
    if not isinstance(action, list) or not action:
        return (action, None) if isinstance(action, str) else (None, None)
    detail = action[1].get("detail") if len(action) > 1 and isinstance(action[1], dict) else None
    return as_str(action[0]), detail


def _end_points(raw: dict[str, Any], detail: Any, size: Point | None, space: str | None) -> tuple[Point | None, ...]:
    """Return start and end in pixels: of the performed action, else of the model's output."""
    if isinstance(detail, list) and len(detail) >= 2:
        return point(*detail[:2]), point(*detail[2:4]) if len(detail) >= 4 else None
    match = _PATH.search(detail[:_LONGEST]) if isinstance(detail, str) else None
    if match:
        return point(match[1], match[2]), point(match[3], match[4])
    if isinstance(detail, str) and (start := _FROM.search(detail[:_LONGEST])):
        return point(start[1], start[2]), None
    whole = {"0-1": 1.0, "0-1000": 1000.0}.get(space or "")
    pixels = [point(x, y, size, whole) for x, y in _written_points(raw)] if space else []
    return (*pixels, None, None)[:2]


def _written_points(raw: dict[str, Any]) -> Iterable[tuple[float, float]]:
    for names in (_STARTS, _ENDS):
        pair = next((raw[name] for name in names if isinstance(raw.get(name), list)), None)
        if pair is None and names is _STARTS:
            pair = [raw.get("x"), raw.get("y")]
        if pair is None or len(pair) < 2:
            continue
        x, y = as_coordinate(pair[0]), as_coordinate(pair[1])
        if x is not None and y is not None:
            yield x, y


def _action_text(kind: str, raw: dict[str, Any], detail: Any) -> str | None:
    if kind not in ("input_text", "answer", "ask_user", "other"):
        return None
    text = as_str(raw.get("text"))
    if text is None and isinstance(detail, str) and kind in ("input_text", "answer"):
        match = (_TYPED if kind == "input_text" else _ANSWERED).search(detail)
        return match[1] if match else detail
    if text is None and kind == "other" and isinstance(detail, str) and detail:
        return detail
    return text


def _named_direction(detail: Any) -> Direction | None:
    if not isinstance(detail, str):
        return None
    match = re.search(r"\b(up|down|left|right)\b", detail[:_LONGEST], re.I)
    return direction(match[1]) if match else None


def _app_name(raw: dict[str, Any], name: str, detail: Any) -> str | None:
    match = _NAMED_APP.search(name[:_LONGEST])
    if match:
        return match[1]
    return as_str(raw.get("app_name")) or as_str(raw.get("app")) or (detail if isinstance(detail, str) else None)


def _status(plain: str, raw: dict[str, Any], detail: Any) -> Status:
    status = as_str(raw.get("goal_status") or raw.get("status")) or (detail if isinstance(detail, str) else "")
    return "infeasible" if any(word in f"{plain} {status}".lower() for word in _UNDONE) else "complete"


def _plain_name(name: str) -> str:
    """Return a name without an argument that some agents append: `click text "Go"`, `Open app "(Clock)"`."""
    return re.sub(r"[\s-]+", "_", _AFTER.sub("", name[:_LONGEST]).strip().lower())
