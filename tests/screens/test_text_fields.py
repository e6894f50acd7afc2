"""Every field holds clean text, whatever way it came, and paints nothing that steers a terminal."""

from __future__ import annotations

import ast
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.widgets import Input, TextArea

from lab.core.settings import Settings
from lab.core.text.typed_text import clean
from screens.app import LabApp
from screens.pasted_input import PasteParser
from screens.widgets.text_fields import TextBox, TextLine
from store.store import Store
from tests.screens.runs import painted
from tests.typed import KEPT, KEPT_AS_LINE, PASTED

SCREENS = Path(__file__).parents[2] / "screens"
Until = Callable[..., Awaitable[None]]


class Fields(App[None]):
    """One field of each kind."""

    def compose(self) -> ComposeResult:
        yield TextLine(PASTED, id="line")
        yield TextBox(id="box")


async def test_what_is_pasted_loaded_copied_or_set_is_clean(until: Until) -> None:
    app = Fields()
    async with app.run_test(size=(100, 20)) as pilot:
        line, box = app.query_one(TextLine), app.query_one(TextBox)
        assert line.value == KEPT_AS_LINE
        line.value = ""
        line.post_message(events.Paste(PASTED))
        await until(pilot, lambda: line.value == KEPT_AS_LINE)
        box.post_message(events.Paste(PASTED))
        await until(pilot, lambda: box.text == KEPT)
        box.load_text(PASTED)
        assert box.text == KEPT
        box.clear()
        app.copy_to_clipboard(PASTED)
        box.focus()
        await pilot.press("ctrl+v")
        await until(pilot, lambda: box.text == KEPT)
        await until(pilot, lambda: "Mild please." in painted(app))
        screen = "".join(strip.text for strip in app.screen._compositor.render_strips())
        assert not set(screen) & {"\x1b", "\u2067", "\u2069", "\u202e"}
        assert "می\u200cخواهم" in screen


async def test_what_is_copied_is_pasted_as_it_was(store: Store) -> None:
    app = LabApp(store, Settings())
    async with app.run_test(size=(100, 30)):
        app.copy_to_clipboard(PASTED)
        assert app.clipboard == KEPT


@pytest.mark.parametrize("piece", [1, 3, 7, 10_000])
def test_a_paste_is_one_text_however_it_comes_in(piece: int) -> None:
    sent = f"a\x1b[200~{PASTED}\x1b\x1b[20x\x1b[201~\x1b[200~\x1b[201~b\x1b[A"
    parser = PasteParser()
    heard = [event for at in range(0, len(sent), piece) for event in parser.feed(sent[at : at + piece])]
    pasted = [clean(event.text) for event in heard if isinstance(event, events.Paste)]
    assert [event.key for event in heard if isinstance(event, events.Key)] == ["a", "b", "up"]
    assert pasted[0] == f"{KEPT}"


def test_no_field_of_a_screen_is_another_kind() -> None:
    """A field that takes text is a `TextLine` or a `TextBox`: what they hold needs no second thought."""
    kinds = {Input.__name__, TextArea.__name__}
    made = {
        path.name
        for path in SCREENS.rglob("*.py")
        if path.name != "text_fields.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in (
            [node.func] if isinstance(node, ast.Call) else node.bases if isinstance(node, ast.ClassDef) else []
        )
        if isinstance(name, ast.Name) and name.id in kinds
    }
    assert made == set()
