"""Acting in the agent's place: the keys of the phone, and a line to type into it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import msgspec
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Static

from lab.turn import Action
from screens.clock import Clock
from screens.live.choices import Choice, Choices, picks


class HandsRow(Choices):
    """The keys of a phone."""

    HELP = """
    You act in the agent's place: tap, hold, drag and scroll on the phone with the mouse. The keys before the
    choices, or the letters underlined in them, are the phone's own; **tab** goes to the line that is typed into it.
    """
    GROUP = "hands"
    CHOICES = (
        Choice("navigate_back", "b", "back"),
        Choice("navigate_home", "h", "home"),
        Choice("press_recent", "r", "recent"),
        Choice("keyboard_enter", "e", "enter"),
        Choice("give", "g", "give back", "The agent goes on"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*picks(GROUP, CHOICES)]


class HandsPanel(Vertical):
    """What a person who took over can do beside touching the mirror."""

    DEFAULT_CSS = """
    HandsPanel { height: auto; display: none; }
    HandsPanel > Static { height: auto; width: 1fr; }
    """

    @dataclass
    class Acted(Message):
        """The person does this."""

        action: Action

    @dataclass
    class GaveBack(Message):
        """The agent may go on."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="hands")
        self._clock = clock
        self.border_title = "You act in the agent's place"

    def compose(self) -> ComposeResult:
        yield Static(id="hands-state", markup=False)
        yield HandsRow(self._clock, id="hands-row")
        yield Input(id="hands-text", compact=True, select_on_focus=False, placeholder="text to type into the phone")

    def open(self, ready: bool) -> None:
        """Shows the keys; `ready` is whether the phone waits for the person now."""
        state = "Tap the phone, or:" if ready else "The phone will be yours as soon as this turn ends ..."
        self.query_one("#hands-state", Static).update(Text(state))
        first = not self.has_class("-open")
        self.add_class("-open")
        self.display = True
        if first:
            self.query_one(HandsRow).cursor = -1
            self.query_one(HandsRow).focus()

    def close(self) -> None:
        self.remove_class("-open")
        self.display = False

    def type(self, text: str) -> None:
        """A letter typed over the mirror begins the line."""
        field = self.query_one("#hands-text", Input)
        field.focus()
        field.insert_text_at_cursor(text)

    @on(Choices.Picked)
    def _picked(self, event: Choices.Picked) -> None:
        event.stop()
        if event.choice == "give":
            self.post_message(self.GaveBack())
        else:
            self.post_message(self.Acted(msgspec.convert({"kind": event.choice}, Action)))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value:
            self.post_message(self.Acted(Action("input_text", text=event.value)))
            event.input.clear()
