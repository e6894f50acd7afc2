"""The status line takes the rows that its words need, and asks for a layout only where that is another number."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.content import Content

from screens.widgets.status_line import StatusLine

LONG = "a sentence of some words that are more than this terminal has columns for"


class Lines(App[None]):
    """One line, as high as its words need."""

    CSS = "StatusLine { height: auto; }"

    def compose(self) -> ComposeResult:
        yield StatusLine("line")


async def test_it_grows_and_shrinks_with_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Lines().run_test(size=(40, 10)) as pilot:
        line = pilot.app.query_one(StatusLine)
        laid_out: list[bool] = []
        update = line.update

        def updated(content: Content, *, layout: bool) -> None:
            laid_out.append(layout)
            update(content, layout=layout)

        monkeypatch.setattr(line, "update", updated)
        rows = []
        for words in ("short", "other", LONG, LONG, "short again"):
            line.say(Content(words))
            await pilot.pause()
            rows.append(line.size.height)
        assert rows == [1, 1, 2, 2, 1]
        assert laid_out == [True, False, True, True]
        assert line.current_text == Content("short again")
