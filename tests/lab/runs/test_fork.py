"""Forks on the real phone over a real file: what is shared, what is other, where the score comes out, who is kin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lab.core.errors import LabError
from lab.core.run.step import Action, Proposed, Reply
from lab.core.run.trace import Acting, Answered, AnyEvent, Asked, Ended, Paused, Resumed, Started, Step, Trace
from lab.core.seams import Screen, TaskBrief
from lab.core.task.task import Actor, Check, Persona, Task
from lab.runs.fork.family import change_words, tree
from lab.runs.fork.fork import ForkChange, fork_run, parse_fork_place, rewind_run
from lab.runs.session import Session
from lab.runs.spec import Spec
from simulators import library
from store.erasing.run_redaction import redact
from store.store import Store
from tests.screens.runs import whole_run

OPEN, NOTES = Action("open_app", app="Settings"), Action("open_app", app="Notes")
ASK, HOME, DONE = Action("ask_user", text="Which theme?"), Action("navigate_home"), Action("status", status="complete")
TASK = Task(
    "dark",
    "general",
    instruction="Turn on the dark theme",
    budget=12,
    checks=(Check("settings open", path="nav.app", equals="settings"),),
)


class ListAgent:
    """Proposes the actions of a list in order, by its place in the history alone."""

    def __init__(self, *actions: Action, name: str = "list") -> None:
        self.actor = Actor("script", name)
        self.actions = actions

    def propose(self, brief: TaskBrief, screen: Screen, history: Sequence[Step]) -> Proposed:
        return Proposed(self.actions[len(history)], f"{self.actor.id} says so")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def ran(session: Session) -> Trace:
    """Starts a session and waits for its end; every question is answered with "dark"."""

    def answer(question: Any) -> None:
        if question is not None:
            session.questions.answer(question, Reply(question.id, "dark", session.person))

    session.questions.on_change = answer
    session.start()
    assert session.join(180)
    return session.store.runs.trace(session.trace_id)


def first_run(store: Store, *actions: Action, **spec: Any) -> Trace:
    return ran(Session(store, Spec(TASK, **spec), agent=ListAgent(*actions)))


def shared(store: Store, child: str) -> tuple[list[AnyEvent], list[AnyEvent]]:
    """What parent and child have in common, each as its own file rows say, without what must differ."""
    trace = store.runs.trace(child)
    assert trace.parent is not None
    assert trace.forked is not None
    mine, theirs = (list(store.runs.events(run))[: trace.forked.seq + 1] for run in (child, trace.parent))
    own = {"trace": "", "parent": None, "forked": None}
    mine[0], theirs[0] = (msgspec.structs.replace(events[0], **own) for events in (mine, theirs))
    return mine, theirs


@pytest.mark.parametrize(
    ("script", "change", "other"),
    [
        ("morning_coffee", ForkChange("Not today", "reject"), "reject"),
        ("morning_coffee.refuse", ForkChange("Yes please", "accept"), "accept"),
    ],
)
def test_a_proposal_answered_the_other_way_ends_as_the_checks_say(
    store: Store, script: str, change: ForkChange, other: str
) -> None:
    task = library.task("morning_coffee")
    spec = Spec(task, library.persona("ines", "noise"), user=f"script:{script}")
    parent = ran(Session(store, spec))
    asks = next(step.index for step in parent.steps if step.question is not None)
    child = ran(fork_run(store, parent.id, asks, change, person="P07"))
    mine, theirs = shared(store, child.id)
    assert mine == theirs
    assert isinstance(mine[-1], Asked)
    assert child.steps[asks].before == parent.steps[asks].before
    reply = child.steps[asks].reply
    assert reply is not None
    assert (reply.decision, reply.by.id) == (other, "P07")
    assert child.ended is not None
    assert child.ended.score == 1.0
    when = {check.name for check in task.checks if check.when == other}
    assert when
    assert when <= {name for name, held in child.ended.checks if held}
    orders = [_state(store, run)["apps"]["food"]["orders"] for run in (parent, child)]
    assert len(orders[0]) - len(orders[1]) == (1 if other == "reject" else -1)


def _state(store: Store, trace: Trace) -> Any:
    blob = store.runs.blob(trace.steps[-1].state or "")
    assert blob is not None
    return msgspec.json.decode(blob.data)


def test_another_action_is_an_amendment_and_the_agent_goes_on_from_it(store: Store) -> None:
    parent = first_run(store, HOME, OPEN, HOME, DONE)
    agent = ListAgent(HOME, OPEN, HOME, DONE)
    child = ran(fork_run(store, parent.id, 1, ForkChange(action=NOTES), person="P01", agent=agent))
    mine, theirs = shared(store, child.id)
    assert mine == theirs
    assert len(mine) == 3  # Started, Acting, Step
    step = child.steps[1]
    assert step.decision is not None
    assert (step.proposed.action, step.decision.verdict, step.action) == (OPEN, "amend", NOTES)
    assert child.steps[2].before.activity.startswith("com.hitlab.notes")
    assert [type(event).__name__ for event in list(store.runs.events(child.id))[3:5]] == ["Acting", "Step"]
    assert child.forked is not None
    assert child.forked.changes[0][0] == "action"


def test_another_agent_proposes_the_step_anew_and_the_run_says_who(store: Store) -> None:
    parent = first_run(store, HOME, OPEN, DONE)
    agent = ListAgent(HOME, NOTES, DONE, name="other")
    child = ran(fork_run(store, parent.id, 1, ForkChange(agent="other"), person="P01", agent=agent))
    assert child.agent.id == "other"
    assert [step.action for step in child.steps] == [HOME, NOTES, DONE]
    assert child.steps[1].proposed.thought == "other says so"
    assert (parent.ended and parent.ended.score, child.ended and child.ended.score) == (1.0, 0.0)
    assert child.started == parent.started
    assert store.runs.summary(child.id).started > parent.started


def test_screens_and_states_of_the_shared_steps_are_used_and_not_stored_again(store: Store) -> None:
    parent = first_run(store, HOME, OPEN, HOME, DONE)
    blobs, used = _count(store, "blob"), _uses(store, parent.id)
    child = fork_run(store, parent.id, 2, person="P01", agent=ListAgent(HOME, OPEN, HOME, DONE))
    assert _count(store, "blob") == blobs
    assert _uses(store, child.trace_id) <= used
    assert {parent.steps[0].before.image, parent.steps[1].state} <= _uses(store, child.trace_id)
    assert child.device.observe().activity == parent.steps[2].before.activity
    assert store.check() == []


def _count(store: Store, table: str) -> int:
    return int(store.database.read(f"SELECT count(*) FROM {table}")[0][0])


def _uses(store: Store, run: str) -> set[str]:
    return {sha for (sha,) in store.database.read("SELECT sha256 FROM use WHERE trace = ?", run)}


def test_with_nothing_other_a_question_stands_again_and_an_act_is_proposed_again(store: Store) -> None:
    parent = first_run(store, OPEN, ASK, DONE)
    again = ListAgent(OPEN, ASK, DONE)
    asked = fork_run(store, parent.id, 1, person="P02", agent=again)
    assert store.runs.trace(asked.trace_id).asked is not None
    assert ran(asked).steps[1].reply == Reply("q1", "dark", Actor("human", "P02"))
    acted = fork_run(store, parent.id, 0, person="P02", agent=again)
    assert [type(event) for event in store.runs.events(acted.trace_id)] == [Started]
    assert ran(acted).steps[0].action == OPEN


def test_an_asked_question_in_the_place_of_an_act_can_be_given_with_its_answer(store: Store) -> None:
    parent = first_run(store, OPEN, DONE)
    child = ran(fork_run(store, parent.id, 0, ForkChange("a", action=ASK), person="P01", agent=ListAgent(OPEN, DONE)))
    assert child.steps[0].reply is not None
    assert (child.steps[0].question, child.steps[0].reply.text) != (None, "")
    kinds = [type(event) for event in store.runs.events(child.id)]
    assert kinds == [Started, Asked, Answered, Step, Step, Ended]


def test_a_run_that_was_paused_where_it_is_forked_goes_on(store: Store) -> None:
    session = Session(store, Spec(TASK), agent=ListAgent(OPEN, HOME, DONE))
    session.append(session._start_event())
    session.append(Paused(by=session.person))
    session.append(Step(index=0, proposed=Proposed(OPEN), state=session.state(session.first)))
    child = fork_run(store, session.trace_id, 1, person="P01", agent=ListAgent(OPEN, HOME, DONE))
    trace = ran(child)
    assert not trace.paused
    assert any(isinstance(event, Resumed) for event in store.runs.events(child.trace_id))
    assert trace.status == "completed"


def test_an_open_run_is_forked_where_it_stands(store: Store) -> None:
    session = Session(store, Spec(TASK), agent=ListAgent(OPEN, DONE))
    session.append(session._start_event())
    session.append(Acting(index=0, action=OPEN))
    child = ran(
        fork_run(store, session.trace_id, 0, ForkChange(action=NOTES), person="P01", agent=ListAgent(OPEN, DONE))
    )
    assert child.steps[0].action == NOTES
    assert child.steps[0].proposed.by == Actor("human", "P01")


def test_another_persona_and_another_log_are_the_forks_own(store: Store) -> None:
    parent = first_run(store, HOME, DONE, persona=library.persona("ines", "noise"))
    agent = ListAgent(HOME, DONE)
    child = ran(fork_run(store, parent.id, 1, ForkChange(log="clean"), person="P01", agent=agent))
    assert child.persona == library.persona("ines", "clean")
    assert child.conditions.log == "clean"
    assert change_words(child.forked) == "log clean"


def test_a_live_run_is_rewound_and_ends_saying_where_it_went_on(store: Store) -> None:
    agent = ListAgent(OPEN, HOME, ASK, DONE)
    session = Session(store, Spec(TASK, breaks=("step:9",)), agent=agent)
    came: list[object] = []
    session.questions.on_change = came.append
    session.start()
    while not came:
        session.join(0.01)
    session.breakpoints.add("app:Notes")
    session.breakpoints.toggle("app:Notes")
    again = rewind_run(session, 1, agent=agent)
    old, new = store.runs.trace(session.trace_id), store.runs.trace(again.trace_id)
    assert old.ended is not None
    assert (old.status, old.ended.reason) == ("stopped", f"rewound to step 2 as run {again.trace_id}")
    assert (new.status, new.parent, len(new.steps)) == ("open", old.id, 1)
    assert [(point.spec, point.on) for point in again.breakpoints.all] == [("step:9", True), ("app:Notes", False)]
    assert ran(again).status == "completed"


def test_where_a_run_cannot_be_forked_a_sentence_says_so_and_nothing_is_kept(store: Store) -> None:
    parent = first_run(store, OPEN, ASK, DONE)
    imported = whole_run()
    store.runs.add(imported)
    runs = _count(store, "trace")
    agent = ListAgent(OPEN, ASK, DONE)
    refused: list[tuple[str, int, ForkChange, str]] = [
        (imported.id, 1, ForkChange(), "was not made on the embedded phone; it cannot be forked here"),
        (parent.id, 3, ForkChange(), "has no step 4 to be forked at; its steps are 1 to 3"),
        (parent.id, 9, ForkChange(), "has no step 10"),
        (parent.id, 0, ForkChange("no"), "asks nothing that could be answered. This run asks at step 2."),
        (parent.id, 1, ForkChange(decision="reject"), "asks for words"),
        (parent.id, 1, ForkChange(log="clean"), "has no persona"),
        (parent.id, 1, ForkChange(user="nobody"), "'nobody' is none of human, script"),
    ]
    for run, index, change, words in refused:
        with pytest.raises(LabError) as found:
            fork_run(store, run, index, change, person="P01", agent=agent)
        assert words in found.value.sentence
    assert _count(store, "trace") == runs


def test_a_redacted_run_is_not_forked_and_the_reason_is_the_redaction(store: Store) -> None:
    run = first_run(store, OPEN, ASK, DONE).id
    for word in ("theme", "Settings"):
        run = redact(store, run, Actor("human", "D1"), boxes={}, words=[word]).replaced[run]
        with pytest.raises(LabError, match="was redacted, which leaves out the phone's states; it cannot be forked"):
            fork_run(store, run, 1, person="P01")


def test_a_program_of_a_stored_run_is_not_started_without_being_named(store: Store) -> None:
    agent = ListAgent(OPEN, DONE, name="process:rm -r everything")
    parent = ran(Session(store, Spec(TASK), agent=agent))
    with pytest.raises(LabError, match="never starts one by itself"):
        fork_run(store, parent.id, 1, person="P01")
    with pytest.raises(LabError, match="task dark: has no playbook"):
        fork_run(store, parent.id, 1, ForkChange(agent="rule"), person="P01")
    again = fork_run(store, parent.id, 1, ForkChange(agent=f"recorded:{parent.id}"), person="P01")
    assert again.agent.actor.id == f"recorded:{parent.id}"


def test_a_run_whose_states_are_not_in_the_file_is_not_forked(store: Store) -> None:
    session = Session(store, Spec(TASK), agent=ListAgent(OPEN, DONE))
    session.append(session._start_event())
    session.append(Step(index=0, proposed=Proposed(OPEN)))
    with pytest.raises(LabError, match="kept nothing of the phone's state after step 1"):
        fork_run(store, session.trace_id, 1, person="P01", agent=ListAgent(OPEN, DONE))


def test_a_place_is_a_run_and_a_step_counted_from_one(store: Store) -> None:
    parent = first_run(store, DONE)
    assert parse_fork_place(store, f"{parent.id}@1") == (parent.id, 0)
    for text in (parent.id, f"{parent.id}@0", f"{parent.id}@x"):
        with pytest.raises(LabError):
            parse_fork_place(store, text)


def test_a_family_is_one_tree_from_whichever_run_it_is_asked(store: Store) -> None:
    agent = ListAgent(OPEN, ASK, HOME, DONE)
    root = first_run(store, OPEN, ASK, HOME, DONE)
    late = ran(fork_run(store, root.id, 2, ForkChange(action=NOTES), person="P01", agent=agent))
    early = ran(fork_run(store, root.id, 1, ForkChange("light"), person="P01", agent=agent))
    grandchild = ran(fork_run(store, early.id, 2, person="P01", agent=agent))
    first_run(store, DONE)
    for run in (root, late, early, grandchild):
        limbs = tree(store.runs.family(run.id))
        assert [limb.run.id for limb in limbs] == [root.id, early.id, grandchild.id, late.id]
        assert [limb.stem for limb in limbs] == ["", "├─ ", "│  └─ ", "└─ "]
    words = [change_words(limb.run.forked) for limb in tree(store.runs.family(root.id))]
    assert words == ["", "reply light", "once more", "action open_app Notes"]
    alone = first_run(store, DONE, persona=Persona("p", "P"))
    assert [kin.id for kin in store.runs.family(alone.id)] == [alone.id]


def test_a_family_whose_first_run_is_in_another_file_hangs_together(store: Store, tmp_path: Path) -> None:
    agent = ListAgent(OPEN, DONE)
    root = first_run(store, OPEN, DONE)
    children = [ran(fork_run(store, root.id, 0, person="P01", agent=agent)).id for _ in range(2)]
    with Store.open(tmp_path / "other.db") as other:
        for child in children:
            for event in store.runs.events(child):
                other.runs.append_event(child, event)
        assert [(limb.run.id, limb.stem) for limb in tree(other.runs.family(children[0]))] == [
            (c, "") for c in children
        ]
