"""What the other commands of the served phone's shell do and say: apps, settings, files, words."""

from __future__ import annotations

import hashlib
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.core.run.step import Action
from simulators.phone.installed import APPS
from simulators.phone.served.commands.installed import component
from simulators.phone.served.commands.table import COMMANDS
from simulators.phone.served.shell import run
from tests.fuzzing_examples import examples
from tests.simulators.phone.served.asking import Asked, Typed

HOME = "com.hitlab.launcher/.Home"


def front(asked: Asked) -> str:
    return asked.display.activity


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


@settings(max_examples=examples(150), deadline=None)
@given(
    name=st.sampled_from(sorted(set(COMMANDS) - {"sleep", "getevent"})),
    args=st.lists(st.sampled_from(WORDS), max_size=5),
)
def test_no_command_falls_over_any_words(name: str, args: list[str]) -> None:
    SHARED.services.files["/sdcard/a"] = b"a b\nc\xff\n"
    assert 0 <= SHARED.say(shlex.join([name, *args]), stdin=b"typed\n").code <= 255
    assert SHARED.phone.current_screen().tree.roots


SHARED = Asked("Notes")
