"""How a run ended, for those who may know, and what to do next."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import Static

from lab.errors import LabError
from lab.plain import plain
from lab.trace import Ended
from lab.turn import Spent
from screens.describe import score_words, spent_words, status_words

THANKS = "Thank you, this run is over."


class Result(Static, can_focus=True):
    """Stands in place of the question once nothing more will happen."""

    HELP = "The run is over; every event of it is in the file. **Enter** goes on from here, **Esc** goes back to Home."
    DEFAULT_CSS = """
    Result { height: auto; max-height: 60%; overflow-y: auto; display: none; }
    """

    def __init__(self) -> None:
        super().__init__(id="result", markup=False)

    def ended(self, event: Ended, *, knows: bool, spent: Spent | None = None, after: str = "") -> None:
        """Says how it ended, and what a model's answers cost; to whom `knows` is false only that it is over.

        `after` is what comes next, where something does.
        """
        self.border_title = "The run is over"
        self._open(_outcome(event, spent) if knows else Text(after or f"{THANKS}\nEnter goes back."))

    def failed(self, error: LabError) -> None:
        """Says why nothing more could be kept."""
        self.border_title = "The run was stopped"
        self.add_class("-failed")
        text = Text(plain(error.sentence))
        text.append("\nThe run stands still: what was shown before is in the file, and it can be resumed from Home.")
        self._open(text)

    def _open(self, text: Text) -> None:
        self.update(text)
        self.add_class("-open")
        self.display = True
        self.screen.set_focus(self)


def _outcome(event: Ended, spent: Spent | None) -> Text:
    text = Text(status_words(event.status), style="bold")
    text.append(f"   score {score_words(event.score)}")
    if event.reason:
        text.append("\n" + plain(event.reason), style="not bold")
    if spent is not None:
        text.append(f"\nThe model: {spent_words(spent)}", style="not bold")
    for name, passed in event.checks:
        text.append(f"\n{'✓ pass' if passed else '✗ FAIL'}  {plain(name)}", style="not bold")
    text.append("\nEnter replays it step by step; Esc goes back.", style="not bold dim")
    return text
