"""Bluetooth in Settings: devices with their batteries, and finding one that was left behind.

`devices`, each `{name, kind: earbuds | speaker | watch | car | keyboard, battery: 0 to 100 or -1 where unknown,
connected, ringing, place, time}`; `place` and `time` say where and when it was last connected.

A lost earphone is staged by laying `bluetooth: true`, `devices` with one that is not connected and has a place and a
time, and a notification `{app: settings, title: Wren earbuds left behind, text: "Last seen at ...", screen: device,
args: {name: Wren earbuds}, heads_up: true}`. Ringing it sets `ringing`.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from simulators.phone.app import App, AppContext, State
from simulators.phone.apps.settings_views import main_switch, page, words
from simulators.phone.views import Button, Column, Dialog, Meter, Screen, Space, Text, View
from simulators.phone.widgets import actions, badge, card, inset, item, section

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


class Devices(App):
    """The part of Settings that is about Bluetooth."""

    def connected(self, here: AppContext) -> str:
        """What Bluetooth says of itself in one line."""
        if not here.own["bluetooth"]:
            return "Off"
        names = [str(d["name"]) for d in here.own["devices"] if d["connected"]]
        return ", ".join(names) or "On, nothing connected"

    def part(self, here: AppContext) -> None:
        """Without Bluetooth nothing is connected, and nothing rings."""
        for device in here.own["devices"]:
            if device["connected"]:
                device["time"] = here.clock.isoformat()
            device["connected"] = device["ringing"] = False

    def screen_bluetooth(self, here: AppContext) -> Screen:
        rows: list[View | None] = [main_switch("Use Bluetooth", bool(here.own["bluetooth"]), "bluetooth")]
        if here.own["bluetooth"]:
            rows.append(section("Saved devices"))
            rows += [
                item(str(device["name"]), _state(device), lead=badge(_icon(device)), id="device",
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
        rows: list[View | None] = [inset(card([Text(_state(device), "title", lines=1), *_charge(device)]), 12, 24)]
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
            item(where, _last(here, device), lead=badge("place"), sub_lines=2, id="last_seen"),
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
        here.back(2)
        here.own["devices"] = [d for d in here.own["devices"] if d["name"] != name]
        here.toast(f"{name} forgotten")


def _device(here: AppContext, name: str) -> State | None:
    return next((d for d in here.own["devices"] if d["name"] == name), None)


def _icon(device: State) -> str:
    return _ICONS.get(str(device["kind"]), "bluetooth")


def _state(device: State) -> str:
    power = f", battery {device['battery']}%" if device["battery"] >= 0 else ""
    if device["ringing"]:
        return f"Ringing{power}"
    return f"Connected{power}" if device["connected"] else f"Not connected{power}"


def _charge(device: State) -> list[View | None]:
    return [Space(24), Meter(device["battery"] / 100)] if device["battery"] >= 0 else []


def _last(here: AppContext, device: State) -> str:
    then = datetime.fromisoformat(device["time"] or here.phone["clock"])
    days = (here.clock.date() - then.date()).days
    day = "today" if days == 0 else "yesterday" if days == 1 else then.strftime("%d %b").lstrip("0")
    return f"Last connected {day}, {then.strftime('%H:%M')}"
