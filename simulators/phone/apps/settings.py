"""Settings: switches, network, display, sound, the battery, and Bluetooth devices.

State, `apps.settings`:
- Switches `wifi`, `bluetooth`, `airplane_mode`, `mobile_data`, `location`, `dark_theme`, `do_not_disturb`,
  `battery_saver`, `vibrate` (true or false).
- `wifi_network` (the joined network's name), `font_size` (small | default | large | largest), `brightness`,
  `media_volume`, `ring_volume`, `alarm_volume` (0 to 10), `device_name`, and `query` (the typed search).
- `saver_at`: the battery's percentage at which the saver turns on by itself, 0 for never. `saver_met`: it has turned on
  since. `grounded`: the switches that airplane mode turned off and will restore.
- `devices`, each `{name, kind: earbuds | speaker | watch | car | keyboard, battery: 0 to 100 or -1 if unknown,
  connected, ringing, place, time}`. `place` and `time` are those of its last connection.

To stage a low battery, lay `battery: 14` and a notification `{app: settings, title: Battery low, text: "14% left",
screen: low_battery, heads_up: true}`. A tap on it asks whether to turn the saver on. To begin with the question itself,
lay `nav: {app: settings, stacks: {settings: [{screen: home, args: {}}, {screen: low_battery, args: {}}]}}`. The status
bar shows the level in red at 15 % and below.

To stage a lost earphone, lay `bluetooth: true`, `devices` with one that is not connected and has a place and a time,
and a notification `{app: settings, title: Wren earbuds left behind, text: "Last seen at ...", screen: device, args:
{name: Wren earbuds}, heads_up: true}`. Ringing it sets `ringing`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import ClassVar

from simulators.phone.app import App, AppContext, State
from simulators.phone.kit.views import (
    Act,
    Button,
    Chip,
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
from simulators.phone.kit.widgets import (
    actions,
    app_bar,
    badge,
    card,
    checkable,
    empty,
    inset,
    item,
    section,
    stepper,
)

DEVICE: State = {
    "name": "", "kind": "earbuds", "battery": -1, "connected": False, "ringing": False, "place": "", "time": "",
}  # fmt: skip
_ICONS = {"earbuds": "earbuds", "speaker": "sound", "watch": "clock", "car": "car", "keyboard": "display"}


def first_devices(clock: datetime) -> list[State]:
    return [
        DEVICE | {"name": "Wren earbuds", "battery": 64, "place": "Block 14 Heron Walk",
                  "time": (clock - timedelta(hours=14)).isoformat()},
        DEVICE | {"name": "Lab speaker", "kind": "speaker", "place": "Institute of Soft Matter",
                  "time": (clock - timedelta(days=4)).isoformat()},
        DEVICE | {"name": "Plover watch", "kind": "watch", "battery": 41, "place": "Block 14 Heron Walk",
                  "time": (clock - timedelta(hours=2)).isoformat()},
    ]  # fmt: skip


def _device(here: AppContext, name: str) -> State | None:
    return next((d for d in here.own["devices"] if d["name"] == name), None)


def _icon(device: State) -> str:
    return _ICONS.get(str(device["kind"]), "bluetooth")


def _device_status(device: State) -> str:
    power = f", battery {device['battery']}%" if device["battery"] >= 0 else ""
    if device["ringing"]:
        return f"Ringing{power}"
    return f"Connected{power}" if device["connected"] else f"Not connected{power}"


def _charge(device: State) -> list[View | None]:
    return [Space(24), Meter(device["battery"] / 100)] if device["battery"] >= 0 else []


def _last_connected(here: AppContext, device: State) -> str:
    then = datetime.fromisoformat(device["time"] or here.phone["clock"])
    days = (here.clock.date() - then.date()).days
    day = "today" if days == 0 else "yesterday" if days == 1 else then.strftime("%d %b").lstrip("0")
    return f"Last connected {day}, {then.strftime('%H:%M')}"


_STEPS = (0, 5, 10, 15, 20, 30, 50)


def _saver_words(level: int) -> str:
    return f"At {level}%" if level else "Never"


def _time_left(here: AppContext) -> str:
    if here.phone["charging"]:
        return "Charging"
    hours = max(1, int(here.phone["battery"]) // (4 if here.own["battery_saver"] else 5))
    return f"About {hours} {'hour' if hours == 1 else 'hours'} left"


_NETWORKS = ("Heron Walk 5G", "SoftMatter-Lab", "Quayside Guest", "Lantern Cafe")
_SIZES = {"small": "Small", "default": "Default", "large": "Large", "largest": "Largest"}
_SOUNDS = (("media_volume", "Media volume"), ("ring_volume", "Ring volume"), ("alarm_volume", "Alarm volume"))
_RADIOS = ("wifi", "bluetooth", "mobile_data")
_MOST = 10


class SettingsApp(App):
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
        """Return the entries: screen, icon, title, current value, and further words for the search."""
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
        data = checkable("switch", "Mobile data", bool(here.own["mobile_data"]), ("switch", "mobile_data"),
                      sub="Heron Mobile", lead=badge("signal"))  # fmt: skip
        text = words("Wi-Fi, Bluetooth and the mobile network are off. Calls and messages wait.") if flying else data
        return page("Mobile network", [main_switch("Airplane mode", flying, "airplane_mode"), text])

    def do_switch(self, here: AppContext, key: str) -> None:
        """Toggle a switch with its effects. Airplane mode turns the radios off, and restores them afterwards."""
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
            checkable("switch", "Dark theme", bool(own["dark_theme"]), ("switch", "dark_theme"), lead=badge("moon"),
                   sub="Light on dark, everywhere"),
            item("Font size", size, lead=badge("text_size"), on=("go", "font_size"), id="font_size"),
            section("Brightness"),
            level(int(own["brightness"]), _MOST, "brightness", "Brightness"),
        ])  # fmt: skip

    def screen_font_size(self, here: AppContext) -> Screen:
        rows: list[View | None] = [
            checkable("radio", label, here.own["font_size"] == key, ("size", key)) for key, label in _SIZES.items()
        ]
        return Dialog("Font size", Column(rows), [Button("Cancel", "text", on=("back",))])

    def do_size(self, here: AppContext, key: str) -> None:
        here.own["font_size"] = key
        here.close_screens()

    def screen_sound(self, here: AppContext) -> Screen:
        rows: list[View | None] = []
        for key, title in _SOUNDS:
            rows += [section(title), level(int(here.own[key]), _MOST, key, title)]
        rows.append(checkable("switch", "Vibrate for calls", bool(here.own["vibrate"]), ("switch", "vibrate")))
        return page("Sound", rows)

    def do_level(self, here: AppContext, key: str, by: int) -> None:
        here.own[key] = min(_MOST, max(0, int(here.own[key]) + by))

    def screen_volume(self, here: AppContext) -> Screen:
        """Return a dialog with all levels, to choose one exactly."""
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

    def battery_words(self, here: AppContext) -> str:
        saver = ", battery saver on" if here.own["battery_saver"] else ""
        return f"{here.phone['battery']}%{saver}"

    def screen_battery(self, here: AppContext) -> Screen:
        own, level = here.own, int(here.phone["battery"])
        panel = card(
            [Text(f"{level}%", "display"), Text(_time_left(here), "body", "faint"), Space(24), Meter(level / 100)]
        )
        saver = checkable("switch", "Battery saver", bool(own["battery_saver"]), ("switch", "battery_saver"),
                       sub="Less in the background", lead=badge("leaf"))  # fmt: skip
        schedule = item("Turn on by itself", _saver_words(int(own["saver_at"])), lead=badge("clock"),
                        on=("go", "schedule"), id="schedule")  # fmt: skip
        return page("Battery", [inset(panel, 12, 24), section("Battery saver"), saver, schedule])

    def screen_schedule(self, here: AppContext) -> Screen:
        steps = sorted({*_STEPS, int(here.own["saver_at"])})
        rows: list[View | None] = [
            checkable("radio", _saver_words(step), here.own["saver_at"] == step, ("schedule", step)) for step in steps
        ]
        return Dialog("Turn on battery saver", Column(rows), [Button("Cancel", "text", on=("back",))])

    def do_schedule(self, here: AppContext, at: int) -> None:
        here.own["saver_at"], here.own["saver_met"] = at, False
        here.close_screens()

    def screen_low_battery(self, here: AppContext) -> Screen:
        text = f"{here.phone['battery']}% left. {_time_left(here)}."
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
        here.close_screens()
        here.toast("Battery saver is on")

    def tick(self, here: AppContext, before: datetime, after: datetime) -> None:
        """Turn the saver on once, each time the battery falls to its threshold."""
        own, low = here.own, int(here.phone["battery"]) <= int(here.own["saver_at"])
        if low and not here.phone["charging"] and not own["saver_met"]:
            own["battery_saver"] = True
        own["saver_met"] = low and not here.phone["charging"]

    def connected(self, here: AppContext) -> str:
        """Return Bluetooth's status in one line."""
        if not here.own["bluetooth"]:
            return "Off"
        names = [str(d["name"]) for d in here.own["devices"] if d["connected"]]
        return ", ".join(names) or "On, nothing connected"

    def part(self, here: AppContext) -> None:
        """Disconnect all devices and silence them, as when Bluetooth turns off."""
        for device in here.own["devices"]:
            if device["connected"]:
                device["time"] = here.clock.isoformat()
            device["connected"] = device["ringing"] = False

    def screen_bluetooth(self, here: AppContext) -> Screen:
        rows: list[View | None] = [main_switch("Use Bluetooth", bool(here.own["bluetooth"]), "bluetooth")]
        if here.own["bluetooth"]:
            rows.append(section("Saved devices"))
            rows += [
                item(str(device["name"]), _device_status(device), lead=badge(_icon(device)), id="device",
                     on=("go", "device", {"name": device["name"]}))
                for device in here.own["devices"]
            ]  # fmt: skip
            if not here.own["devices"]:
                rows.append(words("No devices yet."))
        rows.append(words(f"Other devices see this phone as {here.own['device_name']}."))
        return page("Bluetooth", rows)

    def screen_device(self, here: AppContext) -> Screen:
        name = str(here.args["name"])
        device = _device(here, name)
        if device is None:
            return page(name, [words("This device was forgotten.")])
        rows: list[View | None] = [
            inset(card([Text(_device_status(device), "title", lines=1), *_charge(device)]), 12, 24)
        ]
        if here.own["bluetooth"]:
            on = bool(device["connected"])
            pair = Button("Disconnect" if on else "Connect", "tonal", on=("connect", name), id="connect")
            rows.append(actions(pair, Button("Forget", "outlined", on=("go", "forget", {"name": name}))))
        else:
            rows.append(words("Bluetooth is off."))
        rows += [section("Find device"), *self._find(here, device)]
        return page(name, rows)

    def _find(self, here: AppContext, device: State) -> list[View | None]:
        name, ringing = str(device["name"]), bool(device["ringing"])
        where = str(device["place"]) or "Place unknown"
        if device["connected"]:
            where = "With this phone"
        ring = Button("Stop ringing" if ringing else "Ring", "filled", "sound", on=("ring", name), id="ring")
        ring.enabled = bool(here.own["bluetooth"])
        text = "It is ringing now." if ringing else "It plays a sound that gets louder."
        return [
            item(where, _last_connected(here, device), lead=badge("place"), sub_lines=2, id="last_seen"),
            words(text),
            inset(Column([ring])),
        ]

    def do_connect(self, here: AppContext, name: str) -> None:
        device = _device(here, name)
        if device is not None:
            device["connected"] = not device["connected"]
            device["time"] = here.clock.isoformat()
            here.toast(f"{name} {'connected' if device['connected'] else 'disconnected'}")

    def do_ring(self, here: AppContext, name: str) -> None:
        device = _device(here, name)
        if device is not None:
            device["ringing"] = not device["ringing"]

    def screen_forget(self, here: AppContext) -> Screen:
        name = str(here.args["name"])
        return Dialog(
            f"Forget {name}?",
            Text("It must be paired again before it can be used with this phone.", "body", "faint"),
            [Button("Cancel", "text", on=("back",)), Button("Forget", "danger", on=("forget", name), id="forget")],
        )

    def do_forget(self, here: AppContext, name: str) -> None:
        here.close_screens(2)
        here.own["devices"] = [d for d in here.own["devices"] if d["name"] != name]
        here.toast(f"{name} forgotten")


def page(title: str, rows: list[View | None]) -> Page:
    return Page(ListView([*rows, Space(60)], id="list"), bar=app_bar(title))


def main_switch(title: str, on: bool, key: str) -> View:
    """Return the one large switch of a page."""
    row = checkable("switch", title, on, ("switch", key))
    row.fill, row.radius, row.pad = "soft" if on else "high", 60, (48, 28)
    return inset(row, 12, 24)


def words(text: str) -> View:
    return Text(text, "body", "faint", pad=(48, 24))


def level(value: int, most: int, key: str, title: str) -> View:
    """Return a slider with buttons for one step. A tap on its bar opens all levels at once."""
    less: Act = ("level", key, -1)
    bar = Column(
        [Meter(value / most)], grow=1, on=("go", "volume", {"key": key, "what": title}), desc=f"{title} slider",
        id=key, cls="SeekBar", pad=(0, 44),
    )  # fmt: skip
    return Row([bar, stepper(str(value), less, ("level", key, 1), title.lower())], gap=40, pad=(48, 16))
