"""Find what a finger may have meant: the node that a tap hits, then the nearest misses."""

from __future__ import annotations

import math
from typing import NamedTuple

from lab.core.run.ui_tree import Bounds, Node, UiTree

_DP_ACROSS = 411
"""Width of a phone in density-independent pixels. Nearly all have 360 to 412."""
_LARGE = 0.5
"""Share of the screen from which a node that was not hit is unlikely to be meant."""


class TapTarget(NamedTuple):
    """A node that a tap may have meant: its words, its role, and the distance of its box in pixels and dp.

    `hit` marks the node that the tap reaches. `is_tappable` is true if the node responds to taps.
    """

    node: Node
    words: str
    role: str
    px: int
    dp: int
    hit: bool
    reacts: bool


def nearest_targets(tree: UiTree, at: tuple[int, int], most: int = 9) -> list[TapTarget]:
    """Return the node hit at a pixel, then the nearest misses: reacting nodes first, each group by distance.

    A covered node, whose middle a tap would not reach, is left out.
    """
    screen = screen_box(tree)
    targets = [node for node in tree.nodes() if is_tappable(node) and node.bounds.intersection(screen).area]
    inside = {id(below) for target in targets for below in target.walk() if below is not target}
    # Labels outside of every reacting node, which a person may have tapped all the same.
    bare = [n for n in tree.nodes() if n.label.strip() and not is_tappable(n) and id(n) not in inside and n.bounds.area]
    hit_node = _topmost(tree, at, targets) or _topmost(tree, at, bare)
    near_targets = [] if hit_node is None else [_tap_target(hit_node, at, screen, hit=True)]
    for group in (targets, bare):
        near = [
            _tap_target(node, at, screen)
            for node in group
            if node is not hit_node and _is_reachable(tree, node, group, screen)
        ]
        near_targets += sorted(near, key=lambda one: (_distance_to(one.node.bounds, at), one.node.bounds.area))
    return near_targets[:most]


def _tap_target(node: Node, at: tuple[int, int], screen: Bounds, *, hit: bool = False) -> TapTarget:
    distance = _distance_to(node.bounds, at)
    dp = distance * _DP_ACROSS / max(1, screen.width)
    return TapTarget(node, words_of(node), role_of(node), round(distance), round(dp), hit, is_tappable(node))


def words_of(node: Node) -> str:
    """Return a person's name for a node: its own label, else the labels inside it, else its id. May be empty."""
    if node.label.strip():
        return node.label.strip()
    inside = [below.label.strip() for below in node.walk() if below.label.strip()]
    return ", ".join(inside[:3]) or node.id.rpartition("/")[2]


def role_of(node: Node) -> str:
    """Return a node's role, the last part of its class: `Button`, `EditText`."""
    return node.cls.rpartition(".")[2] or "View"


def is_tappable(node: Node) -> bool:
    return node.enabled and (node.clickable or node.long_clickable or node.checkable or node.cls.endswith("EditText"))


def _topmost(tree: UiTree, at: tuple[int, int], among: list[Node]) -> Node | None:
    node_ids = {id(node) for node in among}
    return next((node for node in tree.nodes_at(*at) if id(node) in node_ids), None)


def _is_reachable(tree: UiTree, node: Node, group: list[Node], screen: Bounds) -> bool:
    """Return True if a tap on a node's middle reaches it or something inside it, and it is not a mere background."""
    if node.bounds.area > _LARGE * screen.area:
        return False
    top = _topmost(tree, node.bounds.center, group)
    return top is not None and any(below is top for below in node.walk())


def _distance_to(box: Bounds, at: tuple[int, int]) -> float:
    """Return the distance in pixels from a point to a box, 0 inside."""
    across = max(box.left - at[0], 0, at[0] - box.right + 1)
    down = max(box.top - at[1], 0, at[1] - box.bottom + 1)
    return math.hypot(across, down)


def screen_box(tree: UiTree) -> Bounds:
    """Return the box of the whole screen, as far as its nodes reach."""
    roots = [root.bounds for root in tree.roots if root.bounds.area]
    return Bounds(0, 0, max((b.right for b in roots), default=0), max((b.bottom for b in roots), default=0))
