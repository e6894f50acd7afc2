"""Reads and writes on one socket within a deadline."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
import weakref

from lab.core.seams import Trouble
from lab.core.text.plain_text import plain

_CHUNK = 1 << 18


class Deadline:
    """Time limit shared by several operations, `seconds` from now."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def seconds_left(self) -> float:
        """Seconds left, 0 or less after the deadline."""
        return self._end - time.monotonic()


class SocketSet:
    """Sockets of one phone, closed all at once. Every thread blocked on one wakes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Weak references: a socket that its owner drops must not leak here.
        self._lines: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self.closed = False

    def add(self, line: socket.socket) -> None:
        """Add a socket. Close it at once if the set is closed."""
        with self._lock:
            self._lines.add(line)
            late = self.closed
        if late:
            hang_up(line)

    def close(self) -> None:
        """Close all sockets, including those added later."""
        with self._lock:
            self.closed = True
            lines = list(self._lines)
        for line in lines:
            hang_up(line)


def send(line: socket.socket, data: bytes, deadline: Deadline, who: str, *, sent: bool = False) -> None:
    """Send all of `data`. Raise `Trouble` about `who` if it takes too long or fails."""
    try:
        line.settimeout(_timeout(deadline))
        line.sendall(data)
    except OSError as error:
        raise broken(who, error, deadline, sent=sent) from error


def exactly(line: socket.socket, count: int, deadline: Deadline, who: str, *, sent: bool = False) -> bytes:
    """Read `count` bytes. Raise `Trouble` if the stream ends before, or it takes too long."""
    data = bytearray()
    while len(data) < count:
        chunk = some(line, count - len(data), deadline, who, sent=sent)
        if not chunk:
            raise Trouble(who, "broke off in the middle of an answer.", sent=sent)
        data += chunk
    return bytes(data)


def read_rest(line: socket.socket, most: int, deadline: Deadline, who: str, *, sent: bool = False) -> bytes:
    """Read until the stream ends. Raise `Trouble` after more than `most` bytes, or if it takes too long."""
    parts, count = [], 0
    while chunk := some(line, _CHUNK, deadline, who, sent=sent):
        parts.append(chunk)
        count += len(chunk)
        if count > most:
            raise Trouble(who, f"answered more than {most:,} bytes.", sent=sent)
    return b"".join(parts)


def some(line: socket.socket, count: int, deadline: Deadline, who: str, *, sent: bool = False) -> bytes:
    """Read the next bytes, at most `count`. Empty at the end of the stream."""
    try:
        line.settimeout(_timeout(deadline))
        return line.recv(count)
    except OSError as error:
        raise broken(who, error, deadline, sent=sent) from error


def broken(who: str, error: OSError, deadline: Deadline, *, sent: bool) -> Trouble:
    """Return a socket error as `Trouble`."""
    if isinstance(error, TimeoutError):
        return Trouble(
            who, f"did not answer within {round(deadline.seconds, 1):g} s.", "It may be busy or away.", sent=sent
        )
    return Trouble(who, f"the line to it broke ({plain(error.strerror or str(error), lines=False)}).", sent=sent)


def hang_up(line: socket.socket) -> None:
    """Close a socket, even while another thread reads from it: that thread wakes."""
    with contextlib.suppress(OSError):
        # `close` alone would leave a thread blocked in `recv`.
        line.shutdown(socket.SHUT_RDWR)
    line.close()


def _timeout(deadline: Deadline) -> float:
    """Return the seconds left for `settimeout`, never 0: a ready socket is still read once after the deadline."""
    return max(0.001, deadline.seconds_left)
