"""Work off the UI thread for a room: the newest request wins, and results arrive on the room's message loop."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from functools import partial
from typing import Any, Generic, TypeVar

from textual.dom import DOMNode
from textual.worker import Worker, get_current_worker

from lab.core.errors import LabError
from screens.lab import lab_of

Result = TypeVar("Result")
Work = Callable[[], Result | Generator[Result, None, None]]
"""Function that is called in a thread. A generator delivers a result with each `yield`."""


class Background(Generic[Result]):
    """Runs one thing at a time for a room or widget, in a thread, and delivers its results.

    `on_result` is called with each result, and `on_error` with the `LabError` that ended the work (default: a toast).
    Both run on the owner's message loop, as its message handlers do, and never after the owner was closed.
    """

    def __init__(
        self,
        owner: DOMNode,
        on_result: Callable[[Result], object],
        on_error: Callable[[LabError], object] | None = None,
    ) -> None:
        self._owner = owner
        self._on_result = on_result
        self._on_error = on_error or (lambda error: lab_of(owner).report(error))
        self._worker: Worker[None] | None = None
        """Worker whose results are wanted, or None if there is none."""
        self._waiting: Work[Result] | None = None

    @property
    def busy(self) -> bool:
        """True from the start of the work until its only result, or the end of its generator, arrives."""
        return self._worker is not None

    def start(self, work: Work[Result]) -> None:
        """Start at once, and drop what is running or waiting: nothing of it arrives any more."""
        self.cancel()
        self._worker = self._owner.run_worker(partial(self._run, work), thread=True)

    def request(self, work: Work[Result]) -> None:
        """Start after the work that is running, which still delivers. Of several requests only the newest waits."""
        if self._worker is None:
            self.start(work)
        else:
            self._waiting = work

    def cancel(self) -> None:
        """Drop what is running or waiting. A generator ends at its next `yield`, other work after its last line."""
        if self._worker is not None:
            self._worker.cancel()
        self._worker = self._waiting = None

    def _run(self, work: Work[Result]) -> None:
        """Do the work. Runs in the worker's thread."""
        worker = get_current_worker()
        try:
            result = work()
            if not isinstance(result, Generator):
                self._owner.call_later(self._deliver, worker, self._on_result, result, last=True)
                return
            with closing(result):
                for part in result:
                    if worker.is_cancelled:
                        return
                    self._owner.call_later(self._deliver, worker, self._on_result, part)
        except LabError as error:
            self._owner.call_later(self._deliver, worker, self._on_error, error, last=True)
        else:
            self._owner.call_later(self._deliver, worker, None, None, last=True)

    def _deliver(
        self, worker: Worker[None], take: Callable[..., object] | None, result: Any, *, last: bool = False
    ) -> None:
        # Here, on the UI thread, where work starts: threads end in any order, and an older result must not arrive
        # after a newer one.
        if worker is not self._worker:
            return
        if last:
            waiting, self._worker = self._waiting, None
            if waiting is not None:
                self.start(waiting)
        if take is not None:
            take(result)
