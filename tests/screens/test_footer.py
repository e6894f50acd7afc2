"""The keys below a room: laid out anew where they are others, and left as they are where they are the same."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets._footer import FooterKey

from screens.widgets.footer import Footer


class Keys(App[None]):
    """Two keys, one of which is not always to be had."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("a", "one", "One"), Binding("b", "two", "Two")]
    offered: bool | None = True

    def compose(self) -> ComposeResult:
        yield Footer()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.offered if action == "two" else True

    def action_one(self) -> None: ...

    def action_two(self) -> None: ...


def keys(app: Keys) -> list[FooterKey]:
    return [key for key in app.query(FooterKey) if key.action in ("one", "two")]


async def told_anew(app: Keys, pilot: Any) -> None:
    app.refresh_bindings()
    for _ in range(5):
        await pilot.pause()


async def test_keys_that_are_the_same_stay() -> None:
    app = Keys()
    async with app.run_test() as pilot:
        await told_anew(app, pilot)
        before = keys(app)
        assert [key.description for key in before] == ["One", "Two"]
        await told_anew(app, pilot)
        assert [id(key) for key in keys(app)] == [id(key) for key in before]


async def test_keys_that_come_go_and_fade_are_laid_out_anew() -> None:
    app = Keys()
    async with app.run_test() as pilot:
        await told_anew(app, pilot)
        app.offered = False
        await told_anew(app, pilot)
        assert [key.action for key in keys(app)] == ["one"]
        app.offered = None
        await told_anew(app, pilot)
        assert [(key.action, key.has_class("-disabled")) for key in keys(app)] == [("one", False), ("two", True)]
        app.offered = True
        await told_anew(app, pilot)
        assert [(key.action, key.has_class("-disabled")) for key in keys(app)] == [("one", False), ("two", False)]


async def test_a_key_that_another_keymap_moves_is_shown_where_it_is() -> None:
    class Named(Keys, inherit_bindings=False):
        BINDINGS: ClassVar[list[BindingType]] = [Binding("a", "one", "One", id="one")]

    app = Named()
    async with app.run_test() as pilot:
        await told_anew(app, pilot)
        app.set_keymap({"one": "x"})
        await told_anew(app, pilot)
        assert [key.key_display for key in keys(app)] == ["x"]
