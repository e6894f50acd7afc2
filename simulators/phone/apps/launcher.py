"""The home screen: date and time, a grid of apps, a dock. Its state is empty."""

from __future__ import annotations

from collections.abc import Sequence

from simulators.phone import nav
from simulators.phone.app import App, AppContext
from simulators.phone.kit.views import Column, Icon, Page, Row, Space, Text, View

_GRID = 4
_DOCK = ("messages", "food", "notes", "clock")


class Launcher(App):
    id, label, icon, colour, hue = "launcher", "Home", "home", "#445577", 222

    def __init__(self, apps: Sequence[App]) -> None:
        """Create a home screen of `apps`, in the order of the grid."""
        self._apps = apps

    def screen_home(self, here: AppContext) -> Page:
        apps = self._apps
        dock = [app for name in _DOCK for app in apps if app.id == name]
        rows = [Row([_icon(app) for app in apps[i : i + _GRID]]) for i in range(0, len(apps), _GRID)]
        time = Text(here.clock.strftime("%H:%M"), "giant", align="center", id="time")
        date = Text(here.clock.strftime("%A, %d %B").replace(" 0", " "), "title", align="center", id="date")
        body = Column([Space(130), time, date, Space(20), Space(grow=1), *rows, Space(110)], pad=(12, 0))
        foot = Row([_icon(app, False) for app in dock], fill="surface", radius=80, pad=(20, 36))
        return Page(body, foot=Column([foot], pad=(36, 0, 36, 40)), wallpaper="hills")

    def do_open(self, here: AppContext, app: str) -> None:
        nav.show(here.phone, app)


def _icon(app: App, labelled: bool = True) -> View:
    sign = Icon(app.icon, 96, "white", disc=app.colour, disc_size=168, disc_radius=56)
    label = Text(app.label, "sub", "text", "center", lines=1) if labelled else None
    grow = 1 if not labelled else 0
    return Column(
        [Column([sign], align="center"), label], on=("open", app.id), desc=app.label, id="app", gap=12,
        pad=(0, 8), width=None if grow else 264, grow=grow,
    )  # fmt: skip
