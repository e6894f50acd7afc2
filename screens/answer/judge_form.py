"""The form for a judge's request: a score from 0 to 1, and a reason."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Input, Static

from lab.core.run.step import Question
from lab.core.text.plain_text import plain
from screens.answer.words import translated
from screens.key_names import focus_now
from screens.widgets.border_words import write_title
from screens.widgets.card import Card, CardText
from screens.widgets.text_fields import TextLine
from simulators.users.endpoint.request_kinds import holds_tag, score_text


class JudgeForm(Card):
    """Card of what to judge, score and reason. `Sent` carries the text that the benchmark's parser reads."""

    HELP = """
    A judge's request. Type a **score** from 0 to 1, then a **reason**; Enter in the reason sends both, as
    `<think>` and `<score>`. **{card.down}** and **{card.up}** read on what is judged.
    """
    DEFAULT_CSS = """
    JudgeForm { height: auto; display: none; }
    JudgeForm > Static { height: auto; width: 1fr; }
    """
    SHRINK_ROUNDS = ((("judged", 3),), (("judged", 1), ("judge-says", 1)))

    @dataclass
    class Sent(Message):
        """Message: score and reason as one text."""

        question: Question
        text: str

    def __init__(self, locale: str) -> None:
        super().__init__(id="judge")
        self._locale = locale
        self.question: Question | None = None
        self._drafts: dict[str, tuple[str, str]] = {}
        """Unsent score and reason by question, for questions that the person left."""
        self._judged = CardText(id="judged")
        self._score = TextLine(id="judge-score", placeholder=translated(locale, "judge.score"), compact=True)
        self._reason = TextLine(id="judge-reason", placeholder=translated(locale, "judge.why"), compact=True)
        self._hint = Static("", id="judge-says", markup=False)

    def compose(self) -> ComposeResult:
        yield self._judged
        yield self._score
        yield self._reason
        yield self._hint

    def open(self, question: Question) -> None:
        """Open a request, with the unsent text if the person left it before."""
        self.question = question
        write_title(self, translated(self._locale, "judge.title"))
        self.display = True
        self._judged.show(Text(plain(question.text)))
        self._score.value, self._reason.value = self._drafts.pop(question.id, ("", ""))
        self._show_hint()

    def close(self) -> None:
        """Close the form. Store the unsent text."""
        if self.question is not None:
            self._drafts[self.question.id] = self._score.value, self._reason.value
        self.question, self.display = None, False

    def focus_answer(self) -> None:
        focus_now(self._score)

    @on(Input.Submitted, "#judge-score")
    def _check_score(self) -> None:
        if self._score_value() is None:
            self._show_hint("judge.number")
        else:
            focus_now(self._reason)
            self._show_hint()

    @on(Input.Submitted, "#judge-reason")
    def _send_judgement(self) -> None:
        score = self._score_value()
        if score is None:
            focus_now(self._score)
            self._show_hint("judge.number")
        elif holds_tag(self._reason.value):
            self._show_hint("judge.tag")
        elif self.question is not None:
            self._show_hint("sending")
            self.post_message(self.Sent(self.question, score_text(score, self._reason.value)))

    def _score_value(self) -> float | None:
        try:
            score = float(self._score.value.strip().replace(",", "."))
        except ValueError:
            return None
        return score if 0 <= score <= 1 else None

    def _show_hint(self, key: str = "judge.hint") -> None:
        self._hint.update(translated(self._locale, key))
