"""A form that estimates how many runs a narrower interval would need."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from lab.core.agreement import Agreement
from screens.agreement.words import wanted_words
from screens.widgets.text_fields import TextLine

# Coefficients lie between -1 and 1, so no interval is wider than 2.
_LEAST, _MOST = 0.001, 2.0


class Planner(Vertical):
    """A pane below the numbers. `runs` computes the estimate (`agreements.runs_wanted`)."""

    def __init__(self, runs: Callable[[Agreement, float], int | None]) -> None:
        super().__init__(id="agreement-planner")
        self._runs_needed = runs
        self._number: Agreement | None = None

    def compose(self) -> ComposeResult:
        with Horizontal(id="agreement-wish"):
            yield Static("Interval no wider than", id="agreement-wish-word", markup=False)
            yield TextLine(placeholder="0.10", id="agreement-width", compact=True)
        yield Static("", id="agreement-planned", markup=False)

    def open(self, one: Agreement) -> None:
        """Open the planner for a number."""
        self._number = one
        self.add_class("-open")
        self.update()
        self.query_one(Input).focus()

    def close(self) -> None:
        """Close the planner. Its text stays."""
        self.remove_class("-open")

    @property
    def is_open(self) -> bool:
        """True while the planner is open."""
        return self.has_class("-open")

    def show(self, one: Agreement | None) -> None:
        """Plan for another number if the planner is open."""
        self._number = one
        if self.is_open:
            self.update()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.update()

    def update(self) -> None:
        """Show the estimate for the typed width."""
        text = self.query_one(Input).value.strip()
        self.query_one("#agreement-planned", Static).update(self._estimate_words(text or "0.10"))

    def _estimate_words(self, text: str) -> str:
        if self._number is None:
            return "No number is under the cursor."
        try:
            width = float(text.replace(",", "."))
        except ValueError:
            width = float("nan")
        if not _LEAST <= width <= _MOST:
            return f"! a width is a number from {_LEAST:g} to {_MOST:g}, such as 0.10"
        return wanted_words(self._number, width, self._runs_needed(self._number, width))
