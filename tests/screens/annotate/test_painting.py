"""What is painted for a key: the lines that say something else, all of them, and no more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from rich.segment import Segment
from textual.widget import Widget

from lab.core.study.study import Unit
from screens.annotate.rows import SheetItems
from screens.app import LabApp
from screens.widgets.footer import Footer
from store.store import Store
from tests.screens.annotate.sample_studies import NODES, nodes, ready, room, sheet, studied
from tests.screens.resting import press, rests
from tests.screens.runs import WHOLE, whole_run
from tests.screens.shared_apps import SharedApps

Until = Callable[..., Awaitable[None]]

NODES_OF_UNIT = 60
KEYS = (
    "1",
    "2",
    "e",
    "s",
    "z",
    "down",
    "c",
    "up",
    "1",
    "m",
    "escape",
    "right",
    "1",
    "up",
    "right",
    "e",
    "end",
    "home",
    "2",
)


@pytest.fixture
def run(store: Store) -> Store:
    store.runs.add(whole_run())
    return store


def rated(store: Store, shared_apps: SharedApps) -> LabApp:
    return shared_apps.rating(store, studied(store, NODES, [Unit("u1", (WHOLE,), targets=nodes(NODES_OF_UNIT))]))


def seen(app: LabApp) -> list[list[Segment]]:
    """Every character on the terminal with its colours."""
    lines = app.screen._compositor.render_strips(app.size)
    return [list(line.simplify()) for line in lines]


def painted_anew(app: LabApp) -> list[list[Segment]]:
    """The same, once nothing that was painted before is used again."""
    for widget in app.screen.query(Widget):
        widget._styles_cache.clear()
    return seen(app)


async def test_an_answer_paints_the_lines_that_changed(
    run: Store, shared_apps: SharedApps, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[int] = []
    paint = SheetItems.paint

    def counted(self: SheetItems, index: int, width: int) -> Any:
        lines.append(index)
        return paint(self, index, width)

    monkeypatch.setattr(SheetItems, "paint", counted)
    app = rated(run, shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "1")
        await rests(pilot, lambda: sheet(app).items.cursor == 1)
        lines.clear()
        for answered in range(1, 10):
            await press(pilot, "12"[answered % 2])
            # The two lines may be painted in two turns: the new cursor's first, the answered one after its commit.
            await until(pilot, lambda at=answered: sheet(app).items.cursor == at + 1 and {at, at + 1} <= set(lines))
            assert set(lines) == {answered, answered + 1}, "the answered line and the one the cursor is on now"
            lines.clear()


async def test_an_answer_leaves_the_keys_below_as_they_are(run: Store, shared_apps: SharedApps, until: Until) -> None:
    app = rated(run, shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await rests(pilot, lambda: ready(app))
        there = app.screen.query_one(Footer).verbs
        for answered in range(5):
            await press(pilot, "1")
            await until(pilot, lambda at=answered: sheet(app).items.cursor == at + 1)
        await press(pilot, "right", "left")
        await rests(pilot, lambda: ready(app))
        assert there
        assert app.screen.query_one(Footer).verbs is there


async def test_moving_a_step_paints_no_item(
    run: Store, shared_apps: SharedApps, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = rated(run, shared_apps)
    async with shared_apps.at((120, 40)) as pilot:
        await rests(pilot, lambda: ready(app) and sheet(app).place.endswith("@1"))
        lines: list[int] = []
        paint = SheetItems.paint

        def counted(self: SheetItems, index: int, width: int) -> Any:
            lines.append(index)
            return paint(self, index, width)

        monkeypatch.setattr(SheetItems, "paint", counted)
        await press(pilot, "right")
        await until(pilot, lambda: sheet(app).place.endswith("@2"))
        await press(pilot, "left")
        await rests(pilot, lambda: sheet(app).place.endswith("@1"))
        assert lines == []


async def test_all_that_changed_is_painted(run: Store, shared_apps: SharedApps, until: Until) -> None:
    app = rated(run, shared_apps)
    async with shared_apps.at((100, 24)) as pilot:
        await until(pilot, lambda: ready(app) and bool(room(app).query("#steps")))
        for key in (*KEYS, *"12" * 6, "z", "z", "pageup", "g", "1"):
            await press(pilot, key)
            await rests(pilot, lambda: True)
            now = seen(app)  # as a terminal has it: what was not painted anew stays as it was
            assert now == painted_anew(app), key
