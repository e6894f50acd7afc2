"""Opening a stranger's picture: its header is read, and what has more pixels than any screen is never decoded."""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING, NamedTuple

from lab.core.limits import PICTURE_PIXELS
from lab.core.png import png_of

if TYPE_CHECKING:
    from PIL.Image import Image


def too_large(size: tuple[int, int] | None) -> str:
    """Why a picture of so many pixels is not decoded; empty where it is."""
    if size is None or size[0] * size[1] <= PICTURE_PIXELS:
        return ""
    return f"is a picture of {size[0]:,} x {size[1]:,} pixels, more than the {PICTURE_PIXELS:,} that are decoded"


def open_picture(data: bytes) -> Image:
    """A PNG or JPEG, not yet decoded; `ValueError` or `OSError` where it is none or too large. Close it."""
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # ours is asked first; PIL's prints a warning into the terminal
    image = Image.open(io.BytesIO(data), formats=("PNG", "JPEG"))
    if reason := too_large(image.size):
        image.close()
        raise ValueError(reason)
    return image


class MendedPicture(NamedTuple):
    """A PNG or JPEG made of bytes that are neither as they stand, and what was done in a few words."""

    data: bytes
    why: str


def mended_picture(data: bytes) -> MendedPicture | None:
    """A screenshot behind words of adb, with line feeds that a terminal doubled, or of another kind; None if none."""
    start = min((at for mark in _MARKS if (at := data.find(mark, 0, _WORDS)) > 0), default=0)
    behind = data[start:]
    if behind.startswith(_DOUBLED):
        for doubled in (b"\r\n", b"\r\r\n"):
            single = behind.replace(doubled, b"\n")
            if _is_whole_png(single):
                return MendedPicture(single, "line feeds had become CR LF")
        return None
    if start and behind.startswith((_PNG, b"\xff\xd8\xff")):
        return MendedPicture(behind, "words stood before it")
    return _other_kind(data)


_PNG = b"\x89PNG\r\n\x1a\n"
_DOUBLED = (b"\x89PNG\r\r\n\x1a\r\n", b"\x89PNG\r\r\r\n\x1a\r\r\n")
_MARKS = (_PNG, *_DOUBLED, b"\xff\xd8\xff")
_WORDS = 4096
"""Bytes of words that may stand before a picture."""
_OTHERS = ("WEBP", "GIF", "BMP", "AVIF")
_BEGINNINGS = (b"RIFF", b"GIF8", b"BM")


def _is_whole_png(data: bytes) -> bool:
    """Whether every part of a PNG has the checksum that it promises, to the last."""
    at = len(_PNG)
    while data.startswith(_PNG) and at + 12 <= len(data):
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        if zlib.crc32(data[at + 4 : end - 4]) != int.from_bytes(data[end - 4 : end], "big"):
            return False
        if data[at + 4 : at + 8] == b"IEND":
            return True
        at = end
    return False


def _other_kind(data: bytes) -> MendedPicture | None:
    """The first frame of a WebP, GIF, BMP or AVIF as a PNG; None where it is none of them."""
    if not data.startswith(_BEGINNINGS) and data[4:8] != b"ftyp":
        return None
    from PIL import Image

    Image.init()
    Image.MAX_IMAGE_PIXELS = None  # ours is asked first
    try:
        kinds = [kind for kind in _OTHERS if kind in Image.OPEN]
        with Image.open(io.BytesIO(data), formats=kinds) as image:
            if too_large(image.size):
                return None
            kind, pixels = str(image.format), image.convert("RGB").tobytes()
            return MendedPicture(png_of(pixels, image.size), f"a {kind}")
    except (OSError, ValueError, SyntaxError, EOFError):
        return None
