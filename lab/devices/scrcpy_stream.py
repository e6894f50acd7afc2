"""Reading what a scrcpy server sends: it may be silent as long as it likes, but not in the middle of something."""

from __future__ import annotations

import socket

from lab.core.seams import Trouble
from lab.devices.socket_io import Deadline, broken, exactly

WHO = "scrcpy"
_REST = 10.0
"""Most seconds for the rest of what has begun to come."""


def after_silence(line: socket.socket, count: int) -> bytes:
    """The next `count` bytes, however long nothing comes before the first of them; b"" where the line ends there.

    `Trouble` where it ends later, breaks, or the rest does not come in time.
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
    """The next `count` bytes of something that has begun to come."""
    return exactly(line, count, Deadline(_REST), WHO, sent=True)


def over(what: str) -> Trouble:
    """The phone ended it: what to tell."""
    return Trouble(WHO, f"{what} ended.", "Is the phone still there?", sent=True)
