"""Interfaces that the parts of a served phone share: its screen, its files, and both ends of a stream."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from simulators.phone.served.display import Display
from simulators.phone.served.faults import Faults


class HungUp(OSError):
    """The other end of a stream is gone: a writer stops."""


class Stream(Protocol):
    """The phone's end of one stream through the transport. `gone` is set once either end closes it."""

    gone: threading.Event

    def read(self, timeout: float | None = None) -> bytes:
        """Return the next bytes as they arrived, or b"" once closed and read to the end.

        Raise `TimeoutError` after `timeout`.
        """

    def write(self, data: bytes | memoryview) -> None:
        """Send all of `data`, blocking while the other end is not ready. Raise `HungUp` once it is closed."""

    def close(self) -> None:
        """Close the stream from any thread. Safe to call twice."""


class Console(Protocol):
    """Input and output of a command. `terminal` is True if a person types: only then is the input echoed.

    `gone` is set once nobody listens. A command that waits, waits for it.
    """

    gone: threading.Event
    terminal: bool

    def read(self, timeout: float | None = None) -> bytes:
        """Return the next bytes of standard input, or b"" at its end. Raise `TimeoutError` after `timeout` seconds."""

    def write_output(self, data: bytes | memoryview) -> None:
        """Write to standard output. Raise `HungUp` once nobody listens."""

    def err(self, data: bytes) -> None:
        """Write to standard error, which is the same as `out` if a service has only one stream."""


Accept = Callable[[Stream], None]
"""Take over an opened stream. It must not block: the stream's service runs on a thread of its own."""


@dataclass(slots=True)
class Services:
    """State of the served phone that a command may read and change.

    `files` holds each pushed file by absolute path (`served.folders` derives the folders). `properties` is getprop's.
    `settings` is keyed by namespace and key. `listening` maps the names of abstract sockets to their listeners on the
    phone.
    """

    display: Display
    faults: Faults
    files: dict[str, bytes] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    settings: dict[tuple[str, str], str] = field(default_factory=dict)
    listening: dict[str, Accept] = field(default_factory=dict)
    clipboard: str = ""


Run = Callable[[Services, str, Console], int]
"""Run one command line (empty: a shell that reads lines) and return its exit code: `simulators...shell.run`."""
