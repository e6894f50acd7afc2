"""The program in a real terminal: asyncio runs it there as it does for a user, which Pilot does not."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.core.run.step import Action, Proposed
from lab.core.run.trace import Started, Step
from lab.core.task.task import Actor, Task
from store.store import Store
from tests.warm import Warm

Begin = Callable[[list[str], dict[str, Any]], subprocess.Popen[bytes]]


def started(args: list[str], streams: dict[str, Any]) -> subprocess.Popen[bytes]:
    """The program as a person starts it."""
    return subprocess.Popen([sys.executable, "-m", "lab.cli.main", *args], **streams)


def forked(args: list[str], streams: dict[str, Any]) -> subprocess.Popen[bytes]:
    return Warm(args, **streams, start_new_session=True)


def painted_in_terminal(args: list[str], wanted: bytes, home: Path, begin: Begin = forked) -> tuple[bool, int]:
    """Whether `wanted` was painted within three minutes, and the exit code after `ctrl+q`."""
    terminal, side = pty.openpty()
    size = {"COLUMNS": "100", "LINES": "30"}
    environment = {**os.environ, **size, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "XDG_CACHE_HOME": str(home)}
    streams: dict[str, Any] = {"env": environment, "stdin": side, "stdout": side, "stderr": side}
    program = begin(args, streams)
    os.close(side)
    seen, end, asked = b"", time.monotonic() + 180, False
    found = False
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            seen += os.read(terminal, 65536)
        except OSError:
            break
        found = found or wanted in seen
        if found and not asked:
            os.write(terminal, b"\x11")
            asked = True
    else:
        program.kill()
    code = program.wait(180)
    os.close(terminal)
    return found, code


@pytest.mark.parametrize(
    ("begin", "room", "words"),
    [(forked, "home", b"No runs yet"), (started, "home", b"Runs"), (forked, "replay", b"Goal")],
)
def test_a_room_opens_and_is_left(tmp_path: Path, begin: Begin, room: str, words: bytes) -> None:
    """One is started whole; the others are forked from a process in which all is loaded."""
    db = tmp_path / "lab.db"
    with Store.open(db) as store:  # a file that is named is one that is there
        if words != b"No runs yet":
            task = Task("t", "general", instruction="Do it.")
            store.runs.append_event(
                "run1", Started(seq=0, at="", trace="run1", task=task, agent=Actor("script", "rule"))
            )
            store.runs.append_event("run1", Step(seq=1, index=0, proposed=Proposed(Action("wait"))))
    args = ["replay", "run1@1"] if room == "replay" else []
    assert painted_in_terminal([*args, "--db", str(db)], words, tmp_path, begin) == (True, 0)


@pytest.mark.parametrize("stops", ["the terminal", "ctrl+s"])
def test_a_terminal_that_is_stopped_is_left_all_the_same(tmp_path: Path, stops: str) -> None:
    """Its output stands still before `ctrl+q`, or by keys that are pressed until the program is gone."""
    terminal, side = pty.openpty()
    before = termios.tcgetattr(side)
    db = tmp_path / "lab.db"
    Store.open(db).close()
    environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "XDG_CACHE_HOME": str(tmp_path)}
    program = forked(["--db", str(db)], {"env": environment, "stdin": side, "stdout": side, "stderr": side})
    seen, asked, end = b"", False, time.monotonic() + 180
    while program.poll() is None and time.monotonic() < end:
        if select.select([terminal], [], [], 0.01)[0]:
            seen += os.read(terminal, 65536)
        if not asked and b"No runs yet" in seen:
            if stops == "the terminal":
                termios.tcflow(side, termios.TCOOFF)
            os.write(terminal, b"\x11")
            asked = True
        elif asked and stops == "ctrl+s" and select.select([], [terminal], [], 0)[1]:
            os.write(terminal, b"\x13")
    try:
        assert program.poll() == 0
        while select.select([terminal], [], [], 0)[0]:
            seen += os.read(terminal, 65536)
        assert b"\x1b[?1049l" in seen
        assert b"\x1b[?25h" in seen
        assert termios.tcgetattr(side) == before
    finally:
        if program.poll() is None:
            program.kill()
            program.wait(180)
        os.close(side)
        os.close(terminal)
