"""No room loses words or choices: a stranger's text of any length is read to its end by keys, its answer in view.

Each app is given texts of 5, 500 and some thousand characters in one language wherever a room shows such texts, at two
sizes one after the other. What was painted while keys scrolled is searched for every piece of them.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from lab.core.run.step import Action
from lab.core.settings import Settings
from lab.runs.session import Session
from lab.runs.spec import Spec
from screens.app import LabApp
from screens.live.gate import GatePanel, GateRow
from screens.live.reply import DecisionRow, OpenQuestion
from screens.navigation import Opening
from screens.replay.replay import ReplayScreen
from store.store import Store
from tests.crossed import crossed, soak
from tests.screens.live.conftest import PERSONA, Cast, LeapingClock, Slate, Stage, task
from tests.screens.long_texts import (
    NARROW_TO_WIDE,
    SMALL_TO_TALL,
    Words,
    area,
    at_sizes,
    in_view,
    longest,
    lost,
    passes,
    read,
    turned,
    words,
)

pytestmark = crossed
Until = Callable[..., Awaitable[None]]
Sizes = list[tuple[int, int]]


def lengths(language: str, sizes: Sizes) -> tuple[int, int, int]:
    return 5, 500, longest(language, sizes)


def stage(path: Path, *turns: tuple[Action, str], told: Words, **changes: Any) -> Stage:
    """The app with a live run of a task whose policy, or instruction, is this."""
    kind = changes.pop("kind", "general")
    asked = replace(task(kind), policy=told.text, instruction="" if kind == "proactive" else told.text)
    session = Session(Store.open(path), Spec(asked, PERSONA)._replace(**changes), agent=Cast(*turns), device=Slate())
    return Stage(session, LeapingClock())


def of_each_length(language: str, sizes: Sizes, place: int = 0) -> list[Words]:
    """A text of each length; a Chinese one has the same words at each place."""
    return [
        words(language, length, at + place * (language == "en")) for at, length in enumerate(lengths(language, sizes))
    ]


async def zoomed(pilot: Any, text: Words) -> None:
    """In a low terminal a person who reads much gives the pane all of it."""
    await pilot.press(*["plus"] * (len(text.text) > 1000 and pilot.app.size < (120, 40)))


@soak
@passes("zh", SMALL_TO_TALL)
async def test_proposals_and_their_choices(tmp_path: Path, until: Until, language: str, sizes: Sizes) -> None:
    texts = [*of_each_length(language, sizes), *of_each_length(language, sizes, 3)]
    asks = [(Action("ask_user", text=text.text), "") for text in texts]
    app: Any = stage(tmp_path / "lab.db", *asks, told=texts[0], kind="proactive", seat="participant")
    async with app.run_test(size=sizes[0]) as pilot:
        async for size in at_sizes(pilot, sizes):
            for number in range(sizes.index(size) * 3, sizes.index(size) * 3 + 3):
                await proposed(app, pilot, until, number, texts[number])
        await until(pilot, lambda: app.session.over)
    assert [step.reply.text for step in app.steps if step.reply] == ["x"] * len(texts)


async def proposed(app: Any, pilot: Any, until: Until, number: int, text: Words) -> None:
    """A proposal is read to its end and back, and answered."""
    await until(pilot, lambda: app.asked and len(app.steps) == number)
    card, row = app.live.query_one(OpenQuestion), app.live.query_one(DecisionRow)
    answer = (row, card.query_one("#reply"), card.query_one("#sends"))
    await until(pilot, lambda: text.pieces[0] in area(app, card))
    await until(pilot, lambda: in_view(app, *answer))
    await zoomed(pilot, text)
    assert lost(text, await read(app, pilot, card)) == []
    assert in_view(app, *answer)
    assert row.has_focus
    await pilot.press("3")
    assert text.pieces[0] in await read(app, pilot, card, "pageup", "↑")
    await pilot.press("x", "enter")


@soak
@passes("en", NARROW_TO_WIDE)
async def test_actions_and_their_thoughts(tmp_path: Path, until: Until, language: str, sizes: Sizes) -> None:
    texts = [*of_each_length(language, sizes), *of_each_length(language, sizes, 3)]
    typed = [words("en", len(text.text), place + 6) for place, text in enumerate(texts)]
    turns = [(Action("input_text", text=one.text), text.text) for one, text in zip(typed, texts, strict=True)]
    app: Any = stage(tmp_path / "lab.db", *turns, told=texts[0], gate="ask")
    async with app.run_test(size=sizes[0]) as pilot:
        async for size in at_sizes(pilot, sizes):
            for number in range(sizes.index(size) * 3, sizes.index(size) * 3 + 3):
                await gated(app, pilot, until, number, texts[number], typed[number])
        await until(pilot, lambda: len(app.steps) == len(texts))
    assert [step.action.text for step in app.steps if step.action] == [one.text for one in typed]


async def gated(app: Any, pilot: Any, until: Until, number: int, thought: Words, typed: Words) -> None:
    """An action and its thought are read to their ends, and it is allowed."""
    await until(pilot, lambda: app.gated and len(app.steps) == number)
    card = app.live.query_one(GatePanel)
    answer = (card.query_one(GateRow), card.query_one("#gate-note"), card.query_one("#gate-hint"))
    await until(pilot, lambda: typed.pieces[0] in area(app, card))
    await until(pilot, lambda: in_view(app, *answer))
    await zoomed(pilot, thought)
    seen = await read(app, pilot, card)
    assert lost(thought, seen) + lost(typed, seen) == []
    assert in_view(app, *answer)
    await pilot.press("a")


@passes("en", SMALL_TO_TALL)
async def test_what_a_participant_is_told_of_their_part(
    tmp_path: Path, until: Until, language: str, sizes: Sizes
) -> None:
    told = words(language, longest(language, sizes), 2)
    app: Any = stage(tmp_path / "lab.db", (Action("ask_user", text="?"), ""), told=told, seat="participant")
    async with app.run_test(size=sizes[0]) as pilot:
        await until(pilot, lambda: app.asked)
        async for _ in at_sizes(pilot, sizes):
            for part in ("#seat-task", "#seat-policy"):
                await unfolded(app, pilot, until, part, told)
            await pilot.press("escape")
            assert app.focused is app.live.query_one("#reply")
        app.run_under_test.stop()


async def unfolded(app: Any, pilot: Any, until: Until, part: str, told: Words) -> None:
    """A part of what a participant is told is unfolded, read to its end, and folded."""
    seat, fold = app.live.query_one("#seat"), app.live.query_one(part)
    fold.focus()
    if fold.folded:
        await pilot.press("enter")
    await pilot.press("plus")
    await until(pilot, lambda: told.pieces[0] in area(app, seat))
    assert lost(told, await turned(app, pilot, seat, "pagedown")) == []
    await pilot.press("plus", "enter")


@soak
@passes("zh", NARROW_TO_WIDE)
async def test_what_is_said_at_a_step_that_is_forked(tmp_path: Path, until: Until, language: str, sizes: Sizes) -> None:
    asked = words(language, longest(language, sizes), 2)
    spec = Spec(replace(task("proactive"), policy=""), PERSONA)
    with Store.open(tmp_path / "lab.db") as store:
        session = Session(store, spec, agent=Cast((Action("ask_user", text=asked.text), "")))
        session.start()
        while session.questions.waiting is None:
            time.sleep(0.01)
        session.leave()
        session.join(180)
        app: Any = LabApp(store, Settings(bell=False), Opening("replay", session.trace_id, 1))
        async with app.run_test(size=sizes[0]) as pilot:
            await until(pilot, lambda: isinstance(app.screen, ReplayScreen) and app.screen.footage.view is not None)
            async for _ in at_sizes(pilot, sizes):
                await pilot.press("f")
                card = app.screen.query_one("#fork")
                row = card.query_one("#fork-row")
                parts = (row, *(card.query_one(f"#fork-{name}") for name in ("say", "action", "agent", "user")))
                await until(pilot, lambda row=row, parts=parts: row.has_focus and in_view(app, *parts))
                assert lost(asked, await read(app, pilot, card)) == []
                assert in_view(app, *parts)
                await pilot.press("escape")
