"""The battery's pages in Settings.

A low battery is staged by laying `battery: 14` and a notification `{app: settings, title: Battery low, text: "14%
left", screen: low_battery, heads_up: true}`; a tap on it opens the question whether the saver shall come on. To begin
with the question itself, lay `nav: {app: settings, stacks: {settings: [{screen: home, args: {}}, {screen: low_battery,
args: {}}]}}`. The status bar shows the level in red from 15 % down.
"""

from __future__ import annotations

from datetime import datetime

from simulators.phone.app import App, AppContext
from simulators.phone.apps.settings_views import page
from simulators.phone.views import Button, Column, Dialog, Meter, Screen, Space, Text, View
from simulators.phone.widgets import badge, card, inset, item, marked, section

_STEPS = (0, 5, 10, 15, 20, 30, 50)


class Battery(App):
    """The part of Settings that is about the battery."""

    def battery_words(self, here: AppContext) -> str:
        saver = ", battery saver on" if here.own["battery_saver"] else ""
        return f"{here.phone['battery']}%{saver}"

    def screen_battery(self, here: AppContext) -> Screen:
        own, level = here.own, int(here.phone["battery"])
        panel = card([Text(f"{level}%", "display"), Text(_left(here), "body", "faint"), Space(24), Meter(level / 100)])
        saver = marked("switch", "Battery saver", bool(own["battery_saver"]), ("switch", "battery_saver"),
                       sub="Less in the background", lead=badge("leaf"))  # fmt: skip
        schedule = item("Turn on by itself", _when(int(own["saver_at"])), lead=badge("clock"),
                        on=("go", "schedule"), id="schedule")  # fmt: skip
        return page("Battery", [inset(panel, 12, 24), section("Battery saver"), saver, schedule])

    def screen_schedule(self, here: AppContext) -> Screen:
        steps = sorted({*_STEPS, int(here.own["saver_at"])})
        rows: list[View | None] = [
            marked("radio", _when(step), here.own["saver_at"] == step, ("schedule", step)) for step in steps
        ]
        return Dialog("Turn on battery saver", Column(rows), [Button("Cancel", "text", on=("back",))])

    def do_schedule(self, here: AppContext, at: int) -> None:
        here.own["saver_at"], here.own["saver_met"] = at, False
        here.back()

    def screen_low_battery(self, here: AppContext) -> Screen:
        text = f"{here.phone['battery']}% left. {_left(here)}."
        if here.own["battery_saver"]:
            return Dialog("Battery low", Text(f"{text} Battery saver is on.", "body", "faint"),
                          [Button("Close", "text", on=("back",))])  # fmt: skip
        return Dialog(
            "Battery low",
            Text(f"{text} Battery saver makes it last longer.", "body", "faint"),
            [Button("Not now", "text", on=("back",)), Button("Battery saver", "text", on=("save",), id="save")],
        )

    def do_save(self, here: AppContext) -> None:
        here.own["battery_saver"] = True
        here.back()
        here.toast("Battery saver is on")

    def tick(self, here: AppContext, before: datetime, after: datetime) -> None:
        """The saver comes on by itself, once each time the battery has fallen so far."""
        own, low = here.own, int(here.phone["battery"]) <= int(here.own["saver_at"])
        if low and not here.phone["charging"] and not own["saver_met"]:
            own["battery_saver"] = True
        own["saver_met"] = low and not here.phone["charging"]


def _when(level: int) -> str:
    return f"At {level}%" if level else "Never"


def _left(here: AppContext) -> str:
    if here.phone["charging"]:
        return "Charging"
    hours = max(1, int(here.phone["battery"]) // (4 if here.own["battery_saver"] else 5))
    return f"About {hours} {'hour' if hours == 1 else 'hours'} left"
