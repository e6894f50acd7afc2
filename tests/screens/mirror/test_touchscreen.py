"""Fingers and keys on the mirror: a touch reaches the phone's own pixel whatever the picture's size, a key its goal."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.message import Message
from textual.pilot import Pilot

from lab.core.seams import Frame
from screens.mirror.mirror import Mirror

PHONE = (1080, 2400)
TURNED = (2400, 1080)


class Bench(App[None]):
    CSS = "Mirror { border: round white; }"
    BINDINGS = [Binding("x,1", "count", "Count")]

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Message] = []
        self.counted = 0

    def compose(self) -> ComposeResult:
        yield Mirror(id="phone")

    def action_count(self) -> None:
        self.counted += 1

    def on_mirror_tapped(self, message: Mirror.Tapped) -> None:
        self.heard.append(message)

    def on_mirror_dragged(self, message: Mirror.Dragged) -> None:
        self.heard.append(message)

    def on_mirror_typed(self, message: Mirror.Typed) -> None:
        self.heard.append(message)

    def on_mirror_key(self, message: Mirror.Key) -> None:
        self.heard.append(message)

    @property
    def mirror(self) -> Mirror:
        return self.query_one(Mirror)


def frame(size: tuple[int, int], space: tuple[int, int] | None, number: int = 1) -> Frame:
    image = Image.new("RGB", size, (200, 200, 200))
    return Frame(image.tobytes(), size, None, time.monotonic(), number, space)


async def until(pilot: Pilot[Any], done: Callable[[], bool]) -> None:
    """Waits for a condition, no longer than ten seconds."""
    end = time.monotonic() + 180
    while not done():
        assert time.monotonic() < end, "it never came"
        await pilot.pause(0.005)


async def show(pilot: Pilot[Any], mirror: Mirror, shown: Frame) -> None:
    mirror.fps = 1000
    mirror.show(shown)
    await until(pilot, lambda: mirror.settled)
    await pilot.pause()


def text(mirror: Mirror) -> str:
    return "\n".join(strip.text for strip in mirror._canvas.render_lines(mirror._canvas.size.region))


async def tapped(pilot: Pilot[Any], app: Bench, cell: tuple[int, int]) -> tuple[int, int]:
    """The phone's pixel that a click on a cell of it is told as."""
    app.heard.clear()
    fit = app.mirror.fit
    assert fit is not None
    await pilot.click(app.mirror._canvas, offset=(fit.left + cell[0], fit.top + cell[1]))
    await until(pilot, lambda: bool(app.heard))
    (tap,) = app.heard
    assert isinstance(tap, Mirror.Tapped)
    return tap.at


@pytest.mark.parametrize("size", [(360, 800), (540, 1200), (1080, 2400), (544, 1208)])
async def test_a_touch_lands_on_the_phones_own_pixel_whatever_the_pictures_size(size: tuple[int, int]) -> None:
    app = Bench()
    async with app.run_test(size=(47, 27)) as pilot:
        app.mirror.zoom = "wide"
        await show(pilot, app.mirror, frame(size, PHONE))
        fit = app.mirror.fit
        assert fit is not None
        assert (fit.size, fit.cols, fit.rows) == (PHONE, 45, 25)
        for column, row in ((0, 0), (44, 24), (22, 12), (7, 19)):
            at = await tapped(pilot, app, (column, row))
            assert at == (int((column + 0.5) * 24), int((row + 0.5) * 96))


@pytest.mark.parametrize("size", [(360, 800), (540, 1200), (1080, 2400)])
async def test_after_a_rotation_in_mid_stream_touches_are_the_turned_phones(size: tuple[int, int]) -> None:
    app = Bench()
    async with app.run_test(size=(82, 27)) as pilot:
        await show(pilot, app.mirror, frame(size, PHONE))
        assert (await tapped(pilot, app, (0, 0)))[1] < 60
        await show(pilot, app.mirror, frame((size[1], size[0]), TURNED, 2))
        fit = app.mirror.fit
        assert fit is not None
        assert fit.size == TURNED
        at = await tapped(pilot, app, (fit.cols - 1, fit.rows - 1))
        assert at == (int(2400 - 1200 / fit.cols), int(1080 - 540 / fit.rows))
        await show(pilot, app.mirror, frame(size, PHONE, 3))
        fit = app.mirror.fit
        assert fit is not None
        at = await tapped(pilot, app, (fit.cols - 1, fit.rows - 1))
        assert at == (int(1080 - 540 / fit.cols), int(2400 - 1200 / fit.rows))


async def test_enlarged_a_touch_lands_on_the_pixel_that_is_seen_there() -> None:
    app = Bench()
    async with app.run_test(size=(47, 27)) as pilot:
        app.mirror.zoom, app.mirror.pan = "2x", (300, 1000)
        await show(pilot, app.mirror, frame((540, 1200), PHONE))
        fit = app.mirror.fit
        assert fit is not None
        assert (fit.x0, fit.y0) == (300, 1000) or fit.x0 < 300
        at = await tapped(pilot, app, (0, 0))
        assert abs(at[0] - fit.x0) <= fit.cell_width
        assert abs(at[1] - fit.y0) <= fit.cell_height
        assert "x2" in str(app.mirror.border_subtitle)


def mouse(
    kind: type[events.MouseEvent], mirror: Mirror, cell: tuple[int, int], at: float, button: int = 1
) -> events.MouseEvent:
    x, y = cell[0] + mirror.corner.x, cell[1] + mirror.corner.y
    event = kind(mirror, x, y, 0, 0, button, False, False, False, x, y, None)
    event.time = at
    return event


async def test_a_drag_shows_its_way_and_the_finger_goes_when_it_is_lifted() -> None:
    app = Bench()
    async with app.run_test(size=(47, 27)) as pilot:
        mirror = app.mirror
        mirror.zoom = "wide"
        await show(pilot, mirror, frame((540, 1200), PHONE))
        mirror.post_message(mouse(events.MouseDown, mirror, (20, 20), 10.0))
        await until(pilot, lambda: "●" in text(mirror))
        mirror.post_message(mouse(events.MouseMove, mirror, (20, 10), 10.1))
        await until(pilot, lambda: text(mirror).count("┃") == 9)
        assert not app.heard
        mirror.post_message(mouse(events.MouseMove, mirror, (20, 6), 10.2))
        mirror.post_message(mouse(events.MouseUp, mirror, (20, 5), 10.3))
        await until(pilot, lambda: bool(app.heard))
        (drag,) = app.heard
        assert isinstance(drag, Mirror.Dragged)
        assert (drag.at, drag.to, drag.ms) == ((492, 1968), (492, 528), 300)
        assert text(mirror).count("┃") == 14
        await until(pilot, lambda: "┃" not in text(mirror) and "●" not in text(mirror))


async def test_what_is_held_still_shows_that_it_has_become_a_long_press() -> None:
    app = Bench()
    async with app.run_test(size=(47, 27)) as pilot:
        mirror = app.mirror
        mirror.zoom = "wide"
        await show(pilot, mirror, frame((540, 1200), PHONE))
        mirror.post_message(mouse(events.MouseDown, mirror, (20, 20), 10.0))
        await until(pilot, lambda: "┏━┓" in text(mirror))
        mirror.post_message(mouse(events.MouseUp, mirror, (20, 20), 10.6))
        mirror.post_message(mouse(events.MouseDown, mirror, (3, 3), 11.0, button=3))
        mirror.post_message(mouse(events.MouseUp, mirror, (3, 3), 11.1, button=3))
        await until(pilot, lambda: len(app.heard) == 2)
        assert [message.long for message in app.heard if isinstance(message, Mirror.Tapped)] == [True, True]


async def test_keys_are_the_mirrors_own_until_it_types_and_then_the_phones() -> None:
    app = Bench()
    async with app.run_test(size=(47, 27)) as pilot:
        mirror = app.mirror
        await show(pilot, mirror, frame((540, 1200), PHONE))
        mirror.focus()
        await pilot.press("o", "x", "1")
        assert not mirror.overlay
        assert app.counted == 2
        mirror.typing = True
        await pilot.press("o", "x", "1", "space", "é", "v", "enter", "backspace", "h", "escape", "tab")
        await until(pilot, lambda: len(app.heard) == 9)
        typed = [message.text for message in app.heard if isinstance(message, Mirror.Typed)]
        assert typed == ["o", "x", "1", " ", "é", "v", "h"]
        assert [message.name for message in app.heard if isinstance(message, Mirror.Key)] == ["enter", "backspace"]
        assert app.counted == 2
        assert (mirror.overlay, mirror.zoom) == (False, "fit")
        assert "keys type" in str(mirror.border_subtitle)
        mirror.typing = False
        await pilot.press("o")
        assert mirror.overlay
        assert "keys type" not in str(mirror.border_subtitle)


async def test_a_paste_is_the_phones_only_while_it_types() -> None:
    app = Bench()
    async with app.run_test(size=(47, 27)) as pilot:
        mirror = app.mirror
        mirror.focus()
        app.post_message(events.Paste("never"))
        await pilot.pause()
        mirror.typing = True
        app.post_message(events.Paste("two\nlines 你好"))
        await until(pilot, lambda: bool(app.heard))
        assert [message.text for message in app.heard if isinstance(message, Mirror.Typed)] == ["two\nlines 你好"]


async def test_while_it_types_its_own_verbs_are_in_the_palette() -> None:
    app = Bench()
    async with app.run_test(size=(47, 27)) as pilot:
        app.mirror.focus()
        await pilot.pause()
        reached = {binding.binding.action for binding in app.screen.active_bindings.values()}
        assert {"toggle_overlay", "next_zoom"} <= reached
        app.mirror.typing = True
        await pilot.pause()
        bindings = app.screen.active_bindings
        reached = {binding.binding.action for binding in bindings.values()}
        assert {"overlay", "zoom"} <= reached
        assert not {"toggle_overlay", "next_zoom", "count"} & reached
        await pilot.press("alt+o")
        assert not app.mirror.overlay


async def test_the_wheel_with_ctrl_looks_closer_at_what_is_under_it_and_back() -> None:
    app = Bench()
    async with app.run_test(size=(47, 27)) as pilot:
        mirror = app.mirror
        mirror.zoom, mirror.interactive = "wide", False
        await show(pilot, mirror, frame((540, 1200), PHONE))
        x, y = 30 + mirror.corner.x, 20 + mirror.corner.y
        mirror.post_message(events.MouseScrollUp(mirror, x, y, 0, -1, 0, False, False, True, x, y, None))
        await until(pilot, lambda: mirror.zoom == "2x")
        await until(pilot, lambda: mirror.settled and mirror.fit is not None and mirror.fit.y0 > 0)
        fit = mirror.fit
        assert fit is not None
        assert fit.y0 < 20.5 * 96 < fit.y1
        assert fit.x0 < 30.5 * 24 < fit.x1
        mirror.post_message(events.MouseScrollDown(mirror, x, y, 0, 1, 0, False, False, True, x, y, None))
        await until(pilot, lambda: mirror.zoom == "wide")
