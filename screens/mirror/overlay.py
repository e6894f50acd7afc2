"""Which texts a UI tree says are on a screen: each once, with what its place depends on."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple

from lab.core.ui_tree import Bounds, Node, UiTree

_LARGEST = 0.35
"""A description of more than this share of the screen describes a page, not something written on it."""
_MOST = 600
"""Texts of one screen that are looked at; a stranger's tree may hold any number."""


class TreeText(NamedTuple):
    """One text of a tree. `sure` is asked of a description: it counts only where the picture shows its words.

    `holder` is the smallest box around it that is larger; `state` tells nodes apart that are drawn differently.
    """

    text: str
    box: Bounds
    sure: bool
    holder: Bounds
    state: tuple[bool, ...]


class TreeTexts(NamedTuple):
    """All that a tree says, in drawing order, and the boxes of what is drawn without words (icons, switches)."""

    said: tuple[TreeText, ...]
    things: tuple[Bounds, ...]


def saying(tree: UiTree, size: tuple[int, int], *, drawn: bool = True) -> TreeTexts:
    """What a tree says on a screen of `size` pixels; `drawn` is false where there is no picture to look at.

    Only leaf-most: a text or description that something inside repeats is left to that. Without a picture every
    description of something without text counts.
    """
    screen = Bounds(0, 0, *size)
    nodes, parents = _flat(tree)
    below = _below(nodes, parents)
    texts: list[TreeText] = []
    things: list[Bounds] = []
    for index, node in enumerate(nodes):
        own = node.text.strip()
        text = own or node.desc.strip()
        if not text and node.children:
            continue
        box = node.bounds.cut(screen)
        if not box.area:
            continue
        if text and len(texts) < _MOST and _own(node, _name(text), below.get(index, _NONE), box, screen, drawn):
            texts.append(TreeText(text, box, drawn and not own, _holder(index, nodes, parents), _state(node)))
        if not node.children and not own and box.area < 0.06 * screen.area and _is_thing(node):
            things.append(box)
    return TreeTexts(tuple(texts), tuple(things[:_MOST]))


def _flat(tree: UiTree) -> tuple[list[Node], list[int]]:
    """Every node in drawing order, and each one's parent's place in that list (-1: none)."""
    nodes: list[Node] = []
    parents: list[int] = []
    stack = [(root, -1) for root in reversed(tree.roots)]
    while stack:
        node, parent = stack.pop()
        nodes.append(node)
        parents.append(parent)
        here = len(nodes) - 1
        stack.extend((child, here) for child in reversed(node.children))
    return nodes, parents


_NONE: frozenset[str] = frozenset()


def _below(nodes: list[Node], parents: list[int]) -> dict[int, set[str]]:
    """For each node that has any: the texts and descriptions of all that is inside it."""
    below: dict[int, set[str]] = {}
    for index in range(len(nodes) - 1, 0, -1):
        node, parent = nodes[index], parents[index]
        inside = below.get(index)
        if parent < 0 or not (inside or node.text or node.desc):
            continue
        above = below.setdefault(parent, set())
        if inside:
            above |= inside
        above.update(name for name in (_name(node.text), _name(node.desc)) if name)
    return below


@lru_cache(maxsize=2048)
def _name(text: str) -> str:
    return " ".join(text.split()).casefold()


def _own(node: Node, name: str, below: Collection[str], box: Bounds, screen: Bounds, drawn: bool) -> bool:
    """Whether a node's text is its own to show."""
    if name in below:
        return False
    if node.text.strip():
        return True
    if box.area > _LARGEST * screen.area or any(inner in name for inner in below):
        return False
    return drawn or not node.children


def _holder(index: int, nodes: list[Node], parents: list[int]) -> Bounds:
    """The smallest box around a node that is wider than it by a little."""
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
    """Whether something without words is likely drawn there: a picture, a switch, a button."""
    kind = node.cls.rpartition(".")[2]
    return node.checkable or node.clickable or "Image" in kind or "Switch" in kind or bool(node.desc)
