"""Promise 1: nothing that a participant must not know is ever painted for them; a developer does see it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from textual.command import CommandPalette

from lab.core.run.step import Action
from lab.core.run.trace import Ended
from screens.live.reply import DecisionRow
from screens.live.result import THANKS
from screens.sent.sent import SentScreen
from tests.crossed import soak

HIDDEN = ("THINKWORD", "PROMPTWORD", "TITLEWORD", "agent-under-test", "secret-dark", "dark theme is on", "0.00", "tap ")
"""The agent's thought, what it was sent, the task's title, the agent, the task's id, a check, the score, an action."""
THOUGHT = "THINKWORD as I think."


async def play(app: Any, until: Any) -> str:
    """A whole run with a proposal, an answer, a pause, every fold opened, the palette, help and the end."""
    async with app.run_test(size=(120, 40), notifications=True, tooltips=True) as pilot:
        await until(pilot, lambda: app.asked and len(app.steps) == 1)
        for fold in app.live.query("Fold"):
            fold.folded = False
        await pilot.press("ctrl+x")
        await until(pilot, lambda: app.live.query_one("Banner").left.startswith("‖"))
        await pilot.press("ctrl+r", "f1")
        await until(pilot, lambda: app.screen.query("HelpPanel"))
        await pilot.press("escape", "ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.focused, DecisionRow))
        await pilot.press("1")
        await until(pilot, lambda: app.events(Ended))
        await until(pilot, lambda: app.live.query_one("Result").has_class("-open"))
        for key in ("s", "g", "t", "m"):
            await pilot.press(key)
        if isinstance(app.screen, SentScreen):
            await until(pilot, lambda: app.shows("It was sent"))
            await pilot.press("escape")
        await until(pilot, lambda: app.shows(THANKS) or app.shows("Enter replays it"))
        await _enter_leads_on(app, pilot, until)
    return re.sub(r"\s+", " ", " ".join(sorted(app.painted)))


async def _enter_leads_on(app: Any, pilot: Any, until: Any) -> None:
    """Who is thanked goes back; who reads how it ended sees the score, the checks and the last picture, and replays.

    A rater's Home lists runs by their tasks, as `study` deals them out; it is looked at elsewhere.
    """
    if app.run_under_test.spec.seat == "rater":
        return
    if not app.shows(THANKS):
        await until(pilot, lambda: app.shows("score 0.00") and app.shows("FAIL  dark theme is on"))
        await until(pilot, lambda: app.shows("the last picture") and not app.shows(" fps") and not app.shows("stale"))
    room = "home" if app.shows(THANKS) else "replay"
    await pilot.press("enter")
    await until(pilot, lambda: app.current_mode == room)


def turns(tap: Action) -> list[tuple[Action, str]]:
    return [(tap, THOUGHT), (Action("ask_user", text="Shall I go on?"), THOUGHT), (tap, THOUGHT)]


@pytest.mark.parametrize("seat", ["participant", "rater"])
async def test_who_must_not_know_is_never_shown(live: Any, until: Any, cast: Any, seat: str) -> None:
    app = live(*turns(cast.TAP), kind="proactive", seat=seat, embedded=True, records=True)
    painted = await play(app, until)
    for word in HIDDEN:
        assert word not in painted
    for shown in ("Shall I go on?", "working ...", "Ines Varga", "Say yes to what saves you effort", "coriander"):
        assert shown in painted
    assert len(app.session.store.runs.trace(app.run_under_test.trace_id).steps) == 4


@soak
async def test_a_developer_sees_all_of_it(live: Any, until: Any, cast: Any) -> None:
    app = live(*turns(cast.TAP), kind="proactive", seat="developer", embedded=True, records=True)
    painted = await play(app, until)
    assert [word for word in HIDDEN if word not in painted] == []


async def test_without_the_mirror_no_phone_is_there(live: Any, until: Any, cast: Any) -> None:
    app = live(*turns(cast.TAP), seat="participant", mirror=False, embedded=True, records=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.asked)
        assert not app.live.query("Mirror")
        assert not any("Settings" in line for line in app.painted)
