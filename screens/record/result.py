"""The card that replaces the desk after a recording: its counts and the next step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rich.text import Text
from textual import work
from textual.app import ComposeResult

from lab.core.demonstration import Demonstration, demonstration
from lab.core.errors import LabError
from lab.core.plain_text import plain
from lab.runs.descriptions import demonstration_words, outcome_words
from screens.key_names import with_keys
from screens.widgets.border_words import write_title
from screens.widgets.card import Card, CardText
from store.store import Store


class RecordingResult(Card, can_focus=True):
    """Replaces the desk after the end. A demonstration has no score."""

    HELP = """
    The recording is over; every step of it is in the file. **{run.next}** goes on from here, **{run.back}** goes to
    Home.
    """
    DEFAULT_CSS = """
    RecordingResult { height: auto; max-height: 60%; display: none; }
    """
    GIVES = ((("told-words", 3),), (("told-words", 1),))

    def __init__(self) -> None:
        super().__init__(id="told", classes="pane")

    def compose(self) -> ComposeResult:
        yield CardText(id="told-words")

    @work(thread=True, exclusive=True, group="told")
    def ended(self, store: Store, trace_id: str, *, replays: bool) -> None:
        """Show how the recording ended and what it holds. `replays` is True if this seat may replay it."""
        recording = demonstration(store.runs.trace(trace_id))
        sentence = outcome(recording, trace_id, partial(with_keys, self), replays=replays)
        self.app.call_from_thread(self._show_text, "The recording is over", sentence)

    def failed(self, error: LabError) -> None:
        """Show why nothing more could be stored."""
        self.add_class("-failed")
        text = Text(plain(error.sentence))
        text.append("\nWhat was shown before is in the file; `hitlab record --resume` goes on with it.")
        self._show_text("The recording was stopped", text)

    def _show_text(self, title: str, text: Text) -> None:
        if not self.is_attached:
            return
        write_title(self, title)
        self.query_one(CardText).show(text)
        self.display = True
        self.screen.set_focus(self)


def outcome(recording: Demonstration | None, trace_id: str, keyed: Callable[[str], str], *, replays: bool) -> Text:
    """Format a demonstration's outcome, contents and next step. `keyed` fills the keys into a sentence."""
    if recording is None:
        return Text("")
    text = Text(outcome_words(recording).capitalize(), style="bold")
    text.append("\n" + demonstration_words(recording), style="not bold")
    if replays:
        next_words = (
            f"{{run.next}} replays it; `hitlab runs review {trace_id[:13]}` proofreads it. {{run.back}} goes back."
        )
    else:
        next_words = "Thank you. {run.next} goes back."
    text.append("\n" + keyed(next_words), style="not bold dim")
    return text
