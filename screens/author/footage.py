"""The run that a design is drafted beside: its steps, the phone at one of them, or what was said there in words."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from lab.design.drafting import apps
from lab.errors import LabError
from lab.plain import plain
from lab.trace import Ended, Step
from lab.turn import Observation
from screens.author.steps import Steps
from screens.describe import one_line
from screens.lines import Lines
from screens.page import Page
from screens.replay import sheet
from screens.replay.player import Player
from screens.replay.projector import Projector
from screens.replay.reel import Reel, Runs, View
from screens.replay.still import PHONE, Still

_PATIENCE = 2.0
"""Seconds for which a key waits for the step that it is about to be read."""
_BESIDE = {"-narrow": 55, "-normal": 88, "-wide": 138}
"""Columns that the steps and the design need beside the phone, by the width of the terminal."""


class Stage(Still):
    """The phone, as wide as the design beside it allows."""

    def take_room(self) -> None:
        self.beside = next((least for name, least in _BESIDE.items() if self.screen.has_class(name)), self.beside)
        super().take_room()


class Footage(Horizontal):
    """One run, scrubbed as in Replay. Without a run it says so and takes little room."""

    DEFAULT_CSS = """
    Footage { width: auto; height: 1fr; }
    Footage > Page { display: none; }
    Footage.-words > Page { display: block; }
    Footage.-words > Stage { display: none; }
    Footage.-none > Timeline, Footage.-none > Stage { display: none; }
    Footage > #no-run { display: none; }
    Footage.-none > #no-run { display: block; }
    """

    @dataclass
    class Looked(Message):
        """Another step is shown; None where the run has none."""

        view: View | None

    @dataclass
    class Named(Message):
        """The app of each step is known."""

        reel: Reel
        apps: list[str]

    def __init__(self, store: Runs, *, overlay: bool, id: str = "footage") -> None:
        super().__init__(id=id)
        self.store = store
        self.timeline = Steps(id="steps")
        self.stage = Stage(id="phone", overlay=overlay)
        self.stage.mirror.interactive = True
        self.page = Page(id="step-words", classes="pane")
        self.view: View | None = None
        self.after = False
        self.player = Player(self, self._play_on)
        self._apps: list[str] = []
        self._projector = Projector(self)
        self._seek: int | None = None

    def compose(self) -> ComposeResult:
        yield self.timeline
        yield self.stage
        yield self.page
        yield Static(NO_RUN, id="no-run", markup=False)

    def on_mount(self) -> None:
        self.timeline.entitle("Steps")
        self.page.border_title = "Step"

    # -- opening ---------------------------------------------------------------------------------------------

    def open(self, run: str | None, at: int = 0) -> None:
        """Shows another run from a step (from 0), or that there is none."""
        self.player.stop()
        self.view, self._apps, self.after = None, [], False
        self.set_class(run is None, "-none")
        if run is None:
            return
        self._seek = at
        reel = self.reel_of(run)
        self.timeline.rows, self.timeline.empty = reel.lines, "Reading the steps ..."
        self.timeline.set_reactive(Lines.cursor, 0)
        self.timeline.changed()
        self._projector.open(reel)
        self.begun(reel)

    def reel_of(self, run: str) -> Reel:
        """What reads a run."""
        return Reel(self.store, run)

    def begun(self, reel: Reel) -> None:
        """Reads what else is told of a run beside its steps."""
        self.run_worker(partial(self._read_apps, reel), thread=True)

    def _read_apps(self, reel: Reel) -> None:
        try:
            named = apps(event for event in self.store.events(reel.id) if isinstance(event, Step))
        except LabError:
            return  # the projector, which reads the same run, says what is wrong with it
        self.post_message(self.Named(reel, named))

    @on(Named)
    def _named(self, message: Named) -> None:
        if message.reel is self._projector.reel:
            self._apps = message.apps
            self.post_message(self.Looked(self.view))

    @on(Projector.Opened)
    def _opened(self, message: Projector.Opened) -> None:
        if message.reel is self._projector.reel:
            self.stage.phone = message.head.started.device.size or PHONE

    @on(Projector.Listed)
    def _listed(self, message: Projector.Listed) -> None:
        if message.reel is not self._projector.reel:
            return
        self.timeline.rows.extend(message.lines)
        self.timeline.empty = "This run has no steps."
        self.timeline.changed()
        count = self.timeline.count
        if self._seek is not None and (self._seek < count or (message.whole and count)):
            self.timeline.go(self._seek)
            self._seek = None
            self._look()
        self.grown(whole=message.whole)

    def grown(self, *, whole: bool) -> None:
        """More of the steps are listed; `whole` with the last."""

    @on(Projector.Refused)
    def _refused(self, message: Projector.Refused) -> None:
        if message.reel is self._projector.reel:
            self._projector.done(message)
            self.timeline.empty = plain(message.error.sentence)
            self.timeline.refresh()

    # -- looking ---------------------------------------------------------------------------------------------

    @on(Lines.Highlighted, "#steps")
    def _moved(self, message: Lines.Highlighted) -> None:
        message.stop()
        if self._seek is None:
            self._look()

    def _look(self) -> None:
        self._projector.look(self.timeline.cursor, after=self.after)

    @on(Projector.Looked)
    def _looked(self, message: Projector.Looked) -> None:
        if message.reel is not self._projector.reel:
            return
        self._projector.done(message)
        self.view = view = message.view
        self.stage.show(view, after=message.after)
        words = self.words_of(view)
        self.page.show(words, from_top=words.plain != self.page.content.plain)
        bare = view.image is None and view.before.tree is None
        self.set_class(bare or self.has_class("-asked-words"), "-words")
        self.entitle()
        self.post_message(self.Looked(view))

    def entitle(self) -> None:
        """Says above the steps which is shown, of how many."""
        if self.view is not None:
            self.timeline.entitle(f"Steps  {min(self.view.number + 1, self.steps)}/{self.steps}")

    def words_of(self, view: View) -> Content:
        """What is told of a place in words."""
        if isinstance(view.event, Ended):
            return Content.assemble((f"The run ended here: {view.event.status}.", ""))
        return sheet.step_sheet(view.event)

    def take_room(self) -> None:
        """To be called when the terminal's size is another."""
        self.stage.take_room()

    @property
    def run(self) -> str | None:
        return self._projector.reel.id if self._projector.reel is not None and not self.has_class("-none") else None

    @property
    def steps(self) -> int:
        """How many steps are listed; the end is none."""
        return self.timeline.count - sum(line.kind == "end" for line in self.timeline.rows[-1:])

    @property
    def step(self) -> Step | None:
        """The step that is shown; None at the end, at an open question, and without a run."""
        event = self.view.event if self.view is not None else None
        return event if isinstance(event, Step) else None

    async def arrived(self) -> None:
        """Waits until the step that the cursor is on is the one that is shown: keys may come quicker than pictures."""
        until = monotonic() + _PATIENCE
        while self.view is not None and self.view.number != self.timeline.cursor and monotonic() < until:
            await asyncio.sleep(0.01)

    @property
    def seen(self) -> Observation | None:
        """What stands on the phone: before the step, or after it where that is shown."""
        if self.view is None:
            return None
        return self.view.after if self.after and self.view.after is not None else self.view.before

    @property
    def link(self) -> str:
        """The place that is shown, as evidence names it; empty without a run."""
        return f"{self.run}@{self.view.number + 1}" if self.run is not None and self.view is not None else ""

    @property
    def app_name(self) -> str:
        """The app in which the step that is shown was, or what comes after it; empty where nothing tells."""
        if self.view is None or not self._apps:
            return ""
        at = self.view.number + (self.after and self.view.after is not None)
        return self._apps[min(at, len(self._apps) - 1)]

    @property
    def words(self) -> str:
        """Where this is, in a line."""
        if self.run is None:
            return "no run"
        if self.view is None:
            return "reading ..."
        place = f"Step {self.view.number + 1}/{self.steps}"
        if isinstance(self.view.event, Ended):
            place = "The end"
        line = self.timeline.rows[self.view.number] if self.view.number < self.timeline.count else None
        return one_line("   ".join(filter(None, (place, self.app_name, line.words if line else ""))), 300)

    @property
    def known_apps(self) -> list[str]:
        """Every app that the run was in, in order."""
        return list(dict.fromkeys(app for app in self._apps if app))

    # -- scrubbing -------------------------------------------------------------------------------------------

    def cover(self, links: Sequence[str]) -> None:
        """Marks the steps of this run that evidence names."""
        ours = [step for run, _, step in (link.rpartition("@") for link in links) if run == self.run]
        self.timeline.cover(frozenset(int(step) - 1 for step in ours if step.isdecimal()))

    def go_to(self, link: str) -> bool:
        """Goes to a step named as evidence names it; False where it is of another run."""
        run, _, step = link.rpartition("@")
        if run != self.run or not step.isdecimal():
            return False
        self.timeline.go(int(step) - 1)
        return True

    def move(self, by: int) -> None:
        """One step on or back."""
        self.timeline.go(self.timeline.cursor + by)

    def question(self, by: int) -> bool:
        """The next or the previous step with a question; False where there is none."""
        found = self.timeline.next_marked("?", by)
        if found is not None:
            self.timeline.go(found)
        return found is not None

    def turn(self) -> None:
        """The screen after the step instead of before it, or back."""
        self.after = not self.after
        self._look()

    def turn_words(self) -> None:
        """What was thought, done and said instead of the phone, or back."""
        self.toggle_class("-asked-words")
        self._look()

    def play(self) -> None:
        """Plays on from here, or stands still."""
        if self.player.playing:
            self.player.stop()
        else:
            self._wait()

    def _wait(self) -> None:
        ahead = self.timeline.rows[self.timeline.cursor : self.timeline.cursor + 2]
        if len(ahead) == 2:
            self.player.wait(*ahead)
        else:
            self.player.stop()

    def _play_on(self) -> None:
        self.move(1)
        self._wait()


NO_RUN = "No run of this task is in the file, so there is no phone to look at. `hitlab live TASK` makes one."
