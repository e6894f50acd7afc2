"""A developer takes a live run apart: breakpoints, one turn at a time, going back; nobody else can."""

from __future__ import annotations

from typing import Any

import pytest
from textual.widgets import Input

from lab.core.run.step import Action
from lab.core.run.trace import Paused, Started
from lab.runs.breakpoints import parse
from lab.runs.session import Session
from lab.runs.spec import Spec
from screens.app import LabApp
from screens.live.debug_panes import BreakpointList, BreaksPanel, DebugStepList, RewindPanel
from screens.live.live import LiveScreen
from simulators import library
from tests.screens.long_texts import in_view
from tests.screens.resting import burst

TYPE = Action("input_text", text="milk")


async def test_a_run_stands_at_a_breakpoint_where_one_turn_passes_or_is_rejected(
    live: Any, until: Any, cast: Any
) -> None:
    device = cast.Slate()
    turns = [(cast.TAP, ""), (TYPE, "The word."), (cast.TAP, ""), (cast.TAP, "")]
    app = live(*turns, device=device, breaks=("action:input_text", "step:4"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.gated)
        await until(pilot, lambda: app.shows("breakpoint action:input_text: s lets one turn pass"))
        assert app.shows("Breakpoint action:input_text")
        assert app.shows('type "milk"')
        assert [paused.reason for paused in app.events(Paused)] == ["breakpoint action:input_text"]
        assert device.did == [cast.TAP]
        await pilot.press("s")
        await until(pilot, lambda: len(app.events(Paused)) == 2 and app.live.query_one("Banner").has_class("-paused"))
        assert device.did == [cast.TAP, TYPE]
        assert app.session.control.paused
        await pilot.press("ctrl+r")
        await until(pilot, lambda: app.gated and len(app.steps) == 3)
        await pilot.press("x")
        await until(pilot, lambda: app.session.over)
    assert device.did == [cast.TAP, TYPE, cast.TAP]
    verdicts = [step.decision.verdict for step in app.steps]
    assert verdicts == ["approve", "approve", "approve", "reject", "approve"]


async def test_breakpoints_are_written_switched_and_taken_away_while_the_run_goes(
    live: Any, until: Any, cast: Any
) -> None:
    app = live((cast.TAP, ""), (TYPE, ""), (cast.TAP, ""), gate="ask")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.gated)
        points, panel = app.session.breakpoints, app.live.query_one(BreaksPanel)
        await burst(pilot, "b", *"nowhere", "enter")
        await until(pilot, lambda: app.shows("is no breakpoint"))
        assert not app.shows("a adds one")  # letters are written here
        app.live.query_one("#point", Input).clear()
        await burst(pilot, *"action:input_text", "enter")
        await until(pilot, lambda: points.all == (parse("action:input_text"),))
        await until(pilot, lambda: app.live.query_one(BreakpointList).has_focus)
        await burst(pilot, "a", *"ask", "enter")
        await until(pilot, lambda: len(points.all) == 2)
        await pilot.press("enter")
        await until(pilot, lambda: not points.all[1].on)
        await until(pilot, lambda: app.shows("○ ask  off"))
        await pilot.press("d")
        await until(pilot, lambda: len(points.all) == 1)
        await pilot.press("escape")
        await until(pilot, lambda: not panel.display)
        await pilot.press("g")
        await until(pilot, lambda: app.session.stopped_at is not None)
        assert app.session.stopped_at.step == 1
        await until(pilot, lambda: app.shows("ctrl+r goes on"))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: app.session.over)
    assert len(app.steps) == 4


async def test_the_hint_below_breakpoints_is_whole_in_a_small_terminal(live: Any, until: Any, cast: Any) -> None:
    breaks = ("step:30", "step:31", "step:32", "step:33", "step:34")
    app = live((cast.TAP, ""), (TYPE, ""), gate="ask", breaks=breaks)
    async with app.run_test(size=(64, 18)) as pilot:
        await until(pilot, lambda: app.gated)
        await burst(pilot, "b", "a", *"nowhere", "enter")
        await until(pilot, lambda: app.shows("text:WORDS, ask."))
        panel = app.live.query_one(BreaksPanel)
        await until(pilot, lambda: panel.region.bottom < 18 and in_view(app, app.live.query_one("#breaks-hint")))


async def test_a_run_is_rewound_and_goes_on_as_another_at_every_size(store: Any, settings: Any, until: Any) -> None:
    spec = Spec(library.task("flight_alarm"), library.persona("ines"), gate="ask")
    app: Any = LabApp(store, settings)
    async with app.run_test(size=(80, 24)) as pilot:
        first: Any = Session(store, spec)
        app.enter_live(first)
        await until(pilot, lambda: isinstance(app.screen, LiveScreen))
        for steps in (1, 2):
            await until(pilot, lambda: first.decisions.waiting is not None)
            first.gate.approve(first.decisions.waiting)
            await until(pilot, lambda: len(store.runs.trace(first.trace_id).steps) == steps)  # noqa: B023
        await until(pilot, lambda: first.decisions.waiting is not None)
        room = app.screen
        await until(pilot, lambda: len(room._step_words) == 2)
        await pilot.press("r")
        await until(pilot, lambda: room.query_one(DebugStepList).has_focus)
        assert room.query_one(RewindPanel).display
        await pilot.press("enter")
        await until(pilot, lambda: app.session is not first and app.screen is not room)
        await pilot.resize_terminal(120, 40)
        again = app.session
        await until(pilot, lambda: "paused" in str(app.screen.query_one("Banner").left))
        assert [(type(event), getattr(event, "reason", "")) for event in store.runs.events(again.trace_id)][-1] == (
            Paused, "rewound",
        )  # fmt: skip
        assert again.decisions.waiting is None  # it stands still, and can be changed, until it is told to go on
        line = app.screen.query_one("#hands-state")
        await pilot.press("t")  # whoever takes over now is told what brings the phone, for no turn ends by itself
        await until(pilot, lambda: str(line.content) == "The phone will be yours as soon as the run goes on: ctrl+r.")
        await pilot.press("t", "ctrl+r")
        await until(pilot, lambda: again.decisions.waiting is not None)
        assert again.gate.asking
        await until(pilot, lambda: len(app.screen._step_words) == 1)
        old = store.runs.trace(first.trace_id)
        assert (old.status, old.ended.reason) == ("stopped", f"rewound to step 2 as run {again.trace_id}")
        begun = next(iter(store.runs.events(again.trace_id)))
        assert isinstance(begun, Started)
        assert begun.forked is not None
        assert (begun.parent, begun.forked.index) == (first.trace_id, 1)
        again.stop()


@pytest.mark.parametrize("seat", ["participant", "designer"])
async def test_other_seats_have_no_breakpoints_and_no_way_back(live: Any, until: Any, cast: Any, seat: str) -> None:
    app = live((cast.TAP, ""), (Action("ask_user", text="?"), ""), seat=seat)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.asked)
        app.live.query_one("#transcript").focus()
        await pilot.press("b", "r")
        commands = {command.title for command in app.get_system_commands(app.live)}
        assert not commands & {"Breakpoints", "Rewind"}
        assert not any(panel.display for panel in [*app.live.query(BreaksPanel), *app.live.query(RewindPanel)])
        app.session.stop()
