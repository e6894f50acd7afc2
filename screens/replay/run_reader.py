"""Reads a run off the UI thread: its beginning, its lines, and each place that is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from textual.message import Message
from textual.widget import Widget

from lab.core.errors import LabError
from lab.runs.replay.recorded_run import PlaceView, RecordedPlace, RecordedRun, RunHead


class RunReader:
    """Posts to `owner` what it reads of the open run.

    Messages name their run, so that the owner can drop those of an earlier one. While a place is being read, only the
    newest request waits.
    """

    @dataclass
    class Opened(Message):
        """Message: the run's beginning was read."""

        reel: RecordedRun
        head: RunHead

    @dataclass
    class Listed(Message):
        """Message: more of the run's steps were read. `whole` with the last of them."""

        reel: RecordedRun
        lines: list[RecordedPlace]
        whole: bool

    @dataclass
    class PlaceRead(Message):
        """Message: a place was read."""

        reel: RecordedRun
        view: PlaceView
        after: bool

    @dataclass
    class Refused(Message):
        """Message: the run or a place in it cannot be read."""

        reel: RecordedRun
        error: LabError

    def __init__(self, owner: Widget) -> None:
        self._owner = owner
        self._busy = False
        self._waiting: tuple[int, bool] | None = None
        self.run_file: RecordedRun | None = None
        """The open run, or None if none."""

    def open(self, reel: RecordedRun | None) -> None:
        """Read another run from its beginning. None opens no run."""
        self.run_file, self._busy, self._waiting = reel, False, None
        if reel is not None:
            self._run_in_thread(partial(self._read_lines, reel))

    def request(self, number: int, *, after: bool) -> None:
        """Read one place, with the picture before or after it."""
        if self.run_file is None or not self.run_file.lines:
            return
        if self._busy:
            self._waiting = number, after
        else:
            self._busy = True
            self._run_in_thread(partial(self._read_place, self.run_file, number, after))

    def finish(self, message: PlaceRead | Refused) -> None:
        """Finish a request after its result arrived, and start the one that waits."""
        self._busy = False
        wish, self._waiting = self._waiting, None
        if wish is not None:
            self.request(wish[0], after=wish[1])

    def _run_in_thread(self, work: Callable[[], None]) -> None:
        self._owner.run_worker(work, thread=True)

    def _read_lines(self, reel: RecordedRun) -> None:
        try:
            self._owner.post_message(self.Opened(reel, reel.head()))
            for lines in reel.read():
                if reel is not self.run_file:
                    return
                self._owner.post_message(self.Listed(reel, lines, whole=False))
            self._owner.post_message(self.Listed(reel, [], whole=True))
        except LabError as error:
            self._owner.post_message(self.Refused(reel, error))

    def _read_place(self, reel: RecordedRun, number: int, after: bool) -> None:
        try:
            self._owner.post_message(self.PlaceRead(reel, reel.view(number, after=after), after))
        except LabError as error:
            self._owner.post_message(self.Refused(reel, error))
