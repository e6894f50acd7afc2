"""Reads a run for a screen, off the UI thread: its beginning, its lines, and each place that is looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from textual.message import Message
from textual.widget import Widget

from lab.core.errors import LabError
from lab.runs.recorded_run import Head, PlaceView, RecordedRun, RunPlace


class Projector:
    """Posts to `owner` what was read of the run that is open; what belongs to one before is not posted on.

    While a place is being read, only the newest wish for another waits.
    """

    @dataclass
    class Opened(Message):
        """The run's beginning was read."""

        reel: RecordedRun
        head: Head

    @dataclass
    class Listed(Message):
        """More of the run's steps were read; `whole` with the last."""

        reel: RecordedRun
        lines: list[RunPlace]
        whole: bool

    @dataclass
    class Looked(Message):
        """A place was read whole."""

        reel: RecordedRun
        view: PlaceView
        after: bool

    @dataclass
    class Refused(Message):
        """The run, or a place in it, cannot be read."""

        reel: RecordedRun
        error: LabError

    def __init__(self, owner: Widget) -> None:
        self._owner = owner
        self._busy = False
        self._wish: tuple[int, bool] | None = None
        self.reel: RecordedRun | None = None
        """The run that is open."""

    def open(self, reel: RecordedRun | None) -> None:
        """Reads another run from its beginning; none from now on, where there is none."""
        self.reel, self._busy, self._wish = reel, False, None
        if reel is not None:
            self._work(partial(self._list, reel))

    def look(self, number: int, *, after: bool) -> None:
        """Reads one place, with the picture before it or after it."""
        if self.reel is None or not self.reel.lines:
            return
        if self._busy:
            self._wish = number, after
        else:
            self._busy = True
            self._work(partial(self._look, self.reel, number, after))

    def done(self, message: Looked | Refused) -> None:
        """To be called with what came of a look: the wish that waited is read next."""
        self._busy = False
        wish, self._wish = self._wish, None
        if wish is not None:
            self.look(wish[0], after=wish[1])

    def _work(self, work: Callable[[], None]) -> None:
        self._owner.run_worker(work, thread=True)

    def _list(self, reel: RecordedRun) -> None:
        try:
            self._owner.post_message(self.Opened(reel, reel.head()))
            for lines in reel.read():
                if reel is not self.reel:
                    return
                self._owner.post_message(self.Listed(reel, lines, whole=False))
            self._owner.post_message(self.Listed(reel, [], whole=True))
        except LabError as error:
            self._owner.post_message(self.Refused(reel, error))

    def _look(self, reel: RecordedRun, number: int, after: bool) -> None:
        try:
            self._owner.post_message(self.Looked(reel, reel.view(number, after=after), after))
        except LabError as error:
            self._owner.post_message(self.Refused(reel, error))
