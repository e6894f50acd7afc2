"""How long it takes from a rater's key to a durable label and to the next paint, and how long a large study opens.

Each answer is paired with a bare SQLite commit (the same pragmas, one INSERT of as many bytes) in the same run, on a
run of 500 steps with 60 nodes; in the screen the keys go through the app, without a real terminal. Opening is measured
on a study in which 99 of 100 units are handed in. `--crash N` instead kills N labelling processes at random moments.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from textual import events
from textual._compositor import CompositorUpdate
from textual.screen import Screen

from lab.label import Act, Label
from lab.labels import Sheet, Spot
from lab.settings import Settings
from lab.stamp import now, uuid7
from lab.study import Study, Unit
from lab.task import Actor
from lab.wire import encode
from screens.annotate.desk import Desk
from screens.app import LabApp
from screens.rooms import Opening
from store.connect import connect
from store.labels import insert_act
from store.store import Store
from tests.crashing_labels import kill_at_random, laid
from tests.screens.annotate.made import NODES, nodes, ready, room, studied
from tests.screens.runs import long_run

SIZE = (120, 40)
STEPS, COUNT = 500, 60
R1 = Actor("human", "R1")
_QUIET = 0.03
"""Seconds without a write after which a repaint counts as done; they are not counted in it."""


class Clocked(Store):
    """A store that says when a label was on the disk."""

    durable = 0.0

    def record_label(self, study: Study, unit: Unit, label: Label) -> Sheet:
        sheet = super().record_label(study, unit, label)
        self.durable = time.perf_counter()
        return sheet


class Timed(LabApp):
    """The app, each of its writes to the terminal made as for a real one, then timed instead of sent."""

    written = 0.0
    first = 0.0
    """When something was written after this was set to 0."""

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        if isinstance(renderable, CompositorUpdate):
            renderable.render_segments(self.console)
            self.written = time.perf_counter()
            self.first = self.first or self.written


class Bare:
    """A table of its own in a file of its own, written to with the pragmas of a hitlab file."""

    def __init__(self, path: Path, size: int) -> None:
        self.db = connect(path)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("CREATE TABLE label (n INTEGER PRIMARY KEY, body TEXT NOT NULL)")
        self.body = "x" * size

    def commit(self) -> float:
        """Seconds of one."""
        began = time.perf_counter()
        self.db.execute("BEGIN IMMEDIATE")
        self.db.execute("INSERT INTO label VALUES (NULL, ?)", (self.body,))
        self.db.execute("COMMIT")
        return time.perf_counter() - began


def rated(store: Store) -> tuple[Study, list[Unit]]:
    """A run of 500 steps and a study of it with 60 nodes, in several units that are the same."""
    store.import_run(long_run(STEPS))
    run = store.summaries()[0].id
    units = [Unit(f"u{i}", (run,), targets=nodes(COUNT)) for i in range(20)]
    return studied(store, NODES, units), units


def ms(seconds: list[float]) -> dict[str, float]:
    """The median and the 95th of 100, in milliseconds."""
    return {"p50": 1000 * statistics.median(seconds), "p95": 1000 * statistics.quantiles(seconds, n=20)[-1]}


def at_the_desk(folder: Path, answers: int) -> dict[str, dict[str, float]]:
    """Answers without a screen, each beside a bare commit."""
    desk_took, bare_took = [], []
    with Store.open(folder / "desk.db") as store:
        study, _ = rated(store)
        desk = Desk(store, study, R1)
        bare: Bare | None = None
        for i in range(answers):
            if i % COUNT == 0:
                at = desk.next_assignment(i // COUNT - 1)
                assert at is not None
                desk.open(at)
            began = time.perf_counter()
            label = desk.answer(Spot(f"n{i % COUNT + 1}", "completed"), "completed", evidence="run@7")
            desk_took.append(time.perf_counter() - began)
            bare = bare or Bare(folder / "bare.db", len(encode(label)))
            bare_took.append(bare.commit())
    more = [one - other for one, other in zip(desk_took, bare_took, strict=True)]
    return {"answer": ms(desk_took), "bare_commit": ms(bare_took), "answer_over_bare": ms(more)}


async def in_the_screen(folder: Path, answers: int) -> dict[str, dict[str, float]]:
    """Keys in the app: until the label is on the disk, and until the last byte of the next paint."""
    durable, following, painted, bare_took = [], [], [], []
    with Clocked.open(folder / "screen.db") as store:
        study, _ = rated(store)
        bare = Bare(folder / "beside.db", 500)
        app = Timed(store, Settings(person="R1", seat="rater", bell=False), Opening("annotate", study=study))
        async with app.run_test(size=SIZE):
            while not ready(app):
                await asyncio.sleep(0.01)
            for i in range(answers):
                await _quiet(app)
                before = store.durable
                if i and i % COUNT == 0:
                    await _next_unit(app)
                began = time.perf_counter()
                app.post_message(events.Key("1" if i % 2 else "2", "1" if i % 2 else "2"))
                while store.durable == before:
                    await asyncio.sleep(0)
                app.first = 0.0
                while not app.first:
                    await asyncio.sleep(0)
                following.append(app.first - began)
                await _quiet(app)
                durable.append(store.durable - began)
                painted.append(app.written - began)
                bare_took.append(bare.commit())
    more = [one - other for one, other in zip(following, bare_took, strict=True)]
    return {
        "key_to_label": ms(durable),
        "key_to_paint": ms(following),
        "key_to_last_paint": ms(painted),
        "bare_commit_in_app": ms(bare_took),
        "paint_over_bare": ms(more),
    }


async def _quiet(app: Timed) -> None:
    while time.perf_counter() - app.written < _QUIET:
        await asyncio.sleep(0.001)


async def _next_unit(app: Timed) -> None:
    """Hands the unit in; what is learned then is passed over."""
    desk = room(app).desk
    assert desk is not None
    old = desk.assignment
    until = time.perf_counter() + 30
    while desk.assignment == old or not ready(app):
        app.post_message(events.Key("enter", "\r"))
        await asyncio.sleep(0.05)
        desk = room(app).desk or desk
        if time.perf_counter() > until:
            raise RuntimeError("the next unit did not come")
    await _quiet(app)


def opened(folder: Path, sizes: tuple[int, int], rounds: int) -> list[float]:
    """Milliseconds in which a rater's place in a study is found, from a closed file, 99 of 100 units handed in.

    Of both sizes in turns, so that whatever else the machine does falls on both.
    """
    paths = [_handed_in(folder / f"{units}.db", units) for units in sizes]
    took: list[list[float]] = [[], []]
    for _ in range(rounds):
        for path, seconds in zip(paths, took, strict=True):
            began = time.perf_counter()
            _sit_down(path)
            seconds.append(time.perf_counter() - began)
    return [1000 * statistics.median(seconds) for seconds in took]


def _handed_in(path: Path, units: int) -> Path:
    with Store.open(path) as store:
        plan = studied(store, NODES, [Unit(f"u{i}", targets=nodes(3)) for i in range(units)], ("R1", "R2", "R3"))
        with store._writing() as db:
            for i in range(units * 99 // 100):
                insert_act(db, Act(uuid7(), plan.id, 1, R1, "commit", now(), f"u{i}"))
    return path


def _sit_down(path: Path) -> None:
    with Store.open(path, create=False) as store:
        line = store.studies()[0]
        study = store.study(line.id)
        store.progress(study, "R1")
        at = store.next_assignment(study, "R1")
        assert at is not None
        unit = store.unit(study, at.unit)
        store.sheet(study, unit, "R1")


def crash(kills: int, seed: int) -> int:
    """Prints kills, labels printed, labels missing, damaged files; 1 where anything is missing."""
    dice = random.Random(seed)
    printed = missing = damaged = 0
    with tempfile.TemporaryDirectory() as folder:
        for kill in range(kills):
            db = Path(folder) / f"{kill // 100}.db"
            if not db.exists():
                laid(db)
            killed = kill_at_random(db, dice)
            printed += killed.printed
            missing += len(killed.missing)
            damaged += bool(killed.wrong)
    sys.stdout.write(f"kills {kills}\n")
    sys.stdout.write(f"labels and acts printed {printed:,}, missing {missing}, damaged files {damaged}\n")
    return int(bool(missing or damaged))


def main() -> int:
    """Prints a table, or with --crash what was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=600)
    parser.add_argument("--keys", type=int, default=240)
    parser.add_argument("--units", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--crash", type=int, nargs="?", const=1000, default=0, metavar="KILLS")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.crash:
        return crash(args.crash, args.seed)
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        took = at_the_desk(here, args.answers)
        took |= asyncio.run(in_the_screen(here, args.keys))
        few, many = opened(here, (100, args.units), args.rounds)
    found = {
        **took,
        "opened_ms": {"100": few, str(args.units): many, "ratio": many / few},
        "sqlite": sqlite3.sqlite_version,
    }
    if args.json:
        sys.stdout.write(json.dumps(found) + "\n")
        return 0
    words = {
        "answer": "an answer, without a screen", "bare_commit": "a bare commit beside it", "answer_over_bare": "more",
        "key_to_label": "key to durable label, in the app", "key_to_paint": "key to next paint",
        "key_to_last_paint": "key to the last byte painted", "bare_commit_in_app": "a bare commit beside it",
        "paint_over_bare": "more (aim: p95 at most 20 ms)",
    }  # fmt: skip
    sys.stdout.write(f"| {STEPS} steps, {COUNT} nodes | p50 ms | p95 ms |\n|---|---|---|\n")
    for name, said in words.items():
        sys.stdout.write(f"| {said} | {took[name]['p50']:.2f} | {took[name]['p95']:.2f} |\n")
    sys.stdout.write(f"\nOpening on a study of 100 runs: {few:.2f} ms; of {args.units:,}: {many:.2f} ms.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
