"""Drawn pictures: the wallpaper, and dishes as simple illustrations that depend on kind and name alone.

A dish's key is `kind/name`. Its kind is one of `KINDS`, its colours derive from the name. `kind/name@colour` is a
shop's product in one of its colours.
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from typing import TYPE_CHECKING

from simulators.phone.kit.picture_cache import keep_pictures
from simulators.phone.kit.theme import RGB
from simulators.phone.pictures.goods import GOODS
from simulators.phone.pictures.pen import Pen, tone

if TYPE_CHECKING:
    from PIL.Image import Image

# Oversampling factor: Pillow's shapes are not antialiased.
_OVER = 3


def wallpaper(key: str, width: int, height: int, dark: bool) -> Image:
    """Return soft hills under a pale sky."""
    return _hills(width, height, dark).convert("RGB")


@lru_cache(maxsize=4)
def _hills(width: int, height: int, dark: bool) -> Image:
    """Return the hills with a palette of their 60 colours: a quarter of the memory of an RGB picture, and no loss."""
    from PIL import Image, ImageDraw

    top, low = ((24, 28, 52), (58, 44, 84)) if dark else ((205, 222, 246), (250, 228, 214))
    column = Image.new("RGB", (1, 64))
    for y in range(64):
        column.putpixel((0, y), tuple(round(a + (b - a) * y / 63) for a, b in zip(top, low, strict=True)))
    picture = column.resize((width, height), Image.Resampling.BICUBIC)
    small = Image.new("RGBA", (width, height))
    draw = ImageDraw.Draw(small)
    sun = (255, 224, 170, 40) if dark else (255, 246, 224, 190)
    draw.ellipse((width * 0.56, height * 0.3, width * 0.9, height * 0.3 + width * 0.34), fill=sun)
    hills = ((70, 62, 112), (44, 44, 84), (28, 30, 60)) if dark else ((190, 196, 226), (150, 170, 208), (112, 140, 182))
    for i, rgb in enumerate(hills):
        crest, span = height * (0.56 + 0.12 * i), width * (1.3 + 0.2 * i)
        left = (-0.35, 0.15, -0.5)[i] * width
        draw.ellipse((left, crest, left + span, crest + height), fill=(*rgb, 255))
    picture.paste(small, (0, 0), small)
    return picture.quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)


def dish(key: str, width: int, height: int, dark: bool) -> Image:
    """Return a dish on a tinted ground."""
    from PIL import Image

    side = min(width, height)
    picture = Image.new("RGB", (width, height), _ground(key, dark))
    picture.paste(_square(key, side, dark), ((width - side) // 2, (height - side) // 2))
    return picture


@keep_pictures(megabytes=8)
def _square(key: str, side: int, dark: bool) -> Image:
    """Return the dish in a square of its ground. The sides of a wider picture are plain ground and not cached."""
    from PIL import Image, ImageDraw

    kind, name, colour = _parts(key)
    square = Image.new("RGB", (side * _OVER, side * _OVER), _ground(key, dark))
    middle, seed = side * _OVER / 2, zlib.crc32(name.encode())
    KINDS.get(kind, _plate)(Pen(ImageDraw.Draw(square), middle, middle, side * _OVER / 100, seed, dark, colour))
    return square.resize((side, side), Image.Resampling.BOX)


def _parts(key: str) -> tuple[str, str, str]:
    kind, _, rest = key.partition("/")
    name, _, colour = rest.partition("@")
    return kind, name, colour


def _ground(key: str, dark: bool) -> RGB:
    """Return the colour under a dish, by its kind and slightly by its name."""
    kind, name, _ = _parts(key)
    hue = {"drink": 0.08, "tea": 0.12, "salad": 0.3, "cake": 0.93, "soup": 0.05}.get(kind, 0.09)
    hue += (zlib.crc32(name.encode()) % 17 - 8) / 90
    return tone(hue, 0.27, 0.28) if dark else tone(hue, 0.86, 0.62)


_GREEN, _LEAF, _RED, _YOLK = (122, 168, 86), (84, 138, 70), (206, 78, 56), (246, 190, 74)
_BROWN, _CREAM, _PINK, _ORANGE = (140, 88, 52), (246, 226, 186), (236, 150, 140), (232, 142, 62)
_SAUCES: tuple[RGB, ...] = (_RED, _ORANGE, _YOLK, _BROWN, _GREEN)
_CHINA: tuple[RGB, ...] = ((92, 132, 168), (196, 98, 76), (108, 146, 118), (168, 124, 92))


def _plate(p: Pen) -> None:
    p.disc(2, 5, 39, p.shadow)
    p.disc(0, 0, 39, p.white)
    p.disc(0, 0, 29, tone(0.1, 0.93, 0.3))
    p.disc(-4, 2, 20, p.pick(_SAUCES), 0.85)
    for i, (x, y) in enumerate(((-14, -6), (4, -9), (-4, 6), (8, 4), (14, -4))):
        p.disc(x, y, 6 + (p.seed >> i) % 3, p.pick((_CREAM, _GREEN, _PINK, _BROWN), i + 1))
    p.shape(_LEAF, 8, -14, 20, -22, 18, -9)


def _bowl(p: Pen, inside: RGB) -> None:
    p.disc(2, 38, 30, p.shadow, 0.18)
    p.half(0, -2, 40, p.pick(_CHINA, 2))
    p.box(-15, 32, 15, 40, 3, p.pick(_CHINA, 2))
    p.disc(0, -2, 40, p.white, 0.3)
    p.disc(0, -2, 35, inside, 0.24)


def _noodles(p: Pen) -> None:
    _bowl(p, p.pick((_BROWN, _ORANGE, _RED)))
    for i in range(5):
        p.wave(-20 + i * 10, -2, 8, _CREAM, 3)
    p.disc(14, -7, 8, (252, 250, 244), 0.6)
    p.disc(14, -7, 4, _YOLK, 0.6)
    p.shape(_LEAF, -16, -8, -8, -14, -4, -6)
    p.draw.line(p._scaled(4, -6, 34, -42), fill=(150, 98, 62), width=round(2.4 * p.scale))
    p.draw.line(p._scaled(12, -6, 42, -38), fill=(150, 98, 62), width=round(2.4 * p.scale))


def _soup(p: Pen) -> None:
    _bowl(p, p.pick(_SAUCES))
    for i, (x, y) in enumerate(((-18, -4), (-2, 0), (14, -5), (22, 1))):
        p.disc(x, y, 5, p.pick((_CREAM, _GREEN, _PINK), i + 1), 0.6)
    for x in (-12, 2, 16):
        p.wave(x, -24, 6, p.white, 2.4, 90, 270)
        p.wave(x, -36, 6, p.white, 2.4, 270, 90)


def _rice(p: Pen) -> None:
    _bowl(p, p.white)
    p.half(0, -4, 31, (250, 247, 238), low=False)
    for i, (x, y) in enumerate(((-14, -14), (0, -24), (12, -16), (2, -12), (-6, -20), (18, -9))):
        p.disc(x, y, 5, p.pick((_ORANGE, _GREEN, _RED, _BROWN, _YOLK), i))


def _dumplings(p: Pen) -> None:
    p.disc(2, 7, 40, p.shadow)
    p.disc(0, 2, 40, (176, 124, 78))
    p.disc(0, 2, 34, (224, 190, 140))
    for x, y in ((-14, -10), (13, -12), (0, 4), (-18, 14), (17, 13)):
        p.disc(x, y, 11, (244, 232, 212))
        p.disc(x, y, 4, (222, 200, 170))
        p.wave(x, y, 8, (214, 190, 158), 1.4, 200, 300)


def _flat(p: Pen) -> None:
    p.disc(2, 4, 40, p.shadow)
    p.disc(0, 0, 40, (214, 152, 86))
    p.disc(0, 0, 34, p.pick((_RED, _ORANGE, _YOLK)))
    p.disc(0, 0, 32, (248, 214, 128))
    for i, (x, y) in enumerate(((-16, -12), (12, -16), (2, 2), (-14, 14), (18, 10), (-2, -24), (4, 22))):
        p.disc(x, y, 6, p.pick((_RED, _LEAF, _BROWN), i))
    for x, y in ((-4, -10), (20, -4), (-24, 2)):
        p.shape(_LEAF, x, y, x + 8, y - 4, x + 5, y + 5)


def _bread(p: Pen) -> None:
    p.disc(2, 34, 40, p.shadow, 0.16)
    p.box(-36, 18, 36, 34, 8, (214, 150, 82))
    p.box(-39, 12, 39, 19, 3, _LEAF)
    p.box(-36, 4, 36, 14, 4, p.pick((_BROWN, (176, 96, 66), _YOLK)))
    p.shape(_YOLK, -34, 2, 34, 2, 20, 10, 6, 3, -10, 11)
    p.half(0, 3, 37, (226, 164, 92), low=False)
    for x, y in ((-18, -14), (-4, -24), (10, -16), (20, -8), (-8, -10)):
        p.disc(x, y, 2.2, (252, 236, 206), 0.7)


def _salad(p: Pen) -> None:
    _bowl(p, _LEAF)
    for i, (x, y, r) in enumerate(((-22, -8, 10), (-6, -14, 12), (10, -13, 11), (24, -7, 9), (0, -4, 9))):
        p.disc(x, y, r, p.pick((_GREEN, _LEAF, (150, 190, 96)), i))
    for i, (x, y) in enumerate(((-14, -10), (4, -8), (16, -15))):
        p.disc(x, y, 5, p.pick((_RED, _YOLK, _PINK), i))


def _cup(p: Pen, drink: RGB) -> None:
    p.disc(0, 38, 36, p.shadow, 0.2)
    p.disc(0, 34, 34, p.white, 0.2)
    p.wave(26, 4, 13, p.white, 6, 270, 90)
    p.box(-28, -16, 28, 12, 3, p.white)
    p.half(0, 8, 28, p.white)
    p.disc(0, -16, 28, p.white, 0.24)
    p.disc(0, -16, 24, drink, 0.19)
    for x in (-8, 8):
        p.wave(x, -32, 5, p.white, 2.2, 90, 270)
        p.wave(x, -42, 5, p.white, 2.2, 270, 90)


def _coffee(p: Pen) -> None:
    _cup(p, p.pick((_BROWN, (110, 66, 40), (176, 126, 84))))


def _tea(p: Pen) -> None:
    _cup(p, p.pick(((196, 132, 60), (150, 168, 82), (178, 94, 52))))


def _glass(p: Pen) -> None:
    p.disc(0, 42, 26, p.shadow, 0.16)
    juice = p.pick((_ORANGE, _PINK, (198, 206, 90), (210, 170, 120), (196, 104, 128)))
    p.shape(p.white, -25, -32, 25, -32, 19, 42, -19, 42)
    p.shape(juice, -22, -18, 22, -18, 17, 39, -17, 39)
    for x, y in ((-8, -8), (6, -2), (-2, 12)):
        p.box(x - 6, y - 6, x + 6, y + 6, 2, tone(0.1, 0.9, 0.4))
    p.draw.line(p._scaled(4, 20, 16, -48), fill=_RED, width=round(3.2 * p.scale))


def _cake(p: Pen) -> None:
    p.disc(0, 34, 42, p.shadow, 0.18)
    p.disc(0, 30, 40, p.white, 0.2)
    sponge, cream = (
        p.pick(((232, 190, 120), _BROWN, (206, 120, 110))),
        p.pick(((255, 240, 226), _PINK, (214, 226, 176))),
    )
    p.box(-28, 2, 28, 30, 4, sponge)
    p.box(-28, 12, 28, 19, 0, cream)
    p.box(-30, -8, 30, 5, 6, cream)
    for x in (-20, -6, 9):
        p.box(x, 0, x + 8, 12, 4, cream)
    p.disc(0, -15, 9, _RED)
    p.shape(_LEAF, 0, -22, 10, -30, 9, -20)


def _skewers(p: Pen) -> None:
    p.box(-42, -30, 42, 36, 12, p.white)
    p.box(-38, -26, 38, 32, 9, tone(0.1, 0.92, 0.3))
    for i, y in enumerate((-16, 2, 20)):
        p.box(-40, y - 1, 46, y + 1, 1, (176, 132, 84))
        for j in range(4):
            p.disc(-26 + j * 16, y, 8, p.pick((_BROWN, (190, 110, 60), _RED, _LEAF), i + j), 0.85)


KINDS = {
    "plate": _plate, "noodles": _noodles, "soup": _soup, "rice": _rice, "dumplings": _dumplings, "flat": _flat,
    "bread": _bread, "salad": _salad, "coffee": _coffee, "tea": _tea, "drink": _glass, "cake": _cake,
    "skewers": _skewers, **GOODS,
}  # fmt: skip
