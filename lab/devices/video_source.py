"""Where a phone's live pictures come from: scrcpy's video, or one raw screencap after another."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from lab.core.seams import Trouble
from lab.core.step import Point
from lab.devices import screencap
from lab.devices.shell import Shell

if TYPE_CHECKING:
    from lab.devices.scrcpy import DecodedFrame, Scrcpy


class VideoPicture(NamedTuple):
    """A picture: its size, when it came (monotonic seconds), and its pixels; a video's are made when asked for."""

    size: Point
    at: float
    pixels: bytes | DecodedPicture


class DecodedPicture:
    """A picture of a video, its pixels made once, when they are asked for."""

    def __init__(self, picture: DecodedFrame) -> None:
        self.picture = picture
        self._lock = threading.Lock()
        self._rgb = b""

    def rgb(self) -> bytes:
        with self._lock:
            self._rgb = self._rgb or self.picture.rgb()
            return self._rgb

    def means(self, size: Point) -> bytes:
        return self.picture.rgb(size)


class PictureSource(Protocol):
    """Gives the newest picture each time; `answered` is when the phone last gave any sign (monotonic seconds).

    `noisy` is whether pictures of one and the same screen differ a little, as a video's do.
    """

    answered: float
    noisy: bool

    @property
    def via(self) -> str: ...

    def next(self, seconds: float) -> VideoPicture | None:
        """The next picture; None where none came, or none that differs, for so long. `Trouble` where it breaks."""


class VideoSource:
    """Pictures of a scrcpy session. A screen that does not change sends nothing, which is no failure."""

    noisy = True

    def __init__(self, session: Scrcpy) -> None:
        self.session = session
        self.answered = time.monotonic()
        self._number = -1

    @property
    def via(self) -> str:
        size = self.session.size
        return f"scrcpy {self.session.version}" + (f", {size[0]}x{size[1]}" if size else "")

    def next(self, seconds: float) -> VideoPicture | None:
        picture = self.session.newest(self._number, seconds)
        if picture is None:
            return None
        self._number, self.answered = picture.number, picture.at
        return VideoPicture(picture.size, picture.at, DecodedPicture(picture))


class Captures:
    """Raw screencaps, as fast as `fps` while they differ, and a few in a second while they do not."""

    _CALM, _SLOW = 2.0, 0.2
    noisy = False

    def __init__(self, shell: Shell, fps: int, why: str = "", panel: Callable[[], str] = str) -> None:
        self.via = f"screencap ({why})" if why else "screencap"
        self.answered = time.monotonic()
        self._shell, self._panel = shell, panel
        self._pause = 1 / max(1, fps)
        self._began = 0.0
        self._changed = time.monotonic()
        self._last: screencap.RawScreen | None = None

    def next(self, seconds: float) -> VideoPicture | None:
        calm = time.monotonic() - self._changed > self._CALM
        pause = max(self._pause, self._SLOW) if calm else self._pause
        early = self._began + pause - time.monotonic()
        if early > 0:
            time.sleep(min(early, seconds))
            if early > seconds:
                return None
        self._began = time.monotonic()
        raw = screencap.raw(self._shell, self._panel())
        self.answered = time.monotonic()
        if raw == self._last:
            return None
        self._last, self._changed = raw, self.answered
        return VideoPicture(raw.size, self.answered, raw.rgb())


class Failures:
    """Counts how often video has broken, so that it is given up in time and not too soon."""

    _MOST, _WELL = 3, 10.0

    def __init__(self) -> None:
        self._count = 0
        self.newest: Trouble | None = None

    def add(self, trouble: Trouble, seconds: float) -> None:
        """One session ended in `trouble` after so many seconds; a long one was well until then."""
        self._count = 1 if seconds > self._WELL else self._count + 1
        self.newest = trouble

    @property
    def enough(self) -> bool:
        return self._count >= self._MOST
