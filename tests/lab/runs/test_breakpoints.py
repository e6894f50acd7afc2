"""Breakpoints: where a run stands still, what a person may do there, and how a run without anybody is left."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from lab.core.errors import LabError
from lab.core.run.step import Action, Observation, Proposed
from lab.core.run.trace import AnyEvent, Paused, Resumed, Step, Trace
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.seams import Screen, TaskBrief
from lab.core.task.task import Actor, Task
from lab.runs.breakpoints import Breakpoints, parse
from lab.runs.session import Session
from lab.runs.spec import Spec, resume_spec
from store.store import Store

OPEN, NOTES, HOME = (
    Action("open_app", app="Settings"),
    Action("open_app", app="Notes"),
    Action("navigate_home"),
)
ASK, DONE = Action("ask_user", text="Which theme?"), Action("status", status="complete")
TASK = Task("dark", "general", instruction="Turn on the dark theme", budget=12)
SIZE = (1080, 2400)


class ListAgent:
    """Proposes the actions of a list in order, by its place in the history alone."""

    actor = Actor("script", "list")

    def __init__(self, *actions: Action) -> None:
        self.actions = actions

    def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
        return Proposed(self.actions[len(history)], "because")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def screen(words: str = "", activity: str = "") -> Screen:
    return Screen(b"", SIZE, UiTree((Node(Bounds(0, 0, *SIZE), words),)), activity)


def been(words: str = "", activity: str = "") -> Step:
    seen = screen(words, activity)
    return Step(index=0, proposed=Proposed(HOME), before=Observation(None, SIZE, seen.tree, activity))


@pytest.mark.parametrize(
    ("written", "spec"),
    [
        ("7", "step:7"),
        (" step: 07 ", "step:7"),
        ("action:input text", "action:input_text"),
        ("ACTION:click", "action:click"),
        ("app:Noshwell", "app:Noshwell"),
        ("text:Pay: now", "text:Pay: now"),
        ("ask", "ask"),
        ("ask:coffee", "ask:coffee"),
    ],
)
def test_a_breakpoint_is_read_as_people_write_it_and_written_as_it_is_read(written: str, spec: str) -> None:
    assert parse(written).spec == spec
    assert parse(spec) == parse(written)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("", "is no breakpoint"),
        ("ap:Notes", "is no breakpoint"),
        ("step:0", "names no step"),
        ("step:two", "names no step"),
        ("step:²", "names no step"),
        ("text:", "says no words"),
        ("app:", "says no app"),
        ("action:clic", "did you mean click?"),
    ],
)
def test_what_is_no_breakpoint_gets_a_sentence(written: str, words: str) -> None:
    with pytest.raises(LabError, match=words) as found:
        parse(written)
    assert found.value.code == 2
    assert "step:7" in found.value.hint


def test_each_kind_holds_where_it_says() -> None:
    def met(spec: str, action: Action, now: Screen, *before: Step) -> bool:
        points = Breakpoints([spec], {"noshwell": "com.hitlab.food"})
        return points.find_match(Proposed(action), now, before) is not None

    food, home = "com.hitlab.food/.Menu", "com.hitlab.launcher/.Home"
    assert met("step:2", HOME, screen(), been())
    assert not met("step:2", HOME, screen())
    assert met("action:open_app", OPEN, screen())
    assert not met("action:click", OPEN, screen())
    assert met("ask", ASK, screen())
    assert met("ask:THEME", ASK, screen())
    assert not met("ask:coffee", ASK, screen())
    for name in ("Noshwell", "com.hitlab.food", "food", food):
        assert met(f"app:{name}", HOME, screen("", food), been("", home)), name
        assert not met(f"app:{name}", HOME, screen("", food), been("", food)), "only where it comes up"
        assert not met(f"app:{name}", HOME, screen("", home))
    assert met("text:place order", HOME, screen("Place order $8"), been("Cart"))
    assert not met("text:place order", HOME, screen("Place order $8"), been("Place order $7"))


def test_points_are_added_switched_and_taken_away() -> None:
    points = Breakpoints(["ask", "3"])
    points.toggle("step:3")
    assert [(point.spec, point.on) for point in points.all] == [("ask", True), ("step:3", False)]
    assert points.find_match(Proposed(HOME), screen(), [been(), been()]) is None
    points.add("step:3")
    assert [point.on for point in points.all] == [True, True]
    points.remove("ask")
    assert [point.spec for point in points.all] == ["step:3"]


Act = Callable[[Session, Proposed], object]


def stands(session: Session, *acts: Act) -> Trace:
    """Runs to the end; each time an action waits, the next of `acts` is done on another thread."""
    todo = iter(acts)

    def waits(proposed: Proposed | None) -> None:
        if proposed is not None:
            threading.Thread(target=next(todo), args=(session, proposed), daemon=True).start()

    session.decisions.on_change = waits
    session.start()
    assert session.join(180)
    assert next(todo, None) is None
    return session.store.runs.trace(session.trace_id)


def kinds(session: Session) -> list[str]:
    names = [type(event).__name__ for event in session.store.runs.events(session.trace_id)]
    return [name for name in names if name in ("Paused", "Resumed", "Acting", "Step")]


def test_a_run_stands_before_the_act_with_the_reason_on_the_disk_and_goes_on(store: Store) -> None:
    session = Session(store, Spec(TASK, breaks=("action:open_app",)), agent=ListAgent(HOME, OPEN, DONE))
    seen: list[tuple[str, object, bool]] = []

    def go_on(run: Session, proposed: Proposed) -> None:
        last = list(run.store.runs.events(run.trace_id))[-1]
        assert isinstance(last, Paused)
        assert run.stopped_at is not None
        seen.append((last.reason, run.stopped_at.proposed.action, run.control.paused))
        run.resume_run()

    trace = stands(session, go_on)
    assert seen == [("breakpoint action:open_app", OPEN, True)]
    assert kinds(session) == ["Acting", "Step", "Paused", "Resumed", "Acting", "Step", "Step"]
    assert trace.status == "completed"
    assert session.stopped_at is None
    decision = trace.steps[1].decision
    assert decision is not None
    assert (decision.verdict, decision.by) == ("approve", session.person)


def test_one_turn_lets_the_waiting_act_through_and_stands_again(store: Store) -> None:
    session = Session(store, Spec(TASK, breaks=("action:open_app",)), agent=ListAgent(OPEN, HOME, DONE))
    stood = threading.Event()
    session.on_event = lambda event: stood.set() if isinstance(event, Paused) and event.reason == "one turn" else None
    session.decisions.on_change = lambda proposed: (
        threading.Thread(target=session.one_turn, daemon=True).start() if proposed is not None else None
    )
    session.start()
    assert stood.wait(180)
    assert session.control.paused
    assert len(store.runs.trace(session.trace_id).steps) == 1
    session.resume_run()
    assert session.join(180)


def test_one_turn_over_a_question_stands_after_it(store: Store) -> None:
    session = Session(store, Spec(TASK, breaks=("ask",), user="script:usual_lunch"), agent=ListAgent(ASK, HOME, DONE))
    stood = threading.Event()
    session.on_event = lambda event: stood.set() if isinstance(event, Paused) and event.reason == "one turn" else None
    session.decisions.on_change = lambda proposed: (
        threading.Thread(target=session.one_turn, daemon=True).start() if proposed is not None else None
    )
    session.start()
    assert stood.wait(180)
    assert not session.join(0.3)
    assert len(store.runs.trace(session.trace_id).steps) == 1
    session.stop()


def test_a_run_that_goes_on_at_a_breakpoint_is_not_held_by_the_turn_that_was_allowed_before(store: Store) -> None:
    session = Session(store, Spec(TASK, breaks=("action:navigate_home",)), agent=ListAgent(OPEN, HOME, DONE))
    reasons: list[str] = []
    stood = threading.Event()

    def note(event: AnyEvent | None) -> None:
        if isinstance(event, Paused):
            reasons.append(event.reason)
            stood.set() if len(reasons) == 1 else None
            threading.Thread(target=session.stop, daemon=True).start() if len(reasons) > 2 else None

    session.on_event = note
    session.decisions.on_change = lambda proposed: (
        threading.Thread(target=session.resume_run, daemon=True).start() if proposed is not None else None
    )
    session.control.pause()
    session.start()
    session.one_turn()
    assert stood.wait(180)
    session.one_turn()
    assert session.join(180)
    assert reasons == ["one turn", "breakpoint action:navigate_home"]


def test_an_act_is_amended_or_rejected_from_there_and_the_run_goes_on(store: Store) -> None:
    session = Session(store, Spec(TASK, breaks=("app:notes", "step:1", "step:2")), agent=ListAgent(OPEN, OPEN, DONE))
    trace = stands(
        session,
        lambda run, proposed: run.gate.amend(proposed, NOTES),
        lambda run, proposed: run.gate.reject(proposed, "no"),
    )
    verdicts = [step.decision.verdict for step in trace.steps if step.decision]
    assert verdicts == ["amend", "reject", "approve"]
    assert kinds(session)[:3] == ["Paused", "Resumed", "Acting"]
    assert not trace.paused


def test_points_switched_while_the_run_goes_count_from_then_on(store: Store) -> None:
    session = Session(store, Spec(TASK, breaks=("step:1",)), agent=ListAgent(HOME, OPEN, HOME, DONE))

    def change(run: Session, proposed: Proposed) -> None:
        run.breakpoints.add("action:open_app")
        run.resume_run()

    trace = stands(session, change, lambda run, proposed: run.stop())
    assert (trace.status, len(trace.steps)) == ("stopped", 1)


def test_without_anybody_the_run_is_left_open_and_resuming_goes_past_the_place(store: Store) -> None:
    agent = ListAgent(HOME, OPEN, NOTES, DONE)
    session = Session(store, Spec(TASK, breaks=("action:open_app",)), agent=agent)
    session.attended = False
    session.start()
    assert session.join(180)
    trace = store.runs.trace(session.trace_id)
    assert (trace.status, trace.paused, len(trace.steps)) == ("open", True, 1)
    assert session.stopped_at is not None
    assert session.stopped_at.proposed.action == OPEN

    again = Session(store, resume_spec(trace, agent="x", breaks=("action:open_app",)), trace, agent=agent)
    again.attended = False
    again.start()
    assert again.join(180)
    assert again.stopped_at is not None
    assert again.stopped_at.step == 2
    trace = store.runs.trace(session.trace_id)
    last = Session(store, resume_spec(trace, agent="x"), trace, agent=agent)
    last.start()
    assert last.join(180)
    assert store.runs.trace(session.trace_id).status == "completed"
    assert sum(isinstance(event, Resumed) for event in store.runs.events(session.trace_id)) == 2


def test_what_a_person_does_themselves_stops_nowhere(store: Store) -> None:
    session = Session(store, Spec(TASK, breaks=("action:open_app",)), agent=ListAgent(OPEN, DONE, DONE))
    session.take_over(True)

    def act(turn: Screen | None) -> None:
        if turn is not None:
            assert session.turns.answer(turn, OPEN)
            session.control.take_over(False)

    came = threading.Event()
    session.turns.on_change = lambda turn: came.set() if turn is not None else None
    session.start()
    assert came.wait(180)
    act(session.turns.waiting)
    assert session.join(180)
    assert not any(isinstance(event, Paused) for event in store.runs.events(session.trace_id))


def test_an_app_that_the_phone_has_not_is_refused_with_those_near_it() -> None:
    apps = {"noshwell": "com.hitlab.food", "notes": "com.hitlab.notes"}
    with pytest.raises(LabError, match="names no app of this phone; did you mean noshwell") as found:
        Breakpoints(["app:Noshwel"], apps)
    assert found.value.code == 2
    for spec in ("app:Noshwell", "app:food", "app:com.example.shop", "app:com.hitlab.food/.Menu"):
        assert Breakpoints([spec], apps).all[0].spec == spec
    assert Breakpoints(["app:Anything"]).all, "nothing is known of this phone's apps"
