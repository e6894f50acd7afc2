"""Replay: a stored run step by step, the phone beside what was thought, done and said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on, work
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, Static

from lab.errors import LabError
from lab.plain import plain
from lab.settings import Settings
from lab.trace import Ended
from screens import sheet
from screens.describe import one_line
from screens.lines import Lines
from screens.page import Page
from screens.player import Player
from screens.reel import Head, Line, Reel, View
from screens.search import SearchRow
from screens.seats import sees_outcomes
from screens.still import PHONE, Still
from screens.timeline import Timeline

if TYPE_CHECKING:
    from store.store import Store

Shown = Literal["sheet", "tree", "sent"]

SCRUB = Binding.Group("Scrub", compact=True)
SHOW = Binding.Group("Show", compact=True)


class ReplayScreen(Screen[None]):
    """One stored run. Steps count from 1, as in `hitlab replay ID@7`; each is read when it is looked at."""

    BINDING_GROUP_TITLE = "Replay"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "play", "Play", id="replay.play", tooltip="Play on from here, or stand still"),
        Binding("n", "question(1)", "Question", id="replay.question", tooltip="The next step with a question"),
        Binding("b", "after", "After", id="replay.after", tooltip="The screen before the step, or after it"),
        Binding("u", "read('tree')", "Tree", id="replay.tree", tooltip="The nodes of this step's screen"),
        Binding("p", "read('sent')", "Sent", id="replay.sent", tooltip="Exactly what the model was sent"),
        Binding("slash", "search", "Search", id="replay.search", tooltip="Thoughts, actions, dialogue, screen words"),
        Binding(
            "right,l,right_square_bracket", "step(1)", "Next step", show=False, id="replay.next", group=SCRUB,
            tooltip="The next step",
        ),
        Binding(
            "left,h,left_square_bracket", "step(-1)", "Previous step", show=False, id="replay.previous", group=SCRUB,
            tooltip="The step before",
        ),
        Binding("home", "edge(0)", "First step", show=False, id="replay.first", group=SCRUB, tooltip="The first step"),
        Binding("end", "edge(-1)", "The end", show=False, id="replay.last", group=SCRUB, tooltip="How it ended"),
        Binding(
            "N", "question(-1)", "Previous question", show=False, id="replay.question_back", group=SCRUB,
            tooltip="The step before with a question",
        ),
        Binding(
            "full_stop", "pace", "Pace", show=False, id="replay.pace", group=SCRUB,
            tooltip="Play at the recorded pace, or one step a second",
        ),
        Binding("o", "overlay", "Text on phone", show=False, id="replay.overlay", group=SHOW,
                tooltip="The screen's words as characters, or pixels alone"),
        Binding("y", "copy", "Copy id", show=False, id="replay.copy", group=SHOW, tooltip="Copy ID@STEP"),
        Binding("escape", "back", "Back", show=False, id="replay.back", group=SHOW, tooltip="One step back, then Home"),
    ]  # fmt: skip

    @dataclass
    class Opened(Message):
        """The run's beginning was read."""

        reel: Reel
        head: Head

    @dataclass
    class LinesRead(Message):
        """More of the run's steps were read; `whole` with the last."""

        reel: Reel
        lines: list[Line]
        whole: bool

    @dataclass
    class Looked(Message):
        """A place was read whole."""

        reel: Reel
        view: View
        after: bool

    @dataclass
    class Refused(Message):
        """The run, or a step of it, cannot be read."""

        reel: Reel
        error: LabError

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.outcomes = sees_outcomes(settings.seat)
        self.overlay = settings.overlay
        self._reel: Reel | None = None
        self._head: Head | None = None
        self._view: View | None = None
        self._seek: int | None = None
        self._whole = False
        self._reading = False
        self._after = False
        self._shown: Shown = "sheet"
        self._player = Player(self, self._play_on)

    # -- layout ----------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield Static("Replay", id="replay-title", markup=False)
        with Horizontal(id="reel"):
            yield Timeline(id="steps")
            yield Still(id="phone", overlay=self.overlay)
            with Vertical(id="words"):
                with VerticalScroll(id="goal", classes="pane"):
                    yield Static("", id="goal-text", markup=False)
                yield Page(id="sheet", classes="pane")
        yield SearchRow("a word in thoughts, actions, dialogue or on the screen", id="search")
        yield Static("", id="replay-state", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#goal").border_title = "Goal"
        self.query_one("#steps").border_title = "Steps"
        self.query_one(Timeline).focus()
        if self._reel is not None:
            self._begin(self._reel)
        else:
            self._say(Content("No run is open. Enter on a run in Home (F2) opens it."))

    def on_resize(self) -> None:
        self.call_after_refresh(self.query_one(Still).take_room)

    # -- opening ---------------------------------------------------------------------------------------------

    def open(self, trace_id: str, step: int = 1) -> None:
        """Shows a run at a step, counted from 1; a step past the end shows the end."""
        self._player.stop()
        self._reel = Reel(self.store, trace_id)
        self._head = self._view = None
        self._seek, self._whole, self._reading, self._after = max(1, step), False, False, False
        if self.is_mounted:
            self._begin(self._reel)

    def _begin(self, reel: Reel) -> None:
        timeline = self.query_one(Timeline)
        timeline.rows, timeline.empty = reel.lines, "Reading the steps ..."
        timeline.set_reactive(Lines.cursor, 0)
        timeline.changed()
        self._read_run(reel)

    @work(thread=True, group="run")
    def _read_run(self, reel: Reel) -> None:
        try:
            self.post_message(self.Opened(reel, reel.head()))
            for lines in reel.read():
                if reel is not self._reel:
                    return
                self.post_message(self.LinesRead(reel, lines, whole=False))
            self.post_message(self.LinesRead(reel, [], whole=True))
        except LabError as error:
            self.post_message(self.Refused(reel, error))

    @on(Opened)
    def _opened(self, message: Opened) -> None:
        if message.reel is not self._reel:
            return
        started = message.head.started
        self._head = message.head
        agent = f"   {started.agent.shown}" if self.outcomes else ""
        title = f"Replay   {started.task.title or started.task.id}{agent}   {started.trace}"
        self.query_one("#replay-title", Static).update(one_line(title, 400))
        self.query_one("#goal-text", Static).update(Content(sheet.goal_of(started)))
        self.query_one(Still).phone = started.device.size or PHONE

    @on(LinesRead)
    def _lines_read(self, message: LinesRead) -> None:
        if message.reel is not self._reel:
            return
        timeline = self.query_one(Timeline)
        self._whole = message.whole
        timeline.rows.extend(message.lines)
        timeline.empty = "This run has no steps."
        timeline.changed()
        if self._seek is not None and (self._seek <= timeline.count or (message.whole and timeline.count)):
            place, self._seek = self._seek - 1, None
            if place >= timeline.count + 1 or (place == timeline.count and timeline.rows[-1].kind != "end"):
                self.notify(f"There is no step {place + 1}; this is the last.", severity="warning", markup=False)
            timeline.go(place)
            self._look()
        elif message.whole and not timeline.count and self._head is not None:
            started, verdicts = self._head
            self._say(sheet.open_sheet(started, verdicts, outcomes=self.outcomes))
        self._tell()

    @on(Refused)
    def _refused(self, message: Refused) -> None:
        if message.reel is self._reel:
            self._reading = False
            self.query_one(Timeline).empty = "Nothing to replay."
            self.query_one(Timeline).refresh()
            self._say(Content.assemble((plain(message.error.sentence), "bold $text-error"), "\n\nF2 goes to Home."))

    # -- looking at a step -----------------------------------------------------------------------------------

    @on(Lines.Highlighted, "#steps")
    def _moved(self) -> None:
        if self._seek is None:
            self._look()

    def _look(self) -> None:
        """Reads the place under the cursor; while one is being read, only the newest wish waits."""
        if self._reel is None or self._reading or not self._reel.lines:
            return
        self._reading = True
        self._read_place(self._reel, self.query_one(Timeline).cursor, self._after)

    @work(thread=True, group="place")
    def _read_place(self, reel: Reel, number: int, after: bool) -> None:
        try:
            self.post_message(self.Looked(reel, reel.view(number, after=after), after))
        except LabError as error:
            self.post_message(self.Refused(reel, error))

    @on(Looked)
    def _looked(self, message: Looked) -> None:
        if message.reel is not self._reel:
            return
        self._reading = False
        self._view = message.view
        self._draw(message.view, message.after)
        if (message.view.number, message.after) != (self.query_one(Timeline).cursor, self._after):
            self._look()

    def _draw(self, view: View, after: bool) -> None:
        self.query_one(Still).show(view, after=after)
        self._write(view)
        self._tell()

    def _write(self, view: View) -> None:
        event = view.event
        if self._shown == "tree":
            self._say(sheet.tree_sheet(view.after if self._after and view.after is not None else view.before))
        elif isinstance(event, Ended):
            assert self._head is not None
            self._say(sheet.end_sheet(event, *self._head, outcomes=self.outcomes))
        elif self._shown == "sent":
            self._say(sheet.prompt_sheet(event.proposed.prompt, event.proposed.raw))
        else:
            self._say(sheet.step_sheet(event))

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
            words = {"sheet": place.capitalize(), "tree": f"UI tree at {place}", "sent": f"Sent at {place}"}
            self.query_one("#sheet").border_title = words["sheet" if ended and self._shown == "sent" else self._shown]
            state += "   its picture is not in this file" if view.lost else ""
        self.query_one("#replay-state", Static).update(state, layout=False)

    # -- verbs -----------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What the model was sent is for those who may see outcomes."""
        return self.outcomes or (action, parameters) != ("read", ("sent",))

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

    def action_read(self, what: Shown) -> None:
        """The words beside the phone: UI tree, what was sent, or again the step."""
        self._shown = "sheet" if self._shown == what else what
        if self._view is not None:
            self._write(self._view)
        self._tell()

    def action_overlay(self) -> None:
        """The screen's words as characters over the phone, or its pixels alone."""
        mirror = self.query_one(Still).mirror
        mirror.overlay = not mirror.overlay

    def action_copy(self) -> None:
        """Copies ID@STEP, as `hitlab replay` takes it."""
        if self._reel is not None:
            link = f"{self._reel.id}@{self.query_one(Timeline).cursor + 1}"
            self.app.copy_to_clipboard(link)
            self.notify(f"Copied {link}", markup=False)

    def action_back(self) -> None:
        """Out of what was opened last; with nothing open, to Home."""
        if self.query("HelpPanel"):
            self.app.action_hide_help_panel()
        elif self.query_one(SearchRow).is_open:
            self.query_one(SearchRow).close()
            self.query_one(Timeline).focus()
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
            row.say("no step holds it")
        else:
            row.say(f"{timeline.holding(message.needle)} steps; Enter: next, Esc: close")
            timeline.go(found)
