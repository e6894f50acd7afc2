"""A queue for work that a screen does off the UI thread in order, such as writes that wait for the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

from lab.core.errors import LabError

Errand = Callable[[], object]


class BackgroundWrites:
    """One daemon thread with a queue. It calls `refused`, on that thread, with the `LabError` of an errand.

    It is no executor's: Python waits for those at exit without a limit, and `finish` waits for some seconds only.
    """

    def __init__(self, name: str, refused: Callable[[LabError], None]) -> None:
        self._refused = refused
        self._queue: SimpleQueue[Errand | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def do(self, errand: Errand) -> None:
        """Queue an errand after all earlier ones. Returns at once."""
        self._queue.put(errand)

    def finish(self, seconds: float) -> bool:
        """Wait at most `seconds` until all errands are done. Return True if they are. Queue nothing afterwards."""
        self._queue.put(None)
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (errand := self._queue.get()) is not None:
            try:
                errand()
            except LabError as error:
                self._refused(error)
