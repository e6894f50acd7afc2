"""A phone that goes, comes back, answers late or talks nonsense: always a sentence in time, and well again after."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from lab.core.errors import LabError
from lab.core.run.step import Action
from lab.core.seams import Trouble
from lab.devices.adb.adb import AdbPhone
from lab.devices.adb.adb_server import Server
from lab.devices.device_list import find_devices
from tests.lab.devices.adb_rig import Attach, server_of, tap
from tests.simulators.phone.served.rig import AdbServer, Rig, over_adbs, until

TAP = Action("click", at=(540, 1200))


class Line:
    """What a phone has told of its line so far."""

    def __init__(self, phone: AdbPhone) -> None:
        self.told: list[Trouble | None] = []
        phone.on_line = self.told.append

    def wait(self, *, away: bool) -> None:
        """Until the newest word is that it is away, or that it is back."""
        assert until(lambda: self.told and (self.told[-1] is not None) == away), self.told


def well(phone: AdbPhone) -> bool:
    """Whether it can be observed now."""
    try:
        return bool(phone.observe().png)
    except Trouble:
        return False


@over_adbs
def test_a_phone_that_is_unplugged_says_so_once_and_comes_back(rig: Rig, attach: Attach) -> None:
    phone = attach()
    line = Line(phone)
    rig.faults.unplug()
    line.wait(away=True)
    with pytest.raises(Trouble, match=rig.serial) as trouble:
        phone.perform(TAP)
    assert not trouble.value.sent
    with pytest.raises(Trouble, match=rig.serial):
        phone.observe()
    rig.faults.plug()
    line.wait(away=False)
    assert until(lambda: well(phone))
    assert [told is None for told in line.told] == [False, True]


@over_adbs
def test_a_phone_that_is_let_go_of_elsewhere_is_connected_again(rig: Rig, attach: Attach) -> None:
    phone = attach()
    line = Line(phone)
    rig.server.run("disconnect", rig.serial)
    line.wait(away=True)
    line.wait(away=False)
    assert until(lambda: well(phone))


@over_adbs
def test_an_adb_server_that_is_killed_is_started_again(rig: Rig, attach: Attach) -> None:
    phone = attach()
    line = Line(phone)
    rig.server.stop()
    line.wait(away=True)
    line.wait(away=False)
    assert until(lambda: well(phone))


@over_adbs
def test_a_phone_that_is_offline_says_so_and_comes_back(rig: Rig, attach: Attach) -> None:
    phone = attach()
    line = Line(phone)
    phone.shell.patience = 2.0  # to attach may take longer than what is tried
    rig.faults.turn("offline", True)
    assert not well(phone)
    line.wait(away=True)
    rig.faults.turn("offline", False)
    line.wait(away=False)
    phone.shell.patience = 10.0
    assert until(lambda: well(phone))


@over_adbs
def test_who_listens_late_is_told_that_it_is_away(rig: Rig, attach: Attach) -> None:
    phone = attach()
    line = Line(phone)
    rig.faults.unplug()
    line.wait(away=True)
    late = Line(phone)
    assert late.told
    rig.faults.plug()
    late.wait(away=False)


@over_adbs
def test_a_phone_that_answers_too_late_is_waited_for_no_longer_than_told(rig: Rig, attach: Attach) -> None:
    phone = attach()
    phone.shell.patience = 0.5
    rig.faults.turn("slow", 600.0)
    began = time.monotonic()
    with pytest.raises(Trouble, match=r"within 0\.5 s"):
        phone.observe()
    with pytest.raises(Trouble, match=r"within 0\.5 s") as trouble:
        phone.perform(TAP)
    assert trouble.value.sent
    assert time.monotonic() - began < 300
    rig.faults.clear()
    phone.shell.patience = 10.0
    assert until(lambda: well(phone))


@pytest.mark.parametrize(("fault", "said"), [("fail", "failed"), ("garbage", "no picture"), ("short", "cut short")])
def test_a_screenshot_that_fails_is_trouble_and_never_a_black_picture(
    rig: Rig, attach: Attach, fault: str, said: str
) -> None:
    phone = attach()
    rig.faults.turn("screencap", fault)
    with pytest.raises(Trouble, match=said):
        phone.observe()
    rig.faults.clear()
    assert phone.observe() == rig.phone.observe()


def test_a_screen_without_a_tree_is_observed_without(rig: Rig, attach: Attach) -> None:
    phone = attach()
    for fault, said in (("restless", "idle"), ("deny", "SecurityException")):
        rig.faults.turn(fault, True)
        screen = phone.observe()
        assert not screen.tree.roots
        assert screen.png == rig.phone.observe().png
        assert said in phone.tree_missing
        assert said in screen.tree_missing
        rig.faults.clear()
    screen = phone.observe()
    assert screen.tree.roots
    assert not screen.tree_missing
    assert not phone.tree_missing


def test_a_phone_that_lets_nobody_touch_it_refuses_for_good(rig: Rig, attach: Attach) -> None:
    phone = attach()
    rig.faults.turn("deny", True)
    with pytest.raises(LabError, match="does not let adb touch") as refused:
        phone.perform(TAP)
    assert not isinstance(refused.value, Trouble)
    assert "USB debugging" in refused.value.hint


def test_touches_go_on_by_input_when_the_video_has_broken(rig: Rig, attach: Attach, scrcpy_server: Path) -> None:
    phone = attach(via="auto")
    rig.faults.turn("video", "garbage")
    tap(phone, "Notes")
    assert rig.phone.observe().activity.startswith("com.hitlab.notes")


@over_adbs
@pytest.mark.parametrize(
    ("serial", "said"),
    [("nonesuch", "not among"), ("127.0.0.1:1", "cannot connect"), ("", "there are 2 on the line")],
)
def test_a_phone_that_cannot_be_had_is_refused_in_a_sentence(
    rig: Rig, attach: Attach, adb_environment: AdbServer, serial: str, said: str
) -> None:
    from tests.simulators.phone.served.rig import serving

    with serving(adb_environment) as other:
        with pytest.raises(LabError, match=said) as refused:
            attach(serial)
        assert refused.value.hint
        assert not isinstance(refused.value, Trouble)
        assert {phone.serial for phone in server_of(rig).phones()} == {rig.serial, other.serial}
        assert serial or (rig.serial in refused.value.hint and other.serial in refused.value.hint)


def test_the_only_phone_needs_no_name(rig: Rig, attach: Attach) -> None:
    assert attach("").serial == rig.serial


def test_without_a_phone_it_says_how_to_get_one(adb_environment: AdbServer) -> None:
    with pytest.raises(LabError, match="none on the line") as refused:
        AdbPhone("")
    assert "USB debugging" in refused.value.hint


@over_adbs
def test_a_phone_that_does_not_allow_this_computer_says_so(rig: Rig, attach: Attach) -> None:
    rig.faults.turn("unauthorized", True)
    rig.server.run("disconnect", rig.serial)

    def said() -> str:
        with pytest.raises(LabError, match=rig.serial) as refused:
            attach(patience=30)
        return refused.value.sentence

    assert until(lambda: "llow" in said())  # at first adb may not have it on its line at all
    shown = find_devices(False, server_of(rig))
    assert [(phone.serial, phone.ready, bool(phone.do)) for phone in shown] == [(rig.serial, False, True)]


def test_phones_are_found_with_what_they_say_of_themselves(rig: Rig, adb_environment: AdbServer) -> None:
    (phone,) = find_devices(True)
    assert phone.ready
    assert (phone.serial, phone.state, phone.model, phone.android, phone.sdk, phone.size) == (
        rig.serial,
        "device",
        "Lantern One",
        "15",
        "35",
        (1080, 2400),
    )
    assert find_devices(False, Server("127.0.0.1", 1)) == []


def test_a_harness_of_another_phone_is_refused_before_it_is_touched(
    rig: Rig, adb_environment: AdbServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lab.core.task.task import Task
    from lab.runs.spec import Spec, phone_of
    from tests.simulators.phone.served.rig import serving

    spec = Spec(Task("t", "general"), device=rig.serial)
    with serving(adb_environment) as other:
        other.phone.lay({"battery": 7})
        before = other.phone.snapshot()
        monkeypatch.setenv("HITLAB_HARNESS_TOKEN", other.served.token)
        with pytest.raises(LabError, match="another phone's"):
            phone_of(spec._replace(harness=other.served.harness_url))
        assert other.phone.snapshot() == before
    monkeypatch.setenv("HITLAB_HARNESS_TOKEN", rig.served.token)
    phone = phone_of(spec._replace(harness=rig.served.harness_url))
    phone.close()
