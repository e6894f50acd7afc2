"""Adjudicate at a question of many options: the majority of each option, digits that turn options, none of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Unit
from store.store import Store
from tests.modes import PROTOCOL
from tests.rated import rated
from tests.screens.adjudicate.test_adjudicate import listed, pane, settling
from tests.screens.resting import burst, press
from tests.screens.runs import WHOLE, painted, whole_run
from tests.screens.shared_apps import SharedApps

Until = Callable[..., Awaitable[None]]
SETS: dict[str, list[list[str]]] = {"R1": [["ask", "plan"]], "R2": [["ask"]], "R3": [["plan"]]}


async def test_a_set_is_settled(store: Store, shared_apps: SharedApps, until: Until) -> None:
    store.runs.add(whole_run())
    said: Any = {
        name: {"u1": {("", "failed"): "yes", ("", "modes"): sets[0]}} for name, sets in SETS.items()
    }  # fmt: skip
    plan = rated(store, [Unit("u1", (WHOLE,))], PROTOCOL, said, id="many")
    app = settling(store, plan, shared_apps=shared_apps)

    def settled() -> Any:
        one = store.adjudications.settlements(plan).get(("u1", FieldReference("", "modes")))
        return None if one is None else (one.what.value, one.what.by_means)

    async with shared_apps.at((120, 40)) as pilot:
        await until(pilot, lambda: listed(app, 1) and "1 did not ask; had a wrong plan" in painted(app))
        await press(pilot, "enter")
        await until(pilot, lambda: pane(app).case is not None and pane(app).answers.has_focus)
        await press(pilot, "m")
        await until(pilot, lambda: "☑ 3 had a wrong plan" in painted(app))
        assert "☑ 1 did not ask" in painted(app)
        assert "☐ 2 misread" in painted(app)
        await press(pilot, "enter")
        await burst(pilot, *"Most")
        await press(pilot, "enter")
        await until(pilot, lambda: settled() == (["ask", "plan"], "majority"))
        await press(pilot, "1", "2")
        await until(pilot, lambda: "☑ 2 misread" in painted(app))
        assert "☐ 3 had a wrong plan" in painted(app), "what is chosen anew begins with nothing"
        await press(pilot, "5")
        await until(pilot, lambda: "none of these by the adjudicator" in painted(app))
        await press(pilot, "enter", "enter")
        await until(pilot, lambda: settled() == ([], "adjudicator"))


async def test_what_is_chosen_or_typed_is_seen_in_few_rows(store: Store, shared_apps: SharedApps, until: Until) -> None:
    store.runs.add(whole_run())
    said: Any = {
        name: {"u1": {("", "failed"): "yes", ("", "modes"): sets[0]}} for name, sets in SETS.items()
    }  # fmt: skip
    long = "Choose all that hold, whatever their number and whatever the agent claims of them. " * 3
    fields = tuple(replace(one, ask=long.strip()) if one.id == "modes" else one for one in PROTOCOL.fields)
    plan = rated(store, [Unit("u1", (WHOLE,))], replace(PROTOCOL, fields=fields), said, id="few rows")
    app = settling(store, plan, shared_apps=shared_apps)
    async with shared_apps.at((64, 18)) as pilot:
        await until(pilot, lambda: listed(app, 1))
        await press(pilot, "enter")
        await until(pilot, lambda: pane(app).case is not None and pane(app).answers.has_focus)
        await press(pilot, "0")
        await until(pilot, lambda: "1 cannot judge" in painted(app) and "4 skipped" in painted(app))
        await press(pilot, "escape", "d", "1", "2")
        await until(pilot, lambda: "Discussed: minutes" in painted(app) and "12" in painted(app))
        await press(pilot, "escape")
        await until(pilot, lambda: "☐ 1 did not ask" in painted(app) and "Discussed: minutes" not in painted(app))
