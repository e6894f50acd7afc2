"""Waits until a screen stands as it is to be seen: pictures of a screen are taken of what no longer changes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from screens.mirror.mirror import Mirror

PATIENCE = 40.0


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
    raise AssertionError("the screen never came to rest")


def _painted(mirror: Mirror) -> bool:
    cells, view = mirror._canvas.size, mirror._newest._view
    return mirror.settled and (not cells.area or (view is not None and view.cells == (cells.width, cells.height)))
