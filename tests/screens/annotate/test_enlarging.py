"""A rater looks closer: regions are of the part that is seen, answers are given as before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual import events

from lab.core.study.protocol import Protocol
from lab.core.study.study import Unit
from screens.annotate.unit_pane import UnitPane
from screens.replay.phone_pane import StillPhone
from store.store import Store
from tests.pictured_runs import RUN, pictured_run
from tests.screens.annotate.host import Host, laid, lunch, study
from tests.screens.annotate.sample_studies import STARS, rating, ready, studied
from tests.screens.mirror.test_touchscreen import mouse
from tests.screens.resting import rests
from tests.screens.runs import WHOLE

Until = Callable[..., Awaitable[None]]


async def test_a_region_in_an_enlarged_phone_is_the_part_that_is_seen(store: Store, until: Until) -> None:
    store.runs.add(lunch(WHOLE))
    app = Host(store, study(), Unit("u", (WHOLE,)))
    async with app.run_test(size=(120, 40)) as pilot:
        await rests(pilot, laid(app))
        phone = app.beside.sides[0].phone
        app.beside.closer()
        app.beside.closer()
        app.beside.pan(1, 0)
        await until(pilot, lambda: phone.mirror.enlarged and phone.mirror.settled)
        app.beside.draw_region()
        await until(pilot, lambda: phone.mirror.settled)
        where = phone.mirror.fit
        assert where is not None
        middle = int(where.x0 + 3.5 * where.cell_width), int(where.y0 + 4.5 * where.cell_height)
        end = int(where.x0 + 12.5 * where.cell_width), int(where.y0 + 9.5 * where.cell_height)
        first, last = ((3 + where.left, 4 + where.top), (12 + where.left, 9 + where.top))
        phone.mirror.post_message(mouse(events.MouseDown, phone.mirror, first, 10.0))
        phone.mirror.post_message(mouse(events.MouseUp, phone.mirror, last, 10.4))
        await until(pilot, lambda: bool(app.of(UnitPane.RegionDrawn)))
        assert app.of(UnitPane.RegionDrawn)[0].region == (*middle, *end)
        assert app.beside.go_back(), "one step back shows all of the phone"
        await until(pilot, lambda: not phone.mirror.enlarged)


async def test_a_rater_enlarges_the_phone_and_still_answers_by_digits(store: Store, until: Until) -> None:
    store.runs.add(pictured_run())
    protocol = Protocol("p", "P", "run", (STARS,), shows=("screens", "actions"))
    made = studied(store, protocol, [Unit("u1", (RUN,))])
    app = rating(store, made)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: ready(app))
        mirror = app.screen.query_one(StillPhone).mirror
        await until(pilot, lambda: mirror.fit is not None)
        await pilot.press("equals_sign")
        await until(pilot, lambda: mirror.enlarged)
        await pilot.press("4")
        await until(pilot, lambda: [label.value for label in store.labels.read(made)] == ["4"])
        await pilot.press("escape")
        await until(pilot, lambda: not mirror.enlarged)
        assert ready(app), "the unit is still open"
