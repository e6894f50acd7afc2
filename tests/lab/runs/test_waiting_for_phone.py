"""A run waits for its phone: it stands still with a sentence, goes on by itself, or ends at a person's word."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from lab.cli.live import run_headless
from lab.core.errors import LabError
from lab.core.run.step import Action, Proposed, Reply
from lab.core.run.trace import PHONE, Acting, AnyEvent, Ended, Paused, Resumed, Step, Trace
from lab.core.seams import Frame, Screen, TaskBrief, Trouble, WaitCancelled
from lab.core.task.task import Actor, Task
from lab.runs.device_recovery import RecoveringDevice
from lab.runs.session import Session
from lab.runs.spec import Spec, resume_spec
from simulators.phone.phone import Phone
from store.store import Store

AWAY = Trouble("phone R58", "is unplugged.", "Plug it in again.")
ASK, HOME, DONE = Action("ask_user", text="Which?"), Action("navigate_home"), Action("status", status="complete")


Seen = TypeVar("Seen")


def until(look: Callable[[], Seen | None], seconds: float = 180) -> Seen:
    """What `look` sees once it sees something."""
    end = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)
    return seen


class Cut(Phone):
    """The embedded phone behind a line that a test cuts."""

    via = "a line"

    def __init__(self) -> None:
        super().__init__()
        self.on_line: Callable[[Trouble | None], None] = lambda trouble: None
        self.away: Trouble | None = None
        self.asked = threading.Event()

    def cut(self, trouble: Trouble | None, *, told: bool = True) -> None:
        self.away = trouble
        if told:
            self.on_line(trouble)

    def observe(self) -> Screen:
        self.asked.set()
        if self.away is not None:
            raise self.away
        return super().observe()

    def perform(self, action: Action) -> None:
        if self.away is not None:
            raise self.away
        super().perform(action)

    def frames(self, stop: threading.Event) -> Iterator[Frame]:
        if self.away is not None:
            raise self.away
        yield from super().frames(stop)


class Listed:
    actor = Actor("script", "listed")

    def __init__(self, *actions: Action) -> None:
        self.actions = actions

    def propose(self, brief: TaskBrief, screen: Screen, history: object) -> Proposed:
        assert isinstance(history, list)
        return Proposed(self.actions[len(history)])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as store:
        yield store


def begun(store: Store, phone: Cut, *actions: Action) -> tuple[Session, list[AnyEvent]]:
    session, seen = (
        Session(store, Spec(Task("t", "general", instruction="x")), agent=Listed(*actions), device=phone),
        [],
    )
    session.on_event = lambda event: seen.append(event) if event is not None else None
    session.start()
    return session, seen


def answer(session: Session) -> None:
    question = until(lambda: session.questions.waiting)
    assert session.questions.answer(question, Reply(question.id, "the first", Actor("human", "P01")))


def test_a_phone_that_goes_while_a_question_is_open_pauses_the_run_and_resumes_it(store: Store) -> None:
    phone = Cut()
    session, seen = begun(store, phone, ASK, HOME, DONE)
    until(lambda: session.questions.waiting)
    phone.cut(AWAY)
    assert seen[-1] == store_last(store, session)
    assert isinstance(seen[-1], Paused)
    assert seen[-1].by == PHONE
    assert seen[-1].reason == AWAY.sentence
    answer(session)  # a person may answer while the phone is away
    until(lambda: any(isinstance(event, Step) for event in seen))
    phone.cut(None)
    assert session.join(180)
    kinds = [type(event).__name__ for event in seen]
    assert kinds.count("Paused") == kinds.count("Resumed") == 1
    assert isinstance(seen[-1], Ended)
    assert seen[-1].status == "completed"
    assert len([event for event in seen if isinstance(event, Step)]) == 3


class Stderr(io.StringIO):
    """Standard error that sets an event when the words are written."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words, self.written = words, threading.Event()

    def write(self, text: str, /) -> int:
        count = super().write(text)
        if self.words in self.getvalue():
            self.written.set()
        return count


def test_without_a_screen_the_pause_is_a_sentence_on_standard_error(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    phone = Cut()
    phone.cut(AWAY, told=False)
    session = Session(store, Spec(Task("t", "general", instruction="x")), agent=Listed(HOME, DONE), device=phone)
    stderr = Stderr(f"the phone waits: {AWAY.sentence}")
    monkeypatch.setattr(sys, "stderr", stderr)

    def plug_in() -> None:
        stderr.written.wait(180)
        phone.cut(None)

    plugging = threading.Thread(target=plug_in)
    plugging.start()
    assert run_headless(session, as_json=True) == 0
    plugging.join()
    assert stderr.written.is_set(), stderr.getvalue()
    assert "the phone goes on" in stderr.getvalue()


def test_what_nobody_tells_of_is_noticed_when_the_phone_is_looked_at(store: Store) -> None:
    phone = Cut()
    phone.cut(Trouble("phone", "gave half a screenshot."), told=False)
    session, seen = begun(store, phone, HOME, DONE)
    until(lambda: isinstance(seen[-1], Paused))
    assert "half a screenshot" in seen[-1].reason  # type: ignore[union-attr]
    phone.cut(None, told=False)
    assert session.join(180)
    assert [type(event).__name__ for event in seen[1:3]] == ["Paused", "Resumed"]


def test_a_person_ends_the_run_while_the_phone_is_away(store: Store) -> None:
    phone = Cut()
    session, seen = begun(store, phone, ASK, DONE)
    until(lambda: session.questions.waiting)
    phone.cut(AWAY)
    with pytest.raises(LabError, match="unplugged"):
        session.resume_run()
    session.stop("no phone today")
    assert session.join(180)
    assert isinstance(seen[-1], Ended)
    assert (seen[-1].status, seen[-1].reason) == ("stopped", "no phone today")
    phone.cut(None)
    assert isinstance(store_last(store, session), Ended)


def test_a_pause_of_the_persons_own_outlasts_the_phones(store: Store) -> None:
    phone = Cut()
    session, seen = begun(store, phone, ASK, DONE)
    until(lambda: session.questions.waiting)
    session.pause("lunch")
    phone.cut(AWAY)
    phone.cut(None)
    assert isinstance(seen[-1], Paused)
    session.resume_run()
    assert isinstance(seen[-1], Resumed)
    assert seen[-1].by == session.person
    answer(session)
    assert session.join(180)


def test_an_act_that_was_cut_off_is_a_step_that_says_so_and_is_not_done_twice(store: Store) -> None:
    phone = Cut()
    session, seen = begun(store, phone, ASK, HOME, DONE)
    until(lambda: session.questions.waiting)
    phone.away = Trouble("phone R58", "is unplugged.", sent=True)
    # the next look is let through, so that the act itself meets the cut line
    phone.observe = Phone.observe.__get__(phone)  # type: ignore[method-assign]
    answer(session)
    assert session.join(180)
    steps = [event for event in seen if isinstance(event, Step)]
    assert steps[1].error == "phone R58: is unplugged. It may or may not have been done"
    assert len(steps) == 3


class Asked(Cut):
    """One whose state cannot be had either while it is away."""

    def snapshot(self) -> dict[str, Any]:
        if self.away is not None:
            raise self.away
        return super().snapshot()


def cut_while_acting(store: Store) -> Trace:
    """A run that was killed in the middle of an act."""
    session = Session(store, Spec(Task("t", "general", instruction="x")), agent=Listed(HOME, DONE), device=Phone())
    session.append(session._start_event())
    session.append(Acting(index=0, action=HOME))
    return store.runs.trace(session.trace_id)


def test_a_run_cut_off_while_acting_waits_for_its_phone_too(store: Store) -> None:
    cut, phone = cut_while_acting(store), Asked()
    session = Session(store, resume_spec(cut), cut, agent=Listed(HOME, DONE), device=phone)
    phone.away = AWAY
    session.start()
    until(lambda: isinstance(store_last(store, session), Paused))
    phone.cut(None)
    assert session.join(180)
    steps = store.runs.trace(session.trace_id).steps
    assert ["cut off" in (step.error or "") for step in steps] == [True, False]


def test_a_run_cut_off_while_acting_can_be_left_while_its_phone_is_away(store: Store) -> None:
    cut, phone = cut_while_acting(store), Asked()
    session = Session(store, resume_spec(cut), cut, agent=Listed(HOME, DONE), device=phone)
    phone.away = AWAY
    session.start()
    until(lambda: isinstance(store_last(store, session), Paused))
    session.leave()
    assert session.join(180)
    assert store.runs.trace(session.trace_id).acting is not None


def test_what_a_phone_refuses_at_the_beginning_stops_the_run_and_lets_go_of_it(store: Store) -> None:
    cut, phone = cut_while_acting(store), Asked()
    session, told = Session(store, resume_spec(cut), cut, agent=Listed(HOME, DONE), device=phone), list[object]()
    phone.away = LabError("the phone's harness", "does not know this token.")  # type: ignore[assignment]
    closed = threading.Event()
    phone.close = closed.set  # type: ignore[method-assign]
    session.on_event = told.append
    session.start()
    assert session.join(180)
    assert (session.failure, told[-1]) == (phone.away, None)
    assert closed.is_set()


def test_a_run_that_cannot_be_begun_lets_go_of_its_phone(store: Store) -> None:
    phone, closed = Cut(), threading.Event()
    phone.close = closed.set  # type: ignore[method-assign]
    session = Session(store, Spec(Task("t", "general", instruction="x")), agent=Listed(DONE), device=phone)
    store.close()
    with pytest.raises(LabError):
        session.start()
    assert closed.is_set()


def test_waiting_ends_with_the_run(store: Store) -> None:
    stop, told = threading.Event(), list[Trouble | None]()
    phone = Cut()
    phone.away = AWAY
    steady = RecoveringDevice(phone, stop, told.append)
    threading.Timer(0.05, stop.set).start()
    with pytest.raises(WaitCancelled):
        steady.observe()
    assert told == [AWAY]


def test_frames_begin_anew_where_they_end_in_trouble_and_it_is_told_once() -> None:
    stop, phone, told = threading.Event(), Cut(), list[Trouble | None]()
    phone.away = AWAY
    steady = RecoveringDevice(phone, stop, told.append)
    frames = steady.frames(stop)
    threading.Timer(0.8, phone.cut, [None]).start()
    assert next(frames).size == (1080, 2400)
    assert told == [AWAY, None]
    stop.set()
    assert list(frames) == []


def store_last(store: Store, session: Session) -> AnyEvent:
    return list(store.runs.events(session.trace_id))[-1]


class Ways(Cut):
    """A phone with several ways to type."""

    typed_by = "scrcpy clipboard"

    def perform(self, action: Action) -> None:
        if action.kind != "input_text":
            super().perform(action)


def test_a_step_says_how_its_text_was_typed(store: Store) -> None:
    session, seen = begun(store, Ways(), Action("input_text", text="你好"), HOME, DONE)
    assert session.join(180)
    assert [event.typed_by for event in seen if isinstance(event, Step)] == ["scrcpy clipboard", "", ""]
    assert seen == list(store.runs.events(session.trace_id))
