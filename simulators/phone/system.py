"""The system's windows: status bar, navigation bar, shade, heads-up, recent apps, toast."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from lab.core.run.ui_tree import Bounds
from simulators.phone.app import App, State
from simulators.phone.kit import fonts
from simulators.phone.kit.boxes import Box, Round, Sign, Window
from simulators.phone.kit.layout import Env, ink, measure, place
from simulators.phone.kit.theme import HEIGHT, NAV_BAR, RGB, STATUS_BAR, WIDTH
from simulators.phone.kit.views import Art, Button, Chip, Column, Icon, ListView, Page, Row, Screen, Space, Text, View
from simulators.phone.kit.widgets import icon_button

PACKAGE = "com.android.systemui"
_TILES = (("wifi", "Wi-Fi", "wifi"), ("bluetooth", "Bluetooth", "bluetooth"), ("do_not_disturb", "Quiet", "dnd"),
          ("dark_theme", "Dark", "moon"), ("battery_saver", "Saver", "leaf"),
          ("airplane_mode", "Airplane", "plane"))  # fmt: skip
_LOW = 15
"""Battery percentage at and below which the level is red."""


def status_bar(state: State, rgb: RGB, red: RGB) -> Window:
    """Return the status bar: clock, signs of active settings, and the battery."""
    clock = datetime.fromisoformat(state["clock"])
    settings = state["apps"]["settings"]
    low = state["battery"] <= _LOW and not state["charging"]
    root = Box(STATUS_BAR, _node("status_bar"))
    percent = f"{state['battery']}%"
    root.children = [
        _text_box(clock.strftime("%H:%M"), "clock", Bounds(48, 0, 216, 96), "left", rgb),
        _text_box(percent, "battery", Bounds(936, 0, 1032, 96), "right", red if low else rgb),
    ]
    x = 1032 - fonts.width(percent, 40, True) - 60
    signs = [("bolt" if state["charging"] else "battery", 44)]
    signs += [("wifi_full", 48)] if settings["wifi"] else []
    signs += [("plane", 44)] if settings["airplane_mode"] else []
    signs += [("leaf", 40)] if settings["battery_saver"] else []
    signs += [("dnd", 40)] if settings["do_not_disturb"] else []
    signs += [("bluetooth", 40)] if settings["bluetooth"] else []
    signs += [("alarm", 40)] if any(a.get("on") for a in state["apps"].get("clock", {}).get("alarms", [])) else []
    for name, size in signs:
        root.paints.append(Sign(name, x, 48 - size // 2, size, rgb))
        x -= 56
        if name in ("battery", "bolt") and not settings["airplane_mode"]:
            for bar in range(4):
                left, high = x + bar * 11, 10 + bar * 8
                root.paints.append(Round(Bounds(left, 65 - high, left + 8, 65), 2, rgb))
            x -= 60
    if state["notifications"]:
        root.paints.append(Sign("message", 232, 30, 36, rgb))
    return Window(root, "system", PACKAGE)


def _node(name: str, desc: str = "") -> dict[str, object]:
    return {"id": name, "desc": desc, "cls": "android.widget.FrameLayout", "text": ""}


def _text_box(text: str, name: str, bounds: Bounds, align: str, rgb: RGB) -> Box:
    node: dict[str, object] = {"text": text, "id": name, "cls": "android.widget.TextView"}
    return Box(bounds, node, [ink(text, bounds, (40, 80, True), align, rgb)])


def nav_bar(rgb: RGB) -> Window:
    """Return the navigation bar: Back, Home and Overview."""
    root = Box(NAV_BAR, _node("navigation_bar"))
    third = WIDTH // 3
    for i, (name, desc) in enumerate((("back", "Back"), ("home", "Home"), ("overview", "Overview"))):
        bounds = Bounds(i * third, NAV_BAR.top, (i + 1) * third, NAV_BAR.bottom)
        node: dict[str, object] = {"id": name, "desc": desc, "cls": "android.widget.ImageView", "text": ""}
        x, y = bounds.center
        sign = Sign(f"nav_{name}", x - 28, y - 28, 56, rgb)
        root.children.append(Box(bounds, node | {"clickable": True}, [sign], on=(f"nav_{name}",)))
    return Window(root, "system", PACKAGE)


def _ago(entry: State, clock: datetime) -> str:
    then = datetime.fromisoformat(entry.get("time") or clock.isoformat())
    minutes = max(0, int((clock - then).total_seconds()) // 60)
    return "now" if minutes < 1 else f"{minutes} min" if minutes < 60 else then.strftime("%H:%M")


def _note_card(entry: State, apps: Mapping[str, App], clock: datetime, ground: str) -> View:
    app = apps[entry["app"]]
    words = Column(
        [
            Row([Text(app.label, "small", "faint", grow=1), Text(_ago(entry, clock), "small", "faint", "right")]),
            Text(entry.get("title", ""), "strong", lines=1),
            Text(entry.get("text", ""), "body", "faint", lines=3),
        ],
        grow=1,
    )
    icon = Icon(app.icon, 60, "white", disc=app.colour, disc_size=104)
    close = icon_button("close", f"Dismiss {entry.get('title', '')}", ("dismiss", entry["id"]))
    return Row(
        [icon, words, close], gap=32, pad=(36, 24, 16, 28), fill=ground, radius=60, align="top",
        id="notification", on=("open_notification", entry["id"]), long=("dismiss", entry["id"]),
    )  # fmt: skip


def shade(state: State, apps: Mapping[str, App], env: Env) -> Window:
    """Return the shade: quick settings and all notifications, latest first."""
    clock = datetime.fromisoformat(state["clock"])
    settings = state["apps"]["settings"]
    tiles = [
        Chip(name, icon, on=("setting", key), checkable=True, checked=bool(settings[key]), grow=1, height=136)
        for key, name, icon in _TILES
    ]
    notes = [_note_card(entry, apps, clock, "container") for entry in reversed(state["notifications"])]
    empty: list[View] = [Text("No notifications", "body", "faint", "center", pad=60)]
    clear = Button("Clear all", "text", on=("clear_all",))
    body: list[View | None] = [
        Row([Text(clock.strftime("%H:%M"), "display"), Text(clock.strftime("%a, %d %b"), "body", grow=1)], gap=32),
        Row(tiles[:2], gap=20),
        Row(tiles[2:4], gap=20),
        Row(tiles[4:], gap=20),
        Space(20),
        ListView(notes or empty, id="notifications", gap=16, grow=1),
        Row([Space(grow=1), clear]) if notes else None,
    ]
    area = Bounds(0, 0, WIDTH, NAV_BAR.top)
    root = Box(area, _node("shade", "Notification shade"))
    root.paints.append(Round(Bounds(0, 0, WIDTH, HEIGHT), 0, env.rgb("surface")))
    root.children.append(place(Column(body, gap=16, pad=(48, 110, 48, 24)), area, env))
    return Window(root, "system", PACKAGE, modal=True, outside=("close_shade",))


def heads_up(state: State, apps: Mapping[str, App], env: Env) -> Window | None:
    """Return the window of a notification that just arrived, on top of the screen, or None if there is none to show."""
    coming = [entry for entry in state["notifications"] if entry.get("heads_up")]
    if not coming or state["shade"] or state["apps"]["settings"]["do_not_disturb"]:
        return None
    card = _note_card(coming[-1], apps, datetime.fromisoformat(state["clock"]), "high")
    high = measure(card, WIDTH - 48, env)[1]
    box = place(card, Bounds(24, 108, WIDTH - 24, 108 + high), env)
    box.paints.append(Round(box.bounds, 60, env.rgb("line"), 3))
    return Window(box, "system", PACKAGE)


def toast(text: str, bottom: int, env: Env) -> Window:
    """Return a short message that disappears by itself."""
    view = Text(text, "body", "on_inverse", "center", pad=(56, 16), fill="inverse", radius=56, lines=2)
    view.cls = "android.widget.Toast"
    wide, high = measure(view, WIDTH - 120, env)
    left = (WIDTH - wide) // 2
    box = place(view, Bounds(left, bottom - high - 320, left + wide, bottom - 320), env)
    return Window(box, "system", PACKAGE, inert=True)


def overview(state: State, apps: Mapping[str, App]) -> Screen:
    """Return the recent apps as cards, side by side, latest first."""
    cards: list[View | None] = [_card(apps[name]) for name in state["nav"]["recents"]]
    if not cards:
        empty = Column([Space(800), Text("No recent apps", "title", "faint", "center")])
        return Page(empty, ground="container")
    body = Column(
        [
            Space(150),
            ListView([Space(178), *cards, Space(178)], id="recents", gap=0, across=True, height=1660),
            Column([Button("Clear all", "tonal", on=("forget_all",))], align="center"),
        ]
    )
    return Page(body, ground="container")


def _card(app: App) -> View:
    head: list[View | None] = [Icon(app.icon, 48, "white", disc=app.colour, disc_size=84), Text(app.label, "strong")]
    return Column(
        [Row(head, gap=24, pad=(24, 12)), Art("thumb", app.id, height=1520, radius=56)],
        width=724, pad=(20, 0), gap=8, on=("resume", app.id), desc=f"{app.label} window", id="task_card",
    )  # fmt: skip
