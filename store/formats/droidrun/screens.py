"""droidrun's records of screens as UI trees: lists of elements, each with the number that the agent uses for it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from lab.core.run.ui_tree import Bounds, Node, UiTree
from store.formats.geometry import Box, box

_DEEPEST = 100
_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?")
_SIDES = ("left", "top", "right", "bottom")
_LISTS = ("a11y_tree", "elements", "ui_state", "nodes")


class RecordedScreen(NamedTuple):
    """One recorded screen: its tree, and the boxes of its elements by number, in pixels."""

    tree: UiTree | None
    boxes: dict[int, Box]


def state_of(value: Any) -> RecordedScreen:
    """Return a recorded screen, empty if the value is not one."""
    if isinstance(value, dict):
        value = next((value[name] for name in _LISTS if isinstance(value.get(name), list)), [value])
    boxes: dict[int, Box] = {}
    roots = tuple(_node(part, boxes, 0) for part in value if isinstance(part, dict)) if isinstance(value, list) else ()
    return RecordedScreen(UiTree(roots) if roots else None, boxes)


def box_of(bounds: Any) -> Box | None:
    """Return a box given as `l,t,r,b`, `[l,t][r,b]`, a list or a mapping of the four sides."""
    if isinstance(bounds, str):
        matches = _NUMBERS.findall(bounds[:100])
        return box(matches) if len(matches) == 4 else None
    if isinstance(bounds, dict):
        return box([bounds.get(side) for side in _SIDES])
    return box(bounds)


def _node(part: dict[str, Any], boxes: dict[int, Box], depth: int) -> Node:
    here = box_of(part.get("bounds", part.get("boundsInScreen")))
    index = part.get("index")
    if isinstance(index, int) and here is not None:
        boxes[index] = here
    below = part.get("children") if depth < _DEEPEST else None
    name, id = _text(part, "className", "class"), _text(part, "resourceId", "resource_id")
    text = _text(part, "text")
    return Node(
        bounds=Bounds(*(here or (0, 0, 0, 0))),
        text="" if text in (name, id) or text.rpartition(".")[2] == name else text,
        desc=_text(part, "contentDescription", "content_description"),
        id=id,
        cls=name or "android.view.View",
        package=_text(part, "packageName", "package"),
        clickable=_flag(part, "clickable", "isClickable"),
        checkable=_flag(part, "checkable", "isCheckable"),
        checked=_flag(part, "checked", "isChecked"),
        focused=_flag(part, "focused", "isFocused"),
        scrollable=_flag(part, "scrollable", "isScrollable"),
        children=tuple(_node(child, boxes, depth + 1) for child in below if isinstance(child, dict))
        if isinstance(below, list)
        else (),
    )


def _text(part: dict[str, Any], *names: str) -> str:
    return next((part[name] for name in names if isinstance(part.get(name), str)), "")


def _flag(part: dict[str, Any], *names: str) -> bool:
    return any(part.get(name) is True for name in names)
