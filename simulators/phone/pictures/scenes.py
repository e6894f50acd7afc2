"""Photos as simple drawings that depend on kind and name alone: places, people, animals, things, screenshots.

A photo's key is `kind/name`. Its kind is one of `SCENES`, its colours and positions derive from the name.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from simulators.phone.kit.picture_cache import keep_pictures
from simulators.phone.kit.theme import RGB
from simulators.phone.pictures.pen import tone
from simulators.phone.pictures.pictures import dish

if TYPE_CHECKING:
    from PIL.Image import Image

# Oversampling factor: Pillow's shapes are not antialiased.
_OVER = 2


class Brush:
    """Brush for a field 100 wide, as high as the picture's shape needs, centred at 0, 0.

    `chance` depends on the name.
    """

    def __init__(self, width: int, height: int, seed: int) -> None:
        from PIL import Image, ImageDraw

        self.seed, self.scale = seed, width * _OVER / 100
        self.x, self.y = width * _OVER / 2, height * _OVER / 2
        self.low = 50 * height / width
        """Lower edge: half of the height, in hundredths of the width."""
        self.image = Image.new("RGB", (width * _OVER, height * _OVER))
        self.draw = ImageDraw.Draw(self.image)

    def chance(self, turn: int, below: int) -> int:
        """Return a number from 0 to `below` - 1, the same for each name and turn."""
        return (self.seed >> (turn % 24)) * (2 * turn + 3) % below

    def pick(self, colours: tuple[RGB, ...], turn: int = 0) -> RGB:
        return colours[self.chance(turn, len(colours))]

    def _scaled(self, *n: float) -> list[float]:
        return [(self.x if i % 2 == 0 else self.y) + v * self.scale for i, v in enumerate(n)]

    def sky(self, top: RGB, low: RGB) -> None:
        """Fill the picture with a vertical gradient."""
        for y in range(self.image.height):
            share = y / self.image.height
            row = tuple(round(a + (b - a) * share) for a, b in zip(top, low, strict=True))
            self.draw.line((0, y, self.image.width, y), fill=row)

    def disc(self, x: float, y: float, r: float, rgb: RGB, squash: float = 1.0) -> None:
        a = self._scaled(x - r, y - r * squash, x + r, y + r * squash)
        self.draw.ellipse((a[0], a[1], a[2], a[3]), fill=rgb)

    def box(self, left: float, top: float, right: float, low: float, rgb: RGB, r: float = 0) -> None:
        a = self._scaled(left, top, right, max(top, low))
        self.draw.rounded_rectangle((a[0], a[1], a[2], a[3]), r * self.scale, fill=rgb)

    def shape(self, rgb: RGB, *n: float) -> None:
        a = self._scaled(*n)
        self.draw.polygon(list(zip(a[::2], a[1::2], strict=True)), fill=rgb)

    def smile(self, x: float, y: float, r: float) -> None:
        a = self._scaled(x - r, y - r, x + r, y + r)
        self.draw.arc((a[0], a[1], a[2], a[3]), 30, 150, fill=(166, 70, 66), width=max(2, round(0.9 * self.scale)))

    def line(self, rgb: RGB, wide: float, *n: float) -> None:
        self.draw.line(self._scaled(*n), fill=rgb, width=max(1, round(wide * self.scale)))


_DAY, _PALE, _DUSK, _PEACH = (118, 176, 226), (222, 238, 248), (88, 84, 148), (248, 190, 150)
_SUN, _CLOUD, _LEAF, _GRASS = (255, 236, 170), (248, 250, 252), (84, 142, 84), (140, 182, 100)
_SKIN: tuple[RGB, ...] = ((242, 206, 176), (214, 162, 122), (160, 108, 76), (250, 222, 196))
_HAIR: tuple[RGB, ...] = ((46, 36, 34), (96, 62, 42), (28, 26, 34), (150, 146, 150))
_CLOTH: tuple[RGB, ...] = ((206, 84, 72), (72, 118, 176), (232, 178, 74), (104, 148, 112), (148, 102, 164))


def _sea(b: Brush) -> None:
    evening = b.chance(1, 2) == 1
    b.sky(*((_DUSK, _PEACH) if evening else (_DAY, _PALE)))
    b.disc(-24 + b.chance(2, 48), -b.low * 0.35, 8, _SUN)
    b.box(-50, 2, 50, b.low, (64, 106, 150) if evening else (74, 148, 176))
    for i in range(5):
        x, y = -44 + b.chance(i + 3, 80), 6 + i * b.low / 7
        b.line((170, 206, 220), 0.8, x, y, x + 14, y)
    x = -20 + b.chance(5, 40)
    b.shape(b.pick(_CLOTH, 4), x, 8, x + 20, 8, x + 16, 13, x + 4, 13)
    b.shape(_CLOUD, x + 9, 7, x + 9, -14, x + 20, 6)


def _hills(b: Brush) -> None:
    b.sky(_DAY, _PALE)
    b.disc(26, -b.low * 0.5, 6, _SUN)
    for i, rgb in enumerate(((150, 172, 200), (112, 150, 148), (92, 136, 96))):
        x = -30 + b.chance(i + 1, 60)
        crest = -b.low * (0.35 - 0.3 * i)
        b.shape(rgb, x - 60, b.low, x - 14, crest + 6, x, crest, x + 12, crest + 5, x + 70, b.low)
    b.box(-50, b.low * 0.72, 50, b.low, _GRASS)


def _city(b: Brush) -> None:
    b.sky((166, 196, 226), (240, 232, 226))
    for i in range(8):
        left, high = -50 + i * 12.6, 14 + b.chance(i + 2, 30)
        b.box(left, b.low - high * b.low / 40 - 4, left + 12, b.low, tone(0.58, 0.42 + 0.05 * (i % 4), 0.2))
        for j in range(4):
            y = b.low - high * b.low / 40 + 2 + j * 7
            b.box(left + 3, y, left + 5, y + 3, (250, 230, 170))
            b.box(left + 7, y, left + 9, y + 3, (226, 234, 244))


def _night(b: Brush) -> None:
    b.sky((20, 24, 54), (74, 56, 104))
    b.disc(22, -b.low * 0.5, 7, (250, 244, 214))
    for i in range(9):
        x, y = -46 + b.chance(i + 1, 92), -b.low * 0.9 + b.chance(i + 4, 40)
        b.disc(x, y, 0.7, _CLOUD)
    for i in range(5):
        x, y = -40 + i * 20, -2 + b.chance(i + 2, 14)
        b.line((120, 70, 60), 0.8, x, y - 12, x, y - 6)
        b.disc(x, y, 7, (214, 66, 52), 0.9)
        b.box(x - 3, y - 8, x + 3, y - 5, (240, 190, 90))
        b.box(x - 3, y + 5, x + 3, y + 8, (240, 190, 90))
    b.box(-50, b.low * 0.7, 50, b.low, (38, 34, 60))


def _garden(b: Brush) -> None:
    b.sky(_PALE, _GRASS)
    for i in range(11):
        x, y = -46 + b.chance(i + 1, 92), -b.low * 0.2 + b.chance(i + 3, 100) * b.low / 90
        b.line(_LEAF, 1.2, x, y, x + 1, y + 16)
        petal = b.pick(((226, 92, 104), (240, 178, 70), (168, 112, 190), (250, 244, 236)), i)
        for dx, dy in ((-3, 0), (3, 0), (0, -3), (0, 3)):
            b.disc(x + dx, y + dy, 2.6, petal)
        b.disc(x, y, 2, (250, 214, 90))


def _group(b: Brush) -> None:
    b.sky(tone(0.55 + b.chance(1, 20) / 50, 0.8, 0.4), tone(0.1, 0.86, 0.4))
    count = 3 + b.chance(2, 3)
    for i in range(count):
        x, y = -36 + i * 72 / (count - 1), b.low * 0.1 + b.chance(i + 3, 8)
        b.disc(x, y + 24, 13, b.pick(_CLOTH, i + 1), 1.4)
        b.disc(x, y - 1.5, 9.4, b.pick(_HAIR, i + 5))
        b.disc(x, y + 1, 7.6, b.pick(_SKIN, i + 2))
        b.disc(x - 2.6, y, 0.9, (50, 40, 40))
        b.disc(x + 2.6, y, 0.9, (50, 40, 40))
        b.smile(x, y + 1.4, 3.6)


def _animal(b: Brush) -> None:
    b.sky(tone(b.chance(1, 10) / 10, 0.84, 0.4), tone(b.chance(1, 10) / 10, 0.74, 0.4))
    fur = b.pick(((216, 152, 90), (110, 106, 112), (244, 238, 230), (70, 60, 58)), 3)
    b.disc(0, 28, 26, fur, 0.9)
    b.shape(fur, -20, -2, -18, -26, -4, -14)
    b.shape(fur, 20, -2, 18, -26, 4, -14)
    b.disc(0, -2, 20, fur, 0.9)
    for x in (-8, 8):
        b.disc(x, -4, 3.4, (236, 214, 110))
        b.disc(x, -4, 1.7, (30, 26, 30))
    b.shape((214, 120, 116), -2.4, 3, 2.4, 3, 0, 6)
    for y in (4, 7):
        b.line(_CLOUD, 0.6, -24, y, -8, y + 1)
        b.line(_CLOUD, 0.6, 24, y, 8, y + 1)


def _stage(b: Brush) -> None:
    b.sky((44, 22, 46), (120, 44, 56))
    for x in (-28, 0, 28):
        b.shape((156, 96, 84), x - 3, -b.low, x + 3, -b.low, x + 15, 22, x - 15, 22)
    b.box(-50, 22, 50, b.low, (84, 54, 44))
    for i, x in enumerate((-28, 0, 28)):
        b.disc(x, 14, 8, b.pick(_CLOTH, i + 1), 1.4)
        b.disc(x, 0, 5.6, b.pick(_SKIN, i))
        b.disc(x, -2, 5.6, b.pick(_HAIR, i + 2), 0.6)
    for i in range(7):
        b.disc(-45 + i * 15, b.low - 2, 6, (30, 18, 30))


def _snow(b: Brush) -> None:
    b.sky((178, 196, 220), (236, 242, 248))
    b.box(-50, 12, 50, b.low, (250, 252, 255))
    for i in range(4):
        x = -38 + i * 25 + b.chance(i + 1, 8)
        for j in range(3):
            b.shape((70, 110, 92), x - 9 + 2 * j, 16 - 9 * j, x + 9 - 2 * j, 16 - 9 * j, x, 2 - 9 * j)
    for i in range(22):
        b.disc(-48 + b.chance(i + 2, 96), -b.low + b.chance(i + 7, 100) * b.low / 50, 1, _CLOUD)


def _desk(b: Brush) -> None:
    b.sky((236, 216, 190), (206, 170, 132))
    for i in range(4):
        y = 18 - i * 9
        left = -34 + b.chance(i + 1, 12)
        b.box(left, y, left + 44, y + 8, b.pick(_CLOTH, i + 2), 1)
        b.box(left + 3, y + 1.4, left + 6, y + 6.6, (250, 240, 220))
    b.box(20, 0, 38, 26, _CLOUD, 4)
    b.disc(38, 12, 6, _CLOUD)
    b.disc(38, 12, 3.4, (222, 192, 156))
    b.box(-50, 26, 50, b.low, (150, 104, 72))


def _poster(b: Brush) -> None:
    paper = tone(b.chance(1, 12) / 12, 0.9, 0.5)
    ink = tone(b.chance(1, 12) / 12 + 0.5, 0.36, 0.5)
    b.sky((206, 206, 212), (182, 182, 190))
    b.box(-30, -b.low * 0.86, 30, b.low * 0.86, paper, 1)
    b.disc(0, -b.low * 0.3, 16, ink)
    b.disc(5, -b.low * 0.36, 12, paper)
    for i in range(4):
        wide = 22 - b.chance(i + 2, 9)
        b.box(-wide, b.low * 0.2 + i * 7, wide, b.low * 0.2 + i * 7 + 3, ink, 1)


def _screen(b: Brush) -> None:
    hue = b.chance(1, 12) / 12
    b.sky(tone(hue, 0.97, 0.4), tone(hue, 0.97, 0.4))
    b.box(-50, -b.low, 50, -b.low + 14, tone(hue, 0.5, 0.5))
    b.box(-44, -b.low + 5, -8, -b.low + 9, _CLOUD, 1)
    y = -b.low + 22
    while y < b.low - 8:
        b.disc(-38, y + 3, 4.4, b.pick(_CLOTH, round(y) % 20))
        b.box(-28, y, 10 + b.chance(round(y) % 19, 30), y + 2.6, (96, 96, 106), 1)
        b.box(-28, y + 5, b.chance(round(y) % 17, 34), y + 7, (190, 190, 198), 1)
        y += 15


SCENES = {
    "sea": _sea, "hills": _hills, "city": _city, "lanterns": _night, "garden": _garden, "people": _group,
    "cat": _animal, "stage": _stage, "snow": _snow, "desk": _desk, "poster": _poster, "screen": _screen,
}  # fmt: skip


def photo(key: str, width: int, height: int, dark: bool) -> Image:
    """Return a photo, the same in both themes. Kinds of food and drink are drawn by the food apps' painter."""
    kind, _, name = key.partition("/")
    return _scene(kind, name, width, height) if kind in SCENES else dish(key, width, height, dark)


@keep_pictures(megabytes=12)
def _scene(kind: str, name: str, width: int, height: int) -> Image:
    from PIL import Image

    brush = Brush(width, height, zlib.crc32(name.encode()))
    SCENES[kind](brush)
    return brush.image.resize((width, height), Image.Resampling.BOX)
