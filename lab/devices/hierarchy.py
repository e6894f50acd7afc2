"""What uiautomator writes, as a tree: one window's nodes, or those of all windows in the order they are drawn."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from lab.core.errors import LabError
from lab.core.ui_tree import UiTree

_ENDS = (b"</displays>", b"<displays />", b"<displays/>", b"</hierarchy>")
_PAIR = re.compile(
    rb"&#(5529[6-9]|55[3-9]\d\d|56[0-2]\d\d|5630\d|5631\d);&#(563[2-9]\d|56[4-9]\d\d|57[0-2]\d\d|573[0-3]\d|5734[0-3]);"
)
"""A high and a low surrogate (55296 to 56319, 56320 to 57343) as numeric references, as some Androids write them."""


def whole(output: bytes) -> bytes:
    """The XML in what uiautomator printed; empty where there is none, or not to its end."""
    start = min((at for mark in (b"<?xml", b"<displays", b"<hierarchy") if (at := output.find(mark)) >= 0), default=-1)
    end = max(output.rfind(mark) + len(mark) if mark in output else -1 for mark in _ENDS)
    return output[start:end] if 0 <= start < end else b""


def tree_of(xml: bytes) -> UiTree | None:
    """The tree of a dump; None where it is no XML, or holds no node."""
    xml = _PAIR.sub(_joined, xml)
    try:
        tree = UiTree.from_xml(_all_windows(xml) if b"<displays" in xml[:200] else xml, "uiautomator's dump")
    except (LabError, ElementTree.ParseError, ValueError):
        return None
    return tree if tree.roots else None


def _all_windows(xml: bytes) -> bytes:
    """The nodes of every window of the phone's own display, lowest first, as one hierarchy.

    `uiautomator dump --windows` (Android 11 on) nests windows in displays; each has a `layer` and a hierarchy.
    """
    if b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
        raise ValueError("declares entities")
    top = ElementTree.fromstring(xml)
    display = next((element for element in top.iter("display") if element.get("id") == "0"), top)
    windows = sorted(display.iter("window"), key=lambda window: int(window.get("layer", "0")))
    root = ElementTree.Element("hierarchy", rotation="0")
    for hierarchy in (element for window in windows for element in window.findall("hierarchy")):
        root.set("rotation", hierarchy.get("rotation", "0"))
        root.extend(hierarchy)
    data: bytes = ElementTree.tostring(root, encoding="utf-8")
    return data


def _joined(pair: re.Match[bytes]) -> bytes:
    """Two halves of a character as the one reference that XML allows."""
    high, low = int(pair[1]), int(pair[2])
    return b"&#%d;" % (0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
