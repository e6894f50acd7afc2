"""The gate: an action waits until a person approves, edits or rejects it."""

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

from lab.core.run.screen_clock import Clock
from lab.core.run.step import Action, Point, Proposed
from lab.core.run.tap_targets import screen_box
from lab.core.run.ui_tree import UiTree
from lab.core.text.plain_text import plain
from lab.runs.descriptions import whole_action
from lab.runs.fork.incomplete_action import action_problem
from screens.key_names import focus_opened, with_keys
from screens.live.choices import TOO_EARLY, Choice, Choices, choice_bindings
from screens.record.nodes import NodePicker
from screens.widgets.card import Card, CardText
from screens.widgets.tap_choices import NearList
from screens.widgets.text_fields import TextLine
from simulators.users.human import HumanGate

_TEXT_KINDS = {"input_text", "ask_user", "answer"}
_AIMED = {"click", "double_tap", "long_press", "scroll", "swipe", "drag"}
_LINE_END = "⏎"
"""Character for a line break when a text is edited in a field of one line."""
_POINT = re.compile(r"\s*(\d{1,9})\s*[, ]\s*(\d{1,9})\s*")


class GateRow(Choices):
    """Row of decisions on a waiting action."""

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
        *choice_bindings(GROUP, CHOICES),
        Binding("enter", "take", "Do it", show=False, id="gate.enter", tooltip="Do what is marked"),
    ]

    def action_take(self) -> None:
        if self.cursor >= 0:
            self.pick(self.cursor)


class GatePanel(Card):
    """Card with the action that waits at the gate, and the person's decision on it."""

    DEFAULT_CSS = """
    GatePanel { height: auto; display: none; }
    GatePanel > Static { height: auto; width: 1fr; }
    GatePanel > #gate-text { display: none; }
    """
    SHRINK_ROUNDS = ((("waits", 4),), (("waits", 1), ("gate-near", 3), ("gate-hint", 1)))

    @dataclass
    class Decided(Message):
        """Message: approve (`action` as proposed), amend (another one) or reject (None), with a note."""

        proposed: Proposed
        decision: str
        action: Action | None
        note: str = ""

        def apply_to(self, gate: HumanGate) -> bool:
            """Pass the decision to the gate. Return False if the action no longer waits."""
            if self.action is None:
                return gate.reject(self.proposed, self.note)
            if self.decision == "approve":
                return gate.approve(self.proposed, self.note)
            return gate.amend(self.proposed, self.action, self.note)

    @dataclass
    class AimChanged(Message):
        """Message: `on` if a tap on the mirror sets the action's place. `action` is what would be done now."""

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
        """Open the gate for an action. `tree` is None if the phone's first picture is not read yet."""
        self.proposed, self._tree, self.border_title = proposed, tree, title
        text = Text(whole_action(proposed.action, tree), style="bold")
        if proposed.thought:
            text.append(f"\nthinks: {plain(proposed.thought)}", style="not bold italic")
        self._waits.show(text)
        self._row.cursor = 0
        self._note.clear()
        self._set_amending(False)
        self.add_class("-open")
        self.display = True
        focus_opened(self._row)
        self._row.show_new()

    def record_visible(self) -> None:
        """Record that the choices are visible, if their screen is the current one."""
        self._row.mark_visible()

    def return_to(self, why: str) -> None:
        """Focus the choices. If the gate has the focus already, show `why` it stays there."""
        if self.has_focus_within:
            self._update_hint(why)
        self.focus_choices()

    def focus_choices(self) -> None:
        """Focus the choices."""
        focus_opened(self._row)

    def close(self) -> None:
        """Close the gate."""
        self.proposed = None
        self.remove_class("-open")
        self.display = False
        self._set_amending(False)

    def go_back(self) -> bool:
        """Go back from a field or list to the choices. Return False if the focus is there already."""
        inside = self.has_class("-amend") or self._note.has_focus or self._picker.display
        if not self.has_class("-open") or not inside:
            return False
        self._set_amending(False)
        focus_opened(self._row)  # at once: a deferred focus would take it from a list that the next key opens
        return True

    def list_nodes(self, tree: UiTree | None) -> None:
        """List the tappable nodes, in place of a tap on the phone. `tree` is that of the phone's newest picture."""
        self._tree = tree or self._tree
        if self._tree is None:
            self._update_hint("What can be tapped is not read yet.")
        elif self.proposed is not None:
            self._set_amending(True)
            self._text.display = self._row.display = self._note.display = False
            self._picker.open(self._tree)
            self._update_hint()

    @on(NodePicker.NodeHighlighted)
    def _preview_node(self, event: NodePicker.NodeHighlighted) -> None:
        event.stop()
        if self._picker.display and self.proposed is not None and event.node is not None:
            self.post_message(self.AimChanged(True, action_at(self.proposed.action, event.node.bounds.center)))

    @on(NodePicker.NodeChosen)
    def _move_to_node(self, event: NodePicker.NodeChosen) -> None:
        event.stop()
        if self.proposed is not None:
            self._decide("amend", action_at(self.proposed.action, event.node.bounds.center))

    def aim_at(self, at: Point, tree: UiTree | None) -> None:
        """Set the place that was tapped on the mirror. List the nodes hit and those near it."""
        self._tree = tree or self._tree
        self._picker.close()
        self._note.display = True
        self.set_class(True, "-amend")
        self._text.display = self._row.display = False  # digits now pick in the list
        self._near.list_near(self._tree, at)
        focus_opened(self._near)
        self._post_aim()

    def _post_aim(self) -> None:
        if self.proposed is not None:
            self.post_message(self.AimChanged(True, action_at(self.proposed.action, self._near.chosen_point)))

    @property
    def aiming(self) -> bool:
        """True if a tap sets the waiting action's place."""
        return self.proposed is not None

    @property
    def _edits_text(self) -> bool:
        return self.proposed is not None and self.proposed.action.kind in _TEXT_KINDS

    def _set_amending(self, amending: bool) -> None:
        self.set_class(amending, "-amend")
        self._text.display = amending
        self._near.close()
        self._picker.close()
        self._row.display = self._note.display = True
        self.post_message(self.AimChanged(self.aiming, self.proposed.action if self.proposed else None))
        self._update_hint()

    def _update_hint(self, problem: str = "") -> None:
        """Show a line about what Enter does from here, or a problem."""
        aim = "" if self._edits_text else "Tap the phone, or type x, y; "
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
        self._update_hint()

    @on(Choices.TooEarly)
    def _warn_early(self, event: Choices.TooEarly) -> None:
        event.stop()
        self._update_hint(TOO_EARLY)

    @on(Choices.Picked)
    def _take_choice(self, event: Choices.Picked) -> None:
        event.stop()
        if self.proposed is None:
            return
        action = self.proposed.action
        if event.choice != "amend":
            self._decide(event.choice, action if event.choice == "approve" else None)
            return
        self._set_amending(True)
        self._text.placeholder = "its text" if self._edits_text else "x, y"
        place = f"{action.at[0]}, {action.at[1]}" if action.at else ""
        self._text.value = (action.text or "").replace("\n", _LINE_END) if self._edits_text else place
        self._text.cursor_position = len(self._text.value)  # not where it was in the last text
        focus_opened(self._text)

    @on(Input.Submitted, "#gate-note")
    def _leave_note(self, event: Input.Submitted) -> None:
        event.stop()
        focus_opened(self._near if self._near.display else self._text if self.has_class("-amend") else self._row)

    @on(Input.Submitted, "#gate-text")
    def _decide_amended(self, event: Input.Submitted) -> None:
        event.stop()
        if self.proposed is None:
            return
        action = _amended_action(self.proposed.action, event.value)
        if action is None:
            self._update_hint("! Two numbers are needed, as in 540, 1200: tap the phone or type them.")
            return
        size = screen_box(self._tree)[2:] if self._tree is not None else None
        wrong = action_problem(action, size)
        if wrong:
            self._update_hint(f"! This {wrong}.")
            return
        self._decide("amend", action)

    @on(NearList.Highlighted, "#gate-near")
    def _aim_at_highlighted(self, event: NearList.Highlighted) -> None:
        event.stop()
        if self._near.display:
            self._post_aim()

    @on(NearList.TargetChosen)
    def _decide_at_meant(self, event: NearList.TargetChosen) -> None:
        event.stop()
        if self.proposed is not None:
            self._decide("amend", action_at(self.proposed.action, event.at))

    def _decide(self, decision: str, action: Action | None) -> None:
        """Post the decision once, since the next action to wait is another one.

        An edit that changes nothing approves.
        """
        # Cleared first: a second key must not decide again.
        proposed, self.proposed = self.proposed, None
        if proposed is not None and action is not None and _bare_action(action) == _bare_action(proposed.action):
            decision, action = "approve", proposed.action
        if proposed is not None:
            self.post_message(self.Decided(proposed, decision, action, self._note.value))


def _amended_action(action: Action, value: str) -> Action | None:
    """Return the action with its text or place from the field, or None if the field is not a place."""
    if action.kind in _TEXT_KINDS:
        return msgspec.structs.replace(_bare_action(action), text=value.replace(_LINE_END, "\n"))
    match = _POINT.fullmatch(value)
    return None if match is None else action_at(action, (int(match[1]), int(match[2])))


def action_at(action: Action, at: Point) -> Action:
    """Return the action at another place. An action without a place becomes a tap there."""
    if action.kind not in _AIMED:
        return Action("click", at=at)
    return msgspec.structs.replace(_bare_action(action), at=at)


def _bare_action(action: Action) -> Action:
    """Return the action without raw data, space and boxes, for comparison."""
    return msgspec.structs.replace(action, raw=None, space=None, boxes=())
