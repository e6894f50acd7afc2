"""What a scrcpy session stands on: a way to open adb services, and reading that waits through silence."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import TypeAlias

from lab.devices.line import Deadline, broken, exactly
from lab.seams import Trouble

Open: TypeAlias = Callable[[str, float], socket.socket]
"""Opens one adb service of a phone ("exec:...", "sync:", "localabstract:...") within so many seconds.

Gives the socket after adb's OKAY, or raises `Trouble`.
"""

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
