"""A phone served whole: the real adb drives it, and nothing is left when it is closed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lab.cli.main import main
from lab.devices.harness import Harness
from lab.runs.spec import Spec, embedded
from simulators import library
from simulators.phone.phone import Phone
from simulators.phone.served.served import PhoneServer
from tests.simulators.phone.served.rig import AdbServer, Rig, serving
from tests.warm import Warm


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
    served = PhoneServer(Phone())
    served.close()
    port = int(served.serial.partition(":")[2])
    again = PhoneServer(Phone(), port=port, harness_port=None)
    assert again.serial == served.serial
    again.close()


def test_a_screenshot_comes_whole(rig: Rig) -> None:
    png = rig.adb("exec-out", "screencap -p").stdout
    assert png == rig.served.display.png()
    raw = rig.adb("exec-out", "screencap").stdout
    assert len(raw) == 16 + 1080 * 2400 * 4


@contextmanager
def command(tmp_path: Path, *words: str, token: str = "") -> Iterator[subprocess.Popen[bytes]]:
    """`hitlab serve phone WORDS`, running; killed at the end where it still does."""
    environment = {**os.environ, "HOME": str(tmp_path), "HITLAB_HARNESS_TOKEN": token}
    pipe = subprocess.PIPE
    with Warm(["phone", *words], env=environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe) as process:
        try:
            yield process
        finally:
            process.kill()


def told(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """The one JSON document that it prints as it begins."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.stderr and process.stderr.read()
    found: dict[str, Any] = json.loads(line)
    return found


def test_the_command_serves_a_tasks_phone_until_it_is_told_to_end(tmp_path: Path, adb_server: AdbServer) -> None:
    with command(tmp_path, "--task", "usual_lunch", "--json", token="a-token-of-mine") as process:
        found = told(process)
        assert found["token"] == "a-token-of-mine"
        serial = found["serial"]
        adb_server.run("connect", serial)
        assert adb_server.run("-s", serial, "shell", "echo hi").stdout == b"hi\n"
        state = Harness(found["harness"], "a-token-of-mine").snapshot()
        assert state == embedded(Spec(library.task("usual_lunch"))).snapshot()
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=180)
        assert (process.returncode, out, err) == (0, b"", b"")
        adb_server.run("disconnect", serial)


def test_the_command_says_what_to_type_and_ends_by_ctrl_c(tmp_path: Path) -> None:
    with command(tmp_path, "--vary", "3", "--persona", "rosa") as process:
        assert process.stdout is not None
        said = [process.stdout.readline().decode() for _ in range(9)]
        process.send_signal(signal.SIGINT)
        assert process.wait(180) == 0
    serial = said[0].split("served at ")[1].split(". ")[0]
    assert f"adb connect {serial}" in "".join(said)
    assert f"hitlab live TASK --device {serial} --harness http://127.0.0.1:" in said[-1]
    assert "export HITLAB_HARNESS_TOKEN=" in said[-2]


def test_a_port_that_is_taken_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with PhoneServer(Phone(), harness_port=None) as served:
        port = served.serial.rpartition(":")[2]
        assert main(["phone", "--adb-port", port]) == 1
        assert main(["phone", "--harness-port", port]) == 1
    for line in capsys.readouterr().err.splitlines():
        assert line.startswith(f"hitlab: port {port}: cannot be listened at")


@pytest.mark.parametrize(
    "words", [["--task", "none_such"], ["--persona", "none_such"], ["--task", "a", "--persona", "b"]]
)
def test_what_cannot_be_served_is_a_sentence(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["phone", *words]) in (1, 2)
    assert capsys.readouterr().err.startswith("hitlab: ")


def test_adbutils_drives_it(rig: Rig, tmp_path: Path) -> None:
    from adbutils import AdbClient

    device = AdbClient(host=rig.server.host, port=rig.server.port).device(rig.serial)
    assert device.shell("echo hi") == "hi"
    assert device.get_state() == "device"
    done = device.shell2("echo out; echo err >&2; exit 5", v2=True)
    assert (done.stdout, done.stderr, done.returncode) == ("out\n", "err\n", 5)
    device.sync.push(b"pushed", "/data/local/tmp/a/b")
    assert device.sync.read_text("/data/local/tmp/a/b") == "pushed"
    assert device.sync.stat("/data/local/tmp/a/b").size == 6
    assert [entry.path for entry in device.sync.list("/data/local/tmp/a")] == ["b"]
    assert not device.sync.exists("/data/local/tmp/c")
    assert device.window_size() == (1080, 2400)
    assert device.screenshot(error_ok=False).size == (1080, 2400)
    assert "<hierarchy" in device.dump_hierarchy()
    assert device.prop.model == "Lantern One"
