"""An action that was written down, with its targets in pixels of the screen that it is for."""

from __future__ import annotations

from typing import Any

from lab.core.action_line import NUMBERED, Place, WrittenAction
from lab.core.codec import convert, read_json
from lab.core.errors import LabError
from lab.core.step import Action, Point
from lab.core.ui_tree import Bounds, UiTree

_ASIDE = ("line", "thought", "usage")
"""What a program says beside an action, which is no part of it."""
_STORED = {"vector", "raw", "space", "boxes"}
"""Fields by which a run keeps an action, and nobody writes one."""


def action_on(written: WrittenAction, tree: UiTree | None, size: Point | None, what: str) -> Action:
    """Return the action with its targets in pixels of a screen; `LabError` where one is not on it."""
    numbers = {name: n for name, n in (("node", written.node), ("to_node", written.to_node)) if n is not None}
    return Action(
        written.kind,
        at=_target(written.at, written.node, "at", tree, size, what),
        to=_target(written.to, written.to_node, "to", tree, size, what),
        text=written.text,
        direction=written.direction,
        app=written.app,
        status=written.status,
        ms=written.ms,
        raw=numbers or None,
        space="index" if numbers else None,
    )


def read_action(text: str, tree: UiTree | None, size: Point | None, what: str) -> Action:
    """Return the action that JSON spells for a screen: as a program writes it, or as a run keeps it.

    `LabError` names the field that is wrong, or the element that is not there.
    """
    value: Any = read_json(text.encode("utf-8", "surrogatepass"), what).value
    if isinstance(value, dict):
        value = {name: field for name, field in value.items() if name not in _ASIDE}
        if not value.keys() & _STORED:
            written: WrittenAction = convert(value, WrittenAction, what)
            by_number = written.node is not None or written.to_node is not None
            return action_on(written, tree, size if by_number else None, what)
    action: Action = convert(value, Action, what)
    return action


def _target(
    at: Place | None, number: int | None, field: str, tree: UiTree | None, size: Point | None, what: str
) -> Point | None:
    """One target in whole pixels, from where it points or from the element it names."""
    if number is not None:
        name = NUMBERED[field]
        if at is not None:
            raise LabError(what, f"field {name}: names a target that {field} names too")
        nodes = list(tree.nodes()) if tree is not None else []
        if not nodes:
            hint = f"Name a place with {field}: [x, y]."
            raise LabError(what, f"field {name}: the screen there has no elements", hint)
        if not 0 <= number < len(nodes):
            raise LabError(what, f"field {name}: there is no element {number}; the last is {len(nodes) - 1}")
        bounds = nodes[number].bounds
        visible = bounds.cut(Bounds(0, 0, *size)) if size is not None else bounds
        if not visible.area:
            raise LabError(what, f"field {name}: element {number} has no place on the screen")
        return visible.center
    if at is None:
        return None
    x, y = round(at[0]), round(at[1])
    if size is not None and not (0 <= x < size[0] and 0 <= y < size[1]):
        raise LabError(what, f"field {field}: {x},{y} is outside the screen of {size[0]}x{size[1]}")
    return x, y
