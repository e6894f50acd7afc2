"""A phone served whole: the real adb drives it, and nothing is left when it is closed."""

from __future__ import annotations

import threading

from simulators.phone.phone import Phone
from simulators.phone.served.served import Served
from tests.simulators.phone.served.rig import AdbServer, Rig, serving


def test_adb_knows_it_and_runs_commands_on_it(rig: Rig) -> None:
    listed = rig.server.run("devices", "-l").stdout.decode()
    assert f"{rig.serial} " in listed
    assert "product:lantern model:Lantern_One device:lantern" in listed
    assert rig.shell("echo hi") == "hi\n"
    assert rig.adb("get-state").stdout == b"device\n"
    assert rig.shell("getprop ro.product.model") == "Lantern One\n"


def test_nothing_is_left_of_a_closed_one(adb_server: AdbServer) -> None:
    before = set(threading.enumerate())
    with serving(adb_server) as rig:
        rig.shell("echo hi")
        assert set(threading.enumerate()) != before
    rig.served.close()
    assert set(threading.enumerate()) <= before


def test_one_that_was_never_started_lets_its_ports_go() -> None:
    served = Served(Phone())
    served.close()
    port = int(served.serial.partition(":")[2])
    Served(Phone(), port=port, harness_port=None).close()


def test_a_screenshot_comes_whole(rig: Rig) -> None:
    png = rig.adb("exec-out", "screencap -p").stdout
    assert png == rig.served.display.png()
    raw = rig.adb("exec-out", "screencap").stdout
    assert len(raw) == 16 + 1080 * 2400 * 4
