"""Compound views: list items, bars, cards, steppers. Most screens consist of these."""

from __future__ import annotations

from collections.abc import Sequence

from simulators.phone.kit.theme import EDGE
from simulators.phone.kit.views import Act, Button, Column, Icon, Line, Mark, Row, Space, Text, View

_APART = 8
"""Pixels between the lines of an item, which keep the row pitch of a text mirror."""


def icon_button(name: str, desc: str, on: Act, *, colour: str = "faint", disc: str = "", id: str = "") -> View:
    """Return a glyph that can be tapped."""
    return Icon(
        name, 60, colour, on=on, desc=desc, id=id or desc.split()[0].lower(), cls="ImageButton",
        disc=disc, disc_size=104 if disc else 0, width=120, height=120,
    )  # fmt: skip


def app_bar(title: str, *actions: View | None, back: bool = True, sub: str = "") -> View:
    """Return a screen's title bar with a back button and actions."""
    left = [icon_button("back", "Navigate up", ("back",), colour="text", id="up")] if back else [Space(24)]
    words: View = Text(title, "title", lines=1, id="title", grow=1)
    if sub:
        words = Column([Text(title, "title", lines=1, id="title"), Text(sub, "sub", "faint", lines=1)], grow=1)
    return Row([*left, words, *actions], gap=12, pad=(16, 12, 24, 12), height=176 if not sub else 208)


def item(
    title: str,
    sub: str = "",
    *,
    lead: View | None = None,
    trail: View | None = None,
    on: Act | None = None,
    long: Act | None = None,
    id: str = "",
    sub_lines: int = 1,
    strong: bool = False,
    fill: str = "",
    radius: int = 0,
) -> Row:
    """Return a row of a list: a title, a line below it, and a view before and after."""
    words: list[View | None] = [Text(title, "strong" if strong else "item", lines=1, id="title")]
    if sub:
        words.append(Text(sub, "sub", "faint", lines=sub_lines, id="summary"))
    return Row(
        [lead, Column(words, gap=_APART, grow=1), trail],
        gap=36,
        pad=(EDGE, 24),
        on=on,
        long=long,
        id=id,
        fill=fill,
        radius=radius,
    )


def checkable(kind: str, title: str, checked: bool, on: Act, *, sub: str = "", lead: View | None = None) -> Row:
    """Return a row with a switch, checkbox or radio button. The whole row takes the touch and carries `checked`."""
    assert kind in ("switch", "checkbox", "radio")
    cls = {"switch": "Switch", "checkbox": "CheckBox", "radio": "RadioButton"}[kind]
    mark = Mark("switch" if kind == "switch" else "checkbox" if kind == "checkbox" else "radio", checked=checked)
    row = item(title, sub, lead=mark if kind != "switch" else lead, trail=mark if kind == "switch" else None, on=on)
    row.checkable, row.checked, row.cls, row.desc = True, checked, cls, title
    return row


def section(title: str) -> View:
    """Return a heading between groups of a list."""
    return Text(title, "label", "primary", pad=(EDGE, 16, EDGE, 0), lines=1)


def badge(icon: str, colour: str = "soft", ink: str = "on_soft") -> View:
    """Return a glyph on a tinted disc, for the start of an item."""
    return Icon(icon, 56, ink, disc=colour, disc_size=104)


_FACES = ("#7b5ea7", "#2f7d6b", "#b3582c", "#3c6fb0", "#a2446b", "#6b7a2a", "#8a5a3b", "#3f7f94")


def avatar(name: str, size: int = 112) -> View:
    """Return a person's initial on a disc, coloured by their name."""
    colour = _FACES[sum(map(ord, name)) % len(_FACES)]
    initial = Text(name[:1].upper(), "title", "white", "center", height=size)
    return Column([initial], width=size, height=size, fill=colour, radius=size // 2)


def card(
    children: Sequence[View | None],
    *,
    fill: str = "container",
    pad: int = 40,
    gap: int = 0,
    on: Act | None = None,
    id: str = "",
    long: Act | None = None,
) -> Column:
    """Return a rounded panel."""
    return Column(children, fill=fill, radius=52, pad=pad, gap=gap, on=on, id=id, long=long)


def inset(view: View, top: int = 0, bottom: int = 0) -> View:
    """Return a view with the screen's margins at its sides."""
    return Column([view], pad=(EDGE, top, EDGE, bottom))


def stepper(value: str, less: Act, more: Act, what: str, *, wide: int = 144) -> Row:
    """Return a number between a minus and a plus button."""
    return Row(
        [
            icon_button("minus", f"Less {what}", less, disc="soft", colour="on_soft", id="less"),
            Text(value, "title", align="center", width=wide, lines=1, id="value"),
            icon_button("add", f"More {what}", more, disc="soft", colour="on_soft", id="more"),
        ],
        gap=8,
    )


def fab(icon: str, label: str, on: Act, id: str = "fab") -> View:
    """Return the floating button of a screen."""
    row: list[View | None] = [Icon(icon, 64, "on_soft"), Text(label, "label", "on_soft", lines=1)]
    return Row(row, gap=20, pad=(48, 40), fill="soft", radius=56, on=on, id=id, desc=label, cls="Button")


def tabs(names: Sequence[tuple[str, str, Act]], current: str) -> View:
    """Return the tab bar at the foot of an app, from the label, icon and act of each tab."""
    cells: list[View | None] = []
    for label, icon, act in names:
        here = label == current
        pill = Icon(
            icon, 60, "on_soft" if here else "faint", fill="soft" if here else "", radius=42, width=168, height=84
        )
        words = Text(label, "small", "text" if here else "faint", "center", bold=here, lines=1)
        cells.append(
            Column(
                [Column([pill], align="center"), words],
                grow=1,
                on=act,
                desc=label,
                selected=here,
                id="tab",
                pad=(0, 20, 0, 8),
            )
        )
    return Column([Line(), Row(cells)], fill="low")


def actions(*buttons: Button) -> View:
    """Return a foot with buttons side by side."""
    for button in buttons:
        button.grow = 1
    return Row(list(buttons), gap=24, pad=(EDGE, 20, EDGE, 28))


def empty(icon: str, title: str, text: str) -> View:
    """Return the placeholder of an empty list."""
    sign = Icon(icon, 120, "on_soft", disc="soft", disc_size=240)
    return Column(
        [Space(200), Column([sign], align="center"), Text(title, "title", align="center"),
         Text(text, "body", "faint", "center")], gap=24, pad=(EDGE, 0),
    )  # fmt: skip


def quantity_row(words: View, quantity: int, index: int) -> View:
    """Return a row of a cart: the item's text, its quantity, and buttons to change the quantity at `index`."""
    is_last = quantity == 1
    less = icon_button(
        "delete" if is_last else "minus", "Remove" if is_last else "Less", ("quantity", index, -1), id="less"
    )
    more = icon_button("add", "More", ("quantity", index, 1), id="more")
    number = Text(str(quantity), "strong", align="center", width=72, id="quantity")
    return Row([words, Row([less, number, more], fill="high", radius=60)], gap=24, pad=(48, 12))


def action_row(icon: str, words: str, on: Act) -> View:
    """Return a list item that performs one action."""
    return item(words, lead=Icon(icon, 60, "text"), on=on, id="action")
