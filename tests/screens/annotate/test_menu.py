"""A menu of more lines than there are digits: each line can be reached by keys."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from screens.annotate.menu import Menu, MenuEntry


class MenuHost(App[None]):
    """Shows one menu and stores what is chosen in it."""

    chosen = ""

    def compose(self) -> ComposeResult:
        yield Menu()

    def on_menu_picked(self, message: Menu.Picked) -> None:
        self.chosen = message.id


@pytest.mark.parametrize(
    ("keys", "chosen"), [("1", "e1"), ("91", "e9"), ("991", "e17"), ("994", "e20"), ("9951", "e1")]
)
async def test_each_of_twenty_lines_is_reached(keys: str, chosen: str) -> None:
    app = MenuHost()
    async with app.run_test(size=(60, 20)) as pilot:
        app.query_one(Menu).open("Other", [MenuEntry(f"e{n}", f"line {n}") for n in range(1, 21)])
        await pilot.press(*keys)
        await pilot.pause()
        assert app.chosen == chosen
