"""Open a stranger's picture safely: check the size in its header before decoding it."""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING, NamedTuple

from lab.core.run.input_limits import PICTURE_PIXELS
from lab.core.values.png import png_of

if TYPE_CHECKING:
    from PIL.Image import Image


def size_problem(size: tuple[int, int] | None) -> str:
    """Return why a picture of this size is not decoded, empty if it is."""
    if size is None or size[0] * size[1] <= PICTURE_PIXELS:
        return ""
    return f"is a picture of {size[0]:,} x {size[1]:,} pixels, more than the {PICTURE_PIXELS:,} that are decoded"


def open_picture(data: bytes) -> Image:
    """Open a PNG or JPEG without decoding it. Raise `ValueError` or `OSError` if it is not one or too large.

    The caller closes it.
    """
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # ours is asked first; PIL's prints a warning into the terminal
    image = Image.open(io.BytesIO(data), formats=("PNG", "JPEG"))
    if reason := size_problem(image.size):
        image.close()
        raise ValueError(reason)
    return image


class MendedPicture(NamedTuple):
    """A PNG or JPEG recovered from damaged bytes, and a few words on the repair."""

    data: bytes
    why: str


def repair_picture(data: bytes) -> MendedPicture | None:
    """Recover a screenshot behind text, with doubled line feeds or in another format, or None if impossible.

    A terminal between adb and the file doubles line feeds.
    """
    start = min((at for mark in _MARKS if (at := data.find(mark, 0, _MOST_TEXT)) > 0), default=0)
    behind = data[start:]
    if behind.startswith(_DOUBLED_HEADS):
        for doubled in (b"\r\n", b"\r\r\n"):
            single = behind.replace(doubled, b"\n")
            if _is_whole_png(single):
                return MendedPicture(single, "line feeds had become CR LF")
        return None
    if start and behind.startswith((_PNG, b"\xff\xd8\xff")):
        return MendedPicture(behind, "words stood before it")
    return _convert_other_format(data)


_PNG = b"\x89PNG\r\n\x1a\n"
_DOUBLED_HEADS = (b"\x89PNG\r\r\n\x1a\r\n", b"\x89PNG\r\r\r\n\x1a\r\r\n")
_MARKS = (_PNG, *_DOUBLED_HEADS, b"\xff\xd8\xff")
_MOST_TEXT = 4096
"""Maximum bytes of text before a picture."""
_OTHER_FORMATS = ("WEBP", "GIF", "BMP", "AVIF")
_OTHER_HEADS = (b"RIFF", b"GIF8", b"BM")


def _is_whole_png(data: bytes) -> bool:
    """Return True if every chunk of a PNG up to the last has its right checksum."""
    at = len(_PNG)
    while data.startswith(_PNG) and at + 12 <= len(data):
        # A chunk has 4 bytes of length, 4 of type, its data and 4 of checksum.
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        if zlib.crc32(data[at + 4 : end - 4]) != int.from_bytes(data[end - 4 : end], "big"):
            return False
        if data[at + 4 : at + 8] == b"IEND":
            return True
        at = end
    return False


def _convert_other_format(data: bytes) -> MendedPicture | None:
    """Return the first frame of a WebP, GIF, BMP or AVIF as PNG, or None for other bytes."""
    if not data.startswith(_OTHER_HEADS) and data[4:8] != b"ftyp":
        return None
    from PIL import Image

    Image.init()
    Image.MAX_IMAGE_PIXELS = None  # ours is asked first
    try:
        kinds = [kind for kind in _OTHER_FORMATS if kind in Image.OPEN]
        with Image.open(io.BytesIO(data), formats=kinds) as image:
            if size_problem(image.size):
                return None
            kind, pixels = str(image.format), image.convert("RGB").tobytes()
            return MendedPicture(png_of(pixels, image.size), f"a {kind}")
    except (OSError, ValueError, SyntaxError, EOFError):
        return None
