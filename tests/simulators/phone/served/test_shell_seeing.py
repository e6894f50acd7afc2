"""What the served phone's shell shows of its screen: screenshots, dumps, rotation."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import pytest
from PIL import Image

from lab.core.run.step import Action
from lab.core.run.ui_tree import UiTree
from tests.simulators.phone.served.asking import Asked


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


def test_raw_pixels_are_made_once_while_the_screen_stands_and_anew_when_it_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str | None] = []
    convert = Image.Image.convert

    def counted(image: Image.Image, mode: str | None = None, **how: Any) -> Image.Image:
        made.append(mode)
        return convert(image, mode, **how)

    asked, other = Asked("Food"), Asked()
    food = asked.say("screencap").out
    monkeypatch.setattr(Image.Image, "convert", counted)
    assert asked.say("screencap").out == food
    assert made == []
    assert other.say("screencap").out != food
    assert asked.say("screencap").out == food
    asked.display.perform(Action("navigate_home"))
    home = asked.say("screencap").out
    assert home != food
    assert home[16::4] + home[17::4] + home[18::4] == b"".join(asked.display.rgb()[at::3] for at in range(3))


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
