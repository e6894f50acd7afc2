"""A model in the user's chair, over a real socket: what it is told, what it is not, and how it goes wrong."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from lab.cli import main
from lab.core.errors import LabError
from lab.core.run.step import Action, Observation, Proposed, Question, Reply
from lab.core.run.trace import Answered, Asked, Step
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.settings import Settings
from lab.core.task.task import Actor, Check, Criterion, LogEntry, Persona, Rubric, Task
from lab.llm.client import Llm, ModelTerms
from lab.runs.session import Session
from lab.runs.spec import Spec, resume_spec
from simulators import library
from simulators.users.model import (
    SEEING_SHOWS,
    UNKNOWN,
    UNKNOWN_ZH,
    USER_SHOWS,
    VERSION,
    ModelUser,
    UnusableReply,
    UserPart,
    dialogue_lines,
    model_user,
    read_reply,
    rules,
    user_messages,
)
from store.store import Store
from tests.endpoint import ModelServer, Refused, Request, Said, in_turn, serving

PERSONA = Persona(
    "iris", "Iris", {"preferences": {"tea": "always jasmine"}}, (LogEntry("08:00", "home", "LOGGED-SECRET"),), "noise"
)
TASK = Task(
    "order-tea-canary",
    "personalized",
    title="TITLE-SECRET",
    instruction="Order me a tea",
    time="2026-03-27T08:50:00+08:00",
    place="the pier",
    policy="Nothing above five dollars.",
    rubric=Rubric((Criterion("c", "RUBRIC-SECRET"),)),
    checks=(Check("CHECK-SECRET", path="nav.app", equals="food"),),
)
ASK = Question("q1", "ask", "Which tea?", ("green", "jasmine"))
OFFER = Question("q2", "propose", "Shall I order jasmine tea?")
NEVER = threading.Event()


@pytest.fixture(autouse=True)
def _away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Iterator[ModelServer]:
    with serving(in_turn(*request.param)) as server:
        yield server


def user(server: ModelServer, task: Task = TASK) -> ModelUser:
    return ModelUser("x", Llm("openai/x", ModelTerms(base=server.base, pause=0.01, tries=2)), task, PERSONA)


def said(question: str, reply: str) -> Step:
    asked = Question("q0", "ask", question)
    proposed = Proposed(Action("ask_user", text=question), thought="THOUGHT-SECRET", raw="RAW-SECRET")
    return Step(seq=2, index=0, proposed=proposed, question=asked, reply=Reply("q0", reply, Actor("model", "model:x")))


@pytest.mark.parametrize("served", [[Said('{"text": "Jasmine, please.", "decision": null}')]], indirect=True)
def test_it_is_told_what_the_paper_lists_and_nothing_else(served: ModelServer) -> None:
    history = [said("Hot or cold?", "Hot."), Step(seq=3, index=1, proposed=Proposed(Action("click"), thought="HID"))]
    reply = user(served).reply(ASK, history, NEVER)
    assert (reply.text, reply.decision, reply.by) == ("Jasmine, please.", None, Actor("model", "model:x", "x"))
    assert reply.question_id == "q1"
    assert reply.shown_at
    assert reply.sent_at
    assert reply.usage is not None
    assert reply.usage.prompt_tokens == 1000
    told = served.requests[0].text
    for word in ("Iris", "always jasmine", "08:50", "the pier", "Order me a tea", "Nothing above five dollars.",
                 "Hot or cold?", "Hot.", "Which tea?", "1  green"):  # fmt: skip
        assert word in told, word
    for word in ("SECRET", "HID", "canary", "score", "noise"):
        assert word not in told, word
    assert not served.requests[0].pictures


@pytest.mark.parametrize(
    "served", [[Said("I'd love to"), Said('```json\n{"text": "Yes", "decision": "accept",}\n```')]], indirect=True
)
def test_a_proposal_needs_a_decision_and_is_asked_again(served: ModelServer) -> None:
    reply = user(served).reply(OFFER, [], NEVER)
    assert (reply.text, reply.decision) == ("Yes", "accept")
    assert reply.usage is not None
    assert reply.usage.tries == 2
    assert "cannot be used" in served.requests[1].text
    assert "I'd love to" in served.requests[1].text


@pytest.mark.parametrize("served", [[Said('{"text": "Why not", "decision": "maybe"}')]], indirect=True)
def test_no_reply_is_ever_made_up(served: ModelServer) -> None:
    with pytest.raises(LabError, match="no usable reply in two answers"):
        user(served).reply(OFFER, [], NEVER)
    assert len(served.requests) == 2


@pytest.mark.parametrize("served", [[Refused(500)]], indirect=True)
def test_a_server_that_gives_no_answer_ends_the_run_with_a_sentence(served: ModelServer, tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        session = _session(store, served)
        session.start()
        assert session.join(180)
        trace = store.runs.trace(session.trace_id)
        assert trace.status == "failed"
        assert trace.replies == 0
        assert trace.ended is not None
        assert "gave no answer in 2 tries" in trace.ended.reason


def _session(store: Store, served: ModelServer) -> Session:
    task = library.task("usual_lunch")
    session = Session(store, Spec(task, library.persona(task.persona, task.log), user="script", seat="participant"))
    session.user = ModelUser("x", Llm("openai/x", ModelTerms(base=served.base, pause=0.01, tries=2)), task, PERSONA)
    return session


@pytest.mark.parametrize(
    ("answer", "proposal", "found"),
    [
        ('{"text": " hot ", "decision": null}', False, ("hot", None)),
        ('{"text": "hot", "decision": "accept"}', False, ("hot", None)),
        ('Maybe {"text": "no"}? {"text": "yes"}', False, ("yes", None)),
        ('{"text": "", "decision": "REJECT "}', True, ("", "reject")),
        ('Sure: {"decision": "accept"} done', True, ("", "accept")),
        ('{"text": "at noon", "decision": "none"}', True, ("at noon", None)),
    ],
)
def test_answers_are_read_tolerantly(answer: str, proposal: bool, found: tuple[str, str | None]) -> None:
    assert read_reply(answer, proposal=proposal) == found


@pytest.mark.parametrize(
    ("answer", "proposal"),
    [
        ("hot", False), ("{}", False), ('{"text": " "}', False), ('{"text": 3}', False), ("[1]", True),
        ('{"text": "fine"}', True), ('{"text": "", "decision": "none"}', True), ('{"decision": true}', True),
    ],
)  # fmt: skip
def test_what_is_no_reply_is_refused(answer: str, proposal: bool) -> None:
    with pytest.raises(UnusableReply):
        read_reply(answer, proposal=proposal)


BOX = Bounds(0, 0, 90, 20)
SCREEN = Observation(tree=UiTree((Node(BOX, text="Zfood: two dishes"), Node(BOX, text="Zpassword", password=True))))


def test_the_screen_is_told_only_where_it_is_shown_and_never_a_password() -> None:
    unseen = user_messages(UserPart(TASK, PERSONA), ASK, [], SCREEN)
    seen = user_messages(UserPart(TASK, PERSONA, SEEING_SHOWS), ASK, [], SCREEN)
    texts = ["\n".join(str(part) for message in one for part in message.parts) for one in (unseen, seen)]
    assert ["Zfood: two dishes" in text for text in texts] == [False, True]
    assert ["You cannot see the phone." in text for text in texts] == [True, False]
    assert not any("Zpassword" in text for text in texts)


@pytest.mark.parametrize("part", ["persona", "policy", "instruction", "context"])
def test_what_is_not_shown_is_not_told(part: str) -> None:
    told = {"persona": "always jasmine", "policy": "five dollars", "instruction": "Order me a tea", "context": "pier"}
    shows = tuple(one for one in USER_SHOWS if one != part)
    text = str(user_messages(UserPart(TASK, PERSONA, shows), ASK, [said("Hot or cold?", "Hot.")], SCREEN))
    assert [name for name, words in told.items() if words not in text] == [part]


def test_it_is_told_to_say_that_it_does_not_know_and_by_which_version() -> None:
    assert f'"text" is exactly: {UNKNOWN}' in rules()
    assert UNKNOWN_ZH in rules()
    assert f"(instructions {VERSION})" in rules()
    assert rules() != rules(SEEING_SHOWS)


def test_the_dialogue_is_told_without_escapes() -> None:
    lines = dialogue_lines([said("\x1b[31mRed?", "No\x07")])
    assert len(lines) == 2
    assert "Red?" in lines[0]
    assert "No" in lines[1]
    assert not {"\x1b", "\x07"} & set("".join(lines))


def test_the_hash_changes_with_what_is_asked_and_not_with_patience() -> None:
    def sha(name: str = "openai/x", **terms: object) -> str:
        return ModelUser("x", Llm(name, ModelTerms(**terms)), TASK, None).config_sha  # type: ignore[arg-type]

    assert sha() == sha(tries=9, timeout=1.0, pause=3.0)
    seeing = ModelUser("x", Llm("openai/x", ModelTerms()), TASK, None, SEEING_SHOWS).config_sha
    assert seeing != sha()
    assert len({sha(), sha("openai/y"), sha(temperature=0.5), sha(tokens=10), sha(base="http://127.0.0.1:1/v1")}) == 5


def _brain(request: Request) -> Said:
    proposal = '"accept" or "reject"' in request.text
    decision = "accept" if proposal else None
    return Said(json.dumps({"text": "Medium hot please", "decision": decision}), (100, 5))


def test_a_whole_run_is_answered_by_a_model_recorded_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    db = tmp_path / "lab.db"
    with serving(_brain) as server:
        monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
        assert main.main(["live", "usual_lunch", "--headless", "--user", "model:tiny", "--json", "--db", str(db)]) == 0
        done = json.loads(capsys.readouterr().out)
        with Store.open(db) as store:
            trace = store.runs.trace(done["trace"])
            assert trace.user == Actor("model", "model:tiny", "tiny")
            settings = Settings(model_base=server.base)
            assert trace.conditions.user_sha == model_user("tiny", settings, trace.task, trace.persona).config_sha
            replies = [step.reply for step in trace.steps if step.reply is not None]
            assert replies
            assert {reply.by.kind for reply in replies} == {"model"}
            assert replies[0].usage is not None
            assert (replies[0].usage.prompt_tokens, replies[0].usage.completion_tokens) == (100, 5)
            until = next(n for n, event in enumerate(store.runs.events(trace.id)) if isinstance(event, Asked))
            cut = [
                msgspec.structs.replace(e, trace="cut") if not n else e
                for n, e in enumerate(store.runs.events(trace.id))
            ]
            for event in cut[: until + 1]:
                store.runs.append_event("cut", event)
            assert resume_spec(store.runs.trace("cut")).user == "model:tiny"
        before = len(server.requests)
        assert main.main(["live", "--resume", "cut", "--headless", "--json", "--db", str(db)]) == 0
        assert len(server.requests) > before
    with Store.open(db) as store:
        assert any(isinstance(event, Answered) for event in store.runs.events("cut"))
        assert store.runs.trace("cut").status == "completed"


def test_many_runs_may_be_answered_by_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(_brain) as server:
        monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
        db = ["--db", str(tmp_path / "lab.db"), "--json"]
        assert main.main(["run", "usual_lunch", "--user", "model:tiny", *db]) == 0
        assert server.requests
        capsys.readouterr()
        assert main.main(["run", "usual_lunch", "--user", "model:", *db]) == 2
    assert json.loads(capsys.readouterr().out)["message"]


def test_a_run_forks_to_a_model_and_from_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    db = ["--headless", "--json", "--db", str(tmp_path / "lab.db")]
    with serving(_brain) as server:
        monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
        assert main.main(["live", "usual_lunch", "--user", "script", *db]) == 0
        scripted = json.loads(capsys.readouterr().out)["trace"]
        assert not server.requests
        with Store.open(tmp_path / "lab.db") as store:
            steps = store.runs.trace(scripted).steps
            at = next(step.index for step in steps if step.question is not None)
        assert main.main(["fork", f"{scripted}@{at + 1}", "--user", "model:tiny", *db]) == 0
        modelled = json.loads(capsys.readouterr().out)["trace"]
        asked = len(server.requests)
        assert asked
        assert main.main(["fork", f"{modelled}@{at + 1}", *db]) == 0  # tried again: by the same model
        assert len(server.requests) == 2 * asked
        capsys.readouterr()
    with Store.open(tmp_path / "lab.db") as store:
        trace = store.runs.trace(modelled)
        assert trace.user == Actor("model", "model:tiny", "tiny")
        assert trace.conditions.user_sha
        assert {step.reply.by.kind for step in trace.steps[at:] if step.reply is not None} == {"model"}
        assert all(step.reply.usage for step in trace.steps[at:] if step.reply is not None)
