"""The grid of counts: what it shows, how one goes through it, what does not fit."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from lab.core.study.report import Grid
from screens.agreement.grid import ConfusionGrid

TWO = Grid("g", "All pairs", ("completed", "not_completed"), ("completed", "not_completed"), ((823, 40), (36, 312)))
MANY = Grid("g", "Many", tuple("abcdefghij"), tuple("abcdefghij"), tuple(tuple(10.0 * i + j for j in range(10)) for i in range(10)))  # noqa: E501  # fmt: skip


class Host(App[None]):
    CSS = "ConfusionGrid { width: 1fr; height: 1fr; }"

    def __init__(self, grid: Grid | None) -> None:
        super().__init__()
        self.shown = grid
        self.chosen: list[tuple[str, str]] = []

    def compose(self) -> ComposeResult:
        yield ConfusionGrid("agreement-grid")

    def on_mount(self) -> None:
        self.grid.show(self.shown, "These are no categories.")
        self.grid.focus()

    @property
    def grid(self) -> ConfusionGrid:
        return self.query_one(ConfusionGrid)

    def on_confusion_grid_chosen(self, message: ConfusionGrid.Chosen) -> None:
        self.chosen.append((message.down, message.across))

    def painted(self) -> list[str]:
        return [self.grid.render_line(y).text for y in range(self.size.height)]


async def test_counts_stand_below_what_they_are_of_and_the_same_in_brackets() -> None:
    app = Host(TWO)
    async with app.run_test(size=(60, 10)):
        heading, first, second = app.painted()[:3]
        assert heading.split() == ["completed", "not_completed"]
        assert first.split() == ["completed", "[823]", "40"]
        assert second.split() == ["not_completed", "36", "[312]"]
        for row, count in ((first, "[823]"), (second, "36")):
            assert abs(heading.index("completed") + 9 - row.index(count) - len(count)) <= 2


async def test_arrows_go_from_cell_to_cell_and_enter_names_it() -> None:
    app = Host(TWO)
    async with app.run_test(size=(60, 10)) as pilot:
        await pilot.press("right", "enter", "down", "right", "enter", "left", "enter")
        await pilot.pause()
        assert app.chosen == [
            ("completed", "not_completed"), ("not_completed", "not_completed"), ("not_completed", "completed"),
        ]  # fmt: skip
        assert app.grid.cell_words() == "one: not_completed, another: completed, 36 times"


async def test_a_click_goes_to_a_cell_and_a_second_one_opens_it() -> None:
    app = Host(TWO)
    async with app.run_test(size=(60, 10)) as pilot:
        column = app.painted()[2].index("36")
        await pilot.click(ConfusionGrid, offset=(column, 2))
        assert app.grid.at == (1, 0)
        await pilot.click(ConfusionGrid, offset=(column, 2), times=2)
        await pilot.pause()
        assert app.chosen == [("not_completed", "completed")]


@pytest.mark.parametrize("width", [24, 40, 80])
async def test_what_does_not_fit_comes_in_sight_with_the_cursor(width: int) -> None:
    app = Host(MANY)
    async with app.run_test(size=(width, 6)) as pilot:
        assert ("▸" in app.painted()[0]) is (width < 80)
        await pilot.press("end")
        await pilot.pause()
        assert app.grid.at == (9, 9)
        assert "[99]" in "".join(app.painted())
        assert all(len(row) == width for row in app.painted())
        await pilot.press("home")
        assert "[0]" in "".join(app.painted()) or "[·]" in "".join(app.painted())


async def test_without_a_grid_it_says_why() -> None:
    app = Host(None)
    async with app.run_test(size=(40, 6)) as pilot:
        assert "These are no categories." in app.painted()[0]
        await pilot.press("down", "enter")
        assert app.chosen == []


async def test_a_stranger_s_words_are_characters() -> None:
    grid = Grid("g", "t", ("[red]x[/]", "\x1b[31m"), ("[red]x[/]", "\x1b[31m"), ((1, 2), (3, 4)))
    app = Host(grid)
    async with app.run_test(size=(60, 6)):
        whole = "".join(app.painted())
        assert "[red]x[/]" in whole
        assert "\x1b" not in whole
