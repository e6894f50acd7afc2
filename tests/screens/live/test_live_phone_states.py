"""A phone whose screen changes while a run is on: asleep, secured, turned, on another display: told and kept."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import replace

from lab.core.run.trace import Paused, Resumed
from lab.core.settings import Settings
from lab.devices import screen_watch
from screens.app import LabApp
from screens.home.home import HomeScreen
from screens.mirror.mirror import Mirror
from screens.replay.replay import ReplayScreen
from store.store import Store
from tests.crossed import soak
from tests.screens.runs import painted
from tests.simulators.phone.served.rig import AdbServer, Rig, adb_environment, adb_server, rig

__all__ = ["adb_environment", "adb_server", "rig"]
Until = Callable[..., Awaitable[None]]


@pytest.fixture
def app(
    store: Store, settings: Settings, rig: Rig, adb_environment: AdbServer, monkeypatch: pytest.MonkeyPatch
) -> LabApp:
    """An app that is to make its runs on the served phone, seen by screencap; it looks at its state all the time."""
    monkeypatch.setattr(screen_watch, "_TICK", 0.2)
    monkeypatch.setenv("SCRCPY_SERVER_PATH", str(adb_environment.home / "none"))
    return LabApp(store, replace(settings, fps=2))


def told(app: LabApp) -> list[tuple[type, str]]:
    """What the run keeps of its phone: the kind of event and its state."""
    assert app.session is not None
    events = app.store.runs.events(app.session.trace_id)
    return [(type(event), event.state) for event in events if isinstance(event, Paused | Resumed) and event.state]


async def asked(app: LabApp, until: Until, pilot: object, serial: str) -> None:
    await until(pilot, lambda: isinstance(app.screen, HomeScreen))
    app.choose_phone(serial)
    app.open_task("way_home")
    await until(pilot, lambda: "The agent asks" in painted(app))


def status(app: LabApp) -> str:
    assert app.session is not None
    return app.store.runs.trace(app.session.trace_id).status


def flat(app: LabApp) -> str:
    """The screen as one line of words, whatever its panes folded."""
    return " ".join(painted(app).replace("│", " ").split())


STATES = [
    ("rotate", 1, 0, ("is turned on its side (90°).", "stands upright again."), ("turned", "upright")),
    ("second", True, False, ("is shown on another display, too;", "its own screen alone"),
     ("two displays", "one display")),
]  # fmt: skip
"""A fault, how it is set and taken away, what is told of both, and the states that are kept."""


async def test_a_phone_that_sleeps_is_turned_or_shown_elsewhere_is_told_in_live_and_replay_and_goes_on(
    app: LabApp, until: Until, rig: Rig
) -> None:
    async with app.run_test(size=(120, 90)) as pilot:
        await asked(app, until, pilot, rig.serial)
        await _asleep_it_is_told_woken_and_kept(app, until, pilot, rig)
        for name, value, well, words, states in STATES:
            before = len(told(app))
            rig.served.fault(name, value)
            await until(pilot, lambda words=words: words[0] in flat(app))
            await _pictured_again(app, until, pilot)
            rig.served.fault(name, well)
            await until(pilot, lambda words=words: words[1] in flat(app))
            await _pictured_again(app, until, pilot)
            assert [state for _, state in told(app)][before:] == [*states], name
            assert told(app)[before + 1] == (Resumed, states[1]), name
        await pilot.press("ctrl+x")
        await until(pilot, lambda: "ctrl+x again ends the run" in painted(app))
        for name, value, _, words, states in STATES:
            before = len(told(app))
            rig.served.fault(name, value)  # while it stands still it stays so
            await until(pilot, lambda words=words: flat(app).count(words[0]) == 2)
            assert told(app)[before:] == [(Paused, states[0])], name
        await pilot.press("ctrl+x")
        await until(pilot, lambda: "this run is over" in painted(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen) and app.screen.footage.view is not None)
        await pilot.press("end")
        for _, _, _, words, _ in STATES:
            await until(pilot, lambda words=words: words[0] in flat(app) and words[1] in flat(app))


async def _pictured_again(app: LabApp, until: Until, pilot: object) -> None:
    """Until a picture of now came: one that failed as the phone changed has held the run up by then, and no longer."""
    mirror, now = app.screen.query_one(Mirror), time.monotonic()
    await until(pilot, lambda: (mirror._taken or 0) > now and "waits for your answer" in painted(app))


async def _asleep_it_is_told_woken_and_kept(app: LabApp, until: Until, pilot: object, rig: Rig) -> None:
    rig.served.fault("asleep", True)
    await until(pilot, lambda: "is asleep: its screen is off. It is woken." in flat(app))
    await until(pilot, lambda: "waits for your answer" in painted(app) and "not live" not in painted(app))
    assert told(app) == [(Paused, "asleep")]
    assert rig.served.display.awake
    assert status(app) == "open"


@soak
async def test_a_secured_screen_is_told_and_the_run_waits_for_it(app: LabApp, until: Until, rig: Rig) -> None:
    async with app.run_test(size=(120, 60)) as pilot:
        await asked(app, until, pilot, rig.serial)
        rig.served.fault("secured", True)
        await pilot.press("n", "o", "enter")
        await until(pilot, lambda: "shows a secured screen: its app forbids pictures" in flat(app))
        await until(pilot, lambda: "not live: secured" in painted(app))
        assert told(app) == [(Paused, "secured")]
        assert status(app) == "open"
        rig.served.fault("clear", None)
        await until(pilot, lambda: "not live" not in painted(app) and "goes on  " in painted(app))


async def test_a_secured_screen_is_told_while_a_person_acts_in_the_agents_place(
    app: LabApp, until: Until, rig: Rig
) -> None:
    async with app.run_test(size=(120, 60)) as pilot:
        await asked(app, until, pilot, rig.serial)
        session = app.session
        assert session is not None
        app.screen.query_one("#transcript").focus()
        await pilot.press("t", "enter", "n", "o", "enter")
        await until(pilot, lambda: session.turns.waiting is not None)
        rig.served.fault("secured", True)
        await until(pilot, lambda: "shows a secured screen: its app forbids pictures" in flat(app))
        await until(pilot, lambda: "not live: secured" in painted(app))
        assert told(app) == [(Paused, "secured")]
        assert session.turns.waiting is not None
        rig.served.fault("clear", None)
        await until(pilot, lambda: "not live" not in painted(app) and "you act" in painted(app))
        assert session.turns.waiting is not None


async def test_a_phone_that_lies_on_its_side_when_a_run_begins_is_told(app: LabApp, until: Until, rig: Rig) -> None:
    rig.served.fault("rotate", 3)
    async with app.run_test(size=(120, 60)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        app.choose_phone(rig.serial)
        app.open_task("way_home")
        await until(pilot, lambda: "is turned on its side (270°)." in flat(app))
        assert told(app) == [(Resumed, "turned")]
        mirror = app.screen.query_one(Mirror)
        await until(pilot, lambda: mirror.fit is not None and mirror.fit.cols > 70)  # 48 columns are left to the words
