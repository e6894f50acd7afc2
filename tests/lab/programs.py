"""Programs for the agent's chair, written to a file and started for real, and a look at what they leave behind."""

from __future__ import annotations

import contextlib
import os
import shlex
import stat
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from lab.core.run.trace import Trace
from lab.core.task.task import Check, Task
from lab.runs.session import Session
from lab.runs.spec import Spec
from store.store import Store

READY = """
import json, os, signal, subprocess, sys, time

def read():
    text = sys.stdin.readline()
    return json.loads(text) if text else sys.exit()

def say(**line):
    sys.stdout.write(json.dumps(line) + "\\n")
    sys.stdout.flush()

def observed(pictures="none"):
    while True:
        line = read()
        if line["line"] == "hello":
            say(line="hello", v=1, screenshot=pictures)
        if line["line"] == "observation":
            return line
"""
"""What a test's program begins with: `observed()` answers hello and comes back with the next observation."""

TASK = Task(
    "open", "general", instruction="Open the settings", budget=6,
    checks=(Check("settings open", path="nav.app", equals="settings"),),
)  # fmt: skip

OPENS = """
while True:
    seen = observed()
    done = "settings" in seen["activity"]
    say(**({"kind": "status", "status": "complete"} if done else {"kind": "open_app", "app": "Settings"}))
"""
"""A program that does TASK."""


def program(folder: Path, code: str) -> str:
    """An agent's name for a program of this code."""
    path = folder / f"agent{len(list(folder.glob('agent*.py')))}.py"
    path.write_text(READY + code, encoding="utf-8")
    return f"process:{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


def played(store: Store, agent: str, task: Task = TASK) -> Trace:
    """A whole run of a program at a task, with nobody to answer."""
    session = Session(store, Spec(task, agent=agent, user="human"))
    session.start()
    assert session.join(180)
    return store.runs.trace(session.trace_id)


def gone(pid: int) -> bool:
    """Whether no process has that id, not even as a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def comes(condition: Callable[[], bool], seconds: float = 180.0) -> bool:
    """Whether a condition comes to hold in time."""
    tick = threading.Event()
    for _ in range(int(seconds / 0.02)):
        if condition():
            return True
        tick.wait(0.02)
    return condition()


def left_behind() -> tuple[int, set[str]]:
    """How many ends of pipes this process holds, and the private folders of pictures there are."""
    pipes = 0
    for name in os.listdir("/dev/fd"):
        with contextlib.suppress(OSError):  # the one that lists them is closed by now
            pipes += stat.S_ISFIFO(os.fstat(int(name)).st_mode)
    return pipes, {path.name for path in Path(tempfile.gettempdir()).glob("hitlab-*")}
