"""Attempts side by side: what comes of them, in which order they begin, what ends them, and phones that die."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import pytest

from lab.core.run.trace import AnyEvent, Ended, Started
from lab.core.seams import Screen, Trouble
from lab.core.task.task import Task
from lab.runs.batch.attempt_queue import AttemptQueue, AttemptSeries, NumberedAttempt, series_of
from lab.runs.batch.batch import Batch, BatchTerms
from lab.runs.batch.pass_rates import Attempt
from lab.runs.batch.run_places import RunPlace
from lab.runs.spec import Spec
from simulators import library
from simulators.phone.phone import Phone
from store.store import Store
from tests.lab.cli.test_commands import Hitlab, hitlab
from tests.lab.fitting import fits
from tests.lab.programs import OPENS, comes, gone, program
from tests.mobileworld import mobileworld
from tests.served_phones import served_phones
from tests.simulators.phone.served.rig import AdbServer, adb_server
from tests.warm import Warm

__all__ = ["adb_server", "hitlab"]

OPEN_TASK = """
kind: general
instruction: Open the settings
budget: 6
golden_steps: 2
checks: [{name: settings open, path: nav.app, equals: settings}]
"""
FAILS_FIRST = """
runs = 0
while True:
    line = read()
    if line["line"] == "hello":
        say(line="hello", v=1, screenshot="none")
    if line["line"] == "end":
        runs += 1
    if line["line"] == "observation":
        there = "settings" in line["activity"]
        last = {"kind": "status", "status": "infeasible" if runs % 2 == 0 else "complete"}
        say(**(last if there or runs % 2 == 0 else {"kind": "open_app", "app": "Settings"}))
"""
"""A program that fails every other run, the first one among them."""
MEETS = """
open(f"{os.getpid()}.here", "w").close()
while True:
    seen = observed()
    while len([name for name in os.listdir(".") if name.endswith(".here")]) < 2:
        time.sleep(0.01)
    done = "settings" in seen["activity"]
    say(**({"kind": "status", "status": "complete"} if done else {"kind": "open_app", "app": "Settings"}))
"""
"""A program that does nothing before another one has begun."""
HANGS = """
observed()
open(f"{os.getpid()}.new", "w").close()
os.rename(f"{os.getpid()}.new", f"{os.getpid()}.here")
time.sleep(600)
"""
WAITS = """
observed()
open(f"{os.getpid()}.here", "w").close()
while not os.path.exists("go"):
    time.sleep(0.01)
say(kind="open_app", app="Settings")
while True:
    seen = observed()
    done = "settings" in seen["activity"]
    say(**({"kind": "status", "status": "complete"} if done else {"kind": "open_app", "app": "Settings"}))
"""
"""A program that stands in its first run until it is let go."""


@pytest.fixture
def tasks(hitlab: Hitlab) -> list[str]:
    """Three small tasks in the working folder, with a script that never needs to answer; what cannot be passed last."""
    for name in ("one", "two", "three"):
        text = OPEN_TASK.replace("equals: settings", "equals: notes") if name == "three" else OPEN_TASK
        Path(f"{name}.yaml").write_text(text, encoding="utf-8")
    Path("silent.yaml").write_text("replies: []\n", encoding="utf-8")
    return ["one.yaml", "two.yaml", "three.yaml", "--user", "script:silent.yaml"]


def outcome(result: dict[str, Any]) -> Any:
    """What a batch says but for times and ids."""
    for task in result["tasks"]:
        task.pop("seconds")
        for attempt in task["attempts"]:
            attempt.pop("seconds"), attempt.pop("trace")
    for kind in result["kinds"]:
        kind.pop("seconds")
    return {name: value for name, value in result.items() if name not in ("db", "jobs", "places")}


def here(folder: Path) -> list[int]:
    """The programs that have begun."""
    return [int(path.stem) for path in folder.glob("*.here")]


# -- the same as one after the other, at the same time ---------------------------------------------------------------


def test_what_comes_of_many_at_once_is_what_comes_of_one_after_the_other(
    hitlab: Hitlab, tasks: list[str], tmp_path: Path
) -> None:
    words = ["run", *tasks, "--attempts", 2, "--agent", program(tmp_path, OPENS), "--json"]
    many = hitlab(*words, "--jobs", 4, "--db", "many.db")
    one = hitlab(*words, "--db", "one.db")
    assert (many.code, one.code) == (0, 0), many.err
    assert fits(many.json, "run")
    assert [many.json["jobs"], one.json["jobs"]] == [3, 1]
    assert [task["passes"] for task in many.json["tasks"]] == [2, 2, 0]
    assert outcome(many.json) == outcome(one.json)
    assert len(re.findall(r"(?m)^\d/6 ", many.err)) == 6
    with Store.open(Path("many.db")) as store:
        assert {store.runs.trace(run.id).status for run in store.runs.summaries()} == {"completed"}


def test_jobs_go_on_at_the_same_time(hitlab: Hitlab, tasks: list[str], tmp_path: Path) -> None:
    done = hitlab("run", *tasks[:2], *tasks[3:], "--jobs", 2, "--agent", program(tmp_path, MEETS), "--db", "x.db")
    assert done.code == 0, done.err
    assert len(here(tmp_path)) == 2
    assert "2/2 100%" in done.out
    assert "the agent learns; each of the 2 jobs has an agent of its own" in done.err


def test_each_environment_makes_attempts(hitlab: Hitlab, tmp_path: Path) -> None:
    agent = program(tmp_path, MEETS.replace('"settings" in seen["activity"]', "True"))
    words = ["--agent", agent, "--user", "script", "--db", "x.db", "--json"]
    with mobileworld() as one, mobileworld() as two:
        for server in (one, two):
            server.tasks["NextFlight"] = server.tasks["FlightAlarm"]
        done = hitlab("run", "FlightAlarm", *words, "--env", one.env, two.env, "NextFlight")
        assert done.code == 0, done.err
        assert [task["task"] for task in done.json["tasks"]] == ["FlightAlarm", "NextFlight"]
        assert [len([path for path in server.paths() if "eval" in path]) for server in (one, two)] == [1, 1]
        assert done.json["places"] == [one.env, two.env]


def test_an_attempt_begins_once_the_one_before_it_has_failed(hitlab: Hitlab, tasks: list[str], tmp_path: Path) -> None:
    words = ["--jobs", 3, "--attempts", 3, "--until-pass", "--agent", program(tmp_path, FAILS_FIRST), "--db", "x.db"]
    done = hitlab("run", *tasks, *words, "--json")
    passes = [[attempt["passed"] for attempt in task["attempts"]] for task in done.json["tasks"]]
    assert passes == [[False, True], [False, True], [False, False, False]]
    with Store.open(Path("x.db")) as store:
        for task in done.json["tasks"]:
            assert in_turn(store, [attempt["trace"] for attempt in task["attempts"]])


def in_turn(store: Store, runs: Sequence[str]) -> bool:
    """Whether each run began after the one before it had ended."""
    events = [list(store.runs.events(run)) for run in runs]
    assert all(isinstance(run[0], Started) and isinstance(run[-1], Ended) for run in events)
    return all(before[-1].at <= after[0].at for before, after in pairwise(events))


def test_mirror_tasks_are_made_in_order_whatever_order_they_are_named_in(
    hitlab: Hitlab, tasks: list[str], tmp_path: Path
) -> None:
    Path("one.yaml").write_text(OPEN_TASK + "mirror_of: two\n", encoding="utf-8")
    agent = program(tmp_path, OPENS)
    done = hitlab("run", *tasks, "--jobs", 3, "--attempts", 2, "--agent", agent, "--db", "x.db", "--json")
    assert [task["task"] for task in done.json["tasks"]] == ["one", "two", "three"]
    runs = {task["task"]: [attempt["trace"] for attempt in task["attempts"]] for task in done.json["tasks"]}
    with Store.open(Path("x.db")) as store:
        assert in_turn(store, [*runs["two"], *runs["one"]])


def test_a_task_is_no_mirror_of_itself(hitlab: Hitlab, tasks: list[str]) -> None:
    Path("one.yaml").write_text(OPEN_TASK + "mirror_of: one\n", encoding="utf-8")
    assert "field mirror_of: a task does not mirror itself" in hitlab("run", "one.yaml", "--db", "x.db").err


# -- budgets ----------------------------------------------------------------------------------------------------------


def test_a_run_ends_at_its_golden_steps_and_the_agent_is_not_told(
    hitlab: Hitlab, tasks: list[str], tmp_path: Path
) -> None:
    told = tmp_path / "told"
    code = f'while True:\n    open({str(told)!r}, "a").write(json.dumps(observed()) + "\\n"); say(kind="navigate_home")'
    words = ["--stop-at", "1.4x", "--agent", program(tmp_path, code), "--db", "x.db"]
    done = hitlab("run", "one.yaml", *tasks[3:], *words, "--json")
    [attempt] = done.json["tasks"][0]["attempts"]
    assert (attempt["status"], attempt["steps"], attempt["passed"]) == ("budget", 3, False)
    assert attempt["reason"] == "the limit of 3 steps is used up"
    assert done.json["stop_at"] == 1.4
    assert "limit" not in told.read_text()
    with Store.open(Path("x.db")) as store:
        trace = store.runs.trace(attempt["trace"])
    assert (trace.conditions.step_limit, trace.task.budget) == (3, 6)
    passed = hitlab("run", "one.yaml", *tasks[3:], "--stop-at", "1.4", "--agent", program(tmp_path, OPENS))
    assert "floor(1.4 x golden steps + 1)" in passed.out
    assert "1/1 100%" in passed.out


def test_a_task_without_golden_steps_has_no_limit(hitlab: Hitlab, tasks: list[str], tmp_path: Path) -> None:
    Path("two.yaml").write_text(OPEN_TASK.replace("golden_steps: 2\n", ""), encoding="utf-8")
    done = hitlab("run", *tasks, "--stop-at", "1.4x", "--agent", program(tmp_path, OPENS), "--db", "y.db")
    assert done.code == 2
    assert "task two: has no golden steps, so 1.4 times as many is no limit." in done.err
    assert not Path("y.db").exists()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--jobs", "0"], "'0' is less than one"),
        (["--stop-at", "0x"], "'0x' is no number above 0"),
        (["--stuck-after", "inf"], "'inf' is no number above 0"),
        (["--device", "a:1", "--device", "a:1"], "--device: names a:1 twice"),
        (["--device", "a:1", "--device", "a:2", "--harness", "http://127.0.0.1:9"], "--harness: is given 1 times"),
        (["--harness", "http://127.0.0.1:9"], "belongs to a served phone"),
    ],
)
def test_what_does_not_go_together_is_refused(hitlab: Hitlab, tasks: list[str], args: list[str], words: str) -> None:
    done = hitlab("run", *tasks, "--agent", "process:true", *args, "--db", "y.db")
    assert (done.code, words in done.err) == (2, True), done.err
    assert not Path("y.db").exists()


# -- interrupted ------------------------------------------------------------------------------------------------------


def command(folder: Path, *args: object, env: dict[str, str] | None = None) -> Warm:
    """`hitlab run` as a process of its own, in a folder with tasks."""
    environment = {**os.environ, **(env or {}), "XDG_CONFIG_HOME": str(folder)}
    words = ["run", *map(str, args), "--user", "script:silent.yaml", "--json"]
    return Warm(words, cwd=folder, env=environment, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)


def test_ctrl_c_ends_all_that_go_on_as_stopped_and_begins_no_other(tasks: list[str], tmp_path: Path) -> None:
    begun = command(tmp_path, *tasks[:3], "--jobs", 2, "--agent", program(tmp_path, HANGS), "--db", "x.db")
    assert comes(lambda: len(here(tmp_path)) == 2, 60)
    begun.send_signal(signal.SIGINT)
    out, err = begun.communicate(timeout=180)
    assert begun.returncode == 3, err
    assert b"Traceback" not in err
    result = json.loads(out)
    assert fits(result, "run")
    assert [task["task"] for task in result["tasks"]] == ["one", "two"]
    assert [attempt["status"] for task in result["tasks"] for attempt in task["attempts"]] == ["stopped"] * 2
    assert (result["interrupted"], result["lost"], result["broken"]) == (True, 0, [])
    assert comes(lambda: all(map(gone, here(tmp_path))))
    with Store.open(tmp_path / "x.db") as store:
        assert [store.runs.trace(run.id).status for run in store.runs.summaries()] == ["stopped"] * 2


# -- phones that die --------------------------------------------------------------------------------------------------


def test_a_phone_that_is_killed_loses_no_attempt(tasks: list[str], tmp_path: Path, adb_server: AdbServer) -> None:
    env = {**adb_server.environment, "HITLAB_HARNESS_TOKEN": "of-this-test"}
    agent = program(tmp_path, WAITS)
    words = [*tasks[:3], "--agent", agent, "--stuck-after", 8, "--db", "x.db"]
    with served_phones(2, env) as [first, second]:
        both = [*first.words, *second.words]
        begun = command(tmp_path, *words, *both, env=env)
        assert comes(lambda: len(here(tmp_path)) == 2, 60)
        first.process.kill()
        first.process.wait()
        (tmp_path / "go").touch()
        out, err = begun.communicate(timeout=300)
        assert begun.returncode == 0, err
        result = json.loads(out)
        assert fits(result, "run")
        assert [[one["score"] for one in task["attempts"]] for task in result["tasks"]] == [[1.0], [1.0], [0.0]]
        [broken] = result["broken"]
        assert broken["place"] == first.words[1]
        assert (err.decode().count("is taken out"), result["lost"], result["jobs"]) == (1, 0, 2)
        with Store.open(tmp_path / "x.db") as store:
            ended = store.runs.trace(broken["trace"]).ended
            assert ended is not None
            assert ended.status == "failed"
            assert ended.reason.startswith("broken off after 8 s without its phone: ")
            assert [run.id for run in store.runs.summaries(archived=True)] == [broken["trace"]]
            assert len(store.runs.summaries()) == 3
        # it is not there from the beginning on
        out, err = command(tmp_path, *words, *both, env=env).communicate(timeout=300)
        result = json.loads(out)
        assert [task["passes"] for task in result["tasks"]] == [1, 1, 0]
        assert (result["broken"], err.decode().count("is taken out")) == ([], 1)
        alone = command(tmp_path, *words, *first.words, env=env)
        out, err = alone.communicate(timeout=300)
        assert alone.returncode == 3, err
        assert b"no phone is left, so 3 attempts were not made" in err
        assert json.loads(out)["lost"] == 3


def test_where_no_phone_is_there_at_all_one_sentence_says_so_and_no_table(
    hitlab: Hitlab, tasks: list[str], adb_server: AdbServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in adb_server.environment.items():
        monkeypatch.setenv(name, value)
    words = ("--agent", "process:true", "--device", "gone-1", "--device", "gone-2")
    done = hitlab("run", *tasks[:2], *tasks[3:], *words, "--db", "z.db")
    assert (done.code, done.out) == (3, ""), done.err
    assert [done.err.count(words) for words in ("waits to be dealt again", "It was the last one.")] == [1, 1]
    assert done.err.endswith("run: no phone is left, so 2 attempts were not made.\n")


class Away(Phone):
    """A phone that shows nothing any more, and says so."""

    def observe(self) -> Screen:
        raise Trouble("phone first", "is unplugged.")


class Told:
    """What a batch tells."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def watch(self, task: str, number: int) -> Callable[[AnyEvent | None], None]:
        self.lines.append(f"{task} {number} begins")
        return lambda event: None

    def finish_attempt(self, task: str, attempt: Attempt) -> None:
        self.lines.append(f"{task} {attempt.attempt} {attempt.status}")

    def skip(self, count: int) -> None:
        self.lines.append(f"{count} not needed")

    def warn(self, sentence: str) -> None:
        self.lines.append(sentence)


def test_a_spare_phone_takes_the_place_of_one_that_is_stuck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    phones = {"first": Away(), "second": Phone()}
    monkeypatch.setattr("lab.runs.batch.batch.phone_of", lambda spec: phones[spec.device])
    told, spec = Told(), Spec(library.task("saturday_walk"), user="script")
    with Store.open(tmp_path / "x.db") as store:
        terms = BatchTerms(attempts=2, until_pass=True, stuck_after=3.0)
        batch = Batch(store, [spec], terms, [RunPlace("first"), RunPlace("second")], told)
        batch.play()
        assert told.lines == [
            "saturday_walk 1 begins",
            "first is taken out: phone first: is unplugged. second takes its place.",
            "saturday_walk 1 begins",
            "saturday_walk 1 completed",
            "1 not needed",
        ]
        assert [(one.place, one.attempt, one.reason) for one in batch.broken] == [
            ("first", 1, "phone first: is unplugged.")
        ]
        assert [attempt.passed for attempt in batch.results()[0].attempts] == [True]
        assert [run.status for run in store.runs.summaries(archived=True)] == ["failed"]


# -- the order in which they are dealt --------------------------------------------------------------------------------


def tasks_of(*mirrors: tuple[str, str]) -> list[Task]:
    return [Task(name, "general", instruction="x", mirror_of=first) for name, first in mirrors]


def test_series_hold_what_waits_for_what() -> None:
    plain = series_of(tasks_of(("a", ""), ("b", "")), 2, ordered=False)
    assert [list(series.remaining) for series in plain] == [[(0, 1)], [(0, 2)], [(1, 1)], [(1, 2)]]
    ordered = series_of(tasks_of(("a", ""), ("b", "gone")), 2, ordered=True)
    assert [list(series.remaining) for series in ordered] == [[(0, 1), (0, 2)], [(1, 1), (1, 2)]]
    mirrored = series_of(tasks_of(("b", "a"), ("c", ""), ("a", "")), 1, ordered=False)
    assert [list(series.remaining) for series in mirrored] == [[(2, 1), (0, 1)], [(1, 1)]]
    circle = series_of(tasks_of(("a", "b"), ("b", "a")), 1, ordered=False)
    assert sorted(attempt for series in circle for attempt in series.remaining) == [(0, 1), (1, 1)]


def test_what_is_put_back_is_dealt_first_and_waited_for() -> None:
    first, second = (AttemptSeries([NumberedAttempt(task, 1)]) for task in (0, 1))
    queue = AttemptQueue([first, second])
    assert queue.take() is first
    queue.put_back(first)
    assert queue.remaining() == [(0, 1), (1, 1)]
    assert [queue.take(), queue.take()] == [first, second]
    queue.finish_series()
    queue.finish_series()
    assert queue.take() is None
