"""The open question and the answer to it: what is typed, how it came about, and what exactly will be sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static, TextArea

from lab.plain import plain
from lab.task import Actor
from lab.trace import Question, Reply
from screens.clock import Clock
from screens.live.choices import Choice, Choices, picks
from screens.live.keystrokes import Typing

_SETTLE = 0.4
"""Seconds without a key after which a draft is kept."""


class ReplyText(TextArea):
    """Where an answer is typed: Enter sends, ctrl+j begins a new line."""

    HELP = """
    Your answer. **Enter** sends it, **ctrl+j** begins a new line, **Esc** leaves the field and keeps what you typed.
    Where choices are numbered, a digit in the empty field takes that choice.
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send", id="reply.enter", tooltip="Send your answer"),
        Binding("ctrl+j,alt+enter,shift+enter", "new_line", "New line", show=False, id="reply.newline",
                tooltip="Begin a new line in your answer"),
    ]  # fmt: skip
    DEFAULT_CSS = """
    ReplyText { height: auto; max-height: 6; }
    """

    @dataclass
    class Entered(Message):
        """Enter was pressed."""

    @dataclass
    class Digit(Message):
        """A digit was pressed while the field was empty."""

        number: int

    digits = 0
    """How many digits choose something while the field is empty."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.prevent_default()  # else a new line; the binding sends
        elif not self.text and event.key.isdecimal() and 1 <= int(event.key) <= self.digits:
            event.stop()
            event.prevent_default()
            self.post_message(self.Digit(int(event.key)))
        else:
            await super()._on_key(event)

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        await super()._on_paste(events.Paste(plain(event.text)))  # what is pasted may hold escapes, which would be run
        event.stop()

    def action_send(self) -> None:
        self.post_message(self.Entered())

    def action_new_line(self) -> None:
        self.insert("\n")


class DecisionRow(Choices):
    """What a proposal can be answered with. A key marks one; Enter sends it."""

    HELP = """
    The agent proposes something. **1 a** accepts, **2 r** rejects, **3 o** treats it as only a question. The key marks
    your decision, **tab** goes to the remark, **Enter** sends both. What you type as a remark never decides anything.
    """
    CHOICES = (
        Choice("accept", "a", "accept", "Agree to what is proposed"),
        Choice("reject", "r", "reject", "Refuse what is proposed"),
        Choice("question", "o", "only a question", "It proposes nothing: answer it"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *picks("reply", CHOICES),
        Binding("enter", "send", "Send", id="reply.send", tooltip="Send the marked decision"),
    ]

    @dataclass
    class Entered(Message):
        """Enter was pressed."""

    def action_send(self) -> None:
        self.post_message(self.Entered())


class OpenQuestion(Vertical):
    """The question that waits for the person, with the field or the choices that answer it."""

    DEFAULT_CSS = """
    OpenQuestion { height: auto; max-height: 70%; display: none; }
    OpenQuestion > Static { height: auto; width: 1fr; }
    OpenQuestion > #asked { max-height: 8; overflow-y: auto; }
    """

    @dataclass
    class Sent(Message):
        """The person answers."""

        question: Question
        reply: Reply

    @dataclass
    class Drafted(Message):
        """What stands in the field, unsent."""

        question: Question
        text: str

    def __init__(self, person: Actor, clock: Clock) -> None:
        super().__init__(id="question")
        self.question: Question | None = None
        self._person = person
        self._clock = clock
        self._typing = Typing()
        self._shown_at: str | None = None
        self._kept = ""
        self._settling: Timer | None = None
        self._row = DecisionRow(id="decision")
        self._field = ReplyText(id="reply", compact=True)

    def compose(self) -> ComposeResult:
        yield Static(id="asked", markup=False)
        yield self._row
        yield self._field
        yield Static(id="sends", markup=False)

    # -- opening and closing ---------------------------------------------------------------------------------

    def open(self, question: Question, draft: str) -> None:
        """Puts a question before the person, with what they had typed to it before."""
        proposal = question.kind == "propose"
        draft = plain(draft)
        self.question, self._kept, self._shown_at = question, draft, None
        self._typing = Typing(draft)
        self.set_class(proposal, "-proposal")
        self.add_class("-open")
        # At once, and not with the next styles: what is not displayed cannot be given the focus.
        self.display, self._row.display = True, proposal
        self.border_title = "The agent proposes" if proposal else "The agent asks"
        lines = [plain(question.text)] + [f"{n}  {plain(o)}" for n, o in enumerate(question.options, 1)]
        self.query_one("#asked", Static).update(Text("\n".join(lines)))
        row, field = self._row, self._field
        row.cursor = -1
        row.disabled = field.disabled = False
        field.digits = 0 if proposal else len(question.options)
        field.load_text(draft)
        field.move_cursor(field.document.end)
        field.placeholder = "a remark, if you like (tab)" if proposal else "your answer"
        self.screen.set_focus(row if proposal else field)
        self._tell()
        self.call_after_refresh(self._painted, question)

    def close(self) -> None:
        """Takes the question away."""
        self.keep_draft()
        self.question = None
        self.remove_class("-open")
        self.display = False

    def restore(self, question: Question, draft: str) -> None:
        """Puts back what was typed in an earlier sitting, unless something is typed already."""
        if self.question == question and draft and not self._field.text:
            draft = plain(draft)
            self._kept = self._typing.text = draft
            self._field.load_text(draft)
            self._field.move_cursor(self._field.document.end)

    def keep_draft(self) -> None:
        """Says what is typed and unsent, if it is not yet kept."""
        if self._settling is not None:
            self._settling.stop()
        if self.question is not None and self._field.text != self._kept:
            self._kept = self._field.text
            self.post_message(self.Drafted(self.question, self._kept))

    @property
    def unkept(self) -> tuple[Question, str] | None:
        """What is typed and not yet said to be kept."""
        if self.question is None or self._field.text == self._kept:
            return None
        return self.question, self._field.text

    def focus_answer(self) -> None:
        """Puts the keys where the answer is given."""
        (self._row if self.has_class("-proposal") else self._field).focus()

    def _painted(self, question: Question) -> None:
        if self.question is question:
            self._shown_at = self._clock.now()

    # -- typing and deciding ---------------------------------------------------------------------------------

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        event.stop()
        if self.question is None:
            return
        self._typing.change(self._field.text, self._clock.now())
        self._tell()
        if self._settling is not None:
            self._settling.stop()
        self._settling = self.set_timer(_SETTLE, self.keep_draft)

    @on(ReplyText.Digit)
    def _chosen(self, event: ReplyText.Digit) -> None:
        event.stop()
        if self.question is not None:
            self._field.insert(self.question.options[event.number - 1])

    @on(Choices.Picked)
    def _armed(self, event: Choices.Picked) -> None:
        event.stop()
        self._typing.touch(self._clock.now())
        self._tell()
        if event.choice == "question":
            self._field.focus()

    @on(DecisionRow.Entered)
    @on(ReplyText.Entered)
    def _enter(self, event: Message) -> None:
        event.stop()
        question, lack = self.question, self._lack()
        if question is None or self._field.disabled:
            return
        if lack:
            self._tell(f"! {lack}")
            return
        self._row.disabled = self._field.disabled = True
        self._tell("sending ...")
        self.post_message(self.Sent(question, self._reply(question)))

    def _reply(self, question: Question) -> Reply:
        typing, text = self._typing, self._field.text
        return Reply(
            question_id=question.id,
            text=text,
            by=self._person,
            decision=self._decision,
            shown_at=self._shown_at,
            first_key_at=typing.first_key_at,
            sent_at=self._clock.now(),
            edits=typing.edits,
            draft=typing.draft or None,
        )

    @property
    def _decision(self) -> Literal["accept", "reject"] | None:
        chosen = self._row.chosen if self.has_class("-proposal") else None
        if chosen == "accept":
            return "accept"
        return "reject" if chosen == "reject" else None

    def _lack(self) -> str:
        """What is missing before this can be sent."""
        proposal, empty = self.has_class("-proposal"), not self._field.text.strip()
        if proposal and self._row.chosen is None:
            return "Decide first: 1 accept, 2 reject, 3 only a question (shift+tab from the remark)."
        if empty and (not proposal or self._row.chosen == "question"):
            return "Nothing is typed yet: write your answer, then Enter."
        return ""

    def _tell(self, problem: str = "") -> None:
        """The line that says what Enter will send."""
        line = Text(problem)
        if not problem and not self._lack():
            line.append("Enter sends: ")
            if self.has_class("-proposal"):
                line.append((self._row.chosen or "").replace("question", "only a question"), style="bold")
                line.append(", with your remark" if self._field.text.strip() else ", without a remark")
            else:
                line.append("your answer")
        elif not problem:
            line.append("1, 2 or 3 decides; Enter sends" if self.has_class("-proposal") else "Enter sends")
        self.query_one("#sends", Static).update(line)
