"""A server that speaks as MobileWorld's does, and what tests of runs on it need."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from lab.core.run.step import Action, Proposed
from lab.core.task.task import Actor, Task
from lab.runs.session import Session
from lab.runs.spec import Spec
from lab.runs.task_source import task_source
from simulators import library
from store.store import Store
from tests.mobileworld import MobileWorldServer, mobileworld

Seen = TypeVar("Seen")
PLAYBOOKS = {"FlightAlarm": "flight_alarm", "LowBattery@tobin": "low_battery", "UsualLunch@ines": "usual_lunch"}


def until(look: Callable[[], Seen | None], seconds: float = 180) -> Seen:
    """What `look` sees once it sees something."""
    end = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)
    return seen


@pytest.fixture
def server() -> Iterator[MobileWorldServer]:
    with mobileworld() as server:
        yield server


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as store:
        yield store


class Listed:
    """An agent that does what is listed."""

    actor = Actor("script", "listed")

    def __init__(self, *actions: Action) -> None:
        self.actions = actions

    def propose(self, brief: object, screen: object, history: object) -> Proposed:
        assert isinstance(history, list)
        return Proposed(self.actions[len(history)])


def played(task: Task, playbook: str) -> Task:
    """The task with a built-in task's playbook."""
    import msgspec

    return msgspec.structs.replace(task, playbook=library.task(playbook).playbook)


def spec_of(server: MobileWorldServer, name: str, user: str = "script") -> Spec:
    """A run of that task, worked by the playbook of the built-in task that it is made of."""
    with task_source(server.env, 0) as source:
        task = played(source.task(name), PLAYBOOKS[name])
    return Spec(task, user=user, environment=server.env)


def over(session: Session) -> Session:
    """The session, once its run is over."""
    session.start()
    assert session.join(180)
    return session
