"""Choice between scrcpy and screencap for a phone's pictures, and the scrcpy session that streams and input share."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from lab.core.errors import LabError
from lab.core.seams import Trouble
from lab.devices.adb.shell import Open, Shell
from lab.devices.video_source import Captures, Failures, PictureSource, VideoSource

if TYPE_CHECKING:
    from lab.devices.scrcpy.scrcpy import InstalledApp, Scrcpy

_NO_SERVER = "no scrcpy server: `hitlab settings scrcpy` fetches one"
_MOST_WORDS = 80
_COPY, _TAKEN = 0.5, 1.0
"""Seconds that a phone gets to send its clipboard (an empty one sends nothing), and to paste from it."""


class Videos:
    """Picture sources of one phone: scrcpy, with a fallback to screencap after repeated failures.

    With `via` "scrcpy" it never falls back, with "screencap" it never tries scrcpy. `video` is the longer side in
    pixels, 0 for the phone's own. `panel` returns the physical display id for screencap.
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
        self._plan, self._why = _plan_source(via)
        self._closed = False
        self._source: PictureSource | None = None

    @property
    def via(self) -> str:
        """Current or planned source of pictures in a few words."""
        if self._source is not None:
            return self._source.via
        return f"screencap ({self._why})" if self._why else self._plan

    @property
    def session(self) -> Scrcpy | None:
        """Running session, which can touch and type, or None."""
        session = self._session
        return session if session is not None and session.alive else None

    @contextmanager
    def source(self, away: Callable[[], bool]) -> Iterator[PictureSource]:
        """Yield the picture source of one stream. The first stream starts a session, the last one ends it.

        Count a `Trouble` inside against scrcpy unless the phone is `away`.
        """
        source, began = self._open_source(away), time.monotonic()
        self._source = source
        try:
            yield source
        except Trouble as trouble:
            if isinstance(source, VideoSource) and not away():
                self._count_failure(trouble, time.monotonic() - began)
            raise
        finally:
            if isinstance(source, VideoSource):
                self._release_session()

    def paste(self, text: str, secret: bool) -> bool:
        """Paste by scrcpy's clipboard, in a temporary session if none runs. Return False if there is no server.

        After a `secret` text, restore the clipboard's earlier content.
        """
        from lab.devices.scrcpy.scrcpy import Scrcpy

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
        """Return the phone's apps with their labels, or None if no server is found or it cannot list them."""
        from lab.devices.scrcpy.scrcpy_apps import apps

        try:
            return apps(self._open)
        except LabError:
            return None

    def close(self) -> None:
        """End the session, if one runs, and start no more."""
        self._closed = True
        session = self._session
        if session is not None:
            session.close()

    def _open_source(self, away: Callable[[], bool]) -> PictureSource:
        if not self._why:
            try:
                return VideoSource(self._acquire_session())
            except Trouble as trouble:
                if not away():
                    self._count_failure(trouble, 0.0)
                raise
            except LabError as error:
                if self._wanted == "scrcpy":
                    raise
                # An error that is not a `Trouble` (no server, an unsupported one) will not go away: use screencap from
                # now on.
                self._why = _shorten(error)
        return Captures(self._shell, self._fps, self._why, self._panel)

    def _acquire_session(self) -> Scrcpy:
        """Return the running session, or a new one, and count one more stream."""
        from lab.devices.scrcpy.scrcpy import Scrcpy

        with self._lock:
            if self._closed:
                raise Trouble(self._shell.who, "was let go of.")
            if self._session is None or not self._session.alive:
                if self._session is not None:
                    self._session.close()
                self._session = Scrcpy.start(self._open, max_size=self._size, max_fps=self._fps)
                # `close` takes no lock, so as not to wait for a start, and may have run meanwhile.
                if self._closed:
                    self._session.close()
            self._streams += 1
            return self._session

    def _release_session(self) -> None:
        """Count one stream less and end the session after the last."""
        with self._lock:
            self._streams -= 1
            session = self._session
            if self._streams or session is None:
                return
            self._session = None
        # Outside the lock, because closing joins threads.
        session.close()

    def _count_failure(self, trouble: Trouble, seconds: float) -> None:
        self._failures.add(trouble, seconds)
        if self._failures.enough and self._wanted == "auto":
            self._why = f"scrcpy failed: {_shorten(trouble)}"


def _paste(session: Scrcpy, text: str, *, secret: bool) -> None:
    before = session.clipboard(seconds=_COPY) if secret else None
    try:
        session.paste(text)
    finally:
        if secret:
            time.sleep(_TAKEN)  # the phone acknowledges the text before it pastes it
            with contextlib.suppress(LabError):
                session.copy_in(before or "")


def _plan_source(via: str) -> tuple[str, str]:
    """Return the planned scrcpy version and the reason for screencap, one of them empty."""
    from lab.devices.scrcpy.scrcpy_server import find

    if via == "screencap":
        return "", "as was asked for"
    try:
        return f"scrcpy {find().speech.version}", ""
    except LabError as error:
        if via == "scrcpy":
            return "scrcpy", ""
        return "", _NO_SERVER if "there is no" in error.message else _shorten(error)


def _shorten(error: LabError) -> str:
    words = error.message.rstrip(".")
    return words if len(words) <= _MOST_WORDS else words[:_MOST_WORDS] + "..."
