"""How long it takes to read how far a study is: of fifty people and two hundred items, nearly all handed in.

Each item has three answers, with the acts of opening, looking and handing in; five are calibration items with gold, a
model judges most. Measured are the first reading, one where nothing came in since, one where somebody looked at an item
since, and one where an item was handed in since; medians. The aim is for the first.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random

from lab.core.study.label import Act, ActKind, Label
from lab.core.study.study import Gold, Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.progress.study_progress import ProgressReader
from store.store import Store
from store.studies.labels import insert_act, insert_label
from tests.studies import frozen, unit

PEOPLE, ITEMS, PILOT = 50, 200, 5
AIM = 300.0
"""Milliseconds."""
_BEGAN = datetime(2026, 4, 1, 9, tzinfo=UTC)


def laid(path: Path, seed: int = 0) -> Path:
    """The file; its rows are put into the tables directly."""
    dice = Random(seed)
    gold = (Gold("open", "state", "completed"), Gold("pay", "state", "completed"))
    units = [unit(f"u{at}", pilot=at < PILOT, gold=gold if at < PILOT else ()) for at in range(ITEMS)]
    with Store.open(path) as store:
        study = frozen(store, units, raters=tuple(f"R{at}" for at in range(PEOPLE)), bar=0.7)
        for at, code in enumerate(study.raters):
            _rate(store, study, units[: ITEMS - at], Actor("human", code), dice)
        with store.database.writing() as db:
            for one in units[: ITEMS * 3 // 4]:
                label = _label(study, one, "open", "state", "completed", Actor("model", "judge"), _BEGAN)
                insert_label(db, label)
    return path


def _rate(store: Store, study: Study, units: list[Unit], who: Actor, dice: Random) -> None:
    """One person's items, thirty in a sitting."""
    at = _BEGAN
    with store.database.writing() as db:

        def act(kind: ActKind, of: str = "") -> None:
            insert_act(db, Act(uuid7(), study.id, study.version, who, kind, at.isoformat(timespec="microseconds"), of))

        for number, one in enumerate(units):
            if number % 30 == 0:
                at += timedelta(hours=18)
                act("sat")
            act("opened", one.id)
            for target, field, value in (("open", "state", ""), ("pay", "state", ""), ("", "rating", 50)):
                at += timedelta(seconds=dice.uniform(3, 20))
                word = value or dice.choice(["completed"] * 4 + ["not_completed"])
                insert_label(db, _label(study, one, target, field, word, who, at))
            act("looked", one.id)
            act("commit", one.id)


def _label(study: Study, of: Unit, target: str, field: str, value: object, who: Actor, at: datetime) -> Label:
    given, shown = (time.isoformat(timespec="microseconds") for time in (at, at - timedelta(seconds=3)))
    return Label(
        uuid7(), study.id, study.version, of.id, target, field, who, value, at=given, shown_at=shown, source="keys",
        cost=0.002 if who.kind == "model" else None,
    )  # fmt: skip


def measured(path: Path, rounds: int) -> dict[str, float]:
    """Milliseconds of each kind of reading."""
    took: dict[str, list[float]] = {"first": [], "nothing new": [], "somebody looked": [], "an item handed in": []}
    with Store.open(path, create=False) as store:
        study = store.studies.study("trial")
        for _ in range(rounds):
            reader = ProgressReader(store)
            read = partial(reader.read, study)
            took["first"].append(_timed(read))
            took["nothing new"].append(_timed(read))
            _do(store, study, "looked")
            took["somebody looked"].append(_timed(read))
            _do(store, study, "commit")
            took["an item handed in"].append(_timed(read))
    return {name: statistics.median(times) for name, times in took.items()}


def _do(store: Store, study: Study, kind: ActKind) -> None:
    who = Actor("human", study.raters[-1])
    store.labels.record_act(Act(uuid7(), study.id, study.version, who, kind, now(), f"u{ITEMS - 1}"))


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        took = measured(laid(Path(folder) / "lab.db"), args.rounds)
    print("| reading how far a study of 50 people and 200 items is | ms | aim |\n|---|---|---|")
    for name, milliseconds in took.items():
        print(f"| {name} | {milliseconds:.0f} | {f'{AIM:.0f}' if name == 'first' else ''} |")
    return int(took["first"] > AIM)


if __name__ == "__main__":
    sys.exit(main())
