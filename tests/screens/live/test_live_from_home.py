"""A live run as the other rooms show it: its line in Home, and what waits for the person."""

from __future__ import annotations

from typing import Any

from lab.core.run.step import Action
from screens.home.lists import RunList
from tests.screens.resting import burst

ASK = (Action("ask_user", text="Dark from when on?"), "")


def line(app: Any) -> str:
    """The live run's line in Home."""
    runs = app.screen.query_one(RunList)
    return runs.paint(0, 100).plain if runs.count else ""


async def test_home_follows_the_live_run_and_says_that_it_asks(live: Any, until: Any, cast: Any) -> None:
    agent = cast.Cast((cast.TAP, ""), ASK, held=True)
    app = live(agent=agent)
    async with app.run_test(size=(64, 18), notifications=True) as pilot:
        app.open_home()
        for size in ((64, 18), (120, 40)):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: app.current_mode == "home" and "● live" in line(app))
            await until(pilot, lambda: app.shows("Enter: go to this live run"))
            assert not app.shows("which waits")
        agent.go.set()
        await until(
            pilot, lambda: "● asks you" in line(app) and line(app).split().count("1") == 2
        )  # a step, a question
        for size in ((120, 40), (64, 18)):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: app.shows("which waits for your answer"))
            await until(pilot, lambda: app.shows("F3: the run waits for your answer"))  # the badge
        await pilot.press("f11")
        for size in ((64, 18), (120, 40)):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: app.current_mode == "runs" and app.shows("F3: the run waits for your answer"))
        await pilot.press("f3")
        await until(pilot, lambda: app.screen is app.live and app.asked)
        assert not app.shows("F3: the run waits")
        await burst(pilot, *"at ten", "enter")
        await until(pilot, lambda: app.session.over)
        await pilot.press("f2")
        await until(pilot, lambda: "completed" in line(app))
        assert not app.shows("F3: the run waits")


async def test_an_action_that_waits_at_the_gate_is_told_in_home(live: Any, until: Any, cast: Any) -> None:
    agent = cast.Cast((cast.TAP, ""), held=True)
    app = live(agent=agent, gate="ask")
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        app.open_home()
        await until(pilot, lambda: "● live" in line(app))
        agent.go.set()
        await until(pilot, lambda: "● decide" in line(app) and app.shows("F3: the run waits for your decision"))
        await until(pilot, lambda: app.shows("An action waits for your decision"))
        await pilot.press("f3")
        await until(pilot, lambda: app.gated)


async def test_the_end_of_a_run_is_told_once_in_home(live: Any, until: Any, cast: Any) -> None:
    agent = cast.Cast((cast.TAP, ""), held=True)
    app = live(agent=agent)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        app.open_home()
        await until(pilot, lambda: "● live" in line(app))
        agent.go.set()
        await until(pilot, lambda: "completed" in line(app) and app.shows("The run is over: F3 shows how it ended."))
        assert app.shows("Enter: replay this run")
        assert len(app._notifications) == 1
