"""A recorded run in a room: its list of steps and the phone at one of them, to search, step through and play."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic

from msgspec import structs
from textual import on
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from lab.core.errors import LabError
from lab.core.run.step import Observation
from lab.core.run.trace import Ended, Step
from lab.core.text.plain_text import plain
from lab.core.values.ids_and_clock import seconds_between
from lab.runs.replay.recorded_run import PlaceView, RecordedPlace, RecordedRun, RunHead
from screens.background import Background
from screens.lab import ReportsErrors
from screens.replay import step_pane
from screens.replay.phone_pane import PHONE, StillPhone
from screens.replay.timeline import Timeline
from screens.widgets.lines import LineList
from screens.widgets.text_page import TextPage

_PATIENCE = 2.0
"""Seconds for which a key waits for a step that is being read."""


class StepPage(TextPage):
    """A step's thought, action and dialogue in the phone's place."""

    def __init__(self) -> None:
        super().__init__(id="step-words", classes="pane")
        self.border_title = "Step"

    def show_place(self, view: PlaceView) -> None:
        """Show a place of the run in words."""
        if isinstance(view.event, Ended):
            words = Content(f"The run ended here: {view.event.status}.")
        else:
            words = step_pane.step_sheet(view.event)
        self.show(words, from_top=words.plain != self.content.plain)


class RunPlayer(ReportsErrors, Horizontal):
    """One run, moved by the keys of the room that contains it. After its messages the room reads its properties.

    `steps_page` replaces the phone if a step has no picture, or on request. `others` are placed beside them. Without a
    run it has the class `-none`.
    """

    DEFAULT_CSS = """
    RunPlayer { width: auto; height: 1fr; }
    RunPlayer > StepPage { display: none; }
    RunPlayer.-words > StepPage { display: block; }
    RunPlayer.-words > StillPhone { display: none; }
    RunPlayer.-none > Timeline, RunPlayer.-none > StillPhone, RunPlayer.-none > StepPage { display: none; }
    """

    @dataclass
    class Opened(Message):
        """Message: the run's beginning was read (`head`)."""

        footage: RunPlayer

    @dataclass
    class Listed(Message):
        """Message: more steps are listed, or all if `whole`."""

        footage: RunPlayer

    @dataclass
    class Found(Message):
        """Message: the requested step (from 0) is current, or the last one if it does not exist."""

        footage: RunPlayer
        asked: int

    @dataclass
    class Moved(Message):
        """Message: another place or screen is current (`number`). It may still be loading."""

        footage: RunPlayer

    @dataclass
    class Looked(Message):
        """Message: the current place was read and shown (`view`)."""

        footage: RunPlayer

    @dataclass
    class Refused(Message):
        """Message: the run or a place in it cannot be read."""

        footage: RunPlayer
        error: LabError

    def __init__(
        self,
        timeline: Timeline,
        stage: StillPhone,
        *others: Widget,
        steps_page: StepPage | None = None,
        id: str = "footage",
    ) -> None:
        pages = [] if steps_page is None else [steps_page]
        super().__init__(timeline, stage, *pages, *others, id=id)
        self.timeline = timeline
        self.stage = stage
        self.head: RunHead | None = None
        self.view: PlaceView | None = None
        """The place shown, or None until one is read."""
        self.whole = False
        """True if every step is listed."""
        self.after = False
        """True if the screen after a step is shown, provided it has one."""
        self.playback = Player(self, self._play_next)
        self._steps_page = steps_page
        self._steps = Background(self, self._take_part, self._take_error)
        self._places = Background(self, self._take_view, self._take_error)
        self._run_file: RecordedRun | None = None
        self._target_place: int | None = None
        """Place to go to once it is listed, or None if none."""
        stage.read_ahead = self._view_at

    # -- opening ---------------------------------------------------------------------------------------------

    def open(self, reel: RecordedRun | None, at: int = 0) -> None:
        """Show another run from a step (from 0), or none."""
        self.playback.pause()
        self.head = self.view = None
        self.after = self.whole = False
        self.set_class(reel is None, "-none")
        self._target_place = at if reel is not None else None
        self.timeline.rows, self.timeline.empty = reel.lines if reel is not None else [], "Reading the steps ..."
        # Without its watcher, which would request a place before the run is read.
        self.timeline.set_reactive(LineList.cursor, 0)
        self.timeline.changed()
        self._run_file = reel
        self._places.cancel()
        if reel is None:
            self._steps.cancel()
        else:
            self._steps.start(partial(_read_run, reel))

    def _take_part(self, part: RunHead | list[RecordedPlace] | None) -> None:
        if isinstance(part, RunHead):
            self.head = part
            self.stage.phone = part.started.device.size or PHONE
            self.post_message(self.Opened(self))
        else:
            self._take_lines(part)

    def _take_lines(self, lines: list[RecordedPlace] | None) -> None:
        """Append lines. None follows the last of them."""
        self.timeline.rows.extend(lines or [])
        self.timeline.empty = "This run has no steps."
        self.timeline.changed()
        self.whole, count = lines is None, self.timeline.count
        # The first step stands for all.
        self.playback.timed = any(line.started for line in self.timeline.rows[:1])
        if self._target_place is not None and (self._target_place < count or (self.whole and count)):
            index, self._target_place = self._target_place, None
            self.timeline.go(index)
            self.post_message(self.Found(self, index))
            self.request_place()
        if self.whole:
            self._target_place = None
        self.post_message(self.Listed(self))

    def _take_error(self, error: LabError) -> None:
        if self.view is None:
            self._target_place, self.whole = None, True
        self.timeline.empty = plain(error.sentence)
        self.timeline.refresh()
        self.post_message(self.Refused(self, error))

    # -- looking ---------------------------------------------------------------------------------------------

    @on(LineList.Highlighted)
    def _follow_cursor(self, message: LineList.Highlighted) -> None:
        if message.lines is self.timeline:
            message.stop()
            if self._target_place is None:
                self.request_place()

    def request_place(self) -> None:
        """Request the current place and post `Moved` at once, so that a key never waits for a picture."""
        reel = self._run_file
        if reel is not None and reel.lines:
            self._places.request(partial(read_place, reel, self.timeline.cursor, after=self.after))
        self.post_message(self.Moved(self))

    def _take_view(self, place: tuple[PlaceView, bool]) -> None:
        self.view, after = place
        view = self.view
        self.stage.show(view, after=after)
        if self._steps_page is not None:
            self._steps_page.show_place(view)
            bare = view.image is None and view.before.tree is None
            self.set_class(bare or self.has_class("-asked-words"), "-words")
        self.post_message(self.Looked(self))

    def _view_at(self, number: int) -> PlaceView | None:
        reel = self.reel
        return reel.view(number) if reel is not None and number < len(reel.lines) else None

    async def wait_shown(self) -> None:
        """Wait until the step under the cursor is shown, because keys may be faster than pictures."""
        until = monotonic() + _PATIENCE
        while self.view is not None and self.view.number != self.timeline.cursor and monotonic() < until:
            await asyncio.sleep(0.01)

    # -- where it is -----------------------------------------------------------------------------------------

    @property
    def reel(self) -> RecordedRun | None:
        """Reader of the open run, or None without one."""
        return None if self.has_class("-none") else self._run_file

    @property
    def run(self) -> str | None:
        return self.reel.id if self.reel is not None else None

    @property
    def steps(self) -> int:
        """Number of listed steps without the end."""
        return self.timeline.count - sum(line.kind == "end" for line in self.timeline.rows[-1:])

    @property
    def is_locating(self) -> bool:
        """True while the requested step is not listed yet."""
        return self._target_place is not None

    @property
    def number(self) -> int:
        """Index of the current place. While the run is still being read, that of the requested one."""
        return self.timeline.cursor if self._target_place is None else self._target_place

    @property
    def at_end(self) -> bool:
        return self.timeline.count > 0 and self.timeline.rows[self.timeline.cursor].kind == "end"

    @property
    def step(self) -> Step | None:
        """The step shown, or None at the end, at an open question, and without a run."""
        event = self.view.event if self.view is not None else None
        return event if isinstance(event, Step) else None

    @property
    def screen_shown(self) -> Observation | None:
        """The screen shown: before the step, or after it."""
        if self.view is None:
            return None
        return self.view.after if self.after and self.view.after is not None else self.view.before

    @property
    def readable_screen(self) -> Observation | None:
        """The screen shown, with the lines read from its picture if it has no words of its own."""
        observation, words = self.screen_shown, self.stage.words
        return observation if observation is None or words is None else structs.replace(observation, tree=words.tree)

    @property
    def link(self) -> str:
        """The place shown in the form of evidence, ID@STEP, empty without a run."""
        return f"{self.run}@{self.view.number + 1}" if self.run is not None and self.view is not None else ""

    # -- scrubbing -------------------------------------------------------------------------------------------

    def cover(self, links: Sequence[str]) -> None:
        """Mark the steps of this run that the evidence names."""
        ours = [step for run, _, step in (link.rpartition("@") for link in links) if run == self.run]
        self.timeline.mark_evidence(frozenset(int(step) - 1 for step in ours if step.isdecimal()))

    def go_to(self, link: str) -> bool:
        """Go to a step named ID@STEP. Return False if it belongs to another run or does not exist."""
        run, _, step = link.rpartition("@")
        if run != self.run or not step.isdecimal() or int(step) < 1:
            return False
        if self._target_place is not None or (not self.whole and int(step) > self.timeline.count):
            self._target_place = int(step) - 1  # it is gone to when it is listed
            self.post_message(self.Moved(self))
        elif int(step) > self.timeline.count:
            return False
        else:
            self.timeline.go(int(step) - 1)
        return True

    def move(self, by: int) -> None:
        """Move by steps. If the requested step is not listed yet, move from that one."""
        if self._target_place is None:
            self.timeline.go(self.timeline.cursor + by)
        else:
            self._target_place = max(0, self._target_place + by)

    def question(self, by: int) -> bool:
        """Go to the next or previous step with a question. Return False if there is none."""
        step_at = self.timeline.next_marked("?", by)
        if step_at is not None:
            self.timeline.go(step_at)
        return step_at is not None

    def toggle_after(self) -> None:
        """Toggle the screens before and after the step."""
        self.after = not self.after
        self.request_place()

    def toggle_words(self) -> None:
        """Toggle the step's words in the phone's place."""
        self.toggle_class("-asked-words")
        self.request_place()

    # -- playing ---------------------------------------------------------------------------------------------

    def play(self) -> None:
        """Play from here, or pause."""
        if self.playback.playing:
            self.playback.pause()
        else:
            self._wait_for_next()

    def _wait_for_next(self) -> None:
        ahead = self.timeline.rows[self.timeline.cursor : self.timeline.cursor + 2]
        if len(ahead) == 2:
            self.playback.schedule(*ahead)
        else:
            self.playback.pause()

    def _play_next(self) -> None:
        self.move(1)
        self._wait_for_next()


def _read_run(reel: RecordedRun) -> Generator[RunHead | list[RecordedPlace] | None, None, None]:
    """Yield a run's beginning, its lines in batches, and None after the last."""
    yield reel.head()
    yield from reel.read()
    yield None


def read_place(reel: RecordedRun, number: int, *, after: bool) -> tuple[PlaceView, bool]:
    """Read one place with the picture before or `after` it, and say which."""
    return reel.view(number, after=after), after


EVEN = 1.0
"""Seconds per step at even pace, and without recorded times."""
LONGEST, SHORTEST = 3.0, 0.15
"""Maximum and minimum seconds per step at recorded pace."""


class Player:
    """Calls `on_step` at the time of the next line. `owner` provides the timers."""

    def __init__(self, owner: Widget, on_step: Callable[[], None]) -> None:
        self._owner = owner
        self._on_step = on_step
        self._timer: Timer | None = None
        self.recorded = True
        """True to use the recorded pace if there is one."""

        self.timed = True
        """True if times were recorded."""

    @property
    def playing(self) -> bool:
        return self._timer is not None

    @property
    def words(self) -> str:
        """State and pace, and the key that changes the pace."""
        pace = "1 s a step (. for recorded pace)"
        if self.recorded:
            pace = "recorded pace (. for 1 s a step)" if self.timed else "1 s a step: no times were recorded"
        return f"{'▶ playing' if self.playing else '‖ standing still'}, {pace}"

    def schedule(self, here: RecordedPlace, following: RecordedPlace) -> None:
        """Start a timer for as long as `here` took."""
        self._timer = self._owner.set_timer(self.seconds(here, following), self._on_step)

    def pause(self) -> None:
        """Stop playing."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def seconds(self, here: RecordedPlace, following: RecordedPlace) -> float:
        """Return how long to show a step: from its start to the next one's start, or to its own end."""
        took = seconds_between(here.started, following.started) or seconds_between(here.started, here.ended)
        return EVEN if took is None or not self.recorded else min(max(took, SHORTEST), LONGEST)
