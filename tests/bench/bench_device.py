"""From the phone to the terminal: what the mirror costs beside receiving and decoding alone, and how late it is.

A served phone, in a process of its own, shows a film of a list that is flung (drawn beforehand) over the real adb
server and scrcpy's protocol. Three readers, each a process of its own, one after the other in one run: `decoding`
receives and decodes, no more; `pixels` also turns each picture into RGB, as any viewer must; `mirror` is the whole
app on a pseudo-terminal of true colour, whose other end this script reads and counts. CPU is the reader's alone, all
its threads, in percent of one core. Taps: each shows the next picture; the time runs from the tap to the decoded
picture, or to the bytes that the terminal is sent; a tap of which nothing is seen in two seconds is counted as lost.

    python -m tests.bench.bench_device [--json] [--seconds 6] [--rate 60] [--fps 30] [--taps 30] [--video 1200]
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.filmed import Filmed
from tests.scrcpy_jar import stand_in
from tests.simulators.phone.served.rig import AdbServer

ROOT = Path(__file__).parents[2]
GRIDS = ((45, 25), (80, 45))
"""Columns and rows that the phone itself fills: 45 x 50 and 80 x 90 half-block pixels."""
REST = 0.7
"""Seconds between two taps: the phone comes to rest, its tree is read and drawn."""


def child(reader: str, serial: str, options: argparse.Namespace, grid: tuple[int, int]) -> None:
    """One reader. Commands come as lines: `measure SECONDS`, `tap`; each is answered by a line of JSON."""
    from lab.devices.adb.adb import AdbPhone

    phone = AdbPhone(serial, via="scrcpy", fps=options.rate, video=options.video)
    stop = threading.Event()
    seen = Seen()
    if reader == "mirror":
        _app(phone, stop, seen, grid, options.fps)
    else:
        feed = _decode if reader == "decoding" else _pixels
        thread = threading.Thread(target=feed, args=(phone, stop, seen), daemon=True)
        thread.start()
        _obey(phone, seen)
    stop.set()
    phone.close()


class Seen:
    """How many pictures a reader has had, and when the newest came."""

    def __init__(self) -> None:
        self.count = 0
        self.at = 0.0

    def add(self) -> None:
        self.count += 1
        self.at = time.monotonic()


def _decode(phone: Any, stop: threading.Event, seen: Seen) -> None:
    with phone._videos.source(lambda: False) as source:
        while not stop.is_set():
            if source.next(0.1) is not None:
                seen.add()


def _pixels(phone: Any, stop: threading.Event, seen: Seen) -> None:
    number = -1
    for frame in phone.frames(stop):
        if frame.number != number:
            number = frame.number
            len(frame.rgb)
            seen.add()


def _app(phone: Any, stop: threading.Event, seen: Seen, grid: tuple[int, int], fps: int) -> None:
    from textual.app import App, ComposeResult

    from screens.mirror.mirror import Mirror

    class Bench(App[None]):
        CSS = "#phone { width: %d; height: %d; border: none; }" % grid  # noqa: UP031

        def compose(self) -> ComposeResult:
            self.phone = Mirror(id="phone")
            self.phone.zoom, self.phone.fps = "wide", fps
            yield self.phone

        def on_mount(self) -> None:
            threading.Thread(target=self.feed, daemon=True).start()
            threading.Thread(target=self.obey, daemon=True).start()

        def feed(self) -> None:
            for frame in phone.frames(stop):
                self.phone.post_frame(frame)

        def post_display_hook(self) -> None:
            seen.add()

        def obey(self) -> None:
            _obey(phone, seen)
            self.call_from_thread(self.exit)

    Bench().run()


def _obey(phone: Any, seen: Seen) -> None:
    """Does as the lines of standard input say, to their end."""
    from lab.core.run.step import Action

    for line in os.fdopen(3):
        match line.split():
            case ["measure", seconds]:
                cpu, began, count = time.process_time(), time.monotonic(), seen.count
                time.sleep(float(seconds))
                spent = time.monotonic() - began
                _say(cpu=(time.process_time() - cpu) / spent, rate=(seen.count - count) / spent)
            case ["tap"]:
                count, began = seen.count, time.monotonic()
                phone.perform(Action("click", at=(540, 1200)))
                while seen.count == count and time.monotonic() - began < 2:
                    time.sleep(0.0005)
                _say(tapped=began, seen=seen.at)


def _say(**values: float) -> None:
    os.write(4, json.dumps(values).encode() + b"\n")


class Reader:
    """A reader's process on a pseudo-terminal; `written` is when and how much it wrote there."""

    def __init__(self, name: str, serial: str, grid: tuple[int, int], env: dict[str, str], words: list[str]) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", grid[1] + 4, grid[0] + 6, 0, 0))
        told, self._tell = os.pipe()
        self._hear, said = os.pipe()
        size = {"COLUMNS": str(grid[0] + 6), "LINES": str(grid[1] + 4)}
        code = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
        code += "os.execv(sys.executable, [sys.executable, *sys.argv[3:]])"
        arguments = ["-m", "tests.bench.bench_device", *words, "--child", name, serial, str(grid[0]), str(grid[1])]
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, str(told), str(said), *arguments],
            cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs, pass_fds=(told, said),
            env={**env, **size, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
        )  # fmt: skip
        for end in (theirs, told, said):
            os.close(end)
        self._lines = os.fdopen(self._hear)
        self.written: list[tuple[float, int]] = []
        threading.Thread(target=self._drain, daemon=True).start()

    def _drain(self) -> None:
        while True:
            try:
                data = os.read(self._ours, 1 << 16)
            except OSError:
                return
            if not data:
                return
            self.written.append((time.monotonic(), len(data)))

    def ask(self, line: str) -> dict[str, float]:
        os.write(self._tell, line.encode() + b"\n")
        answer = self._lines.readline()
        if not answer:
            raise SystemExit("a reader ended before its time")
        values: dict[str, float] = json.loads(answer)
        return values

    def bytes_since(self, at: float) -> int:
        return sum(count for when, count in self.written if when >= at)

    def close(self) -> None:
        os.close(self._tell)
        self._process.wait(20)
        self._lines.close()
        os.close(self._ours)


def measure(name: str, grid: tuple[int, int], film: Filmed, env: dict[str, str], options: Any) -> dict[str, Any]:
    """One reader's figures: scrolling, static, and taps."""
    words = ["--rate", str(options.rate), "--fps", str(options.fps), "--video", str(options.video)]
    reader = Reader(name, film.serial, grid, env, words)
    try:
        film.play(options.rate)
        reader.ask("measure 2")
        since = time.monotonic()
        moving = reader.ask(f"measure {options.seconds}")
        written = reader.bytes_since(since)
        film.halt()
        reader.ask("measure 3")
        still = reader.ask(f"measure {options.seconds}")
        taps = [_tap(reader, name) for _ in range(options.taps)]
    finally:
        reader.close()
    waits = sorted(one for one in taps if one is not None) or [float("nan")]
    return {
        "reader": name, "grid": f"{grid[0]}x{grid[1] * 2}",
        "scroll_cpu": moving["cpu"], "scroll_rate": moving["rate"], "static_cpu": still["cpu"],
        "bytes_a_frame": written / max(1.0, moving["rate"] * options.seconds),
        "tap_p50_ms": statistics.median(waits) * 1000, "tap_p95_ms": waits[int(0.95 * (len(waits) - 1))] * 1000,
        "lost": taps.count(None),
    }  # fmt: skip


def _tap(reader: Reader, name: str) -> float | None:
    """Seconds from a tap to its picture, or to the first bytes that the terminal is sent; None where nothing came."""
    time.sleep(REST)
    told = reader.ask("tap")
    if told["seen"] < told["tapped"]:
        return None
    if name != "mirror":
        return told["seen"] - told["tapped"]
    time.sleep(0.05)  # the last bytes are on their way
    first = next((at for at, _ in reader.written[-400:] if at > told["tapped"]), None)
    return first - told["tapped"] if first is not None else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--rate", type=int, default=60, help="pictures a second that the phone shows")
    parser.add_argument("--fps", type=int, default=30, help="pictures a second that the mirror paints at most")
    parser.add_argument("--taps", type=int, default=30)
    parser.add_argument("--video", type=int, default=1200, help="the longer side of the video in pixels")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        reader, serial, columns, rows = options.child
        child(reader, serial, options, (int(columns), int(rows)))
        return
    with tempfile.TemporaryDirectory() as home:
        results = []
        for row in _all(Path(home), options):
            results.append(row)
            if not options.json:
                print(_told(row), flush=True)
    if options.json:
        print(json.dumps({"results": results, "shares": _shares(results)}))
        return
    for name, share in _shares(results).items():
        print(f"{name}: {share:.2f}")


def _all(home: Path, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    jar = home / "scrcpy-server-v3.3.4"
    jar.write_bytes(stand_in("3.3.4"))
    server = AdbServer(home)
    server.start()
    try:
        env = {**server.environment, "SCRCPY_SERVER_PATH": str(jar)}
        with Filmed() as film:
            readers = [("decoding", GRIDS[0]), ("pixels", GRIDS[0]), *(("mirror", grid) for grid in GRIDS)]
            for name, grid in readers:
                yield measure(name, grid, film, env, options)
    finally:
        server.stop()


def _told(row: dict[str, Any]) -> str:
    return (
        f"{row['reader']:9} {row['grid']:>6} scrolling {row['scroll_cpu'] * 100:5.1f} % CPU, "
        f"{row['scroll_rate']:4.1f} /s, {row['bytes_a_frame'] / 1000:6.1f} kB a picture, "
        f"static {row['static_cpu'] * 100:4.1f} %, "
        f"tap p50 {row['tap_p50_ms']:5.1f} p95 {row['tap_p95_ms']:5.1f} ms ({row['lost']} lost)"
    )


def _shares(results: list[dict[str, Any]]) -> dict[str, float]:
    """The mirror's figures over those of receiving and decoding alone, and over those with pixels made."""
    alone = {row["reader"]: row for row in results if row["reader"] != "mirror"}
    shares: dict[str, float] = {}
    for row in results:
        if row["reader"] == "mirror":
            for key in ("scroll_cpu", "tap_p50_ms", "tap_p95_ms"):
                for name, other in alone.items():
                    shares[f"{row['grid']} mirror/{name} {key}"] = row[key] / other[key]
    return shares


if __name__ == "__main__":
    main()
