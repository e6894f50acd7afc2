"""Laid-out views: boxes with their paints, and the windows that contain them.

Painter, tree and finger all read the same boxes. So picture, tree and touch cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from lab.core.run.ui_tree import Bounds
from simulators.phone.kit.theme import RGB
from simulators.phone.kit.views import Act, Field


class Round(NamedTuple):
    """A filled box with rounded corners. `border` draws only its outline, that many pixels thick."""

    bounds: Bounds
    radius: int
    colour: RGB
    border: int = 0


class InkLine(NamedTuple):
    """One line of text. `y` is the top of its letters' mask."""

    text: str
    x: int
    y: int
    size: int
    bold: bool
    colour: RGB


class Sign(NamedTuple):
    """A glyph."""

    name: str
    x: int
    y: int
    size: int
    colour: RGB


class Drawing(NamedTuple):
    """A picture of one kind, drawn on first use."""

    kind: str
    key: str
    bounds: Bounds
    radius: int
    dark: bool


Paint = Round | InkLine | Sign | Drawing


class Scroll(NamedTuple):
    """Scroll position of a list: `offset` pixels of at most `limit`, stored in the state under `key`."""

    key: str
    offset: int
    limit: int
    across: bool


@dataclass(slots=True)
class Box:
    """A placed view. `node` holds uiautomator's attributes, or None if the box only serves the layout."""

    bounds: Bounds
    node: dict[str, object] | None = None
    paints: list[Paint] = field(default_factory=list)
    children: list[Box] = field(default_factory=list)
    on: Act | None = None
    long: Act | None = None
    field: Field | None = None
    scroll: Scroll | None = None


@dataclass(slots=True)
class Window:
    """A root box. `owner` handles its acts.

    `listed` windows are in the tree. A tap beside a `modal` window performs `outside`. `inert` windows let touches
    pass. `shade` darkens the windows below (0 to 255).
    """

    root: Box
    owner: str
    package: str
    listed: bool = True
    modal: bool = False
    inert: bool = False
    outside: Act | None = None
    shade: int = 0
