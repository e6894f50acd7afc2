"""One call of a command on the served phone: its words, and what it reads, writes and may touch."""

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
"""Bytes of standard input that a command takes at most."""


_MOST_SECONDS = 1e6
_LOOK = 0.5
"""Seconds between two looks at whether anybody still listens."""


class CommandRefused(Exception):
    """A command ends at once: `text` goes to standard error, `code` is its exit code."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.text = text
        self.code = code


class ServiceException(Exception):
    """A system service threw: `kind` is the exception's class, `at` the place in Android that does."""

    def __init__(self, kind: str, message: str, at: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.at = at


class Reader(Protocol):
    def __call__(self, timeout: float | None = None) -> bytes: ...


@dataclass(slots=True)
class Io:
    """Where a command reads and writes; `gone` is set once nobody listens."""

    read: Reader
    out: Callable[[bytes | memoryview], None]
    err: Callable[[bytes], None]
    gone: threading.Event
    terminal: bool = False


@dataclass(slots=True)
class CommandCall:
    """`name` and `args` are what was called; `within` is the folder it was called in."""

    services: Services
    io: Io
    name: str
    args: list[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    within: str = "/"

    @property
    def display(self) -> Display:
        """The phone's own screen; refused where the phone only shows a film."""
        if isinstance(self.services.display, Display):
            return self.services.display
        raise CommandRefused(f"{self.name}: this phone only shows a film")

    def say(self, text: str) -> None:
        """A line, or several, to standard output."""
        self.io.out(encoded(text + "\n"))

    def complain(self, text: str) -> None:
        """A line to standard error."""
        self.io.err(encoded(text + "\n"))

    def stdin(self) -> bytes:
        """All of standard input, up to its end or a bound."""
        parts, size = [], 0
        while size < MOST_READ and (part := self.io.read(None)):
            parts.append(part)
            size += len(part)
        return b"".join(parts)

    def wait(self, seconds: float) -> None:
        """Does nothing for so long, until nobody listens, or a person takes the command back with Ctrl-C."""
        until = time.monotonic() + min(seconds, _MOST_SECONDS)
        if not self.io.terminal:
            self.io.gone.wait(until - time.monotonic())
        while self.io.terminal and not self.io.gone.is_set() and (seconds_left := until - time.monotonic()) > 0:
            try:
                keystrokes = self.io.read(min(seconds_left, _LOOK))
            except TimeoutError:
                continue
            if not keystrokes or b"\x03" in keystrokes:
                raise CommandRefused("^C", 130)

    def path(self, name: str) -> str:
        """The one name of a path, as it is called from here."""
        return folders.normal(name, self.within)

    def write(self, name: str, data: bytes) -> None:
        """Puts a file there, or is refused as Android refuses it."""
        path = self.path(name)
        if folders.is_folder(self.services.files, path):
            raise CommandRefused(f"{self.name}: {name}: Is a directory")
        if not folders.writable(path):
            raise CommandRefused(f"{self.name}: {name}: Read-only file system")
        if not folders.has_room(self.services.files, path, len(data)):
            raise CommandRefused(f"{self.name}: {name}: No space left on device")
        self.services.files[path] = data

    def content(self, name: str) -> bytes:
        """What a file holds, or the refusal that toybox writes."""
        path = self.path(name)
        if path in self.services.files:
            return self.services.files[path]
        folder = folders.is_folder(self.services.files, path)
        raise CommandRefused(f"{self.name}: {name}: {'Is a directory' if folder else 'No such file or directory'}")

    def again(self, args: list[str], name: str = "") -> CommandCall:
        """The same call with other words."""
        return CommandCall(self.services, self.io, name or self.name, args, self.environment, self.within)


Command = Callable[[CommandCall], int]


def number(text: str) -> int | None:
    """A whole number of up to 18 digits; None for what is none."""
    return int(text) if re.fullmatch(r"[-+]?[0-9]{1,18}", text) else None


def encoded(text: str) -> bytes:
    """Text as the bytes it came as."""
    return text.encode("utf-8", "surrogateescape")


def decoded(data: bytes) -> str:
    """Bytes as text that can be turned back."""
    return data.decode("utf-8", "surrogateescape")
