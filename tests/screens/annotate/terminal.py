"""A study in a real terminal: what is painted is read, keys are bytes, and it may be killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.warm import Warm

PATIENCE = 180.0
"""Seconds after which what was waited for will not come."""
UP, DOWN, RIGHT, LEFT, ENTER, ESC = b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D", b"\r", b"\x1b"
_ESCAPES = re.compile(rb"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b[()][A-Z0-9]|\x1b[=>]")


class Terminal:
    """`hitlab study rate STUDY --person PERSON` in a process and a pseudo-terminal of its own."""

    def __init__(
        self, db: Path, home: Path, study: str, person: str, size: tuple[int, int] = (120, 40), **environment: str
    ) -> None:
        self.main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        env = {name: value for name, value in os.environ.items() if not name.startswith("HITLAB_")}
        env |= {f"XDG_{kind}_HOME": str(home) for kind in ("DATA", "CONFIG", "CACHE")}
        env |= {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "HITLAB_BELL": "false"} | environment
        args = ["study", "open", study, "--as", person, "--db", str(db)]
        self.program = Warm(args, env=env, stdin=side, stdout=side, stderr=side, start_new_session=True)
        os.close(side)
        self.seen = b""

    def read(self, seconds: float = 0.02) -> None:
        """Takes what was painted meanwhile, so that the program never waits."""
        while select.select([self.main], [], [], seconds)[0]:
            try:
                self.seen += os.read(self.main, 65536)
            except OSError:
                return

    @property
    def words(self) -> str:
        """All that was painted so far, without its colours and places."""
        return _ESCAPES.sub(b"", self.seen).decode(errors="replace")

    def until(self, done: Callable[[], bool], what: str = "") -> None:
        end = time.monotonic() + PATIENCE
        while not done():
            assert time.monotonic() < end, f"{what}: {self.words[-3000:]}"
            self.read()

    def see(self, *words: str) -> None:
        """Waits until all of these were painted since the last key."""
        self.until(lambda: all(word in self.words for word in words), repr(words))

    def press(self, *keys: bytes) -> None:
        """Presses each key once; what was painted before is forgotten."""
        self.read()
        self.seen = b""
        for key in keys:
            os.write(self.main, key)

    def insist(self, key: bytes, done: Callable[[], bool]) -> None:
        """Presses a key each second until that came of it: one that comes before a page was read does nothing."""
        end = time.monotonic() + PATIENCE
        while not done():
            assert time.monotonic() < end, f"{key!r}: {self.words[-3000:]}"
            os.write(self.main, key)
            again = time.monotonic() + 1
            while time.monotonic() < again and not done():
                self.read()

    def give(self, key: bytes, done: Callable[[], bool]) -> None:
        """Presses a key once, and waits until that came of it."""
        self.press(key)
        self.until(done, repr(key))

    def resize(self, width: int, height: int) -> None:
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.program.send_signal(signal.SIGWINCH)

    def kill(self) -> None:
        """Ends it as a power cut would."""
        if self.program.poll() is None:
            self.program.send_signal(signal.SIGKILL)
        self.program.wait(180)
        with contextlib.suppress(OSError):
            os.close(self.main)

    def leave(self) -> int:
        """Leaves by its key; how the program ended."""
        self.press(b"\x11")
        self.until(lambda: self.program.poll() is not None, "leaving")
        return self.program.returncode


@contextmanager
def opened(
    db: Path, home: Path, study: str, person: str, size: tuple[int, int] = (120, 40), **environment: str
) -> Iterator[Terminal]:
    """A terminal, which ends with the test whatever becomes of it: killed, where it has not been left."""
    terminal = Terminal(db, home, study, person, size, **environment)
    try:
        yield terminal
    finally:
        terminal.kill()
