"""How a recording looks, at 80x24 and 120x40; `pytest --snapshot-update` renews the pictures after a look at them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from lab.core.settings import Settings
from lab.core.task.task import Task
from lab.runs.spec import PERSON, Spec
from screens.app import LabApp
from screens.mirror.mirror import Mirror
from screens.navigation import Opening
from screens.record.intent import DemonstrationRequest, IntentScreen
from store.store import Store
from tests.screens.resting import rests

SIZES = [(80, 24), (120, 40)]


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    """The picture is as old as it will ever be."""
    monkeypatch.setattr(Mirror, "age_text", "live")
    monkeypatch.setattr("screens.mirror.mirror.STALE", 3600.0)  # a busy machine is slow, not stale


def seen(app: Any, ready: Callable[[], bool]) -> bool:
    """Whether this holds and the phone is drawn; no cursor blinks then."""
    if not (app.record.is_mounted and ready()):
        return False
    for field in app.record.query("Input, TextArea"):
        field.cursor_blink = False
    return app.record.query_one(Mirror).fit is not None


def driven(app: Any, *parts: tuple[list[str], Callable[[], bool]]) -> Callable[[Any], Awaitable[None]]:
    """Presses each part's keys once the phone is the person's, and waits for what it leads to."""

    async def drive(pilot: Any) -> None:
        for keys, then in parts:
            await rests(pilot, partial(seen, app, lambda: app.desk.ready))
            await pilot.press(*keys)
            await rests(pilot, partial(seen, app, then))

    return drive


def ways(app: Any) -> list[tuple[list[str], Callable[[], bool]]]:
    """Two steps, the second a slip."""
    return [
        (["slash", "1", "enter"], lambda: app.listed.count == 1),
        (["h", "enter"], lambda: app.listed.count == 2),
        (["x"], lambda: bool(app.listed.slips)),
    ]


@pytest.mark.parametrize("size", SIZES)
def test_an_act_is_held(recording: Any, snap_compare: Any, size: tuple[int, int]) -> None:
    app = recording(still=True)
    drive = driven(app, *ways(app), (["slash", "3"], lambda: app.line == "Tap Send"))
    assert snap_compare(app, terminal_size=size, run_before=drive)


@pytest.mark.parametrize("size", SIZES)
def test_what_can_be_tapped_is_listed(recording: Any, snap_compare: Any, size: tuple[int, int]) -> None:
    app = recording(still=True)
    drive = driven(app, (["slash", "down"], lambda: app.shows("2› Amount")))
    assert snap_compare(app, terminal_size=size, run_before=drive)


@pytest.mark.parametrize("size", SIZES)
def test_the_phones_keys_stand_ready(recording: Any, snap_compare: Any, size: tuple[int, int]) -> None:
    app = recording(still=True, seat="participant")
    assert snap_compare(app, terminal_size=size, run_before=driven(app, ([], lambda: app.shows("Touch the phone"))))


@pytest.mark.parametrize("size", SIZES)
def test_the_form(store: Store, snap_compare: Any, size: tuple[int, int]) -> None:
    asking = DemonstrationRequest(Spec(Task("demo-1", "general"), agent=PERSON))
    app = LabApp(store, Settings(), Opening("live", ask=asking))

    async def asked(pilot: Any) -> None:
        await rests(pilot, lambda: isinstance(app.screen, IntentScreen) and bool(app.screen.query("#intent-text")))
        app.screen.query_one("#intent-text").cursor_blink = False  # type: ignore[attr-defined]
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=asked)
