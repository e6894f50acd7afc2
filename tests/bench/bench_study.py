"""How long a large study takes to open: of 100 units and of 100,000, all but a few handed in by one of three raters.

Without a screen: a rater's place found from a closed file. With one: Home until it lists the study, the whole app begun
anew; Home's Enter, in effect, until the unit is painted; handing a unit in until the next one is painted. And a unit
of 60 nodes on a run of 500 steps against one of 3 nodes on one of 20. Both sizes take turns, so that whatever else the
machine does falls on both; medians. Paints are timed as in `bench_label`.
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

from lab.core.settings import Settings
from lab.core.study.label import Act
from lab.core.study.study import Unit
from lab.core.values.ids_and_clock import now, uuid7
from screens.memory_use import spare_pauses
from screens.navigation import AT_HOME
from store.store import Store
from store.studies.labels import insert_act
from tests.bench.rated import COUNT, R1, SIZE, STEPS, Timed
from tests.screens.annotate.sample_studies import NODES, nodes, ready, studied
from tests.screens.runs import long_run

Took = dict[str, tuple[float, float]]
"""Seconds of each part, and of the processor (all threads) in them."""
_RATER = Settings(person="R1", seat="rater", bell=False)


def handed_in(path: Path, units: int, left: int) -> Path:
    """A file with a study of one short run, in which one rater has so many units left."""
    with Store.open(path) as store:
        store.runs.add(long_run(20))
        run = store.runs.summaries()[0].id
        made = [Unit(f"u{i}", (run,), targets=nodes(3)) for i in range(units)]
        plan = studied(store, NODES, made, ("R1", "R2", "R3"))
        with store.database.writing() as db:
            for i in range(units - left):
                insert_act(db, Act(uuid7(), plan.id, 1, R1, "commit", now(), f"u{i}"))
    return path


def unit_of(path: Path, steps: int, count: int) -> Path:
    """A file with one unit of so many nodes, on a run of so many steps."""
    with Store.open(path) as store:
        store.runs.add(long_run(steps))
        run = store.runs.summaries()[0].id
        studied(store, NODES, [Unit("u0", (run,), targets=nodes(count))])
    return path


def sit_down(path: Path) -> Took:
    """Finds a rater's place, from a closed file."""
    began, processor = time.perf_counter(), time.process_time()
    with Store.open(path, create=False) as store:
        study = store.studies.study(store.studies.lines()[0].id)
        store.studies.progress(study, "R1")
        at = store.studies.next_assignment(study, "R1")
        assert at is not None
        store.labels.sheet(study, store.studies.unit(study, at.unit), "R1")
    return {"place": (time.perf_counter() - began, time.process_time() - processor)}


async def in_the_app(path: Path, *, next_unit: bool) -> Took:
    """Home, then the room, and perhaps the unit after, each until it is painted."""
    took: Took = {}
    with Store.open(path, create=False) as store:
        study = store.studies.study(store.studies.lines()[0].id)
        spare_pauses()  # as the command does
        began, processor = time.perf_counter(), time.process_time()

        async def until(part: str, words: str) -> None:
            took[part] = await app.says(words) - began, time.process_time() - processor

        app = Timed(store, _RATER, AT_HOME)
        async with app.run_test(size=SIZE):
            await until("home", study.title)
            await app.quiet()
            processor, began = time.process_time(), app.key("enter")
            await until("room", f"0 of {len(store.studies.unit(study, 'u0').targets)}")
            await until("steps", "Step 1")
            while not ready(app):
                await asyncio.sleep(0.01)
            if next_unit:
                await _all_answered(app)
                processor, began = time.process_time(), app.key("enter")
                await until("next", f"{store.studies.progress(study, 'R1').done + 1} done today")
    return took


async def _all_answered(app: Timed) -> None:
    for key in "111":
        await app.quiet()
        app.key(key)
    await app.quiet()


def in_turns(paths: tuple[Path, Path], rounds: int, *, next_unit: bool) -> tuple[Took, Took]:
    """Of both, medians in milliseconds."""
    took: tuple[list[Took], list[Took]] = ([], [])
    for _ in range(rounds):
        for path, found in zip(paths, took, strict=True):
            found.append(sit_down(path) | asyncio.run(in_the_app(path, next_unit=next_unit)))
    few, many = ({name: _median([one[name] for one in found]) for name in found[0]} for found in took)
    return few, many


def _median(found: list[tuple[float, float]]) -> tuple[float, float]:
    wall, processor = (1000 * statistics.median(seconds) for seconds in zip(*found, strict=True))
    return wall, processor


_SAID = {
    "place": "a rater's place, without a screen",
    "home": "Home, the app begun anew",
    "room": "from Home to the sheet",
    "steps": "from Home to the first step",
    "next": "handing in until the next unit",
}


def main() -> int:
    """Prints two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--units", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        left = args.rounds + 1  # each round hands one in
        sizes = handed_in(here / "few.db", 100, left), handed_in(here / "many.db", args.units, left)
        studies = in_turns(sizes, args.rounds, next_unit=True)
        units = in_turns(
            (unit_of(here / "s.db", 20, 3), unit_of(here / "l.db", STEPS, COUNT)), args.rounds, next_unit=False
        )
    if args.json:
        sys.stdout.write(json.dumps({"studies": studies, "units": units}) + "\n")
        return 0
    for one, other, (few, many) in (
        ("100 units", f"{args.units:,} units", studies),
        ("3 nodes, 20 steps", f"{COUNT} nodes, {STEPS} steps", units),
    ):
        sys.stdout.write(f"| ms (of the processor), p50 | {one} | {other} | ratio |\n|---|---|---|---|\n")
        for name in few:
            (a, on_a), (b, on_b) = few[name], many[name]
            cells = f"{a:.1f} ({on_a:.1f}) | {b:.1f} ({on_b:.1f}) | {b / a:.2f} ({on_b / on_a:.2f})"
            sys.stdout.write(f"| {_SAID[name]} | {cells} |\n")
        sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
