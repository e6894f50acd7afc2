"""The served phone's screen: upright, on its side, dark; places map there and back; a finger on it."""

from __future__ import annotations

import io
import queue
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from lab.core.run.step import Action
from lab.core.run.ui_tree import Node
from simulators.phone.phone import Phone
from simulators.phone.served.display import Display
from simulators.phone.served.motion import LONG
from tests.simulators.phone.served.asking import FEED, Asked, labels


def picture(display: Display) -> np.ndarray:
    wide, high = display.size
    return np.frombuffer(display.rgb(), np.uint8).reshape(high, wide, 3)


@pytest.mark.parametrize("rotation", [0, 1, 2, 3])
def test_picture_png_and_tree_have_the_size_of_the_display(rotation: int) -> None:
    display = Asked("Food").display
    display.rotation = rotation
    assert display.size == ((2400, 1080) if rotation % 2 else (1080, 2400))
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(display.png()))), picture(display))
    tree = display.tree()
    assert tree.rotation == rotation
    wide, high = display.size
    assert all(0 <= n.bounds.left <= n.bounds.right <= wide and n.bounds.bottom <= high for n in tree.nodes())


def test_landscape_shows_the_portrait_picture_in_the_middle() -> None:
    display = Asked("Settings").display
    upright = Image.fromarray(picture(display))
    display.rotation = 1
    wide = picture(display)
    assert not wide[:, :957].any()
    assert not wide[:, 957 + 486 :].any()
    small = np.asarray(upright.resize((486, 1080), Image.Resampling.BILINEAR), int)
    assert np.abs(wide[:, 957 : 957 + 486].astype(int) - small).max() <= 1


def test_in_landscape_a_tap_on_each_node_lands_on_it() -> None:
    """The middle of every box of the turned tree is a pixel inside the same box of the phone's own."""
    display = Asked("Settings").display
    upright = list(display.tree().nodes())
    display.rotation = 3
    turned = list(display.tree().nodes())
    assert len(turned) == len(upright) > 20
    for there, here in zip(turned, upright, strict=True):
        if here.bounds.width > 4 and here.bounds.height > 4:
            at = display.to_phone(*there.bounds.center)
            assert at is not None
            assert here.bounds.contains(*at)


@given(x=st.integers(0, 2399), y=st.integers(0, 1079))
def test_every_place_in_landscape_is_one_of_the_phone_or_none(x: int, y: int) -> None:
    at = TURNED.to_phone(x, y)
    assert (at is not None) == (957 <= x < 957 + 486)
    if at is not None:
        assert 0 <= at[0] < 1080
        assert 0 <= at[1] < 2400


TURNED = Display(Phone())
TURNED.rotation = 1


def test_a_tap_beside_the_picture_does_nothing() -> None:
    display = Asked("Food").display
    display.rotation = 1
    before = display.phone.snapshot()
    display.perform(Action("click", at=(100, 500)))
    display.perform(Action("swipe", at=(2300, 900), to=(2300, 100)))
    assert display.phone.snapshot() == before


def test_in_landscape_things_are_opened_and_lists_move_as_far_as_the_finger() -> None:
    display = Asked().display
    display.rotation = 1
    icon = next(node for node in display.tree().nodes() if node.label == "Noshwell")
    display.perform(Action("click", at=icon.bounds.center))
    assert display.activity == "com.hitlab.food/.Home"
    display.perform(Action("swipe", at=(1200, 800), to=(1200, 400)))
    assert abs(display.phone.snapshot()["scroll"][FEED] - 400 * 2400 / 1080) <= 3


def test_the_tree_is_that_of_the_window_with_the_input() -> None:
    asked = Asked("Messages")
    asked.tap("Search messages")
    assert asked.display.typing
    packages = {node.package for node in asked.display.tree().nodes()}
    assert packages == {"com.hitlab.messages"}
    every = {tree.roots[0].package for _, tree in asked.display.windows()}
    assert every == {"com.hitlab.messages", "com.hitlab.keyboard", "com.android.systemui"}
    asked.display.pull(down=True)
    assert {node.package for node in asked.display.tree().nodes()} == {"com.android.systemui"}
    assert "Clear all" in labels(asked.display.tree()) or "No notifications" in labels(asked.display.tree())
    asked.display.pull(down=False)
    assert {node.package for node in asked.display.tree().nodes()} == {"com.hitlab.messages"}


def test_a_dark_screen_is_black_and_deaf() -> None:
    display = Asked("Food").display
    display.awake = False
    before = display.phone.snapshot()
    assert not picture(display).any()
    assert not np.asarray(Image.open(io.BytesIO(display.png()))).any()
    assert not display.tree().roots
    assert not display.windows()
    display.perform(Action("click", at=(540, 1200)))
    display.finger.finger_down(540, 1200)
    display.finger.finger_up(540, 1200)
    display.type("x")
    display.erase()
    assert display.phone.snapshot() == before
    display.awake = True
    assert picture(display).any()


def test_what_is_shown_in_an_apps_place_is_made_once_until_it_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """A live view asks for it all the time."""
    monkeypatch.setattr("simulators.phone.served.display._PREVIEW", 3600.0)
    display = Asked("Settings").display
    app = display.rgb()
    shown = [app]
    display.show_clipboard("to be read")
    changes = [("secured", True), ("lock", "pin"), ("lock", "swipe"), ("rotation", 1), ("folded", True)]
    for name, value in [("", None), *changes, ("override", (540, 1200))]:
        if name:
            setattr(display, name, value)
        assert display.rgb() is display.rgb()
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(display.png()))), picture(display))
        shown.append(display.rgb())
    assert len(set(shown)) == len(shown)
    for name, value in (("override", None), ("folded", False), ("rotation", 0), ("lock", ""), ("secured", False)):
        setattr(display, name, value)
    assert display.rgb() == shown[1], "the preview stands there still"


def test_waiting_ends_with_a_change_of_whatever_is_seen() -> None:
    display = Asked().display
    changes: list[Callable[[], object]] = [
        lambda: display.perform(Action("open_app", app="Food")),
        lambda: setattr(display, "rotation", 1),
        lambda: setattr(display, "awake", False),
    ]
    for change in changes:
        version, seen = display.version, queue.SimpleQueue[int]()
        assert display.wait(version, 0.01) == version
        waiting = threading.Thread(target=_wait, args=(display, version, seen))
        waiting.start()
        change()
        assert seen.get(timeout=300) != version
        waiting.join(180)


def _wait(display: Display, version: int, seen: queue.SimpleQueue[int]) -> None:
    seen.put(display.wait(version, 20))


# -- the finger ----------------------------------------------------------------------------------------------------


def first_food(asked: Asked) -> Node:
    return next(n for n in asked.display.tree().nodes() if n.clickable and n.bounds.contains(540, 1400))


def test_a_finger_that_comes_and_goes_is_a_tap() -> None:
    one, other = Asked("Food"), Asked("Food")
    at = first_food(one).bounds.center
    one.display.finger.finger_down(*at)
    one.display.finger.move(at[0] + 5, at[1] - 5)
    one.display.finger.finger_up(at[0] + 5, at[1] - 5)
    other.display.perform(Action("click", at=at))
    assert one.phone.snapshot() == other.phone.snapshot()


@pytest.mark.parametrize("rotation", [0, 1])
def test_a_list_follows_the_finger_and_ends_where_a_swipe_ends(rotation: int) -> None:
    one, other = Asked("Food"), Asked("Food")
    one.display.rotation = other.display.rotation = rotation
    x, y, step = (1200, 900, -30) if rotation else (540, 1800, -60)
    finger, seen = one.display.finger, []
    clock = one.phone.snapshot()["clock"]
    finger.finger_down(x, y)
    for i in range(1, 11):
        finger.move(x, y + i * step)
        seen.append(one.phone.snapshot()["scroll"].get(FEED, 0))
    assert seen == sorted(seen)
    assert len(set(seen)) >= 9
    assert one.phone.snapshot()["clock"] == clock
    finger.finger_up(x, y + 10 * step)
    other.display.perform(Action("swipe", at=(x, y), to=(x, y + 10 * step)))
    assert one.phone.snapshot() == other.phone.snapshot()
    assert one.phone.snapshot()["scroll"][FEED] == seen[-1]


def test_a_touch_taken_back_leaves_no_trace() -> None:
    asked = Asked("Food")
    before = asked.phone.snapshot()
    asked.display.finger.finger_down(540, 1800)
    asked.display.finger.move(540, 1200)
    assert asked.phone.snapshot() != before
    asked.display.finger.cancel()
    assert asked.phone.snapshot() == before


def test_a_finger_that_stays_is_a_long_press_while_it_is_down() -> None:
    one, other = Asked("Messages"), Asked("Messages")
    at = next(n for n in one.display.tree().nodes() if n.long_clickable).bounds.center
    version = one.phone.version
    began = time.monotonic()
    one.display.finger.finger_down(*at)
    assert one.phone.wait(version, 20) != version
    assert time.monotonic() - began >= LONG
    other.display.perform(Action("long_press", at=at))
    assert one.phone.snapshot() == other.phone.snapshot()
    one.display.finger.move(at[0], at[1] + 400)
    one.display.finger.finger_up(at[0], at[1] + 400)
    assert one.phone.snapshot() == other.phone.snapshot()


def test_a_finger_from_the_upper_edge_pulls_the_shade_down() -> None:
    asked = Asked("Food")
    asked.display.finger.finger_down(540, 20)
    asked.display.finger.move(540, 700)
    asked.display.finger.finger_up(540, 1200)
    assert asked.phone.snapshot()["shade"]
    asked.display.finger.finger_down(540, 2000)
    asked.display.finger.finger_up(540, 600)
    assert not asked.phone.snapshot()["shade"]
