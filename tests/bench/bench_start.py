"""How long until something is seen: `hitlab --help` against bare Python, Home and Live against a bare Textual app.

First paint is measured in a real pseudo-terminal of 120x40: from the start of the process until the screen's own
words have arrived. The peers take turns in one run; medians.
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

ROOT = Path(__file__).parents[2]
BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("PAINTED")
Bare().run()
"""


def process_seconds(*args: str) -> float:
    """Seconds from start to end of one process."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *args], stdout=subprocess.DEVNULL, check=True, cwd=ROOT)
    return time.perf_counter() - began


def paint_seconds(words: bytes, *args: str) -> float:
    """Seconds until `words` have been written to the terminal; the process is then ended."""
    began = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", COLUMNS="120", LINES="40")
        os.execv(sys.executable, [sys.executable, *args])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    try:
        return _until(terminal, words, began)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def _until(terminal: int, words: bytes, began: float) -> float:
    seen = b""
    while time.perf_counter() - began < 30:
        ready, _, _ = select.select([terminal], [], [], 1)
        if ready:
            seen = (seen + os.read(terminal, 65536))[-200_000:]
            if words in seen:
                return time.perf_counter() - began
    raise SystemExit(f"{words!r} did not appear within 30 s")


def main() -> None:
    """Prints a table of medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        db = str(Path(folder) / "start.db")
        hitlab = ("-m", "lab.cli")
        subprocess.run([sys.executable, *hitlab, "demo", "--headless", "--db", db], stdout=subprocess.DEVNULL, cwd=ROOT)
        probes: dict[str, Callable[[], float]] = {
            "bare python": lambda: process_seconds("-c", "pass"),
            "hitlab --help": lambda: process_seconds(*hitlab, "--help"),
            "bare Textual app": lambda: paint_seconds(b"PAINTED", "-c", BARE),
            "Home": lambda: paint_seconds(b"Runs", *hitlab, "--db", db),
            "Live": lambda: paint_seconds(b"Starting the phone", *hitlab, "live", "usual_lunch", "--db", db),
            "Live, all of it": lambda: paint_seconds(b"Ines", *hitlab, "live", "usual_lunch", "--db", db),
        }
        times: dict[str, list[float]] = {name: [] for name in probes}
        for _ in range(args.rounds):
            for name, probe in probes.items():
                times[name].append(probe())
    medians = {name: statistics.median(values) for name, values in times.items()}
    peers = {"hitlab --help": "bare python"}
    peers |= dict.fromkeys(("Home", "Live", "Live, all of it"), "bare Textual app")
    if args.json:
        print(json.dumps({name: {"ms": seconds * 1000} for name, seconds in medians.items()}))
        return
    for name, seconds in medians.items():
        peer = peers.get(name)
        ratio = f"{seconds / medians[peer]:5.1f} x {peer}" if peer else ""
        print(f"{name:18} {seconds * 1000:7.0f} ms  {ratio}")


if __name__ == "__main__":
    main()
