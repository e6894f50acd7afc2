"""One session of the scrcpy protocol with a phone: its video as it changes, and a hand for touch, keys and text."""

from __future__ import annotations

import contextlib
import re
import secrets
import socket
import threading
from collections.abc import Iterator
from typing import Literal, NamedTuple

from lab.core.errors import LabError
from lab.core.plain_text import plain
from lab.core.seams import Trouble
from lab.core.step import Point
from lab.devices import scrcpy_codec
from lab.devices.scrcpy_apps import InstalledApp, apps
from lab.devices.scrcpy_control import ControlSocket
from lab.devices.scrcpy_push import push
from lab.devices.scrcpy_server import PLACE, command, find
from lab.devices.scrcpy_stream import WHO
from lab.devices.scrcpy_video import DecodedFrame, VideoSocket
from lab.devices.shell import Open
from lab.devices.socket_io import Deadline, broken, exactly, hang_up

__all__ = ["DecodedFrame", "InstalledApp", "Open", "Scrcpy", "apps"]

_AGAIN = 0.05
_ENDING = 1.0
_TICK = 0.25
_TOLD = 0.03
"""Seconds in which a refusal comes that the server printed before it answered."""


class _OpenSockets(NamedTuple):
    """The sockets of a session, greeted; `size` is the video's."""

    name: str
    video: socket.socket | None
    size: Point | None
    control: socket.socket | None


class Scrcpy:
    """A running session; calls may raise `Trouble`, none waits without end, and none is for the UI thread.

    A phone that refuses touches says so only afterwards: the next touch, key or text then raises a `LabError`.
    """

    def __init__(self, sockets: _OpenSockets, speech: scrcpy_codec.Speech, log: ServerLog) -> None:
        self.name = sockets.name
        """What the phone calls itself."""
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
        """Lays the server on the phone, runs it and connects; `jar` is a path, the empty one is found.

        `max_size` bounds the video's longer side, 0 bounds neither it nor `max_fps`. A `LabError` where there is no
        server that is understood; `Trouble` where the phone does not do it within `seconds`.
        """
        server = find(jar)
        deadline = Deadline(seconds)
        scid = secrets.randbits(31)
        place = PLACE.format(scid=scid)
        push(open, server.read(), place, deadline)
        line = command(
            place, server.speech, scid, video=video, control=control, max_size=max_size, max_fps=max_fps,
            video_codec="h264", video_bit_rate=bit_rate, clipboard_autosync=False,
        )  # fmt: skip
        log = ServerLog(open(f"shell,pty:{line}", deadline.seconds_left))  # what runs on a terminal ends with it
        try:
            return cls(
                _greeted(open, server.speech, scid, log, deadline, video=video, control=control), server.speech, log
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
        """The server's version, such as 3.3.4."""
        return self.speech.version

    @property
    def size(self) -> Point | None:
        """The video's size now; None without video."""
        return self._video.size if self._video else None

    @property
    def alive(self) -> bool:
        """False once it is closed, or the phone has ended it or said nonsense."""
        ends = [end for end in (self._video, self._control) if end]
        return not (self._closed or self._log.ended.is_set() or any(end.trouble for end in ends))

    def newest(self, after: int = -1, seconds: float = 1.0) -> DecodedFrame | None:
        """The newest picture whose number is above `after`; None where the screen did not change for `seconds`."""
        if self._video is None:
            raise LabError(WHO, "this session has no video.")
        return self._video.newest(after, seconds)

    def pictures(self, stop: threading.Event) -> Iterator[DecodedFrame]:
        """Each newest picture as it comes, older ones dropped, until `stop` is set; `Trouble` where it breaks."""
        after = -1
        while not stop.is_set():
            picture = self.newest(after, _TICK)
            if picture is not None:
                after = picture.number
                yield picture

    def touch(self, x: float, y: float, kind: scrcpy_codec.Touch, space: Point, *, pointer: int = 0) -> None:
        """A finger at a place of `space`: the phone's own pixels, as it is turned now."""
        at, size = self._place(x, y, space)
        self._say(scrcpy_codec.touch(kind, at, size, pointer=pointer))

    def scroll(self, x: float, y: float, horizontal: float, vertical: float, space: Point) -> None:
        """A turn of a mouse's wheel there, in notches; above 0 is right and up."""
        at, size = self._place(x, y, space)
        self._say(scrcpy_codec.scroll(at, size, horizontal, vertical, self.speech.notches))

    def key(self, code: int, kind: Literal["press", "down", "up"] = "press", meta: int = 0) -> None:
        """An Android key, by its `KeyEvent.KEYCODE_...` number."""
        if kind == "press":
            self._say(scrcpy_codec.key("down", code, meta=meta), scrcpy_codec.key("up", code, meta=meta))
        else:
            self._say(scrcpy_codec.key(kind, code, meta=meta))

    def text(self, text: str) -> None:
        """Types what a keyboard's keys have: printable ASCII; a `LabError` for more than that, which `paste` can."""
        if not (text.isascii() and text.isprintable()):
            raise LabError(WHO, "only printable ASCII can be typed key by key.")
        if text:
            self._say(*scrcpy_codec.text(text))

    def paste(self, text: str, *, seconds: float = 3.0) -> None:
        """Puts text of any script on the phone's clipboard and pastes it; returns once the phone has said so."""
        hand = self._hand()
        self._check(0.0)
        hand.set_clipboard(text, paste=True, seconds=seconds)
        self._check(_TOLD)

    def copy_in(self, text: str, *, seconds: float = 3.0) -> None:
        """Puts text on the phone's clipboard; returns once the phone has said so."""
        self._hand().set_clipboard(text, paste=False, seconds=seconds)

    def clipboard(self, *, seconds: float = 3.0) -> str | None:
        """What is on the phone's clipboard; None where it does not say in time, as when nothing is on it."""
        return self._hand().clipboard(seconds)

    def back(self) -> None:
        """Back; a phone whose screen is off wakes instead."""
        self._say(scrcpy_codec.back("down"), scrcpy_codec.back("up"))

    def rotate(self) -> None:
        """Turns the phone to its other side (portrait, landscape)."""
        self._say(scrcpy_codec.rotate())

    def display_power(self, on: bool) -> None:
        """Lights or darkens the phone's own screen; its pictures go on."""
        self._say(scrcpy_codec.display_power(on, self.speech))

    def expand(self, panel: Literal["notifications", "settings", ""]) -> None:
        """Pulls a panel down; the empty word puts all away."""
        self._say(scrcpy_codec.panel(panel))

    def start_app(self, name: str) -> None:
        """Starts an app by package; `?words` by label; a leading `+` stops it first. The phone says nothing of it."""
        if not self.speech.starts_apps:
            raise LabError(WHO, f"its server {self.version} starts no apps.")
        self._say(scrcpy_codec.start_app(name))

    def close(self) -> None:
        """Ends the server on the phone, the sockets and the threads; safe twice, from any thread."""
        self._closed = True
        for end in (self._control, self._video):
            if end is not None:
                end.close()
        self._log.close(_ENDING)

    def _hand(self) -> ControlSocket:
        if self._control is None:
            raise LabError(WHO, "this session has no control.")
        return self._control

    def _say(self, *messages: bytes) -> None:
        hand = self._hand()
        self._check(0.0)
        hand.say(*messages)

    def _check(self, seconds: float) -> None:
        """Raises `LabError`, once, where the phone has refused a touch or key since, or does within `seconds`."""
        if self._log.denied.wait(seconds):
            self._log.denied.clear()
            hint = "In its developer options allow 'USB debugging (Security settings)', or what it is called there."
            raise LabError(WHO, "the phone does not let adb touch its screen.", hint)

    def _place(self, x: float, y: float, space: Point) -> tuple[Point, Point]:
        """A place of `space` in the video's pixels, and the video's size: the server drops what is not for this one."""
        size = self.size or space
        if (space[0] > space[1]) != (size[0] > size[1]):
            raise Trouble(WHO, "the phone is being turned.", "Touch it again when its picture has followed.")
        if not (0 <= x < space[0] and 0 <= y < space[1]):
            raise LabError(WHO, f"{x:g}, {y:g} lies outside the screen of {space[0]} x {space[1]}.")
        place = [
            min(most - 1, round(value * most / whole)) for value, most, whole in zip((x, y), size, space, strict=True)
        ]
        return (place[0], place[1]), size


def _greeted(
    open: Open,
    speech: scrcpy_codec.Speech,
    scid: int,
    log: ServerLog,
    deadline: Deadline,
    *,
    video: bool,
    control: bool,
) -> _OpenSockets:
    """Connects video first, then control, and reads what the server says of itself before all else."""
    lines: list[socket.socket] = []
    try:
        for _ in range(video + control):
            lines.append(_connected(open, f"localabstract:scrcpy_{scid:08x}", log, deadline, first=not lines))
        name = scrcpy_codec.name(exactly(lines[0], scrcpy_codec.NAME, deadline, WHO, sent=True))
        size = _video_size(lines[0], speech, deadline) if video else None
        return _OpenSockets(name, lines[0] if video else None, size, lines[-1] if control else None)
    except BaseException:
        for line in lines:
            hang_up(line)
        raise


def _connected(open: Open, service: str, log: ServerLog, deadline: Deadline, *, first: bool) -> socket.socket:
    """A socket to the server, tried until it listens; the `first` is one only once a byte has come over it."""
    while True:
        try:
            line = open(service, deadline.seconds_left)
        except Trouble:
            if deadline.seconds_left <= _AGAIN or log.ended.wait(_AGAIN):
                raise
            continue
        if not first:
            return line
        try:
            exactly(line, 1, deadline, WHO, sent=True)
            return line
        except BaseException as error:
            hang_up(line)
            if not isinstance(error, Trouble) or deadline.seconds_left <= _AGAIN or log.ended.wait(_AGAIN):
                raise


def _video_size(line: socket.socket, speech: scrcpy_codec.Speech, deadline: Deadline) -> Point:
    scrcpy_codec.codec(exactly(line, 4, deadline, WHO, sent=True))
    if not speech.sessions:
        return scrcpy_codec.size(exactly(line, 8, deadline, WHO, sent=True))
    session = scrcpy_codec.header(exactly(line, scrcpy_codec.HEADER, deadline, WHO, sent=True), sessions=True)
    if not isinstance(session, scrcpy_codec.SizeChange):
        raise Trouble(WHO, "wrong frame header: a packet before the video's size.")
    return session.size


_KEPT = 1 << 14
_CHUNK = 1 << 12
_PATIENCE = 60.0
_LONGEST = 240
_DENIED = b"INJECT_EVENTS"
"""The permission that Android names where it refuses an event."""
_TELLING = re.compile(
    r"^(?:\[server\] )?(?:ERROR: |Exception in thread \S+ |Caused by: |Aborted\b)\s*(.*)$", re.MULTILINE
)


class ServerLog:
    """Reads the shell that a server runs in until it ends; `ended` is set then.

    `denied` is set each time that the phone lets nobody touch it by adb: the server says so here, and nowhere else.
    """

    def __init__(self, line: socket.socket) -> None:
        self.ended = threading.Event()
        self.denied = threading.Event()
        self._line = line
        self._said = b""
        self._thread = threading.Thread(target=self._read, name="scrcpy-log", daemon=True)
        self._thread.start()

    @property
    def words(self) -> str:
        """Its own words for what went wrong, in a line; empty where it said nothing."""
        text = self._said.decode(errors="replace").replace("\r", "")
        telling = _TELLING.search(text)
        last_line = (telling[1] if telling else text.strip().rpartition("\n")[2]).strip()
        return plain(last_line[:_LONGEST], lines=False)

    def explained(self, trouble: Trouble, seconds: float = 0.5) -> Trouble:
        """`trouble`, or where the server has ended for a reason of its own, that reason."""
        if not self.ended.wait(seconds) or not self.words:
            return trouble
        return Trouble(WHO, f"its server ended on the phone: {self.words}", sent=True)

    def close(self, seconds: float = 0.0) -> None:
        """Ends it, after waiting so long for the server to end by itself; safe twice, from any thread."""
        if self._thread is not threading.current_thread():
            self._thread.join(seconds)
            hang_up(self._line)
            self._thread.join()

    def _read(self) -> None:
        with contextlib.suppress(Trouble):
            while chunk := self._chunk():
                if _DENIED in self._said[1 - len(_DENIED) :] + chunk:
                    self.denied.set()
                self._said = (self._said + chunk)[-_KEPT:]
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
