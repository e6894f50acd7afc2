"""What a recording came to, in place of the desk: counted, and what can be done with it now."""

from __future__ import annotations

from rich.text import Text
from textual import work
from textual.widgets import Static

from lab.errors import LabError
from lab.plain import plain
from lab.recording import Demonstration, demonstration
from screens.describe import demonstration_words, outcome_words
from store.store import Store


class Told(Static, can_focus=True):
    """Stands in place of the desk once nothing more will happen; a score is nobody's here."""

    HELP = "The recording is over; every step of it is in the file. **Enter** goes on from here, **Esc** goes to Home."
    DEFAULT_CSS = """
    Told { height: auto; max-height: 60%; overflow-y: auto; display: none; }
    """

    def __init__(self) -> None:
        super().__init__(id="told", classes="pane", markup=False)

    @work(thread=True, exclusive=True, group="told")
    def ended(self, store: Store, trace_id: str, *, replays: bool) -> None:
        """Says how it ended and what it holds; `replays` is whether this seat may look at it again."""
        made = demonstration(store.trace(trace_id))
        self.app.call_from_thread(self._open, "The recording is over", outcome(made, trace_id, replays=replays))

    def failed(self, error: LabError) -> None:
        """Says why nothing more could be kept."""
        self.add_class("-failed")
        text = Text(plain(error.sentence))
        text.append("\nWhat was shown before is in the file; `hitlab record --resume` goes on with it.")
        self._open("The recording was stopped", text)

    def _open(self, title: str, text: Text) -> None:
        if not self.is_attached:
            return
        self.border_title = title
        self.update(text)
        self.display = True
        self.screen.set_focus(self)


def outcome(made: Demonstration | None, trace_id: str, *, replays: bool) -> Text:
    """How a demonstration ended, what it holds, and what comes next."""
    if made is None:
        return Text("")
    text = Text(outcome_words(made).capitalize(), style="bold")
    text.append("\n" + demonstration_words(made), style="not bold")
    if replays:
        text.append(
            f"\nEnter replays it; `hitlab review {trace_id[:13]}` proofreads it. Esc goes back.", "not bold dim"
        )
    else:
        text.append("\nThank you. Enter goes back.", style="not bold dim")
    return text
