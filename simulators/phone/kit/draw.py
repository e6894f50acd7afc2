"""Boxes to a picture. Only small pieces (corners, letters, glyphs, drawings) are antialiased, once, and cached."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from lab.core.values.png import png_of
from simulators.phone.kit import fonts, glyphs
from simulators.phone.kit.boxes import Box, Drawing, InkLine, Paint, Round, Sign, Window
from simulators.phone.kit.picture_cache import keep_pictures
from simulators.phone.kit.theme import HEIGHT, WIDTH

if TYPE_CHECKING:
    from PIL.Image import Image

Artist = Callable[[str, int, int, bool], "Image"]
"""Painter of one kind of picture: takes its key, width, height and True for the dark theme."""


def picture(windows: list[Window], artists: Mapping[str, Artist]) -> Image:
    """Return the RGB picture of these windows, drawn from the first (lowest) to the last."""
    from PIL import Image

    canvas = Image.new("RGB", (WIDTH, HEIGHT))
    for window in windows:
        if window.shade:
            keep = 255 - window.shade
            canvas = canvas.point([v * keep // 255 for v in range(256)] * 3)
        _box(window.root, canvas, 0, 0, artists)
    return canvas


def _box(box: Box, canvas: Image, dx: int, dy: int, artists: Mapping[str, Artist]) -> None:
    for paint in box.paints:
        _paint(paint, canvas, dx, dy, artists)
    if box.scroll is None:
        for child in box.children:
            _box(child, canvas, dx, dy, artists)
        return
    left, top, right, bottom = box.bounds
    if right <= left or bottom <= top:
        return
    # Children are painted on a copy of the list's area, which clips them.
    port = canvas.crop((left + dx, top + dy, right + dx, bottom + dy))
    for child in box.children:
        _box(child, port, -left, -top, artists)
    canvas.paste(port, (left + dx, top + dy))


def _paint(paint: Paint, canvas: Image, dx: int, dy: int, artists: Mapping[str, Artist]) -> None:
    match paint:
        case Round():
            _round(paint, canvas, dx, dy)
        case InkLine(text, x, y, size, bold, rgb):
            if text:
                ink = fonts.mask(text, size, bold)
                canvas.paste(rgb, (x + dx, y + dy, x + dx + ink.width, y + dy + ink.height), ink)
        case Sign(name, x, y, size, rgb):
            canvas.paste(rgb, (x + dx, y + dy, x + dx + size, y + dy + size), glyphs.glyph(name, size))
        case Drawing(kind, key, bounds, radius, dark):
            if bounds.area:
                art = artists[kind](key, bounds.width, bounds.height, dark)
                mask = rounded(bounds.width, bounds.height, radius) if radius else None
                canvas.paste(art, (bounds.left + dx, bounds.top + dy), mask)


def _round(paint: Round, canvas: Image, dx: int, dy: int) -> None:
    from PIL import ImageDraw

    bounds, radius, rgb, border = paint
    left, top, right, bottom = bounds.left + dx, bounds.top + dy, bounds.right + dx, bounds.bottom + dy
    if right <= left or bottom <= top:
        return
    radius = min(radius, (right - left) // 2, (bottom - top) // 2)
    draw = ImageDraw.Draw(canvas)
    if border:
        sides = (
            (left + radius, top, right - radius, top + border),
            (left + radius, bottom - border, right - radius, bottom),
            (left, top + radius, left + border, bottom - radius),
            (right - border, top + radius, right, bottom - radius),
        )
    else:
        sides = (
            (left + radius, top, right - radius, bottom),
            (left, top + radius, left + radius, bottom - radius),
            (right - radius, top + radius, right, bottom - radius),
            (0, 0, 0, 0),
        )
    for a, b, c, d in sides:
        if c > a and d > b:
            # Pillow's rectangles include their right and lower edge.
            draw.rectangle((a, b, c - 1, d - 1), fill=rgb)
    if radius:
        for mask, x, y in zip(
            _corners(radius, border),
            (left, right - radius, left, right - radius),
            (top, top, bottom - radius, bottom - radius),
            strict=True,
        ):
            canvas.paste(rgb, (x, y, x + radius, y + radius), mask)


@lru_cache(maxsize=256)
def _corners(radius: int, border: int) -> tuple[Image, Image, Image, Image]:
    """Return the four quarters of a disc (or ring): upper left, upper right, lower left, lower right."""
    from PIL import Image, ImageDraw

    over = 4
    big = Image.new("L", (2 * radius * over, 2 * radius * over))
    edge = 2 * radius * over - 1
    pen = ImageDraw.Draw(big)
    pen.ellipse((0, 0, edge, edge), fill=255)
    if border:
        inset = border * over
        pen.ellipse((inset, inset, edge - inset, edge - inset), fill=0)
    disc = big.resize((2 * radius, 2 * radius), Image.Resampling.BOX)
    r, d = radius, 2 * radius
    return disc.crop((0, 0, r, r)), disc.crop((r, 0, d, r)), disc.crop((0, r, r, d)), disc.crop((r, r, d, d))


@keep_pictures(megabytes=6)
def rounded(width: int, height: int, radius: int) -> Image:
    """Return a mask with rounded corners."""
    from PIL import Image

    radius = min(radius, width // 2, height // 2)
    mask = Image.new("L", (width, height), 255)
    if radius:
        a, b, c, d = _corners(radius, 0)
        mask.paste(a, (0, 0))
        mask.paste(b, (width - radius, 0))
        mask.paste(c, (0, height - radius))
        mask.paste(d, (width - radius, height - radius))
    return mask


def png(picture: Image) -> bytes:
    """Return a picture as lossless PNG."""
    return png_of(picture.convert("RGB").tobytes(), picture.size)
