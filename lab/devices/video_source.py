"""Sources of a phone's live pictures: scrcpy's video, or repeated raw screencaps."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from lab.core.run.step import Point
from lab.core.seams import Trouble
from lab.devices.adb import screencap
from lab.devices.adb.shell import Shell

if TYPE_CHECKING:
    from lab.devices.scrcpy.scrcpy import DecodedFrame, Scrcpy


class VideoPicture(NamedTuple):
    """One picture: its size, its arrival in monotonic seconds, and its pixels (a video decodes them on demand)."""

    size: Point
    at: float
    pixels: bytes | DecodedPicture


class DecodedPicture:
    """Picture of a video that converts its pixels on first use."""

    def __init__(self, picture: DecodedFrame) -> None:
        self.picture = picture
        self._lock = threading.Lock()
        self._rgb = b""

    def rgb(self) -> bytes:
        """Return the pixels as height x width x 3 bytes."""
        with self._lock:
            self._rgb = self._rgb or self.picture.rgb()
            return self._rgb

    def means(self, size: Point) -> bytes:
        """Return the picture scaled to `size`, as RGB bytes."""
        return self.picture.rgb(size)


class PictureSource(Protocol):
    """Source of the newest picture. `answered` is the time of the phone's last sign of life (monotonic seconds).

    `noisy` is True if pictures of an unchanged screen differ slightly, as in a video.
    """

    answered: float
    noisy: bool

    @property
    def via(self) -> str: ...

    def next(self, seconds: float) -> VideoPicture | None:
        """Return the next picture, or None if none arrives, or none that differs, within `seconds`.

        Raise `Trouble` on failure.
        """


class VideoSource:
    """Pictures of a scrcpy session. An unchanged screen sends nothing, which is not a failure."""

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
    """Raw screencaps, at up to `fps` while they differ and a few per second while they do not."""

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
    """Counter of video failures that decides when to give up on scrcpy."""

    _MOST, _WELL = 3, 10.0

    def __init__(self) -> None:
        self._count = 0
        self.newest: Trouble | None = None

    def add(self, trouble: Trouble, seconds: float) -> None:
        """Count a session that ended in `trouble` after `seconds`.

        A long one resets the count: it worked until then.
        """
        self._count = 1 if seconds > self._WELL else self._count + 1
        self.newest = trouble

    @property
    def enough(self) -> bool:
        return self._count >= self._MOST
