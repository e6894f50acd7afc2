"""Password fields: found in trees, by what the keyboard says too, and painted over in pictures."""

from __future__ import annotations

import io
from collections.abc import Callable, Container, Iterable

import msgspec

from lab.core.safe_images import open_picture
from lab.core.ui_tree import Bounds, Node, UiTree

_COLOUR = (96, 96, 96)


_CURSOR = Node(Bounds(0, 0, 0, 0), cls="android.widget.EditText", focused=True, password=True)
"""Stands for a password's field that no tree holds, so that what is typed into it is known to be one."""


def with_cursor_hidden(tree: UiTree) -> UiTree:
    """The tree of a screen whose keyboard types into a password's field, with that field in it as one.

    A phone that is told to show passwords calls their fields ordinary ones, and some screens do not tell of them.
    """
    marked_tree = _marked(tree, lambda node: node.focused and node.cls.endswith("EditText"))
    if any(node.password for node in marked_tree.nodes()):
        return marked_tree
    return msgspec.structs.replace(tree, roots=(*tree.roots, _CURSOR))


def with_fields_hidden(tree: UiTree, ids: Container[str]) -> UiTree:
    """The tree with the nodes of these resource ids as passwords' fields."""
    return _marked(tree, lambda node: node.id in ids)


def with_clipboard_hidden(tree: UiTree) -> UiTree:
    """The tree with Android 13's preview of the clipboard as a password's field: what was pasted stands in it."""
    if not any(_shows_clipboard(node) for node in tree.nodes()):
        return tree
    return msgspec.structs.replace(tree, roots=tuple(_mark_clipboard(root, False) for root in tree.roots))


def _mark_clipboard(node: Node, within: bool) -> Node:
    within = within or _shows_clipboard(node)
    children = tuple(_mark_clipboard(child, within) for child in node.children)
    return msgspec.structs.replace(node, password=node.password or within, children=children)


def _shows_clipboard(node: Node) -> bool:
    return node.id.startswith("com.android.systemui:id/") and "clipboard" in node.id


def _marked(tree: UiTree, which: Callable[[Node], bool]) -> UiTree:
    if not any(which(node) and not node.password for node in tree.nodes()):
        return tree
    return msgspec.structs.replace(tree, roots=tuple(_mark(root, which) for root in tree.roots))


def _mark(node: Node, which: Callable[[Node], bool]) -> Node:
    children = tuple(_mark(child, which) for child in node.children)
    return msgspec.structs.replace(node, password=node.password or which(node), children=children)


def password_boxes(*trees: UiTree) -> list[Bounds]:
    """Where the password fields of these trees are."""
    return [node.bounds for tree in trees for node in tree.nodes() if node.password and node.bounds.area]


def painted_over(png: bytes, places: Iterable[Bounds]) -> bytes:
    """The picture with these boxes filled, as PNG; the very bytes where there is none."""
    places = list(places)
    if not places:
        return png
    with open_picture(png) as image:
        picture = image.convert("RGB")
    whole = Bounds(0, 0, *picture.size)
    for place in places:
        left, top, right, bottom = place.cut(whole)
        picture.paste(_COLOUR, (left, top, right, bottom))
    out = io.BytesIO()
    picture.save(out, "PNG", compress_level=1)
    return out.getvalue()
