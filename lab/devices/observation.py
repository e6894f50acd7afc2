"""One observation of a phone: a lossless picture and a tree that belong together, and no password in either."""

from __future__ import annotations

import io
from collections.abc import Callable, Container, Iterable

import msgspec

from lab.core.password_redaction import without_password_texts
from lab.core.safe_images import open_picture
from lab.core.seams import Screen, Trouble
from lab.core.step import Point
from lab.core.ui_tree import Bounds, Node, UiTree
from lab.devices import screencap
from lab.devices.dump import Dumper
from lab.devices.screen_state import secured, secured_trouble
from lab.devices.screen_watch import ScreenWatch
from lab.devices.shell import Shell
from lab.devices.system_state import SystemState, glance

_TRIES = 3
_NOTHING = UiTree()


class ScreenObserver:
    """Observes one phone. `glance` is what its services said at the last observation."""

    def __init__(self, shell: Shell, dumper: Dumper, screen: ScreenWatch, state: SystemState) -> None:
        self._shell, self._dumper, self._screen = shell, dumper, screen
        self.glance = state
        self._passwords: tuple[str, list[Bounds]] = ("", [])
        """The activity that last showed password fields, and where."""
        self._typed: set[tuple[str, str]] = set()
        """Activities and resource ids of the fields that a keyboard called a password's."""

    def observe(self) -> Screen:
        """What the phone shows now; `Trouble` where it does not answer, its screenshot fails, or shows nothing of use.

        `size` is what touches and trees are counted in; a picture of other pixels is scaled to it.
        """
        self._screen.check()
        png, trees = self._seen()
        self._check_lit(png)
        trees = [with_clipboard_hidden(self._hidden(tree)) for tree in trees]
        try:
            png = screencap.scaled(png, self.glance.size)
            size = screencap.png_size(png)
            png = painted_over(png, self._places(trees, Bounds(0, 0, *size)))
        except (OSError, SyntaxError, ValueError) as error:
            raise Trouble(self._shell.who, "its screenshot is no picture.") from error
        tree = trees[-1] if trees else self._untold()
        return Screen(
            png,
            size,
            without_password_texts(tree),
            self.glance.activity,
            self.glance.at,
            "" if trees else self._dumper.missing,
        )

    def _seen(self) -> tuple[bytes, list[UiTree]]:
        """A picture and its trees, taken again where the phone was turned meanwhile."""
        for last in range(_TRIES):
            png, trees = consistent(lambda: screencap.png(self._shell, self._screen.state.panel), self._dumper.tree)
            self.glance = glance(self._shell)
            if last == _TRIES - 1 or not _turned(screencap.png_size(png), self.glance.size):
                return png, trees
        raise AssertionError("the last try is taken")

    def _check_lit(self, png: bytes) -> None:
        """`Trouble` where the picture is black for a reason: the phone fell asleep meanwhile, or its app forbids it."""
        try:
            dark = screencap.is_dark(png)
        except (OSError, SyntaxError, ValueError) as error:
            raise Trouble(self._shell.who, "its screenshot is no picture.") from error
        if dark:
            self._screen.check()
            if secured(self._shell):
                raise secured_trouble(self._shell.who)

    def _hidden(self, tree: UiTree) -> UiTree:
        """The tree with every field as a password's that the keyboard calls one, or called one before."""
        activity = self.glance.activity
        if self.glance.password and self.glance.keyboard:
            tree = with_cursor_hidden(tree)
            self._typed |= {(activity, node.id) for node in tree.nodes() if node.password and node.focused and node.id}
        return with_fields_hidden(tree, {id for where, id in self._typed if where == activity})

    def _untold(self) -> UiTree:
        """What stands for the tree of a screen that uiautomator says nothing of."""
        tree = msgspec.structs.replace(_NOTHING, rotation=self.glance.rotation)
        return with_cursor_hidden(tree) if self.glance.password and self.glance.keyboard else tree

    def _places(self, trees: list[UiTree], whole: Bounds) -> list[Bounds]:
        """Where passwords may be seen. Without a tree: where this activity last had them, or else anywhere."""
        if trees:
            self._passwords = (self.glance.activity, password_boxes(*trees))
            return self._passwords[1]
        if not self.glance.password:
            return []
        activity, places = self._passwords
        return places if activity == self.glance.activity and places else [whole]


def _turned(picture: Point, display: Point | None) -> bool:
    """Whether the phone was turned between a picture and what its services said."""
    return display is not None and (picture[0] > picture[1]) != (display[0] > display[1])


def consistent(picture: Callable[[], bytes], dump: Callable[[], UiTree | None]) -> tuple[bytes, list[UiTree]]:
    """A picture, and the trees taken around it, of which the last belongs to it; none where none can be had.

    They belong together where the picture before the dump is the one after it, or the tree before the picture the
    one after it: what then changes (a cursor, a film) is no node. After three dumps the newest of both stands.
    """
    before = picture()
    trees: list[UiTree] = []
    for _ in range(_TRIES):
        tree = dump()
        if tree is None:
            return before, trees[:0]
        trees.append(tree)
        if len(trees) > 1 and trees[-2] == tree:
            return before, trees
        after = picture()
        if after == before:
            return before, trees
        before = after
    return before, trees


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
        left, top, right, bottom = place.intersection(whole)
        picture.paste(_COLOUR, (left, top, right, bottom))
    out = io.BytesIO()
    picture.save(out, "PNG", compress_level=1)
    return out.getvalue()
