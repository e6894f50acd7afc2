"""What is typed behind a key goes where that key puts the focus, however long it takes to do what it asks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input

from screens.widgets.typeahead import TypeAhead

_TURNS = 200
"""Turns of the loop in which whatever can be done is done."""


class Line(ModalScreen[None]):
    """A line to type in, that is laid out only when it is let."""

    def __init__(self, let: asyncio.Event) -> None:
        super().__init__()
        self.let = let

    def compose(self) -> ComposeResult:
        yield Input(id="line")

    async def on_mount(self) -> None:
        self.set_focus(None)
        await self.let.wait()
        self.query_one(Input).focus()


class Slow(Widget, can_focus=True):
    """Its first key ends only when it is let; then it does what its holder says."""

    async def on_key(self, event: events.Key) -> None:
        assert isinstance(self.app, Typed)
        self.app.began.append(event.key)
        if event.key == "x":
            await self.app.let.wait()
            self.app.query_one(Input).focus()
        elif event.key == "s":
            self.app.push_screen(Line(self.app.let))
        elif event.key == "r":
            await self.remove()


class Typed(TypeAhead):
    """A slow pane above a line."""

    def __init__(self) -> None:
        super().__init__()
        self.let = asyncio.Event()
        self.began: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Slow()
            yield Input(id="below")

    def type(self, keys: str) -> None:
        """All of them at once, as a terminal hands them on."""
        for key in keys:
            self.post_message(events.Key(key, key))


async def _much_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the loop's clock go on by more than any patience with a key, and all be done that is due."""
    loop = asyncio.get_running_loop()
    now = loop.time()
    with monkeypatch.context() as clock:
        clock.setattr(loop, "time", lambda: now + 10)
        for _ in range(_TURNS):
            await asyncio.sleep(0)


@pytest.mark.parametrize("opens", ["x", "s"])
async def test_what_is_typed_behind_a_key_waits_for_what_it_opens(
    opens: str, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = Typed()
    async with app.run_test() as pilot:
        app.type(f"{opens}abc")
        await until(pilot, lambda: app.began == [opens] and (opens == "x" or isinstance(app.screen, Line)))
        await _much_later(monkeypatch)
        assert app.began == [opens]
        assert not app.idle
        app.let.set()
        await until(pilot, lambda: app.idle)
        assert app.screen.query_one(Input).value == "abc"
        assert app.began == [opens]


async def test_a_pane_that_a_key_takes_away_holds_nothing_back(until: Any) -> None:
    app = Typed()
    async with app.run_test() as pilot:
        app.type("rabc")
        await until(pilot, lambda: app.idle)
        assert app.query_one("#below", Input).value == "abc"
        assert app.began == ["r"]


async def test_a_full_width_space_and_the_parts_of_an_emoji_are_typed(until: Any) -> None:
    app, text = Typed(), "好的\u3000谢谢\u00a0👩\u200d🔧"
    async with app.run_test() as pilot:
        app.query_one("#below", Input).focus()
        app.type(text)
        await until(pilot, lambda: app.idle)
        assert app.query_one("#below", Input).value == text
