"""Measuring and painting of controls: buttons, chips, text fields, switches, meters."""

from __future__ import annotations

from lab.core.run.ui_tree import Bounds
from simulators.phone.kit import fonts
from simulators.phone.kit.boxes import Box, Paint, Round, Sign
from simulators.phone.kit.layout import Env, center, fill, ink, wants
from simulators.phone.kit.views import Button, Chip, Field, Mark, Meter

_BUTTONS = {
    "filled": ("primary", "on_primary"), "tonal": ("soft", "on_soft"), "outlined": ("", "primary"),
    "text": ("", "primary"), "danger": ("", "error"),
}  # fmt: skip


@wants.register
def _(view: Button, limit: int, env: Env) -> tuple[int, int]:
    size, _, bold = env.style("label")
    inside = fonts.room(view.text, size, bold) + (68 if view.icon else 0)
    return min(limit, inside + (64 if view.kind in ("text", "danger") else 96)), 120


@fill.register
def _(view: Button, inner: Bounds, box: Box, env: Env) -> None:
    ground, letters = _BUTTONS[view.kind]
    if not view.enabled:
        ground, letters = ("high" if ground else ""), "outline"
    body = Bounds(inner.left, inner.top + 6, inner.right, inner.bottom - 6)
    if ground:
        box.paints.append(Round(body, body.height // 2, env.rgb(ground)))
    elif view.kind == "outlined":
        box.paints.append(Round(body, body.height // 2, env.rgb("outline"), 3))
    _label(view.text, view.icon, body, letters, box, env)


def _label(text: str, icon: str, body: Bounds, colour: str, box: Box, env: Env) -> None:
    """Paint a centred label with an optional icon before it."""
    style = size, _, bold = env.style("label")
    lead = 60 if icon else 0
    text = fonts.ellipsis(text, size, bold, body.width - lead - 16)
    rgb = env.rgb(colour)
    start = body.left + max(8, (body.width - fonts.width(text, size, bold) - lead) // 2)
    if icon:
        box.paints.append(Sign(icon, start, (body.top + body.bottom) // 2 - 24, 48, rgb))
    row = Bounds(start + lead, body.top, body.right, body.bottom)
    box.paints.append(ink(text, row, style, "left", rgb))


@wants.register
def _(view: Chip, limit: int, env: Env) -> tuple[int, int]:
    size, _, bold = env.style("label")
    lead = 60 if view.icon else 0
    return min(limit, fonts.room(view.text, size, bold) + 64 + lead), 112


@fill.register
def _(view: Chip, inner: Bounds, box: Box, env: Env) -> None:
    body = Bounds(inner.left, inner.top + 8, inner.right, inner.bottom - 8)
    if view.selected or view.checked:
        box.paints.append(Round(body, 28, env.rgb("soft")))
    else:
        box.paints.append(Round(body, 28, env.rgb("line"), 3))
    _label(view.text, view.icon, body, "on_soft" if view.selected or view.checked else "faint", box, env)


_MARGIN = {"outline": (40, 28), "search": (40, 24), "pill": (48, 24), "plain": (0, 8), "box": (36, 24)}


def displayed_text(view: Field, env: Env) -> str:
    """Return the displayed text of a field, masked in a password field."""
    value = env.read(view.bind)
    return "*" * len(value) if view.password else value


@wants.register
def _(view: Field, limit: int, env: Env) -> tuple[int, int]:
    size, pitch, bold = env.style(view.style)
    across, along = _MARGIN[view.kind]
    lead = 84 if view.kind == "search" else 0
    lines = 1
    if view.many:
        lines = len(fonts.wrap(displayed_text(view, env) or view.hint, size, bold, limit - 2 * across - lead - 8, 0))
    return limit, max(128, lines * pitch + 2 * along)


@fill.register
def _(view: Field, inner: Bounds, box: Box, env: Env) -> None:
    value, focused = displayed_text(view, env), env.focus == view.id and bool(view.id)
    box.field = view
    if box.node is not None:
        box.node |= {"text": value, "desc": view.desc or view.hint, "clickable": True, "focusable": True}
        box.node |= {"focused": focused, "password": view.password}
    _ground(view, inner, focused, box, env)
    across, along = _MARGIN[view.kind]
    lead = 84 if view.kind == "search" else 0
    if lead:
        box.paints.append(Sign("search", inner.left + 36, (inner.top + inner.bottom) // 2 - 28, 56, env.rgb("faint")))
    room = Bounds(inner.left + across + lead, inner.top + along, inner.right - across, inner.bottom - along)
    _write(view, value, focused, room, box, env)


def _ground(view: Field, inner: Bounds, focused: bool, box: Box, env: Env) -> None:
    match view.kind:
        case "search" | "pill":
            box.paints.append(Round(inner, min(64, inner.height // 2), env.rgb("high")))
        case "box":
            box.paints.append(Round(inner, 28, env.rgb("soft" if focused else "highest")))
        case "outline":
            edge = ("primary", 6) if focused else ("outline", 3)
            box.paints.append(Round(inner, 24, env.rgb(edge[0]), edge[1]))
        case "plain":
            return
    if view.kind == "box" and focused:
        box.paints.append(Round(inner, 28, env.rgb("primary"), 6))


def _write(view: Field, value: str, focused: bool, room: Bounds, box: Box, env: Env) -> None:
    style = size, pitch, bold = env.style(view.style)
    rgb = env.rgb("text" if value else "faint")
    text = value or view.hint
    if view.many:
        lines = fonts.wrap(text, size, bold, room.width - 8, 0)
        top = room.top
    else:
        # One line that is too long shows its end, where the cursor is.
        while value and fonts.width(text, size, bold) > room.width - 8:
            text = text[1:]
        lines = (fonts.ellipsis(text.replace("\n", " "), size, bold, room.width - 8),)
        top = (room.top + room.bottom - pitch) // 2
    for i, line in enumerate(lines):
        row = Bounds(room.left, top + i * pitch, room.right, top + (i + 1) * pitch)
        box.paints.append(ink(line, row, style, view.align, rgb))
    if focused:
        last = len(lines) - 1 if value else 0
        wide = fonts.width(lines[last], size, bold) if value else 0
        start = (
            (room.left + room.right + wide) // 2 if view.align == "center" else room.left + (wide + 2 if value else -6)
        )
        middle = top + last * pitch + pitch // 2
        caret = Bounds(start, middle - size * 3 // 5, start + 5, middle + size * 3 // 5)
        box.paints.append(Round(caret, 2, env.rgb("primary")))


@wants.register
def _(view: Mark, limit: int, env: Env) -> tuple[int, int]:
    return (136, 80) if view.kind == "switch" else (64, 64)


@fill.register
def _(view: Mark, inner: Bounds, box: Box, env: Env) -> None:
    box.paints.extend(_mark(view, inner, env))


def _mark(view: Mark, inner: Bounds, env: Env) -> list[Paint]:
    on, primary, outline = view.checked, env.rgb("primary"), env.rgb("outline")
    if view.kind == "switch":
        track = center(inner, 136, 80)
        if on:
            knob = center(Bounds(track.right - 80, track.top, track.right, track.bottom), 60, 60)
            return [Round(track, 40, primary), Round(knob, 30, env.rgb("on_primary"))]
        knob = center(Bounds(track.left, track.top, track.left + 80, track.bottom), 42, 42)
        return [Round(track, 40, env.rgb("highest")), Round(track, 40, outline, 5), Round(knob, 21, outline)]
    square = center(inner, 52, 52)
    if view.kind == "radio":
        ring = Round(square, 26, primary if on else outline, 6)
        return [ring, Round(center(inner, 26, 26), 13, primary)] if on else [ring]
    if not on:
        return [Round(square, 8, outline, 6)]
    return [Round(square, 8, primary), Sign("check", square.left + 2, square.top + 2, 48, env.rgb("on_primary"))]


@wants.register
def _(view: Meter, limit: int, env: Env) -> tuple[int, int]:
    return limit, 24


@fill.register
def _(view: Meter, inner: Bounds, box: Box, env: Env) -> None:
    bar = center(inner, inner.width, 24)
    full = Bounds(bar.left, bar.top, bar.left + max(24, round(bar.width * view.share)), bar.bottom)
    box.paints += [Round(bar, 12, env.rgb("highest")), Round(full, 12, env.rgb("primary"))]
