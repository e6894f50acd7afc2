"""How a live run looks, at 80x24 and 120x40; `pytest --snapshot-update` renews the pictures after a look at them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lab.core.run.step import Action
from screens.mirror.mirror import Mirror
from tests.screens.resting import rests

SIZES = [(80, 24), (120, 40)]
ASK = Action("ask_user", text="Which alarm do you want for tomorrow: 06:30 for the chamber, or 07:45 as usual?")
OFFER = Action("ask_user", text="It is late and you are at home. Shall I turn the dark theme on?")
TAP = Action("click", at=(150, 90))
WHY = "The alarms are on the first page."


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time passes, no cursor blinks, and the picture is as old as it will ever be."""
    monkeypatch.setattr(Mirror, "age_text", "live")
    monkeypatch.setattr("screens.mirror.mirror.STALE", 3600.0)  # a busy machine is slow, not stale


def when(app: Any, ready: Callable[[], bool]) -> Callable[[Any], Awaitable[None]]:
    """Waits until the screen is as it shall be seen."""

    async def wait(pilot: Any) -> None:
        for field in app.live.query("ReplyText, Input"):
            field.cursor_blink = False
        mirror = app.live.query_one(Mirror)
        await rests(pilot, lambda: ready() and mirror.fit is not None)

    return wait


@pytest.mark.parametrize("size", SIZES)
def test_a_question_stands_open(live: Any, cast: Any, snap_compare: Any, size: tuple[int, int]) -> None:
    app = live((TAP, WHY), (ASK, "Two times."), device=cast.Slate(), clock=cast.StillClock())
    ready = when(app, lambda: app.shows("Enter sends"))
    assert snap_compare(app, terminal_size=size, run_before=ready)


@pytest.mark.parametrize("size", SIZES)
def test_a_proposal_stands_open(live: Any, cast: Any, snap_compare: Any, size: tuple[int, int]) -> None:
    app = live(
        (TAP, WHY), (OFFER, WHY), kind="proactive", seat="participant", device=cast.Slate(), clock=cast.StillClock()
    )
    ready = when(app, lambda: app.shows("One key sends"))
    assert snap_compare(app, terminal_size=size, run_before=ready)


@pytest.mark.parametrize("size", SIZES)
def test_an_action_waits_at_the_gate(live: Any, cast: Any, snap_compare: Any, size: tuple[int, int]) -> None:
    app = live((TAP, WHY), gate="ask", device=cast.Slate(), clock=cast.StillClock())
    ready = when(app, lambda: app.shows("Tap the phone to move it"))
    assert snap_compare(app, terminal_size=size, run_before=ready)


@pytest.mark.parametrize("size", SIZES)
def test_the_run_is_over(live: Any, cast: Any, snap_compare: Any, size: tuple[int, int]) -> None:
    """It ends once a live picture came: a run that is over begins to take none."""
    agent = cast.Cast((TAP, WHY), held=True)
    app = live(agent=agent, device=cast.Slate(), clock=cast.StillClock())

    async def ended(pilot: Any) -> None:
        await rests(pilot, lambda: app.live.query_one(Mirror)._posted is not None)
        agent.go.set()
        await when(app, lambda: app.shows("Enter replays it"))(pilot)

    assert snap_compare(app, terminal_size=size, run_before=ended)
