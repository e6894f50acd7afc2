"""`hitlab devices` and what `hitlab settings doctor` finds of adb, phones and scrcpy, on the real adb server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.cli.devices import _device_row
from lab.cli.main import main
from lab.cli.settings.doctor import Finding, examine
from lab.core.settings import Settings
from lab.devices.device_list import ListedDevice
from tests.lab.devices.adb_rig import Attach
from tests.simulators.phone.served.rig import AdbServer, Rig, serving


def test_devices_lists_phones_and_what_to_type(rig: Rig, attach: Attach, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices"]) == 0
    told = capsys.readouterr().out
    for words in (rig.serial, "Lantern One", "15", "1080x2400", f"--device {rig.serial}"):
        assert words in told
    assert main(["devices", "--json"]) == 0
    (phone,) = json.loads(capsys.readouterr().out)
    assert phone == {
        "serial": rig.serial, "state": "device", "model": "Lantern One", "android": "15", "sdk": "35",
        "size": [1080, 2400], "do": "", "screen": "on",
    }  # fmt: skip


def test_a_serial_with_a_shells_characters_is_quoted_in_what_to_type() -> None:
    assert (
        _device_row(ListedDevice("a; reboot", "device", "", "", "", None, ""))[-1]
        == "hitlab live TASK --device 'a; reboot'"
    )


def test_a_phone_that_needs_something_is_listed_with_what(
    rig: Rig, attach: Attach, capsys: pytest.CaptureFixture[str]
) -> None:
    rig.faults.turn("slow", 9.0)
    assert main(["devices", "--json"]) == 3
    (phone,) = json.loads(capsys.readouterr().out)
    assert "did not answer" in phone["do"]


def test_without_phones_it_says_how_to_get_one(adb_environment: AdbServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices"]) == 0
    assert "USB debugging" in capsys.readouterr().out
    assert main(["devices", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def findings(folder: Path) -> dict[str, Finding]:
    return {finding.name: finding for finding in examine(Settings(db=str(folder / "none.db")))}


def test_the_doctor_finds_adb_phones_and_scrcpy(
    rig: Rig, attach: Attach, scrcpy_server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = findings(tmp_path)
    assert f"server 127.0.0.1:{rig.server.port} runs" in found["adb"].found
    assert f"{rig.serial} (Lantern One)" in found["phones"].found
    assert found["scrcpy"].found.startswith("server 3.3.4, ")
    monkeypatch.setenv("SCRCPY_SERVER_PATH", str(tmp_path / "none"))
    assert not findings(tmp_path)["scrcpy"].ok, "what was named and cannot be used is told"
    assert "screencap" in findings(tmp_path)["scrcpy"].found
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", "1")
    found = findings(tmp_path)
    assert "starts when it is needed" in found["adb"].found
    assert found["phones"].ok


def test_the_doctor_says_of_each_phone_that_is_not_well_what_to_do(
    rig: Rig, adb_environment: AdbServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(rig.server) as folded, serving(rig.server) as well:
        rig.served.fault("lock", "pin")
        folded.served.fault("folded", True)
        locked_line = f"{rig.serial}: Unlock it by hand."
        folded_line = f"{folded.serial}: Unfold it."
        assert main(["doctor", "--json", "--db", str(tmp_path / "none.db")]) == 3
        (phones,) = [finding for finding in json.loads(capsys.readouterr().out) if finding["name"] == "phones"]
        assert sorted(phones["do"].splitlines()) == sorted([locked_line, folded_line])
        assert well.serial in phones["found"]
        main(["doctor", "--db", str(tmp_path / "none.db")])
        lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
        assert {locked_line, folded_line} <= set(lines)
