"""A developer's bench: the gate and the hands, and what they do to the session."""

from __future__ import annotations

from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget

from lab.plain import plain
from lab.session import Session
from lab.turn import Action, Proposed
from lab.uitree import UiTree
from screens.clock import Clock
from screens.live.debug import BreaksPanel, RewindPanel
from screens.live.gate import GatePanel, GateRow
from screens.live.hands import HandsPanel


class Bench(Vertical):
    """Stands beneath the dialogue of those who may act on a run; empty while nothing waits for them."""

    DEFAULT_CSS = """
    Bench { height: auto; max-height: 90%; }
    """

    @dataclass
    class Touchable(Message):
        """Whether a touch of the mirror now means something."""

        on: bool

    @dataclass
    class Aimed(Message):
        """Where the waiting action would now go."""

        action: Action

    def __init__(self, session: Session, clock: Clock) -> None:
        super().__init__(id="bench")
        self._clock = clock
        self._session = session

    def compose(self) -> ComposeResult:
        yield GatePanel(self._clock)
        yield HandsPanel(self._clock)
        yield BreaksPanel(self._session.breakpoints)
        yield RewindPanel()

    @property
    def _gate(self) -> GatePanel:
        return self.query_one(GatePanel)

    @property
    def _hands(self) -> HandsPanel:
        return self.query_one(HandsPanel)

    def close(self) -> None:
        """Nothing waits any more."""
        self._gate.close()
        self._hands.close()
        self._close_lists()

    def back(self) -> bool:
        """One step back inside; False where there is none."""
        if self.query_one(BreaksPanel).back():
            return True
        if self._close_lists():
            self._give_keys()
            return True
        return self._gate.back()

    def seen(self) -> None:
        """What waits is painted now."""
        self.query_one(GateRow).seen()

    @property
    def deciding(self) -> bool:
        """Whether the keys are where a decision is given."""
        return self._gate.has_focus_within

    # -- a developer's lists ---------------------------------------------------------------------------------

    def open_breaks(self) -> None:
        """Lists the breakpoints, or takes their list away."""
        if self._close_lists(RewindPanel):
            return self._give_keys()
        self._make_room()
        self.query_one(BreaksPanel).open()

    def open_rewind(self, steps: list[str]) -> None:
        """Lists the steps to go back to."""
        self._close_lists()
        self._make_room()
        self.query_one(RewindPanel).open(steps)

    def _close_lists(self, *but: type[Widget]) -> bool:
        """Takes away what stands open; whether there was something."""
        panels: list[BreaksPanel | RewindPanel] = [self.query_one(BreaksPanel), self.query_one(RewindPanel)]
        shown = [panel for panel in panels if panel.display]
        for panel in shown:
            panel.close()
        self._gate.display = self._gate.proposed is not None
        return any(not isinstance(panel, but) for panel in shown)

    def _make_room(self) -> None:
        """In a low terminal the gate makes way for a list; what waits there still waits."""
        if self.screen.has_class("-short"):
            self._gate.display = False

    def _give_keys(self) -> None:
        """Puts the keys where something waits, else where nothing is typed."""
        waits = self._gate.proposed is not None
        self.screen.set_focus(self.query_one(GateRow) if waits else self.screen.query_one("#transcript"))

    # -- the gate --------------------------------------------------------------------------------------------

    def gated(self, proposed: Proposed | None, tree: UiTree | None) -> None:
        """This action waits to be let through; None: none does."""
        if proposed is None:
            self._gate.close()
            return
        self._close_lists()
        stop = self._session.stopped_at
        title = f"Breakpoint {plain(stop.breakpoint.spec)}" if stop is not None else "The agent waits for you"
        self._gate.open(proposed, tree, title)

    def toggle_gate(self) -> None:
        """Asks before each action from now on, or lets all pass, the waiting one too."""
        gate = self._session.gate
        gate.asking = not gate.asking
        if not gate.asking and self._session.decisions.waiting is not None:
            self._session.decisions.withdraw()
        self.notify("You are asked before each action." if gate.asking else "Every action passes.", markup=False)

    @on(GatePanel.Decided)
    def _decided(self, message: GatePanel.Decided) -> None:
        message.stop()
        if not message.carry(self._session.gate):
            self.notify("That action no longer waits.", severity="warning", markup=False)

    # -- the hands -------------------------------------------------------------------------------------------

    @on(HandsPanel.GaveBack)
    def take(self) -> None:
        """Takes the agent's place, or gives it back."""
        taken = not self._session.control.taken_over
        self._session.take_over(taken)
        if taken:
            self.turn()
        else:
            self._hands.close()
            self.notify("The agent goes on.", markup=False)

    @on(GatePanel.Aiming)
    def _aims(self, message: GatePanel.Aiming) -> None:
        self.turn()
        if message.action is not None:
            self.post_message(self.Aimed(message.action))

    def turn(self) -> None:
        """What may be touched has changed."""
        waits = self._session.turns.waiting is not None
        if self._session.control.taken_over and not self._session.over:
            self._hands.open(waits)
        self.post_message(self.Touchable(waits or self._gate.aiming))

    def touched(self, action: Action) -> None:
        """The mirror was touched: the waiting action's place, or an act of the person's own."""
        if not self._gate.aiming:
            self._act(action)
        elif action.at is not None:
            self._gate.aim(action.at)

    def type(self, text: str) -> bool:
        """Letters meant for the phone; False where it is not the person's."""
        if self._session.turns.waiting is None:
            return False
        self._hands.type(text)
        return True

    @on(HandsPanel.Acted)
    def _acted(self, message: HandsPanel.Acted) -> None:
        message.stop()
        self._act(message.action)

    def _act(self, action: Action) -> None:
        screen = self._session.turns.waiting
        if screen is None or not self._session.turns.answer(screen, action):
            self.notify("The phone is not yours yet.", severity="warning", markup=False)
