"""A run on a phone that tells no words: breakpoints and a model as the agent go by words read from the picture."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lab.agents.elements import in_thousandths
from lab.agents.model import ModelAgent
from lab.cli import main
from lab.core.errors import LabError
from lab.core.run.step import Action, Proposed
from lab.core.run.trace import Paused, Started, Step
from lab.core.run.ui_tree import UiTree
from lab.core.seams import Screen, TaskBrief
from lab.core.task.task import Actor, Task
from lab.core.text.read_text import line_contains
from lab.llm.client import Llm, ModelTerms
from lab.ocr import engine
from lab.ocr.reader import TextReader
from lab.runs import screen_words
from lab.runs.breakpoints import OCR_NOTE
from lab.runs.fork.fork import ForkChange, fork_run
from lab.runs.session import Session
from lab.runs.spec import Spec, resume_spec
from simulators.phone.phone import Phone
from store.store import Store
from tests.crossed import crossed
from tests.endpoint import ModelServer, Request, Said, in_turn, serving
from tests.read_once import read_once

__all__ = ["read_once"]
pytestmark = crossed

OPEN, HOME, DONE = Action("open_app", app="Settings"), Action("navigate_home"), Action("status", status="complete")
TASK = Task("dark", "general", instruction="Turn on the dark theme", budget=9)
COMPLETE = '{"thought": "Done.", "action": "status", "status": "complete"}'
OPENING = '{"thought": "In there.", "action": "open_app", "app": "Settings"}'


class SilentPhone(Phone):
    """The embedded phone, whose uiautomator says nothing of any screen."""

    def observe(self) -> Screen:
        return super().observe()._replace(tree=UiTree(), tree_missing="ERROR: could not get idle state.")


class ListAgent:
    """Proposes the actions of a list in order."""

    actor = Actor("script", "list")

    def __init__(self, *actions: Action) -> None:
        self.actions = actions

    def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
        return Proposed(self.actions[len(history)], "because")


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setattr("lab.ocr.reader._PATIENCE", 900.0)  # on a busy machine reading takes its time
        patch.setattr("lab.runs.screen_words.PATIENCE", 900.0)
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv("OPENAI_API_KEY", "sk-none")
        yield


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No engine is installed."""
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    engine.engine_name.cache_clear()
    yield
    monkeypatch.undo()
    engine.engine_name.cache_clear()


def over(session: Session) -> list[Any]:
    """All events of a run, once it is over."""
    session.attended = False
    session.start()
    assert session.join(900)
    assert session.failure is None
    return list(session.store.runs.events(session.trace_id))


def stops(store: Store, *breaks: str, device: Phone | None = None) -> Session:
    session = Session(
        store, Spec(TASK, breaks=breaks), agent=ListAgent(OPEN, HOME, DONE), device=device or SilentPhone()
    )
    over(session)
    return session


def model(server: ModelServer) -> ModelAgent:
    terms = ModelTerms(base=server.base, timeout=30.0, seconds=60.0, pause=0.01)
    return ModelAgent("openai/tiny", Llm("openai/tiny", terms))


def with_model(
    store: Store, *answers: str, device: Phone | None = None, **changes: Any
) -> tuple[list[Any], list[Request]]:
    """A model's run on a phone that tells no words, and what the model was asked."""
    with serving(in_turn(*map(Said, answers))) as server:
        session = Session(store, Spec(TASK, **changes), agent=model(server), device=device or SilentPhone())
        return over(session), list(server.requests)


# -- breakpoints -------------------------------------------------------------------------------------------------


def test_a_breakpoint_holds_at_words_in_the_picture_and_says_that_they_were_read(store: Store) -> None:
    session = stops(store, "text:battery")
    stop = session.stopped_at
    assert stop is not None
    assert (stop.step, stop.read) == (1, True), "they come up in Settings, not on the first screen"
    paused = list(store.runs.events(session.trace_id))[-1]
    assert isinstance(paused, Paused)
    assert paused.reason == f"breakpoint text:battery ({OCR_NOTE})"
    assert session.words.reader is None, "what read ends with the run"


def test_where_the_phone_told_them_the_words_are_not_said_to_be_read(store: Store) -> None:
    stop = stops(store, "text:battery", device=Phone()).stopped_at
    assert stop is not None
    assert not stop.read
    assert stop.words == "text:battery"


def test_words_that_stay_do_not_hold_again(store: Store) -> None:
    session = Session(
        store, Spec(TASK, breaks=("text:battery",)), agent=ListAgent(OPEN, OPEN, DONE), device=SilentPhone()
    )
    seen: list[Any] = []
    session.on_event = seen.append
    session.start()
    until = time.monotonic() + 180
    while session.stopped_at is None and time.monotonic() < until:
        time.sleep(0.01)
    assert session.stopped_at is not None
    assert session.stopped_at.step == 1
    session.resume_run()
    assert session.join(180)
    assert sum(isinstance(event, Paused) for event in seen) == 1


@pytest.mark.parametrize(
    ("line", "words", "holds"),
    [("Paynow", "pay now", True), ("Order  total", "ORDER TOTAL", True), ("Pay", "pay now", False)],
)
def test_blanks_that_an_engine_loses_do_not_count(line: str, words: str, holds: bool) -> None:
    assert line_contains(line, words) is holds


def test_without_the_extra_the_run_goes_by_and_the_command_names_it_once(
    absent: None, tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from lab.runs import session as sessions

    session = stops(store, "text:battery")
    assert session.stopped_at is None
    assert session.words.missing_engine is not None
    monkeypatch.setattr(sessions, "phone_of", lambda spec: SilentPhone())
    words = ["--break", "text:battery", "--break", "text:nowhere"]
    main.main(["live", "usual_lunch", "--headless", *words, "--db", str(tmp_path / "x.db"), "--json"])
    (told,) = capsys.readouterr().err.splitlines()
    assert "words from pictures: are read by the extra hitlab[ocr]" in told


def test_a_picture_that_takes_too_long_holds_nothing_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen_words, "PATIENCE", 0.05)
    monkeypatch.setattr(TextReader, "stored_text", lambda self, sha256: None)
    session = stops(store, "text:battery")
    assert session.stopped_at is None
    assert store.runs.trace(session.trace_id).status == "completed"


# -- a model as the agent ----------------------------------------------------------------------------------------


def test_a_model_is_told_the_words_their_boxes_and_who_read_them(store: Store) -> None:
    events, requests = with_model(store, OPENING, COMPLETE)
    told = requests[1].text
    assert f"They were read from its picture by {engine.engine_name()}" in told
    seen = Phone()
    seen.perform(OPEN)
    (battery,) = seen.observe().tree.find(text="Battery")
    (line,) = [line for line in told.splitlines() if '"Battery' in line]
    assert line.split()[1] == "read"
    left, top = map(int, line.split(" in ")[1].split(" to ")[0].split(","))
    right, bottom = map(int, line.split(" to ")[1].split(","))
    _, y = in_thousandths(battery.bounds.center, (1080, 2400))
    assert top <= y <= bottom
    assert left < right
    started = events[0]
    assert isinstance(started, Started)
    assert started.conditions.reads == engine.engine_name()


def test_what_is_read_is_in_the_prompt_alone(store: Store) -> None:
    events, _ = with_model(store, OPENING, COMPLETE)
    for event in events:
        if isinstance(event, Step):
            assert event.proposed.prompt is not None
            assert "Battery" in event.proposed.prompt.text or event.index == 0
            assert event.before.tree == UiTree()
            event = msgspec.structs.replace(event, proposed=Proposed(event.proposed.action))
        assert b"Battery" not in msgspec.json.encode(event), "the phone has not said it"


def test_it_may_be_told_by_the_number_of_a_line_that_was_read(store: Store) -> None:
    def answer(request: Request) -> Said:
        if "Battery" not in request.text:
            return Said(OPENING)
        number = next(line.split()[0] for line in request.text.splitlines() if 'read "Battery' in line)
        clicks = json.dumps({"thought": "There.", "action": "click", "element": int(number)})
        return Said(COMPLETE if 'you thought: "There."' in request.text else clicks)

    with serving(answer) as server:
        events = over(Session(store, Spec(TASK), agent=model(server), device=SilentPhone()))
    actions = [event.action for event in events if isinstance(event, Step) and event.action is not None]
    (at,) = [action.at for action in actions if action.kind == "click"]
    seen = Phone()
    seen.perform(OPEN)
    (battery,) = seen.observe().tree.find(text="Battery")
    assert at is not None
    assert battery.bounds.contains(*at)


def test_no_read_tells_it_nothing_and_a_resumed_or_forked_run_does_alike(store: Store) -> None:
    events, requests = with_model(store, OPENING, COMPLETE, reads=False)
    assert "read from its picture" not in "".join(request.text for request in requests)
    assert events[0].conditions.reads == ""
    trace = store.runs.trace(events[0].trace)
    assert resume_spec(msgspec.structs.replace(trace, ended=None)).reads is False
    read, _ = with_model(store, OPENING, COMPLETE)
    open_run = msgspec.structs.replace(store.runs.trace(read[0].trace), ended=None)
    assert resume_spec(open_run).reads is True
    assert resume_spec(open_run, reads=False).reads is False


@pytest.mark.parametrize(("reads", "change"), [(True, None), (True, False), (False, None)])
def test_a_fork_keeps_it_or_says_what_is_other(store: Store, reads: bool, change: bool | None) -> None:
    events, _ = with_model(store, OPENING, COMPLETE, reads=reads)
    with serving(in_turn(Said(COMPLETE))) as server:
        made = ForkChange(reads=change)
        session = fork_run(store, events[0].trace, 1, made, person="D1", agent=model(server))
        started = next(store.runs.events(session.trace_id))
        session.words.close()
        session.device.close()
    assert isinstance(started, Started)
    assert bool(started.conditions.reads) is (reads and change is None)
    assert started.forked is not None
    assert dict(started.forked.changes) == ({} if change is None else {"reads": "no words from pictures"})


def test_a_run_whose_agent_was_told_read_words_is_not_gone_on_with_where_nothing_reads(
    store: Store, request: pytest.FixtureRequest
) -> None:
    events, _ = with_model(store, OPENING, COMPLETE)
    trace = msgspec.structs.replace(store.runs.trace(events[0].trace), ended=None)
    request.getfixturevalue("absent")
    with pytest.raises(LabError, match="which is not here") as refused:
        resume_spec(trace)
    assert "--no-read" in refused.value.hint
    assert not resume_spec(trace, reads=False).reads


def test_a_screen_that_tells_its_words_is_told_as_before(store: Store) -> None:
    _, requests = with_model(store, OPENING, COMPLETE, device=Phone())
    told = requests[1].text
    assert "read from its picture" not in told
    assert " read " not in "\n".join(line for line in told.splitlines() if line[:1].isdigit())


def test_where_its_picture_cannot_be_read_the_model_is_told_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen_words, "PATIENCE", 0.05)
    monkeypatch.setattr(TextReader, "stored_text", lambda self, sha256: None)
    events, requests = with_model(store, COMPLETE)
    assert "those in its picture could not be read" in requests[0].text
    assert events[-1].status == "completed"


def test_a_screen_without_a_tree_is_the_same_only_where_its_picture_is(store: Store) -> None:
    waits = '{"thought": "Wait.", "action": "wait", "seconds": 0.001}'
    _, requests = with_model(store, OPENING, waits, COMPLETE, reads=False)
    same: Callable[[Request], bool] = lambda request: "The screen is the same as before" in request.text  # noqa: E731
    assert [same(request) for request in requests] == [False, False, True]
