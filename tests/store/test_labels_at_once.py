"""Many who label one study file at once: nothing is lost or doubled, nobody is locked out, nobody overwrites unseen."""

from __future__ import annotations

import subprocess
import threading
from collections import Counter
from pathlib import Path

import pytest

from lab.core.errors import LabError
from lab.core.study.label import Label
from lab.core.study.rating_sheet import FieldReference, current_labels
from lab.core.study.study import Study
from lab.core.task.task import Actor
from lab.studies.rating.rating_session import RatingSession
from store.store import Store
from tests.studies import R1, frozen, unit
from tests.warm import Warm
from tests.warm_code import CODE

ROOT = Path(__file__).parents[2]
PEOPLE, LABELS = 10, 100
UNITS = 20
STATE, PAY, RATING = FieldReference("open", "state"), FieldReference("pay", "state"), FieldReference("", "rating")

RATER = """
import sys
from pathlib import Path
from lab.core.study.rating_sheet import FieldReference
from lab.core.task.task import Actor
from lab.studies.rating.rating_session import RatingSession
from store.store import Store
store = Store.open(Path(sys.argv[1]))
desk = RatingSession(store, store.studies.study("trial"), Actor("human", sys.argv[2]))
print("ready", flush=True)
sys.stdin.readline()
while (at := desk.next_assignment()) is not None:
    desk.open(at)
    print(desk.answer(FieldReference("open", "state"), "not_completed").id)
    print(desk.undo().id)
    print(desk.answer(FieldReference("open", "state"), "completed").id)
    print(desk.answer(FieldReference("pay", "state"), "completed").id)
    print(desk.answer(FieldReference("", "rating"), 40).id)
    desk.commit()
"""


def rating(db: Path, rater: str) -> subprocess.Popen[str]:
    return Warm([RATER, str(db), rater], main=CODE, stdin=-1, stdout=-1, stderr=-1, text=True)


def test_ten_processes_of_a_hundred_labels_each_lose_and_double_nothing(tmp_path: Path) -> None:
    db = tmp_path / "lab.db"
    codes = tuple(f"R{i}" for i in range(PEOPLE))
    with Store.open(db) as store:
        plan = frozen(store, [unit(f"u{i}") for i in range(UNITS)], raters=codes)
    people = [rating(db, code) for code in codes]
    for one in people:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in people:  # all of them at once
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    told = [one.communicate() for one in people]
    assert [(one.returncode, error) for one, (_, error) in zip(people, told, strict=True)] == [(0, "")] * PEOPLE
    printed = [id for out, _ in told for id in out.split()]
    assert len(printed) == PEOPLE * LABELS
    with Store.open(db) as store:
        assert store.check() == []
        rows = list(store.labels.read(plan))
        assert sorted(row.id for row in rows) == sorted(printed)
        assert Counter(row.rater.id for row in rows) == dict.fromkeys(codes, LABELS)
        assert len(current_labels(rows)) == PEOPLE * UNITS * 3
        line = store.studies.lines()[0]
        assert (line.done, line.dealt) == (PEOPLE * UNITS, PEOPLE * UNITS)
        assert {store.studies.progress(plan, code).done for code in codes} == {UNITS}


@pytest.fixture
def plan(store: Store) -> Study:
    return frozen(store, [unit("u1")])


def at(store: Store, plan: Study) -> RatingSession:
    desk = RatingSession(store, plan, R1)
    found = desk.next_assignment()
    assert found is not None
    desk.open(found)
    return desk


def test_one_rater_in_two_places_is_told_and_overwrites_nothing(store: Store, plan: Study) -> None:
    with Store.open(store.path) as elsewhere:
        one, other = at(store, plan), at(elsewhere, plan)
        first = one.answer(STATE, "completed")
        with pytest.raises(LabError, match="state of open was changed meanwhile"):
            other.answer(STATE, "not_completed")
        assert [label.id for label in store.labels.read(plan)] == [first.id]
        other.answer(PAY, "completed")  # another place is nobody's loss
        again = at(elsewhere, plan)
        assert again.answer(STATE, "not_completed").supersedes == first.id


def test_a_unit_that_was_handed_in_elsewhere_takes_no_more(store: Store, plan: Study) -> None:
    with Store.open(store.path) as elsewhere:
        one = at(store, plan)
        for spot, value in ((STATE, "completed"), (PAY, "completed"), (RATING, 40)):
            one.answer(spot, value)
        other = at(elsewhere, plan)
        one.commit()
        with pytest.raises(LabError, match="has handed it in"):
            other.answer(RATING, 50)
        with pytest.raises(LabError, match="is handed in already"):
            other.commit()
        assert [act.act for act in store.labels.acts(plan, "R1", "u1")].count("commit") == 1


def test_of_many_who_take_a_unit_back_or_hand_it_in_one_succeeds(store: Store, plan: Study) -> None:
    one = at(store, plan)
    for spot, value in ((STATE, "completed"), (PAY, "completed"), (RATING, 40)):
        one.answer(spot, value)
    desks = [at(store, plan) for _ in range(4)]
    for kind in ("commit", "reopen", "commit"):
        for desk in desks:
            desk.sheet = store.labels.sheet(plan, unit("u1"), "R1")
        gate = threading.Barrier(len(desks))
        done: list[bool] = []

        def act(desk: RatingSession, kind: str = kind, gate: threading.Barrier = gate, done: list[bool] = done) -> None:
            gate.wait()
            try:
                desk.commit() if kind == "commit" else desk.reopen()
            except LabError:
                return
            done.append(True)

        threads = [threading.Thread(target=act, args=(desk,)) for desk in desks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(done) == 1
    assert [one.act for one in store.labels.acts(plan, "R1", "u1") if one.act in ("commit", "reopen")] == [
        "commit", "reopen", "commit",
    ]  # fmt: skip


def test_threads_that_answer_one_place_at_once_leave_one_head(store: Store, plan: Study) -> None:
    desks = [at(store, plan) for _ in range(8)]
    gate = threading.Barrier(8)
    kept: list[Label] = []

    def answer(desk: RatingSession, value: int) -> None:
        gate.wait()
        try:
            kept.append(desk.answer(RATING, value))
        except LabError as error:
            assert "changed meanwhile" in error.message  # noqa: PT017

    threads = [threading.Thread(target=answer, args=(desk, i)) for i, desk in enumerate(desks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [label.id for label in store.labels.read(plan)] == [label.id for label in kept]
    assert len(kept) == 1
    assert not store.labels.sheet(plan, unit("u1"), "R1").clashes


def test_a_model_of_a_raters_name_has_a_sheet_of_its_own(store: Store, plan: Study) -> None:
    model = RatingSession(store, plan, Actor("model", "R1"))
    model.assignment, model.unit = None, unit("u1")
    model.sheet = store.labels.sheet(plan, unit("u1"), "R1", kind="model")
    model.answer(STATE, "completed")
    assert store.labels.sheet(plan, unit("u1"), "R1").value(STATE) is None
