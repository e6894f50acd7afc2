"""To which conversation a request belongs, what is asked again, and what is known again after a start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.core.errors import LabError
from lab.core.run.trace import Ended
from lab.core.task.task import Actor, Persona, Task
from lab.runs.endpoint.conversation_intake import Intake, LastTurn
from lab.runs.endpoint.conversation_list import conversations
from lab.runs.endpoint.conversation_run import close_conversation, give_reply, system_of
from simulators.users.endpoint.access import TooManyWait
from simulators.users.endpoint.known_tasks import KnownTask
from simulators.users.endpoint.request_kinds import judge_rules
from store.store import Store
from tests.answering import CONSENT, P1, reply_to, request, until


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture
def intake(store: Store) -> Intake:
    return Intake(store, [P1], judge_rules())


def answered(intake: Intake, last: LastTurn, text: str = "Noodles.", *, arrived: bool = True) -> None:
    give_reply(intake.store, last.turn, reply_to(last.turn, text))
    intake.deliver_answers()
    assert last.answer.done()
    if arrived:
        last.deliver()


def test_the_same_request_while_it_waits_is_the_same_question(intake: Intake) -> None:
    first = intake.receive(request("What?"))
    assert intake.receive(request("What?")) is first
    assert intake.receive(request("What?", retry=2)) is first
    assert intake.receive(request("What?", session="other")) is not first


def test_an_answer_that_may_not_have_arrived_is_given_again(intake: Intake) -> None:
    first = intake.receive(request("What?"))
    answered(intake, first, arrived=False)
    assert intake.receive(request("What?")) is first
    first.deliver()
    assert intake.receive(request("What?", retry=1)) is first
    assert intake.receive(request("What?")).turn.run != first.turn.run


def test_of_two_plays_of_one_task_each_goes_on_in_its_own_run(intake: Intake) -> None:
    one = intake.receive(request("What?"))
    answered(intake, one, "Noodles.")
    two = intake.receive(request("What?"))
    answered(intake, two, "Rice.")
    after_one = intake.receive(request("What?", "Noodles.", "How many?"))
    after_two = intake.receive(request("What?", "Rice.", "How many?"))
    assert after_one.turn.run == one.turn.run
    assert after_two.turn.run == two.turn.run


def test_a_copy_of_the_answer_that_was_trimmed_still_goes_on(intake: Intake) -> None:
    one = intake.receive(request("Shall I?", system=CONSENT))
    give_reply(intake.store, one.turn, reply_to(one.turn, "Yes.", decision="accept"))
    intake.deliver_answers()
    after = intake.receive(request("Shall I?", "Yes.", "Now?", system=CONSENT))
    assert after.turn.run == one.turn.run


def test_what_was_said_elsewhere_before_stands_before_the_question(intake: Intake) -> None:
    last = intake.receive(request("Hi", "Hello", "What?"))
    assert last.turn.question.text == "What?"
    assert last.turn.facts.before == (("user", "Hi"), ("assistant", "Hello"))


def test_a_session_of_a_client_that_sends_no_history_is_one_conversation(intake: Intake) -> None:
    one = intake.receive(request("What?", session="box"))
    answered(intake, one)
    two = intake.receive(request("How many?", session="box"))
    assert two.turn.run == one.turn.run
    answered(intake, two)
    again = intake.receive(request("What?", session="box"))  # its first question: the task is played again
    assert again.turn.run != one.turn.run
    assert intake.receive(request("How many?", system="You are Ben.", session="box")).turn.run != again.turn.run


def test_a_session_of_a_client_that_sends_all_is_cut_where_it_begins_anew(intake: Intake) -> None:
    one = intake.receive(request("What?", session="box"))
    answered(intake, one)
    two = intake.receive(request("What?", "Noodles.", "How many?", session="box"))
    assert two.turn.run == one.turn.run
    answered(intake, two)
    assert intake.receive(request("Where to?", session="box")).turn.run != one.turn.run


def test_what_was_ended_is_not_gone_on_with(intake: Intake, store: Store) -> None:
    one = intake.receive(request("What?"))
    answered(intake, one)
    close_conversation(store, one.turn.run, P1)
    after = intake.receive(request("What?", "Noodles.", "How many?"))
    assert after.turn.run != one.turn.run
    assert store.runs.trace(one.turn.run).status == "completed"


def test_of_two_who_answer_at_once_the_second_is_refused(intake: Intake, store: Store) -> None:
    one = intake.receive(request("What?"))
    give_reply(store, one.turn, reply_to(one.turn, "Noodles."))
    with pytest.raises(LabError, match="was answered already"):
        give_reply(store, one.turn, reply_to(one.turn, "Rice."))
    intake.deliver_answers()
    assert one.answer.result().content == "Noodles."


def test_a_start_remembers_what_waits_what_was_answered_and_what_goes_on(store: Store) -> None:
    before = Intake(store, [P1], judge_rules())
    waits, answer = before.receive(request("One?")), before.receive(request("Two?"))
    give_reply(store, answer.turn, reply_to(answer.turn, "2"))
    after = Intake(store, [P1], judge_rules())
    assert after.waiting == 1
    assert after.receive(request("One?")).turn.question == waits.turn.question
    again = after.receive(request("Two?", retry=1))
    assert again.answer.result().content == "2"
    assert after.receive(request("Two?", "2", "Three?")).turn.run == answer.turn.run
    assert [turn.question.text for turn, _ in after.waiting_turns()] == ["One?", "Three?"]


def test_a_conversation_that_was_erased_begins_anew(intake: Intake, monkeypatch: pytest.MonkeyPatch) -> None:
    one = intake.receive(request("What?"))
    answered(intake, one)
    monkeypatch.setattr(intake.store.runs, "has_run", lambda run: run != one.turn.run)
    assert intake.receive(request("What?", "Noodles.", "How many?")).turn.run != one.turn.run


def test_a_task_is_told_by_session_goal_or_persona(store: Store) -> None:
    ann = Persona("ann", "Ann Example", {"likes": "noodles"})
    lunch = KnownTask(Task("lunch", "personalized", instruction="Order the usual lunch", policy="secret"), ann)
    night = KnownTask(Task("night", "proactive"), Persona("ben", "Ben Other"))
    intake = Intake(store, [P1], judge_rules(), [lunch, night])
    by_session = intake.receive(request("a?", session="night"))
    by_goal = intake.receive(request("b?", system="Goal: order the\nusual  LUNCH."))
    by_persona = intake.receive(request("c?", system="You are Ben Other."))
    unknown = intake.receive(request("d?", system="The task goal is: buy milk\nMore."))
    traces = [store.runs.trace(last.turn.run) for last in (by_session, by_goal, by_persona, unknown)]
    assert [trace.task.id for trace in traces[:3]] == ["night", "lunch", "night"]
    assert traces[1].persona == ann
    assert system_of(traces[1]) == "Goal: order the\nusual  LUNCH."
    assert (traces[3].task.instruction, traces[3].task.policy) == ("buy milk", "The task goal is: buy milk\nMore.")


def test_more_than_can_wait_are_refused(intake: Intake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.runs.endpoint.conversation_intake.ENDPOINT_WAITING", 1)
    first = intake.receive(request("One?"))
    with pytest.raises(TooManyWait):
        intake.receive(request("Two?"))
    assert intake.receive(request("One?")) is first


def test_the_list_has_what_waits_first_and_each_persons_own(store: Store) -> None:
    intake = Intake(store, [P1, Actor("human", "P02")], judge_rules())
    lasts = [intake.receive(request(f"{name}?", session=name)) for name in ("a", "b", "c", "d")]
    give_reply(store, lasts[0].turn, reply_to(lasts[0].turn, "x"))
    assert [line.question for line in conversations(store)] == ["b?", "c?", "d?", ""]
    mine = conversations(store, "P01")
    assert [(line.person, line.client, line.is_waiting) for line in mine] == [("P01", "c", True), ("P01", "a", False)]
    store.runs.save_draft(lasts[2].turn.run, lasts[2].turn.question.id, "")
    assert [line.unread for line in conversations(store, "P01")] == [False, False]


def test_an_answer_whose_step_was_lost_gets_it_with_the_next_question(intake: Intake, store: Store) -> None:
    """A program that was killed between the two leaves an answer; nothing of it is lost."""
    from lab.core.run.trace import Answered
    from lab.core.values.ids_and_clock import now

    one = intake.receive(request("What?"))
    event = Answered(index=0, reply=reply_to(one.turn, "Noodles."), seq=2, at=now(), ms=1.0)
    store.runs.append_event(one.turn.run, event)
    after = intake.receive(request("What?", "Noodles.", "How many?"))
    trace = store.runs.trace(after.turn.run)
    assert after.turn.run == one.turn.run
    assert [step.reply.text for step in trace.steps if step.reply] == ["Noodles."]
    assert not isinstance(trace.ended, Ended)


def test_a_conversation_that_went_silent_ends_by_what_waits_in_it(store: Store) -> None:
    intake = Intake(store, [P1], judge_rules(), close_after=7200)
    heard, waits, spoken = (intake.receive(request("What?", session=name)) for name in ("heard", "waits", "spoken"))
    heard.join()
    answered(intake, spoken)
    intake.close_silent()
    assert {line.ended for line in conversations(store, ended=True)} == {False}
    intake.close_after = 0.0
    intake.close_silent()
    ended = {name: store.runs.trace(turn.turn.run).ended for name, turn in (("waits", waits), ("spoken", spoken))}
    assert {name: one and (one.status, one.reason) for name, one in ended.items()} == {
        "waits": ("stopped", "closed after 0 s of silence, a question unanswered"),
        "spoken": ("completed", "closed after 0 s of silence"),
    }
    assert waits.answer.exception() is not None
    assert store.runs.trace(heard.turn.run).ended is None
    heard.leave()
    intake.close_silent()
    assert store.runs.trace(heard.turn.run).status == "stopped"


def test_a_client_that_comes_back_after_the_silence_begins_anew(store: Store) -> None:
    intake = Intake(store, [P1], judge_rules(), close_after=1e-9)
    spoken, waits = intake.receive(request("What?", session="a")), intake.receive(request("Why?", session="b"))
    answered(intake, spoken)
    intake.close_silent()
    assert intake.receive(request("What?", session="a", retry=1)) is spoken, "its answer is there for it still"
    later = intake.receive(request("What?", "Noodles.", "How many?", session="a"))
    assert later.turn.run != spoken.turn.run
    assert later.turn.facts.before == (("user", "What?"), ("assistant", "Noodles."))
    again = intake.receive(request("Why?", session="b", retry=1))
    assert again.turn.run != waits.turn.run
    assert again.turn.question.text == "Why?"


def test_the_watch_ends_what_went_silent(store: Store) -> None:
    intake = Intake(store, [P1], judge_rules(), close_after=0.01)
    asked = intake.receive(request("What?"))
    intake.watch()
    until(lambda: store.runs.trace(asked.turn.run).status == "stopped")
    intake.close()
