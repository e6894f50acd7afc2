"""Styles that tests' apps keep for the next widget like it are those that Textual finds for each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec.structs import replace
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode

from lab.core.settings import Settings
from screens.annotate.annotate import AnnotateScreen
from screens.app import LabApp
from screens.navigation import Opening
from store.store import Store
from tests.screens.styling import TEXTUALS
from tests.screens.walk import filled

WALK = (
    "1", "tab", "down", "full_stop", "question_mark", "question_mark", "f2", "down", "tab", "f4", "tab", "f11", "down",
    "ctrl+p", "down", "escape",
)  # fmt: skip


def styles(app: LabApp) -> dict[DOMNode, dict[str, dict[str, Any]]]:
    """What each widget and each of its parts is to look like."""
    nodes = [node for node in app.screen.walk_children(with_self=True) if node.is_attached]
    return {
        node: {
            "": dict(node.styles.base._rules),
            **{name: dict(part.base._rules) for name, part in node._component_styles.items()},
        }
        for node in nodes
    }


async def test_each_widget_of_each_room_has_the_styles_that_textual_gives_it(
    store: Store, settings: Settings, until: Callable[..., Awaitable[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    rated, _ = filled(store)
    seen = 0
    app = LabApp(store, replace(settings, person="R1"), Opening("annotate", study=rated))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, AnnotateScreen) and app.screen.view == "open")
        for key in WALK:
            await pilot.press(key)
            await pilot.pause()
            found = styles(app)
            with monkeypatch.context() as patch:
                for name, own in TEXTUALS.items():
                    patch.setattr(Stylesheet, name, staticmethod(own) if name == "replace_rules" else own)
                for node in found:
                    app.stylesheet.apply(node)
                assert styles(app) == found, key
            seen += len(found)
    assert seen > 400
