"""What the parts of a served phone share: its screen, its files, and the two ends of a stream."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from lab.core.step import Action, Point
from lab.core.ui_tree import UiTree
from simulators.phone.served.faults import Faults


class HungUp(OSError):
    """The other end of a stream is gone: whoever writes to it stops."""


class Panel(Protocol):
    """A phone's screen as pictures and touches know it; pixels are those of the display as it is turned now.

    `rotation` is 0 to 3 (1 and 3 are landscape) and may be set.
    """

    rotation: int

    @property
    def size(self) -> Point: ...

    def rgb(self) -> bytes:
        """The picture now: width x height x 3 bytes."""

    def png(self) -> bytes:
        """The same, as a PNG file."""

    def tree(self) -> UiTree:
        """What uiautomator would dump: no keyboard."""

    def perform(self, action: Action) -> None:
        """Does one action; a `LabError` where the phone refuses it."""

    def wait(self, version: int, timeout: float) -> int:
        """Blocks until the screen is another than `version`, or `timeout` seconds are over; the version now."""


class Stream(Protocol):
    """The phone's end of one stream through the transport. `gone` is set once it is closed, by whichever end."""

    gone: threading.Event

    def read(self, timeout: float | None = None) -> bytes:
        """What came next, as it came; b"" once it is closed and all is read; TimeoutError after `timeout` seconds."""

    def write(self, data: bytes | memoryview) -> None:
        """Sends all of `data`, waiting as long as the other end takes none; `HungUp` once it is closed."""

    def close(self) -> None:
        """Ends it, from any thread; safe twice."""


class Console(Protocol):
    """What a command reads and writes. `terminal` is true where a person types: nobody else echoes what is read.

    `gone` is set once nobody listens any more: a command that waits, waits on it.
    """

    gone: threading.Event
    terminal: bool

    def read(self, timeout: float | None = None) -> bytes:
        """Standard input, as it came; b"" at its end; TimeoutError after `timeout` seconds."""

    def out(self, data: bytes | memoryview) -> None:
        """Standard output; `HungUp` once nobody listens."""

    def err(self, data: bytes) -> None:
        """Standard error: the same as `out` where a service has only one."""


Accept = Callable[[Stream], None]
"""Takes an opened stream over; it must not block (what serves the stream runs on a thread of its own)."""


@dataclass(slots=True)
class Services:
    """What a command on the served phone may see and change.

    `files` holds what was pushed, whole, by absolute path (`served.folders` says which folders there are);
    `properties` is what getprop tells; `settings` is by namespace and key; `listening` holds the abstract sockets
    that something on the phone listens at, by name.
    """

    display: Panel
    faults: Faults
    files: dict[str, bytes] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    settings: dict[tuple[str, str], str] = field(default_factory=dict)
    listening: dict[str, Accept] = field(default_factory=dict)
    clipboard: str = ""


Run = Callable[[Services, str, Console], int]
"""Runs one command line (empty: a shell that reads lines) and gives its exit code: `simulators...shell.run`."""
