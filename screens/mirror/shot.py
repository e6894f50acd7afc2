"""What is to be painted and how it is looked at: light enough to be named before anything heavy is loaded."""

from __future__ import annotations

from typing import NamedTuple

from lab.core.seams import LazyPixels
from lab.core.ui_tree import UiTree
from screens.mirror.fit import Zoom


class MirrorView(NamedTuple):
    """How a phone is looked at: `cells` is columns, rows; `colours` is 256 where the terminal has no more."""

    cells: tuple[int, int]
    overlay: bool = True
    zoom: Zoom = "fit"
    pan: tuple[int, int] = (0, 0)
    colours: int = 1 << 24


class MirrorShot(NamedTuple):
    """A picture, as pixels (see `Frame`) or as a stored file (PNG, JPEG) or none; its size or none; a tree or none.

    `live` shots follow one another on one phone: without a tree, such a one keeps the last tree's texts. `space` is the
    phone's own pixels, in which trees, marks and touches are counted, where the picture is smaller (or larger).
    """

    pixels: bytes | LazyPixels | None = None
    size: tuple[int, int] | None = None
    tree: UiTree | None = None
    live: bool = False
    stored: bytes | None = None
    space: tuple[int, int] | None = None
