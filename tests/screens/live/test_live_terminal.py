"""A live run in a real terminal, with an agent that sleeps for an hour: quitting ends the program at once."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from store.store import Store
from tests.warm import Warm
from tests.warm_code import CODE

ROOT = Path(__file__).parents[3]
PROGRAM = """
import sys, threading
from pathlib import Path
from lab.runs.session import Session
from lab.runs.spec import Spec
from lab.core.settings import Settings
from lab.core.task.task import Actor, Task
from screens.app import LabApp
from screens.navigation import Opening
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
    print("the run is", store.runs.summaries()[0].status)
"""


def read_until(fd: int, wanted: bytes, seconds: float = 180) -> bytes:
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


def started(args: list[str], home: Path, main: str = "lab.cli.main:main") -> tuple[Warm, int]:
    """The program in a terminal of its own, and the terminal's end that is read and written here."""
    ours, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    env = {name: value for name, value in os.environ.items() if not name.startswith("HITLAB_")}
    env |= {f"XDG_{kind}_HOME": str(home) for kind in ("DATA", "CONFIG", "CACHE")}
    env |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
    program = Warm(args, main=main, cwd=ROOT, env=env, stdin=side, stdout=side, stderr=side, start_new_session=True)
    os.close(side)
    return program, ours


@contextmanager
def leaving(args: list[str], home: Path) -> Iterator[int]:
    """The terminal of such a program, which ends well once it was told to within."""
    program, main = started(args, home)
    try:
        yield main
        assert program.wait(180) == 0
    finally:
        program.kill()
        os.close(main)


def test_quitting_says_which_run_was_left_and_the_command_that_goes_on(tmp_path: Path) -> None:
    db = tmp_path / "a b.db"
    with leaving(["live", "flight_alarm", "--gate", "ask", "--db", str(db)], tmp_path) as main:
        read_until(main, b"The agent waits for you")
        os.write(main, b"\x11")
        read_until(main, b"leave it open and quit")
        os.write(main, b"\r")
        told = read_until(main, b".db'").decode(errors="replace")  # what was read before may end within a character
    with Store.open(db) as store:
        (left,) = store.runs.summaries()
    assert f"Run {left.id} is left open." in told
    assert f"hitlab live --resume {left.id} --db '{db}'" in told


def test_quitting_says_the_id_of_a_run_that_is_over(tmp_path: Path) -> None:
    db = tmp_path / "lab.db"
    with leaving(["live", "saturday_walk", "--db", str(db)], tmp_path) as main:
        read_until(main, b"The run is over")
        os.write(main, b"\x11")
        told = read_until(main, b" is over.").decode(errors="replace")
    with Store.open(db) as store:
        (done,) = store.runs.summaries()
    assert f"Run {done.id} is over." in told


def test_quitting_ends_the_program_at_once(tmp_path: Path) -> None:
    program, main = started([PROGRAM, str(tmp_path / "lab.db")], tmp_path, CODE)
    try:
        read_until(main, b"thinking ...")
        os.write(main, b"\x11")
        read_until(main, b"leave it open and quit")
        os.write(main, b"\r")
        read_until(main, b"the run is open")
        assert program.wait(180) == 0
    finally:
        program.kill()
        os.close(main)
