"""What is settled: who may, when, what must be so; the newest stands, originals stay, no rater's file has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.core.errors import LabError
from lab.core.study.adjudication import Move, Settlement
from lab.core.study.label import Act, Label
from lab.core.study.protocol import Field, Protocol
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Gold, Study, Target, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from store.copies.kit_export import make_kit
from store.copies.kit_import import import_kit
from store.store import Store
from store.studies import adjudication as adjudicating
from store.studies.adjudication import Ruling
from tests.studies import NODES, R1, R2, STATE, frozen, label, unit

R3, D1 = Actor("human", "R3"), Actor("human", "D1")
OPEN = FieldReference("open", "state")
FLAG = Field("partial", "Partly?", "flag", required=False)
FLAGGED = Protocol("flagged", "Nodes", "run", (STATE, FLAG), targets="tdg nodes")


def said(store: Store, plan: Study, of: Unit, by: Actor, value: Any, target: str = "open", **more: Any) -> Label:
    one = label(plan, of, target, "state", value, rater=by, **more)
    store.labels.record(plan, of, one)
    return one


def handed(store: Store, plan: Study, of: Unit, *people: Actor) -> None:
    for by in people:
        store.labels.record_act(Act(uuid7(), plan.id, plan.version, by, "commit", now(), of.id))


@pytest.fixture
def u1() -> Unit:
    return unit("u1")


@pytest.fixture
def plan(store: Store, u1: Unit) -> Study:
    """Three people, two of whom say completed; all handed in."""
    plan = frozen(store, [u1, unit("u2")], raters=("R1", "R2", "R3"))
    for by, value in ((R1, "completed"), (R2, "completed"), (R3, "not_completed")):
        said(store, plan, u1, by, value)
    handed(store, plan, u1, R1, R2, R3)
    return plan


def what(**told: Any) -> Settlement:
    given: dict[str, Any] = {"by_means": "adjudicator", "value": "completed", "reason": "Step 2 shows it.", **told}
    return Settlement(given.pop("target", "open"), given.pop("field", "state"), **given)


def refused(store: Store, plan: Study, u1: Unit, one: Settlement, by: Actor = D1) -> str:
    before = list(store.labels.acts(plan))
    with pytest.raises(LabError) as caught:
        store.adjudications.settle(plan, u1, one, by)
    assert store.labels.acts(plan) == before
    return caught.value.sentence


def test_what_is_settled_stands_and_originals_stay(store: Store, plan: Study, u1: Unit) -> None:
    before = list(store.labels.read(plan))
    store.adjudications.settle(plan, u1, what(value="not_completed"), D1)
    store.adjudications.settle(plan, u1, what(), Actor("human", "D2"))
    standing = store.adjudications.settlements(plan)
    assert list(standing) == [("u1", OPEN)]
    assert (standing["u1", OPEN].what.value, standing["u1", OPEN].by.id) == ("completed", "D2")
    assert list(store.labels.read(plan)) == before
    assert [act.detail["value"] for act in store.labels.acts(plan) if act.act == "adjudicated"] == [
        "not_completed", "completed",
    ]  # fmt: skip


def test_what_was_settled_may_be_left_unsettled_again(store: Store, plan: Study, u1: Unit) -> None:
    assert "nothing to withdraw" in refused(store, plan, u1, what(value=None, withdrawn=True))
    store.adjudications.settle(plan, u1, what(), D1)
    store.adjudications.settle(plan, u1, what(value=None, withdrawn=True, reason="It was another run."), D1)
    assert store.adjudications.settlements(plan) == {}
    store.adjudications.settle(plan, u1, what(), D1)
    assert set(store.adjudications.settlements(plan)) == {("u1", OPEN)}


def test_who_rated_the_unit_settles_nothing_in_it(store: Store, plan: Study, u1: Unit) -> None:
    assert "R1 rated it; who settles it is somebody else." in refused(store, plan, u1, what(), R1)
    assert "R1 rated it" in refused(store, plan, u1, what(target="pay"), R1)
    store.labels.record_act(Act(uuid7(), plan.id, 1, D1, "locked", now()))
    assert "R1 rated it" in refused(store, plan, u1, what(), R1)
    store.adjudications.settle(plan, u1, what(), D1)


def test_nothing_is_settled_before_all_have_handed_in(store: Store, u1: Unit) -> None:
    plan = frozen(store, [u1], raters=("R1", "R2", "R3"))
    said(store, plan, u1, R1, "completed")
    said(store, plan, u1, R2, "not_completed")
    handed(store, plan, u1, R1, R2)
    assert "1 of its raters has not handed it in yet" in refused(store, plan, u1, what())
    assert "it is dealt to R3, who is to rate it and has not." in refused(store, plan, u1, what(), R3)
    store.labels.record_act(Act(uuid7(), plan.id, 1, R3, "left", now(), detail={"for": "R4", "by": "D1"}))
    store.adjudications.settle(plan, u1, what(), D1)


def test_a_locked_study_waits_for_nobody(store: Store, u1: Unit) -> None:
    plan = frozen(store, [u1], raters=("R1", "R2"))
    said(store, plan, u1, R1, "completed")
    store.labels.record_act(Act(uuid7(), plan.id, 1, D1, "locked", now()))
    store.adjudications.settle(plan, u1, what(), D1)
    assert set(store.adjudications.settlements(plan)) == {("u1", OPEN)}
    store.adjudications.settle(plan, u1, what(), R2)  # who never rated it


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"reason": " "}, "field reason: is empty"),
        ({"value": "perhaps"}, "'perhaps' is none of completed, not_completed"),
        ({"value": None}, "None is none of"),
        ({"reason_missing": "cannot_judge"}, "has a value and a reason for having none"),
        ({"target": "nowhere"}, "is not asked there (targets: open, pay"),
        ({"field": "nothing"}, "is not asked there"),
        ({"minutes": -1.0, "by_means": "discussion"}, "field minutes: -1"),
        ({"minutes": 3.0}, "only a discussion has moves and minutes"),
        ({"moves": (Move("R3", "not_completed", "completed"),)}, "only a discussion has moves and minutes"),
        ({"by_means": "majority", "value": "not_completed"}, "is not what most of its raters say: it is 'completed'"),
        ({"by_means": "majority", "target": "pay"}, "there is none"),
        ({"by_means": "discussion", "moves": (Move("R9", None, "completed"),)}, "somebody who did not rate it"),
        ({"by_means": "discussion", "moves": (Move("R3", "completed", "completed"),)}, "is not what that rater said"),
        ({"by_means": "discussion", "moves": (Move("R3", None, "not_completed"),)}, "is what that rater said already"),
        ({"by_means": "discussion", "moves": (Move("R3", None, "maybe"),)}, "'maybe' is none of"),
        ({"by_means": "discussion", "moves": (Move("R3", None, "completed"),) * 2}, "a rater moves once"),
    ],
)
def test_what_is_told_must_be_so(store: Store, plan: Study, u1: Unit, told: dict[str, Any], words: str) -> None:
    assert words in refused(store, plan, u1, what(**told))


def test_majority_discussion_and_no_answer_at_all(store: Store, plan: Study, u1: Unit) -> None:
    store.adjudications.settle(plan, u1, what(by_means="majority"), D1)
    moves = (Move("R3", "not_completed", "completed", "oversight", "missed step 3"),)
    store.adjudications.settle(plan, u1, what(by_means="discussion", minutes=4.5, moves=moves), D1)
    assert store.adjudications.settlements(plan)["u1", OPEN].what.moves == moves
    store.adjudications.settle(plan, u1, what(value=None, reason_missing="cannot_judge"), D1)
    assert store.adjudications.settlements(plan)["u1", OPEN].what.reason_missing == "cannot_judge"


def test_half_is_no_majority_and_judges_have_no_vote(store: Store, u1: Unit) -> None:
    plan = frozen(store, [u1], raters=("R1", "R2"))
    said(store, plan, u1, R1, "completed")
    said(store, plan, u1, R2, "not_completed")
    said(store, plan, u1, Actor("model", "m"), "completed", config_sha="x")
    handed(store, plan, u1, R1, R2)
    assert "there is none" in refused(store, plan, u1, what(by_means="majority"))


def test_what_is_not_handed_in_is_nobodys_word(store: Store, u1: Unit) -> None:
    plan = frozen(store, [u1], raters=("R1", "R2", "R3"))
    for by, value in ((R1, "completed"), (R2, "completed"), (R3, "not_completed")):
        said(store, plan, u1, by, value)
    handed(store, plan, u1, R1, R3)
    store.labels.record_act(Act(uuid7(), plan.id, 1, D1, "locked", now()))
    assert [one.rater.id for one in store.adjudications.answers_at(plan, "u1", OPEN)] == ["R1", "R3"]
    assert "there is none" in refused(store, plan, u1, what(by_means="majority"))


def test_a_flag_that_nobody_touched_is_down(store: Store, u1: Unit) -> None:
    plan = frozen(store, [u1], FLAGGED, raters=("R1", "R2", "R3"))
    for by in (R1, R2, R3):
        said(store, plan, u1, by, "completed")
    store.labels.record(plan, u1, label(plan, u1, "open", "partial", True, rater=R3))
    handed(store, plan, u1, R1, R2, R3)
    assert [one.value for one in store.adjudications.answers_at(plan, "u1", FieldReference("open", "partial"))] == [
        False,
        False,
        True,
    ]
    store.adjudications.settle(plan, u1, what(field="partial", value=False, by_means="majority"), D1)


def test_what_a_rule_answered_is_settled_by_nobody(store: Store) -> None:
    ruled = unit("u1", mechanical=(Gold("open", "state", "completed", "The clock says so."),))
    plan = frozen(store, [ruled])
    store.labels.record_act(Act(uuid7(), plan.id, 1, D1, "locked", now()))
    assert "was answered by a rule" in refused(store, plan, ruled, what())


def test_several_are_kept_all_or_none(store: Store, plan: Study, u1: Unit) -> None:
    two = [Ruling(u1, what()), Ruling(u1, what(target="pay", value="perhaps"))]
    with pytest.raises(LabError, match="perhaps"):
        store.adjudications.settle_each(plan, two, D1)
    assert store.adjudications.settlements(plan) == {}
    kept = store.adjudications.settle_each(plan, [two[0], Ruling(u1, what(target="pay"))], D1)
    assert [one.what.target for one in kept] == ["open", "pay"]
    assert len(store.adjudications.settlements(plan)) == 2


def test_a_clock_that_was_set_back_changes_nothing(
    store: Store, plan: Study, u1: Unit, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.adjudications.settle(plan, u1, what(value="not_completed"), D1)
    monkeypatch.setattr(adjudicating, "now", lambda: "2020-01-01T00:00:00.000000+00:00")
    kept = store.adjudications.settle(plan, u1, what(), D1)
    assert kept.at > "2026"
    assert store.adjudications.settlements(plan)["u1", OPEN].what.value == "completed"


def test_the_clock_of_another_study_changes_nothing(
    store: Store, plan: Study, u1: Unit, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = frozen(store, [u1], raters=("R1", "R2", "R3"), id="other")
    for by in (R1, R2, R3):
        said(store, other, u1, by, "completed")
    handed(store, other, u1, R1, R2, R3)
    monkeypatch.setattr(adjudicating, "now", lambda: "2099-01-01T00:00:00.000000+00:00")
    store.adjudications.settle(other, u1, what(), D1)
    monkeypatch.undo()
    assert store.adjudications.settle(plan, u1, what(), D1).at < "2099"


def test_who_withdrew_settles_nothing(store: Store, plan: Study, u1: Unit) -> None:
    from store.erasing.withdrawal import withdraw

    store.adjudications.settle(plan, u1, what(), D1)
    withdraw(store, "D1", R1)
    assert store.adjudications.settlements(plan) == {}
    assert "D1 has withdrawn" in refused(store, plan, u1, what())


def test_no_kit_carries_it_and_none_brings_it(store: Store, plan: Study, u1: Unit, tmp_path: Path) -> None:
    store.adjudications.settle(plan, u1, what(reason="Zwhysettled", by_means="majority"), D1)
    store.labels.record_act(Act(uuid7(), plan.id, 1, R1, "adjudicated", now(), "u1", detail={}))
    make_kit(store, plan, "R1", tmp_path / "R1.db")
    assert b"Zwhysettled" not in (tmp_path / "R1.db").read_bytes()
    with Store.open(tmp_path / "R1.db") as kit:
        assert [act.act for act in kit.labels.acts(plan)] == ["commit"]
        with pytest.raises(LabError, match="is a kit of R1"):
            kit.adjudications.settle(kit.studies.study(plan.id), kit.studies.unit(plan, "u2"), what(), D1)
        kit.labels.record_act(Act(uuid7(), plan.id, 1, R1, "adjudicated", now(), "u1", detail={}))
    with pytest.raises(LabError, match="holds an act that is no rater's: adjudicated"):
        import_kit(store, tmp_path / "R1.db")


def test_it_is_there_after_the_file_was_closed(tmp_path: Path, u1: Unit) -> None:
    with Store.open(tmp_path / "one.db") as store:
        plan = frozen(store, [u1], NODES)
        store.labels.record_act(Act(uuid7(), plan.id, 1, D1, "locked", now()))
        store.adjudications.settle(plan, u1, what(), D1)
    with Store.open(tmp_path / "one.db", readonly=True) as again:
        assert again.adjudications.settlements(plan)["u1", OPEN].what.reason == "Step 2 shows it."


def test_a_reason_that_utf8_cannot_hold_does_not_change_the_name_of_what_is_settled(store: Store) -> None:
    odd = unit("u\ud800", targets=(Target("t\udfff", "A target"),))
    frozen(store, [odd], raters=("R1", "R2", "R3"))
    plan = store.studies.study("trial")
    [of] = store.studies.units(plan)
    for by, value in ((R1, "completed"), (R2, "completed"), (R3, "not_completed")):
        said(store, plan, of, by, value, of.targets[0].id)
    handed(store, plan, of, R1, R2, R3)
    moved = Move("R3", "not_completed", "completed", "code\udcff", "why\udcff")
    one = what(target=of.targets[0].id, reason="since\udcff", by_means="discussion", moves=(moved,))
    store.adjudications.settle(plan, of, one, D1)
    store.adjudications.settle(plan, of, one, D1)
    [(place, settled)] = store.adjudications.settlements(plan).items()
    assert place == (of.id, FieldReference(of.targets[0].id, "state"))
    assert settled.what.reason.startswith("since")


def test_what_another_settled_meanwhile_is_not_settled_again_by_majority(store: Store, plan: Study, u1: Unit) -> None:
    most = what(by_means="majority", value="completed")
    seen = [Ruling(u1, most)]  # as the queue had it, before somebody settled it otherwise
    other = store.adjudications.settle(plan, u1, what(value="not_completed"), Actor("human", "D2"))
    assert store.adjudications.settle_each(plan, seen, D1, open_only=True) == []
    assert store.adjudications.settlements(plan) == {("u1", OPEN): other}
    assert store.adjudications.settle_each(plan, seen, D1) != []
