"""A phone through the real adb server: attached, observed, worked by every action, typed into."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from lab.core.errors import LabError
from lab.core.run.step import Action, ActionKind
from lab.core.seams import Device, SupportsConnectionState
from simulators.phone.served.commands.installed import ADB_KEYBOARD, PINYIN_KEYBOARD
from simulators.phone.served.display import PREVIEW
from tests.lab.devices.adb_rig import HARD, Attach, new_note, node, tap
from tests.simulators.phone.served.rig import Rig


def test_it_says_who_it_is(rig: Rig, attach: Attach) -> None:
    phone = attach()
    info = phone.info
    assert (info.kind, info.id, info.model, info.size) == ("adb", rig.serial, "Lantern One", (1080, 2400))
    assert (info.product, info.release, info.sdk) == ("lantern", "15", "35")
    assert isinstance(phone, SupportsConnectionState)
    device: Device = phone
    assert device.snapshot() is None
    with pytest.raises(LabError, match="real phone"):
        device.restore({})


def test_with_its_harness_its_state_can_be_put_back(rig: Rig, attach: Attach) -> None:
    phone = attach(harness=rig.harness)
    state = phone.snapshot()
    assert state == rig.phone.snapshot()
    phone.perform(Action("open_app", app="com.hitlab.notes"))
    assert phone.snapshot() != state
    phone.restore(state)
    assert rig.phone.snapshot() == state


def test_an_observation_is_the_phones_own_screen(rig: Rig, attach: Attach) -> None:
    phone, shown = attach(), rig.phone.observe()
    seen = phone.observe()
    assert seen == shown
    assert not phone.keyboard_shown
    new_note(phone)
    assert phone.observe() == rig.phone.observe()
    assert phone.keyboard_shown


def test_aside_it_is_observed_and_touched_as_it_lies(rig: Rig, attach: Attach) -> None:
    phone = attach()
    tap(phone, "Notes")
    rig.served.display.rotation = 1
    seen = phone.observe()
    assert (seen.size, seen.tree.rotation) == ((2400, 1080), 1)
    tap(phone, "New note")
    assert rig.phone.observe().activity.endswith(".Edit")


def test_a_place_of_the_screen_before_it_was_turned_is_not_touched(rig: Rig, attach: Attach) -> None:
    phone = attach()
    at = node(phone, "Notes").bounds.center
    home = rig.phone.observe()
    rig.served.display.rotation = 1
    for action in (Action("click", at=(540, 540)), Action("swipe", at=(540, 600), direction="up")):
        with pytest.raises(LabError, match="turned since"):
            phone.perform(action)
    assert rig.phone.observe() == home
    rig.served.display.rotation = 0
    phone.perform(Action("click", at=at))
    assert rig.phone.observe() != home


def test_every_action_that_a_phone_knows_is_done(rig: Rig, attach: Attach) -> None:
    phone = attach()

    def activity() -> str:
        return rig.phone.observe().activity.partition("/")[0]

    tap(phone, "Settings")
    assert activity() == "com.hitlab.settings"
    top = phone.observe().tree
    phone.perform(Action("scroll", direction="down"))
    scrolled = phone.observe().tree
    assert scrolled != top
    phone.perform(Action("scroll", direction="up"))
    assert phone.observe().tree == top
    phone.perform(Action("swipe", at=(540, 1800), direction="up"))
    assert phone.observe().tree != top
    phone.perform(Action("drag", at=(540, 800), to=(540, 2000)))
    assert phone.observe().tree == top
    phone.perform(Action("press_recent"))
    assert activity() != "com.hitlab.settings"
    phone.perform(Action("navigate_back"))
    phone.perform(Action("navigate_home"))
    assert activity() == "com.hitlab.launcher"
    note = new_note(phone)
    phone.perform(Action("input_text", text="one", at=note.bounds.center))
    phone.perform(Action("keyboard_enter"))
    phone.perform(Action("input_text", text="two"))
    assert node(phone, "one", "EditText").text == "one\ntwo"
    before = rig.phone.snapshot()["clock"]
    phone.perform(Action("wait", ms=20))
    quiet: tuple[ActionKind, ...] = ("ask_user", "answer", "status", "other")
    for kind in quiet:
        phone.perform(Action(kind, text="x"))
    assert rig.phone.snapshot()["clock"] >= before


def test_a_double_tap_and_a_long_press_are_what_they_are(rig: Rig, attach: Attach) -> None:
    phone, own = attach(), rig.phone
    phone.perform(Action("open_app", app="com.hitlab.gallery"))
    first = next(n for n in phone.observe().tree.nodes() if n.long_clickable)
    before = rig.phone.snapshot()
    phone.perform(Action("long_press", at=first.bounds.center))
    pressed = rig.phone.snapshot()
    own.restore(before)
    own.perform(Action("long_press", at=first.bounds.center))
    assert rig.phone.snapshot()["nav"] == pressed["nav"]
    own.restore(before)
    phone.perform(Action("double_tap", at=first.bounds.center))
    doubled = rig.phone.snapshot()
    own.restore(before)
    own.perform(Action("double_tap", at=first.bounds.center))
    assert rig.phone.snapshot()["nav"] == doubled["nav"]


@pytest.mark.parametrize(
    "action",
    [
        Action("click", at=(1080, 5)),
        Action("click", at=(-1, 5)),
        Action("long_press", at=(5, 2400)),
        Action("drag", at=(5, 5), to=(5, 9000)),
        Action("scroll", at=(9000, 5), direction="down"),
    ],
)
def test_a_place_that_is_not_on_the_screen_is_refused(attach: Attach, action: Action) -> None:
    with pytest.raises(LabError, match="not on a screen of 1080 x 2400"):
        attach().perform(action)


def test_the_first_pixel_is_a_place(rig: Rig, attach: Attach) -> None:
    phone, before = attach(), rig.phone.snapshot()["clock"]
    phone.perform(Action("click", at=(0, 0)))
    assert rig.phone.snapshot()["clock"] > before, "a tap takes the phone's time"


ASCII = 'it\'s "50%" off; rm -rf $HOME & `id` \\n %s%%s -n *?~#!(x)|<y>'


@pytest.mark.parametrize("text", [ASCII, "-n %s", "x" * 300])
def test_ascii_arrives_unchanged_by_input(attach: Attach, text: str) -> None:
    phone = attach()
    new_note(phone)
    phone.perform(Action("input_text", text=text))
    field = next(n for n in phone.observe().tree.nodes() if n.focused and n.cls.endswith("EditText"))
    assert field.text == text
    assert phone.typed_by == "input text"


def test_any_text_arrives_unchanged_by_scrcpys_clipboard(attach: Attach, scrcpy_server: Path) -> None:
    phone = attach()
    new_note(phone)
    phone.perform(Action("input_text", text=HARD))
    field = next(n for n in phone.observe().tree.nodes() if n.focused and n.cls.endswith("EditText"))
    assert field.text == HARD
    assert phone.typed_by == "scrcpy clipboard"


def test_what_is_pasted_is_not_seen_in_the_clipboards_preview(
    rig: Rig, attach: Attach, scrcpy_server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulators.phone.served.display._PREVIEW", 3600.0)
    phone = attach()
    new_note(phone)
    phone.perform(Action("input_text", text="hünter2"))
    assert rig.served.display.preview == "hünter2", "Android shows what was put on the clipboard"
    screen = phone.observe()
    assert [node.cls for node in screen.tree.find(contains="hünter2")] == ["android.widget.EditText"]
    with Image.open(io.BytesIO(screen.png)) as picture:
        assert picture.convert("RGB").crop(PREVIEW).getextrema() == ((96, 96), (96, 96), (96, 96))


def pinyin(rig: Rig) -> None:
    rig.shell(f"ime enable {PINYIN_KEYBOARD}; ime set {PINYIN_KEYBOARD}")


def test_a_pinyin_keyboard_is_passed_by(rig: Rig, attach: Attach, scrcpy_server: Path) -> None:
    pinyin(rig)
    phone = attach()
    new_note(phone)
    phone.perform(Action("input_text", text="hello 12"))
    assert phone.typed_by == "scrcpy clipboard"
    assert phone.observe().tree.find(contains="hello 12")


def test_words_that_a_pinyin_keyboard_composed_are_not_called_typed(rig: Rig, attach: Attach) -> None:
    pinyin(rig)
    phone = attach()
    new_note(phone)
    phone.perform(Action("input_text", text="12 + 7"))
    assert phone.observe().tree.find(contains="12 + 7")
    with pytest.raises(LabError, match="does not hold what was typed") as refused:
        phone.perform(Action("input_text", text="hello"))
    assert "hitlab settings scrcpy" in refused.value.hint


def test_an_adb_keyboard_types_any_text_once_it_is_enabled_and_set(rig: Rig, attach: Attach) -> None:
    rig.shell(f"ime enable {ADB_KEYBOARD}; ime set {ADB_KEYBOARD}")
    phone = attach()
    new_note(phone)
    phone.perform(Action("input_text", text=HARD))
    assert phone.typed_by == "ADB keyboard"
    assert phone.observe().tree.find(contains=HARD)


def test_lines_without_a_clipboard_are_ended_by_enter(attach: Attach) -> None:
    phone = attach()
    new_note(phone)
    phone.perform(Action("input_text", text="one\ntwo\r\n"))
    field = next(n for n in phone.observe().tree.nodes() if n.focused and n.cls.endswith("EditText"))
    assert field.text == "one\ntwo\n"


def test_what_adb_cannot_type_is_refused_with_what_to_fetch(attach: Attach) -> None:
    phone = attach()
    new_note(phone)
    with pytest.raises(LabError, match="English keyboard") as refused:
        phone.perform(Action("input_text", text="你好"))
    assert "hitlab settings scrcpy" in refused.value.hint


def test_typing_where_no_field_has_the_cursor_is_refused(attach: Attach) -> None:
    phone = attach()
    for at in (None, (540, 1200)):
        with pytest.raises(LabError, match="no text field has the cursor"):
            phone.perform(Action("input_text", text="x", at=at))


@pytest.mark.parametrize("name", ["Notes", "notes", "com.hitlab.notes", "com.hitlab.notes/.Home"])
def test_apps_open_by_label_package_and_component(rig: Rig, attach: Attach, name: str) -> None:
    attach().perform(Action("open_app", app=name))
    assert rig.phone.observe().activity.startswith("com.hitlab.notes/")


@pytest.mark.parametrize("listed", [False, True])
def test_a_label_that_no_package_tells_is_found(
    rig: Rig, attach: Attach, scrcpy_server: Path, monkeypatch: pytest.MonkeyPatch, listed: bool
) -> None:
    if not listed:
        monkeypatch.setenv("SCRCPY_SERVER_PATH", str(scrcpy_server.parent / "none"))
    attach().perform(Action("open_app", app="Rookery"))
    assert rig.phone.observe().activity.startswith("com.hitlab.teamchat/")


@pytest.mark.parametrize(
    ("name", "said"),
    [("Nowhere", "no app 'Nowhere'"), ("", "names no app"), ("com.none.such", "no app"), ("a/b; reboot", "no app")],
)
def test_an_app_that_is_not_there_is_refused(attach: Attach, scrcpy_server: Path, name: str, said: str) -> None:
    with pytest.raises(LabError, match=said) as refused:
        attach().perform(Action("open_app", app=name))
    assert not name or "Rookery" in refused.value.hint


def test_a_label_of_several_apps_is_refused_with_their_names(attach: Attach, scrcpy_server: Path) -> None:
    with pytest.raises(LabError, match=r"may be .*\(com\.hitlab\.\w+\), .*\(com\.hitlab\.\w+\)"):
        attach().perform(Action("open_app", app="s"))
