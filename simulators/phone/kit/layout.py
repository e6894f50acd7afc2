"""Views to boxes: every view is measured for its available width, then placed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

from lab.core.run.ui_tree import Bounds
from simulators.phone.kit import fonts
from simulators.phone.kit.boxes import Box, Drawing, InkLine, Round, Scroll, Sign
from simulators.phone.kit.theme import RGB, STYLES, colour
from simulators.phone.kit.views import Art, Column, Icon, Line, ListView, Pad, Row, Space, Text, View


@dataclass
class Env:
    """Surroundings of a layout: colours, letter scale and the state that the views show."""

    colours: Mapping[str, RGB]
    dark: bool
    scale: float
    package: str
    read: Callable[[Any], str]
    scroll: Mapping[str, int]
    scope: str
    focus: str | None
    sizes: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    kept: list[View] = field(default_factory=list)

    def rgb(self, name: str) -> RGB:
        return colour(name, self.colours)

    def style(self, name: str, bold: bool = False) -> tuple[int, int, bool]:
        """Return size, line pitch and boldness of a text style at the phone's letter scale."""
        style = STYLES[name]
        return round(style.size * self.scale), round(style.pitch * max(1.0, self.scale)), bold or style.bold


def sides(pad: Pad) -> tuple[int, int, int, int]:
    """Return a margin as left, top, right, bottom."""
    if isinstance(pad, int):
        return pad, pad, pad, pad
    return pad if len(pad) == 4 else (pad[0], pad[1], pad[0], pad[1])


def measure(view: View, limit: int, env: Env) -> tuple[int, int]:
    """Return the width and height that a view wants within `limit`."""
    key = (id(view), limit)
    if key not in env.sizes:
        env.kept.append(view)  # keeps the id from being given to another view
        left, top, right, bottom = sides(view.pad)
        width = min(limit, view.width) if view.width else limit
        w, h = wants(view, width - left - right, env)
        env.sizes[key] = (view.width or w + left + right, view.height or h + top + bottom)
    return env.sizes[key]


def place(view: View, bounds: Bounds, env: Env) -> Box:
    """Return the box of a view, children included, at exactly these bounds."""
    box = Box(bounds, node_of(view), on=view.on if view.enabled else None, long=view.long)
    if view.fill:
        box.paints.append(Round(bounds, view.radius, env.rgb(view.fill)))
    if view.border:
        box.paints.append(Round(bounds, view.radius, env.rgb(view.border), 3))
    left, top, right, bottom = sides(view.pad)
    inner = Bounds(bounds.left + left, bounds.top + top, bounds.right - right, bounds.bottom - bottom)
    fill(view, inner, box, env)
    return box


_CLASSES = {
    "Text": "TextView", "Icon": "ImageView", "Art": "ImageView", "Button": "Button", "Field": "EditText",
    "ListView": "RecyclerView", "Chip": "CompoundButton", "Meter": "ProgressBar",
}  # fmt: skip


def node_of(view: View) -> dict[str, object] | None:
    """Return the uiautomator attributes of a view, or None if it only serves the layout."""
    name = type(view).__name__
    text = getattr(view, "text", "")
    worth = view.id or view.desc or view.on or view.long or text or view.checkable or name in ("Field", "ListView")
    if not worth:
        return None
    cls = view.cls or _CLASSES.get(name, "FrameLayout")
    if cls == "RecyclerView":
        cls = "androidx.recyclerview.widget.RecyclerView"
    return {
        "text": text, "desc": view.desc, "id": view.id, "cls": cls if "." in cls else f"android.widget.{cls}",
        "clickable": view.on is not None and view.enabled, "long_clickable": view.long is not None,
        "focusable": view.on is not None, "checkable": view.checkable, "checked": view.checked,
        "selected": view.selected, "enabled": view.enabled,
    }  # fmt: skip


@singledispatch
def wants(view: View, limit: int, env: Env) -> tuple[int, int]:
    """Return the content's width and height within `limit`, without margins. Each kind of view registers its own."""
    raise TypeError(f"{type(view).__name__} has no size")


@singledispatch
def fill(view: View, inner: Bounds, box: Box, env: Env) -> None:
    """Paint a view's content, or place its children, in `inner`. Each kind of view registers its own."""
    raise TypeError(f"{type(view).__name__} cannot be placed")


def ink(text: str, bounds: Bounds, style: tuple[int, int, bool], align: str, rgb: RGB) -> InkLine:
    """Return one line of text, centred vertically and aligned horizontally by `align`."""
    size, _, bold = style
    wide = fonts.width(text, size, bold)
    x = {"left": bounds.left, "center": (bounds.left + bounds.right - wide) // 2, "right": bounds.right - wide}[align]
    return InkLine(text, x, (bounds.top + bounds.bottom) // 2 - round(size * 0.77), size, bold, rgb)


def center(bounds: Bounds, width: int, height: int) -> Bounds:
    """Return bounds of that size, centred in another box."""
    x, y = (bounds.left + bounds.right - width) // 2, (bounds.top + bounds.bottom - height) // 2
    return Bounds(x, y, x + width, y + height)


@wants.register
def _(view: Text, limit: int, env: Env) -> tuple[int, int]:
    size, pitch, bold = env.style(view.style, view.bold)
    lines = fonts.wrap(view.text, size, bold, max(limit, size), view.lines)
    widest = max(fonts.room(line, size, bold) for line in lines)
    return min(max(limit, size), widest), pitch * len(lines)


@fill.register
def _(view: Text, inner: Bounds, box: Box, env: Env) -> None:
    size, pitch, bold = style = env.style(view.style, view.bold)
    lines = fonts.wrap(view.text, size, bold, max(inner.width, size), view.lines)
    top = (inner.top + inner.bottom - pitch * len(lines)) // 2
    rgb = env.rgb(view.colour if view.enabled else "outline")
    for i, line in enumerate(lines):
        row = Bounds(inner.left, top + i * pitch, inner.right, top + (i + 1) * pitch)
        box.paints.append(ink(line, row, style, view.align, rgb))


@wants.register
def _(view: Icon, limit: int, env: Env) -> tuple[int, int]:
    side = max(view.size, view.disc_size)
    return side, side


@fill.register
def _(view: Icon, inner: Bounds, box: Box, env: Env) -> None:
    if view.disc:
        disc = center(inner, view.disc_size, view.disc_size)
        radius = view.disc_size // 2 if view.disc_radius < 0 else view.disc_radius
        box.paints.append(Round(disc, radius, env.rgb(view.disc)))
    spot = center(inner, view.size, view.size)
    box.paints.append(Sign(view.name, spot.left, spot.top, view.size, env.rgb(view.colour)))


@wants.register
def _(view: Art, limit: int, env: Env) -> tuple[int, int]:
    return limit, view.height or limit


@fill.register
def _(view: Art, inner: Bounds, box: Box, env: Env) -> None:
    box.paints.append(Drawing(view.kind, view.key, inner, view.radius, env.dark))


@wants.register
def _(view: Space, limit: int, env: Env) -> tuple[int, int]:
    return view.size, view.size


@fill.register
def _(view: Space, inner: Bounds, box: Box, env: Env) -> None:
    return


@wants.register
def _(view: Line, limit: int, env: Env) -> tuple[int, int]:
    return limit, 2


@fill.register
def _(view: Line, inner: Bounds, box: Box, env: Env) -> None:
    line = Bounds(inner.left + view.inset, inner.top, inner.right - view.inset, inner.top + 2)
    box.paints.append(Round(line, 0, env.rgb("line")))


def _present_children(view: Column | Row | ListView) -> list[View]:
    return [child for child in view.children if child is not None]


@wants.register
def _(view: Column, limit: int, env: Env) -> tuple[int, int]:
    sizes = [measure(child, limit, env) for child in _present_children(view)]
    if not sizes:
        return 0, 0
    wide = limit if view.align == "fill" and any(c.grow for c in view.children if c) else max(w for w, _ in sizes)
    return wide, sum(h for _, h in sizes) + view.gap * (len(sizes) - 1)


@fill.register
def _(view: Column, inner: Bounds, box: Box, env: Env) -> None:
    children = _present_children(view)
    sizes = [measure(child, inner.width, env) for child in children]
    free = inner.height - sum(h for (_, h), c in zip(sizes, children, strict=True) if not c.grow)
    free -= view.gap * max(0, len(children) - 1)
    parts, y = sum(c.grow for c in children), inner.top
    for child, (w, h) in zip(children, sizes, strict=True):
        high = max(0, free) * child.grow // parts if child.grow else h
        wide = inner.width if view.align == "fill" and not child.width else min(w, inner.width)
        x = {"center": inner.left + (inner.width - wide) // 2, "end": inner.right - wide}.get(view.align, inner.left)
        box.children.append(place(child, Bounds(x, y, x + wide, y + high), env))
        y += high + view.gap


def _row_widths(view: Row, limit: int, env: Env) -> list[int]:
    """Return the width of each child of a row: fixed ones first, the rest is shared by `grow`."""
    children = _present_children(view)
    inner_width = limit - view.gap * max(0, len(children) - 1)
    widths = [0 if c.grow else measure(c, max(inner_width, 1), env)[0] for c in children]
    parts, free = sum(c.grow for c in children), max(0, inner_width - sum(widths))
    return [free * c.grow // parts if c.grow else w for c, w in zip(children, widths, strict=True)]


@wants.register
def _(view: Row, limit: int, env: Env) -> tuple[int, int]:
    children, widths = _present_children(view), _row_widths(view, limit, env)
    high = max((measure(c, w, env)[1] for c, w in zip(children, widths, strict=True)), default=0)
    return sum(widths) + view.gap * max(0, len(children) - 1), high


@fill.register
def _(view: Row, inner: Bounds, box: Box, env: Env) -> None:
    x = inner.left
    for child, wide in zip(_present_children(view), _row_widths(view, inner.width, env), strict=True):
        high = min(inner.height, measure(child, wide, env)[1])
        gap = inner.height - high
        y = inner.top + {"top": 0, "center": gap // 2, "bottom": gap}[view.align]
        box.children.append(place(child, Bounds(x, y, x + wide, y + high), env))
        x += wide + view.gap


@wants.register
def _(view: ListView, limit: int, env: Env) -> tuple[int, int]:
    sizes = [measure(child, limit, env) for child in _present_children(view)]
    if view.across:
        return limit, max((h for _, h in sizes), default=0)
    return limit, sum(h for _, h in sizes) + view.gap * max(0, len(sizes) - 1)


@fill.register
def _(view: ListView, inner: Bounds, box: Box, env: Env) -> None:
    children = _present_children(view)
    sizes = [measure(child, inner.width, env) for child in children]
    lengths = [w if view.across else h for w, h in sizes]
    port = inner.width if view.across else inner.height
    limit = max(0, sum(lengths) + view.gap * max(0, len(lengths) - 1) - port)
    key = f"{env.scope}/{view.id}"
    offset = min(limit, max(0, env.scroll.get(key, limit if view.end else 0)))
    box.scroll = Scroll(key, offset, limit, view.across)
    if box.node is not None:
        box.node["scrollable"] = limit > 0
    at = -offset  # what is out of sight is only placed while the cursor may be in it
    for child, (_, h), length in zip(children, sizes, lengths, strict=True):
        if (at + length > 0 and at < port) or env.focus is not None:
            box.children.append(place(child, _slot(view, inner, at, length, h), env))
        at += length + view.gap


def _slot(view: ListView, inner: Bounds, at: int, length: int, high: int) -> Bounds:
    if view.across:
        top = inner.top + (inner.height - high) // 2
        return Bounds(inner.left + at, top, inner.left + at + length, top + high)
    return Bounds(inner.left, inner.top + at, inner.right, inner.top + at + length)
