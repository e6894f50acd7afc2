"""A run on the real phone over a real file: what is durable when, who may stop it, how it goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from lab.core.errors import LabError
from lab.core.run.mailbox import Mailbox
from lab.core.run.step import Action, Proposed, Question, Reply
from lab.core.run.trace import Acting, AnyEvent, DeviceInfo, Ended, Paused, Resumed, Started, Step, fold
from lab.core.seams import Screen, TaskBrief
from lab.core.settings import UNNAMED
from lab.core.task.task import Actor, Check, LogEntry, Persona, Task
from lab.runs.session import Session
from lab.runs.spec import Spec, brief_of, resume_spec
from simulators.phone.phone import Phone
from store.store import Store

TASK = Task(
    "dark",
    "general",
    instruction="Turn on the dark theme",
    budget=12,
    checks=(Check("settings open", path="nav.app", equals="settings"),),
)
ASK = Action("ask_user", text="Which theme?")
DONE = Action("status", status="complete")
OPEN = Action("open_app", app="Settings")


class ListAgent:
    """Proposes the actions of a list in order, by its place in the history alone."""

    actor = Actor("script", "list")

    def __init__(self, *actions: Action) -> None:
        self.actions = actions

    def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
        return Proposed(self.actions[len(history)], "because")


class SleepingAgent:
    """Never answers."""

    actor = Actor("script", "sleeping")

    def __init__(self) -> None:
        self.asleep = threading.Event()

    def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
        self.asleep.set()
        threading.Event().wait(3600)
        raise AssertionError("woke up")


class WatchedPhone(Phone):
    """The phone, saying what the file already held each time it was touched."""

    def __init__(self, events: Callable[[], list[AnyEvent]]) -> None:
        super().__init__()
        self.events = events
        self.on_disk: list[AnyEvent] = []

    def perform(self, action: Action) -> None:
        self.on_disk.append(self.events()[-1])
        super().perform(action)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def on_disk(store: Store, session: Session) -> list[AnyEvent]:
    return list(store.runs.events(session.trace_id))


def asked(session: Session) -> Question:
    """Waits until the person is asked."""
    return waiting(session.questions)


def waiting(box: Mailbox[Question, Reply]) -> Question:
    came = threading.Event()
    box.on_change = lambda item: came.set() if item is not None else None
    if box.waiting is None:
        assert came.wait(180)
    assert box.waiting is not None
    return box.waiting


def answer(session: Session, text: str) -> None:
    question = asked(session)
    assert session.questions.answer(question, Reply(question.id, text, session.person))


def run_to_end(session: Session) -> Ended:
    session.start()
    assert session.join(180)
    trace = session.store.runs.trace(session.trace_id)
    assert trace.ended is not None
    return trace.ended


def test_a_run_is_a_stream_of_durable_events_and_acting_comes_before_the_touch(store: Store) -> None:
    events: list[AnyEvent] = []
    phone = WatchedPhone(lambda: on_disk(store, session))
    session = Session(store, Spec(TASK, user="human"), agent=ListAgent(OPEN, DONE), device=phone)
    session.on_event = lambda event: events.append(event) if event is not None else None
    ended = run_to_end(session)
    assert [type(event).__name__ for event in events] == ["Started", "Acting", "Step", "Step", "Ended"]
    assert events == on_disk(store, session)
    assert [type(event) for event in phone.on_disk] == [Acting]
    assert (ended.status, ended.score, ended.checks) == ("completed", 1.0, (("settings open", True),))
    assert fold(events).steps[0].decision is not None


def test_a_question_waits_for_the_person_and_its_reply_stands_in_its_step(store: Store) -> None:
    session = Session(store, Spec(TASK), agent=ListAgent(ASK, DONE), device=Phone())
    session.start()
    answer(session, "dark")
    assert session.join(180)
    step = store.runs.trace(session.trace_id).steps[0]
    assert step.question == Question("q0", "ask", "Which theme?")
    assert step.reply is not None
    assert (step.reply.text, step.reply.by) == ("dark", session.person)


def test_every_question_of_a_proactive_run_is_a_proposal(store: Store) -> None:
    task = Task("p", "proactive")
    session = Session(store, Spec(task), agent=ListAgent(ASK, DONE), device=Phone())
    session.start()
    assert asked(session).kind == "propose"
    session.stop()


def test_a_pause_is_on_disk_while_a_question_is_open_and_a_stop_ends_the_run(store: Store) -> None:
    session = Session(store, Spec(TASK), agent=ListAgent(ASK, OPEN, DONE), device=Phone())
    session.start()
    asked(session)
    session.pause()
    assert isinstance(on_disk(store, session)[-1], Paused)
    session.stop()
    last = on_disk(store, session)[-1]
    assert isinstance(last, Ended)
    assert (last.status, last.score) == ("stopped", None)
    assert session.join(180)
    assert on_disk(store, session)[-1] == last


def test_a_reply_given_while_paused_is_kept_and_the_phone_stands_still(store: Store) -> None:
    phone = WatchedPhone(lambda: on_disk(store, session))
    session = Session(store, Spec(TASK), agent=ListAgent(ASK, OPEN, DONE), device=phone)
    session.start()
    question = asked(session)
    session.pause()
    answered = threading.Event()
    session.on_event = lambda event: answered.set() if isinstance(event, Step) else None
    assert session.questions.answer(question, Reply(question.id, "dark", session.person))
    assert answered.wait(180)
    assert not phone.on_disk
    session.resume_run()
    assert session.join(180)
    assert len(phone.on_disk) == 1
    kinds = [type(event).__name__ for event in on_disk(store, session)]
    assert kinds.index("Paused") < kinds.index("Answered") < kinds.index("Resumed") < kinds.index("Acting")


def test_a_sleeping_agent_holds_nobody(store: Store) -> None:
    agent = SleepingAgent()
    session = Session(store, Spec(TASK), agent=agent, device=Phone())
    session.start()
    assert agent.asleep.wait(180)
    session.stop()
    assert store.runs.trace(session.trace_id).status == "stopped"


@pytest.mark.parametrize(
    ("error", "words"),
    [(ValueError("bad \x1b[31mthing"), "ValueError: bad thing"), (LabError("agent", "is lost"), "agent: is lost")],
)
def test_an_agent_that_breaks_ends_the_run_as_an_event(store: Store, error: Exception, words: str) -> None:
    class Broken(ListAgent):
        def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
            raise error

    ended = run_to_end(Session(store, Spec(TASK), agent=Broken(), device=Phone()))
    assert ended.status == "failed"
    assert words.replace("\\\\", "\\") in ended.reason


def test_an_act_that_the_phone_refuses_is_a_step_with_an_error(store: Store) -> None:
    nowhere = Action("open_app", app="No such app")
    session = Session(store, Spec(TASK), agent=ListAgent(nowhere, DONE), device=Phone())
    assert run_to_end(session).status == "completed"
    assert "No such app" in (store.runs.trace(session.trace_id).steps[0].error or "")


def test_the_budget_ends_a_run(store: Store) -> None:
    task = Task("b", "general", instruction="go", budget=2)
    ended = run_to_end(Session(store, Spec(task), agent=ListAgent(OPEN, OPEN, OPEN), device=Phone()))
    assert (ended.status, ended.score) == ("budget", None)


def test_an_open_run_goes_on_with_its_phone_its_question_and_its_draft(store: Store) -> None:
    agent = ListAgent(OPEN, ASK, DONE)
    session = Session(store, Spec(TASK), agent=agent, device=Phone())
    session.start()
    question = asked(session)
    session.save_draft(question, "da")
    session.leave()
    assert session.join(180)
    cut = store.runs.trace(session.trace_id)
    assert (cut.status, cut.asked is not None) == ("open", True)

    again = Session(store, resume_spec(cut, agent="recorded:x"), cut, agent=agent, device=Phone())
    assert again.device.observe().activity == session.device.observe().activity
    again.start()
    question = asked(again)
    assert (question.id, again.draft(question)) == ("q1", "da")
    answer(again, "dark")
    assert again.join(180)
    trace = store.runs.trace(session.trace_id)
    assert (trace.status, len(trace.steps), trace.questions, trace.replies) == ("completed", 3, 1, 1)
    assert trace.ended is not None
    assert trace.ended.score == 1.0
    assert any(isinstance(event, Resumed) for event in on_disk(store, session))
    times = [event.ms for event in on_disk(store, session) if event.ms is not None]
    assert again.spent > 0
    assert times == sorted(times)


def test_a_run_cut_off_in_an_act_goes_on_from_before_it(store: Store) -> None:
    session = Session(store, Spec(TASK), agent=ListAgent(OPEN, DONE), device=Phone())
    session.append(session._start_event())
    session.append(Acting(index=0, action=OPEN))
    cut = store.runs.trace(session.trace_id)
    again = Session(store, resume_spec(cut, agent="x"), cut, agent=ListAgent(DONE, OPEN, DONE), device=Phone())
    again.start()
    assert again.join(180)
    steps = store.runs.trace(session.trace_id).steps
    assert "cut off" in (steps[0].error or "")
    assert [step.action.kind for step in steps if step.action] == ["open_app", "open_app", "status"]


def test_an_ended_or_imported_run_cannot_be_resumed(store: Store) -> None:
    session = Session(store, Spec(TASK), agent=ListAgent(DONE), device=Phone())
    run_to_end(session)
    with pytest.raises(LabError, match="has ended"):
        resume_spec(store.runs.trace(session.trace_id))


def test_one_turn_passes_and_the_phone_stands_still_again(store: Store) -> None:
    session = Session(store, Spec(TASK), agent=ListAgent(OPEN, Action("navigate_home"), DONE), device=Phone())
    session.control.pause()
    session.start()
    stands = threading.Event()
    session.on_event = lambda event: stands.set() if isinstance(event, Paused) else None
    session.one_turn()
    assert stands.wait(180)
    assert len(store.runs.trace(session.trace_id).steps) == 1
    session.resume_run()
    assert session.join(180)


def test_a_person_acts_in_the_agents_place_and_gives_it_back(store: Store) -> None:
    session = Session(store, Spec(TASK), agent=ListAgent(OPEN, OPEN, DONE), device=Phone())
    session.take_over(True)
    turns: list[Screen] = []
    came = threading.Event()

    def on_change(screen: Screen | None) -> None:
        if screen is not None:
            turns.append(screen)
            came.set()

    session.turns.on_change = on_change
    session.start()
    assert came.wait(180)
    came.clear()
    assert session.turns.answer(turns[-1], Action("open_app", app="Notes"))
    assert came.wait(180)
    session.take_over(False)
    assert session.join(180)
    trace = store.runs.trace(session.trace_id)
    assert trace.steps[0].proposed.by == session.person
    assert trace.steps[0].decision is not None
    assert trace.steps[0].decision.by == session.person
    assert trace.status == "completed"


class _Turned(Phone):
    """A phone on a line, which lies on its side from the second look on."""

    def __init__(self) -> None:
        super().__init__()
        self.looks = 0
        self.done: list[Action] = []

    @property
    def info(self) -> DeviceInfo:
        return msgspec.structs.replace(super().info, kind="adb")

    def observe(self) -> Screen:
        self.looks += 1
        return super().observe()._replace(size=(1080, 2400) if self.looks == 1 else (2400, 1080))

    def perform(self, action: Action) -> None:
        self.done.append(action)


def test_what_a_person_held_while_the_phone_was_turned_touches_nothing(store: Store) -> None:
    phone = _Turned()
    session = Session(store, Spec(TASK, agent="person"), device=phone)
    acts = iter([Action("click", at=(5, 5)), Action("click", at=(6, 6)), DONE])

    def on_change(screen: Screen | None) -> None:
        if screen is not None:
            threading.Thread(target=lambda: session.turns.answer(screen, next(acts))).start()

    session.turns.on_change = on_change
    session.start()
    assert session.join(180)
    first, second, _ = store.runs.trace(session.trace_id).steps
    assert (first.error, second.error) == ("the phone was turned meanwhile; nothing was done", None)
    assert phone.done == [Action("click", at=(6, 6))]


def test_the_gate_asks_and_every_decision_says_who_and_how_long(store: Store) -> None:
    session = Session(store, Spec(TASK, gate="ask"), agent=ListAgent(OPEN, OPEN, OPEN, DONE), device=Phone())
    verdicts = iter(["reject", "amend", "approve", "approve"])

    def on_change(proposed: Proposed | None) -> None:
        if proposed is None:
            return
        verdict = next(verdicts)
        act: Callable[[], bool] = {
            "approve": lambda: session.gate.approve(proposed),
            "reject": lambda: session.gate.reject(proposed, "not now"),
            "amend": lambda: session.gate.amend(proposed, Action("open_app", app="Notes"), "better"),
        }[verdict]
        threading.Thread(target=act, daemon=True).start()

    session.decisions.on_change = on_change
    assert run_to_end(session).status == "completed"
    steps = store.runs.trace(session.trace_id).steps
    decided = [(s.decision.verdict, s.decision.by.id, s.decision.note) for s in steps if s.decision]
    assert decided[:3] == [("reject", UNNAMED, "not now"), ("amend", UNNAMED, "better"), ("approve", UNNAMED, "")]
    assert steps[0].action is None
    assert steps[1].action == Action("open_app", app="Notes")


def test_a_file_that_cannot_be_written_stops_the_run_with_a_sentence(store: Store) -> None:
    session = Session(store, Spec(TASK), agent=ListAgent(ASK, DONE), device=Phone())
    session.start()
    question = asked(session)
    store.database.connection().execute("PRAGMA user_version")
    store.close()
    session.questions.answer(question, Reply(question.id, "dark", session.person))
    assert session.join(180)
    assert session.failure is not None


def test_an_agent_is_told_no_fact_and_no_label() -> None:
    persona = Persona(
        "p", "P", {"secret": "hidden-fact"}, (LogEntry("t", "home", "did it", "noise-label", "hidden-category"),)
    )
    brief = brief_of(Task("t", "proactive", policy="hidden-policy"), persona)
    assert brief.log == ("[t] (home) did it",)
    assert "hidden" not in repr(brief)
    assert "noise-label" not in repr(brief)
    assert brief_of(Task("t", "general", instruction="i"), persona).log == ()


def test_started_embeds_task_and_persona(store: Store) -> None:
    session = Session(store, Spec(TASK, Persona("p", "P")), agent=ListAgent(DONE), device=Phone())
    run_to_end(session)
    first = on_disk(store, session)[0]
    assert isinstance(first, Started)
    assert (first.task, first.persona) == (TASK, Persona("p", "P"))
