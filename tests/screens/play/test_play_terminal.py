"""A participant in a real terminal, killed in the middle of a run: it lands in the same run, with what was typed."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from lab.core.trace import Resumed
from lab.studies.played_runs import played
from store.store import Store
from tests.plays import LUNCH, frozen, unit


class Terminal:
    """`hitlab study open` in a pseudo-terminal of its own."""

    def __init__(self, db: Path, home: Path) -> None:
        self.main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        env = {name: value for name, value in os.environ.items() if not name.startswith("HITLAB_")}
        env |= {f"XDG_{kind}_HOME": str(home) for kind in ("DATA", "CONFIG", "CACHE")}
        env |= {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "HITLAB_PACE": "0", "HITLAB_BELL": "false"}
        args = [sys.executable, "-m", "lab.cli.main", "study", "open", "teas", "--as", "P1", "--db", str(db)]
        self.program = subprocess.Popen(args, env=env, stdin=side, stdout=side, stderr=side)
        os.close(side)
        self.seen = b""

    def read(self) -> None:
        """Takes what was painted meanwhile, so that the program never waits."""
        while select.select([self.main], [], [], 0.02)[0]:
            try:
                self.seen += os.read(self.main, 65536)
            except OSError:
                return

    def until(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + 180
        while not condition():
            assert time.monotonic() < end, self.seen[-3000:]
            self.read()

    def press(self, keys: bytes, done: Callable[[], bool]) -> None:
        """Presses keys until that came of them: a key that comes before a page was read does nothing."""
        end = time.monotonic() + 180
        while not done():
            assert time.monotonic() < end, self.seen[-3000:]
            os.write(self.main, keys)
            again = time.monotonic() + 1
            while time.monotonic() < again and not done():
                self.read()

    def kill(self) -> None:
        self.program.send_signal(signal.SIGKILL)
        self.program.wait(180)
        os.close(self.main)


def test_a_run_that_was_killed_is_resumed_with_what_was_typed(tmp_path: Path) -> None:
    db = tmp_path / "lab.db"
    with Store.open(db) as store:
        study = frozen(store, [unit(LUNCH)], ("P1",), quiz=0)

        def acts(kind: str) -> int:
            return sum(act.act == kind for act in store.labels.acts(study))

        def asked() -> bool:
            return any(store.runs.trace(one.trace).asked for one in played(store, study) if store.runs.holds(one.trace))

        def draft() -> str:
            run = played(store, study)[0].trace
            question = store.runs.trace(run).asked
            return store.runs.draft(run, question.question.id) if question is not None else ""

        first = Terminal(db, tmp_path)
        try:
            first.press(b"1", lambda: acts("consent") == 1)
            first.press(b"\r", lambda: acts("played") == 1)
            first.until(asked)
            first.until(lambda: b"your answer" in first.seen)
            os.write(first.main, b"mild pl")
            first.until(lambda: draft() == "mild pl")
        finally:
            first.kill()
        killed = datetime.now(UTC).isoformat()
        run = played(store, study)[0]
        assert run.status == "open"
        steps = len(store.runs.trace(run.trace).steps)

        second = Terminal(db, tmp_path)
        try:
            second.until(lambda: b"mild pl" in second.seen)  # the same question, with the same draft, at once
            os.write(second.main, b"ease\r")
            second.until(
                lambda: played(store, study)[0].status == "open" and store.runs.trace(run.trace).ended is not None
            )
            second.press(b"\r", lambda: played(store, study)[0].status == "completed")
        finally:
            second.kill()
        trace = store.runs.trace(run.trace)
        assert [one.trace for one in played(store, study)] == [run.trace]
        assert trace.replies >= 1
        assert len(trace.steps) > steps
        (reply,) = (step.reply for step in trace.steps if step.reply is not None and step.reply.text == "mild please")
        assert reply.shown_at is not None  # as it was before the program ended
        assert reply.first_key_at is not None
        assert reply.shown_at < reply.first_key_at < killed < str(reply.sent_at)
        assert any(isinstance(event, Resumed) for event in store.runs.events(run.trace))  # a break lies between
        assert acts("consent") == 1

        third = Terminal(db, tmp_path)  # killed again before anything was answered: the questions are there
        try:
            third.press(b"4", lambda: len(list(store.labels.read(study))) >= 1)  # a key pressed twice says it twice
        finally:
            third.kill()
