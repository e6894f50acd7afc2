"""Replay: a stored run step by step, with the phone beside the thoughts, actions and dialogue."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from lab.core.run.screen_clock import Clock
from lab.core.run.trace import Ended
from lab.core.settings import Settings
from lab.core.text.plain_text import plain
from lab.runs.descriptions import one_line
from lab.runs.replay.recorded_run import PlaceView, RecordedRun
from lab.studies.seats import may_debug, sees_outcomes
from screens.choice_memory import recall, remember
from screens.key_names import with_keys
from screens.lab import lab_of
from screens.mirror.mirror import Mirror
from screens.replay import step_pane
from screens.replay.family import show_family
from screens.replay.forking import Forking, ForkPanel
from screens.replay.keys import KEYS
from screens.replay.phone_pane import StillPhone
from screens.replay.run_player import RunPlayer
from screens.replay.run_words import RunWords
from screens.replay.timeline import Timeline
from screens.sent.sent import SentScreen
from screens.sent.source import StoredAlbum
from screens.stylesheet import ROOM_STYLES
from screens.theme import LOUD_ERROR
from screens.widgets.border_words import write_title
from screens.widgets.card import GivingColumn
from screens.widgets.footer import Footer
from screens.widgets.room_screen import RoomScreen
from screens.widgets.search_field import SearchRow, mark_matches, nodes_holding
from screens.widgets.text_page import TextPage

if TYPE_CHECKING:
    from store.store import Store

Shown = Literal["sheet", "tree"]


class StepWords(GivingColumn):
    """The goal above the step's words, and the fork panel beneath, which is never cut."""

    SHRINK_ROUNDS = ((("fork", 0),), (("sheet", 0), ("fork", 0)))


class ReplayScreen(RoomScreen[None]):
    """One stored run. Steps count from 1, as in `hitlab replay ID@7`. Each is read when it is shown."""

    CSS_PATH = ROOM_STYLES
    BINDING_GROUP_TITLE = "Replay"
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.outcomes = sees_outcomes(settings.seat)
        self.overlay = settings.overlay
        self._requested: tuple[RecordedRun, int] | None = None
        self._view: Shown = "sheet"
        fork = ForkPanel(Clock())
        words = StepWords(TextPage(id="goal", classes="pane"), TextPage(id="sheet", classes="pane"), fork, id="words")
        still = StillPhone("phone", overlay=self.overlay, pictures=True)
        self.footage = RunPlayer(Timeline(id="steps"), still, words, id="reel")
        self.forking = Forking(self, self.footage, fork)
        self.words = RunWords(self, self.footage.timeline, store, self._show_found)

    # -- layout ----------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield Static("Replay", id="replay-title", markup=False)
        yield self.footage
        yield SearchRow("a word in thoughts, actions, dialogue or on the screen", id="search")
        yield Static("", id="replay-state", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one("#goal").border_title = "Goal"
        self.footage.timeline.border_title = "Steps"
        self.footage.timeline.focus()
        if self._requested is not None:
            self._open(*self._requested)
        else:
            self._show_sheet(
                Content(with_keys(self, "No run is open. {list.open} on a run in Home ({app.home}) opens it."))
            )

    def on_resize(self) -> None:
        self.call_after_refresh(self.footage.stage.fit_width)

    # -- opening ---------------------------------------------------------------------------------------------

    def open(self, trace_id: str, step: int = 1) -> None:
        """Show a run at a step, counted from 1. A step past the end shows the end."""
        self._requested = RecordedRun(self.store.runs, trace_id), max(1, step) - 1
        if self.is_mounted:
            self._leave_search()
            self.forking.close()
            self._open(*self._requested)

    def _open(self, reel: RecordedRun, number: int) -> None:
        self.words.open(reel.id)
        self.footage.open(reel, number)
        self.footage.after = recall(self).after

    @on(RunPlayer.Opened)
    def _show_head(self) -> None:
        if self.footage.head is None:
            return  # another run is opened meanwhile
        started = self.footage.head.started
        agent = f"   {started.agent.display_name}" if self.outcomes else ""
        self._show_title(
            f"{started.task.title or started.task.id}{agent}   {started.trace}", step_pane.goal_of(started)
        )
        self.footage.stage.display = True

    def _show_title(self, run: str, goal: str) -> None:
        self.query_one("#replay-title", Static).update(one_line(f"Replay   {run}", 400))
        page = self.query_one("#goal", TextPage)
        page.show(Content(goal))
        page.refresh(layout=True)  # it is as high as its words

    @on(RunPlayer.Listed)
    def _follow_listed(self) -> None:
        if self.query_one(SearchRow).is_open:
            self.words.look_up()
        head = self.footage.head
        if self.footage.whole and not self.footage.timeline.count and head is not None:
            self._show_sheet(step_pane.open_sheet(head.started, head.verdicts, outcomes=self.outcomes))
        self._update_titles()

    @on(RunPlayer.Found)
    def _check_found(self, message: RunPlayer.Found) -> None:
        """Warn if the requested step does not exist."""
        timeline, place = self.footage.timeline, message.asked
        if place > timeline.count or (place == timeline.count and timeline.rows[-1].kind != "end"):
            self.notify(f"There is no step {place + 1}; this is the last.", severity="warning", markup=False)

    @on(RunPlayer.Refused)
    def _show_error(self, message: RunPlayer.Refused) -> None:
        if self.footage.head is None:
            self.footage.stage.display = False
            self._show_title("", "")
        self.footage.timeline.empty = "Nothing to replay."
        self.footage.timeline.refresh()
        self._show_sheet(
            Content.assemble(
                (plain(message.error.sentence), LOUD_ERROR), with_keys(self, "\n\n{app.home} goes to Home.")
            )
        )

    # -- looking at a step -----------------------------------------------------------------------------------

    @on(RunPlayer.Moved)
    def _leave_step(self) -> None:
        self.forking.leave_step()

    @on(RunPlayer.Looked)
    def _show_view(self) -> None:
        if self.footage.view is not None:
            self._mark_found()
            self._show_words(self.footage.view)
            self._update_titles()

    @on(StillPhone.WordsRead)
    def _show_read_words(self) -> None:
        if self.query_one(SearchRow).is_open:
            self.words.look_up()
            self._mark_found()
        if self._view == "tree" and self.footage.view is not None:
            self._show_words(self.footage.view)

    def _show_words(self, view: PlaceView) -> None:
        event, head = view.event, self.footage.head
        phone = self.footage.timeline.rows[view.number].phone
        if self._view == "tree":
            assert self.footage.screen_shown is not None
            self._show_sheet(step_pane.tree_sheet(self.footage.screen_shown, self.footage.stage.words))
        elif isinstance(event, Ended):
            assert head is not None
            self._show_sheet(step_pane.end_sheet(event, *head, outcomes=self.outcomes, phone=phone))
        else:
            recording = head.demonstration if head is not None else None
            slip = recording is not None and event.index in recording.slips
            self._show_sheet(step_pane.step_sheet(event, slip=slip, phone=phone, errors=self.outcomes))

    def _show_sheet(self, content: Content) -> None:
        needle = self.footage.timeline.needle
        self.query_one("#sheet", TextPage).show(mark_matches(content, needle), at=needle)

    def _mark_found(self) -> None:
        """Frame the nodes on the phone that match the search."""
        observation = self.footage.readable_screen
        if observation is not None:
            self.footage.stage.draw_matches(nodes_holding(observation.tree, self.footage.timeline.needle))

    def _update_titles(self) -> None:
        """Update the titles and the line above the footer: position, content and pace."""
        timeline, view, steps = self.footage.timeline, self.footage.view, self.footage.steps
        more = "" if self.footage.whole else "+"
        write_title(timeline, f"Steps  {min(timeline.cursor + 1, steps)}/{steps}{more}")
        state = self.footage.playback.words
        if view is not None:
            ended = isinstance(view.event, Ended)
            place = "the end" if ended else f"step {view.number + 1}"
            words = {"sheet": place.capitalize(), "tree": f"UI tree at {place}"}
            write_title(self.query_one("#sheet"), words[self._view])
            state += f"   {view.lost}" if view.lost else ""
        if self.words.is_reading or self.query_one(SearchRow).is_open:
            state = self.words.state or state
        self.query_one("#replay-state", Static).update(state, layout=False)

    # -- verbs -----------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Reserve the model's request for seats that see outcomes, and forks for developers."""
        match action:
            case "pan" | "further":
                return self.footage.stage.mirror.enlarged
            case "close_up":
                return self.footage.stage.picture is not None
            case "sent":
                return self.outcomes
            case "after":
                return not self.forking.is_open
            case "read_words":
                return lab_of(self).reads_words
            case "fork" | "family":
                return may_debug(lab_of(self).settings.seat)
        return True

    def action_step(self, by: int) -> None:
        """Go one step forward or back."""
        self.footage.move(by)

    def action_edge(self, which: int) -> None:
        """Go to the first step or the end."""
        self.footage.timeline.action_edge(which)

    def action_question(self, by: int) -> None:
        """Go to the next or the previous step with a question."""
        if not self.footage.question(by):
            self.notify("No further question." if by > 0 else "No question before this.", markup=False)

    def action_after(self) -> None:
        """Toggle the screens before and after the step."""
        self.footage.toggle_after()
        remember(self, after=self.footage.after)

    def action_sent(self) -> None:
        """Open the page of the model's request and reply. On return go to the step shown there last."""
        head, reel, timeline = self.footage.head, self.footage.reel, self.footage.timeline
        if head is None or reel is None:
            return
        page = SentScreen(
            StoredAlbum(reel), timeline.cursor, agent=head.started.agent.display_name, overlay=self.overlay
        )
        self.app.push_screen(page, lambda place: timeline.go(timeline.cursor if place is None else place))

    def action_read(self, what: Shown) -> None:
        """Toggle the words beside the phone between the UI tree and the step."""
        self._view = "sheet" if self._view == what else what
        if self.footage.view is not None:
            self._show_words(self.footage.view)
        self._update_titles()

    def action_close_up(self) -> None:
        """Toggle the picture itself, drawn by the terminal's graphics, and characters."""
        self.footage.stage.turn_words()

    def action_overlay(self) -> None:
        """Toggle the screen's words as characters over the phone."""
        self.footage.stage.turn_words()

    def action_closer(self) -> None:
        """Enlarge the phone, and show a part of it."""
        self.footage.stage.zoom_in()
        self.refresh_bindings()

    def action_further(self) -> None:
        """Reduce the enlarged phone."""
        self.footage.stage.mirror.further()
        self.refresh_bindings()

    def action_pan(self, across: int, down: int) -> None:
        """Show another part of the enlarged phone."""
        self.footage.stage.mirror.action_pan(across, down)

    def action_copy(self) -> None:
        """Copy ID@STEP, the form that `hitlab replay` accepts."""
        if self.footage.run is not None:
            link = f"{self.footage.run}@{self.footage.timeline.cursor + 1}"
            self.app.copy_to_clipboard(link)
            self.notify(f"Copied {link}", markup=False)

    def action_back(self) -> None:
        """Close what was opened last. With nothing open, go Home."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif self.query_one(SearchRow).is_open:
            self._leave_search()
        elif self.forking.go_back():
            return
        elif self.footage.stage.mirror.enlarged:
            self.footage.stage.mirror.show_whole()
        elif self.footage.playback.playing:
            self.action_play()
        elif self._view != "sheet":
            self.action_read(self._view)
        else:
            raise SkipAction  # the app's own: to Home

    # -- playing and searching -------------------------------------------------------------------------------

    def action_play(self) -> None:
        """Play from here, or pause."""
        self.footage.play()
        self._update_titles()

    def action_pace(self) -> None:
        """Toggle the recorded pace (at most three seconds a step) and one step a second."""
        self.footage.playback.recorded = not self.footage.playback.recorded
        self._update_titles()

    def on_screen_suspend(self) -> None:
        """Stop playing while another screen is shown."""
        self.footage.playback.pause()

    def on_unmount(self) -> None:
        self.words.close()

    def action_search(self) -> None:
        """Open the search."""
        self.query_one(SearchRow).open()
        self.words.look_up()
        self._update_titles()

    def _leave_search(self) -> None:
        """Close the search if it is open."""
        row = self.query_one(SearchRow)
        if row.is_open:
            row.close()
            self.footage.timeline.focus()

    @on(SearchRow.SearchRequested)
    def _search(self, message: SearchRow.SearchRequested) -> None:
        timeline, row = self.footage.timeline, self.query_one(SearchRow)
        timeline.set_needle(message.needle)
        if self.footage.view is not None:
            self._mark_found()
            self._show_words(self.footage.view)
        self._update_titles()
        if not message.needle:
            return
        step = timeline.next_holding(message.needle, here=not message.on)
        if step is None:
            row.say(" no step holds it")
        else:
            self._say_found(message.needle)
            timeline.go(step)

    def _say_found(self, needle: str) -> None:
        """Show how many steps match, and how many of them only by words read from the picture."""
        timeline = self.footage.timeline
        read_count = timeline.count_read_matches(needle)
        of_them = f", {read_count} as read" if read_count else ""
        words = f" {timeline.match_words(needle)}{of_them}; Enter: next, {{replay.back}}: close"
        self.query_one(SearchRow).say(with_keys(self, words))

    def _show_found(self) -> None:
        needle = self.footage.timeline.needle
        if needle and self.footage.timeline.match_words(needle):
            self._say_found(needle)
        self._update_titles()

    def action_read_words(self) -> None:
        """Read the words of all pictures of this run without a UI tree, or stop reading."""
        if not self.words.read():
            self.notify("There is no picture here whose words are still to be read.", markup=False)
        self._update_titles()

    # -- debugging -------------------------------------------------------------------------------------------

    async def action_fork(self) -> None:
        """Open the fork panel for the current step."""
        await self.forking.open()

    def action_family(self) -> None:
        """Show the tree of runs that were forked from one another."""
        if self.footage.run is not None:
            show_family(self, self.footage.run)

    @on(Mirror.Tapped)
    def _aim_fork(self, message: Mirror.Tapped) -> None:
        self.forking.aim(message.at)

    @on(ForkPanel.TargetChanged)
    def _mark_fork(self, message: ForkPanel.TargetChanged) -> None:
        message.stop()
        self.forking.mark(message.action)

    @on(ForkPanel.ForkRequested)
    def _fork(self, message: ForkPanel.ForkRequested) -> None:
        message.stop()
        self.forking.go_on(message.index, message.change)
