"""One call of a command on the served phone: its words, its streams, and the services it may use."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from simulators.phone.served import folders
from simulators.phone.served.display import Display
from simulators.phone.served.services import Services

MOST_READ = 64 << 20
"""Maximum bytes of standard input that a command reads."""


_MOST_SECONDS = 1e6
_LOOK = 0.5
"""Seconds between two polls for a listener."""


class CommandRefused(Exception):
    """A command ends at once. `text` goes to standard error, `code` is its exit code."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.text = text
        self.code = code


class ServiceException(Exception):
    """A system service threw. `kind` is the exception's class, `at` the place in Android that throws it."""

    def __init__(self, kind: str, message: str, at: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.at = at


class Reader(Protocol):
    def __call__(self, timeout: float | None = None) -> bytes: ...


@dataclass(slots=True)
class Io:
    """Input and output of a command. `gone` is set once nobody listens."""

    read: Reader
    write_output: Callable[[bytes | memoryview], None]
    err: Callable[[bytes], None]
    gone: threading.Event
    terminal: bool = False


@dataclass(slots=True)
class CommandCall:
    """A command's `name` and `args`, and `within`, the folder of the call."""

    services: Services
    io: Io
    name: str
    args: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    within: str = "/"

    @property
    def display(self) -> Display:
        """The phone's screen."""
        return self.services.display

    def say(self, text: str) -> None:
        """Write one or more lines to standard output."""
        self.io.write_output(encoded(text + "\n"))

    def complain(self, text: str) -> None:
        """Write a line to standard error."""
        self.io.err(encoded(text + "\n"))

    def stdin(self) -> bytes:
        """Return all of standard input, up to its end or `MOST_READ`."""
        parts, size = [], 0
        while size < MOST_READ and (part := self.io.read(None)):
            parts.append(part)
            size += len(part)
        return b"".join(parts)

    def wait(self, seconds: float) -> None:
        """Sleep until the time is over or nobody listens. Raise `CommandRefused` if a person presses Ctrl-C."""
        until = time.monotonic() + min(seconds, _MOST_SECONDS)
        if not self.io.terminal:
            self.io.gone.wait(until - time.monotonic())
        # Ctrl-C arrives as input, so a sleeping command must read it.
        while self.io.terminal and not self.io.gone.is_set() and (seconds_left := until - time.monotonic()) > 0:
            try:
                keystrokes = self.io.read(min(seconds_left, _LOOK))
            except TimeoutError:
                continue
            if not keystrokes or b"\x03" in keystrokes:
                raise CommandRefused("^C", 130)

    def path(self, name: str) -> str:
        """Return the canonical path of a name relative to the call's folder."""
        return folders.normal(name, self.within)

    def write(self, name: str, data: bytes) -> None:
        """Write a file. Raise `CommandRefused` with Android's message if it is not allowed."""
        path = self.path(name)
        if folders.is_folder(self.services.files, path):
            raise CommandRefused(f"{self.name}: {name}: Is a directory")
        if not folders.writable(path):
            raise CommandRefused(f"{self.name}: {name}: Read-only file system")
        if not folders.has_room(self.services.files, path, len(data)):
            raise CommandRefused(f"{self.name}: {name}: No space left on device")
        self.services.files[path] = data

    def content(self, name: str) -> bytes:
        """Return a file's content. Raise `CommandRefused` with toybox's message if there is none."""
        path = self.path(name)
        if path in self.services.files:
            return self.services.files[path]
        folder = folders.is_folder(self.services.files, path)
        raise CommandRefused(f"{self.name}: {name}: {'Is a directory' if folder else 'No such file or directory'}")

    def with_args(self, args: list[str], name: str = "") -> CommandCall:
        """Return the same call with other words."""
        return CommandCall(self.services, self.io, name or self.name, args, self.environment, self.within)


Command = Callable[[CommandCall], int]


def number(text: str) -> int | None:
    """Parse an integer of up to 18 digits, or None for anything else."""
    return int(text) if re.fullmatch(r"[-+]?[0-9]{1,18}", text) else None


def encoded(text: str) -> bytes:
    """Return the original bytes of a decoded text."""
    # Command lines and files may hold bytes that are not UTF-8: they must pass unchanged.
    return text.encode("utf-8", "surrogateescape")


def decoded(data: bytes) -> str:
    """Decode bytes so that `encoded` restores them."""
    return data.decode("utf-8", "surrogateescape")
