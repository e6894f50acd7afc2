"""A screen as a numbered list of what can be touched or read on it, in words for one who reads rather than looks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lab.core.plain_text import plain
from lab.core.read_text import ReadText
from lab.core.step import Point
from lab.core.ui_tree import Bounds, Node, UiTree

SPACE = 1000
"""Places on the screen are told in thousandths of its width and height, 0 to 999."""

_KEYBOARD = re.compile(r"keyboard|inputmethod|\.ime\b", re.IGNORECASE)
READ_ROLE = "read"
"""What stands in the place of a role where words were read from the picture: no phone has said what they are."""
_LONGEST = 300
"""Characters of one element's words that are told."""


class ScreenElement(NamedTuple):
    """One thing on the screen: its number (from 1), what it is, its words, and where a touch reaches it, in pixels.

    `box` is where its words stand (pixels), of one that was read from the picture.
    """

    number: int
    role: str
    words: str
    state: tuple[str, ...]
    at: Point
    box: Bounds | None = None


def elements(tree: UiTree, size: Point) -> list[ScreenElement]:
    """What can be touched or read, in drawing order.

    The words inside something that is touched as a whole are its own; what lies under a later window is left out,
    and so are a keyboard's single letters: text is typed at once.
    """
    elements_seen: list[ScreenElement] = []
    frames = [root.bounds for root in tree.roots]
    for place, root in enumerate(tree.roots):
        keyboard = _KEYBOARD.search(root.package) is not None
        for node in _listed_nodes(root):
            words = _words(node)
            at = _reach(node, root, frames[place + 1 :], size)
            if at is None or (keyboard and len(words) < 2):
                continue
            elements_seen.append(ScreenElement(len(elements_seen) + 1, _role(node), words, tuple(_state(node)), at))
    return elements_seen


def read_elements(text: ReadText, size: Point, first: int = 1) -> list[ScreenElement]:
    """The lines that were read from a screen's picture, each with its box; numbered from `first` on."""
    screen = Bounds(0, 0, *size)
    boxes = [(line.text, line.box.intersection(screen)) for line in text.lines]
    lines = [(words, box) for words, box in boxes if box.area and words.strip()]
    return [
        ScreenElement(number, READ_ROLE, _short(plain(words.strip(), lines=False)), (), box.center, box)
        for number, (words, box) in enumerate(lines, first)
    ]


def element_lines(screen_elements: Sequence[ScreenElement], size: Point, most: int = 200) -> list[str]:
    """One line for each element, `12 button "Order now" at 500,740`; says how many it leaves out.

    One that was read has its box, too: `12 read "Order now" at 500,740 in 410,725 to 590,755`.
    """
    lines = []
    for element in screen_elements[:most]:
        words = f' "{element.words}"' if element.words else ""
        state = f" ({', '.join(element.state)})" if element.state else ""
        x, y = in_thousandths(element.at, size)
        box = f" in {_corners(element.box, size)}" if element.box is not None else ""
        lines.append(f"{element.number} {element.role}{words}{state} at {x},{y}{box}")
    if len(screen_elements) > most:
        lines.append(f"({len(screen_elements) - most} more are not listed)")
    return lines


def _corners(box: Bounds, size: Point) -> str:
    """Its first and its last pixel, in thousandths."""
    (left, top), (right, bottom) = in_thousandths(box[:2], size), in_thousandths((box[2] - 1, box[3] - 1), size)
    return f"{left},{top} to {right},{bottom}"


def in_thousandths(at: Point, size: Point) -> Point:
    """The thousandths of the screen in which the middle of a pixel lies."""
    return int((at[0] + 0.5) * SPACE / max(1, size[0])), int((at[1] + 0.5) * SPACE / max(1, size[1]))


def in_pixels(x: float, y: float, size: Point) -> Point:
    """The pixel in the middle of a thousandth; 1000, which many models say for the edge, is the last pixel."""
    return min(size[0] - 1, int((x + 0.5) * size[0] / SPACE)), min(size[1] - 1, int((y + 0.5) * size[1] / SPACE))


def _listed_nodes(root: Node) -> Iterator[Node]:
    """The nodes worth a line: what can be worked, and words that are not part of such a thing."""
    stack = [(root, False)]
    while stack:
        node, inside = stack.pop()
        workable = _touchable(node) or node.scrollable or _field(node)
        if workable or (node.label.strip() and not inside):
            yield node
        stack += [(child, inside or _touchable(node)) for child in reversed(node.children)]


def _touchable(node: Node) -> bool:
    return node.clickable or node.long_clickable or node.checkable


def _field(node: Node) -> bool:
    return node.cls.endswith("EditText")


def _words(node: Node) -> str:
    """What it says: its own label, then the words inside it that nothing else in it claims."""
    labels = [label for label in (node.text, node.desc) if label.strip()]
    if _touchable(node):
        stack = list(reversed(node.children))
        while stack:
            child = stack.pop()
            if _touchable(child) or _field(child):
                continue
            labels += [label for label in (child.text, child.desc) if label.strip()]
            stack += reversed(child.children)
    words = plain(" · ".join(dict.fromkeys(label.strip() for label in labels)), lines=False)
    return _short(words)


def _short(words: str) -> str:
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"


def _role(node: Node) -> str:
    if _field(node):
        return "field"
    name = node.cls.rpartition(".")[2]
    for part, role in (("Switch", "switch"), ("CheckBox", "checkbox"), ("Radio", "choice"), ("Button", "button")):
        if part in name:
            return role
    if node.scrollable:
        return "list"
    if _touchable(node):
        return "item"
    return "picture" if "Image" in name else "text"


def _state(node: Node) -> Iterator[str]:
    if node.checkable:
        yield "on" if node.checked else "off"
    if node.selected:
        yield "selected"
    if node.focused:
        yield "has the cursor"
    if node.password:
        yield "hidden"
    if node.long_clickable and not node.clickable:
        yield "long press"
    if not node.enabled:
        yield "disabled"


def _reach(node: Node, root: Node, above: Sequence[Bounds], size: Point) -> Point | None:
    """Where a touch reaches this node and not one in it or over it; its middle where nothing is better."""
    visible = node.bounds.intersection(Bounds(0, 0, *size))
    spots = [p for p in _spots(visible) if not any(frame.contains(*p) for frame in above)] if visible.area else []
    if not spots or not _touchable(node):
        return spots[0] if spots else None
    inner = [below for below in node.walk() if below is not node and (_touchable(below) or _field(below))]
    after = _drawn_after(node, root)
    free = (p for p in spots if not any(n.bounds.contains(*p) for n in (*inner, *after)))
    return next(free, spots[0])


def _drawn_after(node: Node, root: Node) -> list[Node]:
    """What can be touched and is drawn over this node in its own window, such as a bar above a list."""
    order = list(root.walk())
    last = next(i for i, each in enumerate(order) if each is node) + sum(1 for _ in node.walk())
    return [each for each in order[last:] if _touchable(each) and each.bounds.intersection(node.bounds).area]


def _spots(bounds: Bounds) -> Iterator[Point]:
    """Pixels of a box to try: its middle, then towards its sides and corners."""
    for across, down in ((4, 4), (2, 4), (6, 4), (4, 2), (4, 6), (1, 4), (7, 4), (1, 1), (7, 1), (1, 7), (7, 7)):
        yield bounds.left + bounds.width * across // 8, bounds.top + bounds.height * down // 8
