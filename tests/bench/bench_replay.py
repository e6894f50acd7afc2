"""How long a step of Replay takes, from the key press to the last byte painted, at 100 and at 10,000 steps.

Both runs hold the same four screens with their trees and pictures, stand in one file, and are stepped through in
turns in one process, without a real terminal. Medians; the aim is flat: ten thousand steps cost as a hundred.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from textual import events
from textual._compositor import CompositorUpdate
from textual.screen import Screen

from lab.core.settings import Settings
from screens.app import LabApp
from screens.mirror.mirror import Mirror
from screens.navigation import Opening
from screens.replay.replay import ReplayScreen
from screens.replay.timeline import Timeline
from store.store import Store
from tests.screens.runs import long_run

SIZE = (120, 40)
_QUIET = 0.03
"""Seconds without a write after which a repaint counts as done; they are not counted in it."""


class Timed(LabApp):
    """The app, each of its writes to the terminal made as for a real one, then timed instead of sent."""

    written = 0.0

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        if isinstance(renderable, CompositorUpdate):
            renderable.render_segments(self.console)
            self.written = time.perf_counter()


class Stage:
    """One app stepping through one run."""

    def __init__(self, store: Store, trace: str, steps: int) -> None:
        self.app = Timed(store, Settings(), Opening("replay", trace))
        self.steps = steps
        self.seconds: list[float] = []

    async def ready(self) -> float:
        """Seconds until every step is listed."""
        began = time.perf_counter()
        while not (isinstance(self.app.screen, ReplayScreen) and self.app.screen.footage.whole and self._at(1)):
            await asyncio.sleep(0.005)
        return time.perf_counter() - began

    def _at(self, number: int) -> bool:
        screen = self.app.screen
        title = screen.query_one("#sheet").border_title
        return title == f"Step {number}" and screen.query_one(Mirror).settled

    async def step(self) -> None:
        """One press of the right arrow, until all of the next step is painted."""
        following = self.app.screen.query_one(Timeline).cursor + 2
        began = time.perf_counter()
        self.app.post_message(events.Key("right", None))
        while not self._at(following) or time.perf_counter() - self.app.written < _QUIET:
            await asyncio.sleep(0.001)
        self.seconds.append(self.app.written - began)

    async def jump(self, number: int) -> None:
        """Goes far ahead, uncounted."""
        self.app.screen.query_one(Timeline).go(number)
        while not self._at(number + 1):
            await asyncio.sleep(0.005)


async def measure(store: Store, short: int, long: int, rounds: int) -> dict[str, float]:
    """Milliseconds a step of both, and the seconds in which the long one's steps were listed."""
    few, many = Stage(store, "few", short), Stage(store, "many", long)
    async with few.app.run_test(size=SIZE):
        await few.ready()
        async with many.app.run_test(size=SIZE):
            listed = await many.ready()
            await few.jump(short // 3)
            await many.jump(long // 2)
            for _ in range(rounds):
                for stage in (few, many):
                    await stage.step()
    return {
        f"{short}_steps_ms": 1000 * statistics.median(few.seconds),
        f"{long}_steps_ms": 1000 * statistics.median(many.seconds),
        "ratio": statistics.median(many.seconds) / statistics.median(few.seconds),
        "long_run_listed_s": listed,
    }


def main() -> None:
    """Prints the medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", type=int, default=100)
    parser.add_argument("--long", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "replay.db") as store:
        store.runs.add(long_run(args.short, "few"))
        store.runs.add(long_run(args.long, "many"))
        found = asyncio.run(measure(store, args.short, args.long, args.rounds))
    if args.json:
        sys.stdout.write(json.dumps(found) + "\n")
        return
    sys.stdout.write(f"| replay, {SIZE[0]}x{SIZE[1]} | ms a step |\n|---|---|\n")
    sys.stdout.write(f"| {args.short:,} steps | {found[f'{args.short}_steps_ms']:.1f} |\n")
    sys.stdout.write(f"| {args.long:,} steps | {found[f'{args.long}_steps_ms']:.1f} |\n")
    sys.stdout.write(f"| ratio (aim 1) | {found['ratio']:.2f} |\n\n")
    sys.stdout.write(f"All {args.long:,} steps were listed after {found['long_run_listed_s']:.1f} s.\n")


if __name__ == "__main__":
    main()
