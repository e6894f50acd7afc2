"""One observation of a phone: a lossless screenshot and its UI tree, with passwords removed from both."""

from __future__ import annotations

import io
from collections.abc import Callable, Container, Iterable

import msgspec

from lab.core.redaction.password_redaction import without_password_texts
from lab.core.run.step import Point
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.seams import Screen, Trouble
from lab.core.values.safe_images import open_picture
from lab.devices.adb import screencap
from lab.devices.adb.dump import Dumper
from lab.devices.adb.shell import Shell
from lab.devices.adb.system_state import SystemState, glance
from lab.devices.screen_state import secured, secured_trouble
from lab.devices.screen_watch import ScreenWatch

_TRIES = 3
_NOTHING = UiTree()


class ScreenObserver:
    """Observer of one phone, with its system state at the last observation in `glance`."""

    def __init__(self, shell: Shell, dumper: Dumper, screen: ScreenWatch, state: SystemState) -> None:
        self._shell, self._dumper, self._screen = shell, dumper, screen
        self.glance = state
        self._passwords: tuple[str, list[Bounds]] = ("", [])
        """Activity that last showed password fields, and their boxes."""
        self._password_fields: set[tuple[str, str]] = set()
        """Activities and resource ids of fields that a keyboard reported as a password's."""

    def observe(self) -> Screen:
        """Return what the phone shows now.

        Raise `Trouble` if it does not answer, or its screenshot fails or is useless. `size` counts in the units of
        touches and trees. A screenshot in other pixels is scaled to it.
        """
        self._screen.check()
        png, trees = self._capture()
        self._check_lit(png)
        trees = [with_clipboard_hidden(self._hide_passwords(tree)) for tree in trees]
        try:
            png = screencap.scaled(png, self.glance.size)
            size = screencap.png_size(png)
            png = painted_over(png, self._password_places(trees, Bounds(0, 0, *size)))
        except (OSError, SyntaxError, ValueError) as error:
            raise Trouble(self._shell.who, "its screenshot is no picture.") from error
        tree = trees[-1] if trees else self._empty_tree()
        return Screen(
            png,
            size,
            without_password_texts(tree),
            self.glance.activity,
            self.glance.at,
            "" if trees else self._dumper.missing,
        )

    def _capture(self) -> tuple[bytes, list[UiTree]]:
        """Return a screenshot and its trees, taken again if the phone was turned meanwhile."""
        for last in range(_TRIES):
            png, trees = consistent(lambda: screencap.png(self._shell, self._screen.state.panel), self._dumper.tree)
            self.glance = glance(self._shell)
            if last == _TRIES - 1 or not _was_rotated(screencap.png_size(png), self.glance.size):
                return png, trees
        raise AssertionError("the last try is taken")

    def _check_lit(self, png: bytes) -> None:
        """Raise `Trouble` if the screenshot is black because the phone fell asleep, or its app forbids pictures."""
        try:
            dark = screencap.is_dark(png)
        except (OSError, SyntaxError, ValueError) as error:
            raise Trouble(self._shell.who, "its screenshot is no picture.") from error
        if dark:
            self._screen.check()
            if secured(self._shell):
                raise secured_trouble(self._shell.who)

    def _hide_passwords(self, tree: UiTree) -> UiTree:
        """Mark as a password each field that the keyboard reports as one, now or before."""
        activity = self.glance.activity
        if self.glance.password and self.glance.keyboard:
            tree = with_cursor_hidden(tree)
            self._password_fields |= {
                (activity, node.id) for node in tree.nodes() if node.password and node.focused and node.id
            }
        return with_fields_hidden(tree, {id for where, id in self._password_fields if where == activity})

    def _empty_tree(self) -> UiTree:
        """Return an empty tree for a screen without one, with a password field if the keyboard reports one."""
        tree = msgspec.structs.replace(_NOTHING, rotation=self.glance.rotation)
        return with_cursor_hidden(tree) if self.glance.password and self.glance.keyboard else tree

    def _password_places(self, trees: list[UiTree], whole: Bounds) -> list[Bounds]:
        """Return boxes that may show passwords.

        Without a tree: those that this activity last had, or else the whole screen.
        """
        if trees:
            self._passwords = (self.glance.activity, password_boxes(*trees))
            return self._passwords[1]
        if not self.glance.password:
            return []
        activity, places = self._passwords
        return places if activity == self.glance.activity and places else [whole]


def _was_rotated(picture: Point, display: Point | None) -> bool:
    """Return True if the phone was turned between a screenshot and its system state."""
    return display is not None and (picture[0] > picture[1]) != (display[0] > display[1])


def consistent(picture: Callable[[], bytes], dump: Callable[[], UiTree | None]) -> tuple[bytes, list[UiTree]]:
    """Return a screenshot and the trees taken around it, the last of which matches it (none if unavailable).

    They match if the screenshots before and after the dump are equal, or two successive trees are: what then changes is
    not a node (a cursor, a film). After three dumps, return the newest of both.
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
"""Stand-in for a password field that is missing in the tree, so that text typed into it is known as a password."""


def with_cursor_hidden(tree: UiTree) -> UiTree:
    """Mark the focused text field as a password's, or add one if the tree has none.

    A phone with "show passwords" enabled reports these fields as ordinary ones, and some screens omit them.
    """
    marked_tree = _mark_nodes(tree, lambda node: node.focused and node.cls.endswith("EditText"))
    if any(node.password for node in marked_tree.nodes()):
        return marked_tree
    return msgspec.structs.replace(tree, roots=(*tree.roots, _CURSOR))


def with_fields_hidden(tree: UiTree, ids: Container[str]) -> UiTree:
    """Mark the nodes with these resource ids as password fields."""
    return _mark_nodes(tree, lambda node: node.id in ids)


def with_clipboard_hidden(tree: UiTree) -> UiTree:
    """Mark Android 13's clipboard preview as a password field, because it shows the pasted text."""
    if not any(_shows_clipboard(node) for node in tree.nodes()):
        return tree
    return msgspec.structs.replace(tree, roots=tuple(_mark_clipboard(root, False) for root in tree.roots))


def _mark_clipboard(node: Node, within: bool) -> Node:
    within = within or _shows_clipboard(node)
    children = tuple(_mark_clipboard(child, within) for child in node.children)
    return msgspec.structs.replace(node, password=node.password or within, children=children)


def _shows_clipboard(node: Node) -> bool:
    return node.id.startswith("com.android.systemui:id/") and "clipboard" in node.id


def _mark_nodes(tree: UiTree, which: Callable[[Node], bool]) -> UiTree:
    if not any(which(node) and not node.password for node in tree.nodes()):
        return tree
    return msgspec.structs.replace(tree, roots=tuple(_mark(root, which) for root in tree.roots))


def _mark(node: Node, which: Callable[[Node], bool]) -> Node:
    children = tuple(_mark(child, which) for child in node.children)
    return msgspec.structs.replace(node, password=node.password or which(node), children=children)


def password_boxes(*trees: UiTree) -> list[Bounds]:
    """Return the bounds of these trees' password fields."""
    return [node.bounds for tree in trees for node in tree.nodes() if node.password and node.bounds.area]


def painted_over(png: bytes, places: Iterable[Bounds]) -> bytes:
    """Return the picture with these boxes filled, as PNG, or the same bytes if there are none."""
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
