"""Bounds on the number of JSON values and their nesting, checked on the bytes before decoding.

A megabyte of `[[],[],...` decodes to 25 MB of values, so that counting after decoding would be too late.
"""

from __future__ import annotations

from collections.abc import Iterator

from lab.core.errors import LabError
from lab.core.run import input_limits

_PIECE = 1024**2
_MARKS = bytes(byte if byte in b"[]{}," else ord("0") for byte in range(256))
_SQUARE = bytes.maketrans(b"{}", b"[]")


def check_values(data: bytes | str, what: str) -> None:
    """Raise `LabError` if JSON has more values than the limit. JSON with fewer bytes than that needs no scan."""
    if len(data) <= input_limits.JSON_VALUES:
        return
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    # A cheap upper bound, which also counts the marks inside strings.
    if data.count(b",") + data.count(b"[") + data.count(b"{") <= input_limits.JSON_VALUES:
        return
    value_count = 0
    for marks in _structural_marks(data):
        value_count += marks.count(b",") + marks.count(b"[") + marks.count(b"{")
        value_count -= marks.count(b"[]") + marks.count(b"{}")
        if value_count > input_limits.JSON_VALUES:
            raise LabError(what, f"holds more than the {input_limits.JSON_VALUES:,} values that are read")


def check_depth(data: bytes | str, what: str) -> None:
    """Raise `LabError` if a row of our own nests more than `input_limits.ROW_DEPTH` levels.

    Python's decoders stop at 1,000 levels in one version and at 10,000 in the next. Code that walks the values stops at
    1,000 in each.
    """
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if data.count(b"[") + data.count(b"{") <= input_limits.ROW_DEPTH:
        return
    outer = b"".join(_structural_marks(data)).translate(_SQUARE, b"0,")
    for _ in range(input_limits.ROW_DEPTH):
        if not outer:
            return
        # Each round removes the innermost level of brackets.
        outer = outer.replace(b"[]", b"")
    if outer:
        raise LabError(what, "is nested too deeply to be read")


def check_items(data: bytes, what: str, levels: int = 1) -> None:
    """Check like `check_values`, but only the items of the outermost list or object (with `levels=2` also theirs)."""
    if data.count(b",") <= input_limits.JSON_VALUES:
        return
    # Imported late: most data returned above.
    import numpy

    item_count = depth = 0
    for marks in _structural_marks(data):
        array = numpy.frombuffer(marks, numpy.uint8)
        opening = (array == ord("[")) | (array == ord("{"))
        closing = (array == ord("]")) | (array == ord("}"))
        depths = numpy.cumsum(opening.astype(numpy.int64) - closing) + depth
        item_count += int(((array == ord(",")) & (depths <= levels)).sum())
        depth = int(depths[-1]) if len(depths) else depth
        if item_count > input_limits.JSON_VALUES:
            raise LabError(what, f"holds more than the {input_limits.JSON_VALUES:,} items that are read")


def _structural_marks(data: bytes) -> Iterator[bytes]:
    """Yield the brackets, braces and commas outside of strings, with zeros for other text, a megabyte at a time.

    Whether a string is open carries over from piece to piece. No piece ends within a `\\"`.
    """
    at, inside = 0, 0
    while at < len(data):
        piece = data[at : at + _PIECE]
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2 and len(piece) == _PIECE:
            piece = piece[:-1]
        at += len(piece)
        # Without escaped quotes, every second part is the inside of a string.
        parts = piece.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        yield b"0".join(parts[inside::2]).translate(_MARKS, b" \t\r\n")
        inside ^= (len(parts) - 1) % 2
