"""A database that is deleted or replaced while it is in use: nothing more is acknowledged, and a sentence says why."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.core.errors import LabError
from lab.core.task.task import Actor
from store.store import Store
from tests.replied import keep, replied
from tests.studies import frozen, label, unit
from tests.warm import Warm


def deleted(db: Path) -> None:
    db.unlink()


def replaced(db: Path) -> None:
    shutil.copy(db, db.with_name("copy.db"))
    db.with_name("copy.db").rename(db)


LOST = [(deleted, "was deleted while it was in use"), (replaced, "was replaced by another file while it was in use")]


@pytest.mark.parametrize(("lose", "words"), LOST, ids=["deleted", "replaced"])
def test_answers_are_no_longer_acknowledged(tmp_path: Path, lose: Callable[[Path], None], words: str) -> None:
    db = tmp_path / "lab.db"
    units = [unit(f"u{i}") for i in range(2)]
    with Store.open(db) as store:
        frozen(store, units)
    command = ["label", "trial", "--as", "R1", "--json", "--db", str(db)]
    process = Warm(command, stdin=-1, stdout=-1, stderr=-1, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    said = [{"unit": one.id, "target": "open", "field": "state", "value": "completed"} for one in units]
    process.stdin.write(json.dumps(said[0]) + "\n")
    process.stdin.flush()
    first = process.stdout.readline()
    assert "u0" in first
    lose(db)
    rest, errors = process.communicate(json.dumps(said[1]) + "\n")
    assert process.returncode == 3, errors
    (told,) = map(json.loads, rest.splitlines())
    assert told["state"] == "refused"
    assert words in told["error"]
    if db.exists():
        with Store.open(db) as store:
            assert {one.unit for one in store.labels.read(store.studies.study("trial"))} <= {"u0"}


@pytest.mark.parametrize(("lose", "words"), LOST, ids=["deleted", "replaced"])
def test_every_way_of_writing_says_so(tmp_path: Path, lose: Callable[[Path], None], words: str) -> None:
    db = tmp_path / "lab.db"
    keep(db, replied())
    plan_unit = unit("u1")
    with Store.open(db) as store:
        plan = frozen(store, [plan_unit])
        lose(db)
        with pytest.raises(LabError, match=words):
            store.labels.record(plan, plan_unit, label(plan, plan_unit, "open", "state", "completed"))
        with pytest.raises(LabError, match=words):
            store.runs.add(replied("run-more", by=Actor("human", "P08")))
        with pytest.raises(LabError, match=words):
            store.runs.save_draft("run-said", "q0", "typed so far")
        found: list[str] = []

        def elsewhere() -> None:
            try:
                store.runs.save_draft("run-said", "q0", "on another thread")
            except LabError as error:
                found.append(error.sentence)

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert words in found[0]
    assert not (lose is deleted and db.exists())
