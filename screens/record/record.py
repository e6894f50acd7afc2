"""Record a demonstration: a person operates the phone as the agent and describes each step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events, on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input

from lab.core.errors import LabError
from lab.core.run.demonstration import Demonstration, demonstration
from lab.core.run.screen_clock import Clock, format_duration
from lab.core.run.step import Action
from lab.core.run.trace import Acting, Ended, Flagged, Paused, Resumed, Step
from lab.core.run.ui_tree import UiTree
from lab.core.seams import Frame
from lab.core.text.plain_text import plain
from lab.runs.descriptions import action_words, demonstration_words, one_line, outcome_words
from lab.runs.session import Session
from lab.studies.seats import may_replay
from screens.background import Background
from screens.dialogs import AskScreen
from screens.key_names import keys_of, with_keys
from screens.lab import lab_of, window_of, windows_of
from screens.live.banner import Banner
from screens.live.seat_pane import SeatPane
from screens.live.session_messages import EventCommitted, OperationFailed, SessionListener, TurnChanged
from screens.mirror.live_words import LiveWords
from screens.mirror.mirror import Mirror
from screens.mirror.touch import Touch, marks_of, touch_action
from screens.record.next_act import ActionDesk
from screens.slip import KeyGuard
from screens.stylesheet import ROOM_STYLES
from screens.theme import LOUD_ERROR, LOUD_WARNING, MUTED, WARNING
from screens.widgets.border_words import write_title
from screens.widgets.card import Card, CardText, GivingColumn
from screens.widgets.footer import Footer
from screens.widgets.room_screen import RoomScreen
from screens.widgets.table import RowList
from store.store import Store

if TYPE_CHECKING:
    from screens.picture_window import PictureWindow

MORE = Binding.Group("More", compact=True)
_TICK, _PATIENCE = 0.5, 2.0
"""Seconds between two ticks of the clock, and the maximum wait for the last writes on leaving."""


class RecordColumn(GivingColumn):
    """The intent above the steps and the held action, which is never cut."""

    SHRINK_ROUNDS = ((("seat", 2), ("desk", 0)), (("seat", 1), ("desk", 0)))


class RecordScreen(RoomScreen[None]):
    """The phone at the left. At the right the intent, the steps so far, and the held action."""

    CSS_PATH = ROOM_STYLES
    HELP = """
    You show how it is done. Touch the phone: the act is **held**, with the instruction that it carries out written
    beneath; **Enter** does and records both, **{run.back}** drops it, another touch takes its place.
    **{record.finish:f}** finishes: complete, answered, or impossible. **{record.slip}** says that a step was a slip.
    **{run.pause}** pauses; leaving keeps the recording open.
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+x", "pause", "Pause", priority=True, id="run.pause", tooltip="The recording stands still"),
        Binding("ctrl+x", "end", "End unfinished", priority=True, id="run.end",
                tooltip="The recording is over, and not finished"),
        Binding("ctrl+r", "go_on", "Go on", priority=True, id="run.resume", tooltip="The recording goes on"),
        Binding("slash", "nodes", "Find", id="record.nodes", tooltip="A list of what can be tapped, found by words"),
        Binding("x", "slip", "Slip", id="record.slip", tooltip="The step just made, or under the cursor, was a slip"),
        Binding("tab", "next_pane", "Next pane", show=False, id="record.tab",
                tooltip="The next pane; from the phone to the line of what is held"),
        Binding("enter", "next", "Next", show=False, id="run.next", tooltip="On from here, after the end"),
        Binding("y", "copy_id", "Copy id", show=False, group=MORE, id="run.copy", tooltip="Copy this recording's id"),
        Binding("escape", "back", "Back", show=False, group=MORE, id="run.back", tooltip="One step back, nothing lost"),
    ]  # fmt: skip
    AUTO_FOCUS = "#desk-keys"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall")]

    def __init__(self, session: Session, *, clock: Clock | None = None) -> None:
        super().__init__()
        self.session = session
        self._clock = clock or Clock()
        self._slip = KeyGuard(self._clock)
        self._watch = SessionListener(session, self)
        self._banner, self._mirror = Banner(), Mirror(id="phone")
        self._words = LiveWords(self._mirror, lambda: session.words.reader)
        self._seat = SeatPane(session.spec, session.agent.actor, knows=False)
        self._steps = RecordedStepList()
        self._desk = ActionDesk(self._clock, quick=session.spec.quick, tree=self._current_tree)
        self._result_card = RecordingResult()
        self._began = self._clock.seconds()
        self._paused = False
        self._acting: Action | None = None
        self._ended: Ended | None = None
        self._footer_state: tuple[bool, ...] = ()

    def compose(self) -> ComposeResult:
        yield self._banner
        with Horizontal(id="panes"):
            yield self._mirror
            with RecordColumn(id="beside"):
                yield self._seat
                yield self._steps
                yield self._desk
                yield self._result_card
        yield Footer()

    # -- beginning and leaving -------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self._mirror.border_title = "Phone"
        self._mirror.interactive = False
        self._seat.border_title = "Intent"
        self._seat.unfold("task")
        self._update_banner()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self._began = self._clock.seconds()
        show = self._words.show if lab_of(self).reads_words else self._mirror.post_frame
        self._watch.begin(partial(self._show_frame, show, windows_of(self)))
        self.set_interval(_TICK, self._update_banner)

    def _show_frame(
        self, show: Callable[[Frame], None], page: Callable[[], PictureWindow | None], frame: Frame
    ) -> None:
        """Show a picture of the phone on the thread that took it. The app may have ended meanwhile."""
        show(frame)
        if (window := page()) is not None:
            window.show_frame(frame)

    @on(LiveWords.EngineMissing)
    def _report_lack(self) -> None:
        lab_of(self).report_missing_ocr()

    def on_unmount(self) -> None:
        self._words.close()
        self._watch.close(_PATIENCE)

    def on_resize(self, event: events.Resize) -> None:
        self._mirror.set_width_for(event.size)

    # -- what happens ----------------------------------------------------------------------------------------

    @on(EventCommitted)
    def _handle_event(self, message: EventCommitted) -> None:
        event = message.event
        match event:
            case Paused() | Resumed():
                self._paused = isinstance(event, Paused)
                self._update_turn()
            case Acting():
                self._acting = event.action
            case Step():
                self._acting = None
                self._mark_target(None)
                self._steps.add(event)
                if event.error and not message.stored:
                    self.notify(plain(event.error), title="Not done", severity="error", markup=False)
            case Flagged():
                self._steps.flag(event.index, event.on)
            case Ended():
                self._finish(event)
        self._update_banner()

    def _finish(self, event: Ended) -> None:
        self._ended = event
        self._desk.close()
        self._mirror.interactive = self._mirror.typing = False
        self._mirror.stop()
        self._result_card.show_end(self.session.store, self.session.trace_id, replays=self._may_replay)

    @on(OperationFailed)
    def _handle_refusal(self, message: OperationFailed) -> None:
        if message.last:
            self._desk.close()
            self._mirror.stop()
            self._result_card.show_failure(message.error)
        else:
            error = message.error
            self.notify(plain(error.body), title=plain(error.title), severity="error", markup=False)
        self._update_banner()

    @on(TurnChanged)
    def _update_turn(self) -> None:
        """Update the panes after the phone became the person's, or stopped being theirs."""
        mine = self.session.turns.waiting is not None and not self._paused and not self.session.over
        self._mirror.interactive = self._mirror.typing = mine
        self._desk.set_ready(mine, self._paused)
        self._update_banner()

    def _current_tree(self) -> UiTree:
        """Return the newest UI tree of the phone."""
        waiting = self.session.turns.waiting
        return self._watch.tree or (waiting.tree if waiting is not None else UiTree())

    # -- the person's hands ----------------------------------------------------------------------------------

    @on(Mirror.Tapped)
    @on(Mirror.Dragged)
    @on(Mirror.Wheeled)
    def _hold_touch(self, message: Touch) -> None:
        if self._desk.ready:
            self._desk.hold(touch_action(message))

    @on(Mirror.Typed)
    def _hold_typed(self, message: Mirror.Typed) -> None:
        self._desk.type(message.text)

    @on(Mirror.Key)
    def _press_key(self, message: Mirror.Key) -> None:
        self._desk.key(message.name)

    @on(ActionDesk.TargetChanged)
    def _mark_aim(self, message: ActionDesk.TargetChanged) -> None:
        self._mark_target(message.action)

    def _mark_target(self, action: Action | None) -> None:
        """Mark the target of an action on the mirror and on the page of pictures."""
        marks = marks_of(action)
        self._mirror.mark(marks)
        window = window_of(self)
        if window is not None:
            window.mark(marks)

    @on(ActionDesk.ActionChosen)
    def _perform(self, message: ActionDesk.ActionChosen) -> None:
        screen = self.session.turns.waiting
        if self._paused or screen is None or not self.session.turns.answer(screen, message.proposed):
            self.notify("The phone is not yours yet; what you hold is kept.", severity="warning", markup=False)
            return
        self._desk.clear()
        self._desk.set_ready(False)
        self._mirror.interactive = self._mirror.typing = False

    # -- keys ------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        over = self.session.over
        match action:
            case "pause":
                return not self._paused and not over
            case "end" | "go_on":
                return self._paused and not over
            case "nodes":
                return not over and self._desk.ready
            case "slip":
                return not over and self._steps.count > 0
            case "next":
                return over
        return True

    def action_pause(self) -> None:
        self._slip.begin()
        # At once for the agent's side. Writing the event may take longer and is done off the UI thread.
        self.session.control.pause()
        self._watch.do(self.session.pause)

    def action_go_on(self) -> None:
        self._watch.do(self.session.resume_run)

    def action_end(self) -> None:
        """End the recording. Ask first if this seat could not reopen it."""
        # The key that paused is bound to `end` now, and it may still be held down.
        if self._slip.active:
            return
        if may_replay(self.session.spec.seat):
            self._watch.do(self.session.stop)
            return
        says = "What was recorded is kept, and no step is added any more."
        self.app.push_screen(AskScreen("End it unfinished?", says, "End it"), self._stop_if_sure)

    def _stop_if_sure(self, sure: bool | None) -> None:
        if sure and not self.session.over:
            self._watch.do(self.session.stop)

    def action_nodes(self) -> None:
        self._desk.list_nodes()

    def action_next_pane(self) -> None:
        """Go from the phone, after typing there, to the instruction, else to the next pane."""
        if not (self.focused is self._mirror and self._desk.focus_line()):
            self.focus_next()

    def action_slip(self) -> None:
        """Flag a step as a slip, or remove the flag."""
        step = self._steps.current
        if step is not None:
            on = step.index not in self._steps.slips
            self._watch.do(lambda: self.session.flag(step.index, on))

    @property
    def _may_replay(self) -> bool:
        return may_replay(self.session.spec.seat)

    def action_next(self) -> None:
        """Go on after the end: to the replay, or for a participant back to their room."""
        app = lab_of(self)
        if self._may_replay and self.session.failure is None:
            app.open_replay(self.session.trace_id)
        else:
            app.open_home()

    def action_back(self) -> None:
        """Close what was opened last, else leave the phone for its keys, else go Home with the recording open."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif self._desk.go_back():
            return
        elif isinstance(self.focused, Mirror | Input) and not self.session.over:
            self._desk.focus_keys()
        else:
            raise SkipAction  # the app's own: to Home, with the recording open

    def action_copy_id(self) -> None:
        self.app.copy_to_clipboard(self.session.trace_id)
        self.notify("The recording's id is copied.", markup=False)

    # -- what stands above -----------------------------------------------------------------------------------

    def _update_banner(self) -> None:
        """Update the banner, and the footer if the available keys changed."""
        self._banner.set_class(self._paused and not self.session.over, "-paused")
        steps = self._steps.count
        self._banner.left = self._state_words()
        now = self._clock.seconds()
        elapsed = format_duration(self.session.spent / 1000 + now - self._began)
        self._banner.right = f"{steps} {'step' if steps == 1 else 'steps'}   {elapsed}"
        footer = (self._paused, self.session.over, self._desk.ready, steps > 0)
        if footer != self._footer_state:  # the footer is built anew each time
            self._footer_state = footer
            self.refresh_bindings()

    def _state_words(self) -> str:
        if self.session.failure is not None:
            return "■ stopped: nothing more can be kept"
        if self._ended is not None:
            return "■ this recording is over"
        end, on = (keys_of(self, binding)[0] for binding in ("run.end", "run.resume"))
        trouble = self.session.device.trouble
        if trouble is not None:
            return f"‖ {one_line(trouble.sentence)} (goes on by itself when it is well)"
        if self._paused:
            return f"‖ paused: {on} goes on, {end} again ends it unfinished"
        if self._desk.ready:
            return "● recording: your turn"
        return "● recording: the phone acts ..." if self._acting else "● recording: reading the screen ..."


class RecordingResult(Card, can_focus=True):
    """Replaces the desk after the end. A demonstration has no score."""

    HELP = """
    The recording is over; every step of it is in the file. **{run.next}** goes on from here, **{run.back}** goes to
    Home.
    """
    DEFAULT_CSS = """
    RecordingResult { height: auto; max-height: 60%; display: none; }
    """
    SHRINK_ROUNDS = ((("told-words", 3),), (("told-words", 1),))

    def __init__(self) -> None:
        super().__init__(id="told", classes="pane")
        self._outcome = Background(self, partial(self._show_text, "The recording is over"))

    def compose(self) -> ComposeResult:
        yield CardText(id="told-words")

    def show_end(self, store: Store, trace_id: str, *, replays: bool) -> None:
        """Show how the recording ended and what it holds. `replays` is True if this seat may replay it."""
        keyed = partial(with_keys, self)
        self._outcome.start(
            lambda: outcome_text(demonstration(store.runs.trace(trace_id)), trace_id, keyed, replays=replays)
        )

    def show_failure(self, error: LabError) -> None:
        """Show why nothing more could be stored."""
        self.add_class("-failed")
        text = Text(plain(error.sentence))
        text.append("\nWhat was shown before is in the file; `hitlab record --resume` goes on with it.")
        self._show_text("The recording was stopped", text)

    def _show_text(self, title: str, text: Text) -> None:
        if not self.is_attached:
            return
        write_title(self, title)
        self.query_one(CardText).show(text)
        self.display = True
        self.screen.set_focus(self)


def outcome_text(recording: Demonstration | None, trace_id: str, keyed: Callable[[str], str], *, replays: bool) -> Text:
    """Format a demonstration's outcome, contents and next step. `keyed` fills the keys into a sentence."""
    if recording is None:
        return Text("")
    text = Text(outcome_words(recording).capitalize(), style="bold")
    text.append("\n" + demonstration_words(recording), style="not bold")
    if replays:
        next_words = (
            f"{{run.next}} replays it; `hitlab runs review {trace_id[:13]}` proofreads it. {{run.back}} goes back."
        )
    else:
        next_words = "Thank you. {run.next} goes back."
    text.append("\n" + keyed(next_words), style="not bold dim")
    return text


_ROOMY = 56
"""Columns from which a line also names the action beside its instruction."""


class RecordedStepList(RowList[Step]):
    """One line per step. The newest is in sight."""

    HELP = """\
# Steps

What you have done so far, and the instruction that each step carries out. **{record.slip}** says that the step under
the cursor was a slip of the hand, or that it was none: a phone cannot undo it, but who reads the demonstration should
know. **!** failed.
"""
    empty = "No step yet."

    def __init__(self) -> None:
        super().__init__("steps")
        self.slips: set[int] = set()
        self.border_title = "Steps"

    def add(self, step: Step) -> None:
        """Append a step and move the cursor to it."""
        self.rows.append(step)
        self.changed()
        self.go(self.count - 1)

    def flag(self, index: int, on: bool) -> None:
        """Set or clear the slip flag of the step with this index (from 0)."""
        (self.slips.add if on else self.slips.discard)(index)
        self.refresh()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable Enter, because a step here cannot be opened."""
        return action != "choose"

    def paint(self, index: int, width: int) -> Content:
        step = self.rows[index]
        action = step.action or step.proposed.action
        description = action_words(action)
        slip = step.index in self.slips
        mark = "!" if step.error else "s" if slip else " "
        text = one_line(step.proposed.instruction) or description
        digits = len(str(self.rows[-1].index + 1))
        parts: list[tuple[str, str]] = [
            (f"{step.index + 1:>{digits}} ", MUTED),
            (f"{mark} ", LOUD_ERROR if step.error else LOUD_WARNING),
            (text, "strike" if slip else ""),
        ]
        if slip:
            parts.append(("  slip", WARNING))
        if width >= _ROOMY and description.casefold() != text.casefold():
            parts.append((f"  {description}", MUTED))
        return Content.assemble(*parts)
