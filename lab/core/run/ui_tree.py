"""UI trees: nodes of a screen, parsed from uiautomator's or Appium's XML and searched by text, id, description."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from lab.core.errors import LabError
from lab.core.values.whole_number import whole_number

if TYPE_CHECKING:
    from xml.etree import ElementTree

Flag = Literal[
    "checkable", "checked", "clickable", "enabled", "focusable", "focused", "scrollable", "long-clickable",
    "password", "selected",
]  # fmt: skip
FLAGS: tuple[Flag, ...] = (
    "checkable", "checked", "clickable", "enabled", "focusable", "focused", "scrollable", "long-clickable",
    "password", "selected",
)  # fmt: skip


class Bounds(NamedTuple):
    """A box in pixels of the screen: left and top are inside, right and bottom are not."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return max(0, self.right - self.left)

    @property
    def height(self) -> int:
        return max(0, self.bottom - self.top)

    @property
    def area(self) -> int:
        return self.width * self.height

    @property
    def center(self) -> tuple[int, int]:
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2

    def contains(self, x: int, y: int) -> bool:
        return self.left <= x < self.right and self.top <= y < self.bottom

    def intersection(self, other: Bounds) -> Bounds:
        """Return the intersection of both boxes. An empty one has no width or no height."""
        left, top = max(self.left, other.left), max(self.top, other.top)
        return Bounds(left, top, max(left, min(self.right, other.right)), max(top, min(self.bottom, other.bottom)))


class Node(msgspec.Struct, frozen=True, omit_defaults=True):
    """One element of a screen, with uiautomator's attributes: `bounds` in pixels, children in drawing order."""

    bounds: Bounds
    text: str = ""
    desc: str = ""
    id: str = ""
    cls: str = "android.view.View"
    package: str = ""
    checkable: bool = False
    checked: bool = False
    clickable: bool = False
    enabled: bool = True
    focusable: bool = False
    focused: bool = False
    scrollable: bool = False
    long_clickable: bool = False
    password: bool = False
    selected: bool = False
    children: tuple[Node, ...] = ()

    @property
    def label(self) -> str:
        """The text, else the description."""
        return self.text or self.desc

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below it, in drawing order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


class UiTree(msgspec.Struct, frozen=True, omit_defaults=True):
    """One screen's nodes, with several roots for several windows (the app, the keyboard, a dialog)."""

    roots: tuple[Node, ...] = ()
    rotation: int = 0

    def nodes(self) -> Iterator[Node]:
        """Yield every node in drawing order: later nodes cover earlier ones."""
        for root in self.roots:
            yield from root.walk()

    def find(
        self,
        *,
        text: str | None = None,
        desc: str | None = None,
        id: str | None = None,
        cls: str | None = None,
        contains: str | None = None,
        clickable: bool | None = None,
    ) -> list[Node]:
        """Return the nodes that match every given criterion. `contains` searches text and desc in any case."""
        needle = contains.casefold() if contains is not None else None
        return [
            node
            for node in self.nodes()
            if (text is None or node.text == text)
            and (desc is None or node.desc == desc)
            # Callers may leave out an id's package.
            and (id is None or node.id == id or node.id.rpartition("/")[2] == id)
            and (cls is None or node.cls == cls or node.cls.rpartition(".")[2] == cls)
            and (needle is None or needle in node.text.casefold() or needle in node.desc.casefold())
            and (clickable is None or node.clickable == clickable)
        ]

    def nodes_at(self, x: int, y: int) -> list[Node]:
        """Return the nodes under a pixel, topmost first."""
        return [node for node in self.nodes() if node.bounds.contains(x, y)][::-1]

    def label_at(self, x: int, y: int) -> str:
        """Return the topmost label under a pixel, skipping a page that covers a smaller, labelled, clickable node."""
        label_nodes = [node for node in self.nodes_at(x, y) if node.label.strip()]
        for above, node in enumerate(label_nodes):
            inner = (below for below in label_nodes[above + 1 :] if below.clickable and below.bounds != node.bounds)
            if node.clickable or not any(below.bounds.intersection(node.bounds) == below.bounds for below in inner):
                return node.label
        return ""

    def target(self, node: Node) -> Node:
        """Return the clickable node that a tap on `node` reaches: itself, or the smallest clickable one around it."""
        if node.clickable:
            return node
        around = [n for n in self.nodes() if n.clickable and n.bounds.intersection(node.bounds) == node.bounds]
        return min(around, key=lambda n: n.bounds.area, default=node)

    def to_xml(self) -> str:
        """Return the tree as `uiautomator dump` writes it."""
        from xml.etree import ElementTree

        hierarchy = ElementTree.Element("hierarchy", rotation=str(self.rotation))
        for index, root in enumerate(self.roots):
            _write_node(root, index, hierarchy)
        return '<?xml version="1.0" encoding="UTF-8" standalone="yes" ?>' + ElementTree.tostring(
            hierarchy, encoding="unicode"
        )

    @classmethod
    def from_xml(cls, xml: str | bytes, what: str = "the UI tree") -> UiTree:
        """Parse uiautomator's or Appium's XML. Raise `LabError` that names `what` if it is neither."""
        from xml.etree import ElementTree

        data = xml.encode("utf-8", "replace") if isinstance(xml, str) else xml
        # Some tools print text before the XML.
        data = data[max(0, data.find(b"<")) :]
        # Entities can expand without bound ("billion laughs").
        if b"<!DOCTYPE" in data[:4096] or b"<!ENTITY" in data:
            raise LabError(what, "declares entities, which no phone does; it is not read")
        try:
            top = ElementTree.fromstring(data)
        except ElementTree.ParseError as error:
            raise LabError(what, f"is not XML ({error})") from error
        except (ValueError, LookupError) as error:
            raise LabError(what, f"is in an encoding that cannot be read ({error})") from error
        if _is_deeper(top, _DEEPEST):
            raise LabError(what, f"nests its nodes more than {_DEEPEST} deep, which no phone does; it is not read")
        return cls(tuple(_read_element(child) for child in top), _parse_int(top.get("rotation")))


_BOUNDS = re.compile(r"\[(-?\d{1,9}),(-?\d{1,9})\]\[(-?\d{1,9}),(-?\d{1,9})\]")


_DEEPEST = 200
"""Maximum levels of nodes. A real screen has about 30, and JSON cannot be written much deeper than this."""


def _is_deeper(top: ElementTree.Element, most: int) -> bool:
    level = list(top)
    for _ in range(most):
        level = [child for element in level for child in element]
    return bool(level)


def _read_element(top: ElementTree.Element) -> Node:
    """Convert an element and all below it, without recursion, because a stranger's may nest deeply."""
    nodes: dict[int, Node] = {}
    order: list[ElementTree.Element] = []
    stack = [top]
    while stack:
        element = stack.pop()
        order.append(element)
        stack.extend(element)
    for element in reversed(order):
        nodes[id(element)] = _node_of(element, tuple(nodes.pop(id(child)) for child in element))
    return nodes[id(top)]


def _node_of(element: ElementTree.Element, children: tuple[Node, ...]) -> Node:
    get = element.get
    match = _BOUNDS.match(get("bounds", ""))
    tag = element.tag if element.tag != "node" else ""
    return Node(
        bounds=Bounds(*map(int, match.groups())) if match else Bounds(0, 0, 0, 0),
        text=get("text", ""),
        desc=get("content-desc", ""),
        id=get("resource-id", ""),
        cls=get("class", "") or tag,
        package=get("package", ""),
        enabled=get("enabled", "true") == "true",
        children=children,
        **{flag.replace("-", "_"): get(flag) == "true" for flag in FLAGS if flag != "enabled"},
    )


def _write_node(node: Node, index: int, parent: ElementTree.Element) -> None:
    from xml.etree import ElementTree

    stack = [(node, index, parent)]
    while stack:
        node, index, parent = stack.pop()
        element = ElementTree.SubElement(
            parent,
            "node",
            {
                "index": str(index),
                "text": _xml_text(node.text),
                "resource-id": _xml_text(node.id),
                "class": _xml_text(node.cls),
                "package": _xml_text(node.package),
                "content-desc": _xml_text(node.desc),
                **{flag: "true" if getattr(node, flag.replace("-", "_")) else "false" for flag in FLAGS},
                "bounds": "[{},{}][{},{}]".format(*node.bounds),
            },
        )
        stack.extend((child, i, element) for i, child in reversed(list(enumerate(node.children))))


_UNHELD = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""Characters that XML 1.0 cannot express, even as references (section 2.2, Char). Compiled at first use: 5 ms."""


def _xml_text(text: str) -> str:
    """Return text that XML 1.0 can express. Other characters become visible escapes."""
    return text if text.isprintable() else re.sub(_UNHELD, lambda match: f"\\u{ord(match[0]):04x}", text)


def _parse_int(text: str | None) -> int:
    return whole_number(text or "") or 0
