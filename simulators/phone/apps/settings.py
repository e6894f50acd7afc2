"""Settings.

State, `apps.settings`: switches `wifi`, `bluetooth`, `dark_theme`, `do_not_disturb`, `battery_saver`,
`vibrate` (true or false); `wifi_network` (the name joined), `font_size` (small | default | large | largest),
`brightness`, `media_volume`, `ring_volume`, `alarm_volume` (0 to 10), `device_name`, and `query` (what is searched).
"""

from __future__ import annotations

from datetime import datetime
from random import Random

from simulators.phone.app import App, Here, State
from simulators.phone.views import (
    Act,
    Button,
    Column,
    Dialog,
    Field,
    ListView,
    Meter,
    Page,
    Row,
    Screen,
    Space,
    Text,
    View,
)
from simulators.phone.widgets import app_bar, badge, card, empty, inset, item, marked, section, stepper

_NETWORKS = ("Heron Walk 5G", "SoftMatter-Lab", "Quayside Guest", "Lantern Cafe")
_SIZES = {"small": "Small", "default": "Default", "large": "Large", "largest": "Largest"}
_SOUNDS = (("media_volume", "Media volume"), ("ring_volume", "Ring volume"), ("alarm_volume", "Alarm volume"))
_MOST = 10


class Settings(App):
    id, label, icon, colour, hue = "settings", "Settings", "settings", "#5b6472", 215

    def first_state(self, rng: Random, clock: datetime) -> State:
        return {
            "wifi": True,
            "wifi_network": "Heron Walk 5G",
            "bluetooth": False,
            "dark_theme": False,
            "do_not_disturb": False,
            "battery_saver": False,
            "vibrate": True,
            "font_size": "default",
            "brightness": 6,
            "media_volume": 5,
            "ring_volume": 7,
            "alarm_volume": 8,
            "device_name": "Ines's phone",
            "query": "",
        }

    def _entries(self, here: Here) -> list[tuple[str, str, str, str, str]]:
        """Screen, icon, title, what it says now, and further words it is found by."""
        own = here.own
        on = {True: "On", False: "Off"}
        joined = str(own["wifi_network"]) if own["wifi"] else "Off"
        return [
            ("wifi", "wifi", "Wi-Fi", joined, "network internet"),
            ("bluetooth", "bluetooth", "Bluetooth", on[bool(own["bluetooth"])], "devices headphones"),
            ("display", "sun", "Display", f"Dark theme {on[bool(own['dark_theme'])].lower()}, font size, brightness",
             "dark theme font size text brightness night"),
            ("sound", "sound", "Sound", f"Ring volume {own['ring_volume']} of {_MOST}",
             "volume media ring alarm vibrate"),
            ("quiet", "dnd", "Do not disturb", on[bool(own["do_not_disturb"])], "silence quiet notifications"),
            ("battery", "battery", "Battery", f"{here.phone['battery']}%", "battery saver charge power"),
            ("about", "phone", "About phone", str(own["device_name"]), "device name version model"),
        ]  # fmt: skip

    def screen_home(self, here: Here) -> Screen:
        query = str(here.own["query"]).strip().casefold()
        found = [e for e in self._entries(here) if query in f"{e[2]} {e[4]}".casefold()]
        rows: list[View | None] = [
            item(title, sub, lead=badge(icon), on=("go", screen), id=screen) for screen, icon, title, sub, _ in found
        ]
        field = Field(["query"], hint="Search settings", kind="search", id="search", action="Search")
        nothing = empty("search", "Nothing found", "No setting has that name.")
        top = Column([Text("Settings", "display", pad=(48, 30, 48, 20)), inset(field, 0, 24)])
        return Page(ListView([top, *(rows or [nothing]), Space(60)], id="list"))

    def screen_wifi(self, here: Here) -> Screen:
        own = here.own
        rows: list[View | None] = [_main("Use Wi-Fi", bool(own["wifi"]), ["wifi"])]
        if own["wifi"]:
            rows.append(section("Networks"))
            names = dict.fromkeys([str(own["wifi_network"]), *_NETWORKS])
            for name in names:
                joined = name == own["wifi_network"]
                rows.append(item(name, "Connected" if joined else "Saved", lead=badge("wifi_full"), id="network",
                                 on=("join", name)))  # fmt: skip
        return _page("Wi-Fi", rows)

    def do_join(self, here: Here, name: str) -> None:
        here.own["wifi_network"] = name
        here.toast(f"Connected to {name}")

    def screen_bluetooth(self, here: Here) -> Screen:
        rows: list[View | None] = [_main("Use Bluetooth", bool(here.own["bluetooth"]), ["bluetooth"])]
        if here.own["bluetooth"]:
            rows.append(section("Saved devices"))
            rows.append(item("Wren earbuds", "Not connected", lead=badge("note_music")))
            rows.append(item("Lab speaker", "Not connected", lead=badge("sound")))
        rows.append(_words(f"Other devices see this phone as {here.own['device_name']}."))
        return _page("Bluetooth", rows)

    def screen_display(self, here: Here) -> Screen:
        own = here.own
        size = _SIZES.get(str(own["font_size"]), "Default")
        return _page("Display", [
            marked("switch", "Dark theme", bool(own["dark_theme"]), ("toggle", ["dark_theme"]), lead=badge("moon"),
                   sub="Light on dark, everywhere"),
            item("Font size", size, lead=badge("text_size"), on=("go", "font_size"), id="font_size"),
            section("Brightness"),
            _level(int(own["brightness"]), "brightness", "brightness"),
        ])  # fmt: skip

    def screen_font_size(self, here: Here) -> Screen:
        rows: list[View | None] = [
            marked("radio", label, here.own["font_size"] == key, ("size", key)) for key, label in _SIZES.items()
        ]
        return Dialog("Font size", Column(rows), [Button("Cancel", "text", on=("back",))])

    def do_size(self, here: Here, key: str) -> None:
        here.own["font_size"] = key
        here.back()

    def screen_sound(self, here: Here) -> Screen:
        rows: list[View | None] = []
        for key, title in _SOUNDS:
            rows += [section(title), _level(int(here.own[key]), key, title.lower())]
        rows.append(marked("switch", "Vibrate for calls", bool(here.own["vibrate"]), ("toggle", ["vibrate"])))
        return _page("Sound", rows)

    def do_level(self, here: Here, key: str, by: int) -> None:
        here.own[key] = min(_MOST, max(0, int(here.own[key]) + by))

    def screen_quiet(self, here: Here) -> Screen:
        return _page("Do not disturb", [
            _main("Do not disturb", bool(here.own["do_not_disturb"]), ["do_not_disturb"]),
            _words("Notifications still arrive, but without sound and without showing over what you do. Alarms ring."),
        ])  # fmt: skip

    def screen_battery(self, here: Here) -> Screen:
        level = int(here.phone["battery"])
        state = "Charging" if here.phone["charging"] else f"About {max(1, level // 5)} hours left"
        panel = card([Text(f"{level}%", "display"), Text(state, "body", "faint"), Space(24), Meter(level / 100)])
        saver = marked("switch", "Battery saver", bool(here.own["battery_saver"]), ("toggle", ["battery_saver"]),
                       sub="Less in the background", lead=badge("leaf"))  # fmt: skip
        return _page("Battery", [inset(panel, 12, 24), saver])

    def screen_about(self, here: Here) -> Screen:
        return _page("About phone", [
            item("Device name", str(here.own["device_name"]), lead=badge("phone"), on=("go", "rename"), id="name"),
            item("Model", "Lantern One", lead=badge("info")),
            item("System version", "Heron 14", lead=badge("settings")),
            item("Wi-Fi address", "02:5e:10:af:00:17", lead=badge("wifi")),
        ])  # fmt: skip

    def screen_rename(self, here: Here) -> Screen:
        field = Field(["device_name"], hint="Device name", id="name", submit=("back",))
        return Dialog("Device name", field, [Button("Done", "text", on=("back",))])


def _page(title: str, rows: list[View | None]) -> Page:
    return Page(ListView([*rows, Space(60)], id="list"), bar=app_bar(title))


def _main(title: str, on: bool, path: list[str]) -> View:
    """The one big switch of a page."""
    row = marked("switch", title, on, ("toggle", path))
    row.fill, row.radius, row.pad = "soft" if on else "high", 60, (48, 28)
    return inset(row, 12, 24)


def _words(text: str) -> View:
    return Text(text, "body", "faint", pad=(48, 24))


def _level(value: int, key: str, what: str) -> View:
    less: Act = ("level", key, -1)
    bar = Column([Meter(value / _MOST)], grow=1)
    return Row([bar, stepper(str(value), less, ("level", key, 1), what)], gap=40, pad=(48, 16))
