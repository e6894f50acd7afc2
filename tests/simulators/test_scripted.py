"""The scripted user: which reply a question gets, what a resumed run hears, and what a bad file is told."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from lab.core.errors import LabError
from lab.core.run.step import Action, Proposed, Question, Reply
from lab.core.run.trace import Step
from lab.core.seams import User, WaitCancelled
from lab.core.task.task import Actor
from simulators.library import scripts
from simulators.users.scripted import UNPREPARED, ReplyRule, Script, Scripted, ScriptedReply, load_script
from tests.crossed import IN_SOAK, crossed, soak, spread
from tests.store.formats.test_long_runs import guarded

NEVER = threading.Event()


def ask(user: User, text: str, history: list[Step], kind: str = "ask") -> Reply:
    question = Question(f"q{len(history)}", "propose" if kind == "propose" else "ask", text)
    reply = user.reply(question, history, NEVER)
    history.append(Step(index=len(history), proposed=Proposed(Action("ask_user")), question=question, reply=reply))
    return reply


def test_the_first_fitting_line_answers_and_the_reply_is_whole() -> None:
    user = Scripted(Script("s", replies=(ReplyRule("how (hot|spicy)", "Mild"), ReplyRule("", "Go on", "accept"))))
    reply = ask(user, "How SPICY should it be?", [])
    assert (reply.question_id, reply.text, reply.decision) == ("q0", "Mild", None)
    assert reply.by == Actor("script", "s")
    assert reply.shown_at is not None
    assert reply.sent_at is not None
    assert ask(user, "Shall I?", []).decision == "accept"


def test_plain_text_is_found_as_it_is_written() -> None:
    user = Scripted(Script("s", replies=(ReplyRule("really?", "yes"),)))
    assert ask(user, "Is it REALLY? so", []).text == "yes"
    assert ask(user, "要不要香菜", []).text == UNPREPARED


def test_times_are_counted_in_the_history_so_a_resumed_run_hears_the_same() -> None:
    script = Script(
        "s",
        replies=(ReplyRule("time", "seven", times=1), ReplyRule("time", "eight", times=2)),
        otherwise=ScriptedReply("no"),
    )
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
        ask(Scripted(Script("s", otherwise=ScriptedReply("as you like", "accept"))), "Shall I?", [], "propose").decision
        == "accept"
    )


def script_of(folder: Path, *whens: str) -> Script:
    replies = [{"when": when, "say": str(number)} for number, when in enumerate(whens)]
    (folder / "mine.yaml").write_text(json.dumps({"replies": replies}))
    return load_script(folder / "mine.yaml")


ENDLESS = [
    "(a+)+$", "(a*)*b", "(a|a)*b", "(a|aa)+$", r"(\w+\s?)+x", "(x+x+)+y", "(?=(a+)+b)c", "([^x]+(?i:x))+z", "(a*?)*?b",
    "((a{0,50}){0,50}){0,50}b", "a*" * 12 + "b", "a?" * 40 + "a" * 40, r"(a+)\1*b", "(|a)+b", "(?a:([a-z]+ ?)+)x",
    "x" * 2000 + "+",
]  # fmt: skip


@pytest.mark.parametrize("when", ENDLESS)
def test_what_would_never_end_is_refused_with_its_file_and_field(tmp_path: Path, when: str) -> None:
    with pytest.raises(LabError, match=r"mine\.yaml.*field replies\[1\]\.when") as error:
        script_of(tmp_path, "spicy", when)
    assert len(error.value.sentence) < 500


SLOW = ["a.*a.*b", "a*a*a*a*b", "(?:a|b)*c", r"(\w+) \1", "(a++)++b", r"(\w+\s)+x", "a" * 900]
if IN_SOAK:  # it takes seconds for this text, but never more than that
    SLOW += ["a{1,999}b"]


@soak
@crossed
@pytest.mark.parametrize("when", SLOW, ids=range(len(SLOW)))
def test_no_question_hangs_what_is_taken(tmp_path: Path, when: str) -> None:
    user = Scripted(script_of(tmp_path, when))
    for unit in spread(("a", "ab", " "), 1):  # most of them try longest over the first
        with guarded():
            assert ask(user, "-" + unit * (200_000 // len(unit)) + "-", []).by == user.actor


@pytest.mark.parametrize(
    ("when", "question"),
    [
        ("spic", "How SPICY?"), ("pay.*card", "Shall I pay now with the blue card?"), ("^which .* at .* or .*[?]$",
        "Which seat at the front: window or aisle?"), (r"order\s+number\s*:?\s*(\d+)", "Is order number: 2188 right?"),
        (r"\b(?:code|pin|otp)\b", "What is the PIN? " * 40_000), ("(?s).*lamp", "the red\nlamp"),
        (r"(\w+) \1", "that that"),
        ("a.*b.*c.*d.*e.*f", "a b c d e f"), ("香菜|辣", "要不要香菜"), (r"(\w+\s)+now", "pay it right now"),
    ],
)  # fmt: skip
def test_expressions_as_people_write_them_are_found(tmp_path: Path, when: str, question: str) -> None:
    assert ask(Scripted(script_of(tmp_path, when)), question, []).text == "0"


def test_every_script_that_comes_along_is_read() -> None:
    assert [load_script(path).id for path in scripts().values()]


def test_a_stopped_run_gets_no_reply() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(WaitCancelled):
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
    assert script == Script("mine", "someone", (ReplyRule("spicy", "no", None, 2),), ScriptedReply("随便", "accept"))


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
