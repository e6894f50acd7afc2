"""A demonstration recorded by driving the real program in a terminal: it replays, exports, and comes in the same."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import termios
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from lab.cli.main import main
from lab.core.run.demonstration import demonstration
from lab.core.run.trace import Started
from store.store import Store
from tests.warm import Warm

ROWS, COLUMNS = 40, 120


class Terminal:
    """`hitlab` in a pty: keys go in, what it paints comes out."""

    def __init__(self, args: list[str], home: Path) -> None:
        self._main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        size = {"COLUMNS": str(COLUMNS), "LINES": str(ROWS)}  # a test's own would count for more than the pty's
        kinds = {f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("DATA", "CONFIG", "CACHE")}
        self._program = Warm(
            args,
            env={
                **os.environ,
                **size,
                **kinds,
                "TERM": "xterm-256color",
                "COLORTERM": "truecolor",
                "LC_ALL": "C.UTF-8",
            },
            stdin=side,
            stdout=side,
            stderr=side,
            start_new_session=True,
        )
        os.close(side)
        self._rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trail: TracebackType | None
    ) -> None:
        self._program.kill()
        self._program.wait()
        os.close(self._main)

    def until(self, wanted: str, seconds: float = 180) -> None:
        """Waits until this is painted, after what was waited for before, or after the last keys."""
        seen, end = self._rest, time.monotonic() + seconds
        while wanted.encode() not in seen:
            assert time.monotonic() < end, (wanted, seen[-1500:])
            if select.select([self._main], [], [], 0.1)[0]:
                try:
                    seen += os.read(self._main, 65536)
                except OSError as error:  # how Linux says that the program is gone
                    raise AssertionError((wanted, seen[-1500:])) from error
        self._rest = seen.partition(wanted.encode())[2]

    def keys(self, keys: str) -> None:
        self._rest = b""
        os.write(self._main, keys.encode())

    def ended(self) -> int:
        """Its exit code; what it still paints is let go."""
        end = time.monotonic() + 180
        while self._program.poll() is None and time.monotonic() < end:
            if select.select([self._main], [], [], 0.05)[0]:
                try:
                    os.read(self._main, 65536)
                except OSError:
                    break
        return self._program.wait(180)


def recorded(db: Path, home: Path) -> str:
    """Drives the program through a small demonstration; gives the run's id."""
    args = ["record", "--intent", "Look at my notes", "--place", "residence", "--as", "A07", "--db", str(db)]
    with Terminal(args, home) as terminal:
        terminal.until("Touch the phone, or:")
        terminal.keys("/")
        terminal.until("What do you tap?")
        terminal.keys("notes\r")
        terminal.until("Held:")
        terminal.keys(" from the home screen\r")
        terminal.until("1 step ")
        terminal.until("your turn")
        terminal.keys("s")
        terminal.until("Scroll down")
        terminal.keys("\r")
        terminal.until("2 steps")
        terminal.until("your turn")
        terminal.keys("x")
        terminal.until("slip")
        terminal.keys("f")
        terminal.until("How does it end?")
        terminal.keys("c")
        terminal.until("Report that it is done")
        terminal.keys("\r")
        terminal.until("golden")
        terminal.keys("\x11")
        assert terminal.ended() == 0
    with Store.open(db) as store:
        (run,) = store.runs.summaries()
        return run.id


def test_a_demonstration_replays_exports_and_comes_in_the_same(tmp_path: Path) -> None:
    db, again = tmp_path / "lab.db", tmp_path / "again.db"
    run = recorded(db, tmp_path)
    with Store.open(db) as store:
        trace, events = store.runs.trace(run), list(store.runs.events(run))
        assert all(store.runs.blob(step.before.image or "") for step in trace.steps)
    made = demonstration(trace)
    assert made is not None
    assert (made.by, made.intent, made.place) == ("A07", "Look at my notes", "residence")
    assert (made.outcome, made.golden, made.slips, made.apps) == ("complete", 1, (1,), ("com.hitlab.notes",))
    said = [step.proposed.instruction for step in trace.steps]
    assert said == ["Tap Notes from the home screen", "Scroll down in the list of notes", "Report that it is done"]
    first = events[0]
    assert isinstance(first, Started)
    assert first.device.size == (1080, 2400)

    with Terminal(["replay", f"{run}@1", "--db", str(db)], tmp_path) as terminal:
        terminal.until("Instruction")
        terminal.until("from the home")
        terminal.keys("\x11")
        assert terminal.ended() == 0

    assert main(["export", run, "--out", str(tmp_path / "out"), "--db", str(db)]) == 0
    assert main(["import", str(tmp_path / "out"), "--db", str(again)]) == 0
    with Store.open(again) as store:
        assert list(store.runs.events(run)) == events
        assert all(store.runs.blob(step.before.image or "") for step in trace.steps)
