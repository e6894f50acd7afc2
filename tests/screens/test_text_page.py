"""A page of text has a scrollbar where not all of it is seen, and none where it fits."""

from __future__ import annotations

from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.content import Content

from screens.widgets.text_page import TextPage

HEIGHT = 5


class Reader(App[None]):
    """A page of five rows."""

    CSS = f"TextPage {{ width: 30; height: {HEIGHT}; }}"

    def compose(self) -> ComposeResult:
        yield TextPage()


@pytest.mark.parametrize("rows", [1, HEIGHT - 1, HEIGHT])
async def test_a_scrollbar_goes_with_a_text_that_fits(until: Any, rows: int) -> None:
    app = Reader()
    async with app.run_test() as pilot:
        page = app.query_one(TextPage)
        for lines, has_bar in ((HEIGHT + 1, True), (rows, False), (40, True), (rows, False)):
            page.show(Content("\n".join(f"line {number}" for number in range(lines))))
            await until(pilot, lambda has_bar=has_bar: page.show_vertical_scrollbar is has_bar)
            await until(pilot, lambda has_bar=has_bar: page.scrollable_content_region.width == 30 - has_bar)
