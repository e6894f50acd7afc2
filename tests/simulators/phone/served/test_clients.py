"""What other labs' controllers ask of a phone over adb, and read out of the answers with their own patterns."""

from __future__ import annotations

import re
import struct
import subprocess
import threading
import time

import pytest

from lab.core.run.step import Action
from simulators.phone.served import scrcpy_messages
from tests.simulators.phone.served.asking import Asked
from tests.simulators.phone.served.rig import Rig, over_adbs, until


def test_the_front_activity_is_the_visible_task() -> None:
    asked = Asked("Notes")
    seen = re.findall(r"visible=true topActivity=ComponentInfo{(.+?)}", asked.text("am stack list"))
    package, _, name = seen[0].partition("/")
    assert (package, name) == ("com.hitlab.notes", "com.hitlab.notes.Home")
    assert len(seen) == 1
    assert "visible=false" in asked.text("am stack list | grep launcher")


@pytest.mark.parametrize("turned", [0, 1, 2, 3])
def test_how_it_is_turned_is_told_by_each_service(turned: int) -> None:
    asked = Asked()
    asked.display.rotation = turned
    assert f"mCurrentRotation=ROTATION_{90 * turned}" in asked.text("dumpsys window | grep mCurrentRotation")
    found = re.search(r"\s+SurfaceOrientation:\s([0-3])", asked.text("dumpsys input"))
    assert found is not None
    assert found[1] == str(turned)
    wide, high = asked.display.size
    line = asked.text("dumpsys input | grep logicalFrame")
    assert re.findall(r"logicalFrame=\[0, 0, (\d+), (\d+)\]", line) == [(str(wide), str(high))]
    assert re.findall(r"physicalFrame=\[(\d+), (\d+), (\d+), (\d+)\]", line) == [("0", "0", str(wide), str(high))]


def test_another_size_is_one_for_pictures_trees_and_touches(rig: Rig) -> None:
    rig.shell("wm size 720x1600")
    assert rig.shell("wm size") == "Physical size: 1080x2400\nOverride size: 720x1600\n"
    assert "cur=720x1600" in rig.shell("dumpsys window displays")
    assert struct.unpack("<2I", rig.adb("exec-out", "screencap").stdout[:8]) == (720, 1600)
    node = next(node for node in rig.served.display.tree().nodes() if node.label == "Notes")
    assert node.bounds.right <= 720
    rig.shell("input tap {} {}".format(*rig.served.display.tree().target(node).bounds.center))
    assert rig.phone.observe().activity.startswith("com.hitlab.notes/")
    rig.shell("wm size reset")
    assert rig.shell("wm size") == "Physical size: 1080x2400\n"
    assert rig.served.display.size == (1080, 2400)
    assert rig.shell("wm size none; echo $?") == "255\n"


def test_permissions_are_granted_and_unknown_packages_refused() -> None:
    asked = Asked()
    assert asked.text("pm grant com.hitlab.notes android.permission.CAMERA") == ""
    said = asked.say("pm grant org.example.none android.permission.CAMERA")
    assert said.code == 255
    assert "Unknown package: org.example.none" in said.err


def test_what_an_app_keeps_is_cleared() -> None:
    asked = Asked()
    before = asked.phone.snapshot()["apps"]["notes"]
    asked.open_note()
    asked.text("input text milk; input keyevent BACK; input keyevent BACK")
    assert asked.phone.snapshot()["apps"]["notes"] != before
    assert asked.text("pm clear com.hitlab.notes") == "Success"
    assert asked.phone.snapshot()["apps"]["notes"] == before
    assert not asked.display.activity.startswith("com.hitlab.notes/")
    assert asked.say("pm clear org.example.none").err == "Failed\n"


def test_every_setting_that_is_told_is_listed() -> None:
    asked = Asked()
    for space, key in (("system", "screen_brightness"), ("secure", "android_id"), ("global", "airplane_mode_on")):
        value = asked.text(f"settings get {space} {key}")
        assert f"{key}={value}" in asked.text(f"settings list {space}").splitlines()
        assert f"value={value}," in asked.text(
            f"content query --uri content://settings/{space} --where \"name='{key}'\""
        )


def test_what_the_touchscreen_can_say_is_told_and_then_it_ends() -> None:
    asked = Asked()
    assert re.search(r"0035 +: value 0, min 0, max 1079,", asked.text("getevent -p"))
    assert re.search(r"ABS_MT_POSITION_Y +: value 0, min 0, max 2399,", asked.text("getevent -lp"))


@over_adbs
def test_nothing_runs_in_reverse_so_there_is_nothing_to_list_or_end(rig: Rig) -> None:
    for word in ("--list", "--remove-all"):
        done = rig.adb("reverse", word)
        assert (done.returncode, done.stdout.strip()) == (0, b"")
    assert b"not there on this phone" in rig.adb("reverse", "tcp:1", "tcp:2").stderr


def test_a_swipe_lasts_as_long_as_it_says() -> None:
    asked = Asked("Settings")
    began = time.monotonic()
    asked.text("input swipe 540 1800 540 600 250")
    assert time.monotonic() - began >= 0.25


def test_a_script_waits_for_an_app_with_a_loop(rig: Rig) -> None:
    rig.phone.perform(Action("open_app", app="Notes"))
    script = "for i in 1 2 3; do if dumpsys window | grep -q com.hitlab.notes; then echo there; break; fi; done"
    assert rig.shell(script) == "there\n"


def test_a_loop_without_end_ends_when_nobody_listens(rig: Rig) -> None:
    before = {thread.name for thread in threading.enumerate()}
    with pytest.raises(subprocess.TimeoutExpired):
        rig.adb("shell", "while true; do sleep 0.01; done", timeout=1)
    assert until(lambda: {t.name for t in threading.enumerate() if "serves" in t.name} <= before)


DESCRIPTION = b"\x05\x01\x09\x06"


@pytest.mark.parametrize(
    ("version", "head"),
    [
        ((2, 4), struct.pack(">BH", 12, 1)),
        ((2, 6, 1), struct.pack(">BH", 12, 1)),
        ((2, 7), struct.pack(">BHB", 12, 1, 3) + b"key"),
        ((3, 0, 2), struct.pack(">BHB", 12, 1, 3) + b"key"),
        ((3, 1), struct.pack(">BHHHB", 12, 1, 0x18D1, 0x4EE1, 3) + b"key"),
        ((4, 0), struct.pack(">BHHHB", 12, 1, 0x18D1, 0x4EE1, 3) + b"key"),
    ],
)
def test_a_keyboard_of_the_computers_is_read_whole_in_each_version(version: tuple[int, ...], head: bytes) -> None:
    create = head + struct.pack(">H", len(DESCRIPTION)) + DESCRIPTION
    says = struct.pack(">BHH", 13, 1, 2) + b"ab"
    ends = struct.pack(">BH", 14, 1) if version >= (2, 7) else b"\x0e"
    left = bytearray(create + says + ends)

    def take(count: int) -> bytes:
        assert count <= len(left), "more was read than was sent"
        data = bytes(left[:count])
        del left[:count]
        return data

    last = scrcpy_messages.UnsupportedMessage(14) if version >= (2, 7) else scrcpy_messages.Press("keyboard_settings")
    got = [scrcpy_messages.read(take, version) for _ in range(3)]
    assert got == [scrcpy_messages.UnsupportedMessage(12), scrcpy_messages.UnsupportedMessage(13), last]
    assert not left
