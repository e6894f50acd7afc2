"""A live run in a real terminal, with an agent that sleeps for an hour: quitting ends the program at once."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

PROGRAM = """
import sys, threading
from pathlib import Path
from lab.session import Session
from lab.spec import Spec
from lab.settings import Settings
from lab.task import Actor, Task
from screens.app import LabApp
from screens.rooms import Opening
from screens.live.live import LiveScreen
from store.store import Store

class Sleeper:
    actor = Actor("script", "sleeper")
    def propose(self, brief, screen, history):
        threading.Event().wait(3600)

class Stage(LabApp):
    def on_mount(self):
        self.switch_mode("live")
        self.push_screen(LiveScreen(self.session))

with Store.open(Path(sys.argv[1])) as store:
    app = Stage(store, Settings(), Opening("live"))
    app.session = Session(store, Spec(Task("t", "general", instruction="Do it.")), agent=Sleeper())
    app.run()
    print("the run is", store.summaries()[0].status)
"""


def read_until(fd: int, wanted: bytes, seconds: float) -> bytes:
    """What the terminal was sent, up to and with `wanted`."""
    seen, end = b"", time.monotonic() + seconds
    while wanted not in seen:
        assert time.monotonic() < end, seen[-2000:]
        if select.select([fd], [], [], 0.1)[0]:
            try:
                seen += os.read(fd, 65536)
            except OSError as error:  # how Linux says that the program is gone
                raise AssertionError(seen[-2000:]) from error
    return seen


def test_quitting_ends_the_program_at_once(tmp_path: Path) -> None:
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "lab.db")],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
        stdin=side,
        stdout=side,
        stderr=side,
    )
    os.close(side)
    try:
        read_until(main, b"thinking ...", 30)
        os.write(main, b"\x11")
        read_until(main, b"leave it open and quit", 15)
        os.write(main, b"\r")
        read_until(main, b"the run is open", 15)
        assert program.wait(15) == 0
    finally:
        program.kill()
        os.close(main)
