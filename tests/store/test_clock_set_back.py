"""A clock that was set back: what is done later stands later, in this file and in every file it is merged into."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from lab.core.study.label import Act
from lab.core.study.rating_sheet import FieldReference, answer_to, undo_of
from lab.core.study.study import Study
from lab.core.values import ids_and_clock
from lab.core.values.ids_and_clock import not_before, now, uuid7
from store.copies.kit_import import import_kit
from store.copies.merge import merge_into
from store.store import Store
from tests.demonstrations import DEMO, demonstration, row
from tests.replied import keep, replied
from tests.studies import R1, frozen, label, unit

U1 = unit("u1")


@pytest.fixture
def plan(store: Store) -> Study:
    return frozen(store, [U1])


def an_hour_ago() -> str:
    return (datetime.fromisoformat(now()) - timedelta(hours=1)).isoformat(timespec="microseconds")


def act(plan: Study, kind: str, at: str, unit: str = "u1") -> Act:
    return Act(uuid7(), plan.id, plan.version, R1, kind, at, unit)  # type: ignore[arg-type]


def answered(store: Store, plan: Study) -> None:
    for target, field in (("open", "state"), ("pay", "state"), ("", "rating")):
        value = 50 if field == "rating" else "completed"
        store.labels.record(plan, U1, replace(label(plan, U1, target, field, value), at=now()))


def test_what_was_taken_back_is_open_again_in_every_copy(store: Store, plan: Study, tmp_path: Path) -> None:
    answered(store, plan)
    store.labels.hand_in(plan, U1, act(plan, "commit", now()))
    store.pack(tmp_path / "before.db")
    store.labels.reopen(plan, U1, act(plan, "reopen", an_hour_ago()))
    assert not store.labels.sheet(plan, U1, "R1").committed
    assert store.studies.progress(plan, "R1").done == 0
    assert store.check() == []
    for order in ((store.path, tmp_path / "before.db"), (tmp_path / "before.db", store.path)):
        whole = tmp_path / "whole.db"
        merge_into(whole, order)
        with Store.open(whole) as merged:
            assert not merged.labels.sheet(plan, U1, "R1").committed
            assert merged.check() == []
        whole.unlink()
    store.labels.hand_in(plan, U1, act(plan, "commit", an_hour_ago()))
    assert store.labels.sheet(plan, U1, "R1").committed
    assert store.studies.progress(plan, "R1").done == 1


def test_a_kit_that_was_worked_on_after_the_clock_went_back_is_taken(store: Store, plan: Study, tmp_path: Path) -> None:
    from store.copies.kit_export import make_kit

    answered(store, plan)
    store.labels.hand_in(plan, U1, act(plan, "commit", now()))
    make_kit(store, plan, "R1", tmp_path / "R1.db")
    with Store.open(tmp_path / "R1.db") as kit:
        kit.labels.reopen(kit.studies.study("trial"), U1, act(plan, "reopen", an_hour_ago()))
        once_more = replace(label(plan, U1, "open", "state", "not_completed"), at=an_hour_ago())
        kit.labels.record_each(
            kit.studies.study("trial"), kit.studies.unit(plan, "u1"), R1, 1, [lambda sheet: answer_to(sheet, once_more)]
        )
    import_kit(store, tmp_path / "R1.db")
    assert not store.labels.sheet(plan, U1, "R1").committed
    assert store.labels.sheet(plan, U1, "R1").value(FieldReference("open", "state")) == "not_completed"


def test_an_undo_takes_back_what_was_answered_last(store: Store, plan: Study) -> None:
    store.labels.record(plan, U1, replace(label(plan, U1, "open", "state", "completed"), at=now()))
    second = replace(label(plan, U1, "pay", "state", "completed"), at=an_hour_ago())
    store.labels.record_each(plan, U1, R1, 1, [lambda sheet: answer_to(sheet, second)])
    blank = replace(label(plan, U1, "", "", None), at=an_hour_ago())
    sheet = store.labels.record_each(plan, U1, R1, 1, [lambda sheet: undo_of(sheet, blank)])
    assert sheet.value(FieldReference("open", "state")) == "completed"
    assert sheet.value(FieldReference("pay", "state")) is None


def test_who_was_released_is_held_no_more(store: Store, plan: Study) -> None:
    store.labels.record_act(act(plan, "held", now(), ""))
    store.labels.record_act(act(plan, "released", an_hour_ago(), ""))
    assert not store.studies.is_held(plan, "R1")


def test_the_newest_draft_is_gone_on_with_in_every_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db, before, whole = tmp_path / "lab.db", tmp_path / "before.db", tmp_path / "whole.db"
    keep(db, replied())
    with Store.open(db) as store:
        store.runs.save_draft("run-said", "q0", "first")
        store.pack(before)
        early = an_hour_ago()
        monkeypatch.setattr("store.runs.runs.now", lambda: early)
        store.runs.save_draft("run-said", "q0", "second")
        assert store.runs.draft("run-said", "q0") == "second"
    for order in ((db, before), (before, db)):
        merge_into(whole, order)
        with Store.open(whole) as merged:
            assert merged.runs.draft("run-said", "q0") == "second"
        whole.unlink()


def test_a_reviewers_last_word_stands(store: Store) -> None:
    store.runs.add(demonstration())
    demo = store.reviews.proof_of(DEMO)
    first = row("P1", "edit", None, "intent", None, "first")
    second = replace(
        row("P1", "edit", None, "intent", None, "second", supersedes=first.id), at=first.at[:5] + "01" + first.at[7:]
    )
    store.reviews.append(demo, [first])
    store.reviews.append(demo, [second])
    assert [one.new for one in sorted(store.reviews.of_run(DEMO), key=lambda one: (one.at, one.id))] == [
        "first",
        "second",
    ]


def test_later_is_after_all_that_came_before() -> None:
    assert not_before("2026-01-01T00:00:00.000000+00:00", None, "") == "2026-01-01T00:00:00.000000+00:00"
    assert not_before("2026-01-01T00:00:00.000000+00:00", "2026-01-01T00:00:00.999999+00:00") == (
        "2026-01-01T00:00:01.000000+00:00"
    )
    assert ids_and_clock.not_before("x", "y") == "x"
