"""The keys come to what is opened, also when it was closed a moment before."""

from __future__ import annotations

from typing import Any

from textual import events
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.widgets import Input

from screens.key_names import focus_opened


class Panels(App[None]):
    """A panel that is opened and closed, beside one that always stands."""

    def compose(self) -> ComposeResult:
        yield Input(id="standing")
        with Vertical(id="panel"):
            yield Input(id="line")
            yield Input(id="note")


async def test_a_panel_that_is_opened_again_keeps_the_keys_when_it_hears_late_that_it_was_closed(until: Any) -> None:
    app = Panels()
    async with app.run_test() as pilot:
        line = app.query_one("#line")
        focus_opened(line)
        await until(pilot, lambda: line.has_focus)
        handled: list[bool] = []
        line.post_message(events.Hide())  # as Textual posts it when a layout without the panel was painted
        focus_opened(line)
        line.call_later(handled.append, True)
        await until(pilot, lambda: bool(handled))
        assert app.focused is line


async def test_keys_that_went_on_inside_the_panel_stay_there(until: Any) -> None:
    app = Panels()
    async with app.run_test() as pilot:
        line, note = app.query_one("#line"), app.query_one("#note")
        handled: list[bool] = []
        focus_opened(line)
        app.screen.set_focus(note)
        line.call_later(handled.append, True)
        await until(pilot, lambda: bool(handled))
        assert app.focused is note


async def test_a_panel_that_is_closed_before_it_hears_of_the_keys_does_not_take_them_back(until: Any) -> None:
    app = Panels()
    async with app.run_test() as pilot:
        standing, line = app.query_one("#standing"), app.query_one("#line")
        handled: list[bool] = []
        focus_opened(line)
        app.query_one("#panel").display = False
        app.screen.set_focus(standing)
        line.call_later(handled.append, True)
        await until(pilot, lambda: bool(handled))
        assert app.focused is standing
