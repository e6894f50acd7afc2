"""Kills a process that labels with SIGKILL at a random moment and says what the file then holds; for tests and bench.

python -m tests.crashing_labels DB      # labels until it is killed, and prints each label's id after its commit
"""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Study
from lab.studies.rating.rating_session import RatingSession
from store.store import Store
from tests.killing import lines_until_killed
from tests.studies import R1, frozen, unit
from tests.warm import Warm

UNITS = 2000
STATE, PAY, RATING = FieldReference("open", "state"), FieldReference("pay", "state"), FieldReference("", "rating")


class Killed(NamedTuple):
    """One killed process: how many labels and acts it had printed, which of them are missing, what else is wrong."""

    printed: int
    missing: list[str]
    wrong: list[str]


def laid(db: Path) -> Study:
    """A file with a study of many units."""
    with Store.open(db) as store:
        return frozen(store, [unit(f"u{i}") for i in range(UNITS)])


def label_on(db: Path) -> None:
    """Works through what is left as a rater would; each id is printed once the label is on the disk."""
    with Store.open(db) as store:
        desk = RatingSession(store, store.studies.study("trial"), R1)
        while (at := desk.next_assignment()) is not None:
            sheet = desk.open(at)
            print(
                desk.answer(STATE, "completed" if sheet.value(STATE) != "completed" else "not_completed").id, flush=True
            )
            undone = desk.undo()
            assert undone is not None
            print(undone.id, flush=True)
            for spot, value in ((STATE, "completed"), (PAY, "not_completed"), (RATING, 40)):
                print(desk.answer(spot, value).id, flush=True)
            desk.commit()
            print(f"{at.unit} handed in", flush=True)


def kill_at_random(db: Path, dice: random.Random) -> Killed:
    """Starts the labelling, kills it after a random number of labels and a random few milliseconds, reads the file."""
    process = Warm([str(db)], main="tests.crashing_labels:main", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    lines = lines_until_killed(process, dice.randrange(1, 40), dice.random() * 0.02)
    return compared(db, [line.decode().strip() for line in lines])


def compared(db: Path, printed: list[str]) -> Killed:
    """What was printed against what the file holds; the file is then written to once more."""
    raw = sqlite3.connect(db)
    try:
        wrong = [line for (line,) in raw.execute("PRAGMA integrity_check") if line != "ok"]
        there = {id for (id,) in raw.execute("SELECT id FROM label")}
        there |= {f"{id} handed in" for (id,) in raw.execute("SELECT unit FROM act WHERE act = 'commit'")}
    finally:
        raw.close()
    with Store.open(db) as store:
        wrong += store.check()
        desk = RatingSession(store, store.studies.study("trial"), R1)
        at = desk.next_assignment()
        assert at is not None
        desk.open(at)
        following = desk.answer(RATING, 50)
        if all(label.id != following.id for label in store.labels.read(desk.study, at.unit)):
            wrong.append("the next label is not there")
    return Killed(len(printed), [id for id in printed if id not in there], wrong)


def main() -> int:
    label_on(Path(sys.argv[1]))
    return 0


if __name__ == "__main__":
    main()
