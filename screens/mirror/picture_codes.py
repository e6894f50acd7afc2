"""Escape codes for a picture: Kitty's graphics, iTerm2's inline images, or sixel."""

from __future__ import annotations

import base64
import io
import re
from typing import TYPE_CHECKING, NamedTuple

from lab.core.safe_images import open_picture
from lab.core.step import Point
from screens.mirror.marks import PhoneMark
from screens.mirror.terminal_graphics import TerminalGraphics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PIL.Image import Image

_INK = (255, 59, 107)
_CHUNK = 4096
"""Maximum bytes of base64 in one message of Kitty's protocol."""


class PictureCells(NamedTuple):
    """Position of a picture in its widget, in cells, and the codes that draw it at the cursor."""

    left: int
    top: int
    columns: int
    rows: int
    codes: str


def fit_cells(picture: Point, room: Point, cell: Point) -> tuple[int, int, int, int]:
    """Return left, top, columns and rows of a picture (pixels) centred in `room` (cells), in its aspect ratio."""
    scale = min(room[0] * cell[0] / picture[0], room[1] * cell[1] / picture[1])
    columns = max(1, min(room[0], round(picture[0] * scale / cell[0])))
    rows = max(1, min(room[1], round(picture[1] * scale / cell[1])))
    return (room[0] - columns) // 2, (room[1] - rows) // 2, columns, rows


def picture_cells(image: Image, room: Point, graphics: TerminalGraphics, number: int) -> PictureCells:
    """Return a picture as the codes of `graphics`, as large as `room` (columns, rows) allows.

    `number` identifies it in Kitty's protocol. A later picture of the same number replaces it.
    """
    cell = graphics.cell_size
    left, top, columns, rows = fit_cells(image.size, room, cell)
    pixel_size = columns * cell[0], rows * cell[1]
    # Kitty and iTerm2 scale pictures themselves: to reduce a larger one only saves bytes.
    if graphics.kind == "sixel" or pixel_size[0] < image.width:
        image = image.resize(pixel_size, reducing_gap=2.0)
    match graphics.kind:
        case "kitty":
            codes = kitty_codes(image, columns, rows, number)
        case "iterm2":
            codes = iterm2_codes(image, columns, rows)
        case _:
            codes = sixel_codes(image, graphics.registers)
    return PictureCells(left, top, columns, rows, codes)


def kitty_codes(image: Image, columns: int, rows: int, number: int) -> str:
    """Return the codes of Kitty's graphics protocol: the PNG in chunks, shown at the cursor. The terminal sends no
    reply.

    Source: sw.kovidgoyal.net/kitty/graphics-protocol, "Transmission" and "Display".
    """
    data = _png(image)
    chunks = [data[at : at + _CHUNK] for at in range(0, len(data), _CHUNK)]
    # q=2 suppresses replies, which would arrive as keys. C=1 leaves the cursor in place.
    first = f"a=T,f=100,t=d,i={number},p=1,q=2,C=1,c={columns},r={rows}"
    heads = [first, *("q=2" for _ in chunks[1:])]
    more = [1] * (len(chunks) - 1) + [0]
    return "".join(
        f"\x1b_G{head},m={flag};{chunk}\x1b\\" for head, flag, chunk in zip(heads, more, chunks, strict=True)
    )


def kitty_end(number: int) -> str:
    """Return the codes that delete the picture of that number from Kitty."""
    return f"\x1b_Ga=d,d=I,i={number},q=2\x1b\\"


def iterm2_codes(image: Image, columns: int, rows: int) -> str:
    """Return the codes of iTerm2's inline image, shown at the cursor. Source: iterm2.com/documentation-images.html."""
    data = _png(image)
    size = len(base64.b64decode(data))
    return (
        f"\x1b]1337;File=inline=1;size={size};width={columns};height={rows};preserveAspectRatio=0;"
        f"doNotMoveCursor=1:{data}\x07"
    )


def sixel_codes(image: Image, registers: int) -> str:
    """Return sixel codes, one sixel pixel for each pixel, in at most `registers` colours (256 at most).

    For each band of six rows and each colour in it, a byte for each column holds a bit for each row with that colour.
    Source: DEC EK-VT38T-UG, "Sixel graphics".
    """
    import numpy as np
    from PIL.Image import Dither

    paletted = image.convert("RGB").quantize(max(2, min(registers, 256)), dither=Dither.NONE)
    width, height = paletted.size
    colours = np.asarray(paletted.getpalette(), dtype=np.uint16).reshape(-1, 3) * 100 // 255
    pixels = np.asarray(paletted)
    parts = [b'\x1bP0;1;0q"1;1;%d;%d' % (width, height)]
    parts += [b"#%d;2;%d;%d;%d" % (n, *colours[n]) for n in np.unique(pixels)]
    weights = np.array([1, 2, 4, 8, 16, 32], dtype=np.uint8)
    for top in range(0, height, 6):
        band = pixels[top : top + 6]
        rows = []
        for colour in np.unique(band):
            bits = weights[: len(band)] @ (band == colour) + 63
            rows.append(b"#%d" % colour + _REPEATED.sub(_repeat, bits.astype(np.uint8).tobytes().rstrip(b"?")))
        parts.append(b"$".join(rows) + b"-")
    return b"".join(parts).decode("ascii") + "\x1b\\"


_REPEATED = re.compile(rb"([?-~])\1{3,}")


def _repeat(match: re.Match[bytes]) -> bytes:
    return b"!%d%s" % (len(match[0]), match[1])


def _png(image: Image) -> str:
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=1)
    return base64.b64encode(out.getvalue()).decode("ascii")


def marked(data: bytes | None, size: Point, marks: Sequence[PhoneMark]) -> Image | None:
    """Draw marks (in pixels of a phone of `size`) on a stored picture. Return None if the picture is unreadable."""
    from PIL import ImageDraw

    if data is None:
        return None
    try:
        with open_picture(data) as stored:
            image = stored.convert("RGB")
    except (OSError, ValueError, SyntaxError):
        return None
    pen, scale = ImageDraw.Draw(image), image.width / size[0]
    unit = max(image.size) / 100
    for mark in marks:
        if mark.at is None:
            continue
        x, y = mark.at[0] * scale, mark.at[1] * scale
        end = None if mark.to is None else (mark.to[0] * scale, mark.to[1] * scale)
        if mark.kind in ("box", "evidence") and end is not None:
            pen.rectangle((x, y, *end), outline=_INK, width=round(unit / 2))
            continue
        ring = 2.2 * unit
        pen.ellipse((x - ring, y - ring, x + ring, y + ring), outline=_INK, width=round(unit / 2))
        if end is not None:
            pen.line((x, y, *end), fill=_INK, width=round(unit / 2))
            pen.ellipse((end[0] - unit, end[1] - unit, end[0] + unit, end[1] + unit), fill=_INK)
    return image
