"""A drawn map of the phone's town: streets, blocks, a canal, parks, with pins and a route on top.

A key is `x,y,wide|pins|route`: the middle and width of the map in metres, pins as `x,y,#rrggbb` and the route as `x,y`,
each separated by `;`. East and south are positive.
"""

from __future__ import annotations

import zlib
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from simulators.phone.kit.picture_cache import keep_pictures
from simulators.phone.kit.theme import RGB

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

# Oversampling factor: Pillow's shapes are not antialiased.
_OVER = 2
_STREET = 240
"""Metres between two streets."""
_CANAL = ((-2000, 2900), (600, 2500), (1700, 2150), (2600, 2200), (3700, 1650), (4700, 1750), (9000, 900))
_PARKS = (
    ((1500, 2350), (2350, 2350), (2250, 2950), (1450, 2900)),
    ((3450, 350), (4300, 300), (4450, 950), (3550, 1000)),
    ((4150, 2850), (4750, 2800), (4800, 3300), (4200, 3350)),
    ((350, 700), (900, 650), (850, 1150), (300, 1200)),
)
_FAR = 9000
_LAKE = (3700, 500, 4150, 820)


@keep_pictures(megabytes=12)
def town(key: str, width: int, height: int, dark: bool) -> Image:
    """Return the piece of the town that a key describes."""
    from PIL import Image, ImageDraw

    where, pins, way = (key + "||").split("|")[:3]
    x, y, wide = (float(n) for n in where.split(","))
    view = _View(x, y, width * _OVER / wide, width * _OVER, height * _OVER)
    inks = _DARK if dark else _LIGHT
    big = Image.new("RGB", (width * _OVER, height * _OVER), inks.ground)
    draw = ImageDraw.Draw(big)
    _ground(draw, view, inks)
    if way:
        points = [view.to_pixels(*_pair(point)) for point in way.split(";")]
        draw.line(points, fill=(255, 255, 255), width=18 * _OVER, joint="curve")
        draw.line(points, fill=(48, 106, 214), width=12 * _OVER, joint="curve")
    for pin in filter(None, pins.split(";")):
        place, _, colour = pin.rpartition(",")
        _pin(draw, view.to_pixels(*_pair(place)), _rgb(colour))
    return big.resize((width, height), Image.Resampling.BOX)


class _View:
    """Projection of metres to pixels."""

    def __init__(self, x: float, y: float, scale: float, width: int, height: int) -> None:
        self.x, self.y, self.scale, self.width, self.height = x, y, scale, width, height

    def to_pixels(self, x: float, y: float) -> tuple[float, float]:
        return self.width / 2 + (x - self.x) * self.scale, self.height / 2 + (y - self.y) * self.scale

    def edges(self) -> tuple[int, int, int, int]:
        """Return the first and last visible street to the east, then to the south."""
        across, along = self.width / self.scale / 2, self.height / self.scale / 2
        return (
            int((self.x - across) // _STREET),
            int((self.x + across) // _STREET) + 1,
            int((self.y - along) // _STREET),
            int((self.y + along) // _STREET) + 1,
        )


def _pair(text: str) -> tuple[float, float]:
    x, _, y = text.partition(",")
    return float(x), float(y)


def _rgb(name: str) -> RGB:
    return int(name[1:3], 16), int(name[3:5], 16), int(name[5:7], 16)


class _Inks(NamedTuple):
    """Colours of a theme: ground, houses, small and large streets, parks, water."""

    ground: RGB
    house: RGB
    street: RGB
    main: RGB
    park: RGB
    water: RGB


_LIGHT = _Inks((240, 238, 232), (230, 227, 219), (255, 255, 255), (252, 228, 160), (200, 226, 186), (168, 208, 236))
_DARK = _Inks((38, 42, 52), (48, 52, 64), (70, 76, 90), (96, 92, 76), (42, 72, 54), (40, 66, 104))


def _ground(draw: ImageDraw, view: _View, inks: _Inks) -> None:
    """Draw houses, streets over them, parks and water over both, and the bridges of the large streets."""
    left, right, top, low = view.edges()
    for i in range(left, right):
        for j in range(top, low):
            _houses(draw, view, i, j, inks.house)
    for i in range(left, right + 1):
        large = i % 5 == 2
        _street(draw, view, (i * _STREET, -_FAR), (i * _STREET, _FAR), inks.main if large else inks.street, large)
    for j in range(top, low + 1):
        large = j % 4 == 1
        _street(draw, view, (-_FAR, j * _STREET), (_FAR, j * _STREET), inks.main if large else inks.street, large)
    for corners in _PARKS:
        draw.polygon([view.to_pixels(*corner) for corner in corners], fill=inks.park)
    draw.ellipse((*view.to_pixels(*_LAKE[:2]), *view.to_pixels(*_LAKE[2:])), fill=inks.water)
    draw.line(
        [view.to_pixels(*point) for point in _CANAL], fill=inks.water, width=round(110 * view.scale), joint="curve"
    )
    for i in range(left, right + 1):
        if i % 5 == 2 or i % 3 == 0:
            x, y = i * _STREET, _canal_at(i * _STREET)
            _street(draw, view, (x, y - 120), (x, y + 120), inks.main if i % 5 == 2 else inks.street, i % 5 == 2)


def _houses(draw: ImageDraw, view: _View, i: int, j: int, rgb: RGB) -> None:
    """Draw the two houses between four streets."""
    seed = zlib.crc32(f"{i},{j}".encode())
    for part in range(2):
        x = i * _STREET + 26 + part * (94 + seed % 40)
        y = j * _STREET + 26 + (seed >> (4 + part)) % 30
        deep = 110 + (seed >> (8 + part)) % 80
        a, b = view.to_pixels(x, y), view.to_pixels(x + 74 + (seed >> (12 + part)) % 20, y + deep)
        draw.rectangle((*a, *b), fill=rgb)


def _canal_at(x: float) -> float:
    """Return how far south the canal is at that distance east."""
    for (x1, y1), (x2, y2) in pairwise(_CANAL):
        if x1 <= x <= x2:
            return y1 + (y2 - y1) * (x - x1) / (x2 - x1)
    return _CANAL[-1][1]


def _street(
    draw: ImageDraw, view: _View, start: tuple[float, float], end: tuple[float, float], rgb: RGB, large: bool
) -> None:
    draw.line(
        [view.to_pixels(*start), view.to_pixels(*end)],
        fill=rgb,
        width=max(2, round((34 if large else 20) * view.scale)),
    )


def _pin(draw: ImageDraw, at: tuple[float, float], rgb: RGB) -> None:
    x, y = at
    r = 26 * _OVER
    draw.polygon([(x, y), (x - r * 0.8, y - r * 1.5), (x + r * 0.8, y - r * 1.5)], fill=rgb)
    draw.ellipse((x - r, y - r * 2.9, x + r, y - r * 0.9), fill=rgb)
    draw.ellipse((x - r * 0.4, y - r * 2.3, x + r * 0.4, y - r * 1.5), fill=(255, 255, 255))
