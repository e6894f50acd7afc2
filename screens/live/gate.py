"""The gate: an action that waits, and a person who lets it through, changes it or rejects it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import msgspec
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Static

from lab.plain import plain
from lab.trace import Action, Point, Proposed
from lab.uitree import UiTree
from screens.describe import action_words
from screens.live.choices import Choice, Choices, picks
from simulators.human import HumanGate

_TEXT_KINDS = {"input_text", "ask_user", "answer"}
_AIMED = {"click", "double_tap", "long_press", "scroll", "swipe", "drag"}
_POINT = re.compile(r"\s*(\d+)\s*[, ]\s*(\d+)\s*")


class GateRow(Choices):
    """What can be done with an action that waits."""

    HELP = """
    The agent waits for you. **1 a** lets the action through, **2 e** changes it first (its text, or the place: tap
    the phone, or type `x, y`), **3 x** rejects it, with a note if you like. **g** lets everything pass from now on.
    """
    CHOICES = (
        Choice("approve", "a", "approve", "Let it through as it is"),
        Choice("amend", "e", "edit", "Change its text or its place, then let it through"),
        Choice("reject", "x", "reject (x)", "Let nothing through; the agent proposes again"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *picks("gate", CHOICES),
        Binding("enter", "take", "Do it", show=False, id="gate.enter", tooltip="Do what is marked"),
    ]

    def action_take(self) -> None:
        if self.cursor >= 0:
            self.pick(self.cursor)


class GatePanel(Vertical):
    """The action that waits at the gate, and the person's decision on it."""

    DEFAULT_CSS = """
    GatePanel { height: auto; display: none; }
    GatePanel > Static { height: auto; width: 1fr; }
    GatePanel > #waits { max-height: 7; overflow-y: auto; }
    GatePanel > Input { display: none; }
    """

    @dataclass
    class Decided(Message):
        """Approve (`action` as proposed), amend (another), or reject (None), with a note."""

        proposed: Proposed
        decision: str
        action: Action | None
        note: str = ""

        def carry(self, gate: HumanGate) -> bool:
            """Hands the decision to the gate; False where the action no longer waits."""
            if self.action is None:
                return gate.reject(self.proposed, self.note)
            if self.decision == "approve":
                return gate.approve(self.proposed)
            return gate.amend(self.proposed, self.action, self.note)

    @dataclass
    class Aiming(Message):
        """Whether a tap on the mirror now says where the action should go."""

        on: bool

    def __init__(self) -> None:
        super().__init__(id="gate")
        self.proposed: Proposed | None = None
        self.border_title = "The agent waits for you"

    def compose(self) -> ComposeResult:
        yield Static(id="waits", markup=False)
        yield GateRow(id="gate-row")
        yield Input(id="gate-text", compact=True, select_on_focus=False)
        yield Static(id="gate-hint", markup=False)

    def open(self, proposed: Proposed, tree: UiTree | None) -> None:
        """Puts an action before the person."""
        self.proposed = proposed
        text = Text(action_words(proposed.action, tree), style="bold")
        if proposed.thought:
            text.append(f"\nthinks: {plain(proposed.thought)}", style="not bold italic")
        self.query_one("#waits", Static).update(text)
        self.query_one(GateRow).cursor = 0
        self._mode("")
        self.add_class("-open")
        self.display = True
        self.screen.set_focus(self.query_one(GateRow))

    def close(self) -> None:
        """Takes the action away."""
        self.proposed = None
        self.remove_class("-open")
        self.display = False
        self._mode("")

    def back(self) -> bool:
        """One step back: from the field to the choices; False where there is none."""
        if not (self.has_class("-open") and (self.has_class("-amend") or self.has_class("-reject"))):
            return False
        self._mode("")
        self.query_one(GateRow).focus()
        return True

    def aim(self, at: Point) -> None:
        """The place that was tapped on the mirror while an action is changed."""
        field = self.query_one("#gate-text", Input)
        field.value = f"{at[0]}, {at[1]}"
        field.focus()

    @property
    def aiming(self) -> bool:
        """Whether the place of the waiting action is being changed."""
        return self.proposed is not None and self.has_class("-amend") and not self._worded

    @property
    def _worded(self) -> bool:
        return self.proposed is not None and self.proposed.action.kind in _TEXT_KINDS

    def _mode(self, mode: str) -> None:
        self.set_class(mode == "amend", "-amend")
        self.set_class(mode == "reject", "-reject")
        self.query_one("#gate-text", Input).display = bool(mode)
        self.post_message(self.Aiming(self.aiming))
        aim = "" if self._worded else "Tap the phone, or type x, y; "
        hints = {
            "": "Your decision is kept, with your name and the time it took.",
            "reject": "Enter rejects it, with your note if you wrote one; Esc goes back.",
            "amend": f"{aim}Enter does it this way; Esc goes back.",
        }
        self._hint(hints[mode])

    def _hint(self, text: str) -> None:
        self.query_one("#gate-hint", Static).update(Text(text, style="dim"))

    @on(Choices.Picked)
    def _picked(self, event: Choices.Picked) -> None:
        event.stop()
        proposed = self.proposed
        if proposed is None:
            return
        if event.choice == "approve":
            self.post_message(self.Decided(proposed, "approve", proposed.action))
            return
        self._mode(event.choice)
        field = self.query_one("#gate-text", Input)
        action = proposed.action
        field.placeholder = (
            "a note, if you like" if event.choice == "reject" else "its text" if self._worded else "x, y"
        )
        held = (action.text or "") if self._worded else f"{action.at[0]}, {action.at[1]}" if action.at else ""
        field.value = held if event.choice == "amend" else ""
        field.focus()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        proposed = self.proposed
        if proposed is None:
            return
        if self.has_class("-reject"):
            self.post_message(self.Decided(proposed, "reject", None, event.value))
            return
        action = _amended(proposed.action, event.value)
        if action is None:
            self._hint("! Two numbers are needed, as in 540, 1200: tap the phone or type them.")
            return
        self.post_message(self.Decided(proposed, "amend", action))


def _amended(action: Action, value: str) -> Action | None:
    """The action with its text, or its place, as the person put it; None where that is no place."""
    bare = msgspec.structs.replace(action, raw=None, space=None, boxes=())
    if action.kind in _TEXT_KINDS:
        return msgspec.structs.replace(bare, text=value)
    found = _POINT.fullmatch(value)
    if found is None:
        return None
    at = (int(found[1]), int(found[2]))
    return msgspec.structs.replace(bare, at=at) if action.kind in _AIMED else Action("click", at=at)
