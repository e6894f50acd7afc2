"""What goes wrong on demand, as the real adb sees it, and that all is well afterwards."""

from __future__ import annotations

import struct
import subprocess
import threading
import time

import pytest

from lab.core.errors import LabError
from simulators.phone.served.faults import NAMES, Faults
from tests.simulators.phone.served.host import MOST, VERSION, Host
from tests.simulators.phone.served.rig import BUNDLED, ON_PATH, Rig, adbs, over_adbs, until


def is_back(rig: Rig) -> bool:
    """The phone is there again, at the latest by the time adb has tried a few times."""
    return until(lambda: rig.state == "device", step=0.05) and rig.shell("echo hi") == "hi\n"


def test_every_adb_that_users_have_is_tried() -> None:
    absent = [name for name in (BUNDLED, ON_PATH) if name not in adbs()]
    if absent:
        pytest.skip(f"no adb here of: {', '.join(absent)} (on PATH is the distribution's, 29.0.6 in Debian and Ubuntu)")
    versions = {
        name: subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout
        for name, program in adbs().items()
    }
    assert all("Android Debug Bridge" in said for said in versions.values()), versions


@over_adbs
def test_an_unplugged_phone_is_offline_and_comes_back_by_itself(rig: Rig) -> None:
    waiting: list[int] = []
    waits = threading.Thread(target=lambda: waiting.append(rig.adb("shell", "sleep 60").returncode))
    waits.start()
    assert until(lambda: any("serves" in thread.name for thread in threading.enumerate()))
    rig.faults.unplug()
    waits.join(180)
    assert waiting, "adb waits on"
    assert until(lambda: rig.state == "offline")
    assert "offline" in rig.adb("shell", "echo hi").stderr.decode()
    with pytest.raises(ConnectionRefusedError):
        Host(rig.serial)
    rig.faults.plug()
    assert is_back(rig)


@over_adbs
def test_unplugging_twice_is_unplugging_once(rig: Rig) -> None:
    for _ in range(2):
        rig.faults.unplug()
    for _ in range(2):
        rig.faults.plug()
    rig.server.run("disconnect", rig.serial)
    rig.connect()
    assert is_back(rig)


@over_adbs
def test_an_offline_phone_answers_nothing(rig: Rig) -> None:
    rig.faults.turn("offline", True)
    with Host(rig.serial) as host:
        host.send("CNXN", VERSION, MOST, b"host::")
        host.sock.settimeout(0.1)
        with pytest.raises(TimeoutError):
            host.hear()
    assert until(lambda: rig.state == "offline")
    rig.faults.turn("offline", False)
    assert is_back(rig)


@over_adbs
def test_a_phone_that_knows_no_computer(rig: Rig) -> None:
    rig.faults.turn("unauthorized", True)
    assert until(lambda: rig.state == "unauthorized")
    assert "unauthorized" in rig.adb("shell", "echo hi").stderr.decode()
    rig.faults.turn("unauthorized", False)
    assert is_back(rig)


def test_a_slow_phone_answers_late_each_time(rig: Rig) -> None:
    rig.faults.turn("slow", 0.2)
    for command in ("shell:echo hi", "exec:echo hi"):
        began = time.monotonic()
        with Host(rig.serial) as host:
            host.meet()
            assert b"hi\n" in host.rest(1, host.open(1, command))
        assert time.monotonic() - began >= 0.2


def test_a_slow_phone_whose_host_leaves_leaves_nothing(rig: Rig) -> None:
    rig.faults.turn("slow", 60)
    with Host(rig.serial) as host:
        host.meet()
        host.send("OPEN", 1, 0, b"exec:echo hi\0")
        assert until(lambda: any("serves" in thread.name for thread in threading.enumerate()))
    assert until(lambda: not any("serves" in thread.name for thread in threading.enumerate()))


@pytest.mark.parametrize("way", ["fail", "garbage", "short"])
def test_screenshots_that_go_wrong(rig: Rig, way: str) -> None:
    rig.faults.turn("screencap", way)
    png = rig.adb("exec-out", "screencap -p").stdout
    assert png != rig.served.display.png()
    assert png.startswith(b"\x89PNG") == (way == "short")
    rig.faults.clear()
    assert rig.adb("exec-out", "screencap -p").stdout == rig.served.display.png()


def test_a_phone_that_denies_its_shell(rig: Rig) -> None:
    rig.faults.turn("deny", True)
    for command in ("input tap 540 1200", "uiautomator dump"):
        done = rig.adb("shell", command)
        assert done.returncode
        assert b"SecurityException" in done.stderr
    assert rig.shell("echo hi") == "hi\n"


def test_a_restless_screen_has_no_tree(rig: Rig) -> None:
    rig.faults.turn("restless", True)
    said = rig.adb("shell", "uiautomator dump /dev/tty")
    assert b"could not get idle state" in said.stdout + said.stderr
    rig.faults.turn("restless", False)
    assert "<hierarchy" in rig.shell("uiautomator dump /dev/tty")


def test_a_turned_phone(rig: Rig) -> None:
    rig.served.fault("rotate", 1)
    header = struct.unpack("<2I", rig.adb("exec-out", "screencap").stdout[:8])
    assert header == (2400, 1080)
    rig.served.reset()
    assert rig.served.display.size == (1080, 2400)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nonsense", True), ("_clear", True), ("on_change", None), ("slow", -1), ("slow", True), ("slow", "1"),
        ("slow", float("nan")), ("screencap", "black"), ("screencap", True), ("video", []), ("deny", 1),
        ("plugged", "no"),
    ],
)  # fmt: skip
def test_what_is_no_fault_is_refused(name: str, value: object) -> None:
    faults = Faults()
    before = faults.state()
    with pytest.raises(LabError) as refused:
        faults.turn(name, value)
    assert refused.value.title == "fault"
    assert faults.state() == before


def test_each_change_is_told_and_each_switch_turns_back() -> None:
    faults, told = Faults(), 0

    def tell() -> None:
        nonlocal told
        told += 1

    faults.on_change = tell
    well = faults.state()
    assert set(well) == set(NAMES)
    for name, value in (("slow", 1), ("screencap", "short"), ("video", "die"), ("deny", True), ("plugged", False)):
        faults.turn(name, value)
    assert told == 5
    assert faults.state() != well
    faults.clear()
    assert faults.state() == well
