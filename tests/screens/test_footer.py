"""The keys below a room: painted anew where they are others, left where they are the same, pressed by the mouse too."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType

from screens.widgets.footer import Footer, FooterVerb


class Keys(App[None]):
    """Two keys, one of which is not always to be had."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "one", "One"),
        Binding("b", "two", "Two", tooltip="Twice as much"),
    ]
    offered: bool | None = True
    rung = 0

    def __init__(self) -> None:
        super().__init__()
        self.pressed: list[str] = []

    def compose(self) -> ComposeResult:
        yield Footer()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.offered if action == "two" else True

    def action_one(self) -> None:
        self.pressed.append("one")

    def action_two(self) -> None:
        self.pressed.append("two")

    def bell(self) -> None:
        self.rung += 1


def keys(app: Keys) -> list[FooterVerb]:
    return [verb for verb in app.query_one(Footer).verbs if verb.binding.action in ("one", "two")]


def segments(app: Keys) -> list[Segment]:
    """What is painted of the two, piece by piece."""
    return [segment for segment in app.query_one(Footer).render_line(0) if segment.text.strip()][:4]


def words(app: Keys) -> str:
    return "".join(segment.text for segment in segments(app))


async def told_anew(app: Keys, pilot: Any) -> None:
    app.refresh_bindings()
    for _ in range(5):
        await pilot.pause()


async def test_keys_that_are_the_same_are_not_painted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Keys()
    async with app.run_test() as pilot:
        await told_anew(app, pilot)
        before = app.query_one(Footer).verbs
        assert [verb.binding.description for verb in keys(app)] == ["One", "Two"]
        painted: list[int] = []
        monkeypatch.setattr(Footer, "render_line", lambda _, y: painted.append(y))
        await told_anew(app, pilot)
        assert app.query_one(Footer).verbs is before
        assert not painted


async def test_keys_that_come_go_and_fade_are_painted_anew() -> None:
    app = Keys()
    async with app.run_test() as pilot:
        await told_anew(app, pilot)
        app.offered = False
        await told_anew(app, pilot)
        assert words(app) == " a One "
        app.offered = None
        await told_anew(app, pilot)
        assert words(app) == " a One  b Two "
        assert [(verb.binding.action, verb.enabled) for verb in keys(app)] == [("one", True), ("two", False)]
        assert [segment.text for segment in segments(app) if segment.style and segment.style.dim] == [" b ", "Two "]
        app.offered = True
        await told_anew(app, pilot)
        assert words(app) == " a One  b Two "
        assert not any(segment.style and segment.style.dim for segment in segments(app))


async def test_the_mouse_presses_the_key_that_it_is_on() -> None:
    app = Keys()
    async with app.run_test() as pilot:
        await told_anew(app, pilot)
        for column in (0, 6, 7, 13):
            await pilot.click(Footer, offset=(column, 0))
        await pilot.click(Footer, offset=(14, 0))  # beside them
        assert app.pressed == ["one", "one", "two", "two"]
        app.offered = None
        await told_anew(app, pilot)
        await pilot.click(Footer, offset=(9, 0))
        assert app.pressed == ["one", "one", "two", "two"]
        assert app.rung == 1


async def test_what_the_mouse_is_on_stands_out_and_says_what_it_does() -> None:
    app = Keys()
    async with app.run_test() as pilot:
        await told_anew(app, pilot)
        footer = app.query_one(Footer)
        await pilot.hover(Footer, offset=(8, 0))
        assert footer.tooltip == "Twice as much"
        backgrounds = {segment.text: segment.style and segment.style.bgcolor for segment in segments(app)}
        assert backgrounds[" b "] == backgrounds["Two "] != backgrounds["One "]
        await pilot.hover(Footer, offset=(1, 0))
        assert footer.tooltip is None
        await pilot.hover(Footer, offset=(40, 0))
        backgrounds = {segment.text: segment.style and segment.style.bgcolor for segment in segments(app)}
        assert backgrounds["Two "] == backgrounds["One "]


async def test_a_key_that_another_keymap_moves_is_shown_where_it_is() -> None:
    class Named(Keys, inherit_bindings=False):
        BINDINGS: ClassVar[list[BindingType]] = [Binding("a", "one", "One", id="one")]

    app = Named()
    async with app.run_test() as pilot:
        await told_anew(app, pilot)
        app.set_keymap({"one": "x"})
        await told_anew(app, pilot)
        assert [verb.key for verb in keys(app)] == ["x"]
