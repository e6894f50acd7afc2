"""DAC-Bench's actions: read in any known spelling, written in one.

The paper (2.4, Table 6, Fig. 6) names Click, Scroll, Type, Navigate to Home, Navigate to Previous Page, Long Press,
Complete, Wait and Impossible, and shows `click`, `type` and `scroll` with `location` (the target's box in pixels),
`text` and `orientation`. What these cannot express of a hitlab action is written beside them under `hitlab`.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from lab.core.run.step import Action, ActionKind, Direction, Point
from store.formats.geometry import (
    Box,
    as_coordinate,
    box,
    centre,
    direction,
    main_direction,
    opposite,
    pixel,
    point,
    swipe_vector,
)
from store.formats.hitlab_fields import HITLAB_KEY, missing_fields, with_hitlab_fields
from store.formats.values import literal, words

_KINDS: dict[str, ActionKind] = {
    "click": "click", "tap": "click", "singletap": "click", "singleclick": "click", "clickelement": "click",
    "doubletap": "double_tap", "doubleclick": "double_tap",
    "longpress": "long_press", "longclick": "long_press", "longtap": "long_press", "presshold": "long_press",
    "type": "input_text", "typetext": "input_text", "input": "input_text", "inputtext": "input_text",
    "text": "input_text", "settext": "input_text",
    "scroll": "scroll", "swipe": "swipe", "drag": "drag",
    "navigatehome": "navigate_home", "navigatetohome": "navigate_home", "home": "navigate_home",
    "presshome": "navigate_home", "gohome": "navigate_home", "homepage": "navigate_home", "keyhome": "navigate_home",
    "navigateback": "navigate_back", "navigatetoback": "navigate_back", "back": "navigate_back",
    "pressback": "navigate_back", "goback": "navigate_back", "keyback": "navigate_back",
    "navigateprevious": "navigate_back", "navigatetoprevious": "navigate_back",
    "navigatepreviouspage": "navigate_back", "navigatetopreviouspage": "navigate_back",
    "previouspage": "navigate_back", "previous": "navigate_back",
    "enter": "keyboard_enter", "pressenter": "keyboard_enter", "keyboardenter": "keyboard_enter",
    "recent": "press_recent", "pressrecent": "press_recent",
    "openapp": "open_app", "open": "open_app", "launch": "open_app",
    "wait": "wait", "answer": "answer",
}  # fmt: skip
_COMPLETE = frozenset(
    {"complete", "completed", "finish", "finished", "done", "stop", "success", "taskcomplete", "statustaskcomplete"}
)
_INFEASIBLE = frozenset({"impossible", "infeasible", "incomplete", "fail", "failed", "statustaskimpossible"})
_PRESS = frozenset({"press", "presskey", "pressbutton", "key", "button", "systembutton", "navigate", "navigateto"})
_STATUS = frozenset({"status", "stop", "terminate", "finish", "finished"})

_TYPE = ("action_type", "type", "action", "name", "actionType")
_PLACE = ("location", "bbox", "box", "bounds", "coordinates", "coordinate", "point", "position")
_TEXT = ("text", "value", "content", "input_text", "input", "reason", "key", "button", "status")
_WAY = ("orientation", "direction")
_APP = ("app", "app_name")

_SPELLINGS: dict[ActionKind, str] = {
    "click": "click", "double_tap": "click", "long_press": "long_press", "drag": "scroll", "swipe": "scroll",
    "scroll": "scroll", "input_text": "type", "keyboard_enter": "type", "navigate_home": "navigate_to_home",
    "press_recent": "navigate_to_home", "navigate_back": "navigate_to_previous_page", "wait": "wait",
    "open_app": "wait", "other": "wait", "answer": "complete", "status": "complete",
}  # fmt: skip
"""Spelling of each action kind. Kinds that the format lacks use the nearest word."""


class CoordinateFrame(NamedTuple):
    """Screen size that coordinates refer to (`stated`, None: the picture's), and the picture's own (None: unknown)."""

    stated: Point | None
    observed: Point | None

    @property
    def scaled(self) -> bool:
        """Return True if the picture is the stated screen in another size, and not rotated."""
        if not self.stated or not self.observed or self.stated == self.observed:
            return False
        # Equal ratios of width to height, within 3 percent.
        return (
            abs(self.stated[0] * self.observed[1] - self.stated[1] * self.observed[0])
            < 0.03 * self.stated[0] * self.observed[1]
        )

    def pixel(self, at: Point) -> Point:
        """Return a stated position as a pixel of the picture."""
        if not self.scaled or not self.stated or not self.observed:
            return at
        there = at[0] * self.observed[0] / self.stated[0], at[1] * self.observed[1] / self.stated[1]
        return pixel(*there) or at


def normalized_word(value: Any) -> str:
    """Return a word in lower case without spaces and signs."""
    return re.sub(r"[^a-z]", "", words(value).lower())


def is_action(value: Any) -> bool:
    """Return True if a value looks like an action."""
    return isinstance(value, str) or (isinstance(value, dict) and any(key in value for key in _TYPE))


def action_of(raw: Any, frame: CoordinateFrame) -> Action:
    """Return a source action as hitlab's. Unknown or missing types become `other`."""
    fields = raw if isinstance(raw, dict) else {"action_type": raw}
    spelling = next((name for key in _TYPE if (name := normalized_word(fields.get(key)))), "")
    text = next((words(fields[key]) for key in _TEXT if words(fields.get(key))), None)
    if (
        spelling in _PRESS | _STATUS
        and text is not None
        and (normalized_word(text) in _KINDS or _status(normalized_word(text)))
    ):
        spelling, text = normalized_word(text), None
    status, kind = _status(spelling), _KINDS.get(spelling, "other")
    boxes, at = _read_boxes(next((fields[key] for key in _PLACE if fields.get(key) is not None), None), frame)
    way = next((way_name for key in _WAY if (way_name := direction(fields.get(key)))), None)
    action = Action(
        kind="status" if status else kind,
        at=at,
        text=words(fields.get("text")) if kind == "input_text" and "text" in fields else text,
        direction=way,
        vector=_vector(kind, way, frame),
        app=next((words(fields[key]) for key in _APP if words(fields.get(key))), None) if kind == "open_app" else None,
        status=status,
        raw=raw,
        space="box" if boxes else "px",
        boxes=boxes,
    )
    return with_hitlab_fields(action, fields.get(HITLAB_KEY))


def _status(word: str) -> Any:
    return "complete" if word in _COMPLETE else "infeasible" if word in _INFEASIBLE else None


def _vector(kind: ActionKind, way: Direction | None, frame: CoordinateFrame) -> Point | None:
    """Return the finger's movement: opposite to the direction of a scroll, along that of a swipe."""
    return swipe_vector(kind, way, frame.observed or frame.stated)


def _read_boxes(places: Any, frame: CoordinateFrame) -> tuple[tuple[Box, ...], Point | None]:
    """Return the boxes in any spelling (one, several, a point), and the centre of the first."""
    value = literal(places)
    if isinstance(value, dict):
        keys = (("x1", "y1", "x2", "y2"), ("left", "top", "right", "bottom"), ("x", "y"))
        value = next(([value[key] for key in names] for names in keys if all(key in value for key in names)), None)
    if not isinstance(value, list):
        return (), None
    if len(value) == 2 and all(isinstance(item, list) and len(item) == 2 for item in value):
        value = [*value[0], *value[1]]
    several = value if value and all(isinstance(item, list) for item in value) else [value]
    boxes = tuple(one_box for item in several if (one_box := _read_box(item, frame)) is not None)
    if boxes:
        return boxes, centre(boxes[0])
    first = several[0]
    at = point(first[0], first[1]) if len(first) == 2 else None
    return (), frame.pixel(at) if at else None


def _read_box(value: Any, frame: CoordinateFrame) -> Box | None:
    shares = [as_coordinate(side) for side in value]
    # (0, 0, 1, 1) as integers is a box of pixels.
    if any(isinstance(side, float) for side in value) and all(
        share is not None and 0 <= share <= 1 for share in shares
    ):
        return box(value, frame.observed or frame.stated, 1)
    corners = box(value)
    return (*frame.pixel(corners[:2]), *frame.pixel(corners[2:])) if corners else None


def written_action(action: Action, boxes: tuple[Box, ...], frame: CoordinateFrame) -> dict[str, Any]:
    """Return an action in the format's words, such that reading it gives the same. `boxes` are a touch's targets."""
    fields: dict[str, Any] = {"action_type": "impossible" if action.status == "infeasible" else _SPELLINGS[action.kind]}
    touches = action.kind in ("click", "double_tap", "long_press")
    if touches and boxes:
        fields["location"] = list(boxes[0]) if len(boxes) == 1 else [list(target_box) for target_box in boxes]
    way = _content_direction(action)
    if fields["action_type"] == "scroll" and way is not None:
        fields["orientation"] = way
    if action.kind in ("input_text", "keyboard_enter"):
        fields["text"] = action.text or "" if action.kind == "input_text" else "\n"
    if action.status == "infeasible" and action.text:
        fields["reason"] = action.text
    other = missing_fields(action, action_of(fields, frame), ("boxes",) if touches else ())
    return {**fields, HITLAB_KEY: other} if other else fields


def _content_direction(action: Action) -> Direction | None:
    """Return the direction in which the content moves."""
    if action.kind == "scroll" and action.direction is not None:
        return action.direction
    finger_way = main_direction(action.vector) if action.vector else action.direction
    return opposite(finger_way) if finger_way else None
