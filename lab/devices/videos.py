"""How a phone's pictures come, and its scrcpy session while one runs: shared by all streams, and by its fingers."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from lab.core.errors import LabError
from lab.core.seams import Trouble
from lab.devices.shell import Open, Shell
from lab.devices.video_source import Captures, Failures, PictureSource, VideoSource

if TYPE_CHECKING:
    from lab.devices.scrcpy import InstalledApp, Scrcpy

_NO_SERVER = "no scrcpy server: `hitlab device scrcpy` fetches one"
_MOST_WORDS = 80
_COPY, _TAKEN = 0.5, 1.0
"""Seconds that a phone may take to say what is on its clipboard (an empty one says nothing), and to paste from it."""


class Videos:
    """Chooses between scrcpy and screencap, and falls back where scrcpy breaks again and again.

    `via` "scrcpy" never falls back, "screencap" never tries; `video` is the longer side in pixels, 0 the phone's own;
    `panel` is the physical display that screencap is told.
    """

    def __init__(
        self,
        open: Open,
        shell: Shell,
        via: Literal["auto", "screencap", "scrcpy"],
        fps: int,
        video: int,
        panel: Callable[[], str] = str,
    ) -> None:
        self._open, self._shell, self._panel = open, shell, panel
        self._wanted, self._fps, self._size = via, fps, video
        self._lock = threading.Lock()
        self._session: Scrcpy | None = None
        self._streams = 0
        self._failures = Failures()
        self._plan, self._why = _planned(via)
        self._closed = False
        self._source: PictureSource | None = None

    @property
    def via(self) -> str:
        """How pictures come now, or would come, in a few words."""
        if self._source is not None:
            return self._source.via
        return f"screencap ({self._why})" if self._why else self._plan

    @property
    def session(self) -> Scrcpy | None:
        """The session that runs now, which can touch and type; None while none does."""
        session = self._session
        return session if session is not None and session.alive else None

    @contextmanager
    def source(self, away: Callable[[], bool]) -> Iterator[PictureSource]:
        """Where one stream has its pictures from; a session is started with the first and ended with the last.

        Trouble in it counts against scrcpy, but not where the phone is `away`.
        """
        source, began = self._opened(away), time.monotonic()
        self._source = source
        try:
            yield source
        except Trouble as trouble:
            if isinstance(source, VideoSource) and not away():
                self._count(trouble, time.monotonic() - began)
            raise
        finally:
            if isinstance(source, VideoSource):
                self._leave()

    def paste(self, text: str, secret: bool) -> bool:
        """Pastes by scrcpy's clipboard, in a session of its own where none runs; False where no server is found.

        What is `secret` does not stay on the clipboard: what was there before is put back.
        """
        from lab.devices.scrcpy import Scrcpy

        session = self.session
        if session is not None:
            _paste(session, text, secret=secret)
            return True
        try:
            session = Scrcpy.start(self._open, video=False)
        except Trouble:
            raise
        except LabError:
            return False
        try:
            _paste(session, text, secret=secret)
        finally:
            session.close()
        return True

    def labels(self) -> Sequence[InstalledApp] | None:
        """The phone's apps with their labels; None where no server is found, or it does not list them."""
        from lab.devices.scrcpy_apps import apps

        try:
            return apps(self._open)
        except LabError:
            return None

    def close(self) -> None:
        """Ends the session, if one runs; none is started any more."""
        self._closed = True
        session = self._session
        if session is not None:
            session.close()

    def _opened(self, away: Callable[[], bool]) -> PictureSource:
        if not self._why:
            try:
                return VideoSource(self._enter())
            except Trouble as trouble:
                if not away():
                    self._count(trouble, 0.0)
                raise
            except LabError as error:
                if self._wanted == "scrcpy":
                    raise
                self._why = _in_short(error)
        return Captures(self._shell, self._fps, self._why, self._panel)

    def _enter(self) -> Scrcpy:
        """The running session, or a new one, with one stream more."""
        from lab.devices.scrcpy import Scrcpy

        with self._lock:
            if self._closed:
                raise Trouble(self._shell.who, "was let go of.")
            if self._session is None or not self._session.alive:
                if self._session is not None:
                    self._session.close()
                self._session = Scrcpy.start(self._open, max_size=self._size, max_fps=self._fps)
                if self._closed:
                    self._session.close()
            self._streams += 1
            return self._session

    def _leave(self) -> None:
        """One stream less; the session ends with the last."""
        with self._lock:
            self._streams -= 1
            session = self._session
            if self._streams or session is None:
                return
            self._session = None
        session.close()

    def _count(self, trouble: Trouble, seconds: float) -> None:
        self._failures.add(trouble, seconds)
        if self._failures.enough and self._wanted == "auto":
            self._why = f"scrcpy failed: {_in_short(trouble)}"


def _paste(session: Scrcpy, text: str, *, secret: bool) -> None:
    before = session.clipboard(seconds=_COPY) if secret else None
    try:
        session.paste(text)
    finally:
        if secret:
            time.sleep(_TAKEN)  # the phone says that the text is set, and pastes it only then
            with contextlib.suppress(LabError):
                session.copy_in(before or "")


def _planned(via: str) -> tuple[str, str]:
    """How pictures will come where scrcpy does it, and why it does not, of which one is empty."""
    from lab.devices.scrcpy_server import find

    if via == "screencap":
        return "", "as was asked for"
    try:
        return f"scrcpy {find().speech.version}", ""
    except LabError as error:
        if via == "scrcpy":
            return "scrcpy", ""
        return "", _NO_SERVER if "there is no" in error.message else _in_short(error)


def _in_short(error: LabError) -> str:
    words = error.message.rstrip(".")
    return words if len(words) <= _MOST_WORDS else words[:_MOST_WORDS] + "..."
