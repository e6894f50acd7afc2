"""What the app keeps in memory of screens that are closed."""

from __future__ import annotations

import gc
from collections.abc import Awaitable, Callable
from weakref import ref

from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.widgets import Static

from screens.memory_use import free_closed_screens


class _Words(Screen[None]):
    def compose(self) -> ComposeResult:
        yield Static("Lunch")


async def test_lines_that_a_closed_screen_painted_are_freed(until: Callable[..., Awaitable[None]]) -> None:
    free_closed_screens()
    app = App[None]()
    async with app.run_test() as pilot:
        await app.push_screen(_Words())
        await pilot.pause()
        painted = ref(app.screen.query_one(Static)._styles_cache)
        await app.pop_screen()

        def is_freed() -> bool:
            gc.collect()
            return painted() is None

        await until(pilot, is_freed)
