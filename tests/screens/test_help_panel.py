"""The keys in the help panel: painted anew where they are others, and left as they are where they are the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar

import pytest
from rich.style import Style
from rich.table import Table
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType

from screens.widgets import help_panel
from screens.widgets.help_panel import Help, KeyRow
from tests.screens.runs import painted

Until = Callable[..., Awaitable[None]]


class Helped(App[None]):
    """Two keys, one of which is not always to be had, and the help open."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("a", "one", "First"), Binding("b", "two", "Second")]
    offered = True

    def compose(self) -> ComposeResult:
        yield Help()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.offered if action == "two" else True

    def action_one(self) -> None: ...

    def action_two(self) -> None: ...


async def test_keys_that_come_and_go_are_painted_and_those_that_stay_are_not_painted_again(
    monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    tables: list[int] = []
    make = help_panel._key_table

    def counted(rows: Sequence[KeyRow], key_style: Style) -> Table:
        tables.append(1)
        return make(rows, key_style)

    monkeypatch.setattr(help_panel, "_key_table", counted)
    app: Any = Helped()
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "First" in painted(app) and "Second" in painted(app))
        for _ in range(5):
            app.refresh_bindings()
            await pilot.pause()
        tables.clear()
        for _ in range(5):
            app.refresh_bindings()
            await pilot.pause()
        assert tables == []
        app.offered = False
        app.refresh_bindings()
        await until(pilot, lambda: "First" in painted(app) and "Second" not in painted(app))
        app.offered = True
        app.refresh_bindings()
        await until(pilot, lambda: "Second" in painted(app))
