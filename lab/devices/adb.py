"""A live Android phone over adb: seen by its own screencap and uiautomator, or scrcpy's video, and worked by hand."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from lab.core.errors import LabError
from lab.core.password_redaction import without_password_texts
from lab.core.seams import Frame, Screen, Trouble
from lab.core.step import Action, Point
from lab.core.trace import DeviceInfo
from lab.core.ui_tree import UiTree
from lab.devices import selection
from lab.devices.actions import ActionRunner
from lab.devices.adb_server import Server
from lab.devices.dump import Dumper
from lab.devices.observation import ScreenObserver
from lab.devices.screen_watch import ScreenWatch
from lab.devices.screencap import is_dark_frame
from lab.devices.shell import Shell
from lab.devices.socket_io import SocketSet
from lab.devices.stream import FrameStream
from lab.devices.system_state import glance
from lab.devices.tracker import Tracker
from lab.devices.videos import Videos

if TYPE_CHECKING:
    from lab.devices.harness import Harness

Via = Literal["auto", "screencap", "scrcpy"]


class AdbPhone:
    """One phone on adb's line; implements `Device`, `SupportsConnectionState` and `SupportsPosture` of
    `lab.core.seams`.

    `serial` is adb's name for it or HOST:PORT; the empty one is the only phone there is. `video` is the longer side of
    the video in pixels (0: the phone's own), `harness` a served phone's, `patience` the seconds that each thing
    asked of the phone may take. A `LabError` where it cannot be had.
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
        self._server = server or Server.named()
        self.serial = selection.attach(self._server, serial, patience)
        self._harness = harness
        self._closed = threading.Event()
        self._lines = SocketSet()
        self._told: Callable[[Trouble | None], None] = lambda trouble: None
        packets = "shell_v2" in self._server.features(self.serial)
        self.shell = Shell(self._open, f"phone {self.serial}", packets=packets, patience=patience)
        state = glance(self.shell)
        self._info = selection.describe(self.shell, self.serial, state.size)
        self._size = self._looked = state.size or (0, 0)
        self._tree = UiTree()
        self._observing = threading.Event()
        self._dumper = Dumper(self.shell)
        self._telling = threading.RLock()
        self._troubles: dict[str, Trouble | None] = {"line": None, "screen": None}
        self._frame: Frame | None = None
        """The newest picture for the eye; None where nobody looks."""
        self._screen = ScreenWatch(self.shell, lambda trouble: self._tell(screen=trouble), self._is_dark)
        self._screen.start()
        self._looker = ScreenObserver(self.shell, self._dumper, self._screen, state)
        self._videos = Videos(self._open, self.shell, via, fps, video, lambda: self._screen.state.panel)
        self._acting = ActionRunner(self.shell, self._dumper, self._videos)
        self._tracker = Tracker(self._server, self.serial, lambda trouble: self._tell(line=trouble, screen=None))

    # -- who and where it is ---------------------------------------------------------------------------------

    @property
    def info(self) -> DeviceInfo:
        return self._info

    @property
    def via(self) -> str:
        """How its pictures come: `scrcpy 3.3.4, 544x1200`, or `screencap` and why not scrcpy."""
        return self._videos.via

    def serialno(self) -> str:
        """The number that its maker gave it, by whatever address it is reached."""
        return self.shell.run("getprop ro.serialno").out.strip()

    @property
    def typed_by(self) -> str:
        """How the newest text was typed: `input text`, `scrcpy clipboard` or `ADB keyboard`."""
        return self._acting.typist.typed_by

    @property
    def keyboard_shown(self) -> bool:
        """Whether the phone's keyboard was on the screen at the last observation."""
        return self._looker.glance.keyboard

    @property
    def tree_missing(self) -> str:
        """Why the newest tree could not be had, in uiautomator's words; empty where it could."""
        return self._dumper.missing

    @property
    def on_line(self) -> Callable[[Trouble | None], None]:
        """What is told when the phone goes away (with why) and when it is back (None), on a thread of the phone's."""
        return self._told

    @on_line.setter
    def on_line(self, listener: Callable[[Trouble | None], None]) -> None:
        self._told = listener
        trouble = self._trouble or self._tracker.trouble
        if trouble is not None:
            listener(trouble)

    @property
    def on_posture(self) -> Callable[[str, str], None]:
        """What is told when the phone is turned, or shown on another display, on a thread of the phone's."""
        return self._screen.on_posture

    @on_posture.setter
    def on_posture(self, listener: Callable[[str, str], None]) -> None:
        self._screen.on_posture = listener

    # -- what it shows ---------------------------------------------------------------------------------------

    def observe(self) -> Screen:
        """A lossless picture and the tree that belongs to it, empty where uiautomator gives none."""
        self._observing.set()
        try:
            with self._away_first():
                screen = self._looker.observe()
        finally:
            self._observing.clear()
        self._size = self._looked = screen.size
        self._tree = screen.tree
        return screen

    def frames(self, stop: threading.Event) -> Iterator[Frame]:
        """Pictures as they change, newest only, each with its tree once the screen has come to rest.

        About once a second the same frame again where the phone still answers; `Trouble` where it does not.
        """
        try:
            with self._away_first(), self._videos.source(self._away) as source:
                stream = FrameStream(source, self._space, self._dump_aside, self._ping)
                for frame in stream.frames(lambda: stop.is_set() or self._closed.is_set()):
                    self._frame = frame
                    yield frame
        except Trouble:
            if not self._closed.is_set():
                raise
        finally:
            self._frame = None

    def _is_dark(self) -> bool:
        """Whether the newest picture for the eye is black; False where nobody looks."""
        frame = self._frame
        return frame is not None and is_dark_frame(frame)

    def _space(self, picture: Point) -> Point:
        """The phone's own pixels, turned as a picture is."""
        if (picture[0] > picture[1]) != (self._size[0] > self._size[1]):
            self._size = self._size[::-1]
        return self._size

    def _dump_aside(self) -> UiTree | None:
        """The tree for the stream, which stands back while a run observes."""
        if self._observing.is_set():
            raise Trouble(self.shell.who, "is being observed.")
        tree = self._dumper.tree(1)
        return without_password_texts(tree) if tree is not None else None

    def _ping(self) -> None:
        self.shell.raw(":")

    # -- what is done to it ----------------------------------------------------------------------------------

    def perform(self, action: Action) -> None:
        """Does one action; a `LabError` that is no `Trouble` where it is refused for good."""
        with self._away_first():
            self._screen.check()
            self._acting.perform(action, self._looked, self._tree)

    def snapshot(self) -> dict[str, Any] | None:
        """A served phone's state, by its harness; None of a real phone."""
        return self._harness.snapshot() if self._harness is not None else None

    def restore(self, state: dict[str, Any]) -> None:
        """Puts a served phone's state back; a `LabError` for a real one, which cannot be put back."""
        if self._harness is None:
            raise LabError(self.shell.who, "is a real phone: it cannot be put back to an earlier state.")
        self._harness.restore(state)

    def close(self) -> None:
        """Lets go of it: ends all streams, threads and what runs on the phone; safe twice, from any thread."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._screen.close()
        self._videos.close()
        self._lines.close()
        self._tracker.close()

    # -- its line --------------------------------------------------------------------------------------------

    def _open(self, service: str, seconds: float) -> socket.socket:
        if self._closed.is_set():
            raise Trouble(f"phone {self.serial}", "was let go of.")
        return self._server.open(self.serial, service, seconds, self._lines)

    def _away(self) -> bool:
        return self._tracker.ask() is not None

    @contextlib.contextmanager
    def _away_first(self) -> Iterator[None]:
        """Says of any trouble that the phone is away, where it is: a cut line looks like a failed screenshot."""
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

    def _tell(self, **troubles: Trouble | None) -> None:
        """Tells of what keeps a run from going on, its line before its screen, where that reads otherwise now."""
        with self._telling:
            before = self._trouble
            self._troubles.update(troubles)
            now = self._trouble
        same = (now and now.sentence) == (before and before.sentence)
        if not self._closed.is_set() and not same:
            with contextlib.suppress(LabError):  # whoever listens keeps what fails with it; the line is followed on
                self._told(now)
