"""Studies in the file: frozen once, dealt once, and as quick to open with 100,000 units as with two."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lab.core.errors import LabError
from lab.core.study.label import Act
from lab.core.study.study import Assignment, Study, Unit, sample_sha
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from store.file.schema import APPEND_ONLY, migrate
from store.store import Store
from store.studies import progress_tables
from store.studies.labels import insert_act
from tests.studies import NODES, R1, R2, frozen, label, study, unit

UNITS = [unit(f"u{i}") for i in range(5)]


def act(plan: Study, kind: Any, of: str = "", at: str = "", rater: Actor = R1, id: str = "") -> Act:
    return Act(id or uuid7(), plan.id, plan.version, rater, kind, at or now(), of)


def test_a_study_is_read_as_it_was_frozen_with_its_units_in_order(store: Store) -> None:
    units = [unit(f"u{i}") for i in range(450)]  # more than are fetched at once
    plan = frozen(store, units)
    assert store.studies.study("trial") == store.studies.study("trial", 1) == plan
    assert list(store.studies.units(plan)) == units
    assert sample_sha(list(store.studies.units(plan))) == plan.sample_sha
    assert store.studies.unit(plan, "u7") == units[7]
    assert store.studies.versions("trial") == [1]


def test_the_hash_of_a_study_is_that_of_what_is_read_again(store: Store) -> None:
    frozen(store, UNITS)
    assert store.database.read("SELECT sha FROM study") == [(store.studies.study("trial").sha,)]


def test_a_version_is_frozen_once_and_the_newest_counts(store: Store) -> None:
    plan = frozen(store, UNITS)
    with pytest.raises(LabError, match=r"trial v1.*already"):
        store.studies.freeze(plan, UNITS)
    frozen(store, UNITS[:2], version=2)
    assert store.studies.study("trial").version == 2
    assert store.studies.study("trial", 1).units == 5
    assert [(line.id, line.version, line.units) for line in store.studies.lines()] == [("trial", 2, 2)]
    for id, version in (("nowhere", None), ("trial", 3)):
        with pytest.raises(LabError, match="is not in"):
            store.studies.study(id, version)


def test_units_that_are_not_the_plans_own_are_refused_and_nothing_stays(store: Store) -> None:
    plan = study(UNITS)
    for units in (UNITS[:4], UNITS[::-1], [*UNITS[:4], unit("other")]):
        with pytest.raises(LabError, match="not those that its plan was frozen over"):
            store.studies.freeze(plan, units)
    twice = [unit("u1"), unit("u1")]
    with pytest.raises(LabError, match="two units 'u1'"):
        store.studies.freeze(study(twice), twice)
    assert store.studies.lines() == []
    assert store.database.read("SELECT count(*) FROM unit") == [(0,)]


def test_dealing_again_deals_what_is_new_only(store: Store) -> None:
    plan = frozen(store, UNITS)
    again = [Assignment("trial", 1, "R1", i, one.id) for i, one in enumerate(UNITS)]
    assert store.studies.deal(plan, [*again, Assignment("trial", 1, "R1", 5, "u0", run=2)]) == 1
    assert [(one.unit, one.run) for one in store.studies.assignments(plan, "R1")] == [
        *((f"u{i}", 1) for i in range(5)),
        ("u0", 2),
    ]
    assert {one.rater for one in store.studies.assignments(plan, unit="u3")} == {"R1", "R2"}
    assert store.check() == []


@pytest.mark.parametrize("many", [1, 1500])
def test_dealing_is_all_or_none(store: Store, many: int) -> None:
    """With few it is counted row by row, with many at the end; the triggers are there either way."""
    plan = frozen(store, UNITS)
    good = [Assignment("trial", 1, "R3", i, "u0", run=i + 1) for i in range(many)]
    for bad, match in (
        (Assignment("trial", 1, "R3", 0, "u1"), "refused"),
        (Assignment("other", 1, "R3", 9999, "u1"), "is of other v1"),
    ):
        with pytest.raises(LabError, match=match):
            store.studies.deal(plan, [*good, bad])
        assert store.studies.assignments(plan, "R3") == []
        assert store.check() == []
    assert store.studies.deal(plan, good) == many
    assert (store.studies.progress(plan, "R3").dealt, store.check()) == (many, [])


def test_nothing_is_dealt_in_a_locked_study_nor_to_who_withdrew(store: Store) -> None:
    plan = frozen(store, UNITS)
    with store.database.writing() as db:
        db.execute("INSERT INTO withdrawal VALUES ('R3', '', '{}')")
    with pytest.raises(LabError, match="R3 has withdrawn"):
        store.studies.deal(plan, [Assignment("trial", 1, "R3", 0, "u0")])
    store.labels.record_act(act(plan, "locked"))
    with pytest.raises(LabError, match="locked"):
        store.studies.deal(plan, [Assignment("trial", 1, "R4", 0, "u0")])


# -- how far -----------------------------------------------------------------------------------------------------


def position(store: Store, plan: Study, rater: str = "R1", after: int = -1) -> int | None:
    found = store.studies.next_assignment(plan, rater, after)
    return found.position if found else None


def test_the_next_unit_is_the_first_that_is_not_handed_in(store: Store) -> None:
    plan = frozen(store, UNITS)
    assert position(store, plan) == 0
    for one in ("u0", "u1", "u3"):
        store.labels.record_act(act(plan, "commit", one))
    assert (position(store, plan), position(store, plan, after=2), position(store, plan, "R2")) == (2, 4, 0)
    store.labels.record_act(act(plan, "reopen", "u1"))
    assert position(store, plan) == 1
    for one in ("u1", "u2", "u4"):
        store.labels.record_act(act(plan, "commit", one))
    assert position(store, plan) is None
    assert position(store, plan, "R9") is None
    assert store.check() == []


def test_what_was_done_last_counts_not_what_came_last(store: Store) -> None:
    """Rows that were merged in come in any order; their times and ids decide."""
    plan = frozen(store, UNITS)
    with store.database.writing() as db:
        insert_act(db, act(plan, "reopen", "u0", "2026-04-02T10:00:00+00:00"))
        insert_act(db, act(plan, "commit", "u0", "2026-04-02T09:00:00+00:00"))
    assert position(store, plan) == 0
    assert not store.labels.sheet(plan, UNITS[0], "R1").committed
    with store.database.writing() as db:
        for id in ("b", "a"):  # of two at one time the id decides
            insert_act(db, act(plan, {"a": "reopen", "b": "commit"}[id], "u1", "2026-04-02T09:00:00+00:00", id=id))
    assert position(store, plan, after=0) == 2
    assert store.labels.sheet(plan, UNITS[1], "R1").committed
    assert store.check() == []


def test_counts_are_right_where_two_copies_both_handed_in(store: Store) -> None:
    plan = frozen(store, UNITS)
    for _ in range(2):
        store.labels.record_act(act(plan, "commit", "u0"))
    store.labels.record(plan, UNITS[1], label(plan, UNITS[1], "open", "state", "completed"))
    store.labels.record(plan, UNITS[1], label(plan, UNITS[1], "pay", "state", "completed"))
    progress, line = store.studies.progress(plan, "R1"), store.studies.lines()[0]
    assert (progress.dealt, progress.done, progress.begun, progress.held) == (5, 1, 1, False)
    assert (line.dealt, line.done, line.units, line.raters, line.locked) == (10, 1, 5, 2, False)
    assert store.studies.progress(plan, "R9").dealt == 0
    store.labels.record_act(act(plan, "locked"))
    assert store.studies.lines()[0].locked


def test_who_is_held_is_until_released(store: Store) -> None:
    plan = frozen(store, UNITS)
    store.labels.record_act(act(plan, "held"))
    assert (store.studies.progress(plan, "R1").held, store.studies.progress(plan, "R2").held) == (True, False)
    store.labels.record_act(act(plan, "released"))
    assert not store.studies.is_held(plan, "R1")


def test_an_act_before_its_unit_is_dealt_counts_when_it_is(store: Store) -> None:
    store.studies.freeze(study(UNITS), UNITS)
    plan = store.studies.study("trial")
    store.labels.record_act(act(plan, "commit", "u1"))
    store.studies.deal(plan, [Assignment("trial", 1, "R1", i, f"u{i}") for i in range(3)])
    assert (position(store, plan), position(store, plan, after=0)) == (0, 2)
    assert store.check() == []


@pytest.mark.parametrize("table", ["act", "label", "assignment"])
def test_what_is_erased_is_no_longer_counted(store: Store, table: str) -> None:
    plan = frozen(store, UNITS)
    store.labels.record(plan, UNITS[0], label(plan, UNITS[0], "open", "state", "completed"))
    store.labels.record_act(act(plan, "commit", "u0"))
    assert (position(store, plan), store.studies.progress(plan, "R1").begun) == (1, 1)
    with store.erasure.erasing() as eraser:
        eraser.db.execute(f"DELETE FROM {table} WHERE rater = 'R1'")
    assert store.check() == []
    progress = store.studies.progress(plan, "R1")
    expected = {"act": (5, 0, 1), "label": (5, 1, 0), "assignment": (0, 0, 1)}
    assert (progress.dealt, progress.done, progress.begun) == expected[table]


@pytest.mark.parametrize(
    "sql", ["DELETE FROM todo WHERE position = 3", "UPDATE tally SET left = 0", "DELETE FROM tally"]
)
def test_a_count_that_is_not_what_the_rows_say_is_told(store: Store, sql: str) -> None:
    frozen(store, UNITS)
    store.database.connection().execute(sql)
    assert any("is not what its rows say" in line for line in store.check())


@pytest.mark.parametrize("images", [True, False])
def test_a_packed_study_counts_as_the_file_did(store: Store, tmp_path: Path, images: bool) -> None:
    plan = frozen(store, UNITS)
    store.labels.record_act(act(plan, "commit", "u0"))
    store.labels.record(plan, UNITS[1], label(plan, UNITS[1], "open", "state", "completed"))
    store.pack(tmp_path / "packed.db", images=images)
    with Store.open(tmp_path / "packed.db") as copy:
        assert copy.studies.progress(plan, "R1") == store.studies.progress(plan, "R1")
        assert position(copy, plan) == 1
        assert copy.check() == []


# -- hostile text and older files --------------------------------------------------------------------------------


def test_text_that_utf_8_cannot_hold_is_escaped_and_found_again(store: Store) -> None:
    odd = "u\udc80' OR 1=1 --"
    rater = Actor("human", "R\udcff")
    plan = frozen(store, [unit(odd)], id="odd\udc81", raters=(rater.id,), title="\x1b[31m\udc82")
    read = store.studies.study("odd\udc81")
    assert store.studies.lines()[0].title == read.title
    dealt = store.studies.next_assignment(read, rater.id)
    assert dealt is not None
    one = store.studies.unit(read, dealt.unit)
    assert store.studies.unit(read, odd) == one
    said = label(read, one, "open", "state", "completed", note="\udc83", rater=Actor("human", dealt.rater))
    store.labels.record(read, one, said)
    assert store.labels.sheet(read, one, dealt.rater).rows[0].note == "\u241budc83"
    assert store.labels.sheet(plan, unit(odd), rater.id).rows == store.labels.sheet(read, one, dealt.rater).rows
    store.labels.record_act(act(read, "commit", one.id, rater=Actor("human", dealt.rater)))
    assert store.studies.progress(read, rater.id).done == 1
    assert store.check() == []


def test_an_older_file_that_is_only_read_has_no_studies(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    raw = sqlite3.connect(path, isolation_level=None)
    migrate(raw)
    for table in ("study", "unit", "assignment", "label", "act", "withdrawal", "kit", *progress_tables.TABLES):
        raw.execute(f"DROP TABLE {table}")
    raw.execute("PRAGMA user_version = 4")
    raw.close()
    with Store.open(path, readonly=True) as store:
        plan = study(UNITS)
        assert (store.studies.lines(), store.studies.versions("trial"), store.kit()) == ([], [], None)
        assert (list(store.studies.units(plan)), store.studies.assignments(plan)) == ([], [])
        assert (list(store.labels.read(plan)), store.labels.acts(plan)) == ([], [])
        assert (position(store, plan), store.studies.locked(plan)) == (None, False)
        assert (store.studies.is_held(plan, "R1"), store.labels.has_withdrawn("R1")) == (False, False)
        assert store.studies.progress(plan, "R1").dealt == 0
        assert not store.labels.sheet(plan, UNITS[0], "R1").rows
        with pytest.raises(LabError, match="is not in"):
            store.studies.study("trial")
        assert store.check() == []


# -- by index ----------------------------------------------------------------------------------------------------


@contextmanager
def statements(store: Store) -> Iterator[list[str]]:
    """Every statement that is sent to the file within, with its values."""
    sent: list[str] = []
    store.database.connection().set_trace_callback(sent.append)
    try:
        yield sent
    finally:
        store.database.connection().set_trace_callback(None)


def scans(store: Store, sent: list[str]) -> list[str]:
    """What of the tables is gone through row by row, or sorted, to answer those statements."""
    found = []
    for sql in sent:
        if sql.startswith(("SELECT", "INSERT")):
            found += [line for *_, line in store.database.read(f"EXPLAIN QUERY PLAN {sql}") if line.startswith("SCAN")]
    tables = {*APPEND_ONLY, *progress_tables.TABLES}
    return [line for line in found if line.split()[1] in {*tables, "a", "t"}]


VERBS: dict[str, Callable[[Store, Study, Unit], Any]] = {
    "study": lambda store, plan, one: store.studies.study(plan.id),
    "study_line": lambda store, plan, one: store.studies.line(plan.id),
    "versions": lambda store, plan, one: store.studies.versions(plan.id),
    "unit": lambda store, plan, one: store.studies.unit(plan, one.id),
    "units": lambda store, plan, one: list(store.studies.units(plan)),
    "assignments": lambda store, plan, one: store.studies.assignments(plan),
    "assignments of one": lambda store, plan, one: store.studies.assignments(plan, "R1"),
    "assignments of a unit": lambda store, plan, one: store.studies.assignments(plan, unit=one.id),
    "next_assignment": lambda store, plan, one: store.studies.next_assignment(plan, "R1"),
    "progress": lambda store, plan, one: store.studies.progress(plan, "R1"),
    "handed_in_since": lambda store, plan, one: store.studies.handed_in_since(plan, "R1", "2026"),
    "locked": lambda store, plan, one: store.studies.locked(plan),
    "sheet": lambda store, plan, one: store.labels.sheet(plan, one, "R1"),
    "standing": lambda store, plan, one: store.labels.sheet_state(plan, one, R1),
    "labels of a unit": lambda store, plan, one: list(store.labels.read(plan, one.id)),
    "acts of a sheet": lambda store, plan, one: store.labels.acts(plan, "R1", one.id, 1),
    "withdrew": lambda store, plan, one: store.labels.has_withdrawn("R1"),
    "record_label": lambda store, plan, one: store.labels.record(
        plan, one, label(plan, one, "open", "state", "completed")
    ),
    "record_act": lambda store, plan, one: store.labels.record_act(act(plan, "sat")),
}


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_goes_through_a_table(store: Store, verb: str) -> None:
    plan = frozen(store, UNITS)
    with statements(store) as sent:
        VERBS[verb](store, plan, UNITS[0])
    assert any(sql.startswith("SELECT") for sql in sent)
    looked = [sql for sql in sent if "FROM kit" not in sql]  # which has one row at most
    assert scans(store, looked) == []


def test_a_scan_would_be_seen(store: Store) -> None:
    assert scans(store, ["SELECT body FROM label WHERE rater = 'R1'"]) == ["SCAN label"]


def test_reading_one_sheet_looks_at_its_own_rows_alone(store: Store) -> None:
    plan = frozen(store, UNITS)
    with statements(store) as sent:
        store.labels.sheet(plan, UNITS[0], "R1")
    plans = [
        line for sql in sent for *_, line in store.database.read(f"EXPLAIN QUERY PLAN {sql}") if "sqlite" not in line
    ]
    wanted = [line for line in plans if line.startswith("SEARCH")]
    assert any("label_on_sheet (study=? AND version=? AND rater=? AND unit=? AND run=?" in line for line in wanted)
    assert any("act_of" in line or "act_on_sheet" in line for line in wanted)
    assert all("unit=? AND run=?" in line for line in wanted if " act " in line or " label " in line)


def test_opening_a_study_costs_the_same_instructions_however_much_is_done(store: Store) -> None:
    """Counted, not timed: what SQLite does to find the next unit and the counts does not grow."""
    few, many = [unit(f"u{i}") for i in range(100)], [unit(f"u{i}") for i in range(5000)]
    plans = [frozen(store, few, id="few"), frozen(store, many, id="many")]
    for plan, units in zip(plans, (few, many), strict=True):
        with store.database.writing() as db:
            from store.studies.labels import insert_act

            for one in units[: len(units) * 99 // 100]:
                insert_act(db, act(plan, "commit", one.id))
    costs = []
    for plan in plans:
        ticks = 0

        def tick() -> int:
            nonlocal ticks
            ticks += 1
            return 0

        store.database.connection().set_progress_handler(tick, 10)
        (
            store.studies.lines(),
            store.studies.next_assignment(plan, "R1"),
            store.studies.progress(plan, "R1"),
            store.studies.unit(plan, "u7"),
        )
        store.database.connection().set_progress_handler(None, 0)
        costs.append(ticks)
    assert costs[1] <= costs[0] * 1.2 + 5, costs


def test_changing_a_plan_changes_its_hash_and_signing_it_does_not() -> None:
    plan = study(UNITS)
    assert plan.sha == replace(plan, at="later", by=R2).sha
    assert plan.sha != replace(plan, seed=1).sha != replace(plan, protocol=replace(NODES, title="Other")).sha


def test_the_time_of_a_label_is_taken_from_its_own_sheet_alone(store: Store) -> None:
    """And not from all that its rater did, which a judge of 20,000 sheets would read for each of its labels."""
    plan = frozen(store, UNITS)
    with statements(store) as sent:
        store.labels.record(plan, UNITS[0], label(plan, UNITS[0], "open", "state", "completed"))
    (last,) = {sql for sql in sent if "max(at)" in sql}
    plans = [line for *_, line in store.database.read(f"EXPLAIN QUERY PLAN {last}")]
    looked = [line for line in plans if line.startswith(("SEARCH act", "SEARCH label"))]
    assert len(looked) == 2
    assert all("unit=? AND run=?" in line for line in looked)
