"""How long the room Agreement takes to show a study of 1,000 labels and of 1,000,000, for the first and a second time.

Each time the app is made anew and driven in Textual's Pilot, so that nothing is left in memory: from the app's start
to the paint that has the numbers, then to the one that has pairs and grid. The second openings of both studies take
turns. Beside it the longest time for which the app did not answer a key meanwhile: a task asks for its turn every 5 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from lab.core.settings import Settings
from screens.agreement.agreement import AgreementScreen
from screens.app import LabApp
from screens.navigation import Opening
from store.store import Store
from tests.bench.bench_agreement import LARGE, SCREEN, laid
from tests.screens.runs import painted

_PATIENCE = 600.0


class Opened(NamedTuple):
    """Seconds from the app's start: until numbers stand there, until pairs and grid do; the longest stall between."""

    numbers: float
    grid: float
    stall: float


async def opened(store: Store) -> Opened:
    """Opens the room once."""
    app = LabApp(store, Settings(), Opening("agreement", study=store.studies.study("s")))
    began = time.perf_counter()
    async with app.run_test(size=(120, 40)):
        stalls: list[float] = []
        beat = asyncio.create_task(_beat(stalls))
        numbers = await _when(lambda: room(app) and "●" in painted(app)) - began
        grid = await _when(lambda: room(app) and both(app)) - began
        beat.cancel()
    return Opened(numbers, grid, max(stalls, default=0.0))


def room(app: LabApp) -> bool:
    return isinstance(app.screen, AgreementScreen)


def both(app: LabApp) -> bool:
    """Whether pairs and grid are there."""
    assert isinstance(app.screen, AgreementScreen)
    return app.screen.beneath.grid.has_cells and app.screen.beneath.pairs.count > 1


async def _beat(stalls: list[float]) -> None:
    while True:
        before = time.perf_counter()
        await asyncio.sleep(0.005)
        stalls.append(time.perf_counter() - before - 0.005)


async def _when(holds: Callable[[], bool]) -> float:
    until = time.perf_counter() + _PATIENCE
    while time.perf_counter() < until:
        if holds():
            return time.perf_counter()
        await asyncio.sleep(0.005)
    raise RuntimeError("the room never showed it")


def measured(folder: Path, again: int) -> dict[str, object]:
    """Both studies: the first opening of each, then `again` second ones of either in turn."""
    stores = {
        name: Store.open(laid(folder / f"{name}.db", runs)) for name, runs in (("1,000", SCREEN), ("1,000,000", LARGE))
    }
    first = {name: asyncio.run(opened(store)) for name, store in stores.items()}
    later: dict[str, list[Opened]] = {name: [] for name in stores}
    for _ in range(again):
        for name, store in stores.items():
            later[name].append(asyncio.run(opened(store)))
    for store in stores.values():
        store.close()
    return {
        name: {
            "first": first[name]._asdict(),
            "again": {part: statistics.median(getattr(one, part) for one in later[name]) for part in Opened._fields},
        }
        for name in stores
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench_agreement_room", description=__doc__)
    parser.add_argument("--again", type=int, default=9, help="second openings of each study (default: 9)")
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        found = measured(Path(folder), args.again)
    if args.json:
        sys.stdout.write(json.dumps(found, indent=2) + "\n")
        return
    for name, times in found.items():
        assert isinstance(times, dict)
        for which, one in times.items():
            sys.stdout.write(
                f"{name:>10} labels, {which:<6} numbers {one['numbers']:7.3f} s   pairs, grid {one['grid']:7.3f} s   "
                f"longest stall {1000 * one['stall']:6.1f} ms\n"
            )


if __name__ == "__main__":
    main()
