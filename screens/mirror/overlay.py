"""The texts of a UI tree on a screen: each one once, with what its placement depends on."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from lab.core.ui_tree import Bounds, Node, UiTree

_LARGEST = 0.35
"""Share of the screen above which a description is about a page, not something written on it."""
_MOST = 600
"""Maximum number of texts of one screen. A stranger's tree may hold any number."""


class TreeText(NamedTuple):
    """One text of a tree. A description is `sure`: it counts only if the picture shows its words.

    `holder` is the smallest larger box around it. `state` distinguishes nodes that are drawn differently.
    """

    text: str
    box: Bounds
    sure: bool
    holder: Bounds
    state: tuple[bool, ...]


class TreeTexts(NamedTuple):
    """All texts of a tree in drawing order, and the boxes of things without text (icons, switches)."""

    texts: tuple[TreeText, ...]
    things: tuple[Bounds, ...]


def tree_texts(tree: UiTree, size: tuple[int, int], *, drawn: bool = True) -> TreeTexts:
    """Return the texts of a tree on a screen of `size` pixels. `drawn` is False if there is no picture.

    Only leaf-most ones: a text or description that a descendant repeats is left to that one. Without a picture, every
    description of a leaf without text counts.
    """
    screen = Bounds(0, 0, *size)
    nodes, parents = _flatten(tree)
    below = _texts_inside(nodes, parents)
    texts: list[TreeText] = []
    things: list[Bounds] = []
    for index, node in enumerate(nodes):
        own = node.text.strip()
        text = own or node.desc.strip()
        if not text and node.children:
            continue
        box = node.bounds.intersection(screen)
        if not box.area:
            continue
        if (
            text
            and len(texts) < _MOST
            and _shows_itself(node, _normalized(text), below.get(index, _NONE), box, screen, drawn)
        ):
            texts.append(TreeText(text, box, drawn and not own, _holder(index, nodes, parents), _state(node)))
        if not node.children and not own and box.area < 0.06 * screen.area and _is_thing(node):
            things.append(box)
    return TreeTexts(tuple(texts), tuple(things[:_MOST]))


def _flatten(tree: UiTree) -> tuple[list[Node], list[int]]:
    """Return every node in drawing order, and the index of each one's parent (-1 for none)."""
    nodes: list[Node] = []
    parents: list[int] = []
    # A stack, not recursion: a stranger's tree may be deeper than Python's limit.
    stack = [(root, -1) for root in reversed(tree.roots)]
    while stack:
        node, parent = stack.pop()
        nodes.append(node)
        parents.append(parent)
        here = len(nodes) - 1
        stack.extend((child, here) for child in reversed(node.children))
    return nodes, parents


_NONE: frozenset[str] = frozenset()


def _texts_inside(nodes: list[Node], parents: list[int]) -> dict[int, set[str]]:
    """Return the texts and descriptions inside each node that has any."""
    below: dict[int, set[str]] = {}
    for index in range(len(nodes) - 1, 0, -1):
        node, parent = nodes[index], parents[index]
        inside = below.get(index)
        if parent < 0 or not (inside or node.text or node.desc):
            continue
        above = below.setdefault(parent, set())
        if inside:
            above |= inside
        above.update(name for name in (_normalized(node.text), _normalized(node.desc)) if name)
    return below


@lru_cache(maxsize=2048)
def _normalized(text: str) -> str:
    return " ".join(text.split()).casefold()


def _shows_itself(node: Node, name: str, below: Collection[str], box: Bounds, screen: Bounds, drawn: bool) -> bool:
    """Return True if a node shows its text itself, instead of a descendant with the same text."""
    if name in below:
        return False
    if node.text.strip():
        return True
    if box.area > _LARGEST * screen.area or any(inner in name for inner in below):
        return False
    return drawn or not node.children


def _holder(index: int, nodes: list[Node], parents: list[int]) -> Bounds:
    """Return the smallest ancestor's box that is wider than the node's by more than a few pixels."""
    box = nodes[index].bounds
    above = parents[index]
    while above >= 0:
        if nodes[above].bounds.width > box.width + 4:
            return nodes[above].bounds
        above = parents[above]
    return box


def _state(node: Node) -> tuple[bool, ...]:
    return node.enabled, node.selected, node.checked, node.focused


def _is_thing(node: Node) -> bool:
    """Return True if the node is likely drawn without words: a picture, a switch, a button."""
    kind = node.cls.rpartition(".")[2]
    return node.checkable or node.clickable or "Image" in kind or "Switch" in kind or bool(node.desc)
