"""Settings.

State, `apps.settings`: switches `wifi`, `bluetooth`, `airplane_mode`, `mobile_data`, `location`, `dark_theme`,
`do_not_disturb`, `battery_saver`, `vibrate` (true or false); `wifi_network` (the name joined), `font_size` (small |
default | large | largest), `brightness`, `media_volume`, `ring_volume`, `alarm_volume` (0 to 10), `device_name`, and
`query` (what is searched). `saver_at` is the battery's percentage at which the saver comes on by itself, 0 for never
(`saver_met`: it has, since that was set); `grounded` keeps which switches airplane mode took, to give them back.
`devices`: see `settings_devices`; how a low battery is staged: see `settings_battery`.
"""

from __future__ import annotations

from datetime import datetime
from random import Random
from typing import ClassVar

from simulators.phone.app import AppContext, State
from simulators.phone.apps.settings_battery import Battery
from simulators.phone.apps.settings_devices import DEVICE, Devices, first_devices
from simulators.phone.apps.settings_views import level, main_switch, page, words
from simulators.phone.views import Button, Chip, Column, Dialog, Field, ListView, Page, Row, Screen, Space, Text, View
from simulators.phone.widgets import badge, empty, inset, item, marked, section

_NETWORKS = ("Heron Walk 5G", "SoftMatter-Lab", "Quayside Guest", "Lantern Cafe")
_SIZES = {"small": "Small", "default": "Default", "large": "Large", "largest": "Largest"}
_SOUNDS = (("media_volume", "Media volume"), ("ring_volume", "Ring volume"), ("alarm_volume", "Alarm volume"))
_RADIOS = ("wifi", "bluetooth", "mobile_data")
_MOST = 10


class Settings(Battery, Devices):
    id, label, icon, colour, hue = "settings", "Settings", "settings", "#5b6472", 215
    shapes: ClassVar[dict[str, State]] = {"devices": DEVICE}

    def first_state(self, rng: Random, clock: datetime) -> State:
        return {
            "wifi": True,
            "wifi_network": "Heron Walk 5G",
            "bluetooth": False,
            "airplane_mode": False,
            "grounded": [],
            "mobile_data": True,
            "location": True,
            "dark_theme": False,
            "do_not_disturb": False,
            "battery_saver": False,
            "saver_at": 0,
            "saver_met": False,
            "vibrate": True,
            "font_size": "default",
            "brightness": 6,
            "media_volume": 5,
            "ring_volume": 7,
            "alarm_volume": 8,
            "device_name": "Ines's phone",
            "devices": first_devices(clock),
            "query": "",
        }

    def _entries(self, here: AppContext) -> list[tuple[str, str, str, str, str]]:
        """Screen, icon, title, what it says now, and further words it is found by."""
        own = here.own
        on = {True: "On", False: "Off"}
        network = str(own["wifi_network"]) if own["wifi"] else "Off"
        return [
            ("wifi", "wifi", "Wi-Fi", network, "network internet"),
            ("bluetooth", "bluetooth", "Bluetooth", self.connected(here), "devices headphones earbuds find ring lost"),
            ("network", "plane", "Mobile network", "Airplane mode" if own["airplane_mode"] else "Connected",
             "airplane flight mode mobile data"),
            ("display", "sun", "Display", f"Dark theme {on[bool(own['dark_theme'])].lower()}, font size, brightness",
             "dark theme font size text brightness night"),
            ("sound", "sound", "Sound", f"Ring volume {own['ring_volume']} of {_MOST}",
             "volume media ring alarm vibrate"),
            ("quiet", "dnd", "Do not disturb", on[bool(own["do_not_disturb"])], "silence quiet notifications"),
            ("battery", "battery", "Battery", self.battery_words(here), "battery saver charge power schedule"),
            ("location", "place", "Location", on[bool(own["location"])], "place position gps"),
            ("about", "phone", "About phone", str(own["device_name"]), "device name version model"),
        ]  # fmt: skip

    def screen_home(self, here: AppContext) -> Screen:
        query_words = str(here.own["query"]).casefold().split()
        entries = [e for e in self._entries(here) if all(word in f"{e[2]} {e[4]}".casefold() for word in query_words)]
        rows: list[View | None] = [
            item(title, sub, lead=badge(icon), on=("go", screen), id=screen) for screen, icon, title, sub, _ in entries
        ]
        field = Field(["query"], hint="Search settings", kind="search", id="search", action="Search")
        nothing = empty("search", "Nothing found", "No setting has that name.")
        top = Column([Text("Settings", "display", pad=(48, 30, 48, 20)), inset(field, 0, 24)])
        return Page(ListView([top, *(rows or [nothing]), Space(60)], id="list"))

    def screen_wifi(self, here: AppContext) -> Screen:
        own = here.own
        rows: list[View | None] = [main_switch("Use Wi-Fi", bool(own["wifi"]), "wifi")]
        if own["wifi"]:
            rows.append(section("Networks"))
            names = dict.fromkeys([str(own["wifi_network"]), *_NETWORKS])
            for name in names:
                connected = name == own["wifi_network"]
                rows.append(item(name, "Connected" if connected else "Saved", lead=badge("wifi_full"), id="network",
                                 on=("join", name)))  # fmt: skip
        return page("Wi-Fi", rows)

    def do_join(self, here: AppContext, name: str) -> None:
        here.own["wifi_network"] = name
        here.toast(f"Connected to {name}")

    def screen_network(self, here: AppContext) -> Screen:
        flying = bool(here.own["airplane_mode"])
        data = marked("switch", "Mobile data", bool(here.own["mobile_data"]), ("switch", "mobile_data"),
                      sub="Heron Mobile", lead=badge("signal"))  # fmt: skip
        text = words("Wi-Fi, Bluetooth and the mobile network are off. Calls and messages wait.") if flying else data
        return page("Mobile network", [main_switch("Airplane mode", flying, "airplane_mode"), text])

    def do_switch(self, here: AppContext, key: str) -> None:
        """Turns a switch, and what hangs on it: airplane mode takes the radios and gives them back."""
        own = here.own
        own[key] = not own[key]
        if key == "airplane_mode" and own[key]:
            own["grounded"] = [name for name in _RADIOS if own[name]]
        if key == "airplane_mode":
            for name in own["grounded"]:
                own[name] = not own[key]
        if not own["bluetooth"]:
            self.part(here)

    def screen_location(self, here: AppContext) -> Screen:
        return page("Location", [
            main_switch("Use location", bool(here.own["location"]), "location"),
            words("Maps knows where this phone is only while this is on."),
        ])  # fmt: skip

    def screen_display(self, here: AppContext) -> Screen:
        own = here.own
        size = _SIZES.get(str(own["font_size"]), "Default")
        return page("Display", [
            marked("switch", "Dark theme", bool(own["dark_theme"]), ("switch", "dark_theme"), lead=badge("moon"),
                   sub="Light on dark, everywhere"),
            item("Font size", size, lead=badge("text_size"), on=("go", "font_size"), id="font_size"),
            section("Brightness"),
            level(int(own["brightness"]), _MOST, "brightness", "Brightness"),
        ])  # fmt: skip

    def screen_font_size(self, here: AppContext) -> Screen:
        rows: list[View | None] = [
            marked("radio", label, here.own["font_size"] == key, ("size", key)) for key, label in _SIZES.items()
        ]
        return Dialog("Font size", Column(rows), [Button("Cancel", "text", on=("back",))])

    def do_size(self, here: AppContext, key: str) -> None:
        here.own["font_size"] = key
        here.back()

    def screen_sound(self, here: AppContext) -> Screen:
        rows: list[View | None] = []
        for key, title in _SOUNDS:
            rows += [section(title), level(int(here.own[key]), _MOST, key, title)]
        rows.append(marked("switch", "Vibrate for calls", bool(here.own["vibrate"]), ("switch", "vibrate")))
        return page("Sound", rows)

    def do_level(self, here: AppContext, key: str, by: int) -> None:
        here.own[key] = min(_MOST, max(0, int(here.own[key]) + by))

    def screen_volume(self, here: AppContext) -> Screen:
        """All levels at once, to choose one exactly."""
        key, what = str(here.args["key"]), str(here.args["what"])
        chips = [
            Chip(str(n), on=("put", key, n), selected=n == here.own[key], desc=f"{what} {n}", grow=1)
            for n in range(_MOST + 1)
        ]
        rows = [Row(chips[i : i + 4], gap=16) for i in range(0, len(chips), 4)]
        return Dialog(what, Column(rows, gap=8), [Button("Done", "text", on=("back",))])

    def do_put(self, here: AppContext, key: str, value: int) -> None:
        here.own[key] = value

    def screen_quiet(self, here: AppContext) -> Screen:
        return page("Do not disturb", [
            main_switch("Do not disturb", bool(here.own["do_not_disturb"]), "do_not_disturb"),
            words("Notifications still arrive, but without sound and without showing over what you do. Alarms ring."),
        ])  # fmt: skip

    def screen_about(self, here: AppContext) -> Screen:
        return page("About phone", [
            item("Device name", str(here.own["device_name"]), lead=badge("phone"), on=("go", "rename"), id="name"),
            item("Model", "Lantern One", lead=badge("info")),
            item("System version", "Heron 14", lead=badge("settings")),
            item("Wi-Fi address", "02:5e:10:af:00:17", lead=badge("wifi")),
        ])  # fmt: skip

    def screen_rename(self, here: AppContext) -> Screen:
        field = Field(["device_name"], hint="Device name", id="name", submit=("back",))
        return Dialog("Device name", field, [Button("Done", "text", on=("back",))])
