"""The pen that draws dishes and goods, and colours by hue."""

from __future__ import annotations

import colorsys
from typing import TYPE_CHECKING

from simulators.phone.kit.theme import RGB

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw


def tone(hue: float, light: float, vivid: float) -> RGB:
    """Return a colour by its hue (0 to 1), lightness and saturation (0 to 1)."""
    r, g, b = colorsys.hls_to_rgb(hue % 1, light, vivid)
    return round(r * 255), round(g * 255), round(b * 255)


class Pen:
    """Pen for a field from -50 to 50 around the middle. `pick` selects by the dish's own seed."""

    def __init__(self, draw: ImageDraw, x: float, y: float, scale: float, seed: int, dark: bool, colour: str) -> None:
        self.draw, self.x, self.y, self.scale, self.seed, self.colour = draw, x, y, scale, seed, colour
        self.white: RGB = (236, 232, 226) if dark else (255, 253, 249)
        self.shadow: RGB = tone(0.08, 0.2 if dark else 0.78, 0.3)

    def pick(self, options: tuple[RGB, ...], turn: int = 0) -> RGB:
        return options[(self.seed >> (3 * turn)) % len(options)]

    def _scaled(self, *n: float) -> list[float]:
        return [(self.x if i % 2 == 0 else self.y) + v * self.scale for i, v in enumerate(n)]

    def disc(self, x: float, y: float, r: float, rgb: RGB, squash: float = 1.0) -> None:
        a = self._scaled(x - r, y - r * squash, x + r, y + r * squash)
        self.draw.ellipse((a[0], a[1], a[2], a[3]), fill=rgb)

    def box(self, left: float, top: float, right: float, low: float, r: float, rgb: RGB) -> None:
        a = self._scaled(left, top, right, low)
        self.draw.rounded_rectangle((a[0], a[1], a[2], a[3]), r * self.scale, fill=rgb)

    def shape(self, rgb: RGB, *n: float) -> None:
        a = self._scaled(*n)
        self.draw.polygon(list(zip(a[::2], a[1::2], strict=True)), fill=rgb)

    def half(self, x: float, y: float, r: float, rgb: RGB, low: bool = True) -> None:
        a = self._scaled(x - r, y - r, x + r, y + r)
        self.draw.pieslice((a[0], a[1], a[2], a[3]), 0 if low else 180, 180 if low else 360, fill=rgb)

    def wave(self, x: float, y: float, r: float, rgb: RGB, thick: float, start: int = 180, end: int = 360) -> None:
        a = self._scaled(x - r, y - r, x + r, y + r)
        self.draw.arc((a[0], a[1], a[2], a[3]), start, end, fill=rgb, width=round(thick * self.scale))
