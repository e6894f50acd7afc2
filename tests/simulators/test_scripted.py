"""The scripted user: which reply a question gets, what a resumed run hears, and what a bad file is told."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.seams import User, Withdrawn
from lab.task import Actor
from lab.trace import Step
from lab.turn import Action, Proposed, Question, Reply
from simulators.scripted import UNPREPARED, Line, Said, Script, Scripted, load_script

NEVER = threading.Event()


def ask(user: User, text: str, history: list[Step], kind: str = "ask") -> Reply:
    question = Question(f"q{len(history)}", "propose" if kind == "propose" else "ask", text)
    reply = user.reply(question, history, NEVER)
    history.append(Step(index=len(history), proposed=Proposed(Action("ask_user")), question=question, reply=reply))
    return reply


def test_the_first_fitting_line_answers_and_the_reply_is_whole() -> None:
    user = Scripted(Script("s", replies=(Line("how (hot|spicy)", "Mild"), Line("", "Go on", "accept"))))
    reply = ask(user, "How SPICY should it be?", [])
    assert (reply.question_id, reply.text, reply.decision) == ("q0", "Mild", None)
    assert reply.by == Actor("script", "s")
    assert reply.shown_at is not None
    assert reply.sent_at is not None
    assert ask(user, "Shall I?", []).decision == "accept"


def test_plain_text_is_found_as_it_is_written() -> None:
    user = Scripted(Script("s", replies=(Line("really?", "yes"),)))
    assert ask(user, "Is it REALLY? so", []).text == "yes"
    assert ask(user, "要不要香菜", []).text == UNPREPARED


def test_times_are_counted_in_the_history_so_a_resumed_run_hears_the_same() -> None:
    script = Script("s", replies=(Line("time", "seven", times=1), Line("time", "eight", times=2)), otherwise=Said("no"))
    history: list[Step] = []
    assert [ask(Scripted(script), "what time?", history).text for _ in range(4)] == ["seven", "eight", "eight", "no"]
    person = Reply("q", "nine", Actor("human", "p1"))
    taken = Step(
        index=0, proposed=Proposed(Action("ask_user")), question=Question("q", "ask", "what time?"), reply=person
    )
    assert ask(Scripted(script), "what time?", [taken]).text == "seven"


def test_an_unforeseen_proposal_is_rejected_and_an_unforeseen_question_left_open() -> None:
    user = Scripted(Script("s"))
    assert ask(user, "Shall I?", [], "propose").decision == "reject"
    assert ask(user, "Which?", []).decision is None
    assert (
        ask(Scripted(Script("s", otherwise=Said("as you like", "accept"))), "Shall I?", [], "propose").decision
        == "accept"
    )


def test_a_stopped_run_gets_no_reply() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Withdrawn):
        Scripted(Script("s")).reply(Question("q", "ask", "?"), [], stop)


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "persona: someone\n"
        "replies:\n  - {when: spicy, say: no, decision: null, times: 2}\n"
        "otherwise: {say: 随便, decision: accept}\n",
        encoding="utf-8",
    )
    script = load_script(path)
    assert script == Script("mine", "someone", (Line("spicy", "no", None, 2),), Said("随便", "accept"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("replies: [{when: a, says: b}]", "replies"),
        ("replys: []", "replys"),
        ("replies: [{when: a, say: b, decision: maybe}]", "decision"),
        ("replies: [{when: '(', say: b}]", r"replies\[0\]\.when"),
        ("replies: [{when: a, say: b, times: 0}]", r"replies\[0\]\.times"),
        ("otherwise: {decision: accept}", "otherwise"),
        ("- a", "no mapping"),
        ("a: [", "not YAML"),
    ],
)
def test_a_bad_file_is_told_its_field(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(LabError, match=told) as error:
        load_script(path)
    assert "bad.yaml" in error.value.sentence
