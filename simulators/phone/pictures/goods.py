"""Drawn goods of the shops, in the style of the dishes: a kettle, a lamp, a scarf as simple shapes on a ground."""

from __future__ import annotations

from collections.abc import Callable

from simulators.phone.kit.theme import RGB
from simulators.phone.pictures.pen import Pen

_CLOTH: tuple[RGB, ...] = ((176, 74, 66), (64, 104, 148), (92, 132, 96), (198, 150, 66), (122, 92, 148), (70, 128, 132))
_DARK, _STEEL, _WOOD, _PAPER = (66, 64, 72), (158, 166, 174), (168, 120, 76), (246, 236, 214)
_GLASS, _LEAF, _RED, _GOLD = (188, 218, 222), (96, 146, 82), (200, 76, 60), (238, 190, 84)


DYES: dict[str, RGB] = {
    "Red": (186, 58, 52), "Ochre": (200, 146, 52), "Cream": (240, 226, 190), "Blue": (58, 104, 160),
    "Grey": (136, 140, 146), "Green": (78, 128, 84), "Black": (58, 56, 62), "White": (250, 250, 248),
    "Navy": (38, 52, 96),
}  # fmt: skip
"""Colours that a product comes in."""


def dyed(p: Pen) -> RGB:
    """Return the chosen colour, or one derived from the product's name."""
    return DYES.get(p.colour) or p.pick(_CLOTH)


def _ground(p: Pen, wide: float = 36) -> None:
    p.disc(0, 40, wide, p.shadow, 0.16)


def _kettle(p: Pen) -> None:
    body = dyed(p)
    _ground(p)
    p.wave(0, -12, 24, _DARK, 5)
    p.shape(body, 20, 0, 42, -16, 46, -10, 26, 22)
    p.box(-28, -14, 28, 38, 18, body)
    p.box(-16, -20, 16, -12, 4, _DARK)
    p.disc(0, -24, 5, _DARK)


def _lamp(p: Pen) -> None:
    _ground(p, 30)
    p.box(-3, -10, 3, 36, 2, _WOOD)
    p.box(-22, 32, 22, 40, 4, _WOOD)
    p.shape(dyed(p), -16, -40, 16, -40, 32, -2, -32, -2)
    p.box(-32, -4, 32, 2, 2, _GOLD)


def _scarf(p: Pen) -> None:
    cloth, stripe = dyed(p), p.pick(_CLOTH, 2)
    p.box(-34, -38, 34, -16, 11, cloth)
    for left in (-26, 4):
        p.box(left, -28, left + 22, 30, 4, cloth)
        for y in (2, 14):
            p.box(left, y, left + 22, y + 5, 0, stripe)
        for x in range(3):
            p.box(left + 1 + 8 * x, 30, left + 4 + 8 * x, 40, 1, cloth)


def _umbrella(p: Pen) -> None:
    p.box(-2, -8, 2, 36, 1, _DARK)
    p.wave(8, 34, 10, _DARK, 4, 0, 180)
    p.half(0, 4, 42, dyed(p), low=False)
    for x in (-28, 0, 28):
        p.half(x, 5, 14, p.shadow, low=False)


def _headphones(p: Pen) -> None:
    p.wave(0, 4, 36, _DARK, 7)
    for x in (-44, 24):
        p.box(x, 0, x + 20, 38, 9, dyed(p))


def _book(p: Pen) -> None:
    _ground(p)
    cover = dyed(p)
    p.box(-28, -40, 30, 40, 4, cover)
    p.box(-28, 32, 30, 37, 0, _PAPER)
    p.box(-16, -28, 20, -12, 2, _PAPER)
    p.box(-28, -40, -22, 40, 2, _DARK)


def _mug(p: Pen) -> None:
    _ground(p)
    mug = dyed(p)
    p.wave(24, 4, 15, mug, 7, 270, 90)
    p.box(-28, -22, 26, 38, 8, mug)
    p.disc(-1, -22, 27, p.white, 0.22)
    p.disc(-1, -22, 22, (120, 78, 50), 0.18)


def _bag(p: Pen) -> None:
    _ground(p)
    p.wave(0, -12, 17, _WOOD, 5)
    p.shape(dyed(p), -30, -14, 30, -14, 38, 40, -38, 40)
    p.box(-8, 2, 8, 14, 2, _GOLD)


def _cloth(p: Pen) -> None:
    colours = [dyed(p), p.pick(_CLOTH, 1), dyed(p)] if p.colour else [p.pick(_CLOTH, i) for i in range(3)]
    _ground(p, 40)
    for i, rgb in enumerate(colours):
        p.box(-38, 14 - 22 * i, 38, 36 - 22 * i, 9, rgb)
        p.box(-38, 23 - 22 * i, 30, 25 - 22 * i, 0, p.white)


def _bottle(p: Pen) -> None:
    _ground(p, 22)
    p.box(-7, -42, 7, -20, 3, _DARK)
    p.box(-18, -24, 18, 40, 10, p.pick((_LEAF, _GOLD, _GLASS, (150, 96, 60))))
    p.box(-18, -4, 18, 24, 0, _PAPER)


def _sack(p: Pen) -> None:
    _ground(p)
    p.box(-30, -30, 30, 40, 12, _PAPER)
    p.shape(_PAPER, -18, -40, 18, -40, 12, -26, -12, -26)
    p.box(-14, -29, 14, -24, 2, _WOOD)
    p.box(-22, -8, 22, 24, 4, dyed(p))


def _eggs(p: Pen) -> None:
    _ground(p, 42)
    for i, x in enumerate((-26, 0, 26)):
        p.disc(x, -2, 14, p.pick(((244, 222, 196), (222, 178, 138), (252, 244, 232)), i), 1.3)
    p.box(-44, 4, 44, 34, 8, (150, 140, 128))


def _fruit(p: Pen) -> None:
    _ground(p)
    rgb = p.pick(((232, 142, 50), _RED, (150, 186, 80), _GOLD))
    for x, y in ((-18, 18), (18, 18), (0, -10)):
        p.disc(x, y, 21, rgb)
        p.disc(x - 6, y - 7, 4, p.white)
    p.shape(_LEAF, 2, -30, 20, -40, 16, -26)


def _carton(p: Pen) -> None:
    _ground(p, 30)
    p.shape(p.white, -24, -20, 0, -42, 24, -20)
    p.box(-24, -20, 24, 40, 2, p.white)
    p.box(-24, -2, 24, 24, 0, dyed(p))


def _jar(p: Pen) -> None:
    _ground(p, 28)
    p.box(-22, -36, 22, -22, 4, p.pick(_CLOTH, 1))
    p.box(-28, -24, 28, 40, 12, p.pick((_RED, _GOLD, (196, 128, 60), _LEAF)))
    p.box(-20, -4, 20, 22, 3, _PAPER)


def _box(p: Pen) -> None:
    _ground(p)
    p.box(-34, -26, 34, 38, 4, dyed(p))
    p.box(-34, -26, 34, -14, 4, p.pick(_CLOTH, 1))
    p.box(-18, 0, 18, 22, 3, _PAPER)


def _yarn(p: Pen) -> None:
    _ground(p)
    wool = dyed(p)
    p.disc(0, 2, 34, wool)
    for r in (12, 20, 28):
        p.wave(-6, 8, r, p.white, 1.6, 190, 330)
    p.box(-44, -30, 44, -26, 2, _WOOD)


def _scissors(p: Pen) -> None:
    for side in (-1, 1):
        p.disc(side * 18, 28, 13, dyed(p))
        p.disc(side * 18, 28, 6, _PAPER)
        p.shape(_STEEL, side * 10, 16, side * 15, 18, -side * 14, -42, -side * 18, -36)
    p.disc(0, -2, 3, _DARK)


def _shoes(p: Pen) -> None:
    _ground(p, 42)
    for dy, rgb in ((-16, dyed(p)), (12, dyed(p))):
        p.box(-40, dy - 8, -10, dy + 20, 8, rgb)
        p.box(-40, dy + 4, 40, dy + 22, 10, rgb)
        p.box(-40, dy + 18, 40, dy + 24, 3, p.white)


def _pan(p: Pen) -> None:
    p.box(20, -4, 48, 6, 4, _WOOD)
    p.disc(-8, 2, 36, _DARK)
    p.disc(-8, 2, 29, p.pick((_STEEL, (104, 102, 108), (150, 92, 66))))


def _candle(p: Pen) -> None:
    _ground(p, 26)
    p.disc(0, -28, 8, _GOLD, 1.5)
    p.box(-1, -22, 1, -10, 0, _DARK)
    p.box(-20, -12, 20, 40, 5, dyed(p))


def _radio(p: Pen) -> None:
    _ground(p, 40)
    p.box(-42, -24, 42, 38, 8, dyed(p))
    p.disc(-16, 8, 19, _PAPER)
    p.disc(-16, 8, 12, _DARK)
    p.box(12, -10, 34, 4, 2, _PAPER)
    p.disc(23, 20, 6, _PAPER)


def _spool(p: Pen) -> None:
    _ground(p, 26)
    p.box(-26, -38, 26, -28, 4, _WOOD)
    p.box(-18, -30, 18, 32, 2, dyed(p))
    for y in range(-24, 30, 9):
        p.box(-18, y, 18, y + 2, 0, p.white)
    p.box(-26, 30, 26, 40, 4, _WOOD)


GOODS: dict[str, Callable[[Pen], None]] = {
    "kettle": _kettle, "lamp": _lamp, "scarf": _scarf, "umbrella": _umbrella, "headphones": _headphones, "book": _book,
    "mug": _mug, "bag": _bag, "cloth": _cloth, "bottle": _bottle, "sack": _sack, "eggs": _eggs, "fruit": _fruit,
    "carton": _carton, "jar": _jar, "box": _box, "yarn": _yarn, "scissors": _scissors, "shoes": _shoes, "pan": _pan,
    "candle": _candle, "radio": _radio, "spool": _spool,
}  # fmt: skip
