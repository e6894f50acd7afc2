"""Touches, keys, text and keyboards from the served phone's shell."""

from __future__ import annotations

import base64
import shlex

import pytest

from lab.core.run.step import Action
from simulators.phone.served.commands.installed import ADB_KEYBOARD, KEYBOARD
from tests.simulators.phone.served.asking import FEED, Asked


def test_touches_do_what_the_same_actions_do() -> None:
    for line, action in (
        ("input tap 540 1300", Action("click", at=(540, 1300))),
        ("input touchscreen -d 0 tap 540.6 1300.2", Action("click", at=(540, 1300))),
        ("input swipe 540 1800 540 900 300", Action("swipe", at=(540, 1800), to=(540, 900))),
        ("input swipe 540 1300 542 1301 800", Action("long_press", at=(540, 1300))),
        ("input swipe 540 1300 540 1300", Action("click", at=(540, 1300))),
        ("input draganddrop 540 1800 540 900", Action("swipe", at=(540, 1800), to=(540, 900))),
        ("input keyevent HOME", Action("navigate_home")),
        ("input keyevent KEYCODE_BACK", Action("navigate_back")),
        ("input keyevent 187", Action("press_recent")),
        ("input tap 0 0", Action("click", at=(0, 0))),
    ):
        one, other = Asked("Food"), Asked("Food")
        assert one.text(line) == ""
        other.phone.perform(action)
        assert one.phone.snapshot() == other.phone.snapshot(), line


def test_a_finger_moves_event_by_event() -> None:
    asked = Asked("Food")
    asked.text("input motionevent DOWN 540 1800; input motionevent MOVE 540 1500")
    assert asked.phone.snapshot()["scroll"][FEED] == 300
    asked.text("input motionevent MOVE 540 1400; input motionevent UP 540 1390")
    assert asked.phone.snapshot()["scroll"][FEED] == 410
    asked.text("input motionevent DOWN 540 1800; input motionevent MOVE 540 1500; input motionevent CANCEL")
    assert asked.phone.snapshot()["scroll"][FEED] == 410


def test_text_is_typed_as_a_keyboard_would() -> None:
    asked = Asked()
    asked.open_note()
    asked.text("input text 'Oat%smilk, 2 x \"cold\" $5 & more; #1'")
    assert asked.field().text == 'Oat milk, 2 x "cold" $5 & more; #1'
    asked.text("input keyevent 67 67; input keyevent ENTER; input keyevent A KEYCODE_B 62 9; input text $'\\nz'")
    assert asked.field().text == 'Oat milk, 2 x "cold" $5 & more; \nab 2\nz'


def test_percent_s_is_a_space_however_it_is_written_and_two_commands_write_it() -> None:
    asked = Asked()
    asked.open_note()
    asked.text("input text '50%% %%s'; input keyevent ENTER; input text %; input text s")
    assert asked.field().text == "50%% % \n%s"


def test_only_the_first_word_is_typed_and_none_where_a_key_lacks() -> None:
    asked = Asked()
    asked.open_note()
    asked.text("input text one two")
    said = asked.say("input text 'na\u00efve'")
    assert said.code == 255
    assert "java.lang.NullPointerException: Attempt to get length of null array" in said.err
    assert said.err.startswith("\nException occurred while executing 'text':\n")
    assert asked.field().text == "one"


def test_keys_without_a_field_do_nothing() -> None:
    asked = Asked("Food")
    before = asked.phone.snapshot()
    asked.text("input text lost; input keyevent 30; input keyevent UNHEARD_OF; input keyevent 25 82 111 122")
    assert asked.phone.snapshot() == before


def test_enter_is_a_line_in_a_field_of_lines_and_else_what_the_field_submits() -> None:
    asked = Asked("Messages")
    asked.tap("Noor Haddad")
    asked.tap("Text message")
    asked.text("input text a; input keyevent 66; input text b")
    assert asked.field().text == "a\nb"
    browser = Asked("Browser")
    browser.tap("Search or type web address")
    browser.text("input text weather; input keyevent ENTER")
    assert not browser.display.typing


def test_all_is_chosen_copied_replaced_and_pasted() -> None:
    asked = Asked()
    asked.open_note()
    asked.text("input text draft; input keycombination 113 29; input keyevent COPY")
    assert asked.services.clipboard == "draft"
    asked.text("input text new; input keyevent 279; input keycombination -t 100 CTRL_LEFT V")
    assert asked.field().text == "newdraftdraft"
    asked.services.clipboard = "你好 🙂"
    asked.text("input keycombination 113 29; input keyevent 67; input keyevent PASTE; input keycombination 59 30")
    assert asked.field().text == "你好 🙂B"


def test_the_power_key_and_what_else_wakes() -> None:
    asked = Asked("Food")
    for keys, lit in (("26", False), ("26", True), ("SLEEP", False), ("3", False), ("WAKEUP", True), ("224", True)):
        asked.text(f"input keyevent {keys}")
        assert asked.display.awake is lit
        assert f"mHoldingDisplaySuspendBlocker={str(lit).lower()}" in asked.text("dumpsys power")
    assert asked.display.activity == "com.hitlab.food/.Home"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("input tap 1", 'java.lang.IllegalArgumentException: Argument expected after "1"'),
        ("input tap x 5", "java.lang.IllegalArgumentException: Error: Invalid arguments for command: tap"),
        ("input text", 'java.lang.IllegalArgumentException: Argument expected after "text"'),
        ("input motionevent HOVER 1 1", "java.lang.IllegalArgumentException: Unknown action: HOVER"),
        ("input keycombination 3", "keycombination requires at least 2 keycodes"),
    ],
)
def test_what_is_no_input_throws(line: str, said: str) -> None:
    answer = Asked().say(line)
    assert answer.code == 255
    assert said in answer.err


def test_where_input_is_denied_it_throws_and_the_tree_is_refused() -> None:
    asked = Asked("Food")
    asked.services.faults.turn("deny", True)
    before = asked.phone.snapshot()
    for line in ("input tap 540 1300", "input text a", "cmd input keyevent 3"):
        said = asked.say(line)
        assert said.code == 255
        assert "java.lang.SecurityException: Injecting input events requires the caller" in said.err
    said = asked.say("uiautomator dump /dev/tty")
    assert not said.out
    assert "SecurityException" in said.err
    assert asked.phone.snapshot() == before


def test_no_adb_keyboard_is_installed_and_nobody_hears_the_broadcast() -> None:
    asked = Asked()
    asked.open_note()
    assert asked.text("ime list -s") == KEYBOARD
    assert asked.text("settings get secure default_input_method") == KEYBOARD
    assert asked.say(f"ime set {ADB_KEYBOARD}").code == 255
    asked.text("am broadcast -a ADB_INPUT_TEXT --es msg hello")
    assert asked.field().text == ""


def test_an_adb_keyboard_that_is_installed_and_selected_types_what_is_broadcast() -> None:
    asked = Asked()
    asked.open_note()
    asked.services.settings["secure", "enabled_input_methods"] = f"{KEYBOARD}:{ADB_KEYBOARD}"
    text = 'it\'s "50%" off; rm -rf $HOME & 你好 🙂\n'
    line = f"am broadcast -a ADB_INPUT_B64 --es msg {base64.b64encode(text.encode()).decode()}"
    asked.text(line)
    assert asked.field().text == "", "installed is not selected"
    assert asked.text(f"ime set {ADB_KEYBOARD}") == f"Input method {ADB_KEYBOARD} selected for user #0"
    assert asked.text(line).endswith("Broadcast completed: result=0")
    assert asked.field().text == text
    asked.text(f"am broadcast -a ADB_CLEAR_TEXT; am broadcast -a ADB_INPUT_TEXT --es msg {shlex.quote('你 好')}")
    assert asked.field().text == "你 好"
    assert "com.android.adbkeyboard" in asked.text("pm list packages -3")


def test_whether_the_keyboard_is_shown() -> None:
    asked = Asked("Messages")
    assert "mInputShown=false" in asked.text("dumpsys input_method")
    asked.tap("Search messages")
    assert "mInputShown=true" in asked.text("dumpsys input_method")
    assert "imeControlTarget=Window{" in asked.text("dumpsys window displays")


def test_what_kind_of_field_is_typed_into() -> None:
    asked = Asked("Messages")
    asks = "dumpsys input_method | grep -o 'inputType=0x[0-9a-f]* imeOptions=0x[0-9a-f]*'"
    assert asked.text(asks) == "inputType=0x0 imeOptions=0x0"
    asked.tap("Search messages")
    assert asked.text(asks) == "inputType=0x1 imeOptions=0x3"
    asked.open_note()
    assert asked.text(asks) == "inputType=0x20001 imeOptions=0x40000001"
