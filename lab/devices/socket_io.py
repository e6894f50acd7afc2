"""Bytes to and from one socket, never waiting longer than a deadline allows."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
import weakref

from lab.core.plain_text import plain
from lab.core.seams import Trouble

_CHUNK = 1 << 18


class Deadline:
    """A moment by which all of something must be over; `seconds` from now."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def seconds_left(self) -> float:
        """Seconds until then; 0 or less once it has passed."""
        return self._end - time.monotonic()


class SocketSet:
    """The sockets of one phone, to be hung up all at once; whoever waits at one wakes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self.closed = False

    def add(self, line: socket.socket) -> None:
        """Takes one more; one that comes after `close` is hung up at once."""
        with self._lock:
            self._lines.add(line)
            late = self.closed
        if late:
            hang_up(line)

    def close(self) -> None:
        """Hangs all up, those still to come too."""
        with self._lock:
            self.closed = True
            lines = list(self._lines)
        for line in lines:
            hang_up(line)


def send(line: socket.socket, data: bytes, deadline: Deadline, who: str, *, sent: bool = False) -> None:
    """Sends all of `data`; `Trouble` about `who` where it cannot be sent in time."""
    try:
        line.settimeout(_left(deadline))
        line.sendall(data)
    except OSError as error:
        raise broken(who, error, deadline, sent=sent) from error


def exactly(line: socket.socket, count: int, deadline: Deadline, who: str, *, sent: bool = False) -> bytes:
    """The next `count` bytes; `Trouble` where the line ends before them, or they do not come in time."""
    data = bytearray()
    while len(data) < count:
        chunk = some(line, count - len(data), deadline, who, sent=sent)
        if not chunk:
            raise Trouble(who, "broke off in the middle of an answer.", sent=sent)
        data += chunk
    return bytes(data)


def rest(line: socket.socket, most: int, deadline: Deadline, who: str, *, sent: bool = False) -> bytes:
    """All until the line ends; `Trouble` where it is more than `most` bytes, or does not end in time."""
    parts, count = [], 0
    while chunk := some(line, _CHUNK, deadline, who, sent=sent):
        parts.append(chunk)
        count += len(chunk)
        if count > most:
            raise Trouble(who, f"answered more than {most:,} bytes.", sent=sent)
    return b"".join(parts)


def some(line: socket.socket, count: int, deadline: Deadline, who: str, *, sent: bool = False) -> bytes:
    """What came next, at most `count` bytes; empty at the end of the line."""
    try:
        line.settimeout(_left(deadline))
        return line.recv(count)
    except OSError as error:
        raise broken(who, error, deadline, sent=sent) from error


def broken(who: str, error: OSError, deadline: Deadline, *, sent: bool) -> Trouble:
    """What went wrong with a line, as a sentence."""
    if isinstance(error, TimeoutError):
        return Trouble(
            who, f"did not answer within {round(deadline.seconds, 1):g} s.", "It may be busy or away.", sent=sent
        )
    return Trouble(who, f"the line to it broke ({plain(error.strerror or str(error), lines=False)}).", sent=sent)


def hang_up(line: socket.socket) -> None:
    """Closes a socket, also one that another thread is reading from: that thread wakes."""
    with contextlib.suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
    line.close()


def _left(deadline: Deadline) -> float:
    """Seconds left, for `settimeout`; a socket that is ready is still read once when there are none."""
    return max(0.001, deadline.seconds_left)
