"""A phone that sleeps, is locked, folded, turned, secured or has another screen: seen, told, and never a black run."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from PIL import Image

from lab.cli.main import main
from lab.core.run.step import Action, Proposed
from lab.core.run.trace import AnyEvent, Ended, Paused, Resumed, Step
from lab.core.seams import Screen, TaskBrief, Trouble
from lab.core.task.task import Actor, Task
from lab.devices.screen_state import parsed
from lab.runs.session import Session
from lab.runs.spec import Spec
from store.store import Store
from tests.crossed import crossed, spread
from tests.lab.devices.adb_rig import Attach
from tests.simulators.phone.served.rig import AdbServer, Rig, until
from tests.warm import Warm
from tests.warm_code import CODE

SLEEPS_AFTER = "settings get system screen_off_timeout; settings get global stay_on_while_plugged_in"
BEFORE, DURING = "600000\n0\n", "1800000\n7\n"
KEPT = "/data/local/tmp/hitlab-awake"


def black(png: bytes) -> bool:
    with Image.open(io.BytesIO(png)) as picture:
        return picture.convert("L").getextrema() == (0, 0)


def test_a_phone_does_not_fall_asleep_in_a_run_and_may_again_after(rig: Rig, attach: Attach) -> None:
    phone = attach()
    assert until(lambda: rig.shell(SLEEPS_AFTER) == DURING)
    phone.close()
    assert until(lambda: rig.shell(SLEEPS_AFTER) == BEFORE)
    assert until(lambda: KEPT not in rig.served.services.files)


def test_a_phone_may_sleep_again_after_its_cable_was_pulled(rig: Rig, attach: Attach) -> None:
    attach()
    assert until(lambda: rig.shell(SLEEPS_AFTER) == DURING)
    rig.faults.unplug()
    services = rig.served.services
    assert until(lambda: services.settings.get(("system", "screen_off_timeout")) == "600000")
    rig.faults.plug()
    assert until(lambda: services.settings.get(("system", "screen_off_timeout")) == "1800000"), "kept awake again"


def test_a_phone_may_sleep_again_after_the_lab_was_killed(rig: Rig, adb_environment: AdbServer) -> None:
    code = "import sys; from lab.devices.adb.adb import AdbPhone; p = AdbPhone(sys.argv[1]); print(flush=True); input()"
    with Warm([code, rig.serial], main=CODE, env=adb_environment.environment, stdin=-1, stdout=-1) as lab:
        assert lab.stdout is not None
        assert lab.stdout.readline()
        assert until(lambda: rig.shell(SLEEPS_AFTER) == DURING)
        lab.send_signal(signal.SIGKILL)
    assert until(lambda: rig.shell(SLEEPS_AFTER) == BEFORE)


def test_what_a_restarted_phone_was_left_with_is_put_right_by_the_next_run(rig: Rig, attach: Attach) -> None:
    services = rig.served.services
    services.files[KEPT] = b"30000 null\n"
    services.settings["system", "screen_off_timeout"] = "1800000"
    attach().close()
    assert until(lambda: rig.shell(SLEEPS_AFTER) == "30000\n0\n")


@pytest.mark.parametrize("lock", ["", "swipe"])
def test_a_sleeping_phone_is_woken_at_the_start(rig: Rig, attach: Attach, lock: str) -> None:
    rig.served.fault("asleep", True)
    rig.served.fault("lock", lock)
    phone = attach()
    assert rig.served.display.open
    assert phone.observe().png == rig.phone.observe().png


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("lock", "pin", "is locked: .* Unlock it by hand"),
        ("secured", True, "secured screen: .*FLAG_SECURE.* Leave that screen by hand"),
        ("folded", True, "is folded: .* Unfold it"),
        ("asleep", True, "is asleep: .* It is woken"),
    ],
)
def test_nothing_is_seen_and_nothing_done_on_a_screen_that_shows_no_app(
    rig: Rig, attach: Attach, name: str, value: object, said: str
) -> None:
    phone = attach()
    before = rig.phone.snapshot()
    rig.served.fault(name, value)
    with pytest.raises(Trouble) as seen:
        phone.observe()
    assert re.search(said, seen.value.sentence)
    rig.served.fault(name, value)
    if name != "secured":  # what is secured may be worked by hand, to leave it
        with pytest.raises(Trouble) as refused:
            phone.perform(Action("open_app", app="Notes"))
        assert re.search(said, refused.value.sentence)
        assert not refused.value.sent
        assert rig.phone.snapshot() == before
    rig.served.fault("clear", None)
    assert phone.observe().png == rig.phone.observe().png


def test_of_two_screens_the_phones_own_is_seen(rig: Rig, attach: Attach) -> None:
    rig.served.fault("second", True)
    phone = attach()
    screen = phone.observe()
    assert screen.size == (1080, 2400)
    assert screen.png == rig.phone.observe().png
    assert screen.activity.startswith("com.hitlab.")
    phone.perform(Action("click", at=(540, 1200)))


class GivesUp:
    """An agent that calls a black screen infeasible, and any other one done."""

    actor = Actor("script", "gives up")

    def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
        return Proposed(Action("status", status="infeasible" if black(screen.png) else "complete"))


BLACK = [
    ("asleep", True, "asleep"),
    ("lock", "pin", "locked"),
    ("folded", True, "folded"),
    ("secured", True, "secured"),
]


@crossed
@pytest.mark.parametrize(("name", "value", "said"), spread(BLACK, 2))
def test_a_run_waits_for_the_screen_and_never_ends_on_a_black_one(
    rig: Rig, attach: Attach, tmp_path: Path, name: str, value: object, said: str
) -> None:
    phone, seen = attach(), list[AnyEvent]()
    rig.served.fault(name, value)
    with Store.open(tmp_path / "lab.db") as store:
        session = Session(store, Spec(Task("t", "general", instruction="x")), agent=GivesUp(), device=phone)
        session.on_event = lambda event: seen.append(event) if event is not None else None
        session.start()
        assert until(lambda: any(isinstance(event, Paused) and said in event.reason for event in seen))
        assert not any(isinstance(event, Ended) for event in seen) or name == "asleep"
        rig.served.fault("clear", None)
        assert session.join(180)
        assert any(isinstance(event, Resumed) for event in seen)
        assert [step.action.status for step in store.runs.trace(session.trace_id).steps if step.action] == ["complete"]


class Done:
    """An agent that looks once and is done."""

    actor = Actor("script", "done")

    def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
        return Proposed(Action("status", status="complete"))


def test_a_step_without_a_tree_says_why(
    rig: Rig, attach: Attach, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    phone, db = attach(), tmp_path / "lab.db"
    rig.faults.turn("restless", True)
    with Store.open(db) as store:
        session = Session(store, Spec(Task("t", "general", instruction="x")), agent=Done(), device=phone)
        session.start()
        assert session.join(180)
    assert main(["show", session.trace_id, "--db", str(db)]) == 0
    assert "no UI tree: ERROR: could not get idle state." in capsys.readouterr().out


def test_a_batch_says_why_it_waits_and_goes_on(
    rig: Rig, adb_environment: AdbServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRCPY_SERVER_PATH", str(tmp_path / "none"))
    rig.served.fault("lock", "pin")
    env = {**adb_environment.environment, "HITLAB_HARNESS_TOKEN": rig.served.token, "XDG_CONFIG_HOME": str(tmp_path)}
    words = ["run", "flight_alarm", "--device", rig.serial, "--harness", rig.served.harness_url, "--db", "lab.db"]
    lab = Warm(words, cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert lab.stderr is not None
    assert "is locked: the lock screen is in front. Unlock it by hand." in lab.stderr.readline()
    rig.served.fault("lock", "")
    said = lab.stderr.read()
    assert lab.wait(180) == 0
    assert "goes on" in said
    assert "completed, score 1" in said


@pytest.mark.parametrize(
    ("fault", "screen", "do", "code"),
    [
        ({}, "on", "", 0), ({"asleep": True}, "asleep", "", 0), ({"rotate": 1}, "on, turned", "", 0),
        ({"lock": "pin"}, "locked", "Unlock it by hand", 3), ({"folded": True}, "folded", "Unfold it", 3),
        ({"asleep": True, "lock": "pin"}, "asleep, locked", "Unlock it by hand", 3),
    ],
)  # fmt: skip
def test_devices_tells_the_state_of_each_screen(
    rig: Rig,
    adb_environment: AdbServer,
    capsys: pytest.CaptureFixture[str],
    fault: dict[str, object],
    screen: str,
    do: str,
    code: int,
) -> None:
    for name, value in fault.items():
        rig.served.fault(name, value)
    assert main(["devices", "--json"]) == code
    (line,) = json.loads(capsys.readouterr().out)
    assert (line["state"], line["screen"]) == ("device", screen)
    assert do in line["do"]
    assert bool(do) == bool(line["do"])
    main(["devices"])
    assert screen in capsys.readouterr().out


MARK = "\nhitlab:next\n"


@pytest.mark.parametrize(
    ("power", "policy", "display", "panels", "words", "panel"),
    [
        ("  mWakefulness=Dozing", "showing=true\n occluded=false\n secure=true", "", "", "asleep, locked", ""),
        ("  mWakefulness=Awake", "showing=true\n occluded=true\n secure=true", "", "", "on", ""),
        ("  mWakefulness=Awake", "mShowingLockscreen=true mShowingDream=false", "", "", "locked", ""),
        ("", "", "", "", "on", ""),
        ("mWakefulness=Awake", "",
         "DisplayViewport{type=INTERNAL, valid=true, isActive=true, displayId=0, uniqueId='local:46', orientation=3}",
         "Display 45 (HWC display 0): port=1\nDisplay 46 (HWC display 1): port=2", "on, turned", "46"),
        ("mWakefulness=Awake", "",
         "[DisplayViewport{valid=true, isActive=false, displayId=0, uniqueId='local:46', orientation=0}, "
         "DisplayViewport{valid=true, isActive=true, displayId=1, uniqueId='local:47', orientation=0}]",
         "", "folded", "46"),
        ("mWakefulness=Awake", "", "DisplayViewport{displayId=0, uniqueId='local:$(reboot)'}", "", "on", ""),
    ],
)  # fmt: skip
def test_the_states_that_androids_tell(
    power: str, policy: str, display: str, panels: str, words: str, panel: str
) -> None:
    state = parsed(MARK.join([power, policy, display, panels]))
    assert (state.words, state.panel) == (words, panel)
