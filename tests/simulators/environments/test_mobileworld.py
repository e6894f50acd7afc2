"""Runs on a server that speaks MobileWorld's API, over a real socket."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from lab.core.errors import LabError
from lab.core.run.step import Action, Proposed, Question, Reply
from lab.core.run.trace import Paused, Resumed, Started
from lab.core.seams import Trouble
from lab.core.task.task import Actor, Task
from lab.runs.session import Session
from lab.runs.spec import Spec, phone_of, resume_spec, stored_spec
from simulators.environments import http_line, mobileworld
from simulators.environments.address import read_address
from store.store import Store
from tests.mobileworld import GOAL, PNG_SIZE, MobileWorldServer, answers
from tests.simulators.environments.conftest import Listed, over, spec_of, until


def environment(server: MobileWorldServer) -> mobileworld.MobileWorld:
    return mobileworld.MobileWorld(read_address(server.env))


def test_its_tasks_are_listed_with_kinds_apps_and_tags(server: MobileWorldServer) -> None:
    tasks = environment(server).tasks()
    assert [(task.id, task.kind) for task in tasks] == [
        ("FlightAlarm", "general"), ("LowBattery@tobin", "proactive"), ("UsualLunch@ines", "personalized"),
    ]  # fmt: skip
    assert tasks[0].apps == ("Clock", "Messages")
    assert tasks[0].budget == 50
    assert tasks[1].traits == {"tags": "hard, routine, system-settings", "difficulty": "hard"}


def test_a_task_comes_with_its_goal_word_for_word(server: MobileWorldServer) -> None:
    assert environment(server).task("LowBattery@tobin", 0).instruction == GOAL


def test_a_task_that_is_not_there_is_a_sentence_with_what_may_be_meant(server: MobileWorldServer) -> None:
    with pytest.raises(LabError) as caught:
        environment(server).task("FlightAlarms", 0)
    assert "'FlightAlarms'" in caught.value.sentence
    assert "FlightAlarm" in caught.value.sentence


def test_a_run_is_reset_played_scored_and_torn_down_there(server: MobileWorldServer, store: Store) -> None:
    session = over(Session(store, spec_of(server, "FlightAlarm")))
    trace = store.runs.trace(session.trace_id)
    assert trace.ended is not None
    assert trace.status == "completed"
    assert trace.ended.score == 1.0
    assert trace.ended.reason == "decision none, answered ''"
    assert trace.ended.scored_by == server.url
    assert trace.ended.checks == ()
    assert trace.state is None
    assert trace.device.kind == "environment"
    assert trace.device.id == server.url
    assert trace.device.size == PNG_SIZE
    paths = [path for path in server.paths() if path not in ("/task/list", "/task/goal")]
    assert paths[:2] == ["/task/tear_down", "/task/init"]
    assert paths[-2:] == ["/task/eval", "/task/tear_down"]
    assert set(paths[2:-2]) == {"/step"}
    sent = server.asked("/task/eval")[0]
    assert sent["task_name"] == "FlightAlarm"
    assert sent["req_device"] == "emulator-5554"
    assert [action["action_type"] for action in sent["actions"]][-1] == "finished"
    assert len(sent["actions"]) == len(trace.steps)


def test_each_attempt_begins_where_the_task_does(server: MobileWorldServer, store: Store) -> None:
    spec = spec_of(server, "FlightAlarm")
    scores = [over(Session(store, spec._replace(attempt=number))).trace_id for number in (1, 2)]
    assert [store.runs.trace(run).ended.score for run in scores] == [1.0, 1.0]  # type: ignore[union-attr]
    assert len(server.asked("/task/init")) == 2
    assert len(server.asked("/task/tear_down")) == 4


def test_an_answer_reaches_the_scorer(server: MobileWorldServer, store: Store) -> None:
    agent = Listed(Action("answer", text="KX417"))
    session = over(Session(store, spec_of(server, "FlightAlarm"), agent=agent))
    ended = store.runs.trace(session.trace_id).ended
    assert ended is not None
    assert ended.reason == "decision none, answered 'KX417'"
    assert server.asked("/step")[-1]["action"] == {"action_type": "answer", "text": "KX417"}


def test_a_run_out_of_steps_is_scored_too(server: MobileWorldServer, store: Store) -> None:
    spec = spec_of(server, "FlightAlarm")
    import msgspec

    spec = spec._replace(task=msgspec.structs.replace(spec.task, budget=2))
    server.score = {"score": 0.25, "reason": "a quarter"}
    trace = store.runs.trace(over(Session(store, spec)).trace_id)
    assert trace.status == "budget"
    assert trace.ended is not None
    assert trace.ended.score == 0.25
    assert trace.ended.reason == "the budget of 2 steps is used up; a quarter"


@pytest.mark.parametrize(
    ("action", "sent"),
    [
        (Action("click", (5, 6)), {"action_type": "click", "x": 5, "y": 6}),
        (Action("scroll", direction="down"), {"action_type": "scroll", "direction": "down"}),
        (Action("drag", (1, 2), (3, 4)), {"action_type": "drag", "start_x": 1, "start_y": 2, "end_x": 3, "end_y": 4}),
        (Action("wait"), {"action_type": "wait"}),
        (Action("open_app", app="Clock"), {"action_type": "open_app", "app_name": "Clock"}),
        (Action("input_text", text="吃了没"), {"action_type": "input_text", "text": "吃了没"}),
    ],
)
def test_actions_go_as_the_server_names_them(
    server: MobileWorldServer, action: Action, sent: dict[str, object]
) -> None:
    server.faults["/step"] = answers(200, b'{"result": "OK"}')
    phone = phone_of(spec_of(server, "FlightAlarm"))
    phone.perform(action)
    assert server.asked("/step") == [{"device": "emulator-5554", "action": sent}]
    phone.close()


def test_content_that_is_scrolled_aside_goes_by_a_finger_for_the_server_would_scroll_up(
    server: MobileWorldServer,
) -> None:
    server.faults["/step"] = answers(200, b'{"result": "OK"}')
    phone = phone_of(spec_of(server, "FlightAlarm"))
    phone.perform(Action("scroll", direction="right"))
    told = server.asked("/step")[0]["action"]
    assert told["action_type"] == "drag"
    assert told["end_x"] < told["start_x"]
    assert told["end_y"] == told["start_y"]
    with pytest.raises(LabError, match="no action press_recent"):
        phone.perform(Action("press_recent"))
    with pytest.raises(LabError, match="not on a screen"):
        phone.perform(Action("click", (5000, 6)))
    phone.close()


def test_frames_come_while_it_changes(server: MobileWorldServer) -> None:
    phone = phone_of(spec_of(server, "FlightAlarm"))
    stop = threading.Event()
    frames = phone.frames(stop)
    first = next(frames)
    assert first.size == PNG_SIZE
    assert len(first.rgb) == PNG_SIZE[0] * PNG_SIZE[1] * 3
    phone.perform(Action("open_app", app="Clock"))
    changed = next(frame for frame in frames if frame.number == 2)
    assert (changed.tree, changed.at > first.at) == (None, True)
    tree = phone.observe().tree
    assert next(frame for frame in frames if frame.tree is not None).tree == tree
    stop.set()
    assert list(frames) == []
    phone.close()


def test_it_takes_no_snapshot_and_its_runs_are_neither_resumed_nor_forked(
    server: MobileWorldServer, store: Store
) -> None:
    phone = phone_of(spec_of(server, "FlightAlarm"))
    assert phone.snapshot() is None
    with pytest.raises(LabError, match="takes no snapshot"):
        phone.restore({})
    phone.close()
    session = Session(store, spec_of(server, "FlightAlarm"), agent=Listed(Action("wait")))
    session.begins_paused = "waiting"
    session.start()
    session.leave()
    assert session.join(180)
    trace = store.runs.trace(session.trace_id)
    with pytest.raises(LabError, match=r"made in an environment .*cannot be resumed"):
        resume_spec(trace)
    with pytest.raises(LabError, match="cannot be forked"):
        stored_spec(trace, "forked")


# -- what goes wrong ---------------------------------------------------------------------------------------------


def test_a_server_that_is_away_is_waited_for_and_the_run_goes_on(server: MobileWorldServer, store: Store) -> None:
    halfway, go = threading.Event(), threading.Event()

    class Halfway(Listed):
        def propose(self, brief: object, screen: object, history: object) -> Proposed:
            assert isinstance(history, list)
            if len(history) == 1:
                halfway.set()
                assert go.wait(180)
            return super().propose(brief, screen, history)

    agent = Halfway(Action("wait"), Action("ask_user", text="?"), Action("status", status="complete"))
    session = Session(store, spec_of(server, "FlightAlarm"), agent=agent)
    session.start()
    assert halfway.wait(180)
    server.kill()
    go.set()
    until(lambda: session.device.trouble)
    server.start()
    assert session.join(180)
    events = list(store.runs.events(session.trace_id))
    paused = [event for event in events if isinstance(event, Paused)]
    assert paused
    assert "does not answer" in paused[0].reason
    assert server.url in paused[0].reason
    assert any(isinstance(event, Resumed) for event in events)
    assert store.runs.trace(session.trace_id).status == "completed"


def test_a_person_ends_a_run_whose_server_stays_away(server: MobileWorldServer, store: Store) -> None:
    session = Session(store, spec_of(server, "FlightAlarm"), agent=Listed(Action("wait"), Action("wait")))
    server.kill()
    session.start()
    until(lambda: session.device.trouble)
    session.stop()
    assert session.join(180)
    assert store.runs.trace(session.trace_id).status == "stopped"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"path": "x.png"}', "b64_png"),
        (b'{"b64_png": "@@@"}', "no base64"),
        (b'{"b64_png": "aGVsbG8="}', "no PNG"),
        (b"<html>", "is not JSON"),
        (b"[1, 2]", "cannot be used"),
    ],
)
def test_a_picture_that_is_none_is_a_trouble_that_names_address_and_field(
    server: MobileWorldServer, data: bytes, says: str
) -> None:
    phone = phone_of(spec_of(server, "FlightAlarm"))
    server.faults["/screenshot"] = answers(200, data)
    with pytest.raises(Trouble) as caught:
        phone.observe()
    assert says in caught.value.sentence
    assert f"{server.url}/screenshot" in caught.value.sentence
    phone.close()


def test_a_screen_without_a_tree_is_still_a_screen(server: MobileWorldServer) -> None:
    phone = phone_of(spec_of(server, "FlightAlarm"))
    server.faults["/xml"] = answers(500, b'{"detail": "xml uia pull failed"}')
    server.faults["/state"] = answers(500, b"")
    screen = phone.observe()
    assert screen.size == PNG_SIZE
    assert not screen.tree.roots
    assert "xml uia pull failed" in screen.tree_missing
    phone.close()


@pytest.mark.parametrize(
    ("path", "status", "data", "says"),
    [
        ("/task/list", 404, b'{"detail": "Not Found"}', "answers with 404: Not Found. Is this the address"),
        ("/task/list", 200, b'{"tasks": []}', "/task/list: its answer cannot be used"),
        ("/task/list", 200, b'[{"name": 7}]', "name"),
        ("/task/list", 200, b'[{"name": ""}]', "field [0].name"),
        ("/task/list", 200, b"x" * (5 << 20), "more than 4,194,304 bytes"),
        ("/task/list", 302, b"", "answers with 302"),
        ("/task/goal", 200, b"null", "/task/goal: its answer cannot be used"),
        ("/task/goal", 200, b'" "', "says nothing of 'FlightAlarm'"),
        ("/init", 500, b'{"detail": "Device is not healthy"}', "Device is not healthy"),
        ("/init", 200, b'{"viewport_size": [null, null]}', "viewport_size"),
        ("/init", 200, b'{"viewport_size": [0, 7]}', "is no screen"),
        ("/task/init", 500, b'{"detail": "Failed to initialize task"}', "Failed to initialize task"),
    ],
)
def test_a_wrong_answer_before_the_run_is_one_sentence(
    server: MobileWorldServer, path: str, status: int, data: bytes, says: str
) -> None:
    server.faults[path] = answers(status, data)
    with pytest.raises(LabError) as caught:
        phone_of(spec_of(server, "FlightAlarm"))
    assert says in caught.value.sentence
    assert server.url in caught.value.sentence
    assert "\n" not in caught.value.sentence


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"score": 7}', "field score: 7 is not from 0 to 1"),
        (b'{"reason": "none"}', "score"),
        (b'{"score": "1.0"}', "score"),
        (b"", "is not JSON"),
    ],
)
def test_a_score_that_is_none_ends_the_run_as_failed(
    server: MobileWorldServer, store: Store, data: bytes, says: str
) -> None:
    server.faults["/task/eval"] = answers(200, data)
    session = over(Session(store, spec_of(server, "FlightAlarm"), agent=Listed(Action("status", status="complete"))))
    ended = store.runs.trace(session.trace_id).ended
    assert ended is not None
    assert ended.status == "failed"
    assert ended.score is None
    assert says in ended.reason
    assert f"{server.url}/task/eval" in ended.reason


def test_a_score_of_true_is_one(server: MobileWorldServer, store: Store) -> None:
    server.score = {"score": True}
    session = over(Session(store, spec_of(server, "FlightAlarm"), agent=Listed(Action("status", status="complete"))))
    ended = store.runs.trace(session.trace_id).ended
    assert ended is not None
    assert ended.score == 1.0
    assert ended.reason == ""


def test_an_action_that_fails_there_is_told_and_the_run_goes_on(server: MobileWorldServer, store: Store) -> None:
    server.faults["/step"] = answers(500, b'{"detail": "adb \\u001b[31m is gone, key sk-abcdefghijklmnop"}')
    agent = Listed(Action("click", (5, 6)), Action("status", status="complete"))
    trace = store.runs.trace(over(Session(store, spec_of(server, "FlightAlarm"), agent=agent)).trace_id)
    assert trace.status == "completed"
    error = trace.steps[0].error or ""
    assert "adb" in error
    assert "\x1b" not in error
    assert "sk-abc" not in error


def test_a_server_that_never_answers_is_not_waited_for_longer_than_is_said(
    server: MobileWorldServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = threading.Event()

    def silent(handler: BaseHTTPRequestHandler) -> None:
        gone.wait(180)

    def dripping(handler: BaseHTTPRequestHandler, *heads: bytes) -> None:
        handler.wfile.write(b"\r\n".join((b"HTTP/1.1 200 OK", *heads, b"", b"")))
        while not gone.wait(0.02):
            handler.wfile.write(b" ")

    def announced(handler: BaseHTTPRequestHandler) -> None:
        dripping(handler, b"Content-Length: 1000000")

    def closing(handler: BaseHTTPRequestHandler) -> None:
        dripping(handler, b"Connection: close")

    line = http_line.HttpLine(server.url)
    for fault in (silent, announced, closing):
        server.faults["/task/list"] = fault
        with pytest.raises(Trouble, match=r"does not answer within 0.3 s"):
            line.ask("GET", "/task/list", list[str], seconds=0.3)
    gone.set()


def test_what_is_no_http_server_is_a_trouble() -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]

        def greet() -> None:
            one, _ = listening.accept()
            one.recv(1024)
            one.sendall(b"220 mail ready\r\n")
            one.close()

        threading.Thread(target=greet, daemon=True).start()
        with pytest.raises(Trouble, match="does not answer"):
            http_line.HttpLine(f"http://127.0.0.1:{port}").ask("GET", "/task/list", list[str], seconds=5)


def test_a_hostile_task_name_is_shown_plainly_and_asked_for_as_it_is(server: MobileWorldServer, store: Store) -> None:
    name = "../x\x1b[31m&task_name=y[bold]"
    server.tasks[name] = server.tasks["FlightAlarm"]
    task = environment(server).task(name, 0)
    assert task.id == name
    assert server.asked("/task/goal")[-1] == {"task_name": name}
    agent = Listed(Action("status", status="complete"))
    session = over(Session(store, Spec(task, user="script", environment=server.env), agent=agent))
    assert store.runs.trace(session.trace_id).task.id == name
    assert server.asked("/task/init")[-1]["task_name"] == name


# -- what the user replies ---------------------------------------------------------------------------------------


@pytest.fixture
def replies(monkeypatch: pytest.MonkeyPatch, server: MobileWorldServer) -> str:
    """The server's user is asked where the run's replies are to be had."""
    from simulators.environments.reply_endpoint import reply_endpoint

    monkeypatch.setenv("HITLAB_ENVIRONMENT_REPLIES", "127.0.0.1:0")
    endpoint = reply_endpoint()
    assert endpoint is not None
    server.user_base = endpoint.base
    return endpoint.base


def test_without_a_way_to_tell_replies_a_task_that_is_scored_by_them_is_refused(server: MobileWorldServer) -> None:
    with pytest.raises(LabError, match="and is not told of it"):
        phone_of(spec_of(server, "LowBattery@tobin"))
    assert not server.asked("/task/init")


@pytest.mark.parametrize(("script", "decision"), [("low_battery", "accept"), ("low_battery.refuse", "reject")])
def test_the_scorer_hears_what_the_runs_own_user_decided(
    server: MobileWorldServer, store: Store, replies: str, script: str, decision: str
) -> None:
    session = over(Session(store, spec_of(server, "LowBattery@tobin", f"script:{script}")))
    trace = store.runs.trace(session.trace_id)
    asked = next(step for step in trace.steps if step.question is not None)
    assert asked.error is None
    assert asked.reply is not None
    assert asked.reply.decision == decision
    assert trace.ended is not None
    assert trace.ended.score == 1.0
    assert trace.ended.reason.startswith(f"decision {decision}")
    assert asked.question is not None
    assert server.chat[0]["content"] == asked.question.text
    assert server.chat[1]["content"].endswith(f"<decision>{decision}</decision>")


def test_it_is_said_where_the_servers_own_user_answered_in_place_of_the_runs(
    server: MobileWorldServer, store: Store, replies: str
) -> None:
    server.faults["/step"] = answers(200, json.dumps({"result": "I am somebody else"}).encode())
    agent = Listed(Action("ask_user", text="Shall I?"), Action("status", status="complete"))
    session = over(Session(store, spec_of(server, "LowBattery@tobin", "script:low_battery"), agent=agent))
    error = store.runs.trace(session.trace_id).steps[0].error
    assert error is not None
    assert "its own user answered in place of this run's" in error
    assert "USER_AGENT_BASE_URL=http://127.0.0.1:" in error


def test_replies_are_to_be_had_by_nobody_who_asks_something_else(server: MobileWorldServer, replies: str) -> None:
    import urllib.error

    for question in ("What is his password?", ""):
        with pytest.raises(urllib.error.HTTPError, match="503"):
            server.complete([{"role": "user", "content": question}])


def test_a_judge_without_a_model_leaves_no_score_behind(server: MobileWorldServer, store: Store, replies: str) -> None:
    server.judges = True
    agent = Listed(Action("status", status="complete"))
    session = over(Session(store, spec_of(server, "UsualLunch@ines", "script:usual_lunch"), agent=agent))
    ended = store.runs.trace(session.trace_id).ended
    assert ended is not None
    assert ended.status == "failed"
    assert ended.score is None
    assert "HITLAB_ENVIRONMENT_JUDGE" in ended.reason


def test_a_judge_is_answered_by_the_model_that_is_named(
    server: MobileWorldServer, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from simulators.environments.reply_endpoint import reply_endpoint
    from tests.endpoint import Said, in_turn, serving

    with serving(in_turn(Said("<think>fits</think><score>1</score>"))) as models:
        monkeypatch.setenv("HITLAB_MODEL_BASE", models.base)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")
        monkeypatch.setenv("HITLAB_ENVIRONMENT_REPLIES", "localhost:0")
        monkeypatch.setenv("HITLAB_ENVIRONMENT_JUDGE", "openai/tiny")
        endpoint = reply_endpoint()
        assert endpoint is not None
        server.user_base, server.judges = endpoint.base, True
        agent = Listed(Action("status", status="complete"))
        session = over(Session(store, spec_of(server, "UsualLunch@ines", "script:usual_lunch"), agent=agent))
    ended = store.runs.trace(session.trace_id).ended
    assert ended is not None
    assert ended.status == "completed"
    assert server.judged == ["<score>1</score>"]


def test_replies_are_offered_to_other_machines_only_with_a_token(
    server: MobileWorldServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HITLAB_ENVIRONMENT_REPLIES", "0.0.0.0:0")
    with pytest.raises(LabError, match="no token is set"):
        phone_of(spec_of(server, "FlightAlarm"))
    monkeypatch.setenv("HITLAB_ENVIRONMENT_REPLIES", "nonsense")
    with pytest.raises(LabError, match="no HOST:PORT"):
        phone_of(spec_of(server, "FlightAlarm"))


def test_a_brief_holds_the_goal_and_no_more(server: MobileWorldServer, store: Store, tmp_path: Path) -> None:
    session = over(Session(store, spec_of(server, "FlightAlarm"), agent=Listed(Action("status", status="complete"))))
    started = next(iter(store.runs.events(session.trace_id)))
    assert isinstance(started, Started)
    assert started.task.checks == ()
    assert started.persona is None
    assert isinstance(started.task, Task)
    assert started.task.policy == ""


def test_hearing_nothing_where_no_one_is_to_be_told(server: MobileWorldServer) -> None:
    phone = phone_of(spec_of(server, "FlightAlarm"))
    assert isinstance(phone, mobileworld.MobileWorldPhone)
    phone.receive_reply(Question("q0", "ask", "?"), Reply("q0", "!", Actor("script", "s")))
    assert not server.asked("/step")
    phone.close()


def test_whom_the_person_plays_comes_from_the_server_and_reaches_no_agent(
    server: MobileWorldServer, store: Store, replies: str
) -> None:
    env = environment(server)
    task = env.task("LowBattery@tobin", 0)
    persona = env.persona(task)
    assert persona is not None
    assert (persona.id, persona.name, persona.log) == ("tobin", "Tobin Aldous", ())
    assert "your routine" in task.policy
    seen: list[object] = []

    class Curious(Listed):
        def propose(self, brief: object, screen: object, history: object) -> Proposed:
            seen.append(brief)
            return super().propose(brief, screen, history)

    spec = Spec(task, persona, user="script", environment=server.env)
    session = over(Session(store, spec, agent=Curious(Action("status", status="complete"))))
    assert store.runs.trace(session.trace_id).persona == persona
    told = repr(seen)
    assert GOAL.splitlines()[0] in told
    for hidden in ("Kitefold", "tobin.spokes@post.example", task.policy):
        assert hidden not in told


def test_a_profile_that_the_server_does_not_give_is_none(server: MobileWorldServer) -> None:
    env = environment(server)
    assert env.persona(env.task("FlightAlarm", 0)) is None
    server.faults["/download"] = answers(404, b'{"detail": "file not found"}')
    assert env.persona(env.task("LowBattery@tobin", 0)) is None
    server.faults["/download"] = answers(200, b"identity: {}")
    with pytest.raises(LabError, match="user_profile"):
        env.persona(env.task("LowBattery@tobin", 0))
