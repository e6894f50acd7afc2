"""The phone as a device: deterministic, restorable, one source of picture and tree, and never crashing."""

from __future__ import annotations

import contextlib
import io
import re
import threading
import tracemalloc
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PIL import Image

from lab.core.errors import LabError
from lab.core.run.step import Action, ActionKind
from lab.core.run.ui_tree import Bounds, UiTree
from lab.core.seams import Device, Frame
from simulators.phone.installed import APPS
from simulators.phone.kit import fonts
from simulators.phone.kit.boxes import Box, InkLine
from simulators.phone.phone import Phone
from simulators.phone.shots import SCREENS, phone_at
from simulators.phone.stage import activity
from simulators.phone.tree import walk
from tests.crossed import IN_SOAK, crossed, soak, spread
from tests.fuzzing_examples import examples

SCREEN = Bounds(0, 0, 1080, 2400)
DEVICE: type[Device] = Phone


def test_two_phones_of_one_seed_are_the_same_to_the_byte() -> None:
    one, other = Phone(seed=3), Phone(seed=3)
    for phone in (one, other):
        phone.perform(Action("open_app", app="Noshwell"))
        phone.perform(Action("scroll", direction="down"))
    assert one.snapshot() == other.snapshot()
    assert one.observe().png == other.observe().png


def test_the_seed_shuffles_restaurants_and_dishes_but_loses_none() -> None:
    def names(seed: int) -> tuple[list[str], list[str]]:
        places = Phone(seed=seed).snapshot()["apps"]["food"]["restaurants"]
        dishes = [d["name"] for p in places for s in p["sections"] for d in s["dishes"]]
        return [p["name"] for p in places], dishes

    assert names(0) != names(1)
    assert sorted(names(0)[0]) == sorted(names(1)[0])
    assert sorted(names(0)[1]) == sorted(names(1)[1])


def test_the_png_is_what_pillow_reads_back() -> None:
    phone = Phone()
    screen = phone.observe()
    with Image.open(io.BytesIO(screen.png)) as picture:
        assert picture.size == screen.size == (1080, 2400)
        frame = next(phone.frames(threading.Event()))
        assert picture.convert("RGB").tobytes() == frame.rgb
    assert frame.tree == screen.tree


@crossed
@pytest.mark.parametrize(("name", "app", "screen", "args"), SCREENS, ids=[s[0] for s in SCREENS])
def test_every_screen_restores_to_the_same_picture_stays_in_bounds_and_draws_the_texts_of_its_nodes(
    name: str, app: str, screen: str, args: dict[str, Any]
) -> None:
    phone = phone_at(app, screen, args)
    _well_formed(phone.current_screen().tree)
    _text_of_nodes(phone)
    state = phone.snapshot()
    again = Phone(state=state)
    assert again.snapshot() == state
    if new := _kinds(phone) - DRAWN:
        assert again.current_screen().rgb == phone.current_screen().rgb
        DRAWN.update(new if not IN_SOAK else ())
    assert activity(state, APPS).startswith(f"com.hitlab.{app}/.")
    assert again.current_screen().tree == phone.current_screen().tree


def _text_of_nodes(phone: Phone) -> None:
    """What is drawn as text is the text of its node."""
    for box in _boxes(phone):
        drawn = "".join(paint.text for paint in box.paints if isinstance(paint, InkLine))
        if not drawn:
            continue
        assert box.node is not None
        text = str(box.node["text"] or box.node.get("desc"))
        squeezed = drawn.replace(" ", "").rstrip("…")
        assert text.replace(" ", "").replace("\n", "").startswith(squeezed)


DRAWN: set[tuple[str, ...]] = set()
"""What stood in the pictures that were compared: one in which all has stood is not drawn (in a soak every one is)."""


def _kinds(phone: Phone) -> set[tuple[str, ...]]:
    """What is painted on a screen: kinds of paint, of drawings and signs."""
    paints = [paint for shown in phone.current_screen().windows for box, _ in walk(shown.root) for paint in box.paints]
    return {(type(paint).__name__, getattr(paint, "kind", ""), getattr(paint, "name", "")) for paint in paints}


NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML cannot hold, so that a tree shows it as plain characters."""


def _well_formed(tree: UiTree) -> None:
    for node in tree.nodes():
        assert node.bounds.area > 0
        assert node.bounds.intersection(SCREEN) == node.bounds
    back = UiTree.from_xml(tree.to_xml())
    assert back.to_xml() == tree.to_xml()
    if not any(NO_XML.search(node.text + node.desc) for node in tree.nodes()):
        assert back == tree


_POINTS = st.tuples(st.integers(-5, 1085), st.integers(-5, 2405))
_KINDS: list[ActionKind] = [
    "click", "click", "click", "double_tap", "long_press", "drag", "input_text", "scroll", "navigate_home",
    "navigate_back", "keyboard_enter", "wait", "answer", "status", "ask_user", "swipe", "press_recent", "open_app",
    "other",
]  # fmt: skip
_ACTIONS = st.builds(
    Action,
    kind=st.sampled_from(_KINDS),
    at=st.none() | _POINTS,
    to=st.none() | _POINTS,
    text=st.none() | st.text(max_size=8) | st.sampled_from(["12", "红烧", "x\ny", "\x1b[31m"]),
    direction=st.sampled_from(["up", "down", "left", "right"]),
    app=st.sampled_from([app.label for app in APPS.values()]),
    ms=st.none() | st.integers(0, 100_000_000),
)


CLICK = Action("click")


def _tap_some(phone: Phone, choice: int) -> None:
    """Random points mostly miss; this taps something that can be tapped."""
    targets = [n for n in phone.current_screen().tree.nodes() if n.clickable]
    phone.perform(Action("click", at=targets[choice % len(targets)].bounds.center))


@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@example(app="social", moves=[CLICK, 14, CLICK, CLICK, Action("input_text", text="\x1b")])
@given(app=st.sampled_from(sorted(APPS)), moves=st.lists(_ACTIONS | st.integers(0, 60), max_size=12))
def test_whatever_is_done_it_stays_well_formed_and_restores(app: str, moves: list[Action | int]) -> None:
    phone = Phone()
    phone.perform(Action("open_app", app=app))
    for move in moves:
        with contextlib.suppress(LabError):
            if isinstance(move, int):
                _tap_some(phone, move)
            else:
                phone.perform(move)
        _well_formed(phone.current_screen().tree)
    state = phone.snapshot()
    again = Phone(state=state)
    assert again.snapshot() == state
    assert again.observe().png == phone.observe().png


def _boxes(phone: Phone) -> list[Box]:
    return [box for shown in phone.current_screen().windows if shown.listed for box, _ in walk(shown.root)]


def test_texts_have_room_for_the_cells_of_a_text_mirror() -> None:
    for label, line in (("Messages", 96), ("Settings", 96)):
        phone = Phone()
        phone.perform(Action("open_app", app=label))
        texts = [n for n in phone.current_screen().tree.nodes() if n.text and n.cls.endswith("TextView")]
        for node in texts:
            fits = node.bounds.width // 24 * max(1, round(node.bounds.height / line))
            assert fits >= min(fonts.cells(node.text), 12), node


def test_frames_come_at_once_then_with_another_number_when_something_changed() -> None:
    phone, stop = Phone(), threading.Event()
    stream = phone.frames(stop)
    first = next(stream)
    assert (first.number, first.size) == (0, (1080, 2400))
    got: list[Frame] = []
    seen = threading.Event()

    def read() -> None:
        for frame in stream:
            got.append(frame)
            if frame.number != first.number:
                seen.set()

    reader = threading.Thread(target=read)
    reader.start()
    phone.perform(Action("open_app", app="Settings"))
    assert seen.wait(180)
    assert got[-1].number >= 1
    assert got[-1].rgb != first.rgb
    phone.close()
    reader.join(180)
    assert not reader.is_alive()
    phone.close()


def test_a_picture_that_does_not_change_is_given_again_as_one_of_now() -> None:
    phone = Phone()
    stream = phone.frames(threading.Event())
    first, again = next(stream), next(stream)
    assert again.at > first.at
    assert (again.number, again.tree) == (first.number, first.tree)
    assert again.rgb is first.rgb
    phone.close()
    assert list(stream) == []


def test_a_stream_ends_when_it_is_stopped() -> None:
    stop = threading.Event()
    stream = Phone().frames(stop)
    next(stream)
    stop.set()
    assert list(stream) == []


def test_lay_merges_mappings_and_replaces_lists() -> None:
    phone = Phone()
    before = phone.snapshot()
    notes = [{"title": "Only", "body": "one"}]
    phone.lay({"battery": 12, "apps": {"settings": {"wifi": False}, "notes": {"notes": notes}}})
    after = phone.snapshot()
    assert after["battery"] == 12
    assert after["apps"]["settings"] == before["apps"]["settings"] | {"wifi": False}
    assert [n["title"] for n in after["apps"]["notes"]["notes"]] == ["Only"]
    assert after["apps"]["notes"]["notes"][0]["items"] == []
    assert after["apps"]["clock"] == before["apps"]["clock"]


@pytest.mark.parametrize(
    ("overlay", "named"),
    [
        ({"batery": 12}, "batery"),
        ({"apps": {"fod": {}}}, "apps.fod"),
        ({"apps": {"settings": {"dark_them": True}}}, "apps.settings.dark_them"),
        ({"nav": {"ap": "food"}}, "nav.ap"),
        ({"apps": {"notes": {"notes": [{"titel": "x"}]}}}, "titel"),
        ({"apps": {"notes": {"notes": "x"}}}, "apps.notes.notes"),
        ({"apps": {"notes": {"notes": ["x"]}}}, "apps.notes.notes[0]"),
        ({"clock": "yesterday"}, "yesterday"),
        ({"clock": "2026-03-10T08:50:00"}, "offset"),
        ({"nav": {"app": "mars"}}, "mars"),
        ({"notifications": [{"title": "x", "app": "mars"}]}, "mars"),
        ({"battery": "lots"}, "battery"),
        ({"battery": None}, "battery"),
        ({"battery": 101}, "battery"),
        ({"apps": {"clock": {"alarms": [{"time": 5}]}}}, "apps.clock.alarms[0].time"),
        ({"apps": {"notes": {"notes": [{"title": ["x"]}]}}}, "apps.notes.notes[0].title"),
        ({"apps": {"food": {"cart": {"items": [{"dish": "x"}]}}}}, "quantity"),
    ],
)
def test_lay_refuses_what_the_phone_does_not_have_and_changes_nothing(overlay: dict[str, Any], named: str) -> None:
    phone = Phone()
    before = phone.snapshot()
    with pytest.raises(LabError) as caught:
        phone.lay(overlay)
    assert named in caught.value.sentence
    assert phone.snapshot() == before


@pytest.mark.parametrize("clock", ["", "08:50", "2026-03-10T08:50:00", "2026-02-30T08:50:00Z"])
def test_a_clock_that_is_no_time_gets_a_sentence(clock: str) -> None:
    with pytest.raises(LabError, match="phone clock"):
        Phone(clock=clock)


def test_restore_refuses_a_state_in_which_any_app_cannot_be_shown() -> None:
    phone = Phone()
    before = phone.snapshot()
    for app in sorted({*APPS} - {"launcher", "settings"}):  # these two are in front of all
        for _ in range(2):
            with pytest.raises(LabError, match="cannot be shown"):
                phone.restore({**before, "apps": {**before["apps"], app: {}}})
    assert phone.snapshot() == before


def test_restore_refuses_a_notification_that_the_shade_cannot_show() -> None:
    phone = Phone()
    before = phone.snapshot()
    note = {"id": 1, "app": "mars", "title": "x", "text": "", "time": before["clock"], "heads_up": False}
    with pytest.raises(LabError, match="cannot be shown"):
        phone.restore({**before, "notifications": [note]})
    assert phone.snapshot() == before


@pytest.mark.parametrize("state", [{}, {"apps": {}}, [], {"clock": 1}])
def test_restore_refuses_what_is_no_snapshot(state: Any) -> None:
    phone = Phone()
    before = phone.snapshot()
    with pytest.raises(LabError):
        phone.restore(state)
    assert phone.snapshot() == before


def test_a_snapshot_is_ones_own() -> None:
    phone = Phone()
    state = phone.snapshot()
    state["apps"]["notes"]["notes"].clear()
    assert phone.snapshot()["apps"]["notes"]["notes"]


def test_chinese_stands_in_the_tree_even_where_no_font_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    caches = (fonts.font_of, fonts.width, fonts.mask, fonts.wrap)
    monkeypatch.setattr(fonts, "found_fonts", lambda: ())
    for cache in caches:
        cache.cache_clear()
    try:
        phone = phone_at("messages", "thread", {"name": "陈伟"})
        assert phone.current_screen().tree.find(text="麻烦你带上上次的数据。")
        assert fonts.font_of("麻") is None
    finally:
        for cache in caches:
            cache.cache_clear()


@soak
@crossed
def test_the_dark_theme_repaints_every_screen() -> None:
    for _, app, screen, args in spread(SCREENS, 7):
        light, dark = phone_at(app, screen, args), phone_at(app, screen, args, dark=True)
        looks = (
            phone.current_screen().picture.resize((27, 60), Image.Resampling.NEAREST).tobytes()
            for phone in (light, dark)
        )
        same = sum(x == y for x, y in zip(*looks, strict=True))
        assert same < 27 * 60 * 3 * 0.35


def test_a_state_that_looks_the_same_keeps_its_picture_once() -> None:
    phone, stop = Phone(), threading.Event()
    stream = phone.frames(stop)
    first = next(stream)
    tracemalloc.start()
    try:
        phone.restore(phone.snapshot())
        second = next(stream)
        now, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        stop.set()
    assert second.number == first.number
    assert most > len(first.rgb) / 2 > now  # it was drawn anew, and is gone
