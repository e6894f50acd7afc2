"""A live run's room that is closed or left the moment it opens: whatever comes too late finds no room, and no fault."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lab.core.run.trace import Ended
from screens.live.live import LiveScreen
from screens.live.seat_pane import SeatPane
from screens.live.session_messages import EventCommitted, GatedActionChanged, QuestionChanged

SOONEST, LATEST = 0, 60
"""Turns of the loop after which the room is closed, the app's first paint between them."""


async def opened(app: Any, turns: int) -> asyncio.Task[None]:
    """Begins the app; comes back so many turns of its loop after the room was made."""
    running = asyncio.create_task(app.run_async(headless=True, size=(120, 40)))
    while not running.done() and not isinstance(app._running and app.screen_stack and app.screen, LiveScreen):
        await asyncio.sleep(0)
    for _ in range(turns):
        await asyncio.sleep(0)
    return running


@pytest.mark.parametrize("turns", range(SOONEST, LATEST, 12))
async def test_the_app_is_closed_as_its_room_opens(live: Any, cast: Any, turns: int) -> None:
    app = live((cast.TAP, "A thought."), gate="ask", pace=0.0)
    running = await opened(app, turns)
    app.exit()
    await running
    assert app._exception is None


@pytest.mark.parametrize("turns", range(SOONEST, LATEST, 20))
async def test_the_room_is_taken_down_as_it_opens(live: Any, cast: Any, until: Any, turns: int) -> None:
    """As a fork or a rewind takes it down: the run's first words come to a room that is gone."""
    app = live((cast.TAP, "A thought."), gate="ask", pace=0.0)
    running = await opened(app, turns)
    app.live.dismiss() if turns % 40 else app.pop_screen()
    await until(None, lambda: not app.live.is_attached)
    assert not app.live.query(SeatPane)
    app.exit()
    await running
    assert app._exception is None


@pytest.mark.parametrize("kind", ["general", "proactive"])
async def test_words_that_come_after_the_room_are_heard_by_nobody(live: Any, cast: Any, until: Any, kind: str) -> None:
    """Each thing that a run says is said to a room whose parts are gone."""
    app = live((cast.TAP, "A thought."), kind=kind, pace=0.0)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.session.over)
        room, events = app.live, [*app.store.runs.events(app.run_under_test.trace_id)]
        await room.query("*").remove()
        for event in events:
            room._happened(EventCommitted(event))
        room._show_question(QuestionChanged(None))
        room._show_gated_action(GatedActionChanged(None))
        assert any(isinstance(event, Ended) for event in events)
    assert app._exception is None
