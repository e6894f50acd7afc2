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
from textual.message import Message
from textual.widgets import Input, Static

from lab.core.plain_text import plain
from lab.core.screen_clock import Clock
from lab.core.step import Action, Point, Proposed
from lab.core.tap_targets import screen_box
from lab.core.ui_tree import UiTree
from lab.runs.descriptions import whole_action
from lab.runs.incomplete_action import lacking
from screens.key_names import give_keys, with_keys
from screens.live.choices import TOO_EARLY, Choice, Choices, picks
from screens.record.nodes import NodePicker
from screens.widgets.card import Card, CardText
from screens.widgets.tap_choices import NearList
from screens.widgets.text_fields import TextLine
from simulators.users.human import HumanGate

_TEXT_KINDS = {"input_text", "ask_user", "answer"}
_AIMED = {"click", "double_tap", "long_press", "scroll", "swipe", "drag"}
_LINE_END = "⏎"
"""What a line end of an action's text is edited as, in a field of one line."""
_POINT = re.compile(r"\s*(\d{1,9})\s*[, ]\s*(\d{1,9})\s*")


class GateRow(Choices):
    """What can be done with an action that waits."""

    HELP = """
    The agent waits for you. The key before a choice, or the letter underlined in it, takes it at once: the action is
    let through; or changed first (its text, or its place); or rejected. A tap on the phone says where it should have
    gone; without a mouse **{run.nodes}** lists what can be tapped. **{card.down}** and **{card.down:space}** read a
    long thought on, **{card.up}** back. **tab** goes to a note, which is kept with your decision.
    """
    GROUP = "gate"
    CHOICES = (
        Choice("approve", "a", "approve", "Let it through as it is"),
        Choice("amend", "e", "edit", "Change its text or its place, then let it through"),
        Choice("reject", "x", "reject", "Let nothing through; the agent proposes again"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *picks(GROUP, CHOICES),
        Binding("enter", "take", "Do it", show=False, id="gate.enter", tooltip="Do what is marked"),
    ]

    def action_take(self) -> None:
        if self.cursor >= 0:
            self.pick(self.cursor)


class GatePanel(Card):
    """The action that waits at the gate, and the person's decision on it."""

    DEFAULT_CSS = """
    GatePanel { height: auto; display: none; }
    GatePanel > Static { height: auto; width: 1fr; }
    GatePanel > #gate-text { display: none; }
    """
    GIVES = ((("waits", 4),), (("waits", 1), ("gate-near", 3), ("gate-hint", 1)))

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
                return gate.approve(self.proposed, self.note)
            return gate.amend(self.proposed, self.action, self.note)

    @dataclass
    class Aiming(Message):
        """Whether a tap on the mirror now says where the action should go; `action` is what would be done now."""

        on: bool
        action: Action | None = None

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="gate")
        self.proposed: Proposed | None = None
        self._tree: UiTree | None = None
        self._waits = CardText(id="waits")
        self._near = NearList(id="gate-near")
        self._picker = NodePicker()
        self._row = GateRow(clock, id="gate-row")
        self._text = TextLine(id="gate-text", compact=True, select_on_focus=False)
        self._hint = Static(id="gate-hint", markup=False)
        self._note = TextLine(
            id="gate-note", compact=True, select_on_focus=False, placeholder="a note, if you like (tab)"
        )

    def compose(self) -> ComposeResult:
        yield self._waits
        yield self._row
        yield self._near
        yield self._text
        yield self._note
        yield self._picker
        yield self._hint

    def open(self, proposed: Proposed, tree: UiTree | None, title: str = "The agent waits for you") -> None:
        """Puts an action before the person; `tree` is None where the phone's first picture is not read yet."""
        self.proposed, self._tree, self.border_title = proposed, tree, title
        text = Text(whole_action(proposed.action, tree), style="bold")
        if proposed.thought:
            text.append(f"\nthinks: {plain(proposed.thought)}", style="not bold italic")
        self._waits.show(text)
        self._row.cursor = 0
        self._note.clear()
        self._amend(False)
        self.add_class("-open")
        self.display = True
        give_keys(self._row)
        self._row.appear()

    def seen(self) -> None:
        """The choices are painted now, if their screen is the one that is shown."""
        self._row.seen()

    def return_to(self, why: str) -> None:
        """Puts the keys where a decision is given; where they are there already, says why they stay."""
        if self.has_focus_within:
            self._tell(why)
        self.focus_choices()

    def focus_choices(self) -> None:
        """Puts the keys where a decision is given."""
        give_keys(self._row)

    def close(self) -> None:
        """Takes the action away."""
        self.proposed = None
        self.remove_class("-open")
        self.display = False
        self._amend(False)

    def back(self) -> bool:
        """One step back: from a field to the choices; False where there is none."""
        inside = self.has_class("-amend") or self._note.has_focus or self._picker.display
        if not self.has_class("-open") or not inside:
            return False
        self._amend(False)
        give_keys(self._row)  # at once: later they would be taken from a list that the next key opened
        return True

    def list_nodes(self, tree: UiTree | None) -> None:
        """Lists what can be tapped, in the place of a tap on the phone; `tree` is of what the phone shows now."""
        self._tree = tree or self._tree
        if self._tree is None:
            self._tell("What can be tapped is not read yet.")
        elif self.proposed is not None:
            self._amend(True)
            self._text.display = self._row.display = self._note.display = False
            self._picker.open(self._tree)
            self._tell()

    @on(NodePicker.Aimed)
    def _looked_at(self, event: NodePicker.Aimed) -> None:
        event.stop()
        if self._picker.display and self.proposed is not None and event.node is not None:
            self.post_message(self.Aiming(True, moved(self.proposed.action, event.node.bounds.center)))

    @on(NodePicker.Taken)
    def _taken(self, event: NodePicker.Taken) -> None:
        event.stop()
        if self.proposed is not None:
            self._decide("amend", moved(self.proposed.action, event.node.bounds.center))

    def aim(self, at: Point, tree: UiTree | None) -> None:
        """The place that was tapped on the mirror: what was hit there and what was missed, to choose from."""
        self._tree = tree or self._tree
        self._picker.close()
        self._note.display = True
        self.set_class(True, "-amend")
        self._text.display = self._row.display = False  # the digits are the list's now
        self._near.look(self._tree, at)
        give_keys(self._near)
        self._aim()

    def _aim(self) -> None:
        if self.proposed is not None:
            self.post_message(self.Aiming(True, moved(self.proposed.action, self._near.at)))

    @property
    def aiming(self) -> bool:
        """Whether a tap says where the waiting action should go."""
        return self.proposed is not None

    @property
    def _worded(self) -> bool:
        return self.proposed is not None and self.proposed.action.kind in _TEXT_KINDS

    def _amend(self, amending: bool) -> None:
        self.set_class(amending, "-amend")
        self._text.display = amending
        self._near.close()
        self._picker.close()
        self._row.display = self._note.display = True
        self.post_message(self.Aiming(self.aiming, self.proposed.action if self.proposed else None))
        self._tell()

    def _tell(self, problem: str = "") -> None:
        """The line that says what Enter does from here."""
        aim = "" if self._worded else "Tap the phone, or type x, y; "
        if self._note.has_focus:
            there = "what you edit" if self.has_class("-amend") else "the choices"
            line = f"{{reply.enter}} goes back to {there}; the note goes with your decision."
        elif self._picker.display:
            line = "Enter does it there; {run.back} goes back."
        elif self._near.display:
            line = "A digit takes another; {list.open} does it there; {run.back} goes back."
        elif self.has_class("-amend"):
            line = f"{aim}Enter does it this way; {{run.back}} goes back."
        else:
            tap = (
                "to move it" if self.proposed is None or self.proposed.action.kind in _AIMED else "to tap there instead"
            )
            line = f"Tap the phone {tap}, or {{run.nodes}} finds a place; it is kept with your name."
        self._hint.update(Text(problem or with_keys(self, line), style="dim"))

    def on_descendant_focus(self) -> None:
        self._tell()

    @on(Choices.Early)
    def _early(self, event: Choices.Early) -> None:
        event.stop()
        self._tell(TOO_EARLY)

    @on(Choices.Picked)
    def _picked(self, event: Choices.Picked) -> None:
        event.stop()
        if self.proposed is None:
            return
        action = self.proposed.action
        if event.choice != "amend":
            self._decide(event.choice, action if event.choice == "approve" else None)
            return
        self._amend(True)
        self._text.placeholder = "its text" if self._worded else "x, y"
        place = f"{action.at[0]}, {action.at[1]}" if action.at else ""
        self._text.value = (action.text or "").replace("\n", _LINE_END) if self._worded else place
        self._text.cursor_position = len(self._text.value)  # and not where it stood in what was changed before
        give_keys(self._text)

    @on(Input.Submitted, "#gate-note")
    def _noted(self, event: Input.Submitted) -> None:
        event.stop()
        give_keys(self._near if self._near.display else self._text if self.has_class("-amend") else self._row)

    @on(Input.Submitted, "#gate-text")
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.proposed is None:
            return
        action = _amended(self.proposed.action, event.value)
        if action is None:
            self._tell("! Two numbers are needed, as in 540, 1200: tap the phone or type them.")
            return
        size = screen_box(self._tree)[2:] if self._tree is not None else None
        wrong = lacking(action, size)
        if wrong:
            self._tell(f"! This {wrong}.")
            return
        self._decide("amend", action)

    @on(NearList.Highlighted, "#gate-near")
    def _chosen(self, event: NearList.Highlighted) -> None:
        event.stop()
        if self._near.display:
            self._aim()

    @on(NearList.Meant)
    def _meant(self, event: NearList.Meant) -> None:
        event.stop()
        if self.proposed is not None:
            self._decide("amend", moved(self.proposed.action, event.at))

    def _decide(self, decision: str, action: Action | None) -> None:
        """Says it once: what waits next is another action. An edit that changes nothing approves."""
        proposed, self.proposed = self.proposed, None
        if proposed is not None and action is not None and _bare(action) == _bare(proposed.action):
            decision, action = "approve", proposed.action
        if proposed is not None:
            self.post_message(self.Decided(proposed, decision, action, self._note.value))


def _amended(action: Action, value: str) -> Action | None:
    """The action with its text, or its place, as the person put it; None where that is no place."""
    if action.kind in _TEXT_KINDS:
        return msgspec.structs.replace(_bare(action), text=value.replace(_LINE_END, "\n"))
    match = _POINT.fullmatch(value)
    return None if match is None else moved(action, (int(match[1]), int(match[2])))


def moved(action: Action, at: Point) -> Action:
    """The action at another place; one that has no place becomes a tap there."""
    if action.kind not in _AIMED:
        return Action("click", at=at)
    return msgspec.structs.replace(_bare(action), at=at)


def _bare(action: Action) -> Action:
    """What is done, without the words and boxes that it came in."""
    return msgspec.structs.replace(action, raw=None, space=None, boxes=())
