"""Runs through AndroidWorld's own Python: the real worker over real pipes, with a stand-in for its package."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from lab.core.errors import LabError
from lab.core.run.step import Action
from lab.runs.session import Session
from lab.runs.spec import Spec, phone_of
from lab.runs.task_source import task_source
from simulators.environments.address import read_address
from simulators.environments.androidworld import AndroidWorld, WorkerClient
from store.store import Store
from tests.simulators.environments.conftest import Listed, over, played

ROOT = Path(__file__).parents[3]
ENV = f"androidworld:{sys.executable}"
DONE = Action("status", status="complete")


@pytest.fixture(autouse=True)
def _its_package_is_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT / "tests" / "androidworld"), str(ROOT))))


@pytest.fixture(scope="module")
def environment() -> Iterator[AndroidWorld]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT / "tests" / "androidworld"), str(ROOT))))
        environment = AndroidWorld(read_address(ENV))
        yield environment
        environment.close()


@functools.cache
def spec_of(name: str, seed: int = 0) -> Spec:
    with task_source(ENV, seed) as source:
        return Spec(source.task(name), user="script", environment=ENV, seed=seed)


def test_its_tasks_are_listed_with_the_steps_that_their_complexity_allows(environment: AndroidWorld) -> None:
    assert [(task.id, task.budget) for task in environment.tasks()] == [
        ("ClockAlarmFromMessage", 20),
        ("SystemTypeNumber", 12),
    ]


def test_parameters_are_drawn_by_the_seed(environment: AndroidWorld) -> None:
    goals = [environment.task("SystemTypeNumber", seed).instruction for seed in (1, 1, 2)]
    assert goals[0] == goals[1] != goals[2]
    assert goals[0].startswith("Answer with the number ")
    assert environment.task("SystemTypeNumber", 1).apps == ("clock", "messages")


def test_a_task_that_is_not_there_is_a_sentence(environment: AndroidWorld) -> None:
    with pytest.raises(LabError, match="there is no task 'SystemTypeNumbers'"):
        environment.task("SystemTypeNumbers", 1)


def test_a_playbook_works_by_its_ui_elements_and_it_scores(store: Store) -> None:
    spec = spec_of("ClockAlarmFromMessage")
    spec = spec._replace(task=played(spec.task, "flight_alarm"))
    trace = store.runs.trace(over(Session(store, spec)).trace_id)
    assert trace.ended is not None
    assert (trace.ended.status, trace.ended.score) == ("completed", 1.0)
    assert (trace.ended.reason, trace.ended.scored_by) == ("is_successful 1", ENV)
    assert trace.device.kind == "environment"
    tree = trace.steps[2].before.tree
    assert tree is not None
    assert tree.find(contains="Tomas Brandt")
    assert trace.steps[2].before.activity


@pytest.mark.parametrize("right", [True, False])
def test_the_answer_reaches_the_tasks_own_check(store: Store, right: bool) -> None:
    spec = spec_of("SystemTypeNumber", 5)
    number = spec.task.instruction.removeprefix("Answer with the number ").rstrip(".")
    agent = Listed(Action("answer", text=number if right else "7"))
    trace = store.runs.trace(over(Session(store, spec, agent=agent)).trace_id)
    assert trace.ended is not None
    assert trace.ended.score == float(right)


def test_an_agent_that_is_not_done_has_failed_as_there(store: Store) -> None:
    spec = spec_of("SystemTypeNumber")
    spec = spec._replace(task=msgspec.structs.replace(spec.task, budget=1))
    trace = store.runs.trace(over(Session(store, spec, agent=Listed(Action("wait")))).trace_id)
    assert trace.ended is not None
    assert (trace.ended.status, trace.ended.score) == ("budget", 0.0)
    assert "not done" in trace.ended.reason


def test_touches_that_it_has_no_action_for_go_by_a_fingers_way_and_errors_are_told() -> None:
    phone = phone_of(spec_of("ClockAlarmFromMessage"))
    before = phone.observe()
    phone.perform(Action("drag", (540, 20), (540, 1500)))
    assert phone.observe().tree != before.tree
    with pytest.raises(LabError, match="no action press_recent"):
        phone.perform(Action("press_recent"))
    with pytest.raises(LabError, match=r"act: .*there is no app"):
        phone.perform(Action("open_app", app="Nothing of the kind"))
    phone.perform(Action("navigate_home"))
    phone.close()
    phone.close()


@pytest.mark.parametrize(("fault", "steps", "code"), [("look", 0, 7), ("crash", 0, 1)])
def test_a_worker_that_crashes_ends_the_run_with_what_it_said_last(
    store: Store, monkeypatch: pytest.MonkeyPatch, fault: str, steps: int, code: int
) -> None:
    monkeypatch.setenv("STAND_IN_FAULT", fault)
    agent = Listed(Action("click", (5, 6)), DONE)
    trace = store.runs.trace(over(Session(store, spec_of("ClockAlarmFromMessage"), agent=agent)).trace_id)
    assert trace.ended is not None
    assert (trace.ended.status, trace.ended.score) == ("failed", None)
    assert f"ended with exit code {code}" in trace.ended.reason
    assert "Its standard error" in trace.ended.reason


def test_a_python_without_the_package_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH")
    with pytest.raises(LabError, match="No module named 'android_world'"):
        AndroidWorld(read_address(ENV)).tasks()


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("/nothing/here", "there is no program"),
        ("false", "ended with exit code 1"),
        ("cat", "wrote"),
    ],
)
def test_what_is_no_python_is_a_sentence(program: str, says: str) -> None:
    with pytest.raises(LabError, match=says):
        AndroidWorld(read_address(f"androidworld:{program}")).tasks()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"ok": {"tasks": [{"name": 7}]}}', "name"),
        ('{"ok": {}}', "tasks"),
        ("[1]", "must be a mapping"),
        ("no JSON", "is not JSON"),
        ('{"error": "boom \\u001b[31m sk-abcdefghijklmnop"}', "boom"),
        ("'x' * 2_000_000", "longer than"),
    ],
)
def test_a_malformed_line_is_one_sentence(tmp_path: Path, line: str, says: str) -> None:
    line = line if line.startswith("'x'") else repr(line)
    program = tmp_path / "python"
    program.write_text(f"#!{sys.executable}\nimport sys\nfor _ in sys.stdin:\n    print({line}, flush=True)\n")
    program.chmod(0o755)
    with pytest.raises(LabError) as caught:
        AndroidWorld(read_address(f"androidworld:{program}")).tasks()
    sentence = caught.value.sentence
    assert says in sentence
    assert "\x1b" not in sentence
    assert "sk-abc" not in sentence
    assert str(program) in sentence


def test_what_it_prints_is_never_taken_for_an_answer_and_it_is_asked_no_more_once_it_is_gone() -> None:
    worker = WorkerClient(read_address(ENV))
    worker.ask("tasks", dict, 60)
    worker.close()
    with pytest.raises(LabError, match="is closed"):
        worker.ask("tasks", dict, 60)


def test_ports_and_adb_are_told_to_it(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    worker = WorkerClient(read_address(f"{ENV}?console_port=5556&grpc_port=8556"))
    worker.ask("begin", dict, 60, name="SystemTypeNumber", seed=1)
    assert "Setting up 5556 8556" in worker._program.last_errors() + bytes(worker._program._err).decode()
    worker.close()
