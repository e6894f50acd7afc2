"""The thread that paints a phone. It has one slot: only the newest shot and view are painted, nothing is queued."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from screens.mirror.glyphs import Codes
from screens.mirror.shot import MirrorShot, MirrorView

if TYPE_CHECKING:
    from screens.mirror.painter import PaintedPhone


class FramePainter:
    """Painter of the newest shot in the newest view. It calls `ready` on its own thread after each.

    The thread starts with the first shot that has a view, so that an app without a phone never loads numpy. Of the
    shots put while it paints only the last is painted, at most `fps` times a second.
    """

    def __init__(self, codes: Codes, ready: Callable[[], object]) -> None:
        self.fps = 30
        self.asked = 0
        """Number of requests so far."""
        self.painted: tuple[int, PaintedPhone] | None = None
        """Number of the request painted last, and the result."""
        self.paintings = 0
        """Number of paintings so far."""
        self.fault: Exception | None = None
        """Exception that ended the thread. Nothing is painted after it."""
        self._codes, self._ready = codes, ready
        self._change = threading.Condition()
        self._shot: MirrorShot | None = None
        self._view: MirrorView | None = None
        self._closed = False
        self._thread: threading.Thread | None = None

    def put(self, *, shot: MirrorShot | None = None, view: MirrorView | None = None) -> None:
        """Request another shot or view, from any thread. Never blocks on painting."""
        with self._change:
            if self._closed:
                return
            self._shot, self._view = shot or self._shot, view or self._view
            if self._shot is None:
                return
            self.asked += 1
            # Started late: the thread imports numpy.
            if self._thread is None and self._view is not None:
                self._thread = threading.Thread(target=self._run, name="mirror", daemon=True)
                self._thread.start()
            self._change.notify_all()

    def close(self) -> None:
        """End the thread after the painting under way. May be called twice."""
        with self._change:
            self._closed = True
            self._change.notify_all()

    @property
    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._paint_on()
        except Exception as error:  # noqa: BLE001 - raised where it is seen: else a picture just never came
            self.fault = error
            self._ready()

    def _paint_on(self) -> None:
        from screens.mirror.painter import Painter

        painter = Painter(self._codes)
        began = 0.0
        while (job := self._next_job(began)) is not None:
            number, shot, view = job
            began = time.monotonic()
            self.painted = number, painter.paint(shot, view)
            self.paintings += 1
            if not self._closed:
                self._ready()

    def _next_job(self, began: float) -> tuple[int, MirrorShot, MirrorView] | None:
        """Return the newest request once it is due; None if closed."""
        with self._change:
            last_number = self.painted[0] if self.painted is not None else 0
            while not self._closed and self.asked == last_number:
                self._change.wait()
            while not self._closed and (pause := began + 1 / max(1, self.fps) - time.monotonic()) > 0:
                self._change.wait(pause)
            if self._closed or self._shot is None or self._view is None:
                return None
            return self.asked, self._shot, self._view
