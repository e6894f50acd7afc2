"""The Live screen: a run in progress, with phone, dialogue, open question and the seat's pane."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import events, on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.widgets import Input, TextArea

from lab.core.errors import LabError
from lab.core.run.screen_clock import Clock, format_duration
from lab.core.run.step import Action, Observation, Proposed, Question
from lab.core.run.trace import Acting, Asked, Ended, Paused, Resumed, Started, Step
from lab.core.seams import Trouble
from lab.core.text.plain_text import plain
from lab.runs.breakpoints import REASON
from lab.runs.descriptions import action_words
from lab.runs.session import Session
from lab.studies.seats import may_debug, may_replay, sees_outcomes
from screens.dialogs import AskScreen
from screens.key_names import focus_now, keys_of, with_keys
from screens.lab import lab_of, windows_of
from screens.live.banner import Banner
from screens.live.debug_panes import RewindPanel
from screens.live.developer import DeveloperPane
from screens.live.dialogue import Dialogue, DialogueColumn
from screens.live.keys import KEYS
from screens.live.phone import LivePhone
from screens.live.reply import OpenQuestion
from screens.live.result import ReadFirstCard, Result
from screens.live.seat_pane import SeatPane
from screens.live.session_messages import (
    DraftLoaded,
    EventCommitted,
    GatedActionChanged,
    OperationFailed,
    QuestionChanged,
    SessionListener,
    TurnChanged,
)
from screens.live.words import translated
from screens.mirror.live_words import LiveWords
from screens.mirror.mirror import Mirror
from screens.mirror.touch import Touch, touch_action
from screens.sent.sent import SentScreen
from screens.sent.source import LiveAlbum
from screens.slip import KeyGuard
from screens.stylesheet import ROOM_STYLES
from screens.widgets.footer import Footer
from screens.widgets.room_screen import RoomScreen

_TICK = 0.5
"""Seconds between two updates of the clock."""
_PATIENCE = 2.0
"""Maximum seconds to wait for the last writes on leaving."""


class LiveScreen(RoomScreen[None]):
    """Screen of one session, which it starts after its first paint.

    A seat's widgets never hold what it may not know.
    """

    CSS_PATH = ROOM_STYLES
    AUTO_FOCUS = "#transcript"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall")]

    HELP = """
    A run while it happens. The agent's question appears beside the phone: type the answer, **{reply.enter}** sends it.
    **{run.pause}** pauses the phone; **{run.end}** again ends the run, **{run.resume}** goes on. **{run.back}** goes
    one step back and loses nothing. **tab** walks through the panes, **{app.zoom}** shows one alone.
    """
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self, session: Session, *, clock: Clock | None = None, reads: bool = False) -> None:
        """Create the screen. With `reads` the person reads their part first, and begins the run themselves."""
        super().__init__()
        self.session = session
        self.sees_outcomes = sees_outcomes(session.spec.seat)
        """True if this seat may see outcomes."""
        # A gate shows proposed actions, which this seat may not see.
        if session.spec.gate == "ask" and not self.sees_outcomes:
            raise LabError("live", f"a {session.spec.seat} lets no actions through", "Leave out --gate.", code=2)
        self._clock = clock or Clock()
        self._slip = KeyGuard(self._clock)
        self._reading = reads
        self._banner = Banner()
        self._phone = LivePhone(seen=session.spec.mirror)
        self._seat = SeatPane(session.spec, session.agent_actor, knows=self.sees_outcomes)
        self._dialogue = Dialogue(self._clock, knows=self.sees_outcomes)
        self._question = OpenQuestion(session.person, self._clock)
        self._bench = DeveloperPane(session, self._clock) if self.sees_outcomes else None
        self._before, self._result = ReadFirstCard(), Result()
        self._watch = SessionListener(session, self)
        self._began = self._asked_since = self._clock.seconds()
        self._paused = False
        self._trouble: Trouble | None = None
        """Trouble of a disconnected phone. The device reports it before the run's `Paused` event arrives."""
        self._footer_state: tuple[bool, ...] = ()
        self._step_words: list[str] = []
        """Descriptions of the steps so far, for rewinding."""
        self._steps = 0
        self._acting: Action | None = None
        self._ended: Ended | None = None
        self._album = LiveAlbum(session.picture)
        self._kept_draft: tuple[Question, str] | None = None
        self._seen = Observation()
        """Observation of the newest step."""

    # -- beginning and leaving -------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        self._seat.locale = locale = lab_of(self).run_locale
        spec = self.session.spec
        if spec.persona is not None and spec.user == "human" and not self._reading:  # who read it first knows it
            self._question.played = spec.persona.name
            self._dialogue.show_part(translated(locale, "part"), spec.persona.name)
        waiting = self._question, self._bench, self._before, self._result
        yield self._banner
        with Horizontal(id="panes"):
            if self._phone.mirror is not None:
                yield self._phone.mirror
            with Container(id="beside"):
                yield self._seat
                yield DialogueColumn(self._dialogue, *(part for part in waiting if part is not None))
        yield Footer()

    def on_mount(self) -> None:
        self.set_class(self._phone.mirror is None, "-blind")
        self._phone.touchable(False, typing=False)
        self._unfold_seat()
        self._update_status()
        # After the first paint: the person sees the screen before the run starts.
        self.call_after_refresh(self._start_reading if self._reading else self._begin)

    def _unfold_seat(self) -> None:
        """Unfold as much of the seat's pane as fits in this terminal. Afterwards the person decides."""
        width, height = self.app.size
        seat = self._seat
        if width >= 160:
            seat.unfold("task", "policy", "persona", "facts")
        elif height >= 32:
            seat.unfold("task", "policy", *(() if self.sees_outcomes else ("persona",)))

    def _start_reading(self) -> None:
        """Unfold all of the person's part, and wait until they begin."""
        self.add_class("-reading")
        self._seat.unfold("task", "policy", "persona", "facts")
        self._began = self._clock.seconds()
        self._before.open(lab_of(self).run_locale)
        self._update_status()

    def _begin(self) -> None:
        if self._reading:
            self._reading = False
            self.remove_class("-reading")
            self.session.read_ms = round((self._clock.seconds() - self._began) * 1000)
            self._before.close()
            self._dialogue.focus_transcript()
        self._began = self._clock.seconds()
        if self._bench is not None and self.session.left_in_takeover:
            # The agent must not act before the person gives the phone back.
            self.session.begins_paused = "left in take-over"
        self._phone.mirror_to_page(windows_of(self))
        if lab_of(self).reads_words:
            self._phone.read_words(lambda: self.session.words.reader)
        self._watch.begin(self._phone.show if self._phone.mirror is not None else None)
        self.set_interval(_TICK, self._update_status)

    def on_resize(self, event: events.Resize) -> None:
        self._phone.fit(event.size)

    def on_screen_resume(self) -> None:
        """Mark what appeared behind another screen as visible now."""
        self.call_after_refresh(self._question.mark_visible)
        if self._bench is not None:
            self.call_after_refresh(self._bench.record_visible)

    def on_descendant_focus(self) -> None:
        """Update the banner, which says how to reach what waits from the present focus."""
        self._banner.left = self._state_words()

    def on_unmount(self) -> None:
        unsent = self._question.unsent
        if unsent is not None and unsent != self._kept_draft:  # `DraftChanged` may not arrive any more
            self._watch.do(partial(self.session.save_draft, *unsent))
        self._phone.close()
        self._watch.close(_PATIENCE)

    # -- what happens ----------------------------------------------------------------------------------------

    @on(EventCommitted)
    def _happened(self, message: EventCommitted) -> None:
        event = message.event
        self._dialogue.show(event)
        match event:
            case Paused() | Resumed():
                self._paused = isinstance(event, Paused)
                if self._bench is not None:
                    self._bench.update_turn()
            case Asked():
                self._record_sent(event.index, event.proposed, event.before)
            case Acting():
                self._acting = event.action
                self._phone.mark(event.action)
            case Step():
                self._acting, self._steps, self._seen = None, event.index + 1, event.before
                self._step_words.append(action_words(event.action or event.proposed.action, event.before.tree))
                self._record_sent(event.index, event.proposed, event.before)
            case Ended():
                self._show_end(event)
            case Started():
                self._paused = False
                self._album.first = event.forked.index if event.forked else 0
        self._update_status()

    def _show_end(self, event: Ended) -> None:
        self._ended = event
        self._close_panels(self._question, self._bench)
        observation = self._seen
        self._phone.stop(observation, self.session.picture(observation.image) if observation.image else None)
        after = lab_of(self).after_run
        self._result.show_end(
            event, self.session.spec.task, knows=self.sees_outcomes, spent=self._album.total_usage, after=after
        )

    def _close_panels(self, *panels: OpenQuestion | DeveloperPane | None) -> None:
        """Close panels. Move the focus away if it is inside one."""
        for panel in panels:
            if panel is None:
                continue
            if panel.has_focus_within:
                self._dialogue.focus_transcript()
            panel.close()

    def _record_sent(self, index: int, proposed: Proposed, observation: Observation | None = None) -> None:
        if self.sees_outcomes and proposed.by is None:
            self._seat.sent(index, proposed)
            self._album.add(index, proposed, observation)

    @on(OperationFailed)
    def _report_refusal(self, message: OperationFailed) -> None:
        if message.last:
            self._close_panels(self._question, self._bench)
            self._phone.stop()
            self._result.failed(message.error, has_home=self._has_home)
        else:
            error = message.error
            self.notify(plain(error.body), title=plain(error.title), severity="error", markup=False)
        self._update_status()

    @on(LiveWords.EngineMissing)
    def _report_missing_engine(self) -> None:
        lab_of(self).report_missing_ocr()

    # -- the question ----------------------------------------------------------------------------------------

    @on(QuestionChanged)
    def _show_question(self, message: QuestionChanged) -> None:
        question, panel = message.question, self._question
        self._dialogue.question_open(question is not None)
        self._banner.set_class(question is not None, "-asked")
        if question is None:
            self._close_panels(panel)
        else:
            self._asked_since = self._clock.seconds()
            panel.open(question, "")
            self._ring()
        self._update_status()

    def _ring(self) -> None:
        settings = lab_of(self).settings
        if settings.bell:
            self.app.bell()
        if self.app.screen is not self:
            there = with_keys(self, "{sent.back:escape}" if isinstance(self.app.screen, SentScreen) else "{app.live}")
            self.notify(f"A question waits in the live run: {there} goes there.", markup=False)

    @on(DraftLoaded)
    def _restore_draft(self, message: DraftLoaded) -> None:
        self._question.restore(message.question, message.draft, message.begun)

    @on(OpenQuestion.DraftChanged)
    def _save_draft(self, message: OpenQuestion.DraftChanged) -> None:
        self._kept_draft = message.question, message.text
        self._watch.do(partial(self.session.save_draft, *self._kept_draft))

    @on(OpenQuestion.Sent)
    def _send_reply(self, message: OpenQuestion.Sent) -> None:
        if not self.session.questions.answer(message.question, message.reply):
            self.notify("The question was taken back before; nothing was sent.", severity="warning", markup=False)

    # -- a developer's hands ---------------------------------------------------------------------------------

    @on(GatedActionChanged)
    def _show_gated_action(self, message: GatedActionChanged) -> None:
        if self._bench is not None:
            was_deciding = message.proposed is None and self._bench.deciding
            self._bench.show_gated(message.proposed, self._watch.proposed_on)
            if was_deciding:
                self._dialogue.focus_transcript()
        if message.proposed is not None:
            self._record_sent(self._steps, message.proposed)
        self._phone.mark(message.proposed.action if message.proposed else None)
        self._update_status()

    @on(TurnChanged)
    def _update_turn(self) -> None:
        if self._bench is not None:
            self._bench.update_turn()
        self._update_status()

    def action_take(self) -> None:
        if self._bench is not None:
            self._bench.toggle_takeover()
        self._update_status()

    def action_gate(self) -> None:
        if self._bench is not None:
            self._bench.toggle_gate()

    def action_nodes(self) -> None:
        if self._bench is not None:
            self._bench.list_nodes(self._watch.tree)

    def action_breaks(self) -> None:
        if self._bench is not None:
            self._bench.open_breaks()

    def action_rewind(self) -> None:
        if self._bench is not None:
            self._bench.open_rewind(self._step_words)

    @on(RewindPanel.Requested)
    def _rewind_run(self, message: RewindPanel.Requested) -> None:
        message.stop()
        self._watch.do(partial(self._rewind, message.index))

    def _rewind(self, index: int) -> None:
        """Continue from before a step (from 0), as a new run. Runs on the thread of background writes."""
        from lab.runs.fork.fork import rewind_run

        session = rewind_run(self.session, index)
        session.begins_paused = "rewound"
        self.call_later(self._enter_rewound_run, session)

    def _enter_rewound_run(self, session: Session) -> None:
        lab_of(self).enter_live(session)

    def action_step(self) -> None:
        self._watch.do(self.session.one_turn)

    def action_sent(self) -> None:
        """Show exactly what the agent was sent and answered, the newest step first."""
        if not self._album.count():
            self.notify("Nothing was sent to the agent yet.", markup=False)
            return
        agent = self.session.agent_actor.display_name
        page = SentScreen(self._album, self._album.count() - 1, agent=agent, otherwise=self._seat.brief_words())
        self.app.push_screen(page)

    # -- touching the phone -------------------------------------------------------------------------------------

    @on(DeveloperPane.TouchChanged)
    def _set_touchable(self, message: DeveloperPane.TouchChanged) -> None:
        self._phone.touchable(message.on, typing=message.typing)

    @on(DeveloperPane.FocusReleased)
    def _leave_bench(self) -> None:
        self._dialogue.focus_transcript()

    @on(DeveloperPane.TargetChanged)
    def _mark_aimed(self, message: DeveloperPane.TargetChanged) -> None:
        self._phone.mark(message.action)

    @on(Mirror.Tapped)
    @on(Mirror.Dragged)
    @on(Mirror.Wheeled)
    def _forward_touch(self, message: Touch) -> None:
        if self._bench is not None:
            self._bench.touched(touch_action(message), self._watch.tree)

    @on(Mirror.Typed)
    def _forward_text(self, message: Mirror.Typed) -> None:
        """Send letters typed over the mirror to the line that is typed into the phone."""
        if self._bench is not None:
            self._bench.type(message.text)

    @on(Mirror.Key)
    def _forward_key(self, message: Mirror.Key) -> None:
        if self._bench is not None:
            self._bench.key(message.name)

    # -- keys that everyone has ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        over = self.session.over
        if self._reading and action in ("pause", "end", "go_on", "step", "gate", "take"):
            return False
        match action:
            case "pause":
                return not (self._paused or self._trouble or over)
            case "end":
                return (self._paused or self._trouble is not None) and not over
            case "go_on":
                return self._paused and not over
            case "step" | "gate" | "take":
                return self.sees_outcomes and not over
            case "sent":
                return self.sees_outcomes
            case "nodes":
                return self._bench is not None and self._bench.accepts_taps and not over
            case "next":
                return (
                    self._reading
                    or over
                    or (self._question.question is not None and not self._question.has_focus_within)
                )
            case "breaks":
                return may_debug(self.session.spec.seat) and not over
            case "rewind":
                return may_debug(self.session.spec.seat) and not over and bool(self._step_words)
        return True

    def action_pause(self) -> None:
        self._slip.begin()
        self.session.control.pause()
        self._watch.do(self.session.pause)

    def action_go_on(self) -> None:
        self._watch.do(self.session.resume_run)

    def action_end(self) -> None:
        """End the run.

        The key that paused it does not end it while held down. A seat without Home is asked first, since it cannot open
        the run again.
        """
        # The same key pauses and then ends.
        if self._slip.active:
            return
        if self._has_home:
            self._watch.do(self.session.stop)
            return
        title, says, verb = (translated(lab_of(self).run_locale, key) for key in ("end it?", "ends", "end it"))
        self.app.push_screen(AskScreen(title, says, verb), self._stop_if_sure)

    def _stop_if_sure(self, sure: bool | None) -> None:
        if sure and not self.session.over:
            self._watch.do(self.session.stop)

    def action_next(self) -> None:
        """Begin the run, go to the open question, or after the end to the replay (for a participant: back)."""
        app = lab_of(self)
        if self._reading:
            self._begin()
        elif not self.session.over:
            self._question.focus_answer()
        elif self.sees_outcomes and self.session.failure is None:
            app.open_replay(self.session.trace_id)
        else:
            self.app.switch_mode(app.back_targets.get("live", "home"))

    def action_back(self) -> None:
        """Go back one step: from a field to its parent, then out of every field, then to Home while the run continues.

        If something waits for the person, go there instead. A seat without Home never leaves a run this way.
        """
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif (self._bench is not None and self._bench.go_back()) or self._question.go_back():
            return
        elif isinstance(self.focused, TextArea | Input):
            self._question.keep_draft()
            self._dialogue.focus_transcript()
        elif not self._focus_waiting() and (self.session.over or self._has_home):
            raise SkipAction  # the app's own key: Home, and the run continues

    def _focus_waiting(self) -> bool:
        """Focus what waits for the person. Return False if nothing does."""
        if self._reading:
            focus_now(self._before)
            return True
        away = with_keys(self, " {app.home} leaves it waiting and shows Home.") if self._has_home else ""
        if self._question.question is not None:
            self._question.return_to(away)
            return True
        if self._bench is not None and self.session.decisions.waiting is not None:
            self._bench.return_to(f"The agent waits for your decision.{away}")
            return True
        if self._bench is not None and self.session.turns.waiting is not None and not self._bench.has_focus_within:
            self._bench.focus_keys()
            return True
        return False

    @property
    def _has_home(self) -> bool:
        return may_replay(self.session.spec.seat)

    @property
    def _way_hint(self) -> str:
        """Hint at the key that leads to what waits."""
        return f": {keys_of(self, 'run.back')[0]} goes there"

    def action_copy_id(self) -> None:
        self.app.copy_to_clipboard(self.session.trace_id)
        self.notify("The run's id is copied.", markup=False)

    # -- what stands above and beside ------------------------------------------------------------------------

    def _update_status(self) -> None:
        """Update banner, line under the dialogue, and age of the picture."""
        self._trouble = None if self.session.over else self.session.device.trouble
        self._banner.set_class(self._paused and not self.session.over, "-paused")
        banner, now = self._banner, self._clock.seconds()
        banner.left = self._state_words()
        banner.right = self._times_words(now)
        self._dialogue.show_activity(self._doing_words())
        self._phone.show_state(
            via=self.session.device.via, trouble=self._trouble.state if self._trouble is not None else ""
        )
        taps = self._bench is not None and self._bench.accepts_taps
        footer = (taps, self._paused, self._trouble is not None, self.session.over, self._question.question is None)
        if footer != self._footer_state:  # each refresh builds the footer again
            self._footer_state = footer
            self.refresh_bindings()

    def _times_words(self, now: float) -> str:
        steps = f"{self._steps} of {self.session.spec.task.budget} steps   " if self.sees_outcomes else ""
        question_time = ""
        if self._question.question is not None:
            question_time = f"question {format_duration(now - self._asked_since)}   "
        return f"{steps}{question_time}run {format_duration(self.session.spent / 1000 + now - self._began)}"

    def _state_words(self) -> str:
        if self.session.failure is not None:
            return "■ stopped: nothing more can be kept"
        if self._ended is not None:
            return "■ this run is over"
        if self._reading:
            return f"○ not begun yet{'' if self._before.has_focus else self._way_hint}"
        trouble = self._trouble
        if trouble is not None:
            return f"‖ {plain(f'{trouble.title}: {trouble.message}', lines=False)}"
        stop = self.session.stopped_at
        if self._paused and stop is not None:
            turn, on = (keys_of(self, binding)[0] for binding in ("run.step", "run.resume"))
            return f"‖ {REASON}{plain(stop.words, lines=False)}: {turn} lets one turn pass, {on} goes on"
        if self._paused:
            end, on = (keys_of(self, binding)[0] for binding in ("run.end", "run.resume"))
            return f"‖ paused: {end} {'again ' if end in keys_of(self, 'run.pause') else ''}ends the run, {on} goes on"
        if self._question.question is not None:
            return f"? the agent waits for your answer{'' if self._question.has_focus_within else self._way_hint}"
        if self.session.decisions.waiting is not None:
            there = "" if self._bench is not None and self._bench.has_focus_within else self._way_hint
            return f"? the agent waits for your decision{there}"
        return "● you act" if self.session.control.taken_over else "● the agent works"

    def _doing_words(self) -> str:
        """Return a line about what happens now. A seat that may not know always gets the same one."""
        if self._trouble is not None:
            first = f"{plain(self._trouble.hint, lines=False)} It" if self._trouble.state else ""
            well = "goes on by itself" if first else "goes on by itself when the phone is well"
            return f"{first} {well}; {keys_of(self, 'run.end')[0]} ends the run".strip()
        if self.session.over or self._paused or self._reading:
            return ""
        if self._question.question is not None or self.session.decisions.waiting is not None:
            return ""
        if not self.sees_outcomes:
            return "working ..."
        if self.session.turns.waiting is not None:
            return "waiting for your hands"
        return f"doing: {action_words(self._acting, self._watch.proposed_on)}" if self._acting else "thinking ..."
