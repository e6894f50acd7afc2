"""Waits until a screen stands as it is to be seen: pictures of a screen are taken of what no longer changes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from textual import events
from textual.app import App
from textual.keys import _character_to_key

from screens.mirror.mirror import Mirror

PATIENCE = 180.0
TURNS = 500
"""After so many the app works on without an end."""


async def app_at_rest(app: App[Any], rounds: int = 3) -> None:
    """Lets all be done that is to be done at once, and paints, so many times at most."""
    for _ in range(rounds):
        await idle()
        screen = app.screen_stack[-1] if app._running and app.screen_stack else None
        if screen is None or not (
            screen._dirty_widgets or screen._layout_required or screen._scroll_required or screen._callbacks
        ):
            return
        screen._on_timer_update()


async def idle() -> None:
    """Waits until the loop has nothing that can be done at once; what never has is waited for for a while."""
    loop = asyncio.get_running_loop()
    for _ in range(TURNS):
        await asyncio.sleep(0)
        if not loop._ready:  # type: ignore[attr-defined]
            return


async def press(pilot: Any, *keys: str) -> None:
    """Presses keys one after the other, as a terminal sends them, until each has risen and what it changed is painted.

    `pilot.press` sends none that is not on its own keyboard, and waits for animations twice.
    """
    for key in keys:
        pilot.app.post_message(events.Key(key, key if len(key) == 1 else {"space": " "}.get(key)))
        await pilot.pause()
        while pilot.app.is_running and not pilot.app.idle:
            await asyncio.sleep(0.002)
            await pilot.pause()


async def burst(pilot: Any, *keys: str) -> None:
    """Presses keys faster than anything is painted, as who types a word does: the app hands them on one by one.

    `pilot.press` paints after each, which is most of what a word costs; here its end is painted.
    """
    for key in keys:
        name = _character_to_key(key) if len(key) == 1 and not key.isalnum() else key
        char = key if len(key) == 1 else {"space": " "}.get(key)
        pilot.app.post_message(events.Key(name, char))
    await idle()
    while pilot.app.is_running and not pilot.app.idle:
        await asyncio.sleep(0.002)
    await pilot.pause()


async def rests(pilot: Any, condition: Callable[[], bool]) -> None:
    """Until this holds, every mirror has painted for the cells that it has now, and two looks show the same."""
    end, before = time.monotonic() + PATIENCE, None
    while time.monotonic() < end:
        await pilot.pause(0.01)
        screen = pilot.app.screen
        ready = screen.is_mounted and condition() and all(map(_painted, screen.query(Mirror)))
        now = screen._compositor.render_strips(pilot.app.size) if ready else None
        if now is not None and now == before:
            return
        before = now
    screen = pilot.app.screen
    mirrors = [(mirror._shown_number, vars(mirror._newest), mirror._canvas.size) for mirror in screen.query(Mirror)]
    raise AssertionError(f"never at rest: mounted {screen.is_mounted}, holds {condition()}, mirrors {mirrors}")


def _painted(mirror: Mirror) -> bool:
    cells, view = mirror._canvas.size, mirror._newest._view
    return mirror.settled and (not cells.area or (view is not None and view.cells == (cells.width, cells.height)))
