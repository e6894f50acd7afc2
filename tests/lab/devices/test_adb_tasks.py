"""Built-in tasks, played whole over adb: their playbooks, the real session, the real adb server, the served phone."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from lab.core.run.trace import Acting, Ended, Paused
from lab.runs.session import Session
from lab.runs.spec import Spec, embedded
from simulators import library
from store.store import Store
from tests.crossed import crossed, soak, spread
from tests.lab.devices.adb_rig import Attach
from tests.simulators.phone.served.rig import Rig

TASKS = ("low_battery", "parcel_fee", "poster_kit")
"""Two proactive ones that begin with a notice of the system (the second in a soak), one that types several lines."""


def spec_of(name: str) -> Spec:
    task = library.task(name)
    return Spec(task, library.persona(task.persona, task.log) if task.persona else None, user="script")


def session(rig: Rig, attach: Attach, store: Store, name: str) -> Session:
    """A run of that task on the rig's phone, laid out for it."""
    spec = spec_of(name)
    rig.harness.restore(embedded(spec).snapshot())
    return Session(store, spec, device=attach(harness=rig.harness))


@crossed
@pytest.mark.parametrize("name", spread(TASKS, 2))
def test_a_built_in_task_passes_over_adb(
    rig: Rig, attach: Attach, scrcpy_server: Path, tmp_path: Path, name: str
) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        run = session(rig, attach, store, name)
        run.start()
        assert run.join(300)
        trace = store.runs.trace(run.trace_id)
    assert trace.ended is not None
    assert (trace.ended.status, trace.ended.score) == ("completed", 1.0), trace.ended.reason
    assert not [step.error for step in trace.steps if step.error]
    assert trace.device.kind == "adb"


@soak
def test_a_run_waits_for_its_phone_and_loses_nothing(rig: Rig, attach: Attach, tmp_path: Path) -> None:
    """Unplugged in mid-run it stands still with a sentence; plugged in again it goes on to its end."""
    with Store.open(tmp_path / "runs.db") as store:
        run = session(rig, attach, store, "night_mode")
        acts, paused = [0], threading.Event()

        def see(event: object) -> None:
            acts[0] += isinstance(event, Acting)
            if isinstance(event, Acting) and acts[0] == 4:
                rig.faults.unplug()
            if isinstance(event, Paused):
                paused.set()

        run.on_event = see
        run.start()
        assert paused.wait(180)
        assert not run.over
        rig.faults.plug()
        assert run.join(300)
        events = list(store.runs.events(run.trace_id))
    ended = events[-1]
    assert isinstance(ended, Ended)
    assert ended.status == "completed"
    assert [event.seq for event in events] == list(range(len(events)))
    assert any(isinstance(event, Paused) and rig.serial in event.reason for event in events)
