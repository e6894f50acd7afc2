"""Every protocol by keys alone: how many a sheet takes, and that what they give is what was meant."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from annotators.protocols import protocol, protocols
from lab.core.protocol import Protocol
from lab.core.study import Given, Target, Unit
from lab.studies.scale_entry import top
from lab.studies.sheet_items import SheetItem, by_digits, way_of
from store.store import Store
from tests.screens.annotate.sample_studies import nodes, ready, sheet, studied
from tests.screens.desk import Desk
from tests.screens.resting import press
from tests.screens.runs import BARE, WHOLE, bare_run, whole_run

Until = Callable[..., Awaitable[None]]
RATED = sorted(id for id, found in protocols().items() if found.unit != "task to play")
WORDS = "tea"


def unit_for(asks: Protocol) -> Unit:
    """A unit with three targets where the protocol has any, and a pair where it asks of one."""
    targets = nodes(3) if asks.targets != "unit" else ()
    if asks.targets == "branches":
        targets = tuple(Target(f"b{i}", f"Branch {i}", options=("this way", "that way")) for i in range(3))
    if asks.targets == "steps":
        targets = tuple(Target(f"s{i}", f"Step {i + 1}", step=i) for i in range(3))
    runs = (WHOLE, BARE) if asks.unit == "pair of runs" else () if asks.unit.startswith("pair") else (WHOLE,)
    given = (Given("One", "one", side="A"), Given("Other", "other", side="B")) if asks.unit.startswith("pair") else ()
    return Unit("u1", runs, step=0 if asks.unit == "step" else None, targets=targets, given=given)


def keys_for(app: Any, item: SheetItem) -> list[str]:
    """What answers an item: its first option, the middle of its scale, a few words."""
    pane = sheet(app)
    match way_of(item):
        case "choice":
            return list(pane.way.choices(item)[0].key)
        case "scale":
            return ["5", "0"] if by_digits(item) and top(item.field) > 9 else ["1"]
        case "step":
            return ["enter"]
    return [*("9" if item.field.kind == "interval" else WORDS), "enter"]


@pytest.mark.parametrize("id", RATED)
async def test_a_sheet_takes_no_more_keys_than_it_may(store: Store, desk: Desk, until: Until, id: str) -> None:
    store.runs.add(whole_run())
    store.runs.add(bare_run())
    asks = protocol(id)
    study = studied(store, asks, [unit_for(asks)])
    app = desk.rating(store, study)
    async with desk.at(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        counts: dict[str, list[int]] = {}
        pressed = 0
        while (item := sheet(app).item) is not None:
            keys = keys_for(app, item)
            if keys[-1] == "enter" and way_of(item) == "typed" and item.field.kind == "text":
                keys = ["enter", *keys]  # letters are typed only in the line
            counts.setdefault(way_of(item), []).append(len(keys))
            pressed += len(keys)
            await press(pilot, *keys)
            assert sheet(app).sheet.head(item.spot) is not None, (item, keys)
        await press(pilot, "enter")
        assert store.studies.progress(study, "R1").done == 1
        assert all(count == 1 for count in counts.get("choice", []))
        assert all(count <= 2 for count in counts.get("scale", []))
        if set(counts) <= {"choice"}:
            assert pressed + 1 <= sum(map(len, counts.values())) + 2
        given = list(store.labels.read(study))
        assert all(label.shown_at and label.first_key_at for label in given)
        assert len({(label.target, label.field) for label in given}) == len(given)
