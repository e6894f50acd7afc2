"""The developer's pane: the gate and the take-over, and their effect on the session."""

from __future__ import annotations

from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.widget import Widget

from lab.core.run.screen_clock import Clock
from lab.core.run.step import Action, Proposed
from lab.core.run.ui_tree import UiTree
from lab.core.text.plain_text import plain
from lab.runs.session import Session
from screens.key_names import keys_of
from screens.lab import ReportsErrors
from screens.live.debug_panes import BreaksPanel, RewindPanel
from screens.live.gate import GatePanel
from screens.live.takeover import TakeOverPanel
from screens.widgets.card import GivingColumn


class DeveloperPane(ReportsErrors, GivingColumn):
    """Pane below the dialogue for those who may act on a run. Empty while nothing waits for them."""

    DEFAULT_CSS = """
    DeveloperPane { height: auto; }
    """
    SHRINK_ROUNDS = ((("gate", 0),), (("gate", 0),))

    @dataclass
    class TouchChanged(Message):
        """Message: `on` if a touch of the mirror has an effect now, `typing` if keys over it go to the phone."""

        on: bool
        typing: bool

    @dataclass
    class TargetChanged(Message):
        """Message: the waiting action, moved to its present target."""

        action: Action

    @dataclass
    class FocusReleased(Message):
        """Message: a list was closed, and no part of the pane needs the focus."""

    def __init__(self, session: Session, clock: Clock) -> None:
        super().__init__(id="bench")
        self._session = session
        self._gate, self._hands = GatePanel(clock), TakeOverPanel(clock)
        self._breaks, self._rewind = BreaksPanel(session.breakpoints), RewindPanel()

    def compose(self) -> ComposeResult:
        yield self._gate
        yield self._hands
        yield self._breaks
        yield self._rewind

    def close(self) -> None:
        """Close all parts."""
        self._gate.close()
        self._hands.close()
        self._close_lists()

    def go_back(self) -> bool:
        """Go back one step inside the pane. Return False if there is none."""
        if self._breaks.go_back():
            return True
        if self._close_lists():
            self._give_keys()
            return True
        return self._gate.go_back() or self._hands.go_back()

    def record_visible(self) -> None:
        """Record that the waiting action is visible."""
        self._gate.record_visible()

    def return_to(self, why: str) -> None:
        """Focus the waiting action's choices. If they have the focus already, show `why` it stays there."""
        self._gate.return_to(why)

    def focus_keys(self) -> None:
        """Focus the phone's keys of the take-over."""
        self._hands.focus_keys()

    @property
    def deciding(self) -> bool:
        """True if the gate has the focus."""
        return self._gate.has_focus_within

    # -- a developer's lists ---------------------------------------------------------------------------------

    def open_breaks(self) -> None:
        """Show the list of breakpoints, or close it if it is open."""
        if self._close_lists(RewindPanel):
            return self._give_keys()
        self._make_room()
        self._breaks.open()

    def open_rewind(self, steps: list[str]) -> None:
        """Show the list of steps to rewind to."""
        self._close_lists()
        self._make_room()
        self._rewind.open(steps)

    def _close_lists(self, *but: type[Widget]) -> bool:
        """Close the open lists. Return True if any was open, those of type `but` excepted."""
        panels: list[BreaksPanel | RewindPanel] = [self._breaks, self._rewind]
        open_panels = [panel for panel in panels if panel.display]
        for panel in open_panels:
            panel.close()
        self._gate.display = self._gate.proposed is not None
        return any(not isinstance(panel, but) for panel in open_panels)

    def _make_room(self) -> None:
        """Hide the gate in a low terminal to make room for a list. Its action continues to wait."""
        if self.screen.has_class("-short"):
            self._gate.display = False

    def _give_keys(self) -> None:
        """Focus the gate if an action waits, else post `FocusReleased`."""
        if self._gate.proposed is not None:
            self._gate.focus_choices()
        else:
            self.post_message(self.FocusReleased())

    # -- the gate --------------------------------------------------------------------------------------------

    def show_gated(self, proposed: Proposed | None, tree: UiTree | None) -> None:
        """Open the gate for a waiting action, or close it for None."""
        if proposed is None:
            self._gate.close()
            return
        # The lists close first: opening the gate moves the focus to it.
        self._close_lists()
        stop = self._session.stopped_at
        title = f"Breakpoint {plain(stop.words)}" if stop is not None else "The agent waits for you"
        self._gate.open(proposed, tree, title)

    def toggle_gate(self) -> None:
        """Switch the gate on or off. Switching it off lets the waiting action pass."""
        gate = self._session.gate
        gate.asking = not gate.asking
        if not gate.asking and self._session.decisions.waiting is not None:
            self._session.decisions.withdraw()
        self.notify("You are asked before each action." if gate.asking else "Every action passes.", markup=False)

    @on(GatePanel.Decided)
    def _carry_decision(self, message: GatePanel.Decided) -> None:
        message.stop()
        if not message.apply_to(self._session.gate):
            self.notify("That action no longer waits.", severity="warning", markup=False)

    # -- the hands -------------------------------------------------------------------------------------------

    @on(TakeOverPanel.GaveBack)
    def toggle_takeover(self) -> None:
        """Take the agent's place, or give it back."""
        takes_over = not self._session.control.taken_over
        self._session.take_over(takes_over)
        if takes_over:
            self.update_turn()
        else:
            self._hands.close()
            self.notify("The agent goes on.", markup=False)

    @on(GatePanel.AimChanged)
    def _follow_aim(self, message: GatePanel.AimChanged) -> None:
        self.update_turn()
        if message.action is not None:
            self.post_message(self.TargetChanged(message.action))

    def update_turn(self) -> None:
        """Update the take-over, and post what a touch now does."""
        waits = self._session.turns.waiting is not None
        if self._session.control.taken_over and not self._session.over:
            self._hands.open(waits, self._awaited_words())
        self.post_message(self.TouchChanged(waits or self._gate.aiming, waits))

    def _awaited_words(self) -> str:
        """Return what must happen before the person may act: the turn ends, or (paused) the person presses a key."""
        if self._session.control.paused:
            return f"the run goes on: {keys_of(self.screen, 'run.resume')[0]}."
        return "this turn ends ..."

    @property
    def accepts_taps(self) -> bool:
        """True if a tap of the phone has an effect now."""
        return self._session.turns.waiting is not None or self._gate.aiming

    def list_nodes(self, tree: UiTree | None) -> None:
        """List the tappable nodes, for use without a mouse. `tree` is that of the phone's newest picture."""
        screen = self._session.turns.waiting
        if screen is not None:
            self._hands.list_nodes(tree or screen.tree)
        else:
            self._gate.list_nodes(tree)

    def key(self, name: str) -> None:
        """Handle a key without a character that was pressed over the phone."""
        if self._session.turns.waiting is not None:
            self._hands.key(name)

    def touched(self, action: Action, tree: UiTree | None) -> None:
        """Handle a touch of the mirror: the waiting action's new place, or an action of the person."""
        if not self._gate.aiming:
            self._act(action)
        elif action.at is not None:
            self._gate.aim_at(action.at, tree)

    def type(self, text: str) -> bool:
        """Type text into the phone's line. Return False if the phone does not wait for the person."""
        if self._session.turns.waiting is None:
            return False
        self._hands.type(text)
        return True

    @on(TakeOverPanel.Acted)
    def _act_by_hands(self, message: TakeOverPanel.Acted) -> None:
        message.stop()
        self._act(message.action)

    def _act(self, action: Action) -> None:
        screen = self._session.turns.waiting
        if screen is None or not self._session.turns.answer(screen, action):
            self.notify("The phone is not yours yet.", severity="warning", markup=False)
