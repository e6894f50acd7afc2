"""A live Android phone over adb: pictures by screencap or scrcpy, trees by uiautomator, input by hand."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from lab.core.errors import LabError
from lab.core.redaction.password_redaction import without_password_texts
from lab.core.run.step import Action, Point
from lab.core.run.trace import DeviceInfo
from lab.core.run.ui_tree import UiTree
from lab.core.seams import Frame, Screen, Trouble
from lab.devices import selection
from lab.devices.adb.actions import ActionRunner
from lab.devices.adb.adb_server import Server
from lab.devices.adb.dump import Dumper
from lab.devices.adb.screencap import is_dark_frame
from lab.devices.adb.shell import Shell
from lab.devices.adb.socket_io import SocketSet
from lab.devices.adb.system_state import glance
from lab.devices.adb.tracker import Tracker
from lab.devices.observation import ScreenObserver
from lab.devices.screen_watch import ScreenWatch
from lab.devices.stream import FrameStream
from lab.devices.videos import Videos

if TYPE_CHECKING:
    from lab.devices.harness import Harness

Via = Literal["auto", "screencap", "scrcpy"]


class AdbPhone:
    """One phone by adb: a `Device` with `SupportsConnectionState` and `SupportsPosture` of `lab.core.seams`.

    `serial` is adb's name for it or HOST:PORT, empty for the only phone there is. `video` is the longer side of the
    video in pixels (0: the phone's own), `harness` a served phone's, `patience` the time limit of each request in
    seconds. Raise `LabError` if it is unavailable.
    """

    def __init__(
        self,
        serial: str = "",
        *,
        via: Via = "auto",
        fps: int = 20,
        video: int = 1200,
        harness: Harness | None = None,
        server: Server | None = None,
        patience: float = 10.0,
    ) -> None:
        self._server = server or Server.from_environment()
        self.serial = selection.attach(self._server, serial, patience)
        self._harness = harness
        self._closed = threading.Event()
        self._lines = SocketSet()
        self._listener: Callable[[Trouble | None], None] = lambda trouble: None
        packets = "shell_v2" in self._server.features(self.serial)
        self.shell = Shell(self._open, f"phone {self.serial}", packets=packets, patience=patience)
        state = glance(self.shell)
        self._info = selection.describe(self.shell, self.serial, state.size)
        # Actions refer to the last observation, while the live stream may have followed a rotation since.
        self._size = self._observed_size = state.size or (0, 0)
        self._tree = UiTree()
        self._observing = threading.Event()
        self._dumper = Dumper(self.shell)
        self._report_lock = threading.RLock()
        self._troubles: dict[str, Trouble | None] = {"line": None, "screen": None}
        self._frame: Frame | None = None
        """Newest live frame, or None without a running stream."""
        self._screen = ScreenWatch(self.shell, lambda trouble: self._report(screen=trouble), self._is_dark)
        self._screen.start()
        self._observer = ScreenObserver(self.shell, self._dumper, self._screen, state)
        self._videos = Videos(self._open, self.shell, via, fps, video, lambda: self._screen.state.panel)
        self._action_runner = ActionRunner(self.shell, self._dumper, self._videos)
        # While the line is down the screen's state is unknown, so the tracker clears that trouble.
        self._tracker = Tracker(self._server, self.serial, lambda trouble: self._report(line=trouble, screen=None))

    # -- who and where it is ---------------------------------------------------------------------------------

    @property
    def info(self) -> DeviceInfo:
        return self._info

    @property
    def via(self) -> str:
        """Source of its pictures: `scrcpy 3.3.4, 544x1200`, or `screencap` and why not scrcpy."""
        return self._videos.via

    def serialno(self) -> str:
        """Return its manufacturer's serial number, independent of its address."""
        return self.shell.run("getprop ro.serialno").out.strip()

    @property
    def typed_by(self) -> str:
        """Method of the newest text input: `input text`, `scrcpy clipboard` or `ADB keyboard`."""
        return self._action_runner.typist.typed_by

    @property
    def keyboard_shown(self) -> bool:
        """True if the on-screen keyboard was visible at the last observation."""
        return self._observer.glance.keyboard

    @property
    def tree_missing(self) -> str:
        """Reason why the newest dump failed, in uiautomator's words, or empty."""
        return self._dumper.missing

    @property
    def on_line(self) -> Callable[[Trouble | None], None]:
        """Callback, on a thread of the phone's: called with the reason when it goes away, with None when it is back."""
        return self._listener

    @on_line.setter
    def on_line(self, listener: Callable[[Trouble | None], None]) -> None:
        self._listener = listener
        trouble = self._trouble or self._tracker.trouble
        if trouble is not None:
            listener(trouble)

    @property
    def on_posture(self) -> Callable[[str, str], None]:
        """Callback, on a thread of the phone's: called when it is turned or shown on another display."""
        return self._screen.on_posture

    @on_posture.setter
    def on_posture(self, listener: Callable[[str, str], None]) -> None:
        self._screen.on_posture = listener

    # -- what it shows ---------------------------------------------------------------------------------------

    def observe(self) -> Screen:
        """Return a lossless screenshot and its UI tree, which is empty if uiautomator gives none."""
        self._observing.set()
        try:
            with self._explain_absence():
                screen = self._observer.observe()
        finally:
            self._observing.clear()
        self._size = self._observed_size = screen.size
        self._tree = screen.tree
        return screen

    def frames(self, stop: threading.Event) -> Iterator[Frame]:
        """Yield live frames as they change, newest only, each with its tree once the screen is at rest.

        Repeat the last frame about once a second while the phone still answers. Raise `Trouble` if it does not.
        """
        try:
            with self._explain_absence(), self._videos.source(self._is_away) as source:
                stream = FrameStream(source, self._display_size, self._dump_for_stream, self._ping)
                for frame in stream.frames(lambda: stop.is_set() or self._closed.is_set()):
                    self._frame = frame
                    yield frame
        except Trouble:
            if not self._closed.is_set():
                raise
        finally:
            self._frame = None

    def _is_dark(self) -> bool:
        """Return True if the newest live frame is black. False without a running stream."""
        frame = self._frame
        return frame is not None and is_dark_frame(frame)

    def _display_size(self, picture: Point) -> Point:
        """Return the phone's own pixel size, oriented like a picture of that size."""
        if (picture[0] > picture[1]) != (self._size[0] > self._size[1]):
            self._size = self._size[::-1]
        return self._size

    def _dump_for_stream(self) -> UiTree | None:
        """Return the tree for the live stream, which yields to an observation in progress."""
        # The stream treats a `LabError` as "no tree now" and asks again later.
        if self._observing.is_set():
            raise Trouble(self.shell.who, "is being observed.")
        tree = self._dumper.tree(1)
        return without_password_texts(tree) if tree is not None else None

    def _ping(self) -> None:
        self.shell.raw(":")

    # -- what is done to it ----------------------------------------------------------------------------------

    def perform(self, action: Action) -> None:
        """Perform one action. Raise a `LabError` other than `Trouble` if it is refused for good."""
        with self._explain_absence():
            self._screen.check()
            self._action_runner.perform(action, self._observed_size, self._tree)

    def snapshot(self) -> dict[str, Any] | None:
        """Return a served phone's state by its harness, or None for a real phone."""
        return self._harness.snapshot() if self._harness is not None else None

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a served phone's state. Raise `LabError` for a real phone, which cannot be restored."""
        if self._harness is None:
            raise LabError(self.shell.who, "is a real phone: it cannot be put back to an earlier state.")
        self._harness.restore(state)

    def close(self) -> None:
        """Release the phone: end all streams, threads and commands on it. Safe to call twice and from any thread."""
        if self._closed.is_set():
            return
        self._closed.set()
        # First: it needs its connection for the phone to restore its settings.
        self._screen.close()
        self._videos.close()
        self._lines.close()
        self._tracker.close()

    # -- its line --------------------------------------------------------------------------------------------

    def _open(self, service: str, seconds: float) -> socket.socket:
        if self._closed.is_set():
            raise Trouble(f"phone {self.serial}", "was let go of.")
        return self._server.open(self.serial, service, seconds, self._lines)

    def _is_away(self) -> bool:
        return self._tracker.ask() is not None

    @contextlib.contextmanager
    def _explain_absence(self) -> Iterator[None]:
        """Replace any `Trouble` by the phone's absence if it is away: a cut line looks like a failed screenshot."""
        try:
            yield
        except Trouble as trouble:
            away = None if self._closed.is_set() else self._tracker.ask()
            if away is None:
                raise
            raise Trouble(away.title, away.message, away.hint, sent=trouble.sent) from trouble

    @property
    def _trouble(self) -> Trouble | None:
        return self._troubles["line"] or self._troubles["screen"]

    def _report(self, **troubles: Trouble | None) -> None:
        """Report what stops a run, the connection before the screen, if its text has changed."""
        with self._report_lock:
            before = self._trouble
            self._troubles.update(troubles)
            now = self._trouble
        same = (now and now.sentence) == (before and before.sentence)
        if not self._closed.is_set() and not same:
            with contextlib.suppress(LabError):  # a listener's failure must not end the tracker's thread
                self._listener(now)
