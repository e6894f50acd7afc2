"""One scrcpy session with a phone: its live video, and a control channel for touch, keys and text."""

from __future__ import annotations

import contextlib
import re
import secrets
import socket
import threading
from collections.abc import Iterator
from typing import Literal, NamedTuple

from lab.core.errors import LabError
from lab.core.run.step import Point
from lab.core.seams import Trouble
from lab.core.text.plain_text import plain
from lab.devices.adb.shell import Open
from lab.devices.adb.socket_io import Deadline, broken, exactly, hang_up
from lab.devices.scrcpy import scrcpy_codec
from lab.devices.scrcpy.scrcpy_apps import InstalledApp, apps
from lab.devices.scrcpy.scrcpy_control import ControlSocket
from lab.devices.scrcpy.scrcpy_push import push
from lab.devices.scrcpy.scrcpy_server import PLACE, command, find
from lab.devices.scrcpy.scrcpy_stream import WHO
from lab.devices.scrcpy.scrcpy_video import DecodedFrame, VideoSocket

__all__ = ["DecodedFrame", "InstalledApp", "Open", "Scrcpy", "apps"]

_RETRY_SECONDS = 0.05
_ENDING = 1.0
_TICK = 0.25
_REFUSAL_SECONDS = 0.03
"""Seconds to wait for a refusal that the server prints shortly before its acknowledgement."""


class _OpenSockets(NamedTuple):
    """Connected sockets of a session after the handshake, with the video's size."""

    name: str
    video: socket.socket | None
    size: Point | None
    control: socket.socket | None


class Scrcpy:
    """A running session. Calls may raise `Trouble`, all have time limits, and none belongs on the UI thread.

    A phone that refuses injected touches reports it late: the next touch, key or text then raises a `LabError`.
    """

    def __init__(self, sockets: _OpenSockets, speech: scrcpy_codec.Speech, log: ServerLog) -> None:
        self.name = sockets.name
        """Phone's name for itself."""
        self.speech = speech
        self._log = log
        self._closed = False
        self._control = ControlSocket(sockets.control) if sockets.control else None
        self._video = VideoSocket(sockets.video, speech, sockets.size) if sockets.video and sockets.size else None

    @classmethod
    def start(
        cls,
        open: Open,
        *,
        jar: str = "",
        max_size: int = 1200,
        max_fps: int = 30,
        bit_rate: int = 8_000_000,
        video: bool = True,
        control: bool = True,
        seconds: float = 10.0,
    ) -> Scrcpy:
        """Copy the server to the phone, run it and connect. An empty `jar` path searches for a server.

        `max_size` bounds the video's longer side. 0 removes the bound of `max_size` or `max_fps`. Raise `LabError` if
        there is no supported server, `Trouble` if the phone does not finish within `seconds`.
        """
        server = find(jar)
        deadline = Deadline(seconds)
        scid = secrets.randbits(31)
        place = PLACE.format(scid=scid)
        push(open, server.read(), place, deadline)  # one per session, which removes its jar at the end
        line = command(
            place, server.speech, scid, video=video, control=control, max_size=max_size, max_fps=max_fps,
            video_codec="h264", video_bit_rate=bit_rate, clipboard_autosync=False,
        )  # fmt: skip
        log = ServerLog(
            open(f"shell,pty:{line}", deadline.seconds_left)
        )  # with a pty, the server ends with its connection
        try:
            return cls(
                _connect_all(open, server.speech, scid, log, deadline, video=video, control=control), server.speech, log
            )
        except Trouble as error:
            trouble = log.explained(error)
            log.close()
            raise trouble from error
        except BaseException:
            log.close()
            raise

    @property
    def version(self) -> str:
        """Server's version, such as 3.3.4."""
        return self.speech.version

    @property
    def size(self) -> Point | None:
        """Current size of the video, or None without video."""
        return self._video.size if self._video else None

    @property
    def alive(self) -> bool:
        """False after `close`, or once the phone has ended the session or broken the protocol."""
        ends = [end for end in (self._video, self._control) if end]
        return not (self._closed or self._log.ended.is_set() or any(end.trouble for end in ends))

    def newest(self, after: int = -1, seconds: float = 1.0) -> DecodedFrame | None:
        """Return the newest picture with a number above `after`, or None if the screen did not change for `seconds`."""
        if self._video is None:
            raise LabError(WHO, "this session has no video.")
        return self._video.newest(after, seconds)

    def pictures(self, stop: threading.Event) -> Iterator[DecodedFrame]:
        """Yield the newest picture each time, dropping older ones, until `stop` is set.

        Raise `Trouble` if the video breaks.
        """
        after = -1
        while not stop.is_set():
            picture = self.newest(after, _TICK)
            if picture is not None:
                after = picture.number
                yield picture

    def touch(self, x: float, y: float, kind: scrcpy_codec.Touch, space: Point, *, pointer: int = 0) -> None:
        """Touch a point of `space`, the phone's own pixels in its current orientation."""
        at, size = self._to_video(x, y, space)
        self._send(scrcpy_codec.touch(kind, at, size, pointer=pointer))

    def scroll(self, x: float, y: float, horizontal: float, vertical: float, space: Point) -> None:
        """Turn a mouse wheel at a point, in notches. Positive is right and up."""
        at, size = self._to_video(x, y, space)
        self._send(scrcpy_codec.scroll(at, size, horizontal, vertical, self.speech.notches))

    def key(self, code: int, kind: Literal["press", "down", "up"] = "press", meta: int = 0) -> None:
        """Press an Android key by its `KeyEvent.KEYCODE_...` number."""
        if kind == "press":
            self._send(scrcpy_codec.key("down", code, meta=meta), scrcpy_codec.key("up", code, meta=meta))
        else:
            self._send(scrcpy_codec.key(kind, code, meta=meta))

    def text(self, text: str) -> None:
        """Type printable ASCII key by key. Raise `LabError` for other characters, which `paste` can type."""
        if not (text.isascii() and text.isprintable()):
            raise LabError(WHO, "only printable ASCII can be typed key by key.")
        if text:
            self._send(*scrcpy_codec.text(text))

    def paste(self, text: str, *, seconds: float = 3.0) -> None:
        """Set the phone's clipboard to a text of any script and paste it. Return after the phone's acknowledgement."""
        hand = self._require_control()
        self._check(0.0)
        hand.set_clipboard(text, paste=True, seconds=seconds)
        self._check(_REFUSAL_SECONDS)

    def copy_in(self, text: str, *, seconds: float = 3.0) -> None:
        """Set the phone's clipboard. Return after the phone's acknowledgement."""
        self._require_control().set_clipboard(text, paste=False, seconds=seconds)

    def clipboard(self, *, seconds: float = 3.0) -> str | None:
        """Return the phone's clipboard, or None if no answer arrives in time (an empty clipboard sends none)."""
        return self._require_control().clipboard(seconds)

    def press_back(self) -> None:
        """Press Back, which wakes the phone if its screen is off."""
        self._send(scrcpy_codec.encode_back("down"), scrcpy_codec.encode_back("up"))

    def rotate(self) -> None:
        """Rotate the phone between portrait and landscape."""
        self._send(scrcpy_codec.rotate())

    def display_power(self, on: bool) -> None:
        """Turn the phone's own display on or off. Its video continues."""
        self._send(scrcpy_codec.display_power(on, self.speech))

    def expand(self, panel: Literal["notifications", "settings", ""]) -> None:
        """Expand a panel. The empty name collapses all."""
        self._send(scrcpy_codec.panel(panel))

    def start_app(self, name: str) -> None:
        """Start an app by package, or by label as `?label`. A leading `+` stops it first. The phone sends no result."""
        if not self.speech.starts_apps:
            raise LabError(WHO, f"its server {self.version} starts no apps.")
        self._send(scrcpy_codec.start_app(name))

    def close(self) -> None:
        """End the server on the phone, the sockets and the threads. Safe to call twice and from any thread."""
        self._closed = True
        for end in (self._control, self._video):
            if end is not None:
                end.close()
        self._log.close(_ENDING)

    def _require_control(self) -> ControlSocket:
        if self._control is None:
            raise LabError(WHO, "this session has no control.")
        return self._control

    def _send(self, *messages: bytes) -> None:
        hand = self._require_control()
        self._check(0.0)
        hand.say(*messages)

    def _check(self, seconds: float) -> None:
        """Raise `LabError`, once, if the phone has refused an event since the last check or does within `seconds`."""
        if self._log.denied.wait(seconds):
            self._log.denied.clear()
            hint = "In its developer options allow 'USB debugging (Security settings)', or what it is called there."
            raise LabError(WHO, "the phone does not let adb touch its screen.", hint)

    def _to_video(self, x: float, y: float, space: Point) -> tuple[Point, Point]:
        """Return a point of `space` in the video's pixels, and the video's size."""
        # The server drops a touch whose size is not the current video's.
        size = self.size or space
        if (space[0] > space[1]) != (size[0] > size[1]):
            raise Trouble(WHO, "the phone is being turned.", "Touch it again when its picture has followed.")
        if not (0 <= x < space[0] and 0 <= y < space[1]):
            raise LabError(WHO, f"{x:g}, {y:g} lies outside the screen of {space[0]} x {space[1]}.")
        place = [
            min(most - 1, round(value * most / whole)) for value, most, whole in zip((x, y), size, space, strict=True)
        ]
        return (place[0], place[1]), size


def _connect_all(
    open: Open,
    speech: scrcpy_codec.Speech,
    scid: int,
    log: ServerLog,
    deadline: Deadline,
    *,
    video: bool,
    control: bool,
) -> _OpenSockets:
    """Connect video first, then control, and read the handshake."""
    lines: list[socket.socket] = []
    try:
        for _ in range(video + control):
            lines.append(_connect(open, f"localabstract:scrcpy_{scid:08x}", log, deadline, first=not lines))
        name = scrcpy_codec.name(exactly(lines[0], scrcpy_codec.NAME, deadline, WHO, sent=True))
        size = _video_size(lines[0], speech, deadline) if video else None
        return _OpenSockets(name, lines[0] if video else None, size, lines[-1] if control else None)
    except BaseException:
        for line in lines:
            hang_up(line)
        raise


def _connect(open: Open, service: str, log: ServerLog, deadline: Deadline, *, first: bool) -> socket.socket:
    """Connect to the server, retrying until it listens.

    The `first` connection counts only after one byte arrives over it, because adb's tunnel accepts before the server
    does.
    """
    while True:
        try:
            line = open(service, deadline.seconds_left)
        except Trouble:
            if deadline.seconds_left <= _RETRY_SECONDS or log.ended.wait(_RETRY_SECONDS):
                raise
            continue
        if not first:
            return line
        try:
            exactly(line, 1, deadline, WHO, sent=True)
            return line
        except BaseException as error:
            hang_up(line)
            if (
                not isinstance(error, Trouble)
                or deadline.seconds_left <= _RETRY_SECONDS
                or log.ended.wait(_RETRY_SECONDS)
            ):
                raise


def _video_size(line: socket.socket, speech: scrcpy_codec.Speech, deadline: Deadline) -> Point:
    scrcpy_codec.codec(exactly(line, 4, deadline, WHO, sent=True))
    if not speech.sessions:
        return scrcpy_codec.size(exactly(line, 8, deadline, WHO, sent=True))
    session = scrcpy_codec.header(exactly(line, scrcpy_codec.HEADER, deadline, WHO, sent=True), sessions=True)
    if not isinstance(session, scrcpy_codec.SizeChange):
        raise Trouble(WHO, "wrong frame header: a packet before the video's size.")
    return session.size


_LOG_BYTES = 1 << 14
_CHUNK = 1 << 12
_PATIENCE = 60.0
_LONGEST = 240
_DENIED = b"INJECT_EVENTS"
"""Permission that Android names when it refuses an injected event."""
_ERROR_LINE = re.compile(
    r"^(?:\[server\] )?(?:ERROR: |Exception in thread \S+ |Caused by: |Aborted\b)\s*(.*)$", re.MULTILINE
)


class ServerLog:
    """Reader of the shell that runs the server. Sets `ended` when the shell ends.

    It sets `denied` each time the phone refuses touches by adb: the server reports that in its log and nowhere else.
    """

    def __init__(self, line: socket.socket) -> None:
        self.ended = threading.Event()
        self.denied = threading.Event()
        self._line = line
        self._output = b""
        self._thread = threading.Thread(target=self._read, name="scrcpy-log", daemon=True)
        self._thread.start()

    @property
    def words(self) -> str:
        """Server's own error message on one line, empty if it printed nothing."""
        text = self._output.decode(errors="replace").replace("\r", "")
        telling = _ERROR_LINE.search(text)
        last_line = (telling[1] if telling else text.strip().rpartition("\n")[2]).strip()
        return plain(last_line[:_LONGEST], lines=False)

    def explained(self, trouble: Trouble, seconds: float = 0.5) -> Trouble:
        """Return the server's own reason if it has ended with one, else `trouble`."""
        if not self.ended.wait(seconds) or not self.words:
            return trouble
        return Trouble(WHO, f"its server ended on the phone: {self.words}", sent=True)

    def close(self, seconds: float = 0.0) -> None:
        """Wait `seconds` for the server to exit, then hang up. Safe to call twice and from any thread."""
        if self._thread is not threading.current_thread():
            self._thread.join(seconds)
            hang_up(self._line)
            self._thread.join()

    def _read(self) -> None:
        with contextlib.suppress(Trouble):
            while chunk := self._chunk():
                # The name may be split across two chunks.
                if _DENIED in self._output[1 - len(_DENIED) :] + chunk:
                    self.denied.set()
                # A long session logs without end: only the last lines matter.
                self._output = (self._output + chunk)[-_LOG_BYTES:]
        self.ended.set()

    def _chunk(self) -> bytes:
        while True:
            try:
                self._line.settimeout(_PATIENCE)
                return self._line.recv(_CHUNK)
            except TimeoutError:
                continue
            except OSError as error:
                raise broken(WHO, error, Deadline(_PATIENCE), sent=True) from error
