"""Calls of Inspect's computer tool as hitlab's actions. Calls of other tools become `other` with the tool's name.

Source: `src/inspect_ai/tool/_tools/_computer/_computer.py`. Pixels refer to the screenshots that the tool returns. A
click without a position, as in older versions, is at the mouse's last position.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lab.core.step import Action, Point
from store.formats.geometry import as_coordinate, direction, point, swipe_vector, vector_between
from store.formats.values import as_mapping, as_str

_SPLIT = "computer_"
_ENTER = frozenset({"return", "enter", "kp_enter"})
_MOST_SECONDS = 10**6


class Mouse:
    """Position of the mouse after the calls so far."""

    at: Point | None = None


def actions_of(function: str, arguments: Any, raw: Any, mouse: Mouse, size: Point | None) -> Iterator[Action]:
    """Yield the actions of one tool call: one, or all that a computer call lists."""
    fields = as_mapping(arguments)
    if function == "submit":
        yield Action("answer", text=_text(fields.get("answer", fields.get("value"))), raw=raw)
        return
    action_list = fields.get("actions")
    if function == "computer" and isinstance(action_list, list) and action_list:
        for entry in action_list:
            entry_fields = as_mapping(entry)
            yield _computer(str(entry_fields.get("action", entry_fields.get("type"))), entry_fields, entry, mouse, size)
        return
    if function == "computer":
        yield _computer(str(fields.get("action")), fields, raw, mouse, size)
    elif function.startswith(_SPLIT):
        yield _computer(function.removeprefix(_SPLIT), fields, raw, mouse, size)
    else:
        yield Action("other", text=function, raw=raw)


def _computer(name: str, fields: dict[str, Any], raw: Any, mouse: Mouse, size: Point | None) -> Action:
    at = _point(fields.get("coordinate"))
    text = _text(fields.get("text", fields.get("keys")))
    if name == "left_click_drag":
        start = _point(fields.get("start_coordinate")) or mouse.at
        mouse.at = at or mouse.at
        vector = vector_between(start, at)
        return Action("drag", at=start, to=at, vector=vector, raw=raw, space="px")
    if at is not None:
        mouse.at = at
    if name in ("left_click", "click", "double_click"):
        return Action("double_tap" if name == "double_click" else "click", at=mouse.at, raw=raw, space="px")
    if name == "type":
        return Action("input_text", text=text or "", raw=raw, space="px")
    if name == "key" and text is not None and text.strip().lower() in _ENTER:
        return Action("keyboard_enter", raw=raw, space="px")
    if name == "wait":
        return Action("wait", ms=_milliseconds(fields.get("duration", fields.get("time"))), raw=raw, space="px")
    if name == "scroll":
        way = direction(fields.get("scroll_direction", fields.get("direction")))
        vector = swipe_vector("scroll", way, size)
        return Action("scroll", at=mouse.at, direction=way, vector=vector, raw=raw, space="px")
    if name in ("key", "hold_key"):
        return Action(
            "other", text=f"{name} {text or ''}".strip(), ms=_milliseconds(fields.get("duration")), raw=raw, space="px"
        )
    return Action(
        "other", at=mouse.at if at or "click" in name or "mouse" in name else None, text=name, raw=raw, space="px"
    )


def _point(value: Any) -> Point | None:
    return point(value[0], value[1]) if isinstance(value, list) and len(value) == 2 else None


def _milliseconds(seconds: Any) -> int | None:
    amount = as_coordinate(seconds)
    return round(amount * 1000) if amount is not None and 0 <= amount < _MOST_SECONDS else None


def _text(value: Any) -> str | None:
    if isinstance(value, list):
        return "+".join(str(key) for key in value)
    return as_str(value)
