"""The phone enlarged: levels, keys, the part that is seen, marks and touches in it, and its words set anew."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual import events

from lab.core.settings import Settings
from screens.app import LabApp
from screens.mirror.fit import Zoom, available_zooms, fit
from screens.mirror.marks import PhoneMark, draw_marks
from screens.mirror.mirror import Mirror
from screens.mirror.paint import empty
from screens.mirror.painter import Painter
from screens.mirror.shot import MirrorShot, MirrorView
from screens.navigation import Opening
from screens.replay.phone_pane import StillPhone
from store.store import Store
from tests.crossed import soak
from tests.pictured_runs import RUN, pictured_run, screen
from tests.screens.mirror.test_touchscreen import Bench, frame, mouse, show
from tests.screens.runs import painted

Until = Callable[..., Awaitable[None]]
PHONE = (1080, 2400)


@pytest.mark.parametrize("zoom", ["1.5x", "2x", "3x"])
@pytest.mark.parametrize("cells", [(45, 36), (38, 20), (80, 24), (12, 8)])
def test_an_enlarged_part_lies_on_the_phone_and_keeps_its_shape(zoom: Any, cells: tuple[int, int]) -> None:
    for pan in ((0, 0), (400, 900), (5000, 9000)):
        where = fit(PHONE, cells, zoom, pan)
        assert where is not None
        assert where.cols <= cells[0]
        assert where.rows <= cells[1]
        assert 0 <= where.x0 < where.x1 <= PHONE[0] + 1e-6
        assert 0 <= where.y0 < where.y1 <= PHONE[1] + 1e-6
        assert 0.8 < where.cell_height / (2 * where.cell_width) < 1.25
        for column, row in ((0, 0), (where.cols - 1, where.rows - 1)):
            at = where.pixel(where.left + column, where.top + row)
            assert at is not None
            assert (int(where.column(at[0] + 0.5)), int(where.row(at[1] + 0.5))) == (column, row)


def test_each_level_is_closer_than_the_one_before_it() -> None:
    assert available_zooms(PHONE, (60, 40), "fit") == ["fit", "1.5x", "2x", "3x"]
    assert available_zooms(PHONE, (45, 25), "wide") == ["wide", "2x", "3x"], "1.5x would make its words narrower"


async def test_keys_go_closer_and_back_and_escape_shows_all_of_it() -> None:
    app = Bench()
    async with app.run_test(size=(62, 42)) as pilot:
        mirror = app.mirror
        await show(pilot, mirror, frame((540, 1200), PHONE))
        mirror.focus()
        seen = []
        for _ in range(4):
            await pilot.press("equals_sign")
            seen.append((mirror.zoom, str(mirror.border_subtitle).split(" · ")[0]))
        assert seen == [("1.5x", "x1.5"), ("2x", "x2"), ("3x", "x3"), ("3x", "x3")]
        await pilot.press("minus", "minus")
        assert str(mirror.border_subtitle).split(" · ")[0] == "x1.5"
        for key in ("escape", "minus"):
            await pilot.press(key)
            assert not mirror.enlarged
        assert "x" not in str(mirror.border_subtitle)


async def test_what_is_under_the_wheel_stays_there(until: Until) -> None:
    app = Bench()
    async with app.run_test(size=(62, 42)) as pilot:
        mirror = app.mirror
        await show(pilot, mirror, frame((540, 1200), PHONE))
        spot = 34, 25
        x, y = spot[0] + mirror.corner.x, spot[1] + mirror.corner.y
        for zoom in ("1.5x", "2x", "3x"):
            before = mirror.fit
            assert before is not None
            was = before.pixel(*spot)
            mirror.post_message(events.MouseScrollUp(mirror, x, y, 0, -1, 0, False, False, True, x, y, None))
            await until(
                pilot, lambda zoom=zoom, was=before: mirror.zoom == zoom and mirror.settled and mirror.fit != was
            )
            where = mirror.fit
            assert where is not None
            at = where.pixel(*spot)
            assert was is not None
            assert at is not None
            assert abs(at[1] - was[1]) <= before.cell_height
            if where.x0 > 0 and where.x1 < PHONE[0]:  # else the phone's edge is in sight, which holds it
                assert abs(at[0] - was[0]) <= before.cell_width


async def test_a_drag_in_an_enlarged_part_is_told_in_the_phones_own_pixels() -> None:
    app = Bench()
    async with app.run_test(size=(62, 42)) as pilot:
        mirror = app.mirror
        mirror.zoom, mirror.pan = "3x", (300, 1000)
        await show(pilot, mirror, frame((540, 1200), PHONE))
        where = mirror.fit
        assert where is not None
        mirror.post_message(mouse(events.MouseDown, mirror, (where.left + 5, 5), 10.0))
        mirror.post_message(mouse(events.MouseUp, mirror, (where.left + 20, 15), 10.3))
        while not app.heard:
            await pilot.pause(0.005)
        (drag,) = app.heard
        assert isinstance(drag, Mirror.Dragged)
        assert drag.at == (int(where.x0 + 5.5 * where.cell_width), int(where.y0 + 5.5 * where.cell_height))
        assert drag.to == (int(where.x0 + 20.5 * where.cell_width), int(where.y0 + 15.5 * where.cell_height))


@pytest.mark.parametrize("kind", ["tap", "touch", "box", "evidence", "drag"])
def test_a_mark_is_drawn_where_it_is_and_not_where_it_is_not_seen(kind: Any) -> None:
    cells = (45, 25)
    codes = Painter().codes
    there = PhoneMark(kind, (600, 1200), (700, 1300))
    elsewhere = PhoneMark(kind, (100, 100), (160, 160))

    def drawn(mark: PhoneMark, zoom: Any, pan: tuple[int, int]) -> list[tuple[int, int]]:
        where = fit(PHONE, cells, zoom, pan)
        assert where is not None
        page = empty(cells[1], cells[0])
        blank = empty(cells[1], cells[0])
        draw_marks(page, where, [mark], codes)
        rows, columns = (page.codes != blank.codes).nonzero()
        return [where.nearest(int(column), int(row)) for row, column in zip(rows, columns, strict=True)]

    assert drawn(elsewhere, "fit", (0, 0))
    assert not drawn(elsewhere, "3x", (360, 1000))
    reach = 150
    for x, y in drawn(there, "3x", (360, 1000)):
        assert 600 - reach <= x <= 700 + reach
        assert 1200 - reach <= y <= 1300 + reach
    assert drawn(there, "3x", (360, 1000))


def test_of_a_frame_around_the_enlarged_part_no_side_is_made_up() -> None:
    cells = (45, 25)
    where = fit(PHONE, cells, "3x", (200, 1000))
    assert where is not None
    assert where.x1 < PHONE[0]
    page = empty(cells[1], cells[0])
    draw_marks(page, where, [PhoneMark("evidence", (0, 0), PHONE)], Painter().codes)
    assert (page.codes == empty(cells[1], cells[0]).codes).all()


@soak
def test_enlarged_words_have_room_that_had_none() -> None:
    blob, tree = screen("settings")
    shot = MirrorShot(None, PHONE, tree, stored=blob.data)

    def whole(zoom: Zoom) -> int:
        """How many texts are whole, seen part after part."""
        tops = [0] if zoom == "fit" else range(0, 2400, 300)  # a third of the phone is 800 high
        parts = [MirrorView((40, 12), zoom=zoom, pan=(0, top)) for top in tops]
        lines = (line for part in parts for line in Painter().paint(shot, part).texts)
        return len({line.words.line for line in lines if line.whole})

    counts = [whole(zoom) for zoom in ("fit", "1.5x", "3x")]
    assert counts == sorted(counts)
    assert counts[2] >= 2 * counts[0]


async def test_in_replay_a_key_enlarges_what_the_step_touches(store: Store, until: Until) -> None:
    store.runs.add(pictured_run())
    app = LabApp(store, Settings(), Opening("replay", trace_id=RUN, step=3))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "Alarm" in painted(app))
        await _enlarged_and_looked_about(app, pilot, until)
        await pilot.press("down")
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "Steps  3/" in painted(app) and "Alarm" in painted(app))
        await _enlarged_and_looked_about(app, pilot, until)


async def _enlarged_and_looked_about(app: LabApp, pilot: Any, until: Until) -> None:
    mirror = app.screen.query_one(StillPhone).mirror
    await pilot.press("equals_sign", "equals_sign", "equals_sign")
    await until(pilot, lambda: mirror.zoom == "3x" and mirror.settled and " x3 " in painted(app))
    where = mirror.fit
    assert where is not None
    assert where.x0 <= 540 < where.x1, "the step taps there"
    assert where.y0 <= 902 < where.y1
    await pilot.press("shift+down")
    await until(pilot, lambda: mirror.settled and mirror.fit is not None and mirror.fit.y0 > where.y0)
    await pilot.press("up")
    await until(pilot, lambda: mirror.settled and "Steps  2/" in painted(app))
    assert mirror.zoom == "3x", "another step is looked at as closely"
    await pilot.press("escape")
    await until(pilot, lambda: not mirror.enlarged and " x3 " not in painted(app))
    assert app.current_mode == "replay"
