"""How many values JSON holds and how deep they nest, told from its bytes before any of them is made.

A megabyte of `[[],[],...` becomes 25 MB of values: who counts them afterwards has made room for them already.
"""

from __future__ import annotations

from collections.abc import Iterator

from lab.core import limits
from lab.core.errors import LabError

_PIECE = 1024**2
_MARKS = bytes(byte if byte in b"[]{}," else ord("0") for byte in range(256))
_SQUARE = bytes.maketrans(b"{}", b"[]")


def check_values(data: bytes | str, what: str) -> None:
    """Raises `LabError` where JSON holds more values than are read; short JSON cannot, and is not looked at."""
    if len(data) <= limits.JSON_VALUES:
        return
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    if data.count(b",") + data.count(b"[") + data.count(b"{") <= limits.JSON_VALUES:
        return
    value_count = 0
    for marks in _marks(data):
        value_count += marks.count(b",") + marks.count(b"[") + marks.count(b"{")
        value_count -= marks.count(b"[]") + marks.count(b"{}")
        if value_count > limits.JSON_VALUES:
            raise LabError(what, f"holds more than the {limits.JSON_VALUES:,} values that are read")


def check_depth(data: bytes | str, what: str) -> None:
    """Raises `LabError` where a row of ours nests more than `limits.ROW_DEPTH` levels.

    Python itself bounds what a decoder follows by 1,000 levels in one version and by 10,000 in the next; what walks
    through the values afterwards is bounded by 1,000 in each.
    """
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if data.count(b"[") + data.count(b"{") <= limits.ROW_DEPTH:
        return
    outer = b"".join(_marks(data)).translate(_SQUARE, b"0,")
    for _ in range(limits.ROW_DEPTH):
        if not outer:
            return
        outer = outer.replace(b"[]", b"")
    if outer:
        raise LabError(what, "is nested too deeply to be read")


def check_items(data: bytes, what: str, levels: int = 1) -> None:
    """As `check_values`, but only of the outermost list's items or object's fields; 2 `levels`: and of theirs."""
    if data.count(b",") <= limits.JSON_VALUES:
        return
    import numpy

    item_count = depth = 0
    for marks in _marks(data):
        array = numpy.frombuffer(marks, numpy.uint8)
        opening = (array == ord("[")) | (array == ord("{"))
        closing = (array == ord("]")) | (array == ord("}"))
        depths = numpy.cumsum(opening.astype(numpy.int64) - closing) + depth
        item_count += int(((array == ord(",")) & (depths <= levels)).sum())
        depth = int(depths[-1]) if len(depths) else depth
        if item_count > limits.JSON_VALUES:
            raise LabError(what, f"holds more than the {limits.JSON_VALUES:,} items that are read")


def _marks(data: bytes) -> Iterator[bytes]:
    """The brackets, braces and commas that stand outside of strings, zeros for what else does; a megabyte at a time.

    What the string marks are is kept from piece to piece; no piece ends within a `\\"`.
    """
    at, inside = 0, 0
    while at < len(data):
        piece = data[at : at + _PIECE]
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2 and len(piece) == _PIECE:
            piece = piece[:-1]
        at += len(piece)
        parts = piece.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        yield b"0".join(parts[inside::2]).translate(_MARKS, b" \t\r\n")
        inside ^= (len(parts) - 1) % 2
