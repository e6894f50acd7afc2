"""Take-over: a person acts in the agent's place, by the phone's keys and a line of text to type."""

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

from lab.core.run.screen_clock import Clock
from lab.core.run.step import Action
from lab.core.run.ui_tree import UiTree
from screens.key_names import focus_opened, with_keys
from screens.live.choices import Choice, Choices, choice_bindings
from screens.mirror.mirror import Mirror
from screens.record.nodes import NodePicker
from screens.widgets.text_fields import TextLine


class HandsRow(Choices):
    """Row of the phone's keys."""

    HELP = """
    You act in the agent's place: tap, hold, drag and scroll on the phone with the mouse, or find by **{run.nodes}**
    what can be tapped. The keys before the choices, or the letters underlined in them, are the phone's own; **tab**
    goes to the line that is typed into it, and so does every letter over the phone. **{run.back}** comes back here;
    **{hands.give:t}** gives back.
    """
    GROUP = "hands"
    CHOICES = (
        Choice("navigate_back", "b", "back"),
        Choice("navigate_home", "h", "home"),
        Choice("press_recent", "r", "recent"),
        Choice("keyboard_enter", "e", "enter"),
        Choice("give", "t", "give back", "The agent goes on"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*choice_bindings(GROUP, CHOICES)]


class TakeOverPanel(Vertical):
    """Pane of what a person who took over can do besides touching the mirror."""

    DEFAULT_CSS = """
    TakeOverPanel { height: auto; display: none; }
    TakeOverPanel > Static { height: auto; width: 1fr; }
    """

    @dataclass
    class Acted(Message):
        """Message: the person does this action."""

        action: Action

    @dataclass
    class GaveBack(Message):
        """Message: the person gives the phone back to the agent."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="hands")
        self._ready = False
        self._awaited = ""
        self._state = Static(id="hands-state", markup=False)
        self._row = HandsRow(clock, id="hands-row")
        self._field = TextLine(
            id="hands-text", compact=True, select_on_focus=False, placeholder="text to type into the phone"
        )
        self._picker = NodePicker()
        self.border_title = "You act in the agent's place"

    def compose(self) -> ComposeResult:
        yield self._state
        yield self._row
        yield self._field
        yield self._picker

    def open(self, ready: bool, awaited: str) -> None:
        """Show the keys. `ready`: the phone waits for the person now. `awaited`: what must happen first."""
        self._ready, self._awaited = ready, awaited
        if not ready:
            self._picker.close()
        self._update_state()
        first = not self.has_class("-open")
        self.add_class("-open")
        self.display = True
        if first:
            self._row.cursor = -1
            focus_opened(self._row)

    def close(self) -> None:
        self._picker.close()
        self.remove_class("-open")
        self.display = False

    def focus_keys(self) -> None:
        """Focus the phone's keys, where no key types."""
        focus_opened(self._row)

    def go_back(self) -> bool:
        """Go back from the line or the list of nodes to the keys. Return False if the focus is there already."""
        if not (self._field.has_focus or self._picker.display):
            return False
        self._picker.close()
        self.focus_keys()
        return True

    def list_nodes(self, tree: UiTree) -> None:
        """List the tappable nodes."""
        self._picker.open(tree)
        self._update_state()

    def on_mount(self) -> None:
        self.watch(self.screen, "focused", self._update_state, init=False)
        # A new turn gives the keys to the phone without a change of focus.
        for mirror in self.screen.query(Mirror):
            self.watch(mirror, "typing", self._update_state, init=False)

    @property
    def _types_over(self) -> bool:
        """True if the mirror has the focus and passes keys to the phone."""
        mirror = self.screen.focused
        return isinstance(mirror, Mirror) and mirror.typing

    def _update_state(self) -> None:
        """Show what the next key does."""
        if not self._ready:
            line = f"The phone will be yours as soon as {self._awaited}"
        elif self._picker.display:
            line = "Enter taps it; {run.back} goes back."
        elif self._types_over:
            line = "Keys type into the phone; {run.back} comes back to these, or click one:"
        elif self.screen.focused is self._field:  # `has_focus` is updated later than the screen's `focused`
            line = "Enter types it into the phone; {run.back} goes back to the keys."
        else:
            line = "Tap the phone, {run.nodes} finds what to tap, tab: text to type, or:"
        self._state.update(Text(with_keys(self, line)))

    @on(NodePicker.NodeHighlighted)
    def _stop_aimed(self, message: NodePicker.NodeHighlighted) -> None:
        message.stop()

    @on(NodePicker.NodeChosen)
    def _tap_node(self, message: NodePicker.NodeChosen) -> None:
        message.stop()
        self._picker.close()
        self.focus_keys()
        self.post_message(self.Acted(Action("click", at=message.node.bounds.center)))

    def key(self, name: str) -> None:
        """Handle a key pressed over the phone. Enter is the phone's own, Backspace only moves the focus to the line."""
        if name == "enter":
            self.post_message(self.Acted(Action("keyboard_enter")))
        else:
            self.type("")

    def type(self, text: str) -> None:
        """Type text at the cursor of the line, and focus it."""
        focus_opened(self._field)
        self._field.insert_text_at_cursor(text)

    @on(Choices.Picked)
    def _press_key(self, event: Choices.Picked) -> None:
        event.stop()
        if event.choice == "give":
            self.post_message(self.GaveBack())
        else:
            self.post_message(self.Acted(msgspec.convert({"kind": event.choice}, Action)))

    @on(Input.Submitted, "#hands-text")
    def _type_text(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value:
            self.post_message(self.Acted(Action("input_text", text=event.value)))
            event.input.clear()
