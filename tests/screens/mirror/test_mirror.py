"""The mirror as a widget: the newest picture, dirty rows alone, touches that reach the right pixel."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image
from textual import events
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot

from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.seams import Frame
from screens.mirror.mirror import Mirror, PhoneMark

SIZE = (108, 240)


class Bench(App[None]):
    CSS = "Mirror { border: none; }"

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Message] = []

    def compose(self) -> ComposeResult:
        yield Mirror(id="phone")

    def on_mirror_tapped(self, message: Mirror.Tapped) -> None:
        self.heard.append(message)

    def on_mirror_dragged(self, message: Mirror.Dragged) -> None:
        self.heard.append(message)

    def on_mirror_wheeled(self, message: Mirror.Wheeled) -> None:
        self.heard.append(message)

    @property
    def mirror(self) -> Mirror:
        return self.query_one(Mirror)


class Framed(Bench):
    CSS = ""


def picture(colour: tuple[int, int, int] = (200, 200, 200), band: tuple[int, int] | None = None) -> Image.Image:
    image = Image.new("RGB", SIZE, colour)
    if band is not None:
        image.paste((20, 60, 220), (0, band[0], SIZE[0], band[1]))
    return image


def frame(image: Image.Image, number: int = 1, at: float | None = None, tree: UiTree | None = None) -> Frame:
    return Frame(image.tobytes(), SIZE, tree, time.monotonic() if at is None else at, number)


def text(mirror: Mirror) -> str:
    """What the phone's rows say."""
    return "\n".join(strip.text for strip in mirror._canvas.render_lines(mirror._canvas.size.region))


async def until(pilot: Pilot[Any], done: Callable[[], bool]) -> None:
    """Waits for a condition, no longer than ten seconds."""
    end = time.monotonic() + 180
    while not done():
        assert time.monotonic() < end, "it never came"
        await pilot.pause(0.005)


async def shown(pilot: Pilot[Any], mirror: Mirror) -> None:
    await until(pilot, lambda: mirror.settled)
    await pilot.pause()


async def test_only_rows_that_differ_are_drawn_again() -> None:
    app = Bench()
    async with app.run_test(size=(20, 12)) as pilot:
        app.mirror.fps = 1000
        app.mirror.show(frame(picture()))
        await shown(pilot, app.mirror)
        whole = app.mirror.rows_drawn
        assert whole == 12
        app.mirror.show(frame(picture(), 2))
        await shown(pilot, app.mirror)
        assert app.mirror.rows_drawn == whole
        app.mirror.show(frame(picture(band=(100, 119)), 3))
        await shown(pilot, app.mirror)
        assert app.mirror.rows_drawn == whole + 1


async def test_a_damaged_picture_leaves_the_last_one_and_says_so() -> None:
    app = Framed()
    async with app.run_test(size=(40, 14)) as pilot:
        app.mirror.show(frame(picture()))
        await shown(pilot, app.mirror)
        drawn = app.mirror.rows_drawn
        app.mirror.show(frame(picture())._replace(pixels=b"short"))
        await until(pilot, lambda: "damaged" in str(app.mirror.border_subtitle))
        assert app.mirror.rows_drawn == drawn
        app.mirror.show(frame(picture((10, 90, 10)), 2))
        await until(pilot, lambda: "damaged" not in str(app.mirror.border_subtitle))
        assert app.mirror.rows_drawn > drawn


async def test_telling_the_age_draws_no_row_of_the_phone() -> None:
    app = Framed()
    async with app.run_test(size=(22, 14)) as pilot:
        app.mirror.show(frame(picture()))
        await shown(pilot, app.mirror)
        drawn = app.mirror.rows_drawn
        regions: list[Any] = []
        app.mirror.age = 3.0
        regions.extend(app.mirror._repaint_regions)
        assert regions
        assert all(region.height == 1 for region in regions)
        assert app.mirror.rows_drawn == drawn


async def test_the_newest_frame_wins_and_none_is_queued() -> None:
    app = Bench()
    async with app.run_test(size=(20, 12)) as pilot:
        mirror = app.mirror
        mirror.fps = 50
        mirror.show(frame(picture()))
        await shown(pilot, mirror)
        before = mirror._newest.paintings
        frames = [frame(picture((i, i, i)), i) for i in range(200)]
        thread = threading.Thread(target=lambda: list(map(mirror.post_frame, frames)))
        thread.start()
        await until(pilot, lambda: not thread.is_alive())
        await shown(pilot, mirror)
        assert mirror._newest.paintings - before < 100
        assert mirror._shown is not None
        assert int(mirror._shown.cells.bg[6, 10]) & 255 == pytest.approx(199, abs=8)


async def test_no_more_than_fps_are_painted() -> None:
    app = Bench()
    async with app.run_test(size=(20, 12)) as pilot:
        app.mirror.fps = 5
        began = time.monotonic()
        number = 0
        while time.monotonic() - began < 0.5:
            number += 1
            app.mirror.show(frame(picture((number % 250, 0, 0)), number))
            await pilot.pause(0.001)
        assert app.mirror._newest.paintings <= 4


async def test_the_thread_ends_with_the_widget_and_never_starts_without_a_picture() -> None:
    app = Bench()
    async with app.run_test(size=(20, 12)) as pilot:
        mirror = app.mirror
        await pilot.pause()
        assert not mirror._newest.running
        mirror.show(frame(picture()))
        await shown(pilot, mirror)
        assert mirror._newest.running
        await mirror.remove()
        await until(pilot, lambda: not mirror._newest.running)
        mirror.post_frame(frame(picture(), 2))
        assert not mirror._newest.running


@pytest.mark.parametrize("size", [(20, 12), (45, 25), (60, 20), (14, 30)])
async def test_a_click_reaches_the_pixel_under_it(size: tuple[int, int]) -> None:
    app = Bench()
    async with app.run_test(size=size) as pilot:
        app.mirror.show(frame(picture()))
        await shown(pilot, app.mirror)
        fit = app.mirror.fit
        assert fit is not None
        for column, row in ((0, 0), (fit.cols - 1, fit.rows - 1), (fit.cols // 2, fit.rows // 2)):
            app.heard.clear()
            await pilot.click(Mirror, offset=(fit.left + column, fit.top + row))
            await until(pilot, lambda: bool(app.heard))
            (tap,) = app.heard
            assert isinstance(tap, Mirror.Tapped)
            assert tap.control is app.mirror
            assert int(tap.at[0] * fit.cols / SIZE[0]) == column
            assert int(tap.at[1] * fit.rows / SIZE[1]) == row


async def test_a_click_beside_the_phone_or_on_one_not_to_be_touched_does_nothing() -> None:
    app = Bench()
    async with app.run_test(size=(60, 12)) as pilot:
        app.mirror.show(frame(picture()))
        await shown(pilot, app.mirror)
        await pilot.click(Mirror, offset=(1, 6))
        app.mirror.interactive = False
        await pilot.click(Mirror, offset=(30, 6))
        await pilot.pause()
        assert not app.heard


async def press(
    pilot: Pilot[Any], mirror: Mirror, start: tuple[int, int], end: tuple[int, int], seconds: float
) -> None:
    """Holds the left button from one cell to another, as long as the events' own times say."""
    for kind, (x, y), at in ((events.MouseDown, start, 10.0), (events.MouseUp, end, 10.0 + seconds)):
        event = kind(mirror, x, y, 0, 0, 1, False, False, False, x, y, None)
        event.time = at
        mirror.post_message(event)
    await pilot.pause()


async def test_holding_is_a_long_press_and_moving_is_a_drag() -> None:
    app = Bench()
    async with app.run_test(size=(20, 12)) as pilot:
        app.mirror.show(frame(picture()))
        await shown(pilot, app.mirror)
        await press(pilot, app.mirror, (10, 6), (10, 6), 0.1)
        await press(pilot, app.mirror, (10, 6), (10, 6), 0.9)
        await press(pilot, app.mirror, (10, 9), (10, 2), 0.3)
        await until(pilot, lambda: len(app.heard) == 3)
        short, tap, drag = app.heard
        assert isinstance(short, Mirror.Tapped)
        assert not short.long
        assert isinstance(tap, Mirror.Tapped)
        assert tap.long
        assert isinstance(drag, Mirror.Dragged)
        assert drag.at[1] > drag.to[1]
        assert drag.at[0] == drag.to[0]
        assert drag.ms == 300


async def test_the_wheel_says_where_in_the_content_one_wants_to_go() -> None:
    app = Bench()
    async with app.run_test(size=(20, 12)) as pilot:
        app.mirror.show(frame(picture()))
        await shown(pilot, app.mirror)
        for kind in (events.MouseScrollDown, events.MouseScrollUp):
            app.mirror.post_message(kind(app.mirror, 10, 6, 0, 1, 0, False, False, False, 10, 6, None))
        await until(pilot, lambda: len(app.heard) == 2)
        directions = [message.direction for message in app.heard if isinstance(message, Mirror.Wheeled)]
        assert directions == ["down", "up"]


async def test_the_last_picture_of_a_run_never_looks_stale() -> None:
    app = Framed()
    async with app.run_test(size=(22, 14)) as pilot:
        mirror = app.mirror
        mirror.show(frame(picture(), at=time.monotonic() - 7))
        await until(pilot, lambda: mirror.has_class("-stale"))
        mirror.stop()
        await until(pilot, lambda: not mirror.has_class("-stale"))
        assert str(mirror.border_subtitle) == "the last picture"
        mirror.show(frame(picture(), at=time.monotonic() - 9))  # one that was under way
        await until(pilot, lambda: mirror.settled)
        assert mirror.age is None


async def test_a_stored_picture_stands_in_for_live_ones_that_did_not_come_and_never_takes_the_place_of_one() -> None:
    """The first live picture may come at that very moment, on a thread of its own."""
    app = Framed()
    async with app.run_test(size=(22, 14)) as pilot:
        mirror = app.mirror
        comes, put = threading.Thread(target=mirror.post_frame, args=(frame(picture(), 1),)), mirror._newest.request

        def held(**what: Any) -> None:
            """The live picture is asked for; before it is, what stands in for it is."""
            mirror._newest.request = put  # type: ignore[method-assign]
            stands_in.start()
            stands_in.join(0.2)
            put(**what)

        stands_in = threading.Thread(target=mirror.show_instead, args=(None, None, None))
        mirror._newest.request = held  # type: ignore[method-assign]
        comes.start()
        comes.join()
        stands_in.join()
        await until(pilot, lambda: mirror.settled and mirror.age is not None)
        assert mirror._posted is not None
        assert mirror._posted.live


async def test_an_old_picture_looks_stale_and_says_so() -> None:
    app = Framed()
    async with app.run_test(size=(22, 14)) as pilot:
        mirror = app.mirror
        mirror.show(frame(picture(), at=time.monotonic() - 7))
        await until(pilot, lambda: mirror.has_class("-stale"))
        assert "stale" in mirror.age_text
        assert "7 s old" in str(mirror.border_subtitle)
        mirror.show(frame(picture(), 1))
        await until(pilot, lambda: not mirror.has_class("-stale"))
        mirror.show_still(None, None, None)
        await until(pilot, lambda: mirror.age is None)
        assert mirror.age_text == ""


async def test_a_stored_picture_is_shown_with_its_marks() -> None:
    stored = io.BytesIO()
    picture().save(stored, "PNG")
    tree = UiTree((Node(Bounds(0, 0, *SIZE)),))
    app = Bench()
    async with app.run_test(size=(20, 12)) as pilot:
        app.mirror.show_still(stored.getvalue(), None, tree)
        app.mirror.mark([PhoneMark("tap", (54, 120), None, "3")])
        await shown(pilot, app.mirror)
        assert "│3│" in text(app.mirror)
        app.mirror.mark([])
        await pilot.pause()
        assert "│3│" not in text(app.mirror)


async def test_an_empty_phone_says_why() -> None:
    app = Bench()
    async with app.run_test(size=(45, 25)) as pilot:
        assert "waiting" in app.export_screenshot()
        app.mirror.show_still(None, None, None)
        await shown(pilot, app.mirror)
        assert "screenshot" in app.export_screenshot()


async def test_words_zoom_and_pan_by_key() -> None:
    app = Bench()
    async with app.run_test(size=(20, 12)) as pilot:
        mirror = app.mirror
        mirror.fps = 1000
        mirror.show(frame(picture()))
        mirror.focus()
        await shown(pilot, mirror)
        await pilot.press("o", "v")
        assert not mirror.overlay
        assert mirror.zoom == "wide"
        before = mirror.fit
        await pilot.press("v")
        await until(pilot, lambda: mirror.settled and mirror.fit != before)
        await pilot.press("down", "down", "right", "right", "right", "right", "right")
        await until(pilot, lambda: mirror.settled and mirror.fit is not None and mirror.fit.y0 > 0)
        fit = mirror.fit
        assert fit is not None
        assert fit.y0 > 0
        assert fit.x1 <= SIZE[0]
        assert fit.y1 <= SIZE[1]


async def test_keys_that_are_quicker_than_the_picture_each_pan_by_a_part() -> None:
    app = Bench()
    async with app.run_test(size=(20, 12)) as pilot:
        mirror = app.mirror
        mirror.show(frame(picture()))
        await shown(pilot, mirror)
        mirror.zoom = "2x"
        await shown(pilot, mirror)
        for across, down in ((0, 1), (1, 0), (0, 1)):  # no turn of the loop between them, so nothing is painted
            mirror.action_pan(across, down)
        await shown(pilot, mirror)
        fit = mirror.fit
        assert fit is not None
        assert fit.x0 == min((fit.x1 - fit.x0) / 3, SIZE[0] - (fit.x1 - fit.x0))
        assert fit.y0 == round(2 * (fit.y1 - fit.y0) / 3)


async def test_a_resize_paints_anew() -> None:
    app = Bench()
    async with app.run_test(size=(20, 12)) as pilot:
        app.mirror.show(frame(picture()))
        await shown(pilot, app.mirror)
        await pilot.resize_terminal(50, 30)
        await until(pilot, lambda: app.mirror.fit is not None and app.mirror.fit.rows == 30)


def test_the_widget_costs_no_numpy_until_a_picture_comes() -> None:
    code = "import sys, screens.mirror.mirror; print([m for m in ('numpy', 'PIL') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


async def test_a_picture_that_is_given_again_is_as_new_and_is_not_painted_again() -> None:
    app = Framed()
    async with app.run_test(size=(22, 14)) as pilot:
        mirror = app.mirror
        first = frame(picture(), at=time.monotonic() - 7)
        mirror.show(first)
        await until(pilot, lambda: mirror.has_class("-stale"))
        paintings = mirror._newest.paintings
        mirror.show(first._replace(at=time.monotonic()))
        await until(pilot, lambda: not mirror.has_class("-stale"))
        assert mirror._newest.paintings == paintings
        mirror.show_still(None, None, None)
        mirror.show(first)
        await shown(pilot, mirror)
        assert mirror._newest.paintings > paintings


async def test_a_stale_picture_loses_its_colour_until_a_new_one_comes() -> None:
    app = Framed()
    async with app.run_test(size=(22, 14)) as pilot:
        mirror = app.mirror
        red = frame(picture((220, 40, 40)), at=time.monotonic() - 7)
        mirror.show(red)
        await until(pilot, lambda: mirror.has_class("-stale") and mirror.settled)
        cells = mirror._canvas._cells
        assert cells is not None
        assert len({int(cells.bg[6, 10]) >> shift & 255 for shift in (0, 8, 16)}) == 1
        mirror.show(red._replace(at=time.monotonic()))
        await until(pilot, lambda: not mirror.has_class("-stale"))
        cells = mirror._canvas._cells
        assert cells is not None
        assert int(cells.bg[6, 10]) & 255 > 200
