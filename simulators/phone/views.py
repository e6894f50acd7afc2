"""The kit: what a screen is made of, as plain values. Layout gives them boxes; an app only says what there is.

`on` and `long` are acts: a handler's name with JSON-shaped arguments, as `("add", "Mango lassi")`. Every app knows
`("go", screen, args)`, `("back",)`, `("set", path, value)` and `("toggle", path)`; the others are its own `do_*`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Act = tuple[Any, ...]
Pad = int | tuple[int, int] | tuple[int, int, int, int]
"""One margin for all sides; or across and along; or left, top, right, bottom."""


@dataclass(kw_only=True)
class View:
    """What all views share: how they are found, what a touch does, their ground and their place in a row."""

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
    """Words. As wide as its column; `lines` cuts it (0: as many as it needs)."""

    text: str
    style: str = "body"
    colour: str = "text"
    align: Literal["left", "center", "right"] = "left"
    lines: int = 0
    bold: bool = False


@dataclass
class Icon(View):
    """A glyph, on a disc where `disc` names a colour; `disc_radius` makes the disc a rounded square."""

    name: str
    size: int = 64
    colour: str = "faint"
    disc: str = ""
    disc_size: int = 0
    disc_radius: int = -1


@dataclass
class Art(View):
    """A drawn picture: `kind` says of what (`dish`, `wallpaper`, `thumb`), `key` which one."""

    kind: str
    key: str


@dataclass
class Mark(View):
    """The visible part of a switch, a checkbox or a radio button; what is around it takes the touch."""

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
    """A small choice; filled when `selected`."""

    text: str
    icon: str = ""


@dataclass
class Field(View):
    """A text field whose value stands at `bind`, a path of keys below the app's state.

    `action` is what the keyboard's enter key says; `submit` is the act it does. `many` lets it have lines; with
    `fresh` the first key after it got the cursor replaces what stands there.
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
    """Views below one another."""

    children: Sequence[View | None]
    gap: int = 0
    align: Literal["fill", "start", "center", "end"] = "fill"


@dataclass
class Row(View):
    """Views beside one another; those with `grow` share what is left."""

    children: Sequence[View | None]
    gap: int = 0
    align: Literal["top", "center", "bottom"] = "center"


@dataclass
class ListView(View):
    """A list that scrolls by exact pixels, downwards or `across`; a chat begins at its `end`."""

    children: Sequence[View | None]
    gap: int = 0
    across: bool = False
    end: bool = False


@dataclass
class Space(View):
    """Nothing, of a size."""

    size: int = 0


@dataclass
class Line(View):
    """A hairline."""

    inset: int = 0


@dataclass
class Page(View):
    """A whole screen: a bar above, a body that takes the rest, a foot below, a button that floats."""

    body: View
    bar: View | None = None
    foot: View | None = None
    fab: View | None = None
    ground: str = "surface"
    wallpaper: str = ""


@dataclass
class Sheet(View):
    """A panel from below, over the screen that opened it; a tap outside closes it."""

    body: View
    foot: View | None = None
    title: str = ""


@dataclass
class Dialog(View):
    """A question in the middle of the screen; a tap outside closes it."""

    title: str
    body: View | None = None
    buttons: Sequence[View] = ()


Screen = Page | Sheet | Dialog
