"""Forks of a replayed run: the panel where a person writes or taps the change, and the run that continues."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input, Static

from lab.core.codec import encode
from lab.core.errors import LabError
from lab.core.run.action_target import read_action
from lab.core.run.screen_clock import Clock
from lab.core.run.step import Action, Point
from lab.core.run.trace import Asked, Ended, Started, Step
from lab.core.run.ui_tree import UiTree
from lab.core.task.task import Actor
from lab.core.text.plain_text import plain
from lab.runs.descriptions import one_line, whole_action
from lab.runs.fork.fork import ForkChange
from lab.runs.session import Session
from screens.background import Background
from screens.key_names import focus_opened, with_keys
from screens.lab import lab_of
from screens.live.choices import Choice, Choices, choice_bindings
from screens.live.gate import action_at
from screens.mirror.touch import marks_of
from screens.record.nodes import NodePicker
from screens.replay.run_player import RunPlayer
from screens.widgets.border_words import write_title
from screens.widgets.card import Card, CardText
from screens.widgets.tap_choices import NearList
from screens.widgets.text_fields import TextLine

_ACTION = "another action: tap the screen, / finds a place, or JSON"


class ForkRow(Choices):
    """Decision on a proposal in a fork."""

    HELP = """
    A new run, the same up to this step, goes on from here: the proposal accepted or refused, or put to you again.
    **{fork.enter}** forks; **{replay.back}** closes, and nothing happens.
    """
    GROUP = "fork"
    CHOICES = (
        Choice("accept", "a", "accept", "The proposal is accepted"),
        Choice("reject", "r", "reject", "The proposal is refused"),
        Choice("again", "q", "ask me", "The question is put again, live"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *choice_bindings(GROUP, CHOICES),
        Binding("enter", "fork", "Fork", show=False, id="fork.enter", tooltip="Go on from this step as a new run"),
    ]

    @dataclass
    class Entered(Message):
        """Message: Enter was pressed."""

    def action_fork(self) -> None:
        self.post_message(self.Entered())

    @property
    def decision(self) -> Literal["accept", "reject"] | None:
        choice = self.marked_id
        return "accept" if choice == "accept" else "reject" if choice == "reject" else None


class ForkPanel(Card):
    """Another reply, action, agent or user for the current step. Enter in any field forks."""

    DEFAULT_CSS = """
    ForkPanel { height: auto; display: none; }
    ForkPanel > Static { height: auto; width: 1fr; }
    """
    SHRINK_ROUNDS = ((("fork-what", 4),), (("fork-what", 1), ("fork-hint", 1)))

    @dataclass
    class ForkRequested(Message):
        """Message: continue the run from step `index` (from 0) with this change."""

        index: int
        change: ForkChange

    @dataclass
    class TargetChanged(Message):
        """Message: the new target of the action."""

        action: Action

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="fork", classes="pane")
        self._event: Step | Asked | None = None
        self._tree: UiTree | None = None
        self._user_is_human = False
        self._user_before = ""
        self._building = False
        self._what_text = CardText(id="fork-what")
        self._row = ForkRow(clock, id="fork-row")
        self._reply_line = TextLine(id="fork-say", compact=True, select_on_focus=False)
        self._action = TextLine(id="fork-action", compact=True, select_on_focus=False, placeholder=_ACTION)
        self._near = NearList(id="fork-near")
        self._picker = NodePicker()
        self._agent = TextLine(id="fork-agent", compact=True, select_on_focus=False)
        self._user = TextLine(id="fork-user", compact=True, select_on_focus=False)

    def compose(self) -> ComposeResult:
        yield self._what_text
        yield self._row
        yield self._reply_line
        yield self._near
        yield self._action
        yield self._picker
        yield self._agent
        yield self._user
        yield Static(id="fork-hint", markup=False)

    # -- opening and closing ---------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        return self._event is not None

    def open(self, event: Step | Asked, started: Started) -> None:
        """Show what happened at this step, and ask for the change."""
        self._event, self._tree, self._building = event, event.before.tree, False
        self._user_is_human = started.user is not None and started.user.kind == "human"
        question = event.question
        proposal = question is not None and question.kind == "propose"
        write_title(self, f"Fork at step {event.index + 1} (screen before it)")
        text = plain(question.text) if question is not None else whole_action(event.proposed.action, self._tree)
        self._what_text.show(Text(f"Here: {text}", style="bold"))
        self._row.display, self._reply_line.display = proposal, question is not None
        self._row.cursor = -1
        self._reply_line.placeholder = "words with it" if proposal else "another answer; empty: it is put to you again"
        self._agent.placeholder = f"agent: {_actor_words(started.agent)}"
        self._user_before = _actor_words(started.user)
        for field in (self._reply_line, self._action, self._agent, self._user):
            field.clear()
        self._near.close()
        self._picker.close()
        self.display = True
        focus_opened(self._row if proposal else self._reply_line if question is not None else self._action)
        self._row.show_new()
        self._update_hint()

    def show_building(self) -> None:
        """Show that the new run is being built."""
        self._building = True
        self._update_hint("Starting the phone ...")

    def show_error(self, error: LabError) -> None:
        """Show why the new run cannot be built. The fields keep their text."""
        self._building = False
        self._update_hint(f"! {plain(error.message, lines=False)}. {plain(error.hint, lines=False)}")

    def close(self) -> None:
        """Hide the panel."""
        self._event = None
        self.display = False

    # -- what is to be other ---------------------------------------------------------------------------------

    def go_back(self) -> bool:
        """Go back from a list to the line of the action. Return False if none is open."""
        if not (self._picker.display or self._near.has_focus):
            return False
        self._picker.close()
        self._near.close()
        focus_opened(self._action)
        return True

    @on(Input.Changed, "#fork-action")
    def _open_picker(self, message: Input.Changed) -> None:
        """List what can be tapped after a slash, as elsewhere. No action begins with one."""
        if message.value == "/" and self._tree is not None:
            self._action.clear()
            self._picker.open(self._tree)

    @on(NodePicker.NodeHighlighted)
    def _aim_at_node(self, message: NodePicker.NodeHighlighted) -> None:
        message.stop()
        if self._picker.display and self._event is not None and message.node is not None:
            self.post_message(self.TargetChanged(action_at(self._event.proposed.action, message.node.bounds.center)))

    @on(NodePicker.NodeChosen)
    def _take_node(self, message: NodePicker.NodeChosen) -> None:
        message.stop()
        self._picker.close()
        self.aim_at(message.node.bounds.center)

    def aim_at(self, at: Point) -> None:
        """Set the action's target from a tap on the recorded phone, or a node near it."""
        self._picker.close()
        self._near.list_near(self._tree, at)
        focus_opened(self._near)
        self._aim_near()

    def _aim_near(self) -> None:
        if self._event is not None:
            action = action_at(self._event.proposed.action, self._near.chosen_point)
            self._action.value = encode(action).decode()
            self.post_message(self.TargetChanged(action))

    @on(NearList.Highlighted, "#fork-near")
    def _aim_chosen(self, message: NearList.Highlighted) -> None:
        message.stop()
        if self._near.display:
            self._aim_near()

    @property
    def change(self) -> ForkChange:
        """The change as written. Raises `LabError` if the action is invalid."""
        action_text, text = self._action.value.strip(), self._reply_line.value.strip()
        size = self._event.before.size if self._event is not None else None
        action = read_action(action_text, self._tree, size, "the action") if action_text else None
        change = ForkChange(
            say=text or None,
            decision=self._row.decision if self._row.display else None,
            action=action,
            agent=self._agent.value.strip() or None,
            user=self._user.value.strip() or None,
        )
        asks = self._event is not None and self._event.question is not None
        # A question that nobody has answered here is put to the person who looks, whoever answered it then.
        return change._replace(user="human") if asks and change == ForkChange() and not self._user_is_human else change

    @on(ForkRow.Picked)
    def _take_decision(self, message: ForkRow.Picked) -> None:
        message.stop()
        focus_opened(self._reply_line)
        self._update_hint()

    @on(Input.Changed)
    def _take_typed(self, message: Input.Changed) -> None:
        message.stop()
        self._update_hint()

    @on(ForkRow.TooEarly)
    def _ignore_early(self, message: ForkRow.TooEarly) -> None:
        message.stop()

    @on(Input.Submitted)
    @on(ForkRow.Entered)
    @on(NearList.TargetChosen)
    def _submit(self, message: Message) -> None:
        message.stop()
        if self._event is None or self._building:
            return
        try:
            self.post_message(self.ForkRequested(self._event.index, self.change))
        except LabError as error:
            self._update_hint(f"! {plain(error.message, lines=False)}")

    def _update_hint(self, problem: str = "") -> None:
        """Show what Enter does, or a problem."""
        other = [
            name
            for name, field in (
                ("reply", self._reply_line.value or (self._row.decision if self._row.display else None)),
                ("action", self._action.value),
                ("agent", self._agent.value),
                ("user", self._user.value),
            )
            if field
        ]
        puts = self._event is not None and self._event.question is not None
        line = "the question is put to you" if puts else "once more from here"
        line = f"with another {', '.join(other)}" if other else line
        self._user.placeholder = f"answers: {'you' if puts and not other else self._user_before}"
        does = with_keys(self, "{fork.enter}: a new run, ") + line + with_keys(self, ". {replay.back} closes.")
        self.query_one("#fork-hint", Static).update(Text(problem or does, "dim"))


def _actor_words(actor: Actor | None) -> str:
    if actor is None:
        return "as before"
    return f"{one_line(actor.id, 20)} as before" if actor.kind != "human" else "you"


class Forking:
    """Forks a replayed run at a step. `panel` is where a person writes the change."""

    def __init__(self, room: Screen[None], footage: RunPlayer, panel: ForkPanel) -> None:
        self._room = room
        self._footage = footage
        self._panel = panel
        self._place = 0
        """The place, from 0, that the panel is about."""
        self._building = Background(room, self._enter_run, panel.show_error)

    @property
    def is_open(self) -> bool:
        return self._panel.is_open

    async def open(self) -> None:
        """Open the panel for the current step, with the screen on which it was done."""
        footage = self._footage
        await footage.wait_shown()
        if footage.head is None or footage.view is None:
            return
        started, event = footage.head.started, footage.view.event
        if started.source is not None or started.state is None:
            raise LabError("Fork", "this run was not made on the embedded phone.", "Runs made here can be forked.")
        if isinstance(event, Ended):
            raise LabError("Fork", "the run was over here.", "Go to one of its steps first.")
        if footage.after:
            footage.toggle_after()  # what is tapped in a fork is tapped on the screen before the step
        self._place = footage.view.number
        self._room.add_class("-forking")
        footage.stage.mirror.interactive = True
        self._panel.open(event, started)

    def close(self) -> None:
        """Close the panel if it is open."""
        if self.is_open:
            self._room.remove_class("-forking")
            self._footage.stage.mirror.interactive = False
            self._panel.close()
            self._footage.timeline.focus()

    def go_back(self) -> bool:
        """Go one step back in the panel, or close it. Return False if it is not open."""
        if not self.is_open:
            return False
        if not self._panel.go_back():
            self.close()
            self._footage.request_place()
        return True

    def leave_step(self) -> None:
        """Close the panel if another step is current, because its text was not meant for that."""
        if self.is_open and self._footage.number != self._place:
            self.close()

    def aim(self, at: Point) -> None:
        """Pass a tap on the phone to the open panel."""
        if self.is_open:
            self._panel.aim_at(at)

    def mark(self, action: Action) -> None:
        """Mark the new target of the action."""
        self._footage.stage.mirror.mark(marks_of(action))

    def go_on(self, index: int, change: ForkChange) -> None:
        """Build the new run and show it in Live. If that fails, the panel shows the error and keeps its text."""
        run = self._footage.run
        if run is not None:
            lab_of(self._room).check_no_run()
            self._panel.show_building()
            self._building.start(partial(lab_of(self._room).fork_session, run, index, change))

    def _enter_run(self, session: Session) -> None:
        app = lab_of(self._room)
        app.check_no_run()
        self.close()
        app.enter_live(session)
