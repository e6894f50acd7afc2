"""How long until something is seen, and in how much memory: `--help` against bare Python, rooms against bare Textual.

First paint is measured in a real pseudo-terminal of 120x40: from the start of the process until the screen's own
words have arrived; it answers at once when it is asked what it can draw, as every terminal does. Memory is what the
process holds resident some seconds later. The peers take turns in one run; medians.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

_SETTLED = 6.0
"""Seconds after the first paint at which memory is looked at: by then Live has painted its first pictures."""
_QUESTION, _ANSWER = b"\x1b[c", b"\x1b[?62;22c"
"""What a program asks a terminal for, its attributes, and what one that draws no graphics says at once."""
ROOT = Path(__file__).parents[2]
BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("PAINTED")
Bare().run()
"""


os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # with it every start compiles the lab anew, as no user's does


def process_seconds(*args: str) -> float:
    """Seconds from start to end of one process."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *args], stdout=subprocess.DEVNULL, check=True, cwd=ROOT)
    return time.perf_counter() - began


class Paint(NamedTuple):
    """Seconds until the words were painted, and MB (1e6 bytes) resident afterwards."""

    seconds: float
    megabytes: float


def paint(words: bytes, *args: str) -> Paint:
    """Waits until `words` have been written to the terminal, and a little longer; the process is then ended."""
    began = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", COLUMNS="120", LINES="40")
        os.execv(sys.executable, [sys.executable, *args])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    try:
        seconds = _until(terminal, words, began)
        _drain(terminal, _SETTLED)
        return Paint(seconds, resident(pid))
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def _until(terminal: int, words: bytes, began: float) -> float:
    seen = b""
    while time.perf_counter() - began < 30:
        ready, _, _ = select.select([terminal], [], [], 1)
        if ready:
            seen = (seen + _read(terminal))[-200_000:]
            if words in seen:
                return time.perf_counter() - began
    raise SystemExit(f"{words!r} did not appear within 30 s")


def _read(terminal: int) -> bytes:
    """What was written to the terminal, which answers a question for its attributes as every terminal does."""
    written = os.read(terminal, 65536)
    if _QUESTION in written:
        os.write(terminal, _ANSWER)
    return written


def _drain(terminal: int, seconds: float) -> None:
    """Reads what is painted for so long."""
    end = time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        if select.select([terminal], [], [], left)[0]:
            _read(terminal)


def resident(pid: int) -> float:
    """The memory of a process in MB."""
    kilobytes = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True).stdout
    return int(kilobytes) * 1024 / 1e6


def main() -> None:
    """Prints a table of medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        db = str(Path(folder) / "start.db")
        hitlab = ("-m", "lab.cli.main")
        subprocess.run([sys.executable, *hitlab, "demo", "--headless", "--db", db], stdout=subprocess.DEVNULL, cwd=ROOT)
        probes: dict[str, Callable[[], float | Paint]] = {
            "bare python": lambda: process_seconds("-c", "pass"),
            "hitlab --help": lambda: process_seconds(*hitlab, "--help"),
            "bare Textual app": lambda: paint(b"PAINTED", "-c", BARE),
            "Home": lambda: paint(b"Runs", *hitlab, "--db", db),
            "Live": lambda: paint(b"Starting the phone", *hitlab, "live", "usual_lunch", "--db", db),
            "Live, all of it": lambda: paint(b"Ines", *hitlab, "live", "usual_lunch", "--db", db),
        }
        times: dict[str, list[float]] = {name: [] for name in probes}
        memory: dict[str, list[float]] = {name: [] for name in probes}
        for _ in range(args.rounds):
            for name, probe in probes.items():
                measured = probe()
                times[name].append(measured.seconds if isinstance(measured, Paint) else measured)
                memory[name] += [measured.megabytes] if isinstance(measured, Paint) else []
    medians = {name: statistics.median(values) for name, values in times.items()}
    sizes = {name: statistics.median(values) for name, values in memory.items() if values}
    peers = {"hitlab --help": "bare python"}
    peers |= dict.fromkeys(("Home", "Live", "Live, all of it"), "bare Textual app")
    if args.json:
        print(json.dumps({name: {"ms": seconds * 1000, "mb": sizes.get(name)} for name, seconds in medians.items()}))
        return
    for name, seconds in medians.items():
        peer = peers.get(name)
        size = f"{sizes[name]:5.0f} MB" if name in sizes else " " * 8
        ratio = f"{seconds / medians[peer]:5.1f} x {peer}" if peer else ""
        print(f"{name:18} {seconds * 1000:7.0f} ms  {size}  {ratio}")


if __name__ == "__main__":
    main()
