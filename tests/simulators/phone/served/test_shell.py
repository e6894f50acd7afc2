"""What the commands of the served phone's shell do and say."""

from __future__ import annotations

import base64
import hashlib
import io
import shlex
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from lab.turn import Action
from lab.uitree import UiTree
from simulators.phone.installed import APPS
from simulators.phone.served.commands.installed import ADB_KEYBOARD, KEYBOARD, component
from simulators.phone.served.commands.table import COMMANDS
from simulators.phone.served.shell import run
from tests.simulators.phone.served.asking import FEED, Asked, Typed

HOME = "com.hitlab.launcher/.Home"


def front(asked: Asked) -> str:
    return asked.display.activity


# -- input ---------------------------------------------------------------------------------------------------------


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
    assert front(asked) == "com.hitlab.food/.Home"


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


# -- seeing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rotation", [0, 1])
def test_screencap_is_the_picture_as_png_and_raw(rotation: int) -> None:
    asked = Asked("Food")
    asked.display.rotation = rotation
    rgb = np.frombuffer(asked.display.rgb(), np.uint8).reshape(*asked.display.size[::-1], 3)
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(asked.say("screencap -p").out))), rgb)
    raw = asked.say("screencap").out
    assert struct.unpack_from("<IIII", raw) == (*asked.display.size, 1, 1)
    rgba = np.frombuffer(raw, np.uint8, offset=16).reshape(*rgb.shape[:2], 4)
    assert np.array_equal(rgba[..., :3], rgb)
    assert (rgba[..., 3] == 255).all()
    asked.text("screencap /sdcard/shot.png; screencap -d 0 -p > /data/local/tmp/other")
    assert asked.services.files["/sdcard/shot.png"] == asked.services.files["/data/local/tmp/other"]


def test_screencap_goes_wrong_on_demand() -> None:
    asked = Asked()
    whole = asked.say("screencap -p").out
    asked.services.faults.turn("screencap", "short")
    assert asked.say("screencap -p").out == whole[: len(whole) // 2]
    asked.services.faults.turn("screencap", "garbage")
    assert not asked.say("screencap -p").out.startswith(b"\x89PNG")
    asked.services.faults.turn("screencap", "fail")
    said = asked.say("screencap -p")
    assert not said.out
    assert said.code


def test_dumps_are_read_back_as_the_tree_that_is_shown() -> None:
    asked = Asked("Messages")
    asked.tap("Search messages")
    asked.display.rotation = 1
    tree = asked.display.tree()
    assert asked.text("uiautomator dump") == "UI hierchary dumped to: /sdcard/window_dump.xml"
    assert UiTree.from_xml(asked.services.files["/sdcard/window_dump.xml"]) == tree
    shown = asked.text("uiautomator dump /dev/tty")
    assert shown.endswith("</hierarchy>UI hierchary dumped to: /dev/tty")
    assert shown.startswith("<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"1\"><node ")
    assert UiTree.from_xml(shown.removesuffix("UI hierchary dumped to: /dev/tty")) == tree
    smaller = UiTree.from_xml(asked.text("uiautomator dump --compressed /dev/tty").rpartition(">")[0] + ">")
    assert 0 < len(list(smaller.nodes())) < len(list(tree.nodes()))
    assert [n.label for n in smaller.nodes() if n.label] == [n.label for n in tree.nodes() if n.label]


def test_a_dump_of_all_windows_has_the_keyboard_and_the_bars() -> None:
    asked = Asked("Messages")
    asked.tap("Search messages")
    xml = asked.text("uiautomator dump --windows /dev/tty")
    assert xml.count("<window ") == xml.count("<hierarchy rotation=") == len(asked.display.windows()) == 4
    assert 'type="TYPE_INPUT_METHOD"' in xml
    assert xml.count('active="true"') == 1
    assert "com.hitlab.keyboard:id/key_q" in xml


def test_a_dump_keeps_lines_marks_and_emoji() -> None:
    asked = Asked()
    asked.open_note()
    asked.display.type('a <b> & "c"\n你好 🙂')
    xml = asked.text("uiautomator dump /dev/tty").removesuffix("UI hierchary dumped to: /dev/tty")
    assert 'text="a &lt;b&gt; &amp; &quot;c&quot;&#10;你好 &#128578;"' in xml
    assert 'a <b> & "c"\n你好 🙂' in [node.text for node in UiTree.from_xml(xml).nodes()]


def test_no_dump_while_the_screen_never_rests_or_is_dark() -> None:
    asked = Asked()
    asked.services.faults.turn("restless", True)
    said = asked.say("uiautomator dump /sdcard/x.xml && echo success")
    assert said.err == "ERROR: could not get idle state.\n"
    assert "/sdcard/x.xml" not in asked.services.files
    asked.services.faults.clear()
    asked.display.awake = False
    said = asked.say("uiautomator dump /dev/tty")
    assert (said.out, said.err) == (b"", "ERROR: null root node returned by UiTestAutomationBridge.\n")


def test_rotation_by_settings_and_by_wm() -> None:
    asked = Asked()
    asked.text("settings put system user_rotation 1")
    assert asked.display.rotation == 0, "the phone turns by itself until it is told not to"
    asked.text("settings put system accelerometer_rotation 0")
    assert asked.display.rotation == 1
    assert "orientation=1," in asked.text("dumpsys display | grep mViewports")
    assert "deviceWidth=2400, deviceHeight=1080" in asked.text("dumpsys display")
    assert asked.text("wm size") == "Physical size: 1080x2400"
    asked.text("wm user-rotation lock 3")
    assert asked.display.rotation == 3
    assert asked.text("cmd window user-rotation; settings get system user_rotation") == "lock 3\n3"
    asked.text("wm user-rotation free")
    assert asked.display.rotation == 0


# -- apps ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("app", [app for app in APPS.values() if app.id != "launcher"], ids=lambda app: app.id)
def test_each_app_is_resolved_started_and_told(app: object) -> None:
    from simulators.phone.app import App

    assert isinstance(app, App)
    asked = Asked()
    name = component(app)
    assert asked.text(f"cmd package resolve-activity --brief {app.package} | tail -n 1") == name
    assert asked.text(f"am start -n {name}") == f"Starting: Intent {{ cmp={name} }}"
    assert front(asked) == name
    assert asked.text("dumpsys activity activities | grep -o 'topResumedActivity=.*'").split()[2] == name
    assert f" {name.replace('/.', '/' + app.package + '.')}}}" in asked.text("dumpsys window | grep mCurrentFocus")
    asked.text("input keyevent 3")
    assert front(asked) == HOME
    said = asked.say(f"monkey -p {app.package} -c android.intent.category.LAUNCHER 1")
    assert "Events injected: 1" in said.lines
    assert front(asked) == name


def test_what_is_not_installed_is_said_as_android_says_it() -> None:
    asked = Asked()
    assert asked.text("cmd package resolve-activity --brief com.nothing") == "No activity found"
    said = asked.say("am start -n com.nothing/.Main")
    assert "Error: Activity class {com.nothing/com.nothing.Main} does not exist." in said.err
    assert said.code == 1
    said = asked.say("monkey -p com.nothing -c android.intent.category.LAUNCHER 1")
    assert "** No activities found to run, monkey aborted." in said.err
    assert said.code == 252
    assert asked.say("pm path com.nothing").code == 1
    assert asked.text("dumpsys package com.nothing") == "Unable to find package: com.nothing"
    said = asked.say("am start -a android.intent.action.DIAL -d tel:1")
    assert "unable to resolve Intent { act=android.intent.action.DIAL dat=tel:1 }" in said.err


def test_packages_are_listed_and_found() -> None:
    asked = Asked()
    every = asked.text("pm list packages").splitlines()
    assert every == sorted(every)
    assert {f"package:{app.package}" for app in APPS.values()} < set(every)
    own, others = asked.text("cmd package list packages -s").split(), asked.text("pm list packages -3").split()
    assert sorted(own + others) == every
    assert asked.text("pm list packages food") == "package:com.hitlab.food"
    assert asked.text("pm list packages -f food").endswith("base.apk=com.hitlab.food")
    launchers = asked.text("cmd package query-activities --components -c android.intent.category.LAUNCHER").split()
    assert launchers == [component(app) for app in APPS.values() if app.id != "launcher"]
    assert asked.text("cmd package query-activities --brief -c android.intent.category.HOME").split()[-1] == HOME


def test_an_app_that_is_started_comes_as_it_was_and_one_that_was_stopped_begins_anew() -> None:
    asked = Asked("Notes")
    asked.tap("Weekend shopping")
    deep = front(asked)
    assert deep != "com.hitlab.notes/.Home"
    said = asked.say("am start -W -n com.hitlab.notes/.Home")
    assert "its current task has been brought to the front" in said.err
    assert f"Activity: {deep}" in said.lines
    asked.text("am force-stop com.hitlab.notes")
    assert front(asked) == HOME
    asked.text("am start -W -n com.hitlab.notes/com.hitlab.notes.Home")
    assert front(asked) == "com.hitlab.notes/.Home"
    asked.text("am start -a android.intent.action.MAIN -c android.intent.category.HOME")
    assert front(asked) == HOME
    asked.text("am start -a android.settings.SETTINGS")
    assert front(asked) == "com.hitlab.settings/.Home"


# -- keyboards -----------------------------------------------------------------------------------------------------


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


def test_brightness_is_the_phones_own() -> None:
    asked = Asked()
    asked.text("settings put system screen_brightness 128")
    assert asked.text("settings get system screen_brightness") == "128"
    assert asked.phone.snapshot()["apps"]["settings"]["brightness"] == 5


WORDS = [
    "-n", "-c", "-e", "-a", "-d", "-p", "-f", "--", "-", "--user", "--es", "-m", "0", "5", "-5",
    "99999999999999999999", "1e999", "nan", "/sdcard", "/sdcard/a", "/", "..", "*", "é", "🙂", "[", "]", "(", "a=b",
    "s/a/b/", "s/(/b/", "get", "put", "list", "system", "secure", "user_rotation", "start", "broadcast",
    "com.hitlab.food", "com.hitlab.food/.Home", "a/b/c", "packages", "path", "resolve-activity", "query-activities",
    "set", "text", "tap", "swipe", "keyevent", "motionevent", "DOWN", "keycombination", "window", "activity",
    "dump", "--windows", "/dev/tty", "size", "lock", "user-rotation", "query", "--uri", "content://settings/system",
    "%s", "%99999d", "\\x4", "+%Y%q", "enable", "wifi", "--delay", "-t", "top", "package", "²", "٣", "\udcff",
]  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(sorted(set(COMMANDS) - {"sleep", "getevent"})),
    args=st.lists(st.sampled_from(WORDS), max_size=5),
)
def test_no_command_falls_over_any_words(name: str, args: list[str]) -> None:
    SHARED.services.files["/sdcard/a"] = b"a b\nc\xff\n"
    assert 0 <= SHARED.say(shlex.join([name, *args]), stdin=b"typed\n").code <= 255
    assert SHARED.phone.look().tree.roots


SHARED = Asked("Notes")


# -- settings and files --------------------------------------------------------------------------------------------


def test_settings_are_kept_and_the_phones_own_follow() -> None:
    asked = Asked()
    assert asked.text("settings get secure nothing_of_the_kind") == "null"
    asked.text("settings put secure mine 'a b'")
    assert asked.text("settings --user 0 get secure mine") == "a b"
    assert "mine=a b" in asked.text("settings list secure").splitlines()
    assert asked.text("settings delete secure mine; settings get secure mine") == "Deleted 1 rows\nnull"
    asked.text("svc wifi disable; cmd connectivity airplane-mode enable")
    own = asked.phone.snapshot()["apps"]["settings"]
    assert (own["wifi"], own["airplane_mode"]) == (False, True)
    assert asked.text("settings get global airplane_mode_on") == "1"
    assert asked.text("content query --uri content://settings/system --where \"name='user_rotation'\"") == (
        "Row: 0 _id=1, name=user_rotation, value=0, package=android"
    )


def test_files_are_written_read_listed_and_removed() -> None:
    asked = Asked()
    asked.text("echo one > /sdcard/a.txt; echo two >> /storage/emulated/0/a.txt; mkdir -p /sdcard/x/y")
    assert asked.text("cat /sdcard/a.txt") == "one\ntwo"
    assert asked.text("ls /sdcard") == "Download\nPictures\na.txt\nx"
    digest = hashlib.md5(b"one\ntwo\n", usedforsecurity=False).hexdigest()
    assert asked.text("md5sum /sdcard/a.txt") == f"{digest}  /sdcard/a.txt"
    assert asked.text("stat -c %s /sdcard/a.txt; wc -c < /sdcard/a.txt") == "8\n8"
    assert asked.text("cp /sdcard/a.txt /sdcard/x && mv /sdcard/x/a.txt /data/local/tmp/b && cat /data/local/tmp/b")
    said = asked.say("rm /sdcard/x")
    assert (said.err, said.code) == ("rm: /sdcard/x: is a directory\n", 1)
    asked.text("rm -rf /sdcard/x /sdcard/a.txt /nothing")
    assert asked.text("ls /sdcard") == "Download\nPictures"
    assert asked.say("cat /sdcard/a.txt").err == "cat: /sdcard/a.txt: No such file or directory\n"
    assert asked.say("echo a > /system/x").err == "/system/bin/sh: can't create /system/x: Read-only file system\n"
    assert asked.say("cat", stdin=b"typed").out == b"typed"


def test_who_and_when() -> None:
    asked = Asked()
    asked.services.properties |= {"ro.product.model": "Lantern One"}
    assert asked.text("getprop ro.product.model; whoami; id -u") == "Lantern One\nshell\n2000"
    assert asked.text("getprop") == "[ro.product.model]: [Lantern One]"
    assert asked.text("date '+%Y-%m-%d %H:%M'") == "2026-03-10 08:50"
    assert asked.text("date") == "Tue Mar 10 08:50:00 GMT+08:00 2026"
    assert "level: 78" in asked.text("dumpsys battery")
    said = asked.say("su -c id")
    assert (said.err, said.code) == ("/system/bin/sh: su: inaccessible or not found\n", 127)
    assert asked.say("cmd clipboard get-primary-clip").lines == ["No shell command implementation."]
    assert asked.say("cmd nothing").code == 20


def test_sleeping_lets_the_phones_clock_go_on() -> None:
    one, other = Asked("Food"), Asked("Food")
    one.text("sleep 0.05")
    other.phone.perform(Action("wait", ms=50))
    assert one.phone.snapshot() == other.phone.snapshot()


def test_a_person_types_lines_and_takes_characters_back() -> None:
    asked = Asked()
    console = Typed(b"echo hoi\x7f\x7fi\rwm size\rfoo\x03exit 3\r", terminal=True)
    assert run(asked.services, "", console) == 3
    shown = bytes(console.written).decode()
    assert "\r\nhi\r\n" in shown
    assert "Physical size: 1080x2400\r\n" in shown
    assert shown.startswith("lantern:/ $ echo hoi\b \b")
    stopped = Typed(b"\x03")
    stopped.terminal = True
    assert run(asked.services, "sleep 1000; echo after", stopped) == 0
    assert bytes(stopped.written) == b"^C\r\nafter\r\n"
    assert not stopped.complained, "a terminal is one stream"
    piped = Typed(b"cd /sdcard\npwd\necho $?")
    assert run(asked.services, "", piped) == 0
    assert bytes(piped.written) == b"/sdcard\n0\n"
