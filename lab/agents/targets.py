"""What a screen offers, found by its words: things to tap, fields, switches, lists, values beside a label."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from msgspec.structs import replace

from lab.core.limits import PLAYBOOK_TEXT
from lab.core.playbook import ReadValue, Target
from lab.core.step import Point
from lab.core.ui_tree import Bounds, Node, UiTree

_SYSTEM = ("systemui", "keyboard", "inputmethod", ".ime", "latin")
_KEYBOARD = _SYSTEM[1:]
_UP = ("Navigate up", "Back", "Close", "Cancel", "返回")
_WORD = re.compile(r"[^\W_\u4e00-\u9fff]+|[\u4e00-\u9fff]")
_TALL = 300
"""Pixels that a list has at least: what is lower scrolls sideways, or is a field."""
_PANEL = 200
"""Pixels from the top below which an app's window does not begin."""


@functools.lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """A text's words in lower case; each Chinese character is one."""
    return tuple(_WORD.findall(text[:PLAYBOOK_TEXT].casefold()))


def mentions(text: str, name: str) -> bool:
    """Whether a name's words stand together in a text, whatever their case; a name of signs, as it stands."""
    whole, part = words(text), words(name)
    if not part:
        return bool(name.strip()) and name.strip() in text[:PLAYBOOK_TEXT]
    return any(whole[i : i + len(part)] == part for i in range(len(whole) - len(part) + 1))


def same_words(text: str, name: str) -> bool:
    """Whether a text says just this."""
    return text.strip() == name.strip() or (bool(words(name)) and words(text) == words(name))


class Targets:
    """One screen: the uppermost window of an app. What the system shows of its own (status bar, keys) is no target."""

    def __init__(self, tree: UiTree) -> None:
        self.tree = tree
        roots = [root for root in tree.roots if root.bounds.area]
        self.nodes: list[Node] = []
        """Everything that the uppermost window of an app shows, in drawing order."""
        self.notices: list[Node] = []
        """What the system says in words: the status bar, notifications."""
        self._over: list[Node] = []
        self._wide = max((root.bounds.right for root in roots), default=0)
        own = [number for number, root in enumerate(roots) if not _is(root, _SYSTEM)]
        if own:
            self.nodes = [_short(node) for node in roots[own[-1]].walk() if node.bounds.area]
            self._over = roots[own[-1] + 1 :]
        system = (root for root in roots if _is(root, _SYSTEM) and not _is(root, _KEYBOARD))
        self.notices = [_short(node) for root in system for node in root.walk() if node.text and node.bounds.area]

    @property
    def package(self) -> str:
        """The app in front."""
        return self.nodes[0].package if self.nodes else ""

    @property
    def look(self) -> int:
        """A number that two screens share when they show the same."""
        return hash(tuple((n.text, n.desc, n.checked, n.selected, n.focused, n.bounds) for n in self.nodes))

    @property
    def labels(self) -> frozenset[str]:
        """All that stands on it."""
        return frozenset(text for node in self.nodes for text in (node.text, node.desc) if text)

    def shows(self, label: str) -> bool:
        """Whether these words stand on the screen, or in a notification."""
        texts = (text for node in (*self.nodes, *self.notices) for text in (node.text, node.desc) if text)
        return any(mentions(text, label) for text in texts)

    # -- things ------------------------------------------------------------------------------------------------

    def find(self, target: Target, *, fields: bool = False) -> Node | None:
        """What is called so: by just these words before among others, what can be tapped before what cannot."""
        if target.at is not None:
            return Node(Bounds(target.at[0], target.at[1], target.at[0] + 1, target.at[1] + 1))
        fits = [node for node in self.nodes if node.enabled and is_field(node) == fields]
        for same in (same_words, mentions):
            nodes = [node for node in fits if same(node.text, target.text) or same(node.desc, target.text)]
            nodes = [node for node in nodes if not target.without or not self._row_says(node, target.without)]
            if target.near:
                nodes = [node for node in nodes if self._distance(node, target.near) is not None]
            if nodes:
                return min(nodes, key=lambda node: self._rank(node, target))
        return None

    def _rank(self, node: Node, target: Target) -> tuple[float, bool, int]:
        near = self._distance(node, target.near) if target.near else None
        return near or 0, not self.tappable(node).clickable, len(node.label)

    def _distance(self, node: Node, near: str) -> float | None:
        """Pixels between a thing and the nearest that has these words, up or down; None where nothing has."""
        others = [n for n in self.nodes if mentions(n.text, near) or mentions(n.desc, near)]
        middle = node.bounds.center[1]
        return min((abs(other.bounds.center[1] - middle) for other in others), default=None)

    def _row_says(self, node: Node, label: str) -> bool:
        box = self.tappable(node).bounds
        inside = [n for n in self.nodes if box.intersection(n.bounds) == n.bounds] or [node]
        return any(mentions(n.text, label) or mentions(n.desc, label) for n in inside)

    def tappable(self, node: Node) -> Node:
        """What a tap on a node reaches: itself, or the smallest thing around it that can be tapped."""
        if node.clickable:
            return node
        around = [n for n in self.nodes if n.clickable and n.bounds.intersection(node.bounds) == node.bounds]
        return min(around, key=lambda n: n.bounds.area, default=node)

    def switch(self, label: str) -> Node | None:
        """What can be ticked or switched and is called so, itself or by the words in its row."""
        fits = [node for node in self.nodes if node.checkable]
        for same in (same_words, mentions):
            own = [node for node in fits if same(node.text, label) or same(node.desc, label)]
            if own:
                return own[0]
        title = self.find(Target(label))
        if title is None:
            return None
        low, high = self.tappable(title).bounds.top, self.tappable(title).bounds.bottom
        return next((node for node in fits if low <= node.bounds.center[1] < high), None)

    def field(self, name: str) -> Node | None:
        """The text field of that name (its hint, its text, the label above); without a name, that with the cursor."""
        fields = [node for node in self.nodes if is_field(node)]
        if not name:
            return next((node for node in fields if node.focused), fields[0] if len(fields) == 1 else None)
        target = self.find(Target(name), fields=True)
        if target is not None:
            return target
        label = self.find(Target(name))
        below = [f for f in fields if label is not None and f.bounds.center[1] >= label.bounds.center[1]]
        return min(below, key=lambda f: f.bounds.top, default=None)

    def again(self, field: Node) -> Node | None:
        """A field seen before, on this screen: it moves when the keyboard comes."""
        fields = [node for node in self.nodes if is_field(node)]
        same = [f for f in fields if (f.id, f.desc) == (field.id, field.desc)] or fields
        return min(same, key=lambda f: abs(f.bounds.center[1] - field.bounds.center[1]), default=None)

    def moved(self, node: Node) -> Node:
        """A thing seen before, where it is now."""
        same = [n for n in self.nodes if (n.id, n.text, n.desc, n.cls) == (node.id, node.text, node.desc, node.cls)]
        return min(same, key=lambda n: abs(n.bounds.center[1] - node.bounds.center[1]), default=node)

    def key(self, *names: str) -> Node | None:
        """A key of the keyboard by its name."""
        return next((n for n in self.tree.nodes() if n.clickable and n.desc in names), None)

    def clear(self, field: Node) -> Node | None:
        """The button in a field's row that empties it."""
        low, high = field.bounds.top, field.bounds.bottom
        buttons = (n for n in self.nodes if n.clickable and words(n.label)[:1] == ("clear",))
        return next((n for n in buttons if low <= n.bounds.center[1] < high), None)

    def left_search(self) -> Node | None:
        """The field, alone at the top of the screen, which holds what was searched before."""
        fields = [node for node in self.nodes if is_field(node)]
        high = len(fields) == 1 and fields[0].bounds.bottom < self.nodes[0].bounds.bottom / 3
        return fields[0] if high and fields[0].text else None

    def list(self) -> Node | None:
        """What scrolls up and down; of several the largest."""
        lists = [n for n in self.nodes if n.scrollable and n.bounds.height > _TALL]
        return max(lists, key=lambda n: n.bounds.area, default=None)

    def up(self) -> Node | None:
        """What leads to the app's first screen, or puts a panel away."""
        return next((n for n in self.nodes if n.clickable and n.label in _UP), None)

    def panel(self) -> bool:
        """Whether what is in front is a sheet or a dialog: it does not fill the screen."""
        box = self.nodes[0].bounds if self.nodes else Bounds(0, 0, 0, 0)
        return bool(self.nodes) and (box.top > _PANEL or box.width < 0.95 * self._wide)

    def typing(self) -> bool:
        """Whether a field has the cursor."""
        return any(node.focused for node in self.nodes if is_field(node))

    def covered(self, at: Point) -> str:
        """What of the system lies over a place: `keyboard`, `notice`, or nothing."""
        over = next((root for root in self._over if root.bounds.contains(*at)), None)
        return "" if over is None else "keyboard" if _is(over, _KEYBOARD) else "notice"

    # -- values ------------------------------------------------------------------------------------------------

    def value(self, reading: ReadValue) -> str | None:
        """What is read of the screen; None where the words are not on it."""
        if reading.beside:
            text = self._beside(reading.beside)
            return _between(text, reading) if text is not None else None
        texts = (text for node in reversed((*self.nodes, *self.notices)) for text in (node.text, node.desc) if text)
        return next((value for text in texts if (value := _between(text, reading))), None)

    def _beside(self, label: str) -> str | None:
        """What stands to the right of a label, else what stands below it."""
        label_node = self.find(Target(label))
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


def _between(text: str, reading: ReadValue) -> str | None:
    """The part of a text after the last time some words stand in it, and before others."""
    place = text.casefold().rfind(reading.after.casefold()) if reading.after else 0
    rest = text[place + len(reading.after) :] if place >= 0 else ""
    stop = rest.casefold().find(reading.until.casefold()) if reading.until else rest.find("\n") if reading.after else -1
    if stop < 0 and reading.until:
        return None
    return (rest[:stop] if stop >= 0 else rest).strip() or None


def field_at(screen: Targets, at: Point) -> Node | None:
    """The text field at a place."""
    return next((node for node in reversed(screen.nodes) if is_field(node) and node.bounds.contains(*at)), None)


def quoted(text: str) -> str:
    """What a reply puts in quotation marks; else all of it."""
    for left, right in (('"', '"'), ("“", "”"), ("「", "」"), ("‘", "’")):
        begin = text.find(left)
        end = text.find(right, begin + 1) if begin >= 0 else -1
        if end > begin + 1:
            return text[begin + 1 : end].strip()
    return text.strip()


def number(text: str) -> float | None:
    """The first number in a text; a time of day counts by its hours and minutes: `09:05` is 9.05."""
    digits = "".join(_leading(text.replace(",", "")))
    try:
        return float(digits.replace(":", "."))
    except ValueError:
        return None


def _leading(text: str) -> Iterator[str]:
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


def _is(root: Node, names: tuple[str, ...]) -> bool:
    return any(name in root.package.casefold() for name in names)


def is_field(node: Node) -> bool:
    """Whether one types into it."""
    return node.cls.endswith("EditText") or (node.focusable and "Edit" in node.cls)


def _short(node: Node) -> Node:
    """A node with only the beginning of what it says, where that is very long."""
    if len(node.text) <= PLAYBOOK_TEXT and len(node.desc) <= PLAYBOOK_TEXT:
        return node
    return replace(node, text=node.text[:PLAYBOOK_TEXT], desc=node.desc[:PLAYBOOK_TEXT])
