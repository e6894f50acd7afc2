"""Numbered elements that AppAgent draws on a screen, derived from its XML, and the cells of its grid.

Source: `traverse_tree` of `scripts/and_controller.py`, the lists of `scripts/task_executor.py` and `self_explorer.py`,
`draw_grid` of `scripts/utils.py`. The minimum distance of 30 pixels is from the project's `config.yaml`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from typing import NamedTuple
from xml.etree import ElementTree

from lab.core.run.step import Point
from store.formats.geometry import Box, centre

_MIN_DISTANCE = 30
_BOUNDS = re.compile(r"\[(-?\d{1,9}),(-?\d{1,9})\]\[(-?\d{1,9}),(-?\d{1,9})\]")
# AppAgent appends a description to an id only below this length.
_SHORT = 20
_CELLS = range(120, 181)
_MOST, _MOST_SEEN = 1000, 20_000
"""Maximum numbers of elements numbered and examined. A real screen has about a hundred."""


class NumberedElement(NamedTuple):
    """One numbered element: AppAgent's own id for it, and its box in pixels."""

    uid: str
    box: Box


def elements(xml: bytes, useless: Collection[str] = ()) -> list[NumberedElement]:
    """Return the elements in the order of their numbers (from 1), without `useless` ones, as the explorer does.

    Clickable elements come first, then focusable ones that are not near a clickable one. Of elements with close centres
    the first is used. `xml` must be XML that `UiTree.from_xml` has read.
    """
    top = ElementTree.fromstring(xml[max(0, xml.find(b"<")) :])
    clickable, focusable = _elements_with(top, "clickable"), _elements_with(top, "focusable")
    lone = [element for element in focusable if not _is_near(element, clickable)]
    return [element for element in [*clickable, *lone] if element.uid not in useless]


def _elements_with(top: ElementTree.Element, flag: str) -> list[NumberedElement]:
    numbered: list[NumberedElement] = []
    stack: list[tuple[ElementTree.Element, ElementTree.Element | None]] = [(top, None)]
    element_count = 0
    while stack and len(numbered) < _MOST and element_count < _MOST_SEEN:
        node, parent = stack.pop()
        stack.extend((child, node) for child in reversed(node))
        box = _box(node)
        if node.get(flag) != "true" or box is None:
            continue
        element_count += 1
        prefix = "" if parent is None or _box(parent) is None else _element_id(parent) + "_"
        element = NumberedElement(f"{prefix}{_element_id(node)}_{node.get('index', '')}", box)
        if not _is_near(element, numbered):
            numbered.append(element)
    return numbered


def _is_near(element: NumberedElement, others: list[NumberedElement]) -> bool:
    here = centre(element.box)
    return any(math.dist(here, centre(other.box)) <= _MIN_DISTANCE for other in others)


def _box(node: ElementTree.Element) -> Box | None:
    match = _BOUNDS.fullmatch(node.get("bounds", ""))
    return (int(match[1]), int(match[2]), int(match[3]), int(match[4])) if match else None


def _element_id(node: ElementTree.Element) -> str:
    left, top, right, bottom = _box(node) or (0, 0, 0, 0)
    name = node.get("resource-id", "").replace(":", ".").replace("/", "_")
    name = name or f"{node.get('class', '')}_{right - left}_{bottom - top}"
    label = node.get("content-desc", "")
    if label and len(label) < _SHORT:
        name += "_" + label.replace("/", "_").replace(" ", "").replace(":", "_")
    return name


def cell(area: int, part: str, size: Point) -> Point:
    """Return the pixel of a part (`top-left`, `right`, otherwise the middle) of a grid cell, counted from 1."""
    width, height = size
    columns, rows = max(1, width // _cell_side(width)), max(1, height // _cell_side(height))
    across, down = width // columns, height // rows
    row, column = divmod(area - 1, columns)
    return column * across + _offset_in_cell(part, "left", "right", across), row * down + _offset_in_cell(
        part, "top", "bottom", down
    )


def _offset_in_cell(part: str, low: str, high: str, length: int) -> int:
    sides = part.split("-")
    return length // 4 if low in sides else length * 3 // 4 if high in sides else length // 2


def _cell_side(length: int) -> int:
    return next((side for side in _CELLS if length % side == 0), _CELLS.start)
