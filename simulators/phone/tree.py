"""Boxes to what a finger and an agent find: the uiautomator tree, and the box under a point."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

from lab.core.run.ui_tree import Bounds, Node, UiTree
from simulators.phone.kit.boxes import Box, Window
from simulators.phone.kit.theme import HEIGHT, WIDTH

SCREEN = Bounds(0, 0, WIDTH, HEIGHT)


def tree(windows: list[Window]) -> UiTree:
    """Return the visible nodes of all listed windows, clipped by their lists and by the screen."""
    roots: list[Node] = []
    for window in windows:
        if window.listed:
            roots.extend(_nodes(window.root, SCREEN, window.package))
    return UiTree(tuple(roots))


def _nodes(box: Box, clip: Bounds, package: str) -> list[Node]:
    visible = box.bounds.intersection(clip)
    if not visible.area:
        return []
    inside = visible if box.scroll else clip
    children = tuple(node for child in box.children for node in _nodes(child, inside, package))
    if box.node is None:
        return list(children)
    attributes = cast(dict[str, Any], box.node)
    name = attributes["id"]
    return [
        Node(bounds=visible, package=package, children=children, **attributes | {"id": _qualified_id(name, package)})
    ]


def _qualified_id(name: str, package: str) -> str:
    return f"{package}:id/{name}" if name else ""


def walk(box: Box, clip: Bounds = SCREEN) -> Iterator[tuple[Box, Bounds]]:
    """Yield every visible box with its visible part, in drawing order."""
    visible = box.bounds.intersection(clip)
    if visible.area:
        yield box, visible
        for child in box.children:
            yield from walk(child, visible if box.scroll else clip)


def hit(windows: list[Window], x: int, y: int, accepts: Callable[[Box], bool]) -> tuple[Window, Box | None] | None:
    """Return the topmost window at `x`, `y`, and its last drawn box that `accepts` takes.

    None if nothing is there. The window with None if the touch misses a modal window or all its boxes.
    """
    for window in reversed(windows):
        if window.inert:
            continue
        if window.root.bounds.contains(x, y):
            boxes = [box for box, visible in walk(window.root) if visible.contains(x, y) and accepts(box)]
            return window, boxes[-1] if boxes else None
        if window.modal:
            return window, None
    return None
