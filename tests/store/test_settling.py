"""Two last words of one rater in what they handed in: settled by one of them, and nothing else changes."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from lab.core.errors import LabError
from lab.core.study.label import Act, Label
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.rating_sheet import FieldReference, answer_to, undo_of
from lab.core.study.study import Gold, Study, Unit
from lab.core.values.ids_and_clock import now, uuid7
from store.copies.kit_export import make_kit
from store.copies.kit_import import import_kit
from store.store import Store
from store.studies.labels import insert_label
from tests.studies import NODES, R1, frozen, label, unit

STATE, PAY, WHY, RATING = (
    FieldReference("open", "state"),
    FieldReference("pay", "state"),
    FieldReference("open", "why"),
    FieldReference("", "rating"),
)


def clashing(
    store: Store, plan: Study, of: Unit, spot: FieldReference, *values: Any, hand_in: bool = True
) -> list[Label]:
    """Both words of a place as a merge leaves them, all else answered; then the unit is handed in."""
    sheet = store.labels.sheet(plan, of, "R1")
    for place, value in ((STATE, "completed"), (PAY, "completed"), (RATING, 40)):
        if place in sheet.spots and place != spot and sheet.head(place) is None:
            store.labels.record(plan, of, label(plan, of, *place, value))
    words = [label(plan, of, *spot, value, note=f"note {n}") for n, value in enumerate(values)]
    with store.database.writing() as db:
        for one in words:
            insert_label(db, one)
    if hand_in:
        store.labels.record_act(Act(uuid7(), plan.id, plan.version, R1, "commit", now(), of.id))
    return words


def settle(store: Store, plan: Study, of: Unit, spot: FieldReference, value: Any, **said: Any) -> Label:
    one = label(plan, of, *spot, value, **said)
    sheet = store.labels.record_each(plan, of, R1, 1, [lambda sheet: answer_to(sheet, one)])
    return sheet.heads[spot]


@pytest.fixture
def plan(store: Store) -> Study:
    return frozen(store, [unit("u1"), unit("u2"), unit("u3")])


@pytest.mark.parametrize("forward", [False, True])
def test_one_of_the_two_words_settles_it_and_what_belonged_to_it_goes_along(store: Store, forward: bool) -> None:
    plan = frozen(store, [unit("u1")], replace(NODES, forward=forward))
    words = clashing(store, plan, unit("u1"), STATE, "completed", "not_completed")
    assert [one.unit for one in store.labels.clashing_assignments(plan, "R1")] == ["u1"]
    head = settle(store, plan, unit("u1"), STATE, "completed")
    assert (head.value, head.note, set(head.replaces)) == ("completed", "note 0", {one.id for one in words})
    sheet = store.labels.sheet(plan, unit("u1"), "R1")
    assert (sheet.committed, dict(sheet.clashes), store.labels.clashing_assignments(plan, "R1")) == (True, {}, [])
    with pytest.raises(LabError, match="handed it in; nothing in it changes any more"):
        settle(store, plan, unit("u1"), STATE, "not_completed")


def test_a_third_word_an_undo_half_of_it_and_any_other_place_are_refused(store: Store, plan: Study) -> None:
    of = unit("u1")
    words = clashing(store, plan, of, RATING, 40, 60)
    before = list(store.labels.read(plan))
    with pytest.raises(LabError, match="of the 2 answers at rating one is settled on"):
        settle(store, plan, of, RATING, 50)
    with pytest.raises(LabError, match="one is settled on"):
        store.labels.record(plan, of, label(plan, of, *RATING, 40, supersedes=words[1].id))
    with pytest.raises(LabError, match="handed it in; nothing"):
        settle(store, plan, of, STATE, "completed")
    undo = undo_of(store.labels.sheet(plan, of, "R1"), label(plan, of, *RATING, None))
    assert undo is not None
    with pytest.raises(LabError, match="handed it in; nothing"):
        store.labels.record(plan, of, undo)
    with pytest.raises(LabError, match="handed it in; nothing"):
        store.labels.record(plan, of, label(plan, of, "open", "no such field", 1))
    assert list(store.labels.read(plan)) == before


def test_yes_is_not_1(store: Store) -> None:
    sure = Field("sure", "Sure?", "flag", per="unit", required=False)
    plan = frozen(store, [unit("u1")], replace(NODES, fields=(*NODES.fields, sure)))
    clashing(store, plan, unit("u1"), FieldReference("", "sure"), True, False)
    with pytest.raises(LabError, match="one is settled on"):
        settle(store, plan, unit("u1"), FieldReference("", "sure"), 1)
    assert settle(store, plan, unit("u1"), FieldReference("", "sure"), False).value is False


def test_never_where_the_study_is_locked_or_what_is_right_was_shown(store: Store) -> None:
    gold = unit("u2", pilot=True, gold=(Gold("open", "state", "completed"),))
    plan = frozen(store, [unit("u1"), gold])
    for of in (unit("u1"), gold):
        clashing(store, plan, of, STATE, "completed", "not_completed")
    assert [one.unit for one in store.labels.clashing_assignments(plan, "R1")] == ["u1"]
    with pytest.raises(LabError, match="has shown what is right"):
        settle(store, plan, gold, STATE, "completed")
    store.labels.record_act(Act(uuid7(), plan.id, 1, R1, "locked", now()))
    with pytest.raises(LabError, match="is locked"):
        settle(store, plan, unit("u1"), STATE, "completed")


def test_a_word_that_would_open_another_place_is_refused(store: Store) -> None:
    why = Field("why", "Why not?", "text", show_if="state=not_completed")
    plan = frozen(store, [unit("u1")], replace(NODES, fields=(NODES.fields[0], why, NODES.fields[2])))
    clashing(store, plan, unit("u1"), STATE, "not_completed", "completed")
    with pytest.raises(LabError, match="why of open would be unanswered"):
        settle(store, plan, unit("u1"), STATE, "not_completed")
    assert settle(store, plan, unit("u1"), STATE, "completed").value == "completed"


def test_an_optional_place_that_is_no_longer_asked_is_settled_too_and_by_nothing_where_that_was_a_word(
    store: Store, plan: Study
) -> None:
    of = unit("u1")
    clashing(store, plan, of, WHY, "it was slow", "it was late")  # its condition, not completed, does not hold
    assert [one.unit for one in store.labels.clashing_assignments(plan, "R1")] == ["u1"]
    assert settle(store, plan, of, WHY, "it was late").value == "it was late"
    assert store.labels.clashing_assignments(plan, "R1") == []
    clashing(store, plan, unit("u2"), WHY, "it was slow", None)
    with pytest.raises(LabError, match="of the 2 answers"):
        settle(store, plan, unit("u2"), WHY, None, reason_missing="skipped")
    assert settle(store, plan, unit("u2"), WHY, None).cleared
    assert store.labels.clashing_assignments(plan, "R1") == []


def test_what_is_not_handed_in_takes_any_answer_and_an_optional_clash_is_in_the_way_of_handing_in(
    store: Store, plan: Study
) -> None:
    of = unit("u1")
    clashing(store, plan, of, WHY, "it was slow", "it was late", hand_in=False)
    assert store.labels.clashing_assignments(plan, "R1") == []
    with pytest.raises(LabError, match="has 1 unanswered"):
        store.labels.hand_in(plan, of, Act(uuid7(), plan.id, 1, R1, "commit", now(), "u1"))
    assert settle(store, plan, of, WHY, "neither").note == ""
    store.labels.hand_in(plan, of, Act(uuid7(), plan.id, 1, R1, "commit", now(), "u1"))


def test_two_fields_in_a_precedence_that_both_clash_are_settled_one_after_the_other(store: Store) -> None:
    options = tuple(Option(id, key=str(n)) for n, id in enumerate("abcd", 1))
    first = Field("first", "First?", "nominal", options)
    second = Field("second", "Second?", "nominal", options, after="first")
    plan = frozen(store, [unit("u1", targets=())], Protocol("modes", "Modes", "run", (first, second)))
    of = unit("u1", targets=())
    rows = [label(plan, of, "", name, value) for name, value in zip(("first", "second") * 2, "abcd", strict=True)]
    with store.database.writing() as db:
        for one in rows:
            insert_label(db, one)
    store.labels.record_act(Act(uuid7(), plan.id, 1, R1, "commit", now(), "u1"))
    settle(store, plan, of, FieldReference("", "first"), "c")
    with pytest.raises(LabError, match="goes before"):
        settle(store, plan, of, FieldReference("", "second"), "b")
    settle(store, plan, of, FieldReference("", "second"), "d")
    assert store.labels.clashing_assignments(plan, "R1") == []


def test_a_kit_settles_it_and_brings_that_back(store: Store, plan: Study) -> None:
    clashing(store, plan, unit("u1"), STATE, "completed", "not_completed")
    path = store.path.with_name("R1.db")
    make_kit(store, plan, "R1", path)
    with Store.open(path) as kit:
        told = kit.studies.study(plan.id)
        assert [one.unit for one in kit.labels.clashing_assignments(told, "R1")] == ["u1"]
        settle(kit, told, kit.studies.unit(told, "u1"), STATE, "not_completed")
    assert import_kit(store, path).clashes == ()
    assert store.labels.sheet(plan, unit("u1"), "R1").value(STATE) == "not_completed"


def test_what_was_corrected_and_settled_before_is_no_clash(store: Store, plan: Study) -> None:
    clashing(store, plan, unit("u1"), STATE, "completed", "not_completed")
    clashing(store, plan, unit("u2"), STATE, "completed")
    settle(store, plan, unit("u1"), STATE, "completed")
    assert store.labels.clashing_assignments(plan, "R1") == store.labels.clashing_assignments(plan, "R2") == []


def test_several_answers_at_once_do_not_go_on_where_the_first_settled_one(store: Store, plan: Study) -> None:
    of = unit("u1")
    clashing(store, plan, of, STATE, "completed", "not_completed")
    before = list(store.labels.read(plan))
    first, second = label(plan, of, *STATE, "completed"), label(plan, of, *PAY, "not_completed")
    both = [lambda sheet: answer_to(sheet, first), lambda sheet: answer_to(sheet, second)]
    with pytest.raises(LabError, match="handed it in; nothing"):
        store.labels.record_each(plan, of, R1, 1, both)
    assert list(store.labels.read(plan)) == before
    assert store.labels.record_each(plan, of, R1, 1, both[:1]).committed
