"""Redaction of pictures: black boxes, and no metadata."""

from __future__ import annotations

import io
from collections.abc import Iterable

from lab.core.run_records import Blob
from lab.core.safe_images import open_picture
from lab.core.ui_tree import Bounds

_PNG = b"\x89PNG\r\n\x1a\n"
_PIXELS = frozenset({b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"sBIT", b"pHYs", b"bKGD"})
"""PNG chunks that only describe pixels (PNG, third edition, section 11)."""
_JFIF = frozenset({"jfif", "jfif_version", "jfif_unit", "jfif_density", "dpi", "progressive", "progression"})


def redact_picture(data: bytes, parts: Iterable[Bounds]) -> Blob:
    """Return a picture as PNG with these parts black and no metadata, or a 1x1 black pixel if it cannot be decoded."""
    from PIL import Image, ImageDraw

    try:
        with open_picture(data) as picture:
            # Pasting copies pixels only. A converted picture would keep its metadata, which save() writes.
            image = Image.new("RGB", picture.size)
            image.paste(picture.convert("RGB"))
    except (OSError, ValueError, SyntaxError):
        image = Image.new("RGB", (1, 1))
    draw = ImageDraw.Draw(image)
    for part in parts:
        box = part.intersection(Bounds(0, 0, *image.size))
        if box.area:
            # Pillow includes the last pixel, `Bounds` does not.
            draw.rectangle((box.left, box.top, box.right - 1, box.bottom - 1), fill=(0, 0, 0))
    out = io.BytesIO()
    image.save(out, "PNG")
    return Blob(out.getvalue(), "image/png")


def has_metadata(data: bytes) -> bool:
    """Return True if a picture holds more than pixels (texts, places, times, trailing bytes) or cannot be decoded."""
    if data.startswith(_PNG):
        return _png_has_metadata(data)
    try:
        with open_picture(data) as picture:
            # A truncated picture raises only when it is decoded.
            picture.load()
            return not set(picture.info) <= _JFIF or len(picture.getexif()) > 0
    except (OSError, ValueError, SyntaxError):
        return True


def _png_has_metadata(data: bytes) -> bool:
    at = len(_PNG)
    while at + 8 <= len(data):
        kind = data[at + 4 : at + 8]
        at += int.from_bytes(data[at : at + 4], "big") + 12
        if kind not in _PIXELS:
            return True
        if kind == b"IEND":
            return at != len(data)
    return True
