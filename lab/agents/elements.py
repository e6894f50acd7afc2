"""List a screen's elements in words, numbered, for readers that work without the picture."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lab.core.run.step import Point
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.text.plain_text import plain
from lab.core.text.read_text import ReadText

SPACE = 1000
"""Scale of coordinates in text: thousandths of the screen's width and height, 0 to 999."""

_KEYBOARD = re.compile(r"keyboard|inputmethod|\.ime\b", re.IGNORECASE)
READ_ROLE = "read"
"""Role of a line that OCR read from the picture. Its real role is unknown."""
_LONGEST = 300
"""Maximum number of characters of one element's words."""


class ScreenElement(NamedTuple):
    """One element of the screen: number (from 1), role, words, state and the point to touch, in pixels.

    `box` is the box of the words in pixels, for elements that were read from the picture.
    """

    number: int
    role: str
    words: str
    state: tuple[str, ...]
    at: Point
    box: Bounds | None = None


def elements(tree: UiTree, size: Point) -> list[ScreenElement]:
    """Return the elements that can be touched or read, in drawing order.

    Words inside a touchable node belong to that node. Elements under a later window are left out. So are a keyboard's
    single letters, because agents enter a text in one action.
    """
    elements_seen: list[ScreenElement] = []
    frames = [root.bounds for root in tree.roots]
    for place, root in enumerate(tree.roots):
        keyboard = _KEYBOARD.search(root.package) is not None
        for node in _listed_nodes(root):
            words = _words(node)
            at = _touch_point(node, root, frames[place + 1 :], size)
            if at is None or (keyboard and len(words) < 2):
                continue
            elements_seen.append(ScreenElement(len(elements_seen) + 1, _role(node), words, tuple(_state(node)), at))
    return elements_seen


def read_elements(text: ReadText, size: Point, first: int = 1) -> list[ScreenElement]:
    """Return the lines that OCR read from the screenshot, each with its box, numbered from `first`."""
    screen = Bounds(0, 0, *size)
    boxes = [(line.text, line.box.intersection(screen)) for line in text.lines]
    lines = [(words, box) for words, box in boxes if box.area and words.strip()]
    return [
        ScreenElement(number, READ_ROLE, _shorten(plain(words.strip(), lines=False)), (), box.center, box)
        for number, (words, box) in enumerate(lines, first)
    ]


def element_lines(screen_elements: Sequence[ScreenElement], size: Point, most: int = 200) -> list[str]:
    """Return one line per element, `12 button "Order now" at 500,740`, and a last line that counts the omitted ones.

    An element that was read from the picture has its box, too: `12 read "Order now" at 500,740 in 410,725 to 590,755`.
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
    """Return the box's first and last pixel in thousandths."""
    (left, top), (right, bottom) = in_thousandths(box[:2], size), in_thousandths((box[2] - 1, box[3] - 1), size)
    return f"{left},{top} to {right},{bottom}"


def in_thousandths(at: Point, size: Point) -> Point:
    """Return the thousandths of the screen that contain the center of a pixel."""
    return int((at[0] + 0.5) * SPACE / max(1, size[0])), int((at[1] + 0.5) * SPACE / max(1, size[1]))


def in_pixels(x: float, y: float, size: Point) -> Point:
    """Return the pixel at the center of a thousandth. 1000, which many models write for the edge, is the last pixel."""
    return min(size[0] - 1, int((x + 0.5) * size[0] / SPACE)), min(size[1] - 1, int((y + 0.5) * size[1] / SPACE))


def _listed_nodes(root: Node) -> Iterator[Node]:
    """Yield the nodes worth a line: touchable, scrollable and text fields, and words outside touchable nodes."""
    stack = [(root, False)]
    while stack:
        node, inside = stack.pop()
        workable = _is_touchable(node) or node.scrollable or _is_field(node)
        if workable or (node.label.strip() and not inside):
            yield node
        stack += [(child, inside or _is_touchable(node)) for child in reversed(node.children)]


def _is_touchable(node: Node) -> bool:
    return node.clickable or node.long_clickable or node.checkable


def _is_field(node: Node) -> bool:
    return node.cls.endswith("EditText")


def _words(node: Node) -> str:
    """Return the node's own label, then the labels inside it that no touchable node or field inside it owns."""
    labels = [label for label in (node.text, node.desc) if label.strip()]
    if _is_touchable(node):
        stack = list(reversed(node.children))
        while stack:
            child = stack.pop()
            if _is_touchable(child) or _is_field(child):
                continue
            labels += [label for label in (child.text, child.desc) if label.strip()]
            stack += reversed(child.children)
    words = plain(" · ".join(dict.fromkeys(label.strip() for label in labels)), lines=False)
    return _shorten(words)


def _shorten(words: str) -> str:
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"


def _role(node: Node) -> str:
    if _is_field(node):
        return "field"
    name = node.cls.rpartition(".")[2]
    for part, role in (("Switch", "switch"), ("CheckBox", "checkbox"), ("Radio", "choice"), ("Button", "button")):
        if part in name:
            return role
    if node.scrollable:
        return "list"
    if _is_touchable(node):
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


def _touch_point(node: Node, root: Node, above: Sequence[Bounds], size: Point) -> Point | None:
    """Return a point where a touch reaches this node and no node in or above it.

    Fall back to the first visible point. Return None if a later window covers all points or the node is off screen.
    """
    visible = node.bounds.intersection(Bounds(0, 0, *size))
    spots = (
        [p for p in _candidate_points(visible) if not any(frame.contains(*p) for frame in above)]
        if visible.area
        else []
    )
    if not spots or not _is_touchable(node):
        return spots[0] if spots else None
    inner = [below for below in node.walk() if below is not node and (_is_touchable(below) or _is_field(below))]
    after = _drawn_after(node, root)
    free = (p for p in spots if not any(n.bounds.contains(*p) for n in (*inner, *after)))
    return next(free, spots[0])


def _drawn_after(node: Node, root: Node) -> list[Node]:
    """Return touchable nodes that the same window draws over this node, such as a bar above a list."""
    order = list(root.walk())
    last = next(i for i, each in enumerate(order) if each is node) + sum(1 for _ in node.walk())
    return [each for each in order[last:] if _is_touchable(each) and each.bounds.intersection(node.bounds).area]


def _candidate_points(bounds: Bounds) -> Iterator[Point]:
    """Yield candidate pixels of a box: the center, then points towards its sides and corners."""
    for across, down in ((4, 4), (2, 4), (6, 4), (4, 2), (4, 6), (1, 4), (7, 4), (1, 1), (7, 1), (1, 7), (7, 7)):
        yield bounds.left + bounds.width * across // 8, bounds.top + bounds.height * down // 8
