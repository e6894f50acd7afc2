"""What a demonstration is, from its events alone: counts, difficulty, apps, slips, and how it ended."""

from __future__ import annotations

from typing import Any

import pytest

from lab.core.codec import decode, encode
from lab.core.errors import LabError
from lab.core.run.demonstration import BUDGET, PLACES, demonstration, demonstration_task, difficulty
from lab.core.run.run_records import number_events
from lab.core.run.step import Action, Observation, Proposed
from lab.core.run.trace import AnyEvent, Conditions, Ended, Flagged, Started, Step, Trace, fold
from lab.core.task.task import Actor, Task, check_task

PERSON = Actor("human", "A01")
HOME, NOTES, MAIL = "com.lab.launcher/.Home", "com.lab.notes/.Edit", "com.lab.mail/.Inbox"


def made(*steps: tuple[Action, str, dict[str, Any]], flags: list[Flagged] | None = None, **started: Any) -> Trace:
    """A demonstration with these steps: the action, the activity before it, other fields of the step."""
    task = Task("demo-1", "general", instruction="Note it.", place="office")
    events: list[AnyEvent] = [Started(trace="r", task=task, agent=started.pop("agent", PERSON), **started)]
    for index, (action, activity, other) in enumerate(steps):
        proposed = Proposed(action, other.pop("thought", ""), by=PERSON, instruction=other.pop("said", "Do it"))
        events.append(Step(index=index, proposed=proposed, before=Observation(activity=activity), **other))
    events += flags or []
    return fold(number_events([*events, Ended(status="completed", final=Observation(activity=MAIL), ms=61_500.0)]))


TAP = Action("click", at=(1, 1))


def test_a_demonstration_is_counted() -> None:
    trace = made(
        (TAP, HOME, {}),
        (TAP, NOTES, {"error": "nothing was there"}),
        (TAP, NOTES, {"said": ""}),
        (TAP, NOTES, {}),
        (Action("status", status="complete"), MAIL, {}),
        flags=[Flagged(index=3, by=PERSON), Flagged(index=0, by=PERSON), Flagged(index=0, by=PERSON, on=False)],
    )
    said = demonstration(trace)
    assert said is not None
    assert (said.steps, said.golden, said.instructed, said.slips) == (5, 2, 4, (3,))
    assert (said.by, said.intent, said.place) == ("A01", "Note it.", "office")
    assert said.apps == ("com.lab.notes", "com.lab.mail")
    assert (said.outcome, said.reason, said.seconds, said.difficulty) == ("complete", "", 61.5, "easy")


def test_impossible_is_told_with_its_reason_and_note() -> None:
    last = Action("status", status="infeasible", text="ambiguous")
    said = demonstration(made((last, HOME, {"thought": "There are two Noors."}), conditions=Conditions(quick=True)))
    assert said is not None
    assert (said.outcome, said.reason, said.note, said.quick) == (
        "impossible",
        "ambiguous",
        "There are two Noors.",
        True,
    )
    answered = demonstration(made((Action("answer", text="ten"), HOME, {})))
    assert answered is not None
    assert answered.outcome == "answered"
    unfinished = demonstration(made((TAP, HOME, {})))
    assert unfinished is not None
    assert unfinished.outcome == ""


def test_a_run_of_an_agent_is_no_demonstration() -> None:
    assert demonstration(made((TAP, HOME, {}), agent=Actor("script", "rule"))) is None


@pytest.mark.parametrize(("golden", "hard"), [(1, "easy"), (20, "easy"), (21, "medium"), (40, "medium"), (41, "hard")])
def test_golden_steps_say_how_hard_a_task_is(golden: int, hard: str) -> None:
    assert difficulty(golden) == hard


def test_a_flag_survives_the_file() -> None:
    flag = Flagged(seq=4, index=2, by=PERSON, on=False)
    again: AnyEvent = decode(encode(flag), AnyEvent, "event")
    assert again == flag


def test_an_intent_of_ones_own_becomes_a_task() -> None:
    task = demonstration_task(None, "  Tell Noor \n that I come ", "a ferry")
    check_task(task, "the task")
    assert (task.instruction, task.place, task.budget) == ("Tell Noor that I come", "a ferry", BUDGET)
    assert task.id.startswith("demo-")
    assert task.id != demonstration_task(None, "x", "y").id
    assert len(set(PLACES)) == 12


def test_a_task_keeps_what_it_is_but_for_the_budget() -> None:
    task = Task("t", "personalized", instruction="Order lunch", place="work", budget=12)
    again = demonstration_task(task, "", "")
    assert (again.id, again.kind, again.instruction, again.place) == ("t", "personalized", "Order lunch", "work")
    assert again.budget == BUDGET
    offered = demonstration_task(Task("p", "proactive", place="home"), "Set the alarm for seven", "")
    assert (offered.kind, offered.instruction, offered.place) == ("general", "Set the alarm for seven", "home")
    check_task(offered, "the task")


def test_an_intent_is_no_novel() -> None:
    with pytest.raises(LabError, match="the intent: has 600 characters"):
        demonstration_task(None, "x" * 600, "")
