"""`hitlab serve user` as people and clients use it: served, killed and begun again, listed, answered by command."""

from __future__ import annotations

import json
import re
import subprocess
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from lab.cli.arguments import duration
from lab.cli.main import main
from lab.cli.serve import endpoint_start
from lab.cli.serve.user_acts import _print_lines
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now
from lab.runs.endpoint.conversation_intake import Intake
from lab.runs.endpoint.conversation_list import ConversationLine
from lab.runs.endpoint.conversation_run import give_reply, waiting_turn
from simulators.users.endpoint.request_kinds import judge_rules
from store.store import Store
from tests.answering import CONSENT, JUDGE, Call, client, messages, reply_to, request, until
from tests.loaded_late import LoadedLate
from tests.screens.runs import BARE, bare_run
from tests.warm import Warm

openai = LoadedLate("openai")

SCRIPT = """\
replies:
  - when: lunch
    say: Noodles, please.
  - when: light
    say: As every night.
    decision: accept
"""
Runs = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    return str(tmp_path / "lab.db")


@pytest.fixture
def run(db: str, capfdbinary: pytest.CaptureFixture[bytes]) -> Runs:
    """Runs one command on the file: its exit code, its JSON where it printed any, its words."""

    def done(*words: str) -> tuple[int, Any, str]:
        code = main(["answer", *words, "--db", db])
        out, err = capfdbinary.readouterr()
        told = json.loads(out) if out.startswith((b"{", b"[")) else None
        return code, told, (out + err).decode()

    return done


class Process:
    """`hitlab serve user` in a process of its own; `base` is where it listens."""

    def __init__(self, db: str, *words: str) -> None:
        command = ["answer", "--json", "--db", db, *words]
        self.process = Warm(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self.process.stdout is not None
        self.served = json.loads(self.process.stdout.readline())
        self.base = self.served["base"]

    @property
    def port(self) -> str:
        return str(self.base.rpartition(":")[2].partition("/")[0])

    def end(self, *, kill: bool = False) -> str:
        """Ends it, and gives what it wrote to its standard error."""
        (self.process.kill if kill else self.process.terminate)()
        return str(self.process.communicate(timeout=180)[1].decode())


@pytest.fixture
def starts(db: str) -> Iterator[Callable[..., Process]]:
    begun: list[Process] = []

    def start(*words: str) -> Process:
        begun.append(Process(db, *words))
        return begun[-1]

    yield start
    for one in begun:
        if one.process.poll() is None:
            one.end(kill=True)


def asks(base: str, said: list[dict[str, Any]], **more: Any) -> Call:
    asking = client(base, timeout=180, max_retries=20)
    return Call(lambda: asking.chat.completions.create(model="human", messages=said, **more).choices[0].message)


def test_a_script_answers_and_ctrl_c_ends_it_with_all_that_was_answered(
    starts: Callable[..., Process], tmp_path: Path, run: Runs
) -> None:
    (tmp_path / "replies.yaml").write_text(SCRIPT)
    served = starts("--script", str(tmp_path / "replies.yaml"), "--port", "0")
    assert served.served["people"] == ["replies"]
    assert asks(served.base, messages("What for lunch?")).result.content == "Noodles, please."
    consent = asks(served.base, messages("Shall I put out the light?", system=CONSENT)).result.content
    assert consent == "As every night.\n<decision>accept</decision>"
    assert served.end() == ""
    assert served.process.returncode == 0
    lines = run("--list", "--json")[1]
    assert [(line["turns"], line["person"], line["asked_at"]) for line in lines] == [(1, "replies", "")] * 2


def test_a_list_tells_the_beginning_of_a_long_question(capfd: pytest.CaptureFixture[str]) -> None:
    at = now()
    _print_lines([ConversationLine("01a2", "user", "P01", "c", "t", "word " * 5000, at, True, 0, False, at, at)])
    told = capfd.readouterr().out
    assert "…" in told
    assert 50 < told.count("word") < 70


def test_what_a_killed_lab_was_asked_waits_and_its_client_meets_it_again(
    starts: Callable[..., Process], run: Runs, db: str
) -> None:
    served = starts("--headless", "--port", "0", "--as", "P01")
    asked = asks(served.base, messages("What for lunch?"))
    until(lambda: len(run("--list", "--json")[1] or []) == 1)
    served.end(kill=True)
    waiting = run("--list", "--json")[1]
    assert [(line["question"], line["unread"]) for line in waiting] == [("What for lunch?", True)]
    again = starts("--headless", "--port", served.port)
    code, told, _ = run("--reply", waiting[0]["run"][:20], "--text", "Noodles.", "--as", "P01", "--json")
    assert (code, told["replies"], told["status"]) == (0, 1, "open")
    assert asked.result.content == "Noodles."
    again.end()
    with Store.open(Path(db)) as store:
        assert [row.turns for row in store.conversations.rows("endpoint:", 10)] == [1]


def hung_up(base: str, question: str) -> None:
    """A client that asks and leaves."""
    address = urlsplit(base)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=60)
    connection.request("POST", "/v1/chat/completions", json.dumps({"messages": messages(question)}))
    assert connection.getresponse().status == 200
    assert connection.sock is not None
    connection.sock.close()
    connection.close()


def test_a_client_that_left_is_told_and_listed_last_and_its_answer_is_kept_for_it(
    starts: Callable[..., Process], run: Runs
) -> None:
    def listed() -> list[tuple[str, bool]]:
        return [(line["question"], bool(line["left_at"])) for line in run("--list", "--json")[1] or []]

    served = starts("--headless", "--port", "0", "--as", "P01")
    hung_up(served.base, "Gone?")
    until(lambda: listed() == [("Gone?", True)])
    asked = asks(served.base, messages("There?"))
    until(lambda: listed() == [("There?", False), ("Gone?", True)])
    words = run("--list")[2]
    assert re.search(r"waits \d+ s +There\?", words)
    assert re.search(r"client left 0:\d\d ago +Gone\?", words)
    served.end(kill=True)
    until(lambda: dict(listed()) == {"There?": True, "Gone?": True})
    again = starts("--headless", "--port", served.port)
    until(lambda: listed() == [("There?", False), ("Gone?", True)])
    for line in run("--list", "--json")[1]:
        assert run("--reply", line["run"], "--text", f"Here. {line['question']}", "--as", "P01")[0] == 0
    assert asked.result.content == "Here. There?"
    assert asks(again.base, messages("Gone?")).result.content == "Here. Gone?"
    assert again.end() == ""
    assert listed() == [("", False), ("", False)]


def test_an_answer_that_was_committed_before_the_kill_is_sent_after_it(
    starts: Callable[..., Process], run: Runs
) -> None:
    served = starts("--headless", "--port", "0")
    asked = asks(served.base, messages("What for lunch?"))
    until(lambda: len(run("--list", "--json")[1] or []) == 1)
    served.process.kill()
    served.process.wait()
    assert run("--reply", run("--list", "--json")[1][0]["run"], "--text", "Rice.")[0] == 0
    starts("--headless", "--port", served.port)
    assert asked.result.content == "Rice."


def test_decisions_scores_and_refusals_by_command(starts: Callable[..., Process], run: Runs) -> None:
    served = starts("--headless", "--port", "0")
    consent = asks(served.base, messages("Shall I?", system=CONSENT))
    until(lambda: len(run("--list", "--json")[1] or []) == 1)
    judged = asks(served.base, messages("Rate it.", system=JUDGE))
    until(lambda: len(run("--list", "--json")[1]) == 2)
    by_kind = {line["kind"]: line["run"] for line in run("--list", "--json")[1]}
    assert "accepted or rejected" in run("--reply", by_kind["consent"], "--text", "ok")[2]
    assert "is a judge's" in run("--reply", by_kind["consent"], "--score", "1")[2]
    assert run("--reply", by_kind["consent"], "--reject", "--text", "Not today.")[0] == 0
    assert consent.result.content == "Not today.\n<decision>reject</decision>"
    assert run("--reply", by_kind["judge"], "--score", "0.25", "--text", "One of 4.")[0] == 0
    assert judged.result.content == "<think>\nOne of 4.\n</think>\n<score>\n0.25\n</score>"
    assert "waits for no answer" in run("--reply", by_kind["consent"], "--accept")[2]
    assert run("--close", by_kind["consent"], "--json")[1]["status"] == "completed"
    assert "has ended already" in run("--close", by_kind["consent"])[2]


def test_several_functions_by_command(starts: Callable[..., Process], run: Runs) -> None:
    served = starts("--headless", "--port", "0")
    tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("look", "tap")]
    asked = asks(served.base, messages("Do it."), tools=tools)
    until(lambda: len(run("--list", "--json")[1] or []) == 1)
    id = run("--list", "--json")[1][0]["run"]
    code, _, words = run("--reply", id, "--tool", "look", "--tool", "tap", "--arguments", "{}")
    assert (code, "stand for 1 of 2 functions" in words) == (2, True)
    assert run("--reply", id, "--tool", "look", "--tool", "tap", "--arguments", "{}", "--arguments", '{"x": 1}')[0] == 0
    calls = asked.result.tool_calls
    assert [(one.function.name, one.function.arguments) for one in calls] == [("look", "{}"), ("tap", '{"x": 1}')]


def test_what_does_not_go_together_is_refused(run: Runs, db: str) -> None:
    assert run("--list", "--room")[0] == 2
    assert run("--text", "x")[0] == 2
    assert run("--reply", "x", "--arguments", "{}")[0] == 2
    for option, value in (("--text", "Done."), ("--score", "1")):
        code, _, words = run("--reply", "x", "--tool", "look", option, value)
        assert (code, f"{option} and --tool do not go together" in words) == (2, True)
    for act in (("--links",), ("--room",), ("--list",), ("--reply", "x"), ("--close", "x")):
        code, _, words = run(*act, "--close-after", "2h")
        assert (code, f"{act[0]} and --close-after do not go together" in words) == (2, True)
    with pytest.raises(SystemExit, match="2"):
        run("--as", "a b")
    assert run("--keep-alive", "0")[0] == 2
    assert run("--headless", "--judge-rule", "(")[0] == 2
    assert "no terminal" in run("--port", "0")[2]
    assert not Path(db).exists()


def test_only_a_persons_own_conversation_is_answered_or_closed(
    starts: Callable[..., Process], run: Runs, db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(Path(db)) as store:
        store.runs.add(bare_run())
    other = BARE
    code, _, said = run("--close", other)
    assert (code, "is no conversation of the endpoint" in said) == (1, True)
    served = starts("--headless", "--as", "P07", "--port", "0")
    call = asks(served.base, messages("Where to?"))
    until(lambda: len(run("--list", "--json")[1] or []) == 1)
    [line] = run("--list", "--json")[1]
    monkeypatch.setenv("HITLAB_SEAT", "participant")
    for act in (("--reply", line["run"], "--text", "Home."), ("--close", line["run"])):
        code, _, said = run(*act, "--as", "P08")
        assert (code, "is not a conversation of P08's" in said) == (1, True)
    assert run("--reply", line["run"], "--text", "Home.", "--as", "P07")[0] == 0
    assert call.result.content == "Home."


def test_an_open_conversation_names_the_command_that_answers_it_and_is_not_resumed(
    db: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with Store.open(Path(db)) as store:
        turn = Intake(store, [Actor("human", "P07")], judge_rules()).receive(request("Where to?")).turn
    assert main(["show", turn.run, "--db", db]) == 0
    shown = capfd.readouterr().out
    assert ("hitlab serve user --room --person P07 goes on" in shown, "--resume" in shown) == (True, False)
    assert main(["live", "--resume", turn.run, "--headless", "--db", db]) == 1
    told = capfd.readouterr().err
    assert "is a conversation at the endpoint; it cannot be resumed" in told
    assert "hitlab serve user --list" in told


def test_a_raters_seat_answers_nothing(run: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HITLAB_SEAT", "rater")
    assert "not there for the seat rater" in run("--list")[2]


def test_others_than_this_machine_need_a_key_that_is_made(starts: Callable[..., Process]) -> None:
    served = starts("--headless", "--port", "0", "--host", "0.0.0.0")
    token = served.served["token"]
    assert token.startswith("sk-")
    base = f"http://127.0.0.1:{served.port}/v1"
    with pytest.raises(Exception, match="not this endpoint's token"):
        list(client(base, api_key="other").models.list())
    assert [one.id for one in client(base, api_key=token).models.list()] == ["human"]


def test_an_endpoint_that_the_app_starts_asks_its_person_and_ends_with_the_app(
    db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint_start, "PORT", 0)
    with Store.open(Path(db)) as store:
        with ExitStack() as served:
            place = endpoint_start.starter(store, served)("P07")
            asked = asks(place.base, messages("What for lunch?"))
            until(lambda: store.conversations.rows("endpoint:", 10))
            (row,) = store.conversations.rows("endpoint:", 10)
            assert (row.user, place.notes, place.close_after) == ("P07", (), "")
            turn = waiting_turn(store.runs.trace(row.run))
            assert turn is not None
            give_reply(store, turn, reply_to(turn, "Noodles."))
            assert asked.result.content == "Noodles."
        with pytest.raises(openai.APIConnectionError):
            client(place.base, max_retries=0).models.list()


def test_what_is_no_duration_is_refused_and_silence_ends_a_conversation(
    run: Runs, starts: Callable[..., Process]
) -> None:
    for words in ("2x", "h", "0s", "-1m", "1.5h"):
        with pytest.raises(ArgumentTypeError, match="is no duration"):
            duration(words)
    assert duration("30m") == 1800
    served = starts("--headless", "--port", "0", "--close-after", "1s")
    asking = client(served.base, timeout=3.0, max_retries=0)
    Call(lambda: asking.chat.completions.create(model="human", messages=messages("Anyone?")))
    until(lambda: [line["ended"] for line in run("--list", "--all", "--json")[1] or []] == [True])
