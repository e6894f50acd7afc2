"""The keys in the help panel: painted anew where they are others, and left as they are where they are the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

import pytest
from rich.console import Console
from rich.style import Style
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType

from screens.widgets.help_panel import Help, KeyLines, KeyTable
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
    make = KeyTable.render

    def counted(table: KeyTable) -> KeyLines:
        tables.append(1)
        return make(table)

    monkeypatch.setattr(KeyTable, "render", counted)
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


def test_lines_keep_their_columns_in_each_width_and_are_made_once_for_it() -> None:
    """Words go on below themselves, a key that is too long is cut, and an empty line stands between widgets."""
    one, other = App[None](), App[None]()
    rows = [
        (one, "a", Binding("a", "one", "First", tooltip="of all that there is here")),
        (one, "ctrl+b f2", Binding("b", "two", "Second")),
        (other, "c", Binding("c", "three", "Third")),
    ]
    lines = KeyLines(rows, Style(bold=True))
    console = Console(force_terminal=True, color_system="standard")
    for width, shown in {
        40: ["        a First of all that there is", "          here", "ctrl+b f2 Second", "", "        c Third"],
        16: ["       a First", "         of all", "         that", "         there", "         is here",
             "ctrl+b … Second", "", "       c Third"],
    }.items():  # fmt: skip
        segments = list(console.render(lines, console.options.update_width(width)))
        assert [line.rstrip() for line in "".join(each.text for each in segments).splitlines()] == shown
        assert [each.text for each in segments if each.style and each.style.bold][-1].strip() == "c"
        again = list(console.render(lines, console.options.update_width(width)))
        assert all(one is other for one, other in zip(segments, again, strict=True))
