"""The kit: the plain values that a screen consists of. An app describes them and the layout turns them into boxes.

`on` and `long` are acts: a handler's name with JSON-shaped arguments, as `("add", "Mango lassi")`. Every app knows
`("go", screen, args)`, `("back",)`, `("set", path, value)` and `("toggle", path)`. The others are the app's own `do_*`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Act = tuple[Any, ...]
Pad = int | tuple[int, int] | tuple[int, int, int, int]
"""Margins: one number for all sides, (across, along), or (left, top, right, bottom)."""


@dataclass(kw_only=True)
class View:
    """Base of all views: id and description, acts on touch, background, margins, size and share of free space."""

    id: str = ""
    desc: str = ""
    cls: str = ""
    on: Act | None = None
    long: Act | None = None
    enabled: bool = True
    checkable: bool = False
    checked: bool = False
    selected: bool = False
    fill: str = ""
    border: str = ""
    radius: int = 0
    pad: Pad = 0
    width: int | None = None
    height: int | None = None
    grow: int = 0


@dataclass
class Text(View):
    """Text, as wide as its column. `lines` limits the number of lines (0: no limit)."""

    text: str
    style: str = "body"
    colour: str = "text"
    align: Literal["left", "center", "right"] = "left"
    lines: int = 0
    bold: bool = False


@dataclass
class Icon(View):
    """A glyph, on a disc if `disc` names a colour. `disc_radius` turns the disc into a rounded square."""

    name: str
    size: int = 64
    colour: str = "faint"
    disc: str = ""
    disc_size: int = 0
    disc_radius: int = -1


@dataclass
class Art(View):
    """A drawn picture: `kind` selects the painter (`dish`, `wallpaper`, `thumb`), `key` the picture."""

    kind: str
    key: str


@dataclass
class Mark(View):
    """The visible part of a switch, checkbox or radio button. The row around it takes the touch."""

    kind: Literal["switch", "checkbox", "radio"]


@dataclass
class Meter(View):
    """A bar filled to `share` (0 to 1)."""

    share: float


@dataclass
class Button(View):
    """A labelled button."""

    text: str
    kind: Literal["filled", "tonal", "outlined", "text", "danger"] = "filled"
    icon: str = ""


@dataclass
class Chip(View):
    """A small option, filled if `selected`."""

    text: str
    icon: str = ""


@dataclass
class Field(View):
    """A text field for the value at `bind`, a path of keys below the app's state.

    `action` labels the keyboard's enter key, which performs `submit`. `many` allows several lines. With `fresh` the
    first key after the field gets the cursor replaces the value.
    """

    bind: Sequence[str | int]
    hint: str = ""
    kind: Literal["outline", "search", "pill", "plain", "box"] = "outline"
    style: str = "body"
    action: Literal["Done", "Search", "Send", "Next", "Enter"] = "Done"
    submit: Act | None = None
    many: bool = False
    numeric: bool = False
    fresh: bool = False
    password: bool = False
    align: Literal["left", "center"] = "left"


@dataclass
class Column(View):
    """Views stacked vertically."""

    children: Sequence[View | None]
    gap: int = 0
    align: Literal["fill", "start", "center", "end"] = "fill"


@dataclass
class Row(View):
    """Views side by side. Those with `grow` share the free width."""

    children: Sequence[View | None]
    gap: int = 0
    align: Literal["top", "center", "bottom"] = "center"


@dataclass
class ListView(View):
    """A list that scrolls by exact pixels, vertically or `across`. With `end` it starts at its end, as a chat does."""

    children: Sequence[View | None]
    gap: int = 0
    across: bool = False
    end: bool = False


@dataclass
class Space(View):
    """An empty area of a given size."""

    size: int = 0


@dataclass
class Line(View):
    """A hairline."""

    inset: int = 0


@dataclass
class Page(View):
    """A whole screen: a bar on top, a body that fills the rest, a foot below and a floating button."""

    body: View
    bar: View | None = None
    foot: View | None = None
    fab: View | None = None
    ground: str = "surface"
    wallpaper: str = ""


@dataclass
class Sheet(View):
    """A panel at the bottom, over the screen that opened it. A tap outside closes it."""

    body: View
    foot: View | None = None
    title: str = ""


@dataclass
class Dialog(View):
    """A question in the middle of the screen. A tap outside closes it."""

    title: str
    body: View | None = None
    buttons: Sequence[View] = ()


Screen = Page | Sheet | Dialog
