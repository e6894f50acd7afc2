"""An action that is held before it is performed: its description, and variants of the same touch."""

from __future__ import annotations

from typing import Literal

import msgspec

from lab.core.redaction.password_redaction import HIDDEN, typed_password
from lab.core.run.demonstration import reason_words
from lab.core.run.step import Action
from lab.core.run.tap_targets import screen_box
from lab.core.run.ui_tree import UiTree
from lab.runs.descriptions import whole_action

_POINTED: tuple[Literal["click", "double_tap", "long_press"], ...] = ("click", "double_tap", "long_press")
_WAYS: tuple[Literal["down", "up", "left", "right"], ...] = ("down", "up", "left", "right")
_WAITS: tuple[int, ...] = (1000, 3000, 10000)


def held_words(action: Action, tree: UiTree) -> str:
    """Describe an action with its whole text and its target in pixels, because its instruction has the name.

    A password stays hidden.
    """
    if action.kind == "status" and action.status == "infeasible":
        return f"report: impossible, {reason_words(action.text or '')}"
    return whole_action(masked(action, tree))


def masked(action: Action, tree: UiTree) -> Action:
    """Return the action with a password replaced by a placeholder."""
    return msgspec.structs.replace(action, text=HIDDEN) if typed_password(action, tree) else action


def default_scroll(tree: UiTree) -> Action:
    """Return a scroll further down in the largest scrollable node, else in the middle of the screen."""
    lists = [node for node in tree.nodes() if node.scrollable]
    box = max((node.bounds for node in lists), key=lambda bounds: bounds.area, default=screen_box(tree))
    return Action("scroll", at=box.center, direction="down")


def default_wait() -> Action:
    """Return the shortest wait."""
    return Action("wait", ms=_WAITS[0])


def next_variant(action: Action) -> Action | None:
    """Return the next variant of a touch, or None if there is only one.

    Variants are a double or long tap, another direction of a scroll, a longer wait.
    """
    if action.kind in ("click", "double_tap", "long_press"):
        kinds = _POINTED
        kind = kinds[(kinds.index(action.kind) + 1) % len(kinds)]
        return msgspec.structs.replace(action, kind=kind)
    if action.kind == "scroll" and action.direction is not None:
        direction = _WAYS[(_WAYS.index(action.direction) + 1) % len(_WAYS)]
        return msgspec.structs.replace(action, direction=direction)
    if action.kind == "wait":
        longer = next((ms for ms in _WAITS if ms > (action.ms or 0)), _WAITS[0])
        return msgspec.structs.replace(action, ms=longer)
    return None
