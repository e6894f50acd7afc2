"""The run beside an item: its keys are those of Annotate, and change nothing."""

from __future__ import annotations

from textual import on
from textual.message import Message
from textual.screen import Screen

from screens.annotate.unit_pane import UnitPane


class RunWatchingScreen(Screen[None]):
    """A room with a run in it that is looked at, step by step."""

    @on(UnitPane.Looked)
    @on(UnitPane.Closely)
    @on(UnitPane.Boxed)
    def _seen(self, message: Message) -> None:
        message.stop()

    def action_step(self, by: int) -> None:
        """The next step of the run, or the one before."""
        self.query_one(UnitPane).move(by)

    def action_side(self) -> None:
        """Of two runs the other one takes the steps' keys."""
        self.query_one(UnitPane).turn_side()

    def action_question(self, by: int) -> None:
        """The next step with a question."""
        if not self.query_one(UnitPane).question(by):
            self.notify("No question from here on.", markup=False)

    def action_view(self) -> None:
        """Words, or the phone."""
        self.query_one(UnitPane).turn_view()

    def action_after(self) -> None:
        """The screen after the step, or before it."""
        self.query_one(UnitPane).turn_after()

    def action_closely(self) -> None:
        """The picture in full, or closed again."""
        if not self.query_one(UnitPane).look_closely():
            self.notify("There is no picture here.", markup=False)

    def action_overlay(self) -> None:
        """The screen's words over the phone, or its pixels alone."""
        self.query_one(UnitPane).turn_overlay()

    def action_header(self) -> None:
        """The instruction and what belongs to it, unfolded or in a line."""
        self.query_one(UnitPane).turn_header()

    def action_scroll(self, pages: int) -> None:
        """What is read beside the answers, a page on or back."""
        self.query_one(UnitPane).scroll(pages)
