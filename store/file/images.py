"""Kind and size of a picture from its first bytes, without decoding."""

from __future__ import annotations

import struct

from lab.core.run.step import Point

_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_END = b"IEND\xaeB`\x82"
_JPEG_END = b"\xff\xd9"
_MAX_SIDE = 2**31 - 1
"""Maximum width or height of a PNG in pixels (ISO 15948, 7.1)."""

_JPEG_SIZES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""JPEG markers that begin a frame header and thus its size (ITU T.81, table B.1)."""


def picture_kind(data: bytes) -> str | None:
    """Return `image/png` or `image/jpeg`, or None for other bytes."""
    if data.startswith(_PNG):
        return "image/png"
    return "image/jpeg" if data.startswith(b"\xff\xd8\xff") else None


def has_end_marker(data: bytes) -> bool:
    """Return True if a PNG or JPEG contains its end marker, even with bytes after it."""
    return (_PNG_END if data.startswith(_PNG) else _JPEG_END) in data


def picture_size(data: bytes) -> Point | None:
    """Return width and height in pixels, or None if the header lacks them."""
    if data.startswith(_PNG) and data[12:16] == b"IHDR" and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return (width, height) if width <= _MAX_SIDE and height <= _MAX_SIDE else None
    return _jpeg_size(data) if data.startswith(b"\xff\xd8") else None


def _jpeg_size(data: bytes) -> Point | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        # A frame header has its height and width in bytes 5 to 8 after the marker (ITU T.81, B.2.2).
        if data[at + 1] in _JPEG_SIZES:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        # A segment's length includes itself, but not the marker.
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None
