"""The phone's look: its measures in pixels, its text styles, and the colours of a light and a dark theme."""

from __future__ import annotations

import colorsys
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from lab.core.run.ui_tree import Bounds

WIDTH, HEIGHT = 1080, 2400
STATUS_BAR = Bounds(0, 0, WIDTH, 96)
NAV_BAR = Bounds(0, HEIGHT - 132, WIDTH, HEIGHT)
KEYBOARD_HEIGHT = 784
EDGE = 48
"""Margin between text and the screen's sides."""

RGB = tuple[int, int, int]


class TextStyle(NamedTuple):
    """Letter size and line pitch (both in pixels at scale 1), and boldness."""

    size: int
    pitch: int
    bold: bool = False


STYLES: dict[str, TextStyle] = {
    "giant": TextStyle(170, 200),
    "display": TextStyle(104, 136),
    "headline": TextStyle(68, 104, True),
    "title": TextStyle(54, 88, True),
    "item": TextStyle(47, 90),
    "strong": TextStyle(47, 90, True),
    "body": TextStyle(44, 80),
    "sub": TextStyle(40, 86),
    "small": TextStyle(36, 80),
    "label": TextStyle(42, 80, True),
    "key": TextStyle(54, 80),
}


@lru_cache(maxsize=64)
def palette(dark: bool, hue: int) -> dict[str, RGB]:
    """Return the colour of each role, tinted by `hue` (0 to 359). `on_*` roles are readable on the role they name."""

    def tone(light: float, vivid: float) -> RGB:
        r, g, b = colorsys.hls_to_rgb((hue % 360) / 360, light, vivid)
        return round(r * 255), round(g * 255), round(b * 255)

    if dark:
        return {
            "surface": tone(0.075, 0.16), "low": tone(0.105, 0.16), "container": tone(0.13, 0.16),
            "high": tone(0.175, 0.15), "highest": tone(0.215, 0.14), "text": tone(0.91, 0.14),
            "faint": tone(0.76, 0.11), "primary": tone(0.78, 0.62), "on_primary": tone(0.16, 0.6),
            "soft": tone(0.26, 0.38), "on_soft": tone(0.9, 0.6),
            "outline": tone(0.56, 0.08), "line": tone(0.27, 0.1), "error": (255, 180, 171),
            "inverse": tone(0.9, 0.12), "on_inverse": tone(0.16, 0.12),
            "white": (255, 255, 255), "black": (0, 0, 0),
        }  # fmt: skip
    return {
        "surface": tone(0.985, 0.6), "low": tone(0.968, 0.42), "container": tone(0.95, 0.38),
        "high": tone(0.928, 0.34), "highest": tone(0.9, 0.28), "text": tone(0.11, 0.14),
        "faint": tone(0.34, 0.1), "primary": tone(0.36, 0.52), "on_primary": (255, 255, 255),
        "soft": tone(0.885, 0.72), "on_soft": tone(0.15, 0.7),
        "outline": tone(0.52, 0.08), "line": tone(0.83, 0.16), "error": (186, 26, 26),
        "inverse": tone(0.2, 0.1), "on_inverse": tone(0.95, 0.2),
        "white": (255, 255, 255), "black": (0, 0, 0),
    }  # fmt: skip


def colour(name: str, colours: Mapping[str, RGB]) -> RGB:
    """Return the colour of a role, or of a `#rrggbb` literal."""
    if name.startswith("#"):
        return int(name[1:3], 16), int(name[3:5], 16), int(name[5:7], 16)
    return colours[name]
