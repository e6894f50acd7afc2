"""An accessibility forest as a screen's nodes: a root for each window, those in front last."""

from __future__ import annotations

from typing import Any

from lab.core.codec import escape_surrogates
from lab.core.ui_tree import Bounds, Node, UiTree
from store.formats.androidcontrol.messages import parsed

_FLAGS = ("checkable", "checked", "clickable", "focusable", "focused", "scrollable", "long_clickable", "password",
          "selected")  # fmt: skip
_DEEPEST = 100
"""Levels of nodes; what stands deeper is shown beside its window."""


def tree_of(data: bytes, what: str) -> UiTree:
    """The nodes that a person could see, from the forest's bytes; `LabError` where they are none."""
    windows = sorted(parsed("Forest", data, what).windows, key=lambda window: window.layer)
    return UiTree(tuple(node for window in windows for node in _window(window.tree.nodes)))


def _window(nodes: Any) -> list[Node]:
    """A window's roots: it is kept as a list whose nodes name their children, and may name them wrongly."""
    children = _children(nodes)
    depths = _depths(children)
    nodes_by_place: dict[int, Node | None] = {}
    for place in reversed(depths):
        below = [nodes_by_place.pop(child) for child in children[place] if depths[child] == depths[place] + 1]
        nodes_by_place[place] = _node(nodes[place], tuple(node for node in below if node is not None))
    return [node for place in sorted(nodes_by_place) if (node := nodes_by_place[place]) is not None]


def _children(nodes: Any) -> list[list[int]]:
    """Each node's children by their places; a child belongs to the first that names it, and never to itself."""
    places = {node.unique_id: place for place, node in reversed(list(enumerate(nodes)))}
    with_parent: set[int] = set()
    children: list[list[int]] = []
    for place, node in enumerate(nodes):
        child_places = dict.fromkeys(places[id] for id in node.child_ids if id in places)
        children.append([child for child in child_places if child != place and child not in with_parent])
        with_parent.update(children[-1])
    return children


def _depths(children: list[list[int]]) -> dict[int, int]:
    """Every node's depth, parents before their children; one in a circle, or too deep, is a root of its own."""
    all_children = {child for node_children in children for child in node_children}
    depths: dict[int, int] = {}
    for root in [*(place for place in range(len(children)) if place not in all_children), *range(len(children))]:
        stack = [] if root in depths else [(root, 0)]
        while stack:
            place, depth = stack.pop()
            if place not in depths:
                depths[place] = depth % _DEEPEST
                stack.extend((child, depth + 1) for child in reversed(children[place]))
    return depths


def _node(node: Any, children: tuple[Node, ...]) -> Node | None:
    """One node; None where it cannot be seen, nor anything in it."""
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
    """Text that should be UTF-8; what is not becomes U+FFFD, which its reader counts."""
    return escape_surrogates(data.decode("utf-8", "replace"))
