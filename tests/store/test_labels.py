"""Labels in the file: kept by the rules or not at all, as they were said, and never changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from lab.core.errors import LabError
from lab.core.study.label import Act, Label
from lab.core.study.rating_sheet import FieldReference, Sheet
from lab.core.study.study import Assignment, Gold, Study
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from store.store import Store
from tests.studies import NODES, R1, R2, frozen, label, unit

ONE = unit("u1")
STATE, PAY, RATING = FieldReference("open", "state"), FieldReference("pay", "state"), FieldReference("", "rating")


@pytest.fixture
def plan(store: Store) -> Study:
    return frozen(store, [ONE, unit("u2")])


def said(plan: Study, value: Any = "completed", **changes: Any) -> Label:
    made: Label = replace(label(plan, ONE, "open", "state", value), **changes)
    return made


def handed(plan: Study, kind: Any = "commit", of: str = "u1", rater: Actor = R1, at: str = "") -> Act:
    return Act(uuid7(), plan.id, plan.version, rater, kind, at or now(), of)


def fill(store: Store, plan: Study, of: Any = ONE) -> None:
    """Answers all that is asked."""
    for target, field, value in (("open", "state", "completed"), ("pay", "state", "completed"), ("", "rating", 40)):
        store.labels.record(plan, of, label(plan, of, target, field, value))


def test_a_label_is_read_as_it_was_said(store: Store, plan: Study) -> None:
    one = said(
        plan, note="[bold]\x1b[31m'); DROP TABLE label; --\x00", confidence=0.5, region=(1, 2, 3, 4), evidence="run@7"
    )
    sheet = store.labels.record(plan, ONE, one)
    assert sheet.head(STATE) == one
    assert list(store.labels.read(plan)) == [one] == store.labels.sheet(plan, ONE, "R1").rows
    with Store.open(store.path, readonly=True) as other:
        assert list(other.labels.read(plan)) == [one]


def test_history_stays_and_is_listed_in_order(store: Store, plan: Study) -> None:
    first = said(plan)
    second = said(plan, "not_completed", supersedes=first.id)
    for one in (first, second):
        store.labels.record(plan, ONE, one)
    store.labels.record(plan, ONE, replace(said(plan), rater=R2))
    assert [one.id for one in store.labels.read(plan, rater="R1")] == [first.id, second.id]
    assert len(list(store.labels.read(plan, unit="u1"))) == 3
    assert list(store.labels.read(plan, unit="u2")) == []
    assert store.labels.sheet(plan, ONE, "R1").value(STATE) == "not_completed"


def test_more_labels_than_are_fetched_at_once_are_all_listed(store: Store, plan: Study) -> None:
    before: str | None = None
    with store.database.writing() as db:
        from store.studies.labels import insert_label

        for i in range(1203):
            one = label(plan, ONE, "", "rating", i % 100, supersedes=before)
            insert_label(db, one)
            before = one.id
    assert len(list(store.labels.read(plan))) == 1203
    assert store.labels.sheet(plan, ONE, "R1").value(RATING) == 1202 % 100


WITHDRAWN = "INSERT INTO withdrawal VALUES ('R1', '', '{}')"
Change = Callable[[Store, Study], object]
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("another version", {"version": 2}, "is not of unit u1 of study trial v1"),
    ("another unit", {"unit": "u2"}, "is not of unit u1"),
    ("no such field", {"field": "mood"}, "'mood' is none of"),
    ("no such target", {"target": "nowhere"}, "'nowhere' is none of"),
    ("no such value", {"value": "perhaps"}, "'perhaps' is none of"),
    ("a value and a reason", {"reason_missing": "skipped"}, "a value and a reason"),
    ("not dealt", {"rater": Actor("human", "R9")}, "not dealt to R9"),
    ("a rating that there is not", {"run": 0}, "is no count of ratings"),
    ("a rating that no column holds", {"run": 2**70}, "is no count of ratings"),
    ("over a row that is not there", {"supersedes": "nothing"}, "was changed meanwhile"),
]


@pytest.mark.parametrize(("why", "changes", "match"), REFUSED, ids=[why for why, *_ in REFUSED])
def test_what_the_rules_refuse_is_not_kept(
    store: Store, plan: Study, why: str, changes: dict[str, Any], match: str
) -> None:
    with pytest.raises(LabError, match=match):
        store.labels.record(plan, ONE, said(plan, **changes))
    assert list(store.labels.read(plan)) == []


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), {"deep": 1}])
def test_a_number_that_json_cannot_hold_is_refused_and_not_kept_as_nothing(store: Store, value: Any) -> None:
    fields = tuple(replace(field, least=None, most=None, step=None) for field in NODES.fields if field.id == "rating")
    plan = frozen(store, [ONE], replace(NODES, fields=fields))
    with pytest.raises(LabError):
        store.labels.record(plan, ONE, label(plan, ONE, "", "rating", value))
    assert list(store.labels.read(plan)) == []
    store.labels.record(plan, ONE, label(plan, ONE, "", "rating", 1e300))


@pytest.mark.parametrize(
    ("before", "match"),
    [
        (lambda store, plan: store.labels.record_act(handed(plan)), "has handed it in"),
        (lambda store, plan: store.labels.record_act(handed(plan, "locked", "")), "locked"),
        (lambda store, plan: store.labels.record_act(handed(plan, "held", "")), "is held"),
        (
            lambda store, plan: store.database.connection().execute("INSERT INTO withdrawal VALUES ('R1', '', '{}')"),
            "withdrawn",
        ),
    ],
    ids=["handed in", "locked", "held", "withdrawn"],
)
def test_nothing_is_said_where_nothing_may_be(store: Store, plan: Study, before: Change, match: str) -> None:
    before(store, plan)
    with pytest.raises(LabError, match=match):
        store.labels.record(plan, ONE, said(plan))
    with pytest.raises(LabError):
        store.labels.hand_in(plan, ONE, handed(plan))
    assert list(store.labels.read(plan)) == []


def test_a_unit_that_is_not_in_the_file_takes_no_label(store: Store, plan: Study) -> None:
    other = unit("u9")
    with pytest.raises(LabError, match="has no unit u9"):
        store.labels.record(plan, other, label(plan, other, "open", "state", "completed", rater=Actor("model", "m")))


def test_several_labels_are_kept_together_or_none(store: Store, plan: Study) -> None:
    def good(sheet: Sheet) -> Label:
        return said(plan)

    def bad(sheet: Sheet) -> Label:
        assert sheet.value(STATE) == "completed"  # it sees what was said before it
        return label(plan, ONE, "pay", "state", "perhaps")

    with pytest.raises(LabError, match="'perhaps'"):
        store.labels.record_each(plan, ONE, R1, 1, [good, bad])
    assert list(store.labels.read(plan)) == []
    assert store.studies.progress(plan, "R1").begun == 0
    assert len(store.labels.record_each(plan, ONE, R1, 1, [good, lambda sheet: None]).rows) == 1
    with pytest.raises(LabError, match="is not of unit u1"):
        store.labels.record_each(plan, ONE, R1, 1, [lambda sheet: said(plan, rater=R2)])


def test_an_id_is_kept_once(store: Store, plan: Study) -> None:
    one = said(plan)
    store.labels.record(plan, ONE, one)
    with pytest.raises(LabError):
        store.labels.record(plan, ONE, replace(one, field="why", value="x", supersedes=None))
    assert len(list(store.labels.read(plan))) == 1


def test_a_row_that_stands_is_never_changed(store: Store, plan: Study) -> None:
    store.labels.record(plan, ONE, said(plan))
    for sql in ("UPDATE label SET body = '{}'", "DELETE FROM label", "REPLACE INTO label SELECT * FROM label"):
        with pytest.raises(sqlite3.IntegrityError, match=r"append-only|UNIQUE"):
            store.database.connection().execute(sql)
    assert store.check() == []


# -- handing in, and taking back ---------------------------------------------------------------------------------


def test_a_unit_is_handed_in_once_all_is_answered_and_taken_back(store: Store, plan: Study) -> None:
    with pytest.raises(LabError, match="has 3 unanswered"):
        store.labels.hand_in(plan, ONE, handed(plan))
    with pytest.raises(LabError, match="is not handed in"):
        store.labels.reopen(plan, ONE, handed(plan, "reopen"))
    fill(store, plan)
    store.labels.hand_in(plan, ONE, handed(plan))
    with pytest.raises(LabError, match="is handed in already"):
        store.labels.hand_in(plan, ONE, handed(plan))
    store.labels.reopen(plan, ONE, handed(plan, "reopen"))
    assert not store.labels.sheet(plan, ONE, "R1").committed
    store.labels.hand_in(plan, ONE, handed(plan))
    assert [act.act for act in store.labels.acts(plan, "R1", "u1")] == ["commit", "reopen", "commit"]


def test_no_going_back_where_the_protocol_has_none_or_gold_was_shown(store: Store) -> None:
    gold = unit("u1", gold=(Gold("open", "state", "completed"),))
    for i, (one, protocol, match) in enumerate(
        ((ONE, replace(NODES, forward=True), "no going back"), (gold, NODES, "right"))
    ):
        plan = frozen(store, [one], protocol, id=f"s{i}")
        fill(store, plan, one)
        store.labels.hand_in(plan, one, handed(plan))
        with pytest.raises(LabError, match=match):
            store.labels.reopen(plan, one, handed(plan, "reopen"))
        assert store.labels.sheet(plan, one, "R1").committed


@pytest.mark.parametrize("kind", ["commit", "reopen"])
def test_handing_in_is_not_for_who_may_not_rate(store: Store, plan: Study, kind: str) -> None:
    fill(store, plan)
    if kind == "reopen":
        store.labels.hand_in(plan, ONE, handed(plan))
    verb = store.labels.hand_in if kind == "commit" else store.labels.reopen
    store.labels.record_act(handed(plan, "locked", ""))
    with pytest.raises(LabError, match="locked"):
        verb(plan, ONE, handed(plan, kind))
    with pytest.raises(LabError, match=r"locked|dealt"):
        verb(plan, ONE, handed(plan, kind, rater=Actor("human", "R9")))


def test_each_rating_of_one_unit_has_a_sheet_of_its_own(store: Store, plan: Study) -> None:
    store.studies.deal(plan, [Assignment(plan.id, 1, "R1", 2, "u1", "repeat", 2)])
    store.labels.record(plan, ONE, said(plan))
    store.labels.record(plan, ONE, said(plan, "not_completed", run=2))
    assert [store.labels.sheet(plan, ONE, "R1", run).value(STATE) for run in (1, 2)] == ["completed", "not_completed"]
    fill_two = [("pay", "state", "completed"), ("", "rating", 1)]
    for target, field, value in fill_two:
        store.labels.record(plan, ONE, label(plan, ONE, target, field, value, run=2))
    store.labels.hand_in(plan, ONE, replace(handed(plan), run=2))
    assert [store.labels.sheet(plan, ONE, "R1", run).committed for run in (1, 2)] == [False, True]
    assert [one.run for one in store.studies.assignments(plan, "R1") if one.unit == "u1"] == [1, 2]
    found = store.studies.next_assignment(plan, "R1", after=1)
    assert found is None


def test_acts_are_listed_by_whom_and_of_what(store: Store, plan: Study) -> None:
    for rater, of in ((R1, ""), (R1, "u1"), (R2, "u1")):
        store.labels.record_act(handed(plan, "sat", of, rater))
    assert len(store.labels.acts(plan)) == 3
    assert [act.unit for act in store.labels.acts(plan, "R1")] == ["", "u1"]
    assert [act.rater.id for act in store.labels.acts(plan, unit="u1")] == ["R1", "R2"]
    assert store.labels.acts(plan, "R1", "u1", 2) == []


# -- merged copies -----------------------------------------------------------------------------------------------


def test_rows_that_come_in_another_order_than_they_were_given_stand_the_same(store: Store, plan: Study) -> None:
    first = said(plan)
    second = said(plan, "not_completed", supersedes=first.id)
    undo = said(plan, "completed", act="undo", undoes=second.id, supersedes=second.id)
    rating = label(plan, ONE, "", "rating", 7)
    with store.database.writing() as db:
        from store.studies.labels import insert_label

        for one in (rating, undo, second, first):
            insert_label(db, one)
    sheet = store.labels.sheet(plan, ONE, "R1")
    assert sheet.rows == [first, second, undo, rating]
    assert (sheet.value(STATE), sheet.value(RATING), sheet.undoable) == ("completed", 7, rating)
    assert [one.id for one in store.labels.read(plan)] == [one.id for one in (rating, undo, second, first)]


def test_two_last_words_are_a_clash_that_the_rater_settles(store: Store, plan: Study) -> None:
    one, other = said(plan), said(plan, "not_completed")
    with store.database.writing() as db:
        from store.studies.labels import insert_label

        insert_label(db, one)
        insert_label(db, other)
    sheet = store.labels.sheet(plan, ONE, "R1")
    assert list(sheet.clashes) == [STATE]
    assert STATE in sheet.unanswered
    store.labels.record(plan, ONE, said(plan, supersedes=other.id, also=(one.id,)))
    settled = store.labels.sheet(plan, ONE, "R1")
    assert not settled.clashes
    assert settled.value(STATE) == "completed"
