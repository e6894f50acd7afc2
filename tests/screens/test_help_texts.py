"""What widgets say of themselves names keys that are there: one stands in several rooms, and not all have its keys."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual.app import App, ComposeResult
from textual.widget import Widget

from screens.live.field import ReplyText
from screens.widgets.help_panel import Help
from tests.screens.runs import painted

Until = Callable[..., Awaitable[None]]


class Elsewhere(Widget, can_focus=True):
    """A widget whose room is not here."""

    HELP = """
    It stands here. **{nobody.key}** does what nobody does,
    whatever comes. **{nobody.other:x}** is there.
    """


class Room(App[None]):
    """A room in which something has the keys."""

    def __init__(self, focused: Widget) -> None:
        super().__init__()
        self._widget = focused

    def compose(self) -> ComposeResult:
        yield self._widget
        yield Help()

    def on_mount(self) -> None:
        self._widget.focus()


def flat(app: Room) -> str:
    """The words on the screen, however the panel folds them."""
    return " ".join(painted(app).replace("▏", " ").replace("▎", " ").split())


async def test_a_sentence_about_a_key_that_nothing_has_is_left_out(until: Until) -> None:
    app = Room(Elsewhere())
    async with app.run_test(size=(100, 40)) as pilot:
        await until(pilot, lambda: "It stands here. x is there." in flat(app))
        assert "nobody" not in painted(app)


async def test_the_answer_field_says_how_what_is_asked_is_read_on(until: Until) -> None:
    app = Room(ReplyText())
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "pgdn and pgup read on" in flat(app).lower())
        assert "****" not in painted(app)
        assert "leaves the field" in flat(app)
