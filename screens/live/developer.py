"""A developer's bench: the gate and the hands, and what they do to the session."""

from __future__ import annotations

from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.widget import Widget

from lab.core.plain_text import plain
from lab.core.screen_clock import Clock
from lab.core.step import Action, Proposed
from lab.core.ui_tree import UiTree
from lab.runs.session import Session
from screens.key_names import keys_of
from screens.lab import TellsRefusals
from screens.live.debug_panes import BreaksPanel, RewindPanel
from screens.live.gate import GatePanel
from screens.live.takeover import HandsPanel
from screens.widgets.card import GivingColumn


class DeveloperPane(TellsRefusals, GivingColumn):
    """Stands beneath the dialogue of those who may act on a run; empty while nothing waits for them."""

    DEFAULT_CSS = """
    DeveloperPane { height: auto; }
    """
    GIVES = ((("gate", 0),), (("gate", 0),))

    @dataclass
    class Touchable(Message):
        """Whether a touch of the mirror now means something, and whether letters over it are the phone's."""

        on: bool
        typing: bool

    @dataclass
    class Aimed(Message):
        """Where the waiting action would now go."""

        action: Action

    @dataclass
    class Left(Message):
        """A list was closed, and nothing here needs the keys."""

    def __init__(self, session: Session, clock: Clock) -> None:
        super().__init__(id="bench")
        self._session = session
        self._gate, self._hands = GatePanel(clock), HandsPanel(clock)
        self._breaks, self._rewind = BreaksPanel(session.breakpoints), RewindPanel()

    def compose(self) -> ComposeResult:
        yield self._gate
        yield self._hands
        yield self._breaks
        yield self._rewind

    def close(self) -> None:
        """Nothing waits any more."""
        self._gate.close()
        self._hands.close()
        self._close_lists()

    def back(self) -> bool:
        """One step back inside; False where there is none."""
        if self._breaks.back():
            return True
        if self._close_lists():
            self._give_keys()
            return True
        return self._gate.back() or self._hands.back()

    def seen(self) -> None:
        """What waits is painted now."""
        self._gate.seen()

    def return_to(self, why: str) -> None:
        """Puts the keys where the waiting action is decided; where they are there already, says why they stay."""
        self._gate.return_to(why)

    def focus_keys(self) -> None:
        """Puts the keys to the phone's own, in the agent's place."""
        self._hands.focus_keys()

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
        self._breaks.open()

    def open_rewind(self, steps: list[str]) -> None:
        """Lists the steps to go back to."""
        self._close_lists()
        self._make_room()
        self._rewind.open(steps)

    def _close_lists(self, *but: type[Widget]) -> bool:
        """Takes away what stands open; whether there was something."""
        panels: list[BreaksPanel | RewindPanel] = [self._breaks, self._rewind]
        open_panels = [panel for panel in panels if panel.display]
        for panel in open_panels:
            panel.close()
        self._gate.display = self._gate.proposed is not None
        return any(not isinstance(panel, but) for panel in open_panels)

    def _make_room(self) -> None:
        """In a low terminal the gate makes way for a list; what waits there still waits."""
        if self.screen.has_class("-short"):
            self._gate.display = False

    def _give_keys(self) -> None:
        """Puts the keys where something waits, else where nothing is typed."""
        if self._gate.proposed is not None:
            self._gate.focus_choices()
        else:
            self.post_message(self.Left())

    # -- the gate --------------------------------------------------------------------------------------------

    def gated(self, proposed: Proposed | None, tree: UiTree | None) -> None:
        """This action waits to be let through; None: none does."""
        if proposed is None:
            self._gate.close()
            return
        self._close_lists()
        stop = self._session.stopped_at
        title = f"Breakpoint {plain(stop.words)}" if stop is not None else "The agent waits for you"
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
        takes_over = not self._session.control.taken_over
        self._session.take_over(takes_over)
        if takes_over:
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
            self._hands.open(waits, self._awaited())
        self.post_message(self.Touchable(waits or self._gate.aiming, waits))

    def _awaited(self) -> str:
        """What comes before the phone is the person's: the end of a turn, or, in a run that stands still, their key."""
        if self._session.control.paused:
            return f"the run goes on: {keys_of(self.screen, 'run.resume')[0]}."
        return "this turn ends ..."

    @property
    def taps(self) -> bool:
        """Whether a tap of the phone means something now."""
        return self._session.turns.waiting is not None or self._gate.aiming

    def list_nodes(self, tree: UiTree | None) -> None:
        """Lists what can be tapped, for those who have no mouse; `tree` is of what the phone shows now."""
        screen = self._session.turns.waiting
        if screen is not None:
            self._hands.list_nodes(tree or screen.tree)
        else:
            self._gate.list_nodes(tree)

    def key(self, name: str) -> None:
        """A key over the phone that is no character."""
        if self._session.turns.waiting is not None:
            self._hands.key(name)

    def touched(self, action: Action, tree: UiTree | None) -> None:
        """The mirror was touched: the waiting action's place, or an act of the person's own."""
        if not self._gate.aiming:
            self._act(action)
        elif action.at is not None:
            self._gate.aim(action.at, tree)

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
