"""What befalls a phone while a run is live and its question is open, through the real adb server and real sockets.

The run stands still with a sentence, goes on by itself when the phone is well again, or ends at the person's word;
nothing that was recorded is lost, and no thread or child process is left.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from lab.core.run.step import Action, Proposed, Reply
from lab.core.run.trace import PHONE, AnyEvent, Ended, Paused, Resumed, Step
from lab.core.seams import Frame, Screen, TaskBrief
from lab.core.task.task import Actor, Task
from lab.devices.adb.adb import AdbPhone, Via
from lab.devices.adb.adb_server import Server
from lab.runs.session import Session
from lab.runs.spec import Spec
from store.store import Store
from tests.crossed import IN_SOAK, crossed, spread
from tests.lab.devices.scrcpy_rig import Mirrored
from tests.simulators.phone.served.rig import Rig, adbs, until

PATIENCE = 180.0
ASK, HOME, DONE = Action("ask_user", text="Which?"), Action("navigate_home"), Action("status", status="complete")


class Fault(NamedTuple):
    """Something that goes wrong, how it is put right, and a word of what the person is told."""

    wrong: Callable[[Rig], object]
    right: Callable[[Rig], object]
    told: str
    via: Via = "screencap"
    patience: float = 10.0
    """Seconds that each thing asked of the phone may take."""


def turned(name: str, value: object, back: object, told: str, via: Via = "screencap", patience: float = 10.0) -> Fault:
    """A fault that is a switch of the served phone; its screen changes then, for one at rest sends no video."""

    def wrong(rig: Rig) -> None:
        rig.faults.turn(name, value)
        rig.phone.perform(Action("open_app", app="Maps"))

    return Fault(wrong, lambda rig: rig.faults.turn(name, back), told, via, patience)


def screen(name: str, value: object, back: object, told: str, via: Via = "screencap") -> Fault:
    """A state of the screen in which nothing sensible can be seen or done."""
    return Fault(lambda rig: rig.served.fault(name, value), lambda rig: rig.served.fault(name, back), told, via)


FAULTS = {
    "adb server killed": Fault(lambda rig: rig.server.stop(), lambda rig: None, ""),
    "unplugged": turned("plugged", False, True, r"not there any more|is offline"),
    "unplugged while it is filmed": turned("plugged", False, True, r"not there any more|is offline", "scrcpy"),
    "offline": turned("offline", True, False, "offline|did not answer"),
    "wrong header of a screenshot": turned("screencap", "garbage", "", "screen|pictur"),
    "wrong header of a video frame": turned("video", "garbage", "", "frame|video", "scrcpy"),
    "dies in mid-frame": turned("video", "die", "", "video|broke|ended", "scrcpy"),
    "half a screenshot": turned("screencap", "short", "", "screen"),
    "answers too late": turned("slow", 60.0, 0.0, "did not answer", patience=2.0),
    "screenshot fails": turned("screencap", "fail", "", "screen"),
    "asleep": screen("asleep", True, False, "is asleep: its screen is off. It is woken"),
    "locked": screen("lock", "pin", "", "is locked: the lock screen is in front. Unlock it by hand"),
    "locked while it is filmed": screen("lock", "pin", "", "is locked", "scrcpy"),
    "secured while it is filmed": screen("secured", True, False, "shows a secured screen", "scrcpy"),
    "folded": screen("folded", True, False, "is folded: its main screen is off"),
}
CUT = ("adb server killed", "unplugged", "unplugged while it is filmed", "offline")
"""Faults of the line itself, which each adb tells of in its own way."""
ALIKE = ("offline", "half a screenshot", "screenshot fails", "dies in mid-frame", "locked", "folded")
"""Faults that a live run meets in a soak: it stands still as at another line that is cut, another picture that is none
or another screen that is locked. What each is told as is seen in `test_adb_faults` and `test_screen_states`."""
CASES = [(adb, name) for number, adb in enumerate(adbs()) for name in FAULTS if name in CUT or not number]
MET = [case for case in CASES if IN_SOAK or case[1] not in ALIKE]
each_case = pytest.mark.parametrize(("adb_server", "name"), MET, indirect=["adb_server"])


class Listed:
    actor = Actor("script", "listed")

    def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
        return Proposed((ASK, HOME, DONE)[len(history)])


class Run(NamedTuple):
    """A run on the rig with its question open, and the newest picture that a mirror would have had."""

    session: Session
    seen: list[AnyEvent]
    frames: deque[Frame]
    rig: Rig


def children() -> set[str]:
    """The processes that this one started and has not seen the end of."""
    listed = subprocess.run(["ps", "-o", "pid=,ppid=,stat=,comm="], capture_output=True, text=True, check=True, env={})
    return set() if listed.returncode else _ours(listed.stdout)


def _ours(listing: str) -> set[str]:
    rows = [line.split(None, 3) for line in listing.splitlines()]
    return {row[0] for row in rows if len(row) == 4 and row[1] == str(os.getpid()) and row[3].strip() != "ps"}


@pytest.fixture
def begun(tmp_path: Path, mirrored: Mirrored, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Fault], Run]]:
    """Begins a run whose question is open and whose mirror has a picture; ends all and looks for what is left."""
    rig, runs = mirrored.rig, list[Run]()
    rig.server.lead(monkeypatch)
    monkeypatch.setenv("SCRCPY_SERVER_PATH", mirrored.jar("3.3.4"))
    threads, processes = set(threading.enumerate()), children()
    closed = threading.Event()
    with Store.open(tmp_path / "lab.db") as store:

        def begin(fault: Fault) -> Run:
            server = Server(rig.server.host, rig.server.port)
            phone = AdbPhone(rig.serial, via=fault.via, server=server, fps=5, patience=fault.patience)
            session = Session(store, Spec(Task("t", "general", instruction="x")), agent=Listed(), device=phone)
            run = Run(session, [], deque(maxlen=1), rig)
            session.on_event = lambda event: run.seen.append(event) if event is not None else None
            runs.append(run)
            session.start()
            threading.Thread(target=lambda: run.frames.extend(session.device.frames(closed)), daemon=True).start()
            assert until(lambda: session.questions.waiting is not None and run.frames, PATIENCE)
            return run

        yield begin
        closed.set()
        for run in runs:
            run.session.stop("the test is over")
            assert run.session.join(PATIENCE), "the run's thread is left"
    assert until(lambda: not {t for t in threading.enumerate() if not _rigs(t)} - threads, PATIENCE), (
        f"left: {[thread.name for thread in set(threading.enumerate()) - threads]}"
    )
    assert until(lambda: children() <= processes, PATIENCE), "a child process is left"


def _rigs(thread: threading.Thread) -> bool:
    """Whether a thread is the served phone's own, which serves on."""
    return thread.name.startswith(("served", "adbd", "stream", "scrcpy server"))


def answer(run: Run) -> None:
    question = run.session.questions.waiting
    assert question is not None
    assert run.session.questions.answer(question, Reply(question.id, "the first", Actor("human", "P01")))


def stored(run: Run) -> list[AnyEvent]:
    return list(run.session.store.runs.events(run.session.trace_id))


@crossed
@each_case
def test_the_run_stands_still_with_a_sentence_and_goes_on(begun: Callable[[Fault], Run], name: str) -> None:
    fault = FAULTS[name]
    run = begun(fault)
    fault.wrong(run.rig)
    assert until(lambda: any(isinstance(event, Paused) for event in run.seen), PATIENCE), "the run does not pause"
    paused = next(event for event in run.seen if isinstance(event, Paused))
    assert paused.by == PHONE
    assert re.search(fault.told, paused.reason), paused.reason
    assert run.session.questions.waiting is not None, "the question is still open"
    fault.right(run.rig)
    assert until(lambda: isinstance(run.seen[-1], Resumed), PATIENCE), f"it does not go on: {run.seen[-1]}"
    answer(run)
    assert run.session.join(PATIENCE)
    assert run.seen == stored(run)
    assert isinstance(run.seen[-1], Ended)
    assert run.seen[-1].status == "completed"
    assert [event.action for event in run.seen if isinstance(event, Step)] == [ASK, HOME, DONE]


@crossed
@pytest.mark.parametrize(("adb_server", "name"), spread(MET, 1), indirect=["adb_server"])
def test_a_person_may_end_it_while_the_phone_is_away(begun: Callable[[Fault], Run], name: str) -> None:
    fault = FAULTS[name]
    run = begun(fault)
    fault.wrong(run.rig)
    assert until(lambda: any(isinstance(event, Paused) for event in run.seen), PATIENCE)
    run.session.stop("no phone today")
    assert run.session.join(PATIENCE)
    ended = stored(run)[-1]
    assert isinstance(ended, Ended)
    assert (ended.status, ended.reason) == ("stopped", "no phone today")
    fault.right(run.rig)
