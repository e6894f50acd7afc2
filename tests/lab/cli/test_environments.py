"""`--env` as a user gives it: tasks, runs and what is refused, on a server over a real socket."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from lab.core.codec import encode
from simulators import library
from tests.endpoint import Said, in_turn, serving
from tests.lab.cli.test_commands import Hitlab, hitlab
from tests.lab.fitting import fits
from tests.lab.programs import program
from tests.mobileworld import GOAL, MobileWorldServer, answers, mobileworld

__all__ = ["hitlab"]

WORKS = """
turn = 0
while True:
    line = read()
    if line["line"] == "hello":
        say(line="hello", v=1, screenshot="none")
    if line["line"] == "observation":
        turn += 1
        say(**({"kind": "open_app", "app": "Clock"} if turn == 1 else {"kind": "status", "status": "complete"}))
"""


@pytest.fixture
def server() -> Iterator[MobileWorldServer]:
    with mobileworld() as server:
        yield server


def playbook(name: str) -> Path:
    """A built-in task's playbook in a file of its own."""
    path = Path(f"{name}.playbook.yaml")
    path.write_bytes(encode({"playbook": library.task(name).playbook}))
    return path


def test_an_environments_tasks_are_listed(hitlab: Hitlab, server: MobileWorldServer) -> None:
    shown = hitlab("tasks", "--env", server.env).out
    assert "LowBattery@tobin" in shown
    assert "proactive" in shown
    listed = hitlab("tasks", "--env", server.env, "--json").json
    assert fits(listed, "tasks")
    assert next((line["id"], line["path"], line["apps"]) for line in listed) == (
        "FlightAlarm", server.url, ["Clock", "Messages"],
    )  # fmt: skip
    named = hitlab("tasks", "LowBattery@tobin", "--env", server.env)
    assert GOAL.splitlines()[0] in named.out
    assert hitlab("tasks", "LowBattery@tobin", "--env", server.env, "--json").json[0]["instruction"] == GOAL


def test_runs_in_an_environment_pass_by_its_scores(hitlab: Hitlab, server: MobileWorldServer) -> None:
    args = ("run", "FlightAlarm", "--env", server.env, "--playbook", playbook("flight_alarm"), "--db", "x.db")
    done = hitlab(*args, "--attempts", 2)
    assert "1/1 100%" in done.out
    assert f"A run passes when {server.url} scores it above 0.99." in done.out
    assert "every rule that applies" not in done.out
    assert "same snapshot" not in done.out
    server.score = {"score": 0.98, "reason": "nearly"}
    result = hitlab(*args, "--json").json
    assert fits(result, "run")
    attempt = result["tasks"][0]["attempts"][0]
    assert (attempt["score"], attempt["passed"], attempt["reason"]) == (0.98, False, "nearly")
    assert attempt["scored_by"] == server.url


def test_what_a_run_in_an_environment_can_do_elsewhere(hitlab: Hitlab, server: MobileWorldServer) -> None:
    hitlab("run", "FlightAlarm", "--env", server.env, "--playbook", playbook("flight_alarm"), "--db", "x.db")
    [run] = hitlab("traces", "--db", "x.db", "--json").json
    shown = hitlab("show", run["id"], "--db", "x.db").out
    assert f"completed, score 1 ({server.url}): decision none" in shown
    assert hitlab("metrics", "--db", "x.db").code == 0
    assert hitlab("export", "--all", "--format", "jsonl", "--out", "out", "--db", "x.db").err == ""
    assert hitlab("live", "--resume", run["id"], "--env", server.env, "--db", "x.db", "--headless").code == 2
    refused = hitlab("fork", f"{run['id']}@2", "--headless", "--db", "x.db")
    assert refused.code != 0
    assert "was made in an environment" in refused.err
    assert "cannot be forked" in refused.err


def test_a_program_and_a_model_work_its_phone(
    hitlab: Hitlab, server: MobileWorldServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = hitlab(
        "live", "FlightAlarm", "--env", server.env, "--headless", "--agent", program(tmp_path, WORKS), "--json"
    )
    assert fits(made.json, "live")
    assert (made.json["status"], made.json["steps"]) == ("completed", 2)
    assert server.asked("/step")[0]["action"] == {"action_type": "open_app", "app_name": "Clock"}
    said = Said('{"thought": "Enough.", "action": "answer", "text": "15:35"}')
    with serving(in_turn(said)) as models:
        monkeypatch.setenv("HITLAB_MODEL_BASE", models.base)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")
        asked = ("live", "FlightAlarm", "--env", server.env, "--headless", "--agent", "model:openai/tiny", "--json")
        assert hitlab(*asked).json["status"] == "completed"
        sent = models.requests[0].data.decode()
    assert "Tomas Brandt wrote me about his flight" in sent
    assert server.answered == "15:35"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("run", "FlightAlarm", "--env", "{env}", "--device", "R58"), "--device: does not go with --env"),
        (("live", "FlightAlarm", "--env", "{env}", "--harness", "http://127.0.0.1:1", "--headless"), "--harness: does"),
        (("run", "FlightAlarm", "--env", "{env}", "--vary", "7", "--agent", "recorded:x"), "--vary: does not go"),
        (("run", "Nope", "--env", "{env}"), "there is no task 'Nope'"),
        (("live", "usual_lunch", "--env", "{env}", "--headless"), "there is no task 'usual_lunch'"),
        (("run", "FlightAlarm", "--env", "{env}"), "has no playbook"),
        (("run", "FlightAlarm", "--env", "10.0.0.7"), "is no environment's address"),
        (("tasks", "--env", "androidworld:"), "names no Python"),
        (("run", "FlightAlarm", "--env", "{env}", "--agent", "model:x/y", "--user", "script:no.yaml"), "no.yaml"),
        (("run", "--kind", "general", "--env", "{env}", "--agent", "nobody"), "is none of"),
        (("run", "--all", "--env", "{env}", "--agent", "process:true"), "'LowBattery@tobin' by what its user replies"),
    ],
)
def test_what_does_not_go_is_refused_before_anything_is_begun(
    hitlab: Hitlab, server: MobileWorldServer, args: tuple[str, ...], says: str
) -> None:
    refused = hitlab(*(word.format(env=server.env) for word in args))
    assert refused.code != 0
    assert says in refused.err
    assert "Traceback" not in refused.err
    assert not server.asked("/task/init")
    assert not list(Path("data").rglob("*.db"))


def test_a_batch_that_is_broken_off_tells_what_was_made_before(hitlab: Hitlab, server: MobileWorldServer) -> None:
    def scored(handler: BaseHTTPRequestHandler) -> None:
        answers(200, b'{"score": 1.0}')(handler)
        server.kill()

    server.faults["/task/eval"] = scored
    args = ("run", "FlightAlarm", "--env", server.env, "--playbook", playbook("flight_alarm"), "--db", "x.db")
    done = hitlab(*args, "--attempts", 2)
    assert (done.code, "does not answer (Connection refused)" in done.err) == (1, True)
    assert "1/1 100%" in done.out


def test_a_task_that_its_environment_refuses_is_not_run_and_the_others_are(
    hitlab: Hitlab, server: MobileWorldServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begins(name: str, begin: Callable[[str], None] = server.begin) -> None:
        if name == "NextFlight":
            raise OSError("its app is not there")
        begin(name)

    monkeypatch.setattr(server, "begin", begins)
    server.tasks |= {"NextFlight": server.tasks["FlightAlarm"], "Untold": ("nowhere", ["general"], [])}
    server.score = {"score": 1.0}
    args = ("--env", server.env, "--agent", program(tmp_path, WORKS), "--attempts", 2, "--db", "x.db")
    done = hitlab("run", "Untold", "NextFlight", "FlightAlarm", *args)
    assert done.code == 3
    assert f"hitlab: Untold: is not run: {server.url}/task/goal: answers with 500" in done.err
    not_begun = f"{server.url}/task/init: answers with 500: its app is not there."
    assert [f"hitlab: NextFlight: attempt {number} is not run: {not_begun}\n" in done.err for number in (1, 2)] == [
        True
    ] * 2
    assert done.err.endswith("run: the environment refused, so 4 attempts were not run.\n")
    assert "1/1 100%" in done.out
    assert "Not run, since the environment refused: 4 of all attempts." in done.out
    result = hitlab("run", "Untold", "NextFlight", "FlightAlarm", *args, "--json").json
    assert fits(result, "run")
    assert [(task["task"], task["passes"]) for task in result["tasks"]] == [("FlightAlarm", 2)]
    assert [(one["task"], one["attempt"]) for one in result["refused"]] == [
        ("Untold", 1), ("Untold", 2), ("NextFlight", 1), ("NextFlight", 2),
    ]  # fmt: skip
    none = hitlab("run", "Untold", "NextFlight", *args)
    assert (none.code, none.out) == (1, "")
    assert none.err.endswith(f"hitlab: {not_begun}\n")


def test_a_service_that_is_another_one_is_said_to_be(hitlab: Hitlab, server: MobileWorldServer) -> None:
    server.faults["/task/list"] = answers(404, b"<h1>nothing</h1>")
    assert "Is this the address of a MobileWorld or KnowU-Bench server?" in hitlab("tasks", "--env", server.env).err
    server.kill()
    away = hitlab("run", "--all", "--env", server.env)
    assert "does not answer (Connection refused). Is its container running?" in away.err
    assert away.code != 0


def test_a_hostile_task_name_reaches_the_terminal_as_text(hitlab: Hitlab, server: MobileWorldServer) -> None:
    server.tasks["\x1b]0;title\x07[bold]x"] = ("flight_alarm", ["\x1b[2J"], [])
    shown = hitlab("tasks", "--env", server.env)
    assert "\x1b" not in shown.out
    assert "[bold]x" in shown.out


def test_kinds_choose_among_its_tasks(
    hitlab: Hitlab, server: MobileWorldServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from simulators.environments.reply_endpoint import reply_endpoint

    monkeypatch.setenv("HITLAB_ENVIRONMENT_REPLIES", "127.0.0.1:0")
    endpoint = reply_endpoint()
    assert endpoint is not None
    server.user_base = endpoint.base
    args = ("--env", server.env, "--agent", program(tmp_path, WORKS), "--json", "--db", "k.db")
    result = hitlab("run", "--kind", "proactive", *args).json
    assert [task["task"] for task in result["tasks"]] == ["LowBattery@tobin"]
