"""What an app's page, sheet or dialog is as a window."""

from __future__ import annotations

from lab.core.ui_tree import Bounds
from simulators.phone.boxes import Box, Drawing, Round, Window
from simulators.phone.layout import Env, measure, place
from simulators.phone.theme import HEIGHT, STATUS_BAR, WIDTH
from simulators.phone.views import Column, Dialog, ListView, Page, Row, Screen, Sheet, Space, Text, View

_PLAIN: dict[str, object] = {"text": "", "desc": "", "id": "", "cls": "android.widget.FrameLayout"}


def window(screen: Screen, owner: str, package: str, bottom: int, env: Env) -> Window:
    """A screen laid out between the status bar and `bottom` (the keyboard's or navigation bar's upper edge)."""
    if isinstance(screen, Page):
        return Window(_page(screen, bottom, env), owner, package)
    panel = _sheet(screen, bottom, env) if isinstance(screen, Sheet) else _dialog(screen, bottom, env)
    return Window(panel, owner, package, modal=True, outside=("back",), shade=110)


def _page(page: Page, bottom: int, env: Env) -> Box:
    area = Bounds(0, STATUS_BAR.bottom, WIDTH, bottom)
    whole = Bounds(0, 0, WIDTH, HEIGHT)
    root = Box(Bounds(0, 0, WIDTH, bottom), dict(_PLAIN))
    if page.wallpaper:
        root.paints.append(Drawing("wallpaper", page.wallpaper, whole, 0, env.dark))
    else:
        root.paints.append(Round(whole, 0, env.rgb(page.ground)))
    page.body.grow = 1
    body: list[View | None] = [page.bar, page.body, page.foot]
    root.children.append(place(Column(body), area, env))
    if page.fab is not None and env.focus is None:
        wide, high = measure(page.fab, WIDTH, env)
        low = bottom - (measure(page.foot, WIDTH, env)[1] if page.foot else 0) - 48
        root.children.append(place(page.fab, Bounds(WIDTH - 48 - wide, low - high, WIDTH - 48, low), env))
    return root


def _sheet(sheet: Sheet, bottom: int, env: Env) -> Box:
    top_parts: list[View | None] = [
        Column([_handle()], align="center", pad=(0, 28, 0, 20)),
        Text(sheet.title, "headline", pad=(48, 0)) if sheet.title else None,
    ]
    head = Column(top_parts)
    foot = sheet.foot or Space(24)
    inner = ListView([sheet.body], id="sheet")
    limit = bottom - STATUS_BAR.bottom - 120
    bars_height = measure(head, WIDTH, env)[1] + measure(foot, WIDTH, env)[1]
    high = min(limit, bars_height + measure(inner, WIDTH, env)[1])
    inner.grow = 1
    bounds = Bounds(0, bottom - high, WIDTH, bottom)
    root = Box(bounds, dict(_PLAIN))
    root.paints.append(Round(Bounds(0, bounds.top, WIDTH, HEIGHT + 100), 72, env.rgb("low")))
    root.children.append(place(Column([head, inner, foot]), bounds, env))
    return root


def _handle() -> View:
    return Space(10, width=96, height=10, fill="outline", radius=5)


def _dialog(dialog: Dialog, bottom: int, env: Env) -> Box:
    buttons = Row([Space(grow=1), *dialog.buttons], gap=8) if dialog.buttons else None
    content = Column([Text(dialog.title, "headline"), dialog.body, buttons], gap=20, pad=(60, 48))
    wide = 944
    limit = bottom - STATUS_BAR.bottom - 80
    high = min(limit, measure(content, wide, env)[1])
    left, top = (WIDTH - wide) // 2, STATUS_BAR.bottom + (bottom - STATUS_BAR.bottom - high) // 2
    root = Box(Bounds(left, top, left + wide, top + high), dict(_PLAIN))
    root.paints.append(Round(root.bounds, 80, env.rgb("container")))
    root.children.append(place(content, root.bounds, env))
    return root
