"""Parse a phone's UI dump as a tree and repair it if XML refuses it, the same for phones and for imported files.

Dumps contain what XML cannot express (halves of an emoji, zero bytes, control characters), text around the XML, bare
ampersands, an undeclared encoding, or a truncated end. Windows of `uiautomator dump --windows` become one hierarchy, of
the phone's own display only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lab.core.errors import LabError
from lab.core.run.ui_tree import UiTree
from lab.core.text.text_encoding import decode_text

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_MARKS = (b"<?xml", b"<displays", b"<hierarchy")
_ENDS = (b"</displays>", b"<displays />", b"<displays/>", b"</hierarchy>")
_DECLARED = re.compile(r"\A\s*<\?xml\b[^>]{0,200}?\?>\s*")
_ENCODING = re.compile(rb"<\?xml\b[^>]{0,100}?encoding=['\"]([\w.-]{1,40})['\"]")
_REFERENCE = re.compile(r"&#(?:[xX]([0-9a-fA-F]{1,8})|(\d{1,9}));")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNHELD = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot express (section 2.2, Char)."""
_BARE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});)")
_VALUE = re.compile(r'="([^"]*)"')
_TAG = re.compile(r"<(/?)([A-Za-z_][\w:.$-]*)((?:\s+[\w:.-]+\s*=\s*\"[^\"]*\")*)\s*(/?)>")


class ParsedTree(NamedTuple):
    """A screen's tree, the XML that it was parsed from, and the repairs in words (empty if none)."""

    tree: UiTree
    xml: bytes
    mended: str = ""


def whole_xml(output: bytes) -> bytes:
    """Return the XML in uiautomator's output, empty if there is none or it is truncated."""
    start = min((at for mark in _MARKS if (at := output.find(mark)) >= 0), default=-1)
    end = max(output.rfind(mark) + len(mark) if mark in output else -1 for mark in _ENDS)
    return output[start:end] if 0 <= start < end else b""


def parse_tree(data: bytes, what: str = "the UI tree", *, cut: bool = True) -> ParsedTree:
    """Parse the tree of a dump. Raise `LabError` that names `what` if it cannot be repaired.

    With `cut`, a truncated dump gives the nodes before the cut.
    """
    xml, mended = _merge_windows(data), ""
    try:
        return ParsedTree(UiTree.from_xml(xml, what), xml)
    except LabError as error:
        # No phone declares entities. Such a file is refused and not repaired.
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
            raise
        first_error = error
    xml, mended = _repair(data, what)
    for attempt, why in ((xml, mended), (_close_elements(xml) if cut else b"", "is cut short")):
        try:
            merged = _merge_windows(attempt)
            tree = UiTree.from_xml(merged, what)
        except LabError:
            continue
        # A truncated dump is only useful if some node has a place on the screen.
        if why == mended or any(node.bounds.area for node in tree.nodes()):
            return ParsedTree(tree, merged, why)
    raise first_error


def _merge_windows(xml: bytes) -> bytes:
    """Return the nodes of every window of the phone's own display, lowest first, and other XML unchanged.

    `uiautomator dump --windows` (from Android 11) nests windows in displays. Each has a `layer` and a hierarchy.
    """
    if b"<displays" not in xml[:4096] or b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
        return xml
    from xml.etree import ElementTree

    try:
        top = ElementTree.fromstring(xml[max(0, xml.find(b"<")) :])
    except (ElementTree.ParseError, ValueError, LookupError):
        return xml
    display = next((element for element in top.iter("display") if element.get("id") == "0"), top)
    root = ElementTree.Element("hierarchy", rotation="0")
    for hierarchy in (one for window in sorted(display.iter("window"), key=_layer) for one in window.iter("hierarchy")):
        root.set("rotation", hierarchy.get("rotation", "0"))
        root.extend(hierarchy)
    data: bytes = ElementTree.tostring(root, encoding="utf-8")
    return data


def _layer(window: Element) -> int:
    text = window.get("layer", "0")
    return int(text) if re.fullmatch(r"-?\d{1,9}", text) else 0


def _repair(data: bytes, what: str) -> tuple[bytes, str]:
    """Remove what XML cannot express from a dump. Return it with a few words on the repairs."""
    reasons: list[str] = []
    start = max(0, min((at for mark in _MARKS if (at := data.find(mark)) >= 0), default=data.find(b"<")))
    end = max(data.rfind(mark) + len(mark) if mark in data else -1 for mark in _ENDS)
    end = end if end > start else len(data)
    if data[:start].strip() or data[end:].strip(b" \t\r\n\0"):
        reasons.append("text around the XML")
    text = _decode_xml(data[start:end], what, reasons)
    # The declaration goes, because the result is UTF-8 whatever it was.
    clean = _BARE.sub("&amp;", _PAIR.sub(_join_surrogates, _REFERENCE.sub(_resolve_reference, _DECLARED.sub("", text))))
    clean = _VALUE.sub(lambda value: f'="{value[1].replace("<", "&lt;")}"' if "<" in value[1] else value[0], clean)
    held = _UNHELD.sub("", _SURROGATE.sub("\ufffd", clean))
    if held != _DECLARED.sub("", text):
        reasons.append("characters that XML cannot hold")
    return held.encode(), ", ".join(reasons)


def _decode_xml(data: bytes, what: str, reasons: list[str]) -> str:
    """Decode the XML in its declared encoding, else in the one that fits."""
    try:
        return data.decode("utf-8-sig", "surrogatepass")
    except UnicodeDecodeError:
        declared = _ENCODING.search(data[:1024])
    try:
        name = declared[1].decode() if declared and declared[1].lower() != b"utf-8" else ""
        decoded = decode_text(data, what, name)
        reasons.append(decoded.encoding or "damaged characters")
        return decoded.text
    except LabError:
        reasons.append("damaged characters")
        return data.decode("utf-8", "replace")


def _resolve_reference(match: re.Match[str]) -> str:
    """Return a numeric reference that XML allows unchanged, a surrogate as its character, and nothing for others."""
    code = int(match[1], 16) if match[1] else int(match[2])
    if 0xD800 <= code <= 0xDFFF:
        return chr(code)
    return match[0] if code <= 0x10FFFF and not _UNHELD.match(chr(code)) else ""


def _join_surrogates(pair: re.Match[str]) -> str:
    """Join the two halves of a surrogate pair."""
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _close_elements(xml: bytes) -> bytes:
    """Cut a truncated dump after its last whole tag and close every element. Empty if none is open there."""
    open_names: list[str] = []
    text = xml.decode()
    end = 0
    for tag in _TAG.finditer(text):
        closes, name, _, is_alone = tag.groups()
        if closes and (not open_names or open_names.pop() != name):
            return b""
        if not closes and not is_alone:
            open_names.append(name)
        end = tag.end()
        if not open_names:
            return b""
    closing = "".join(f"</{name}>" for name in reversed(open_names))
    return f"{text[:end]}{closing}".encode() if open_names else b""
