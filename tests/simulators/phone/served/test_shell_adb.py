"""The served phone's shell through the real adb server, as adbutils and `adb shell` ask it."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

from lab.core.run.ui_tree import UiTree
from simulators.phone.installed import APPS
from simulators.phone.served.display import Display
from tests.simulators.phone.served.asking import FEED
from tests.simulators.phone.served.rig import AdbServer, Rig, serving

NASTY = 'it\'s "50%" off; rm -rf $HOME & |`ls` *?[] \\ ~'


@pytest.fixture(scope="module")
def shared(adb_server: AdbServer) -> Iterator[Rig]:
    """One phone for this file's tests: each begins by putting it back."""
    with serving(adb_server) as made:
        yield made


@pytest.fixture
def phone(shared: Rig) -> Rig:
    shared.served.reset()
    return shared


@pytest.fixture
def device(phone: Rig) -> Any:
    """The phone as adbutils knows it."""
    import adbutils

    return adbutils.AdbClient(phone.server.host, phone.server.port).device(phone.serial)


def display(rig: Rig) -> Display:
    return rig.served.display


def test_adbutils_looks(phone: Rig, device: Any) -> None:
    assert device.window_size() == (1080, 2400)
    assert device.rotation() == 0
    assert device.is_screen_on()
    assert device.prop.model == "Lantern One"
    picture = device.screenshot(error_ok=False)
    assert np.array_equal(np.asarray(picture).reshape(-1), np.frombuffer(display(phone).rgb(), np.uint8))
    assert UiTree.from_xml(device.dump_hierarchy()) == display(phone).tree()
    assert device.battery().level == 78
    device.shell("settings put system accelerometer_rotation 0; settings put system user_rotation 1")
    assert (device.rotation(), device.window_size()) == (1, (2400, 1080))
    assert device.screenshot(display_id=0, error_ok=False).size == (2400, 1080)


def test_adbutils_acts(phone: Rig, device: Any) -> None:
    device.app_start("com.hitlab.food")
    current = device.app_current()
    assert (current.package, current.activity) == ("com.hitlab.food", "com.hitlab.food.Home")
    device.swipe(540, 1800, 540, 900, 0.1)
    assert phone.phone.snapshot()["scroll"][FEED] == 900
    device.app_stop("com.hitlab.food")
    assert device.app_current().package == "com.hitlab.launcher"
    device.app_start("com.hitlab.notes", ".Home")
    node = next(n for n in display(phone).tree().nodes() if n.desc == "New note")
    device.click(*node.bounds.center)
    device.send_keys(NASTY)
    device.keyevent("ENTER")
    assert phone.phone.snapshot()["apps"]["notes"]["notes"][0]["title"] == NASTY
    device.switch_screen(False)
    assert not device.is_screen_on()
    device.switch_screen(True)
    assert device.is_screen_on()
    device.open_browser("example.org")
    assert device.app_current().package == "com.hitlab.browser"


def test_adbutils_asks_for_apps_and_settings(device: Any) -> None:
    assert {app.package for app in APPS.values()} < set(device.list_packages())
    info = device.app_info("com.hitlab.food")
    assert (info.version_name, info.version_code, info.signature is not None) == ("1.0", 1, True)
    assert info.first_install_time is not None
    assert device.app_info("com.nothing") is None
    device.brightness_value = 128
    device.switch_wifi(False)
    device.switch_airplane(True)
    assert device.shell("settings get global airplane_mode_on") == "1"
    assert device.shell("settings get global wifi_on") == "0"


def test_exit_codes_and_errors_arrive_apart(phone: Rig, device: Any) -> None:
    for v2 in (False, True):
        said = device.shell2("echo out; echo err >&2; exit 7" if v2 else "(echo out; exit 7)", v2=v2)
        assert (said.returncode, said.output.splitlines()[0]) == (7, "out")
    said = device.shell2("nothing_here", v2=True)
    assert (said.returncode, said.stderr) == (127, "/system/bin/sh: nothing_here: inaccessible or not found\n")
    assert device.shell(["echo", NASTY]) == NASTY
    assert phone.adb("shell", "false").returncode == 1
    assert phone.adb("exec-out", "screencap", "-p").stdout == display(phone).png()
    assert phone.adb("shell", "cat", "-", stdin="typed 🙂".encode()).stdout == "typed 🙂".encode()
    assert phone.adb("shell", stdin=b"echo a\nexit 4\n").returncode == 4


def test_files_that_are_pushed_are_there_for_the_shell(phone: Rig, device: Any) -> None:
    device.sync.push(io.BytesIO(b"pushed"), "/data/local/tmp/it")
    assert device.shell("cat /data/local/tmp/it; ls /data/local/tmp") == "pushedit"
    device.shell("screencap -p /sdcard/s.png")
    pulled = b"".join(device.sync.iter_content("/sdcard/s.png"))
    assert Image.open(io.BytesIO(pulled)).size == (1080, 2400)
    device.remove("/sdcard/s.png")
    assert "s.png" not in device.shell("ls /sdcard")


def test_what_waits_ends_with_its_caller(phone: Rig, device: Any) -> None:
    stream = device.shell("sleep 500", stream=True)
    began = time.monotonic()
    stream.close()
    assert device.shell("echo still here") == "still here"
    assert time.monotonic() - began < 60
