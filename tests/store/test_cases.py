"""Runs as metrics read them: the same as a fold of their events, without what metrics do not need."""

from __future__ import annotations

import pytest

from lab.core.errors import LabError
from lab.core.run.run_records import Imported, Verdict, number_events
from lab.core.run.step import Action, Decision, Observation, Proposed, Question, Reply, Usage
from lab.core.run.trace import (
    Answered,
    AnyEvent,
    Asked,
    Ended,
    Event,
    Flagged,
    Paused,
    Resumed,
    Source,
    Started,
    Step,
)
from lab.core.run.ui_tree import Bounds, Node, UiTree
from lab.core.task.task import Actor, LogEntry, Persona, Task
from store.store import Store

P = Actor("human", "P01")
TASK = Task("lunch", "personalized", instruction="Order lunch", golden_steps=2, traits={"difficulty": "easy"})
PERSONA = Persona("ines", "Ines", {"habits": {"lunch": "noon"}}, (LogEntry("t", "home", "ate"),), "clean")
TREE = UiTree((Node(text="secret of the screen", bounds=Bounds(0, 0, 9, 9)),))


def started(id: str, **fields: object) -> Started:
    return Started(trace=id, task=TASK, agent=Actor("model", "m"), persona=PERSONA, **fields)  # type: ignore[arg-type]


def step(index: int, action: Action, **fields: object) -> Step:
    proposed = Proposed(action, "a thought", raw="raw", usage=Usage(10, 2, cost=0.5))
    return Step(index=index, proposed=proposed, before=Observation(size=(1080, 2400), tree=TREE), **fields)  # type: ignore[arg-type]


def at(event: Event, ms: float | None) -> AnyEvent:
    import msgspec

    return msgspec.structs.replace(event, ms=ms)  # type: ignore[return-value]


def kept(store: Store, id: str, *events: AnyEvent, verdicts: list[Verdict] | None = None) -> None:
    store.runs.add(Imported(number_events(events), {}, verdicts or []))


def asked(index: int) -> tuple[Asked, Answered, Step]:
    question = Question(f"q{index}", "ask", "Which?")
    reply = Reply(question.id, "The soup", P)
    ask = Action("ask_user", text="Which?")
    whole = step(index, ask, question=question, reply=reply)
    return Asked(index=index, question=question, proposed=whole.proposed), Answered(index=index, reply=reply), whole


def test_a_case_says_what_a_fold_says(store: Store) -> None:
    tap, typed = Action("click", at=(0, 7)), Action("input_text", text="soup")
    amended = Decision("amend", P, Action("click", at=(1, 8)))
    refused = Decision("reject", P)
    question, answer, whole = asked(2)
    kept(
        store,
        "a" * 32,
        started("a" * 32, attempt=2),
        step(0, tap, decision=amended, accepted=(typed,)),
        step(1, typed, decision=refused, error="said no"),
        question,
        answer,
        whole,
        Flagged(index=1, by=P),
        Ended(status="completed", score=0.5, reason="half", checks=(("one", True),)),
        verdicts=[Verdict("result", 0.5)],
    )
    (case,) = store.runs.measured()
    trace = store.runs.trace("a" * 32)
    assert [one.action for one in case.steps] == [one.action for one in trace.steps]
    assert [one.proposed for one in case.steps] == [one.proposed.action for one in trace.steps]
    assert case.steps[0].accepted == (typed,)
    assert case.steps[0].size == (1080, 2400)
    assert case.steps[1].error == "said no"
    assert [one.slip for one in case.steps] == [False, True, False]
    assert case.steps[2].question == question.question
    assert case.steps[2].reply == answer.reply
    assert (case.status, case.score, case.reason, case.checks) == ("completed", 0.5, "half", (("one", True),))
    assert (case.task, case.persona, case.attempt) == (TASK, PERSONA, 2)
    assert case.verdict("result") == Verdict("result", 0.5)
    assert case.usage == Usage(30, 6, cost=1.5, tries=3)
    assert not case.gold
    assert (case.nodes, case.units, case.seconds, case.waited) == (None, None, None, None)


def test_waiting_for_a_person_is_told_apart_from_the_whole_time(store: Store) -> None:
    question, answer, whole = asked(0)
    kept(
        store,
        "b" * 32,
        at(started("b" * 32), 0.0),
        at(question, 1_000.0),
        at(Paused(by=P), 2_000.0),
        at(answer, 5_000.0),  # waited 1 to 8: the pause began while the question was open, and outlasted it
        at(Resumed(by=P), 8_000.0),
        at(whole, 9_000.0),
        at(Paused(by=P), 10_000.0),
        at(Resumed(by=P), 12_500.0),
        at(Ended(status="completed"), 20_000.0),
    )
    (case,) = store.runs.measured(["b" * 32])
    assert case.seconds == 20.0
    assert case.waited == 7.0 + 2.5


def test_what_a_source_tells_of_the_whole_run_goes_before_what_its_steps_come_to(store: Store) -> None:
    source = Source("knowu")
    kept(
        store,
        "c" * 32,
        started("c" * 32, source=source),
        step(0, Action("click", at=(1, 1))),
        Ended(status="completed", usage=Usage(prompt_tokens=99, seconds=12.5)),
    )
    (case,) = store.runs.measured()
    assert case.usage == Usage(99, 2, cost=0.5, seconds=12.5)
    assert (case.seconds, case.waited) == (12.5, 0.0)


def test_an_imported_run_that_asked_at_unknown_times_does_not_say_how_long_it_waited(store: Store) -> None:
    events = (*asked(0), Ended(status="completed"))
    timed = [at(event, 1_000.0 * i) for i, event in enumerate(events)]
    kept(store, "d" * 32, started("d" * 32, source=Source("knowu")), *timed)
    (case,) = store.runs.measured()
    assert case.seconds == 3.0
    assert case.waited is None


def test_an_open_run_has_no_end_and_one_that_is_not_there_is_named(store: Store) -> None:
    kept(store, "e" * 32, started("e" * 32))
    assert next(store.runs.measured()).status == "open"
    with pytest.raises(LabError, match="run nowhere: is not in"):
        list(store.runs.measured(["nowhere"]))


def test_a_newer_event_is_refused(store: Store) -> None:
    import sqlite3

    kept(store, "f" * 32, started("f" * 32))
    with sqlite3.connect(store.path) as db:
        db.execute("DROP TRIGGER event_no_update")
        db.execute("UPDATE event SET body = replace(body, '\"v\":1', '\"v\":99')")
        if "99" not in db.execute("SELECT body FROM event").fetchone()[0]:
            db.execute("UPDATE event SET body = json_insert(body, '$.v', 99)")
    with pytest.raises(LabError, match="newer hitlab"):
        list(store.runs.measured())
    with sqlite3.connect(store.path) as db:  # also where it says what this program cannot read
        db.execute("UPDATE event SET body = json_set(body, '$.attempt', 'first')")
    with pytest.raises(LabError, match="newer hitlab"):
        list(store.runs.measured())
