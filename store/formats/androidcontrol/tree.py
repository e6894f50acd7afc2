"""Conversion of an accessibility forest to a UI tree: a root for each window, the front window last."""

from __future__ import annotations

from typing import Any

from lab.core.codec import escape_surrogates
from lab.core.run.ui_tree import Bounds, Node, UiTree
from store.formats.androidcontrol.messages import parse_message

_FLAGS = ("checkable", "checked", "clickable", "focusable", "focused", "scrollable", "long_clickable", "password",
          "selected")  # fmt: skip
_DEEPEST = 100
"""Maximum depth of nodes. Deeper ones become further roots."""


def tree_of(data: bytes, what: str) -> UiTree:
    """Return the visible nodes of a forest. Raise `LabError` if its bytes are invalid."""
    windows = sorted(parse_message("Forest", data, what).windows, key=lambda window: window.layer)
    return UiTree(tuple(node for window in windows for node in _window_roots(window.tree.nodes)))


def _window_roots(nodes: Any) -> list[Node]:
    """Return a window's root nodes. The window is a flat list whose nodes refer to children, possibly wrongly."""
    children = _children(nodes)
    depths = _depths(children)
    nodes_by_place: dict[int, Node | None] = {}
    for place in reversed(depths):
        below = [nodes_by_place.pop(child) for child in children[place] if depths[child] == depths[place] + 1]
        nodes_by_place[place] = _node(nodes[place], tuple(node for node in below if node is not None))
    return [node for place in sorted(nodes_by_place) if (node := nodes_by_place[place]) is not None]


def _children(nodes: Any) -> list[list[int]]:
    """Return each node's children as indices. A child belongs to the first node that refers to it, never to itself."""
    places = {node.unique_id: place for place, node in reversed(list(enumerate(nodes)))}
    with_parent: set[int] = set()
    children: list[list[int]] = []
    for place, node in enumerate(nodes):
        child_places = dict.fromkeys(places[id] for id in node.child_ids if id in places)
        children.append([child for child in child_places if child != place and child not in with_parent])
        with_parent.update(children[-1])
    return children


def _depths(children: list[list[int]]) -> dict[int, int]:
    """Return every node's depth, parents before children. Nodes in a cycle or too deep become roots."""
    all_children = {child for node_children in children for child in node_children}
    depths: dict[int, int] = {}
    # Every index follows the real roots, so that nodes in cycles are reached as well.
    for root in [*(place for place in range(len(children)) if place not in all_children), *range(len(children))]:
        stack = [] if root in depths else [(root, 0)]
        while stack:
            place, depth = stack.pop()
            if place not in depths:
                # Depth 0 after the limit makes the node a root.
                depths[place] = depth % _DEEPEST
                stack.extend((child, depth + 1) for child in reversed(children[place]))
    return depths


def _node(node: Any, children: tuple[Node, ...]) -> Node | None:
    """Return one node, or None if neither it nor any descendant is visible."""
    if not node.is_visible_to_user and not children:
        return None
    box = node.bounds_in_screen
    flags: dict[str, Any] = {flag: getattr(node, f"is_{flag}") for flag in _FLAGS}
    return Node(
        bounds=Bounds(box.left, box.top, box.right, box.bottom),
        text=text_of(node.text),
        desc=text_of(node.content_description),
        id=text_of(node.view_id_resource_name),
        cls=text_of(node.class_name) or "android.view.View",
        package=text_of(node.package_name),
        enabled=node.is_enabled,
        children=children,
        **flags,
    )


def text_of(data: bytes) -> str:
    """Decode text that should be UTF-8. Invalid bytes become U+FFFD, which the reader counts."""
    return escape_surrogates(data.decode("utf-8", "replace"))
