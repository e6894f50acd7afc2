"""A rater's room whose labels and paints are timed, a study to rate in it, and the bare commit beside each answer."""

from __future__ import annotations

import asyncio
import statistics
import time
from pathlib import Path
from typing import Any

from textual import events
from textual._compositor import CompositorUpdate
from textual.screen import Screen

from lab.core.settings import Settings
from lab.core.study.label import Label
from lab.core.study.rating_sheet import Sheet
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from screens.app import LabApp
from screens.navigation import Opening
from store.file.connection import connect
from store.store import Store
from store.studies.labels import Labels
from tests.screens.annotate.sample_studies import NODES, nodes, studied
from tests.screens.runs import long_run

SIZE = (120, 40)
STEPS, COUNT = 500, 60
R1 = Actor("human", "R1")
_QUIET = 0.03
"""Seconds without a write after which the screen counts as quiet; they are in no figure."""
_PATIENCE = 30.0


class Clocked(Labels):
    """Labels that say when one was on the disk."""

    durable = 0.0

    def record(self, study: Study, unit: Unit, label: Label) -> Sheet:
        sheet = super().record(study, unit, label)
        self.durable = time.perf_counter()
        return sheet


class Timed(LabApp):
    """The app, each of its writes to the terminal made as for a real one, then timed and kept instead of sent."""

    def __init__(self, store: Store, settings: Settings, opening: Opening) -> None:
        super().__init__(store, settings, opening)
        self.wrote: list[tuple[float, str]] = []
        """When each write was made, and what it says, since the last key."""
        self.written = 0.0

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        if isinstance(renderable, CompositorUpdate):
            said = renderable.render_segments(self.console)
            self.written = time.perf_counter()
            self.wrote.append((self.written, said))

    async def quiet(self) -> None:
        """Waits until nothing is painted any more."""
        while time.perf_counter() - self.written < _QUIET:
            await asyncio.sleep(0.005)

    def key(self, key: str) -> float:
        """A key as the terminal's reader posts it; gives when."""
        self.wrote = []
        began = time.perf_counter()
        self.post_message(events.Key(key, key if len(key) == 1 else None))
        return began

    async def says(self, words: str) -> float:
        """When the first write since the last key was made that says these words."""
        until = time.perf_counter() + _PATIENCE
        while time.perf_counter() < until:
            for at, said in self.wrote:
                if words in said:
                    return at
            await asyncio.sleep(0.002)
        raise RuntimeError(f"{words!r} was never painted")


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


def rated(store: Store, units: int = 20) -> Study:
    """A run of 500 steps and a study of it with 60 nodes, in several units that are the same."""
    store.runs.add(long_run(STEPS))
    run = store.runs.summaries()[0].id
    return studied(store, NODES, [Unit(f"u{i}", (run,), targets=nodes(COUNT)) for i in range(units)])


def ms(seconds: list[float]) -> dict[str, float]:
    """The median and the 95th of 100, in milliseconds."""
    return {"p50": 1000 * statistics.median(seconds), "p95": 1000 * statistics.quantiles(seconds, n=20)[-1]}
