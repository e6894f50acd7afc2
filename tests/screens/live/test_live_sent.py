"""What the agent was sent, from the live screen: one key away, and back without losing anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from lab.core.run.step import Action, Prompt, Proposed
from screens.live.result import Result
from screens.sent.sent import SentScreen

Until = Callable[..., Awaitable[None]]


async def test_a_live_run_shows_what_waits_at_the_gate_and_what_was_before(live: Any, until: Until, cast: Any) -> None:
    app = live((cast.TAP, "First."), (cast.TAP, "Second."), gate="ask")
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("m")  # whatever was sent by now: nothing, or the first
        await until(pilot, lambda: app.live.session.decisions.waiting is not None)
        if isinstance(app.screen, SentScreen):
            await pilot.press("escape")
        await until(pilot, lambda: app.gated)
        await pilot.press("a")
        await until(pilot, lambda: app.gated and len(app.steps) == 1)
        await pilot.press("m")
        await until(pilot, lambda: app.shows("Sent at step 2") and app.shows("PROMPTWORD"))
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: app.shows("Sent at step 1"))
        await pilot.press("m")
        await until(pilot, lambda: app.screen is app.live and app.gated)


async def test_a_question_that_comes_meanwhile_is_told_and_waits(live: Any, until: Until, cast: Any) -> None:
    agent = cast.Cast((cast.TAP, "First."), (Action("ask_user", text="Shall I?"), "Second."), held=True)
    app = live(agent=agent)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        app.live._album.add(0, Proposed(cast.TAP, prompt=Prompt("Look.")))
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, SentScreen))
        agent.go.set()
        await until(pilot, lambda: app.shows("A question waits"))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.live and app.shows("Shall I?"))


async def test_the_end_tells_what_the_model_cost(live: Any, until: Until, cast: Any) -> None:
    app = live((cast.TAP, "First."), device=cast.Slate())
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.live.query_one(Result).has_class("-open"))
        await until(pilot, lambda: app.shows("The model: 2 turns in 2 calls, 1,624 + 80 tokens, price unknown"))
