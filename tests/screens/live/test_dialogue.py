"""The parts of a dialogue by themselves: how typing is counted, how options are chosen, what is said of whom."""

from __future__ import annotations

from typing import Any

import pytest
from textual.app import App, ComposeResult

from lab.core.run.screen_clock import Clock, format_duration
from lab.core.run.step import Action, Decision, Proposed, Question, Reply
from lab.core.run.trace import Answered, AnyEvent, Asked, Step
from lab.core.task.task import Actor
from lab.studies.playing.persona_prose import persona_prose
from screens.live.choices import Choice, Choices, choice_bindings
from screens.live.dialogue import Dialogue
from screens.live.field import ReplyText
from screens.live.reply import OpenQuestion, ReplyTyping
from screens.live.seat_pane import prose

PERSON = Actor("human", "P01")
AT = "2026-03-10T08:50:00.000000+00:00"


class Parts(App[None]):
    """A dialogue and a question, with nothing around them."""

    def __init__(self, *, knows: bool = True) -> None:
        super().__init__()
        self.dialogue = Dialogue(Clock(), knows=knows)
        self.question = OpenQuestion(PERSON, Clock())
        self.sent: list[Reply] = []
        self.drafts: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.dialogue
        yield self.question

    def on_open_question_sent(self, message: OpenQuestion.Sent) -> None:
        self.sent.append(message.reply)

    def on_open_question_draft_changed(self, message: OpenQuestion.DraftChanged) -> None:
        self.drafts.append(message.text)

    def lines(self) -> list[str]:
        return [strip.text.rstrip() for strip in self.screen._compositor.render_strips()]


def typed(*texts: str, before: str = "") -> ReplyTyping:
    typing = ReplyTyping(before)
    for number, text in enumerate(texts):
        typing.change(text, f"at {number}")
    return typing


@pytest.mark.parametrize(
    ("texts", "edits", "draft"),
    [
        (("a", "ab", "abc"), 0, ""),
        (("ab", "a", "", "c"), 2, "ab"),
        (("abc", "axc"), 1, "abc"),
        (("abc", "abxc"), 0, ""),
        (("aa", "a"), 1, "aa"),
        (("long text", "", "short", "s"), 2, "long text"),
        (("same", "same"), 0, ""),
    ],
)
def test_deletions_and_the_longest_text_taken_back_are_counted(texts: tuple[str, ...], edits: int, draft: str) -> None:
    typing = typed(*texts)
    assert (typing.edits, typing.draft, typing.first_key_at) == (edits, draft, "at 0")


def test_a_restored_draft_is_no_typing() -> None:
    assert typed("kept", before="kept").first_key_at is None


async def test_a_digit_in_the_empty_field_takes_that_option(until: Any) -> None:
    app = Parts()
    async with app.run_test(size=(80, 24)) as pilot:
        app.question.open(Question("q", "ask", "Which?", ("06:30 [early]", "07:45")), "")
        await pilot.press("2")
        assert app.question.query_one(ReplyText).text == "07:45"
        await pilot.press("1", "enter")
        await until(pilot, lambda: app.sent)
        assert any("1  06:30 [early]" in line for line in app.lines())
    assert app.sent[0].text == "07:451"


async def test_it_is_sent_once_however_often_enter_is_pressed(until: Any) -> None:
    app = Parts()
    async with app.run_test(size=(80, 24)) as pilot:
        app.question.open(Question("q", "ask", "Which?"), "")
        await pilot.press("x", "enter", "enter")
        await until(pilot, lambda: app.sent)
        assert any("sending" in line for line in app.lines())
    assert len(app.sent) == 1


async def test_what_is_typed_is_kept_once_it_settles(until: Any) -> None:
    app = Parts()
    async with app.run_test(size=(80, 24)) as pilot:
        app.question.open(Question("q", "ask", "Which?"), "")
        await pilot.press("a", "b")
        await until(pilot, lambda: app.drafts)
        app.question.close()
        await pilot.pause()
    assert app.drafts[-1] == "ab"


def told(step: Step) -> list[AnyEvent]:
    assert step.question is not None
    assert step.reply is not None
    asked = Asked(index=0, question=step.question, proposed=step.proposed, at=AT)
    return [asked, Answered(index=0, reply=step.reply, at=AT), step]


@pytest.mark.parametrize("knows", [True, False])
async def test_thoughts_and_decisions_are_for_those_who_may_know(until: Any, knows: bool) -> None:
    app = Parts(knows=knows)
    refused = Decision("reject", PERSON, None, "too early", 2.5)
    answer = Reply("q", "Large.", PERSON, "accept")
    ask = Proposed(Action("ask_user", text="Large?"), "It depends.")
    async with app.run_test(size=(80, 40)) as pilot:
        for event in told(Step(index=0, proposed=ask, question=Question("q", "propose", "Large?"), reply=answer)):
            app.dialogue.show(event)
        app.dialogue.show(Step(index=1, proposed=Proposed(Action("click", (1, 2)), "Now."), decision=refused))
        await until(pilot, lambda: any("you accepted" in line for line in app.lines()))
        await pilot.pause()
        text = "\n".join(app.lines())
    assert "agent says" in text
    assert "08:50:00" in text
    for word in ("It depends.", "Now.", "tap (1, 2)", "rejected by P01, not done: too early", "2.5 s"):
        assert (word in text) is knows


def test_a_persona_reads_as_paragraphs() -> None:
    from rich.console import Console

    profile = {
        "identity": {"full_name": "Ines", "tags": ["a", "b"]},
        "friends": [{"name": "[b]Bo[/]\x1b[31m"}],
        "none": {},
    }
    console = Console(width=60, color_system=None)
    with console.capture() as capture:
        console.print(prose(persona_prose(profile, "Ines")))
    lines = [line.rstrip() for line in capture.get().splitlines()]
    assert lines == [
        "Identity",
        "  The full name is Ines. The tags are a and b.",
        "",
        "Friends",
        "  [b]Bo[/]\\x1b[31m.",
    ]


def test_spans_read_as_a_clock_does() -> None:
    assert [format_duration(0), format_duration(61.9), format_duration(3601), format_duration(-1)] == [
        "0:00",
        "1:01",
        "1:00:01",
        "0:00",
    ]


def test_the_keys_of_choices_are_bindings_with_ids() -> None:
    made = choice_bindings("g", (Choice("yes", "y", "yes", "Say yes"),))
    assert [getattr(made[0], name) for name in ("key", "action", "id")] == ["1,y", "pick(0)", "g.yes"]
    assert Choices.CHOICES == ()
