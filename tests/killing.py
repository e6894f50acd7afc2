"""Programs killed with SIGKILL in the middle of what they do: by another at a random moment, or by themselves."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from tests.warm_code import python

ROOT = Path(__file__).parents[1]

_TICKING = """
import os, signal, sys
from pathlib import Path
from lab.core.task.task import Actor
from store.store import Store
store, left = Store.open(Path(sys.argv[1])), int(sys.argv[2])
done = 0

def tick():
    global done
    done += 1
    if done == left:
        os.kill(os.getpid(), signal.SIGKILL)

store.database.connection().set_progress_handler(tick, 100)
{work}
print(done)
"""


def killed_lines(command: Sequence[str], after: int, pause: float) -> list[bytes]:
    """`lines_until_killed` of a program."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return lines_until_killed(process, after, pause)


def lines_until_killed(process: subprocess.Popen[bytes], after: int, pause: float) -> list[bytes]:
    """The whole lines that a program prints until it is killed, `pause` seconds after line number `after`.

    With `after` 0 it is killed in its beginning: after `pause` seconds, whatever it printed.
    """
    lines: list[bytes] = []
    reached = threading.Event()
    assert process.stdout is not None

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if after and len(lines) >= after:
                reached.set()
        reached.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    if after:
        reached.wait(180)
    threading.Event().wait(pause)
    process.kill()
    process.wait()
    reader.join(180)
    process.stdout.close()
    return [line for line in lines if line.endswith(b"\n")]


def ticking(work: str, db: Path, ticks: int) -> int:
    """Does `work` (Python over `store`) in a process that kills itself after so many hundreds of SQLite's instructions.

    With `ticks` 0 it is not killed; gives how many it took.
    """
    done = python(_TICKING.format(work=work), db, ticks)
    assert done.returncode == (-signal.SIGKILL if ticks else 0), done.stderr
    return int(done.stdout or 0)
