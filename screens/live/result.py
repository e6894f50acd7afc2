"""The cards in the question's place: instructions before a run, outcome and next step after it."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from lab.core.errors import LabError
from lab.core.run.step import Spent
from lab.core.run.trace import Ended
from lab.core.task.task import Task
from lab.core.task.task_checks import weight_words, weighted_rules
from lab.core.text.plain_text import plain
from lab.runs.descriptions import score_words, spent_words, status_words
from screens.key_names import focus_opened, with_keys
from screens.live.words import translated
from screens.widgets.border_words import write_title
from screens.widgets.card import Card, CardText

THANKS = "Thank you, this run is over."


class ReadFirstCard(Card, can_focus=True):
    """Card shown until the person begins: they read first who they are and what they want."""

    HELP = """
    Nothing happens yet: read who you are, what you asked for and how you decide. **tab** goes there, **arrows** and
    **{fold.toggle}** open each part. Back here **{run.next}** begins.
    """
    DEFAULT_CSS = """
    ReadFirstCard { height: auto; display: none; }
    ReadFirstCard > Static { height: auto; width: 1fr; }
    """
    SHRINK_ROUNDS = ((("before-words", 3),), (("before-words", 1), ("before-next", 1)))

    def __init__(self) -> None:
        super().__init__(id="before")
        self._words = CardText(id="before-words")
        self._next = Static(id="before-next", markup=False)

    def compose(self) -> ComposeResult:
        yield self._words
        yield self._next

    def open(self, locale: str) -> None:
        """Show in that language what to read first, and take the focus."""
        write_title(self, translated(locale, "before"))
        self._words.show(Text(with_keys(self, translated(locale, "read first"))))
        self._next.update(with_keys(self, translated(locale, "begins")))
        self.display = True
        focus_opened(self)

    def close(self) -> None:
        """Close the card."""
        self.display = False


class Result(Card, can_focus=True):
    """Card shown after the end: the outcome, and below it what the next key does."""

    HELP = """
    The run is over; every event of it is in the file. **{run.next}** goes on from here, **{run.back}** goes back to
    Home.
    """
    DEFAULT_CSS = """
    Result { height: auto; display: none; }
    Result > Static { height: auto; width: 1fr; }
    """
    SHRINK_ROUNDS = ((("outcome", 4),), (("outcome", 1), ("result-next", 1)))

    def __init__(self) -> None:
        super().__init__(id="result")
        self._outcome = CardText(id="outcome")
        self._next = Static(id="result-next", markup=False)

    def compose(self) -> ComposeResult:
        yield self._outcome
        yield self._next

    def show_end(self, event: Ended, task: Task, *, knows: bool, spent: Spent | None = None, after: str = "") -> None:
        """Show how the run ended and what the model cost, or only that it is over if `knows` is False.

        `after` says what comes next, if anything does.
        """
        self.border_title = "The run is over"
        if knows:
            self._open(_outcome_text(event, task, spent), "{run.next} replays it step by step; {run.back} goes back.")
        elif after:
            self._open(Text(with_keys(self, after)), "")
        else:
            self._open(Text(THANKS), "{run.next} closes this run: nothing more is to be done in it.")

    def failed(self, error: LabError, *, has_home: bool) -> None:
        """Show why nothing more could be stored, and, if the seat has Home, that the run can be resumed there."""
        self.border_title = "The run was stopped"
        self.add_class("-failed")
        resumed = ", and it can be resumed from Home" if has_home else ""
        reassurance = f"The run stands still: what was shown before is in the file{resumed}."
        self._open(Text(f"{plain(error.sentence)}\n{reassurance}"), "{run.next} and {run.back} go back.")

    def _open(self, text: Text, then: str) -> None:
        self._outcome.show(text)
        self._next.update(with_keys(self, then))
        self._next.display = bool(then)
        self.add_class("-open")
        self.display = True
        focus_opened(self)


def _outcome_text(event: Ended, task: Task, spent: Spent | None) -> Text:
    text = Text(status_words(event.status), style="bold")
    text.append(f"   score {score_words(event.score)}")
    if event.scored_by:
        text.append(f"\nscored by {plain(event.scored_by)}", style="not bold")
    if event.reason:
        text.append("\n" + plain(event.reason), style="not bold")
    if spent is not None:
        text.append(f"\nThe model: {spent_words(spent)}", style="not bold")
    for name, passed, weight in weighted_rules(task, event.checks):
        weighs = "" if weight is None else f" (weight {weight:g})"
        text.append(f"\n{'✓ pass' if passed else '✗ FAIL'}  {plain(name)}{weighs}", style="not bold")
    if words := weight_words(task, event.checks):
        text.append(f"\n{words}", style="not bold")
    return text
