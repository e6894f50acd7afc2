"""Resolve the targets of a written action to pixels of a screen."""

from __future__ import annotations

from typing import Any

from lab.core.codec import convert, read_json
from lab.core.errors import LabError
from lab.core.run.action_line import NUMBERED, Place, WrittenAction
from lab.core.run.step import Action, Point
from lab.core.run.ui_tree import Bounds, UiTree

_COMPANIONS = ("line", "thought", "usage")
"""Fields that a program sends beside an action and that are not part of it."""
_STORED_ONLY = {"vector", "raw", "space", "boxes"}
"""Fields of a stored action that a written one never has."""


def action_on(written: WrittenAction, tree: UiTree | None, size: Point | None, what: str) -> Action:
    """Return the action with its targets in pixels. Raise `LabError` if a target is outside the screen."""
    numbers = {name: n for name, n in (("node", written.node), ("to_node", written.to_node)) if n is not None}
    return Action(
        written.kind,
        at=_resolve_target(written.at, written.node, "at", tree, size, what),
        to=_resolve_target(written.to, written.to_node, "to", tree, size, what),
        text=written.text,
        direction=written.direction,
        app=written.app,
        status=written.status,
        ms=written.ms,
        raw=numbers or None,
        space="index" if numbers else None,
    )


def read_action(text: str, tree: UiTree | None, size: Point | None, what: str) -> Action:
    """Parse an action from JSON, in a program's form or in the form that a run stores.

    Raise `LabError` with the name of the wrong field or of the missing element.
    """
    value: Any = read_json(text.encode("utf-8", "surrogatepass"), what).value
    if isinstance(value, dict):
        value = {name: field for name, field in value.items() if name not in _COMPANIONS}
        # A stored action has fields that no program writes, and is decoded as a whole.
        if not value.keys() & _STORED_ONLY:
            written: WrittenAction = convert(value, WrittenAction, what)
            by_number = written.node is not None or written.to_node is not None
            return action_on(written, tree, size if by_number else None, what)
    action: Action = convert(value, Action, what)
    return action


def _resolve_target(
    at: Place | None, number: int | None, field: str, tree: UiTree | None, size: Point | None, what: str
) -> Point | None:
    """Return one target in whole pixels, from its coordinates or from the center of its element."""
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
        visible = bounds.intersection(Bounds(0, 0, *size)) if size is not None else bounds
        # An element may lie outside of the screen, as the end of a long list does.
        if not visible.area:
            raise LabError(what, f"field {name}: element {number} has no place on the screen")
        return visible.center
    if at is None:
        return None
    x, y = round(at[0]), round(at[1])
    if size is not None and not (0 <= x < size[0] and 0 <= y < size[1]):
        raise LabError(what, f"field {field}: {x},{y} is outside the screen of {size[0]}x{size[1]}")
    return x, y
