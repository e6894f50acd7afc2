"""How many runs a narrower interval would take: a line to type a width into, and the answer in its place."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from lab.core.agreement import Agreement
from screens.agreement.words import wanted_words
from screens.widgets.text_fields import TextLine

_LEAST, _MOST = 0.001, 2.0


class Planner(Vertical):
    """Stands below the numbers while it is open; `runs` is what reckons (`agreements.runs_wanted`)."""

    def __init__(self, runs: Callable[[Agreement, float], int | None]) -> None:
        super().__init__(id="agreement-planner")
        self._runs = runs
        self._one: Agreement | None = None

    def compose(self) -> ComposeResult:
        with Horizontal(id="agreement-wish"):
            yield Static("Interval no wider than", id="agreement-wish-word", markup=False)
            yield TextLine(placeholder="0.10", id="agreement-width", compact=True)
        yield Static("", id="agreement-planned", markup=False)

    def open(self, one: Agreement) -> None:
        """Plans for a number."""
        self._one = one
        self.add_class("-open")
        self.tell()
        self.query_one(Input).focus()

    def close(self) -> None:
        """Leaves it; what was typed stays."""
        self.remove_class("-open")

    @property
    def opened(self) -> bool:
        """Whether it is open."""
        return self.has_class("-open")

    def show(self, one: Agreement | None) -> None:
        """Plans for another number, where it is open."""
        self._one = one
        if self.opened:
            self.tell()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.tell()

    def tell(self) -> None:
        """What the width that is typed would take."""
        text = self.query_one(Input).value.strip()
        self.query_one("#agreement-planned", Static).update(self._words(text or "0.10"))

    def _words(self, text: str) -> str:
        if self._one is None:
            return "No number is under the cursor."
        try:
            width = float(text.replace(",", "."))
        except ValueError:
            width = float("nan")
        if not _LEAST <= width <= _MOST:
            return f"! a width is a number from {_LEAST:g} to {_MOST:g}, such as 0.10"
        return wanted_words(self._one, width, self._runs(self._one, width))
