"""What one picture of a phone costs on a terminal: our mirror, words drawn, against rich-pixels and textual-image.

Each runs as an app of its own on a real pseudo-terminal of true colour, whose other end this script reads and counts.
All get the same pictures (the embedded phone's, 1080 x 2400, a tree with each for the mirror) and fill the same cells.
A picture's milliseconds go from handing it over to the end of the app's write, and, as CPU, over all its threads; the
rounds of the three alternate. Rivals are given pixels as their users would: rich-pixels a picture reduced to its cells
by box means, textual-image the picture itself.

    python -m tests.bench.bench_mirror [--json] [--frames 16] [--rounds 2]
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import pty
import statistics
import struct
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RENDERERS = ("mirror", "rich-pixels", "textual-image")
SCENES = ("scroll", "typing", "still", "noise")
GRIDS = ((45, 25), (80, 45))
"""Columns and rows that the phone itself fills: 45 x 50 and 80 x 90 half-block pixels."""


def frames(scene: str, count: int) -> list[Any]:
    """`count` frames of a scene, with their trees; a fixed seed."""
    from lab.core.run.step import Action
    from lab.core.seams import Frame
    from simulators.phone.phone import Phone

    phone = Phone(seed=1)
    if scene == "noise":
        import numpy as np

        random = np.random.default_rng(1)
        noise = [random.integers(0, 256, 1080 * 2400 * 3, np.uint8).tobytes() for _ in range(4)]
        return [Frame(noise[i % 4], (1080, 2400), None, 0.0, i) for i in range(count)]
    phone.perform(Action("open_app", app="Settings" if scene == "scroll" else "Notes"))
    if scene == "scroll":
        phone.perform(Action("open_app", app="Noshwell"))
    else:
        notes = [n for n in phone.observe().tree.nodes() if n.text == "Annealing times"]
        phone.perform(Action("click", at=notes[0].bounds.center))
        field = max((n for n in phone.observe().tree.nodes() if "EditText" in n.cls), key=lambda n: n.bounds.area)
        phone.perform(Action("click", at=field.bounds.center))
    made: list[Any] = []
    for index in range(count):
        if scene == "scroll":
            down = -1 if index % 24 < 12 else 1
            phone.perform(Action("drag", at=(540, 1500), to=(540, 1500 + down * 53), ms=200))
        elif scene == "typing":
            phone.perform(Action("input_text", text="the films cured at 120 C for 40 min "[index % 36]))
        stop = threading.Event()
        made.append(next(phone.frames(stop)))
        stop.set()
    return made


def child(renderer: str, scene: str, grid: tuple[int, int], count: int) -> None:
    """Runs one app on the terminal it was given; prints its figures as JSON on standard output."""
    shown = frames(scene, count)
    if renderer == "textual-image":
        import textual_image.widget  # noqa: F401  (it asks the terminal, which it can only before an app runs)
    from textual.app import App, ComposeResult
    from textual.widget import Widget

    figures: dict[str, list[float]] = {"ms": [], "cpu": []}

    class Bench(App[None]):
        CSS = "#phone { width: %d; height: %d; border: none; }" % grid  # noqa: UP031
        shows = 0
        quiet: asyncio.Event

        def compose(self) -> ComposeResult:
            self.quiet = asyncio.Event()
            self.phone, self.put = _widget(renderer, grid)
            yield self.phone

        def post_display_hook(self) -> None:
            self.shows += 1
            if hasattr(self, "quiet"):
                self.quiet.set()

        def on_mount(self) -> None:
            self.run_worker(self.go())

        async def go(self) -> None:
            await asyncio.sleep(0.3)
            for index, frame in enumerate([shown[-1], *shown]):
                self.quiet.clear()
                cpu, began = time.process_time(), time.perf_counter()
                self.put(frame)
                await _drawn(self, self.phone)
                if index:
                    figures["ms"].append((time.perf_counter() - began) * 1000)
                    figures["cpu"].append((time.process_time() - cpu) * 1000)
                else:
                    os.write(1, b"warm\n")
                    await asyncio.sleep(0.3)
            os.write(1, b"done\n")
            await asyncio.sleep(0.3)
            self.exit()

    async def _drawn(app: Bench, widget: Widget) -> None:
        if renderer != "mirror":
            await asyncio.wait_for(app.quiet.wait(), 5)
            return
        from screens.mirror.mirror import Mirror

        assert isinstance(widget, Mirror)
        before = widget.rows_drawn
        while not widget.settled:
            await asyncio.sleep(0.004)  # seldom, for looking costs CPU too
        if widget.rows_drawn != before:
            await asyncio.wait_for(app.quiet.wait(), 5)

    Bench().run()
    os.write(1, json.dumps(figures).encode() + b"\n")


def _widget(renderer: str, grid: tuple[int, int]) -> Any:
    """A renderer's widget and what hands it a frame."""
    if renderer == "mirror":
        from screens.mirror.mirror import Mirror

        mirror = Mirror(id="phone")
        mirror.zoom, mirror.fps = "wide", 10_000
        return mirror, mirror.show
    from PIL import Image

    def picture(frame: Any) -> Any:
        return Image.frombuffer("RGB", frame.size, frame.rgb, "raw", "RGB", 0, 1)

    if renderer == "rich-pixels":
        from rich_pixels import Pixels
        from textual.widgets import Static

        static = Static(id="phone")
        small = grid[0], grid[1] * 2
        box = Image.Resampling.BOX
        return static, lambda frame: static.update(
            Pixels.from_image(picture(frame).resize(small, box, reducing_gap=2.0))
        )
    from textual_image.widget import HalfcellImage

    image = HalfcellImage(id="phone")
    return image, lambda frame: setattr(image, "image", picture(frame))


def run(renderer: str, scene: str, grid: tuple[int, int], count: int) -> dict[str, float]:
    """One child on a pseudo-terminal: median ms and CPU ms a frame, mean bytes a frame."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", grid[1] + 4, grid[0] + 6, 0, 0))
    env = {
        **os.environ,
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "COLUMNS": str(grid[0] + 6),
        "LINES": str(grid[1] + 4),
    }
    arguments = ["--child", renderer, scene, str(grid[0]), str(grid[1]), str(count)]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.bench_mirror", *arguments],
        cwd=ROOT,
        stdin=theirs,
        stderr=theirs,
        stdout=subprocess.PIPE,
        env=env,
    )
    os.close(theirs)
    read = [0]
    thread = threading.Thread(target=_drain, args=(ours, read), daemon=True)
    thread.start()
    assert process.stdout is not None
    marks: list[int] = []
    last = b""
    for line in process.stdout:
        last = line
        if line in (b"warm\n", b"done\n"):
            time.sleep(0.15)
            marks.append(read[0])
    process.wait(30)
    thread.join(2)
    os.close(ours)
    if len(marks) != 2 or not last.startswith(b"{"):
        raise SystemExit(f"{renderer} ended with {process.returncode} and no figures")
    figures = json.loads(last)
    return {
        "ms": statistics.median(figures["ms"]),
        "cpu_ms": statistics.median(figures["cpu"]),
        "bytes": (marks[1] - marks[0]) / count,
    }


def _drain(terminal: int, read: list[int]) -> None:
    """Reads what the app writes, as a terminal would, and counts it."""
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            return
        if not data:
            return
        read[0] += len(data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--frames", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        renderer, scene, columns, rows, count = options.child
        child(renderer, scene, (int(columns), int(rows)), int(count))
        return
    results: list[dict[str, Any]] = []
    for grid in GRIDS:
        for scene in SCENES:
            rounds = [{r: run(r, scene, grid, options.frames) for r in RENDERERS} for _ in range(options.rounds)]
            for renderer in rounds[0]:
                figures = {key: statistics.median(one[renderer][key] for one in rounds) for key in rounds[0][renderer]}
                results.append({"grid": f"{grid[0]}x{grid[1] * 2}", "scene": scene, "renderer": renderer, **figures})
                if not options.json:
                    row = results[-1]
                    print(
                        f"{row['grid']:>6} {scene:7} {renderer:14} {row['ms']:7.1f} ms {row['cpu_ms']:7.1f} ms CPU "
                        f"{row['bytes'] / 1000:8.1f} kB",
                        flush=True,
                    )
    summary = _shares(results)
    if options.json:
        print(json.dumps({"results": results, "shares": summary}))
    else:
        for name, share in summary.items():
            print(f"{name}: {share:.2f}")


def _shares(results: list[dict[str, Any]]) -> dict[str, float]:
    """The mirror's time over each rival's, for each grid and scene: on the clock, and over all threads."""
    shares: dict[str, float] = {}
    by = {(r["grid"], r["scene"], r["renderer"]): r for r in results}
    for grid, scene, renderer in by:
        if renderer != "mirror":
            ours, theirs = by[grid, scene, "mirror"], by[grid, scene, renderer]
            for key in ("ms", "cpu_ms"):
                shares[f"{grid} {scene} mirror/{renderer} {key}"] = ours[key] / theirs[key]
    return shares


if __name__ == "__main__":
    main()
