"""Settings and quick settings: the saver, exact volumes, airplane mode, Bluetooth devices and a lost one."""

from __future__ import annotations

from typing import Any

from lab.core.run.step import Action
from simulators.phone.phone import Phone
from tests.simulators.phone.test_touch import app, front, labels, opened, tap, tap_id

SHADE = Action("swipe", at=(540, 10), direction="down")


def settings(phone: Phone) -> Any:
    return app(phone, "settings")


def device(phone: Phone, name: str) -> Any:
    return next(d for d in settings(phone)["devices"] if d["name"] == name)


def test_the_saver_comes_on_by_itself_once_and_stays_off_when_turned_off() -> None:
    phone = opened("Settings")
    tap(phone, "Battery")
    tap(phone, "Turn on by itself")
    tap(phone, "At 20%")
    assert settings(phone)["saver_at"] == 20
    assert not settings(phone)["battery_saver"]
    phone.lay({"battery": 19})
    phone.perform(Action("wait"))
    assert settings(phone)["battery_saver"]
    assert "About 4 hours left" in labels(phone)
    tap(phone, "Battery saver")
    phone.perform(Action("wait"))
    assert not settings(phone)["battery_saver"]


def test_a_low_battery_is_told_and_its_question_turns_the_saver_on() -> None:
    phone = Phone()
    note = {"app": "settings", "screen": "low_battery", "title": "Battery low", "text": "12% left", "heads_up": True}
    phone.lay({"battery": 12, "notifications": [note]})
    tap(phone, "12% left")
    assert "12% left. About 2 hours left. Battery saver makes it last longer." in labels(phone)
    tap(phone, "Battery saver", id="save")
    assert settings(phone)["battery_saver"]
    assert front(phone) == "com.hitlab.settings/.Home"


def test_volumes_go_step_by_step_and_exactly() -> None:
    phone = opened("Settings")
    tap(phone, "Sound")
    tap(phone, "Less media volume")
    tap(phone, "More alarm volume")
    assert (settings(phone)["media_volume"], settings(phone)["alarm_volume"]) == (4, 9)
    tap(phone, "Media volume slider")
    tap(phone, "Media volume 0")
    tap(phone, "Done")
    assert settings(phone)["media_volume"] == 0


def test_airplane_mode_takes_the_radios_and_gives_them_back() -> None:
    phone = opened("Settings")
    phone.perform(SHADE)
    tap(phone, "Bluetooth")
    tap(phone, "Airplane")
    own = settings(phone)
    assert (own["airplane_mode"], own["wifi"], own["bluetooth"], own["mobile_data"]) == (True, False, False, False)
    tap(phone, "Airplane")
    own = settings(phone)
    assert (own["airplane_mode"], own["wifi"], own["bluetooth"], own["mobile_data"]) == (False, True, True, True)
    tap(phone, "Saver")
    assert settings(phone)["battery_saver"]


def test_a_lost_earphone_is_told_found_and_rung() -> None:
    phone = Phone()
    lost = {"name": "Wren earbuds", "battery": 55, "place": "Harbour Pool", "time": "2026-03-10T08:31:00+08:00"}
    note = {"app": "settings", "screen": "device", "args": {"name": "Wren earbuds"}, "heads_up": True}
    note |= {"title": "Wren earbuds left behind", "text": "Last seen at Harbour Pool"}
    phone.lay({"apps": {"settings": {"bluetooth": True, "devices": [lost]}}, "notifications": [note]})
    tap(phone, "Last seen at Harbour Pool")
    assert {"Harbour Pool", "Last connected today, 08:31", "Not connected, battery 55%"} <= labels(phone)
    tap(phone, "Ring")
    assert device(phone, "Wren earbuds")["ringing"]
    assert {"It is ringing now.", "Stop ringing"} <= labels(phone)
    tap(phone, "Stop ringing")
    assert not device(phone, "Wren earbuds")["ringing"]


def test_devices_connect_part_with_bluetooth_and_are_forgotten() -> None:
    phone = opened("Settings")
    tap(phone, "Bluetooth")
    tap(phone, "Use Bluetooth")
    tap(phone, "Lab speaker")
    tap(phone, "Connect")
    assert device(phone, "Lab speaker")["connected"]
    phone.perform(Action("navigate_back"))
    tap(phone, "Use Bluetooth")
    assert not device(phone, "Lab speaker")["connected"]
    tap(phone, "Use Bluetooth")
    tap(phone, "Lab speaker")
    tap(phone, "Forget")
    tap_id(phone, "forget")
    assert [d["name"] for d in settings(phone)["devices"]] == ["Wren earbuds", "Plover watch"]
    assert front(phone) == "com.hitlab.settings/.Bluetooth"
