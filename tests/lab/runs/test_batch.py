"""Many runs by one command: what passed, what pass@k means, what the agent keeps, what an interruption leaves."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lab.core.run.trace import Ended, Trace
from lab.core.task.task import Actor
from lab.runs.batch.pass_rates import (
    BrokenRun,
    attempt_of,
    count_dealt_again,
    kind_results,
    pass_rates,
    recovery_rate,
    task_result,
    unbiased_pass_rate,
)
from lab.runs.spec import Spec, phone_of
from simulators import library
from simulators.phone.phone import Phone
from store.store import Store
from tests.lab.cli.test_commands import Hitlab, hitlab
from tests.lab.fitting import fits
from tests.lab.programs import OPENS, READY, comes, gone, program
from tests.warm import Warm

__all__ = ["hitlab"]

OPEN_TASK = """
kind: general
instruction: Open the settings
budget: 4
checks: [{name: settings open, path: nav.app, equals: settings}]
"""
LEARNS = """
runs = 0
while True:
    line = read()
    if line["line"] == "hello":
        say(line="hello", v=1, screenshot="none")
    if line["line"] == "end":
        runs += 1
    if line["line"] == "observation":
        there = "settings" in line["activity"]
        if runs == 0:
            say(kind="status", status="infeasible")
        else:
            say(**({"kind": "status", "status": "complete"} if there else {"kind": "open_app", "app": "Settings"}))
"""
"""A program that fails its first run and knows better from the second on."""


@pytest.fixture
def tasks(hitlab: Hitlab) -> list[str]:
    """Two small tasks of one's own, in the working folder, with a script that never needs to answer."""
    for name in ("one", "two"):
        Path(f"{name}.yaml").write_text(OPEN_TASK, encoding="utf-8")
    Path("silent.yaml").write_text("replies: []\n", encoding="utf-8")
    return ["one.yaml", "two.yaml", "--user", "script:silent.yaml", "--db", "x.db"]


# -- one command ----------------------------------------------------------------------------------------------


def test_attempts_are_runs_that_begin_from_one_snapshot_of_one_phone(
    hitlab: Hitlab, tasks: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    phones: list[Phone] = []

    class Counted(Phone):
        restored = 0

        def restore(self, state: dict[str, Any]) -> None:
            super().restore(state)
            type(self).restored += 1

    def counting(spec: Spec) -> Phone:
        phones.append(Counted(clock="2026-03-10T08:50:00+08:00"))
        return phones[-1]

    monkeypatch.setattr("lab.runs.batch.batch.phone_of", counting)
    done = hitlab("run", *tasks, "--attempts", 3, "--agent", program(tmp_path, OPENS), "--json")
    assert done.code == 0
    result = done.json
    assert fits(result, "run")
    assert (len(phones), Counted.restored) == (2, 6)
    assert [task["task"] for task in result["tasks"]] == ["one", "two"]
    with Store.open(Path("x.db")) as store:
        for task in result["tasks"]:
            assert [attempt["attempt"] for attempt in task["attempts"]] == [1, 2, 3]
            assert len({attempt["state"] for attempt in task["attempts"]}) == 1
            assert [attempt["passed"] for attempt in task["attempts"]] == [True] * 3
            for attempt in task["attempts"]:
                trace = store.runs.trace(attempt["trace"])
                assert (trace.attempt, trace.status, len(trace.steps)) == (attempt["attempt"], "completed", 2)
    assert [line.rpartition(",")[0] for line in done.err.splitlines()] == [
        f"{3 * i + k}/6 {name} attempt {k}: completed, score 1, 2 steps"
        for i, name in enumerate(("one", "two"))
        for k in (1, 2, 3)
    ]


def test_an_agent_that_learns_passes_later_and_recovery_says_so(
    hitlab: Hitlab, tasks: list[str], tmp_path: Path
) -> None:
    agent = program(tmp_path, LEARNS)
    result = hitlab("run", "one.yaml", *tasks[2:], "--attempts", 3, "--agent", agent, "--json").json
    assert [attempt["passed"] for attempt in result["tasks"][0]["attempts"]] == [False, True, True]
    every = result["kinds"][-1]
    assert [(rate["k"], rate["passed"], rate["rate"]) for rate in every["rates"]] == [(1, 0, 0), (2, 1, 1), (3, 1, 1)]
    assert [rate["unbiased"] for rate in every["rates"]] == [None] * 3
    assert (result["memory"], every["recovery"]) == (True, 1.0)
    stopped = hitlab(
        "run", *tasks, "--attempts", 3, "--until-pass", "--agent", program(tmp_path, LEARNS), "--json"
    ).json
    assert [[a["passed"] for a in task["attempts"]] for task in stopped["tasks"]] == [[False, True], [True]]
    assert [rate["passed"] for rate in stopped["kinds"][-1]["rates"]] == [1, 2, 2]


def test_the_tables_say_what_their_numbers_are(hitlab: Hitlab, tasks: list[str], tmp_path: Path) -> None:
    Path("free.yaml").write_text("kind: general\ninstruction: Look around\n", encoding="utf-8")
    done = hitlab("run", *tasks[:2], "free.yaml", *tasks[2:], "--attempts", 2, "--agent", program(tmp_path, LEARNS))
    assert "not checked" in done.out
    assert "1/2" in done.out
    assert "pass@2" in done.out
    assert "No unbiased estimate: the agent may learn from one attempt to the next." in done.out
    assert "Counted in no rate, because nothing was checked: 1 of 3 tasks." in done.out
    assert "Every attempt at a task began from the same snapshot of the phone." in done.out


def test_a_program_that_dies_fails_its_run_and_the_others_go_on(
    hitlab: Hitlab, tasks: list[str], tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    code = f"if not os.path.exists({str(mark)!r}): open({str(mark)!r}, 'w').close(); observed(); sys.exit(9)\n" + OPENS
    done = hitlab("run", *tasks, "--agent", program(tmp_path, code), "--json")
    assert [task["attempts"][0]["status"] for task in done.json["tasks"]] == ["failed", "completed"]
    assert done.code == 0
    assert "exit code 9" in done.err
    assert hitlab("run", *tasks, "--agent", program(tmp_path, OPENS), "--fail-under", "1").code == 0
    mark.unlink()
    failed = hitlab("run", *tasks, "--agent", program(tmp_path, code), "--fail-under", "0.6")
    assert failed.code == 1
    assert "pass@1 is 0.500, under 0.6" in failed.err


def test_the_playbook_agent_plays_built_in_tasks_of_a_kind(hitlab: Hitlab) -> None:
    done = hitlab(
        "run", "saturday_walk", "flight_alarm", "--kind", "proactive", "--db", "x.db", "--attempts", 2, "--json"
    )
    assert [(task["task"], task["passes"]) for task in done.json["tasks"]] == [("saturday_walk", 2)]
    assert [rate["unbiased"] for rate in done.json["kinds"][-1]["rates"]] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        ([], 2, "names no task"),
        (["--all", "one.yaml"], 2, "not both"),
        (["one.yaml", "--attempts", "0"], 2, "--attempts 0"),
        (["one.yaml", "--user", "human", "--agent", "process:true"], 2, "nobody sits at many runs"),
        (["one.yaml", "--agent", "process:true"], 1, "script 'one'"),
        (["saturday_walk", "gone.yaml"], 1, "gone.yaml"),
        (["one.yaml", "--kind", "proactive"], 2, "none of the tasks is proactive"),
        (["saturday_walk", "--agent", "oracle"], 2, "oracle"),
        (["saturday_walk", "--agent", "process:no-such-program"], 2, "no-such-program"),
        (["one.yaml", "--fail-under", "3"], 2, "--fail-under"),
    ],
)
def test_what_cannot_be_run_is_refused_before_the_first_run(
    hitlab: Hitlab, tasks: list[str], args: list[str], code: int, words: str
) -> None:
    done = hitlab("run", *args, "--db", "y.db")
    assert (done.code, words in done.err) == (code, True), done.err
    assert not hitlab("traces", "--json", "--db", "y.db").json if Path("y.db").exists() else True


# -- interrupted, and on a terminal ---------------------------------------------------------------------------


def started(tmp_path: Path, *args: str, **more: Any) -> Warm:
    """The command as a process of its own, in a folder with a task."""
    (tmp_path / "one.yaml").write_text(OPEN_TASK, encoding="utf-8")
    (tmp_path / "silent.yaml").write_text("replies: []\n", encoding="utf-8")
    env = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "TERM": "xterm-256color"}
    command = ["run", "one.yaml", "--user", "script:silent.yaml", "--db", "x.db", *args]
    return Warm(command, cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, **more)


def test_ctrl_c_ends_the_run_as_stopped_and_prints_what_is_done(tmp_path: Path) -> None:
    mark = tmp_path / "second"
    code = f"""
observed(); say(kind="status", status="complete")
observed(); open({str(mark)!r} + ".new", "w").write(str(os.getpid())); os.rename({str(mark)!r} + ".new", {str(mark)!r})
time.sleep(600)
"""
    agent = program(tmp_path, code)
    command = started(tmp_path, "--attempts", "3", "--agent", agent, "--json", stderr=subprocess.PIPE)
    assert comes(mark.exists, 30)
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=180)
    assert command.returncode == 3, err
    assert b"Traceback" not in err
    result = json.loads(out)
    assert fits(result, "run")
    assert result["interrupted"] is True
    [first, second] = result["tasks"][0]["attempts"]
    assert (first["status"], first["passed"]) == ("completed", False)
    assert (second["status"], second["passed"], second["score"]) == ("stopped", None, None)
    assert [rate["tasks"] for rate in result["kinds"][-1]["rates"]] == [1, 0, 0]
    assert comes(lambda: gone(int(mark.read_text())))
    with Store.open(tmp_path / "x.db") as store:
        assert store.runs.trace(second["trace"]).status == "stopped"


def test_one_step_is_counted_as_one(hitlab: Hitlab, tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(OPEN_TASK, encoding="utf-8")
    (tmp_path / "silent.yaml").write_text("replies: []\n", encoding="utf-8")
    agent = program(tmp_path, 'observed(); say(kind="status", status="complete")')
    done = hitlab("run", "one.yaml", "--user", "script:silent.yaml", "--db", "x.db", "--agent", agent)
    assert ", 1 step, " in done.err


def test_a_terminal_gets_a_bar(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = started(tmp_path, "--agent", program(tmp_path, OPENS), stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 4096):
            shown += chunk
    except OSError:
        pass  # Linux says so when the other end is closed
    finally:
        os.close(ours)
    out, _ = command.communicate(timeout=180)
    assert command.returncode == 0
    assert b"one: completed, score 1, 2 steps" in shown
    assert "━".encode() in shown
    assert b"pass@1" in out


# -- the numbers ----------------------------------------------------------------------------------------------


def test_pass_at_k_counts_tasks_and_recovery_weighs_the_early_ones_more() -> None:
    outcomes = [[True], [False, True], [False, False, True], [False, False, False]]
    assert [(rate.passed, rate.tasks) for rate in pass_rates(outcomes, 3, independent=False)] == [
        (1, 4),
        (2, 4),
        (3, 4),
    ]
    assert recovery_rate(outcomes, 3) == pytest.approx((1 + 1 / 2) / 3)
    assert recovery_rate([[True]], 1) is None
    assert recovery_rate([[False, False]], 2) == 0.0


def test_what_is_not_decided_is_left_out() -> None:
    rates = pass_rates([[False], [True], []], 2, independent=True)
    assert [(rate.passed, rate.tasks, rate.unbiased) for rate in rates] == [(1, 2, None), (1, 1, None)]
    assert (recovery_rate([[False]], 2), recovery_rate([[False], [False, True]], 3)) == (None, 1.0)
    assert [kind.kind for kind in kind_results([], 1, independent=True)] == ["all"]
    assert kind_results([], 1, independent=True)[0].rates[0].rate is None


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=8))
def test_rates_never_fall_with_k_and_the_estimate_is_the_mean_over_all_draws(outcomes: list[list[bool]]) -> None:
    rates = pass_rates(outcomes, 4, independent=True)
    shares = [rate.rate or 0.0 for rate in rates]
    assert shares == sorted(shares)
    estimates = [rate.unbiased for rate in rates]
    assert None not in estimates
    assert estimates[0] == pytest.approx(sum(map(sum, outcomes)) / (4 * len(outcomes)))
    assert estimates[-1] == pytest.approx(shares[-1])
    assert unbiased_pass_rate(4, 1, 2) == pytest.approx(1 / 2)


def test_an_attempt_that_a_phone_broke_off_is_dealt_again_once_it_was_begun_anew() -> None:
    first, second, other = (BrokenRun(f"r{n}", task, n, "p", "") for n, task in ((1, "t"), (1, "t"), (2, "t")))
    made = attempt_of(Trace("r", library.task("night_mode"), Actor("script", "playbook"), attempt=2))
    task = task_result("t", "general", [made])
    assert [count_dealt_again([task], broken) for broken in ([first], [first, second], [other], [])] == [0, 1, 1, 0]


def test_a_run_on_a_phone_whose_state_cannot_be_checked_has_neither_passed_nor_failed() -> None:
    ended = Ended(status="completed")
    seen = Trace("r", library.task("night_mode"), Actor("script", "playbook"), ended=ended)
    assert attempt_of(seen).passed is None
    assert attempt_of(replace(seen, state="s", ended=replace(ended, status="failed"))).passed is False


def test_the_phone_of_a_spec_is_the_same_each_time() -> None:
    spec = Spec(library.task("saturday_walk"), seed=5)
    assert phone_of(spec).snapshot() == phone_of(spec).snapshot()
    assert READY
