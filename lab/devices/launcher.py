"""Finds an app's icon by the words under it, as a person does: on the home screen's pages, then among all apps."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from lab.core.step import Direction, Point
from lab.core.ui_tree import Node, UiTree
from lab.devices.touch_input import HOME, Fingers

_PAGES, _ROWS = 4, 10
_MS = 250


class LauncherAccess(NamedTuple):
    """What is needed to look around: the screen's nodes, a hand, the screen's size."""

    tree: Callable[[], UiTree | None]
    fingers: Fingers
    size: Point


def tap_icon(name: str, looking: LauncherAccess) -> bool:
    """Goes home and taps the icon called `name`; False where none is on its pages, the home screen in front again."""
    for direction, most in (("left", _PAGES), ("up", _ROWS)):
        looking.fingers.key(HOME)
        before: UiTree | None = None
        for _ in range(most):
            tree = looking.tree()
            icon = _icon(tree, name) if tree is not None else None
            if icon is not None:
                looking.fingers.tap(icon.bounds.center)
                return True
            if tree is None or tree == before:
                break
            before = tree
            _swipe("left" if direction == "left" else "up", looking)
    looking.fingers.key(HOME)
    return False


def _icon(tree: UiTree, name: str) -> Node | None:
    label = name.strip().casefold()
    for node in tree.nodes():
        if label in (node.text.strip().casefold(), node.desc.strip().casefold()):
            target = tree.target(node)
            if target.clickable and target.bounds.area:
                return target
    return None


def _swipe(direction: Direction, looking: LauncherAccess) -> None:
    wide, high = looking.size
    middle = wide // 2, high * 5 // 8
    to = (wide // 10, middle[1]) if direction == "left" else (middle[0], high // 4)
    at = (wide * 9 // 10, middle[1]) if direction == "left" else middle
    looking.fingers.draw(at, to, _MS)
