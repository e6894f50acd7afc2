"""Find what a screen offers by its words: elements to tap, fields, switches, lists, values beside a label."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from msgspec.structs import replace

from lab.core.run.input_limits import PLAYBOOK_TEXT
from lab.core.run.step import Point
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.task.playbook import MoveTarget, ReadValue

_SYSTEM = ("systemui", "keyboard", "inputmethod", ".ime", "latin")
_KEYBOARD = _SYSTEM[1:]
_UP = ("Navigate up", "Back", "Close", "Cancel", "返回")
_WORD = re.compile(r"[^\W_\u4e00-\u9fff]+|[\u4e00-\u9fff]")
_TALL = 300
"""Minimum height of a list in pixels. A lower scrollable scrolls sideways or is a field."""
_PANEL = 200
"""Maximum top edge of an app's window in pixels. A window that begins lower is a sheet or dialog."""


# Each search compares all labels of a screen, and most of them do not change between steps.
@functools.lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """Return a text's words in lower case. Each Chinese character is one word."""
    return tuple(_WORD.findall(text[:PLAYBOOK_TEXT].casefold()))


def mentions(text: str, name: str) -> bool:
    """Return True if a text contains the words of a name in sequence, ignoring case.

    A name without words (only symbols) must occur literally.
    """
    whole, part = words(text), words(name)
    if not part:
        return bool(name.strip()) and name.strip() in text[:PLAYBOOK_TEXT]
    return any(whole[i : i + len(part)] == part for i in range(len(whole) - len(part) + 1))


def same_words(text: str, name: str) -> bool:
    """Return True if a text consists of just these words."""
    return text.strip() == name.strip() or (bool(words(name)) and words(text) == words(name))


class Targets:
    """One screen: the uppermost window of an app. The system's own elements (status bar, keys) are not targets."""

    def __init__(self, tree: UiTree) -> None:
        self.tree = tree
        roots = [root for root in tree.roots if root.bounds.area]
        self.nodes: list[Node] = []
        """Nodes of an app's uppermost window, in drawing order."""
        self.notices: list[Node] = []
        """Text nodes of the system: status bar, notifications."""
        self._windows_above: list[Node] = []
        self._screen_width = max((root.bounds.right for root in roots), default=0)
        own = [number for number, root in enumerate(roots) if not _belongs_to(root, _SYSTEM)]
        if own:
            self.nodes = [_shorten(node) for node in roots[own[-1]].walk() if node.bounds.area]
            self._windows_above = roots[own[-1] + 1 :]
        system = (root for root in roots if _belongs_to(root, _SYSTEM) and not _belongs_to(root, _KEYBOARD))
        self.notices = [_shorten(node) for root in system for node in root.walk() if node.text and node.bounds.area]

    @property
    def package(self) -> str:
        """Package of the app in front."""
        return self.nodes[0].package if self.nodes else ""

    @property
    def content_hash(self) -> int:
        """Hash that is equal for two screens with the same content."""
        return hash(tuple((n.text, n.desc, n.checked, n.selected, n.focused, n.bounds) for n in self.nodes))

    @property
    def labels(self) -> frozenset[str]:
        """All texts and descriptions on the screen."""
        return frozenset(text for node in self.nodes for text in (node.text, node.desc) if text)

    def shows(self, label: str) -> bool:
        """Return True if these words are on the screen or in a notification."""
        texts = (text for node in (*self.nodes, *self.notices) for text in (node.text, node.desc) if text)
        return any(mentions(text, label) for text in texts)

    # -- things ------------------------------------------------------------------------------------------------

    def find(self, target: MoveTarget, *, fields: bool = False) -> Node | None:
        """Return the node with this name, or None if there is none.

        An exact match precedes a partial one, and a clickable node precedes others.
        """
        if target.at is not None:
            return Node(Bounds(target.at[0], target.at[1], target.at[0] + 1, target.at[1] + 1))
        fits = [node for node in self.nodes if node.enabled and is_field(node) == fields]
        for same in (same_words, mentions):
            nodes = [node for node in fits if same(node.text, target.text) or same(node.desc, target.text)]
            nodes = [node for node in nodes if not target.without or not self._row_contains(node, target.without)]
            if target.near:
                nodes = [node for node in nodes if self._distance(node, target.near) is not None]
            if nodes:
                return min(nodes, key=lambda node: self._rank(node, target))
        return None

    def _rank(self, node: Node, target: MoveTarget) -> tuple[float, bool, int]:
        near = self._distance(node, target.near) if target.near else None
        return near or 0, not self.tappable(node).clickable, len(node.label)

    def _distance(self, node: Node, near: str) -> float | None:
        """Return the vertical distance in pixels to the nearest node with these words, or None if there is none."""
        others = [n for n in self.nodes if mentions(n.text, near) or mentions(n.desc, near)]
        middle = node.bounds.center[1]
        return min((abs(other.bounds.center[1] - middle) for other in others), default=None)

    def _row_contains(self, node: Node, label: str) -> bool:
        box = self.tappable(node).bounds
        inside = [n for n in self.nodes if box.intersection(n.bounds) == n.bounds] or [node]
        return any(mentions(n.text, label) or mentions(n.desc, label) for n in inside)

    def tappable(self, node: Node) -> Node:
        """Return the node that a tap reaches: the node itself, or the smallest clickable one around it."""
        if node.clickable:
            return node
        around = [n for n in self.nodes if n.clickable and n.bounds.intersection(node.bounds) == node.bounds]
        return min(around, key=lambda n: n.bounds.area, default=node)

    def switch(self, label: str) -> Node | None:
        """Return the checkable node with this name, its own or that of the words in its row."""
        fits = [node for node in self.nodes if node.checkable]
        for same in (same_words, mentions):
            own = [node for node in fits if same(node.text, label) or same(node.desc, label)]
            if own:
                return own[0]
        title = self.find(MoveTarget(label))
        if title is None:
            return None
        low, high = self.tappable(title).bounds.top, self.tappable(title).bounds.bottom
        return next((node for node in fits if low <= node.bounds.center[1] < high), None)

    def field(self, name: str) -> Node | None:
        """Return the text field with this name (hint, text, or label above), without a name, the focused one."""
        fields = [node for node in self.nodes if is_field(node)]
        if not name:
            return next((node for node in fields if node.focused), fields[0] if len(fields) == 1 else None)
        target = self.find(MoveTarget(name), fields=True)
        if target is not None:
            return target
        label = self.find(MoveTarget(name))
        below = [f for f in fields if label is not None and f.bounds.center[1] >= label.bounds.center[1]]
        return min(below, key=lambda f: f.bounds.top, default=None)

    def find_again(self, field: Node) -> Node | None:
        """Return a field of an earlier screen on this one. It moves when the keyboard appears."""
        fields = [node for node in self.nodes if is_field(node)]
        same = [f for f in fields if (f.id, f.desc) == (field.id, field.desc)] or fields
        return min(same, key=lambda f: abs(f.bounds.center[1] - field.bounds.center[1]), default=None)

    def current_node(self, node: Node) -> Node:
        """Return a node of an earlier screen at its current place."""
        same = [n for n in self.nodes if (n.id, n.text, n.desc, n.cls) == (node.id, node.text, node.desc, node.cls)]
        return min(same, key=lambda n: abs(n.bounds.center[1] - node.bounds.center[1]), default=node)

    def key(self, *names: str) -> Node | None:
        """Return a key of the keyboard by its name."""
        return next((n for n in self.tree.nodes() if n.clickable and n.desc in names), None)

    def clear(self, field: Node) -> Node | None:
        """Return the button in a field's row that empties it."""
        low, high = field.bounds.top, field.bounds.bottom
        buttons = (n for n in self.nodes if n.clickable and words(n.label)[:1] == ("clear",))
        return next((n for n in buttons if low <= n.bounds.center[1] < high), None)

    def left_search(self) -> Node | None:
        """Return the field, alone at the top of the screen, that still has an earlier search."""
        fields = [node for node in self.nodes if is_field(node)]
        high = len(fields) == 1 and fields[0].bounds.bottom < self.nodes[0].bounds.bottom / 3
        return fields[0] if high and fields[0].text else None

    def list(self) -> Node | None:
        """Return the largest node that scrolls up and down."""
        lists = [n for n in self.nodes if n.scrollable and n.bounds.height > _TALL]
        return max(lists, key=lambda n: n.bounds.area, default=None)

    def up_button(self) -> Node | None:
        """Return the node that leads up to the app's first screen or closes a panel."""
        return next((n for n in self.nodes if n.clickable and n.label in _UP), None)

    def panel(self) -> bool:
        """Return True if a sheet or dialog is in front: it does not fill the screen."""
        box = self.nodes[0].bounds if self.nodes else Bounds(0, 0, 0, 0)
        return bool(self.nodes) and (box.top > _PANEL or box.width < 0.95 * self._screen_width)

    def typing(self) -> bool:
        """Return True if a field has the cursor."""
        return any(node.focused for node in self.nodes if is_field(node))

    def covered(self, at: Point) -> str:
        """Return what of the system covers a point: `keyboard`, `notice`, or an empty string."""
        over = next((root for root in self._windows_above if root.bounds.contains(*at)), None)
        return "" if over is None else "keyboard" if _belongs_to(over, _KEYBOARD) else "notice"

    # -- values ------------------------------------------------------------------------------------------------

    def value(self, reading: ReadValue) -> str | None:
        """Return the value that a `read` move reads from the screen, or None if its words are not there."""
        if reading.beside:
            text = self._label_beside(reading.beside)
            return _text_between(text, reading) if text is not None else None
        texts = (text for node in reversed((*self.nodes, *self.notices)) for text in (node.text, node.desc) if text)
        return next((value for text in texts if (value := _text_between(text, reading))), None)

    def _label_beside(self, label: str) -> str | None:
        """Return the label to the right of another one, else the label below it."""
        label_node = self.find(MoveTarget(label))
        if label_node is None:
            return None
        box = label_node.bounds
        others = [node for node in self.nodes if node.label and not mentions(node.label, label)]
        row = [
            n for n in others if n.bounds.left >= box.right and n.bounds.top < box.bottom > box.top < n.bounds.bottom
        ]
        below = [n for n in others if n.bounds.top >= box.bottom and n.bounds.left < box.right]
        nearest = min(row, key=lambda n: n.bounds.left, default=None) or min(
            below, key=lambda n: n.bounds.top, default=None
        )
        return nearest.label.strip() if nearest is not None else None


def _text_between(text: str, reading: ReadValue) -> str | None:
    """Return the part of a text after the last occurrence of `after` and before `until`."""
    place = text.casefold().rfind(reading.after.casefold()) if reading.after else 0
    rest = text[place + len(reading.after) :] if place >= 0 else ""
    stop = rest.casefold().find(reading.until.casefold()) if reading.until else rest.find("\n") if reading.after else -1
    if stop < 0 and reading.until:
        return None
    return (rest[:stop] if stop >= 0 else rest).strip() or None


def field_at(screen: Targets, at: Point) -> Node | None:
    """Return the text field at a point."""
    return next((node for node in reversed(screen.nodes) if is_field(node) and node.bounds.contains(*at)), None)


def quoted(text: str) -> str:
    """Return the quoted part of a reply, else all of it."""
    for left, right in (('"', '"'), ("“", "”"), ("「", "」"), ("‘", "’")):
        begin = text.find(left)
        end = text.find(right, begin + 1) if begin >= 0 else -1
        if end > begin + 1:
            return text[begin + 1 : end].strip()
    return text.strip()


def number(text: str) -> float | None:
    """Return the first number in a text. A time of day counts by hours and minutes: `09:05` is 9.05."""
    # Commas separate thousands.
    digits = "".join(_leading_number(text.replace(",", "")))
    try:
        return float(digits.replace(":", "."))
    except ValueError:
        return None


def _leading_number(text: str) -> Iterator[str]:
    started = point = False
    for sign in text[:PLAYBOOK_TEXT]:
        if sign in ".:" and started and not point:
            point = True
            yield sign
        elif sign.isascii() and sign.isdigit():
            started = True
            yield sign
        elif started:
            return


def _belongs_to(root: Node, names: tuple[str, ...]) -> bool:
    return any(name in root.package.casefold() for name in names)


def is_field(node: Node) -> bool:
    """Return True if one can type into the node."""
    return node.cls.endswith("EditText") or (node.focusable and "Edit" in node.cls)


def _shorten(node: Node) -> Node:
    """Return a node with very long texts cut."""
    if len(node.text) <= PLAYBOOK_TEXT and len(node.desc) <= PLAYBOOK_TEXT:
        return node
    return replace(node, text=node.text[:PLAYBOOK_TEXT], desc=node.desc[:PLAYBOOK_TEXT])
