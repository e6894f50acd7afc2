"""Where the keys go elsewhere in a room: the panes that hold them are styled anew, and nothing else needs to be."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical
from textual.css.model import CombinatorType, SelectorType
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.events import Resize
from textual.geometry import Size
from textual.widgets import Input, Static

import screens
from screens.annotate.annotate import WIDGETS_STYLED_BY_VIEW
from screens.annotate.room_lines import View
from screens.stylesheet import ROOM_STYLES
from screens.widgets.room_screen import RoomScreen

WITHIN = "focus-within"
OUTLINE = {
    "border", "border_top", "border_right", "border_bottom", "border_left",
    "border_title_color", "border_title_style", "auto_border_title_color",
}  # fmt: skip


def test_that_a_pane_holds_the_keys_is_told_by_its_own_outline_alone() -> None:
    """What stands in a pane is not styled anew for that, so no rule may ask it to look otherwise."""
    sheet = Stylesheet(variables=App[None]().get_css_variables())
    sheet.read_all([Path(screens.__file__).with_name("lab.tcss"), *map(Path, ROOM_STYLES)])
    holding = [
        rule
        for rule in sheet.rules
        if any(WITHIN in one.pseudo_classes for chosen in rule.selector_set for one in chosen.selectors)
    ]
    assert len(holding) > 3
    for rule in holding:
        for chosen in rule.selector_set:
            assert all(WITHIN not in one.pseudo_classes for one in chosen.selectors[:-1])
        assert set(rule.styles.get_rules()) <= OUTLINE


def test_a_view_of_annotate_is_told_by_those_that_it_styles_anew() -> None:
    """Any other that a rule shows, hides or sizes by the view would look as in the view before."""
    sheet = Stylesheet(variables=App[None]().get_css_variables())
    sheet.read_all([Path(screens.__file__).with_name("lab.tcss"), *map(Path, ROOM_STYLES)])
    views = {f"-{view}" for view in get_args(View)}
    shown = {
        chosen.selectors[-1].css
        for rule in sheet.rules
        for chosen in rule.selector_set
        if any(
            one.name in views and one.type is SelectorType.CLASS and one.combinator is not CombinatorType.SAME
            for one in chosen.selectors
        )
    }
    assert len(shown) > 3
    assert shown <= set(WIDGETS_STYLED_BY_VIEW.split(", "))


class Panes(RoomScreen[None]):
    """Two panes of two fields each."""

    DEFAULT_CSS = """
    Panes Vertical { border: solid red; height: 8; }
    Panes Vertical:focus-within { border: solid green; }
    """

    def compose(self) -> ComposeResult:
        for pane in ("left", "right"):
            with Vertical(id=pane):
                yield Input(id=f"{pane}-one")
                yield Input(id=f"{pane}-two")
                yield Static(id=f"{pane}-words")


def outlines(screen: Panes) -> tuple[str, ...]:
    """The colour of each pane's border."""
    return tuple(screen.query_one(f"#{pane}").styles.border_top[1].hex for pane in ("left", "right"))


async def test_the_pane_that_holds_the_keys_says_so_and_what_stands_in_it_is_left_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    red, green = "#FF0000", "#008000"
    styled: list[str | None] = []
    apply = Stylesheet.apply

    def counted(sheet: Stylesheet, node: DOMNode, **how: Any) -> None:
        styled.append(node.id)
        apply(sheet, node, **how)

    app = App[None]()
    async with app.run_test() as pilot:
        screen = Panes()
        await app.push_screen(screen)
        await pilot.pause()
        screen.query_one("#left-one").focus()
        await pilot.pause()
        assert outlines(screen) == (green, red)
        monkeypatch.setattr(Stylesheet, "apply", counted)
        screen.query_one("#left-two").focus()
        await pilot.pause()
        assert outlines(screen) == (green, red)
        screen.query_one("#right-one").focus()
        await pilot.pause()
        assert outlines(screen) == (red, green)
        assert {"left", "right", "right-one"} <= set(styled)
        assert not {"left-words", "right-words", "right-two"} & set(styled)
        screen.set_focus(None)
        await pilot.pause()
        assert outlines(screen) == (red, red)


class Pane(Static):
    """Remembers the last size that it was told."""

    told = Size()

    def on_resize(self, event: Resize) -> None:
        self.told = event.size


class Two(App[None]):
    CSS = "Pane { width: 1fr; height: 1fr; }"

    def get_default_screen(self) -> RoomScreen[None]:
        return RoomScreen(id="_default")

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Pane(id="first")
            yield Pane(id="second")


async def test_a_widget_is_told_of_its_new_size_where_a_region_is_asked_for_before_it_is_laid_out(until: Any) -> None:
    """Textual tells it nothing then; so a phone stayed as narrow as it was when it stood beside another."""
    app = Two()
    async with app.run_test(size=(80, 24)) as pilot:
        first, second = (app.query_one(name, Pane) for name in ("#first", "#second"))
        await until(pilot, lambda: (first.told.width, second.told.width) == (40, 40))
        for shown, width in ((False, 80), (True, 40)):
            app.screen._compositor._full_map_invalidated = True  # as after a scroll, or a refresh of what is hidden
            second.display = shown
            assert first.region
            await until(pilot, lambda width=width: first.size.width == width)
            await until(pilot, lambda width=width: first.told.width == width)
