"""The painter's input: a picture and a view. This module loads nothing heavy."""

from __future__ import annotations

from typing import NamedTuple

from lab.core.run.ui_tree import UiTree
from lab.core.seams import LazyPixels
from screens.mirror.fit import Zoom


class MirrorView(NamedTuple):
    """View of a phone: `cells` is (columns, rows), `colours` is 256 if the terminal has no more."""

    cells: tuple[int, int]
    overlay: bool = True
    zoom: Zoom = "fit"
    pan: tuple[int, int] = (0, 0)
    colours: int = 1 << 24


class MirrorShot(NamedTuple):
    """A picture (pixels as in `Frame`, a stored PNG or JPEG, or none) with an optional size and an optional tree.

    `live` shots are of one phone in sequence: one without a tree keeps the last tree's texts. `space` is the phone's
    size in its own pixels, the unit of trees, marks and touches, if the picture's size differs.
    """

    pixels: bytes | LazyPixels | None = None
    size: tuple[int, int] | None = None
    tree: UiTree | None = None
    live: bool = False
    stored: bytes | None = None
    space: tuple[int, int] | None = None
