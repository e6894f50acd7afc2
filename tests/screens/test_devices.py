"""Phones at Home: listed as adb's line has them, chosen by Enter, and a run made on the one that is chosen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lab.core.run.trace import Paused
from lab.core.settings import Settings
from screens.app import LabApp
from screens.home.devices import DeviceList, DeviceRow
from screens.home.home import HomeScreen
from screens.live.live import LiveScreen
from store.store import Store
from tests.crossed import soak
from tests.screens.runs import painted
from tests.simulators.phone.served.rig import AdbServer, Rig, adb_environment, adb_server, rig

__all__ = ["adb_environment", "adb_server", "rig"]
Until = Callable[..., Awaitable[None]]


@pytest.fixture
def line(adb_environment: AdbServer, rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Rig:
    """The rig, found by this process; no scrcpy server is."""
    monkeypatch.setenv("SCRCPY_SERVER_PATH", str(adb_environment.home / "none"))
    return rig


def devices(app: LabApp) -> DeviceList:
    return app.screen.query_one(DeviceList)


async def test_a_phone_is_listed_with_its_state_and_that_of_its_screen_and_chosen(
    store: Store, settings: Settings, until: Until, line: Rig
) -> None:
    app = LabApp(store, settings)
    async with app.run_test(size=(170, 45)) as pilot:
        await until(pilot, lambda: devices(app).count == 2 and devices(app).rows[1].ready)
        assert devices(app).rows[1].serial == line.serial
        devices(app).focus()
        await pilot.press("down")
        await until(pilot, lambda: "Enter: make runs on this phone" in painted(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.settings.device == line.serial)
        line.served.faults.unplug()
        await until(pilot, lambda: not devices(app).rows[1].ready)
        assert "▸" in painted(app)
        line.served.faults.plug()
        line.connect()
        await until(pilot, lambda: devices(app).rows[1].ready)
        await until(pilot, lambda: devices(app).count == 2 and "○ ready" in painted(app))
        line.served.fault("lock", "pin")
        await until(pilot, lambda: "○ locked" in painted(app))
        line.served.fault("clear", None)
        await until(pilot, lambda: "○ locked" not in painted(app))


STATES = [
    ("lock", "pin", "locked", "is locked: the lock screen is in front."),
    ("folded", True, "folded", "is folded: its main screen is off"),
]
"""What is done to a phone, the state that it is in then, and what is said of it."""


@soak
async def test_a_run_on_the_chosen_phone_tells_a_screen_that_shows_no_app_above_the_question_and_on_the_border(
    store: Store, settings: Settings, until: Until, line: Rig
) -> None:
    app = LabApp(store, settings)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        app.choose_phone(line.serial)
        app.open_task("way_home")
        await until(pilot, lambda: isinstance(app.screen, LiveScreen))
        await until(pilot, lambda: app.session is not None and app.session.device.info.kind == "adb")
        await until(pilot, lambda: "Phone · screencap" in painted(app) and "The agent asks" in painted(app))
        for name, value, state, said in STATES:
            line.served.fault(name, value)
            await until(
                pilot, lambda said=said, state=state: said in painted(app) and f"not live: {state}" in painted(app)
            )
            assert "The agent asks" in painted(app)
            hints = ("by hand. It goes on by itself", "Unfold it. It goes on")
            await until(pilot, lambda hints=hints: any(hint in painted(app) for hint in hints))
            line.served.fault("clear", None)
            await until(pilot, lambda: "waits for your answer" in painted(app) and "not live" not in painted(app))
        assert app.session is not None
        trace = store.runs.trace(app.session.trace_id)
        assert (trace.device.id, trace.status) == (line.serial, "open")
        paused = [event for event in store.runs.events(trace.id) if isinstance(event, Paused)]
        assert [event.state for event in paused][:2] == [state for _, _, state, _ in STATES]
        await _one_that_goes_is_told_above_the_open_question_and_the_run_ends_at_a_key(app, pilot, until, line)
    ended = store.runs.trace(trace.id).ended
    assert ended is not None
    assert ended.status == "stopped"


async def _one_that_goes_is_told_above_the_open_question_and_the_run_ends_at_a_key(
    app: LabApp, pilot: Any, until: Until, line: Rig
) -> None:
    line.served.faults.unplug()
    await until(pilot, lambda: "goes on by itself" in painted(app))
    assert "The agent asks" in painted(app)
    line.served.faults.plug()
    await until(pilot, lambda: "goes on by itself" not in painted(app) and "waits for your answer" in painted(app))
    line.served.faults.unplug()
    await until(pilot, lambda: "goes on by itself" in painted(app))
    await pilot.press("ctrl+x")
    await until(pilot, lambda: "this run is over" in painted(app))


def test_a_phone_that_goes_away_stays_listed_while_it_is_chosen() -> None:
    shelf = DeviceList("devices", chosen="R58")
    shelf.set_phones([("R58", "device", "Pixel"), ("E1", "offline", "")])
    assert [row.serial for row in shelf.rows] == ["embedded", "E1", "R58"]
    since = shelf.rows[2].since
    shelf.set_phones([("R58", "device", "Pixel")])
    assert shelf.rows[1].since == since
    shelf.set_phones([])
    assert [(row.serial, row.state) for row in shelf.rows] == [("embedded", "device"), ("R58", "gone")]
    assert isinstance(shelf.rows[1], DeviceRow)


def test_phones_of_one_model_are_told_apart_in_little_room() -> None:
    shelf = DeviceList("devices")
    phones = [(f"127.0.0.1:{port}", "device", "Lantern One") for port in (5601, 5603)]
    shelf.set_phones([*phones, ("adb-R58M12345-x1y2z3._adb-tls-connect._tcp", "offline", "")])
    shelf.chosen = phones[0][0]
    for width in (23, 37, 60):
        lines = [shelf.paint(index, width) for index in range(1, 4)]
        assert all(line.cell_length <= width for line in lines)
        assert sum("5601" in line.plain for line in lines) == sum("5603" in line.plain for line in lines) == 1
        assert sum("_tcp" in line.plain for line in lines) == 1


def test_how_long_a_phone_is_on_the_line_is_not_told_as_how_long_its_run_is_live() -> None:
    shelf = DeviceList("devices")
    shelf.set_phones([("R58", "device", "Pixel")])
    assert shelf.paint(1, 60).plain.endswith("○ ready 0:00")
    shelf.busy = "R58"
    assert shelf.paint(1, 60).plain.endswith("● live")
