"""What the tests' apps take for the styles of a node is what Textual gives to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode

from lab.core.settings import Settings
from screens.app import LabApp
from screens.navigation import Opening
from store.store import Store
from tests.crossed import crossed, spread
from tests.screens.resting import app_at_rest, press
from tests.screens.runs import WHOLE
from tests.screens.styling import TEXTUALS
from tests.screens.walk import filled

Until = Callable[..., Awaitable[None]]


def styles(node: DOMNode) -> dict[str, Any]:
    """The rules that it has, those of its parts, and what was noted of them."""
    noted = {name: value for name, value in vars(node).items() if name.startswith("_has_")}
    parts = {name: part.base._rules for name, part in node._component_styles.items()}
    return {"": dict(node.styles.base._rules), **noted, **parts}


def check(app: LabApp, where: str, patch: pytest.MonkeyPatch) -> int:
    """Has Textual style each node of the app anew: nothing of it changes. Returns how many there are."""
    nodes = list(app.walk_children(with_self=True))
    with patch.context() as stock:
        stock.setattr(Stylesheet, "apply", TEXTUALS)
        for node in nodes:
            before = styles(node)
            app.stylesheet.apply(node)
            assert styles(node) == before, (where, node)
    return len(nodes)


@crossed
async def test_every_node_is_styled_as_textual_does_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """In three rooms; in a soak in six."""
    rated, played = filled(store)
    app = LabApp(store, Settings(person="R1", bell=False))
    openings = (
        Opening("runs"),
        Opening("replay", trace_id=WHOLE),
        Opening("annotate", study=rated),
        Opening("agreement", study=rated),
        Opening("progress", study=played),
        Opening("answer"),
    )
    looked = 0
    async with app.run_test(size=(120, 40)) as pilot:
        for opening in spread(openings, 3):
            await app.enter(opening)
            for keys in ((), ("tab",), ("j", "enter"), ("question_mark",), ("question_mark", "shift+tab")):
                await press(pilot, *keys)
                await app_at_rest(app)
                looked += check(app, f"{opening.screen} {keys}", monkeypatch)
            app.theme = "textual-light" if app.theme != "textual-light" else "textual-dark"
            await app_at_rest(app)
            looked += check(app, f"{opening.screen} in {app.theme}", monkeypatch)
    assert looked > 250, looked
