"""Replay: a stored run step by step, the phone beside what was thought, done and said."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from lab.plain import plain
from lab.settings import Settings
from lab.trace import Ended
from screens.clock import Clock
from screens.describe import one_line
from screens.footer import Footer
from screens.lines import Lines
from screens.page import Page
from screens.replay import sheet
from screens.replay.debugging import DebugReplay
from screens.replay.forking import ForkPanel
from screens.replay.keys import KEYS
from screens.replay.player import Player
from screens.replay.projector import Projector
from screens.replay.reel import Head, Reel, View
from screens.replay.still import PHONE, Still
from screens.replay.timeline import Timeline
from screens.search import SearchRow
from screens.seats import sees_outcomes
from screens.sent.album import StoredAlbum
from screens.sent.sent import SentScreen

if TYPE_CHECKING:
    from store.store import Store

Shown = Literal["sheet", "tree"]


class ReplayScreen(DebugReplay):
    """One stored run. Steps count from 1, as in `hitlab replay ID@7`; each is read when it is looked at."""

    BINDING_GROUP_TITLE = "Replay"
    BINDINGS: ClassVar[list[BindingType]] = KEYS

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.outcomes = sees_outcomes(settings.seat)
        self.overlay = settings.overlay
        self.graphics = settings.graphics
        self._wanted: Reel | None = None
        self._head: Head | None = None
        self._view: View | None = None
        self._seek: int | None = None
        self._whole = False
        self._after = False
        self._shown: Shown = "sheet"
        self._player = Player(self, self._play_on)
        self._projector = Projector(self)

    # -- layout ----------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield Static("Replay", id="replay-title", markup=False)
        with Horizontal(id="reel"):
            yield Timeline(id="steps")
            yield Still(id="phone", overlay=self.overlay, graphics=self.graphics)
            with Vertical(id="words"):
                with VerticalScroll(id="goal", classes="pane"):
                    yield Static("", id="goal-text", markup=False)
                yield Page(id="sheet", classes="pane")
                yield ForkPanel(Clock())
        yield SearchRow("a word in thoughts, actions, dialogue or on the screen", id="search")
        yield Static("", id="replay-state", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        self.query_one("#goal").border_title = "Goal"
        self.query_one("#steps").border_title = "Steps"
        self.query_one(Timeline).focus()
        if self._wanted is not None:
            self._begin(self._wanted)
        else:
            self._say(Content("No run is open. Enter on a run in Home (F2) opens it."))

    def on_resize(self) -> None:
        self.call_after_refresh(self.query_one(Still).take_room)

    # -- opening ---------------------------------------------------------------------------------------------

    def open(self, trace_id: str, step: int = 1) -> None:
        """Shows a run at a step, counted from 1; a step past the end shows the end."""
        self._player.stop()
        if self.is_mounted:
            self._close_fork()
        self._head = self._view = None
        self._seek, self._whole, self._after = max(1, step), False, False
        self._wanted = Reel(self.store, trace_id)
        if self.is_mounted:
            self._begin(self._wanted)

    def _begin(self, reel: Reel) -> None:
        timeline = self.query_one(Timeline)
        timeline.rows, timeline.empty = reel.lines, "Reading the steps ..."
        timeline.set_reactive(Lines.cursor, 0)
        timeline.changed()
        self._projector.open(reel)

    @on(Projector.Opened)
    def _opened(self, message: Projector.Opened) -> None:
        if message.reel is not self._projector.reel:
            return
        started = message.head.started
        self._head = message.head
        agent = f"   {started.agent.shown}" if self.outcomes else ""
        self._title(f"{started.task.title or started.task.id}{agent}   {started.trace}", sheet.goal_of(started))
        still = self.query_one(Still)
        still.display, still.phone = True, started.device.size or PHONE

    def _title(self, run: str, goal: str) -> None:
        self.query_one("#replay-title", Static).update(one_line(f"Replay   {run}", 400))
        self.query_one("#goal-text", Static).update(Content(goal))

    @on(Projector.Listed)
    def _listed(self, message: Projector.Listed) -> None:
        if message.reel is not self._projector.reel:
            return
        timeline = self.query_one(Timeline)
        self._whole = message.whole
        timeline.rows.extend(message.lines)
        timeline.empty = "This run has no steps."
        timeline.changed()
        if self._seek is not None and (self._seek <= timeline.count or (message.whole and timeline.count)):
            self._found(self._seek - 1)
        elif message.whole and not timeline.count and self._head is not None:
            self._say(sheet.open_sheet(self._head.started, self._head.verdicts, outcomes=self.outcomes))
        self._tell()

    def _found(self, place: int) -> None:
        """The step that was asked for is listed, or the last is."""
        timeline, self._seek = self.query_one(Timeline), None
        if place > timeline.count or (place == timeline.count and timeline.rows[-1].kind != "end"):
            self.notify(f"There is no step {place + 1}; this is the last.", severity="warning", markup=False)
        timeline.go(place)
        self._look()

    @on(Projector.Refused)
    def _refused(self, message: Projector.Refused) -> None:
        if message.reel is not self._projector.reel:
            return
        self._projector.done(message)
        if self._head is None:
            self.query_one(Still).display = False
            self._title("", "")
        timeline = self.query_one(Timeline)
        timeline.empty = "Nothing to replay."
        timeline.refresh()
        self._say(Content.assemble((plain(message.error.sentence), "bold $text-error"), "\n\nF2 goes to Home."))

    # -- looking at a step -----------------------------------------------------------------------------------

    @on(Lines.Highlighted, "#steps")
    def _moved(self) -> None:
        if self._seek is None:
            self._look()

    def _look(self) -> None:
        self._projector.look(self.query_one(Timeline).cursor, after=self._after)

    @on(Projector.Looked)
    def _looked(self, message: Projector.Looked) -> None:
        if message.reel is not self._projector.reel:
            return
        self._projector.done(message)
        self._view = message.view
        self.query_one(Still).show(message.view, after=message.after)
        self._write(message.view)
        self._tell()

    def _write(self, view: View) -> None:
        event = view.event
        if self._shown == "tree":
            self._say(sheet.tree_sheet(view.after if self._after and view.after is not None else view.before))
        elif isinstance(event, Ended):
            assert self._head is not None
            self._say(sheet.end_sheet(event, *self._head, outcomes=self.outcomes))
        else:
            made = self._head.made if self._head is not None else None
            self._say(sheet.step_sheet(event, slip=made is not None and event.index in made.slips))

    def _say(self, content: Content) -> None:
        self.query_one(Page).show(content)

    def _tell(self) -> None:
        """Titles and the line above the keys: where this is, what is shown, how it plays."""
        timeline, view = self.query_one(Timeline), self._view
        steps = sum(line.kind != "end" for line in timeline.rows[-1:]) + max(0, timeline.count - 1)
        timeline.border_title = f"Steps  {min(timeline.cursor + 1, steps)}/{steps}{'' if self._whole else '+'}"
        self._player.timed = any(line.started for line in timeline.rows[:1])
        state = self._player.words
        if view is not None:
            ended = isinstance(view.event, Ended)
            place = "the end" if ended else f"step {view.number + 1}"
            words = {"sheet": place.capitalize(), "tree": f"UI tree at {place}"}
            self.query_one("#sheet").border_title = words[self._shown]
            state += f"   {view.lost}" if view.lost else ""
        self.query_one("#replay-state", Static).update(state, layout=False)

    # -- verbs -----------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What the model was sent is for those who may see outcomes."""
        if action == "close_up":
            return self.graphics != "cells"
        return super().check_action(action, parameters) and (self.outcomes or action != "sent")

    def action_step(self, by: int) -> None:
        """One step on or back."""
        timeline = self.query_one(Timeline)
        timeline.go(timeline.cursor + by)

    def action_edge(self, which: int) -> None:
        """The first step or the end."""
        self.query_one(Timeline).action_edge(which)

    def action_question(self, by: int) -> None:
        """The next or previous step with a question."""
        timeline = self.query_one(Timeline)
        found = timeline.next_marked("?", by)
        if found is None:
            self.notify("No further question." if by > 0 else "No question before this.", markup=False)
        else:
            timeline.go(found)

    def action_after(self) -> None:
        """The screen before the step, or after it."""
        self._after = not self._after
        self._look()

    def action_sent(self) -> None:
        """A page with exactly what the model was sent and said; back from it, the step that was looked at there."""
        if self._head is None or self._projector.reel is None:
            return
        album, timeline = StoredAlbum(self._projector.reel), self.query_one(Timeline)
        agent = self._head.started.agent.shown
        page = SentScreen(album, timeline.cursor, agent=agent, overlay=self.overlay)
        self.app.push_screen(page, lambda place: timeline.go(timeline.cursor if place is None else place))

    def action_read(self, what: Shown) -> None:
        """The words beside the phone: the UI tree, or again the step."""
        self._shown = "sheet" if self._shown == what else what
        if self._view is not None:
            self._write(self._view)
        self._tell()

    def action_close_up(self) -> None:
        """The picture itself, by the terminal's own graphics, or characters again."""
        self.query_one(Still).look_closely()

    def action_overlay(self) -> None:
        """The screen's words as characters over the phone, or its pixels alone."""
        mirror = self.query_one(Still).mirror
        mirror.overlay = not mirror.overlay

    def action_copy(self) -> None:
        """Copies ID@STEP, as `hitlab replay` takes it."""
        if self._projector.reel is not None:
            link = f"{self._projector.reel.id}@{self.query_one(Timeline).cursor + 1}"
            self.app.copy_to_clipboard(link)
            self.notify(f"Copied {link}", markup=False)

    def action_back(self) -> None:
        """Out of what was opened last; with nothing open, to Home."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif self.query_one(SearchRow).is_open:
            self.query_one(SearchRow).close()
            self.query_one(Timeline).focus()
        elif self._close_fork():
            self._look()
        elif self._player.playing:
            self.action_play()
        elif self._shown != "sheet":
            self.action_read(self._shown)
        else:
            raise SkipAction  # the app's own: to Home

    # -- playing and searching -------------------------------------------------------------------------------

    def action_play(self) -> None:
        """Plays on from here, or stands still."""
        if self._player.playing:
            self._player.stop()
        else:
            self._wait_a_step()
        self._tell()

    def action_pace(self) -> None:
        """The recorded pace, each step at most three seconds, or one step a second."""
        self._player.recorded = not self._player.recorded
        self._tell()

    def _wait_a_step(self) -> None:
        timeline = self.query_one(Timeline)
        ahead = timeline.rows[timeline.cursor : timeline.cursor + 2]
        if len(ahead) == 2:
            self._player.wait(*ahead)
        else:
            self._player.stop()

    def _play_on(self) -> None:
        self.action_step(1)
        self._wait_a_step()
        self._tell()

    def on_screen_suspend(self) -> None:
        """Nobody looks: nothing plays."""
        self._player.stop()

    def action_search(self) -> None:
        """Opens the search."""
        self.query_one(SearchRow).open()

    @on(SearchRow.Sought)
    def _sought(self, message: SearchRow.Sought) -> None:
        timeline, row = self.query_one(Timeline), self.query_one(SearchRow)
        found = timeline.next_holding(message.needle, here=not message.on)
        if found is None:
            row.say(" no step holds it")
        else:
            holding = timeline.holding(message.needle)
            row.say(f" {holding} {'step' if holding == 1 else 'steps'}; Enter: next, Esc: close")
            timeline.go(found)
