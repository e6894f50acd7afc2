"""Reads from a scrcpy server, which may be silent between messages but not inside one."""

from __future__ import annotations

import socket

from lab.core.seams import Trouble
from lab.devices.adb.socket_io import Deadline, broken, exactly

WHO = "scrcpy"
_REST = 10.0
"""Most seconds for the rest of a message that has begun."""


def after_silence(line: socket.socket, count: int) -> bytes:
    """Wait without limit for the first byte, then read `count` bytes. Return b"" if the stream ends before the first.

    Raise `Trouble` if it ends later, breaks, or the rest takes too long.
    """
    while True:
        try:
            line.settimeout(_REST)
            first = line.recv(count)
            break
        except TimeoutError:
            continue
        except OSError as error:
            raise broken(WHO, error, Deadline(_REST), sent=True) from error
    if not first or len(first) == count:
        return first
    return first + exactly(line, count - len(first), Deadline(_REST), WHO, sent=True)


def the_rest(line: socket.socket, count: int) -> bytes:
    """Read the next `count` bytes of a message that has begun."""
    return exactly(line, count, Deadline(_REST), WHO, sent=True)


def stream_ended(what: str) -> Trouble:
    """Return the trouble of a stream that the phone ended."""
    return Trouble(WHO, f"{what} ended.", "Is the phone still there?", sent=True)
