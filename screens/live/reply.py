"""The open question and its answer: the text, how it was typed, and what will be sent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static, TextArea

from lab.core.run.screen_clock import Clock
from lab.core.run.step import Question, Reply
from lab.core.task.task import Actor
from lab.core.text.plain_text import plain
from lab.core.text.typed_text import clean
from screens.key_names import focus_now, focus_opened, with_keys
from screens.live.choices import Choice, Choices, choice_bindings
from screens.live.field import ReplyText
from screens.live.words import translated
from screens.widgets.border_words import write_title
from screens.widgets.card import Card, CardText

_SETTLE = 0.4
"""Seconds without a key after which a draft is saved."""


_SENTENCE_END = re.compile(r"[.!?。！？\n]")
_OPEN_CHOICE = re.compile(
    r"(?:^|[:：])\W{0,4}(?:(?:and|so|but|then)\W{1,4})?(?:which|what|when|where|who|whose|whom|how)\b|\bor\b(?! not\b)"
    r"|还是|哪|什么|多少|几|怎",
    re.IGNORECASE,
)


def asks_for_choice(question: Question) -> bool:
    """Return True if a question names options or asks which, what or how. An offer is accepted or rejected whole."""
    ends = list(_SENTENCE_END.finditer(question.text))
    asked = [at for at, end in enumerate(ends) if end[0] in "?？"]
    if question.options or not asked:
        return bool(question.options)
    start = ends[asked[-1] - 1].end() if asked[-1] else 0
    return _OPEN_CHOICE.search(question.text[start : ends[asked[-1]].end()].strip()) is not None


class ReplyChoices(Choices):
    """Row of replies to a proposal, each on one key. A subclass defines them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send", show=False, id="reply.send", tooltip="Send the marked decision"),
    ]

    locale = "en"

    @dataclass
    class NothingMarked(Message):
        """Message: Enter was pressed while no reply was marked."""

    def label(self, choice: Choice) -> str:
        return translated(self.locale, choice.id)

    @property
    def in_words(self) -> int:
        """The number of the choice that answers in words, from 0, -1 where a decision is demanded."""
        return next((number for number, choice in enumerate(self.CHOICES) if choice.id == "question"), -1)

    def action_send(self) -> None:
        if self.cursor < 0:
            self.post_message(self.NothingMarked())
        else:
            self.pick(self.cursor)


class DecisionRow(ReplyChoices):
    """Row of replies to a proposal in a live run. One key sends."""

    HELP = """
    The agent says something of its own accord. If it offers to do something, accept or reject the offer; if it offers
    nothing and only asks, take the third choice and answer in words; a question that names options or asks which, what
    or how opens with that choice taken. The key before a choice, or the letter underlined
    in it, sends a decision at once, with the remark if you typed one. **tab** goes to the remark; nothing that is
    typed there decides anything. **{card.down}** and **{card.down:space}** read a long text on, **{card.up}** back.
    """
    GROUP = "reply"
    CHOICES = (
        Choice("accept", "a", "accept", "Agree to what it offers"),
        Choice("reject", "r", "reject", "Refuse what it offers"),
        Choice("question", "o", "question", "It offers nothing and only asks: answer it"),
    )
    BINDINGS: ClassVar[list[BindingType]] = choice_bindings(GROUP, CHOICES)


class OpenQuestion(Card):
    """Card of the question that waits for the person, with the field or the choices to answer it."""

    DEFAULT_CSS = """
    OpenQuestion { height: auto; display: none; }
    OpenQuestion > Static { height: auto; width: 1fr; }
    """
    SHRINK_ROUNDS = (
        (("asked", 4), ("options", 4), ("reply", 2)),
        (("asked", 2), ("options", 2), ("reply", 1), ("asked", 1), ("sends", 1), ("options", 1)),
    )

    @dataclass
    class Sent(Message):
        """Message: the person answers."""

        question: Question
        reply: Reply

    @dataclass
    class DraftChanged(Message):
        """Message: the unsent text changed."""

        question: Question
        text: str

    def __init__(self, person: Actor, clock: Clock, row: ReplyChoices | None = None) -> None:
        """Create the card. `row` replaces a live run's three choices for proposals."""
        super().__init__(id="question")
        self.question: Question | None = None
        self.locale = "en"
        self.played = ""
        """Name of the persona, for the title."""
        self._person = person
        self._clock = clock
        self._typing = ReplyTyping()
        self._shown_at: str | None = None
        self._shown_before = ""
        """Time at which an earlier sitting showed the question, empty if none did."""
        self._saved_text = ""
        self._save_timer: Timer | None = None
        self._wordless = self._words_first = False
        self._asked, self._options = CardText(id="asked"), CardText(id="options")
        self._row = row or DecisionRow(clock, id="decision")
        self._field = ReplyText(id="reply", compact=True)
        self._sends = Static(id="sends", markup=False)
        self._hint_line = ""
        """Present text of the line below. Each key asks for an update, which would lay out the whole screen."""

    def compose(self) -> ComposeResult:
        yield self._asked
        yield self._options
        yield self._row
        yield self._field
        yield self._sends

    # -- opening and closing ---------------------------------------------------------------------------------

    def open(self, question: Question, draft: str) -> None:
        """Open a question with its draft."""
        proposal, row, field = question.kind == "propose", self._row, self._field
        in_words = row.in_words if proposal and asks_for_choice(question) else -1
        self._words_first = words = in_words >= 0
        decides = proposal and not words
        draft = clean(draft)
        self.question, self._saved_text, self._shown_at, self._shown_before = question, draft, None, ""
        self._typing = ReplyTyping(draft)
        self.set_class(proposal, "-proposal")
        self.add_class("-open")
        # At once, not by the style sheet's next update: a hidden widget cannot take the focus.
        self.display, self._row.display = True, proposal
        self.locale = row.locale = getattr(self.app, "run_locale", "en")
        self._write_asker("says" if decides else "asks")
        self._asked.show(Text(plain(question.text)))
        self._asked.display = bool(question.text.strip())
        self._options.show(Text("\n".join(f"{n}  {plain(o)}" for n, o in enumerate(question.options, 1))))
        self._options.display = bool(question.options)
        row.cursor, self._wordless = in_words, words
        if words:
            self.move_child(row, after=field)
        else:
            self.move_child(row, before=field)
        row.disabled = field.disabled = False
        field.digits = 0 if decides else len(question.options)
        field.load_text(draft)
        field.move_cursor(field.document.end)
        field.placeholder = translated(self.locale, "remark" if decides else "answer")
        focus_opened(row if decides else field)
        row.show_new()
        self._update_hint()
        self.call_after_refresh(self.mark_visible)

    def _write_asker(self, key: str) -> None:
        write_title(self, translated(self.locale, f"{key} you" if self.played else key, name=self.played))

    def close(self) -> None:
        """Close the question. Post its draft."""
        self.keep_draft()
        self.question = None
        self.remove_class("-open")
        self.display = False

    def restore(self, question: Question, draft: str, draft_times: tuple[str, str] | None = None) -> None:
        """Restore the draft and times of an earlier sitting, unless the person has typed already."""
        if self.question == question and draft_times is not None:
            self._shown_before, first_key = draft_times
            self._typing.first_key_at = first_key or self._typing.first_key_at
        if self.question == question and draft and not self._field.text:
            draft = clean(draft)
            self._saved_text = self._typing.text = draft
            self._field.load_text(draft)
            self._field.move_cursor(self._field.document.end)

    def keep_draft(self) -> None:
        """Post the unsent text as `DraftChanged` if it changed."""
        if self._save_timer is not None:
            self._save_timer.stop()
        if self.question is not None and self._field.text != self._saved_text:
            self._saved_text = self._field.text
            self.post_message(self.DraftChanged(self.question, self._saved_text))

    @property
    def unsent(self) -> tuple[Question, str] | None:
        """The open question and its unsent text, or None if neither text nor a saved draft exists."""
        if self.question is None or not (self._field.text or self._saved_text):
            return None
        return self.question, self._field.text

    def focus_answer(self) -> None:
        """Focus the field or the choices."""
        focus_now(self._row if self._is_proposal and not self._takes_words else self._field)

    def return_to(self, away: str) -> None:
        """Focus the field or the choices.

        If one has the focus already, show why it stays there, and what leads `away`.
        """
        if self.has_focus_within:
            self._update_hint(translated(self.locale, "waits") + away)
        self.focus_answer()

    def mark_visible(self) -> None:
        """Record the time at which the question is visible, if its screen is the current one."""
        self._row.mark_visible()
        if self.question is not None and self._shown_at is None and self.is_attached and self.screen.is_current:
            self._shown_at = self._clock.now()

    def go_back(self) -> bool:
        """Go back from a remark to the choices. Return False if that is not possible."""
        if not (self._is_proposal and self._field.has_focus):
            return False
        self.keep_draft()
        focus_now(self._row)
        return True

    @property
    def _is_proposal(self) -> bool:
        return self.has_class("-proposal")

    # -- typing and deciding ---------------------------------------------------------------------------------

    @on(TextArea.Changed)
    def _record_typing(self, event: TextArea.Changed) -> None:
        event.stop()
        if self.question is None:
            return
        first = self._typing.first_key_at is None
        self._typing.change(self._field.text, self._clock.now())
        self._update_hint()
        if first and self._typing.first_key_at is not None:
            self.keep_draft()  # at once: it stores the time of the first key, even if this program ends
            return
        if self._save_timer is not None:
            self._save_timer.stop()
        self._save_timer = self.set_timer(_SETTLE, self.keep_draft)

    @on(ReplyText.Digit)
    def _insert_option(self, event: ReplyText.Digit) -> None:
        event.stop()
        if self.question is not None:
            self._field.insert(self.question.options[event.number - 1])

    @on(Choices.TooEarly)
    def _warn_early(self, event: Choices.TooEarly) -> None:
        event.stop()
        self._update_hint(translated(self.locale, "early"))

    @on(ReplyChoices.NothingMarked)
    def _warn_undecided(self, event: ReplyChoices.NothingMarked) -> None:
        event.stop()
        self._update_hint(translated(self.locale, "undecided", keys=self._key_words))

    @on(Choices.Picked)
    def _take_choice(self, event: Choices.Picked) -> None:
        event.stop()
        if self.question is None or self._row.disabled:
            return
        # A key that picks a reply counts as the first key of the answer.
        self._typing.touch(self._clock.now())
        self._wordless = event.choice == "question" and not self._field.text.strip()
        if self._wordless:
            focus_now(self._field)
            self._update_hint()
        else:
            self._send(self.question)

    @on(ReplyText.Entered)
    def _send_words(self, event: ReplyText.Entered) -> None:
        """Send an answer in words. A remark is not sent from the field, since it decides nothing."""
        event.stop()
        if self.question is None or self._field.disabled:
            return
        if self._is_proposal and not self._takes_words:
            focus_now(self._row)
        elif self._field.text.strip():
            self._send(self.question)
        else:
            self._update_hint(translated(self.locale, "untyped"))

    def _send(self, question: Question) -> None:
        reply = self._reply(question)
        # Until the answer is committed or refused, a second key must not send again.
        self._row.disabled = self._field.disabled = True
        self._update_hint(translated(self.locale, "sending"))
        self.post_message(self.Sent(question, reply))

    def _reply(self, question: Question) -> Reply:
        typing, text = self._typing, self._field.text
        return Reply(
            question_id=question.id,
            text=text,
            by=self._person,
            decision=self._decision,
            shown_at=self._shown_before or self._shown_at,
            first_key_at=typing.first_key_at,
            sent_at=self._clock.now(),
            edits=typing.edits,
            draft=typing.draft or None,
        )

    @property
    def _decision(self) -> Literal["accept", "reject"] | None:
        choice = self._row.marked_id if self._is_proposal else None
        if choice == "accept":
            return "accept"
        return "reject" if choice == "reject" else None

    @property
    def _takes_words(self) -> bool:
        """True if the field holds an answer in words, not a remark: the choice *only a question* needs words."""
        return self._wordless and self._row.marked_id == "question"

    @property
    def _key_words(self) -> str:
        row = self._row
        return " · ".join(f"{row.key(n)} {row.label(choice)}" for n, choice in enumerate(row.CHOICES))

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _renew_hint(self) -> None:
        if self.question is not None and not self._field.disabled:
            self._update_hint()

    def _update_hint(self, problem: str = "") -> None:
        """Show what the next key does, or a problem."""
        if self._field.is_remark != (remark := self._is_proposal and not self._takes_words):
            self._field.is_remark = remark
            self.refresh_bindings()
        if (line := with_keys(self, problem or self._hint_words())) != self._hint_line:
            self._hint_line = line
            self._sends.update(Text(line))

    def _hint_words(self) -> str:
        if not self._is_proposal:
            return translated(self.locale, "sends answer")
        if self._takes_words and self._field.has_focus:
            return translated(self.locale, "choice" if self._words_first else "in words")
        if self._field.has_focus:
            return translated(self.locale, "a remark")
        remark = translated(self.locale, "with remark" if self._field.text.strip() else "to remark")
        return translated(self.locale, "one key", remark=remark)


class ReplyTyping:
    """First key, number of deletions, and longest deleted text of an answer."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.first_key_at: str | None = None
        self.edits = 0
        self.draft = ""

    def touch(self, at: str) -> None:
        """Record the time of a key, if it is the first."""
        self.first_key_at = self.first_key_at or at

    def change(self, text: str, at: str) -> None:
        """Record that the text changed."""
        if text == self.text:
            return
        self.touch(at)
        if _removes(self.text, text):
            self.edits += 1
            self.draft = max(self.draft, self.text, key=len)
        self.text = text


def _removes(before: str, after: str) -> bool:
    """Return True if the change removed characters, and did not only insert some."""
    # Compare the common start and end: everything of `before` between them was removed.
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return start + end < len(before)
