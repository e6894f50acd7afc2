"""A rater looks through their own sheets, finds words in them, and is back at the very item where they were."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import replace

from lab.core.study.label import Act
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import uuid7
from screens.annotate.past_sheets import PastSheetsScreen
from screens.app import LabApp
from store.store import Store
from tests.blind import found, planted
from tests.screens.annotate.sample_studies import NODES, nodes, rating, ready, room, sheet, studied
from tests.screens.annotate.watched import Watched
from tests.screens.resting import burst, press
from tests.screens.runs import painted
from tests.studies import label

Until = Callable[..., Awaitable[None]]
R1, R2 = Actor("human", "R1"), Actor("human", "ZR2code")
NOTES = {"u1": "It opened the WRONG app", "u2": "The date is wrong"}


def prepared(store: Store, **more: str) -> Study:
    """R1 handed in u2 and then u1, and u3 is open; another person answered otherwise, with a note."""
    store.runs.add(planted().run)
    units = [Unit(f"u{i}", (planted().run.id,), targets=nodes(2)) for i in (1, 2, 3)]
    protocol = replace(NODES, shows=("instruction", "screens"))
    plan = studied(store, protocol, units, ("R1", R2.id), **more)
    for one in (units[1], units[0]):
        for target, value, note in (("n1", "completed", ""), ("n2", "not_completed", NOTES[one.id])):
            store.labels.record(plan, one, label(plan, one, target, "completed", value, note=note))
        at = f"2026-05-01T1{2 - units.index(one)}:00:00.000000+00:00"
        store.labels.record_act(Act(uuid7(), plan.id, 1, R1, "commit", at, one.id))
    store.labels.record(
        plan, units[0], label(plan, units[0], "n1", "completed", "completed", rater=R2, note="Zotherwrong")
    )
    return plan


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(monkeypatch)


def past(app: LabApp) -> PastSheetsScreen:
    assert isinstance(app.screen, PastSheetsScreen)
    return app.screen


def listed(app: LabApp) -> list[str]:
    return [one.unit for one in past(app).list.sheets]


async def test_own_sheets_are_found_and_read_and_the_item_is_where_it_was(
    store: Store, until: Until, watched: Watched
) -> None:
    plan = prepared(store)
    app = rating(store, plan)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "1")
        assert sheet(app).editor.entry.spot == FieldReference("n2", "completed")
        await press(pilot, "P")
        await until(pilot, lambda: "Your own sheets so far" in painted(app))
        assert listed(app) == ["u2", "u1", "u3"]
        watched.look(app)
        await press(pilot, "slash")
        await burst(pilot, *"wrong app")
        assert listed(app) == ["u1"]
        await until(pilot, lambda: "1 / 3" in painted(app))
        watched.look(app)
        await press(pilot, "enter", "enter")
        await until(pilot, lambda: NOTES["u1"] in painted(app))
        assert "Node 2 of the plan" in painted(app)
        assert "Handed in 2026-05-01 12:00" in painted(app)
        watched.look(app)
        await press(pilot, "escape")
        assert listed(app) == ["u1"]
        await press(pilot, "slash", *"zz")
        await until(pilot, lambda: "No sheet of yours has these words." in painted(app))
        await press(pilot, "escape")
        assert listed(app) == ["u2", "u1", "u3"]
        await press(pilot, "escape")
        await until(pilot, lambda: ready(app))
        assert sheet(app).editor.entry.spot == FieldReference("n2", "completed")
        assert [one.value for one in store.labels.read(plan, "u3", "R1")] == ["completed"]
        await press(pilot, "2", "enter")  # an answer, as if nothing had been looked at
        assert room(app).sheet_pane.sheet.value(FieldReference("n2", "completed")) == "not_completed"
        hidden = [*planted().hidden(plan.visible_parts), "Zotherwrong", R2.id]
        assert found(hidden, watched.text) == set()


async def test_before_the_first_answer_a_sentence_names_the_next_key_in_the_studys_language(
    store: Store, until: Until
) -> None:
    store.runs.add(planted().run)
    plan = studied(store, NODES, [Unit("u1", (planted().run.id,), targets=nodes(2))], locale="zh")
    app = rating(store, plan)
    async with app.run_test(size=(64, 18)) as pilot:
        await until(pilot, lambda: ready(app))
        await press(pilot, "P", "slash")
        await until(pilot, lambda: "还没有评分表" in painted(app).replace(" ", ""))
        assert "Esc" in painted(app)
        await press(pilot, "P")
        await until(pilot, lambda: ready(app))
