"""Screenshots by the phone's own screencap: lossless PNG for storage, raw pixels for live view."""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING, NamedTuple

from lab.core.run.step import Point
from lab.core.seams import Frame, Trouble
from lab.core.values.safe_images import open_picture
from lab.devices.adb.shell import Shell

if TYPE_CHECKING:
    from PIL.Image import Image

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_END = b"\0\0\0\0IEND\xaeB`\x82"
_WARNING = 4096
"""Bytes of warnings that a phone with several displays may print before its picture."""
_MOST = 128 << 20
_LARGEST = 16384
_DARK, _MOSTLY = 16, 0.5
"""Least pixels per byte of a PNG that may be black, and the share of dark pixels of a black picture."""
_OTHER_SHAPE = 0.01
"""Most relative difference of two aspect ratios that still count as equal, because sizes are rounded."""
_BYTES = {1: 4, 2: 4, 3: 3, 4: 2, 5: 4}
"""Bytes per pixel of Android's pixel formats: RGBA_8888, RGBX_8888, RGB_888, RGB_565, BGRA_8888."""


class RawScreen(NamedTuple):
    """Raw pixels of a screen, in one of Android's formats (see `_BYTES`)."""

    size: Point
    format: int
    pixels: bytes

    def rgb(self) -> bytes:
        """Return the pixels as height x width x 3 bytes."""
        import numpy as np

        if self.format == 4:
            words = np.frombuffer(self.pixels, "<u2")
            red, green, blue = words >> 11, words >> 5 & 63, words & 31
            parts = (red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2)
            return np.stack(parts, axis=-1).astype(np.uint8).tobytes()
        pixels = np.frombuffer(self.pixels, np.uint8).reshape(-1, _BYTES[self.format])
        return pixels[:, 2::-1].tobytes() if self.format == 5 else pixels[:, :3].tobytes()


def png(shell: Shell, panel: str = "") -> bytes:
    """Return a screenshot of one physical display as a complete PNG file. Raise `Trouble` if the phone gives none."""
    return checked(shell.raw(f"screencap -p{_display_option(panel)} 2>/dev/null", most=_MOST), shell.who)


def _display_option(panel: str) -> str:
    return f" -d {panel}" if panel.isdigit() else ""


def is_dark(data: bytes) -> bool:
    """Return True if a PNG is black apart from its bars. A file with much data cannot be."""
    size = png_size(data)
    if len(data) > size[0] * size[1] // _DARK:
        return False
    from PIL import Image

    with Image.open(io.BytesIO(data)) as picture:
        return _is_black(picture)


def is_dark_frame(frame: Frame) -> bool:
    """Return True if a live frame is black apart from its bars."""
    from PIL import Image

    return _is_black(Image.frombytes("RGB", frame.size, frame.rgb))


def _is_black(picture: Image) -> bool:
    from PIL.Image import Resampling

    black = picture.convert("L").resize((32, 64), Resampling.BOX).histogram()
    return sum(black[:8]) > _MOSTLY * 32 * 64


def checked(data: bytes, who: str) -> bytes:
    """Return screencap's output from the start of its PNG. Raise `Trouble` if that is not a complete PNG."""
    start = data.find(_SIGNATURE, 0, _WARNING)
    if start < 0:
        raise Trouble(who, "its screenshot failed." if len(data) < _WARNING else "its screenshot is no picture.")
    data = data[start:] if start else data
    size = png_size(data)
    if not (0 < size[0] <= _LARGEST and 0 < size[1] <= _LARGEST):
        raise Trouble(who, "its screenshot is no picture.")
    if not data.endswith(_END):
        raise Trouble(who, "its screenshot was cut short.")
    return data


def png_size(data: bytes) -> Point:
    """Return width and height from a PNG's first chunk, or (0, 0) if it is not IHDR."""
    if len(data) < 33 or data[12:16] != b"IHDR":
        return (0, 0)
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def scaled(data: bytes, size: Point | None) -> bytes:
    """Return a PNG scaled to the units of touches, or the same bytes if it is, or if its aspect ratio differs.

    With `wm size`, Android up to 10 captures the panel's own pixels, while trees and touches use the override's.
    """
    own = png_size(data)
    if size is None or own == size or abs(own[0] * size[1] - own[1] * size[0]) > own[1] * size[1] * _OTHER_SHAPE:
        return data
    from PIL import Image

    out = io.BytesIO()
    with open_picture(data) as picture:
        picture.convert("RGB").resize(size, Image.Resampling.LANCZOS).save(out, "PNG", compress_level=1)
    return out.getvalue()


def raw(shell: Shell, panel: str = "") -> RawScreen:
    """Return the screen's pixels, decoded from a PNG if their format is unsupported. Raise `Trouble` if incomplete."""
    data = shell.raw(f"screencap{_display_option(panel)} 2>/dev/null", most=_MOST)
    if not _is_deep(data):
        return parsed(data, shell.who)
    with open_picture(png(shell, panel)) as picture:
        return RawScreen(picture.size, 3, picture.convert("RGB").tobytes())


def _is_deep(data: bytes) -> bool:
    """Return True for pixels of more than eight bits a colour: RGBA_FP16 (22) or RGBA_1010102 (43)."""
    if len(data) < 16:
        return False
    width, height, format = struct.unpack_from("<3I", data)
    return 0 < width <= _LARGEST and 0 < height <= _LARGEST and format in (22, 43)


def parsed(data: bytes, who: str) -> RawScreen:
    """Parse raw screencap output: width, height, format, a colour space on Android 9 and later, then the pixels."""
    if len(data) < 16:
        raise Trouble(who, "its screenshot failed.")
    width, height, format = struct.unpack_from("<3I", data)
    if not (0 < width <= _LARGEST and 0 < height <= _LARGEST) or format not in _BYTES:
        raise Trouble(who, "its screenshot is no picture.")
    count = width * height * _BYTES[format]
    # With and without the colour space.
    for head in (16, 12):
        if len(data) == head + count:
            return RawScreen((width, height), format, data[head:])
    raise Trouble(who, "its screenshot was cut short." if len(data) < 12 + count else "its screenshot is no picture.")
