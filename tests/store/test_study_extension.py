"""A study that is extended: what was answered before counts in the next version, from kits and copies, too."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from annotators.assignment import deal_more
from annotators.plan import extend as extend_study
from lab.core.errors import LabError
from lab.core.study.label import Act, AnswerDetails
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Predecessor, Study
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.planning.study_people import people_there
from lab.studies.progress.study_data import study_agreements
from lab.studies.rating.rating_session import RatingSession
from store.copies.kit_export import make_kit
from store.copies.kit_import import import_kit
from store.copies.merge import merge
from store.copies.pack import pack
from store.erasing.withdrawal import withdraw
from store.store import Store
from store.studies.study_extension import copy_rows
from tests.studies import NODES, R1, R2, frozen, unit

D1 = Actor("human", "D1")
OPEN, PAY, RATING = FieldReference("open", "state"), FieldReference("pay", "state"), FieldReference("", "rating")


@pytest.fixture
def plan(store: Store) -> Study:
    """A study of two units by R1 and R2, all of it dealt to both."""
    return store.studies.study(frozen(store, [unit("u1"), unit("u2")]).id)


def rate(store: Store, study: Study, who: Actor, *units: str, value: str = "completed") -> None:
    """Answers units as a person does, and hands them in."""
    session = RatingSession(store, study, who)
    for one in store.studies.assignments(study, who.id):
        if one.unit in units and not session.open(one).committed:
            for spot in (OPEN, PAY):
                session.answer(spot, value)
            session.answer(RATING, 40)
            session.commit()


def extend(store: Store, study: Study, *ids: str) -> Study:
    """The study's next version with these units more, dealt as `study extend` does."""
    here = list(store.studies.units(study))
    later = extend_study(study, here, [unit(id) for id in ids], D1, now())
    behind = {code: len(store.studies.assignments(study, code)) - 1 for code in people_there(store, study)}
    more = deal_more(later, [unit(id) for id in ids], people_there(store, study), behind)
    store.extensions.extend(later, [*here, *(unit(id) for id in ids)], more)
    return store.studies.study(study.id)


def done(store: Store, study: Study) -> dict[str, tuple[int, int]]:
    """How many each person has handed in, of how many."""
    progress = {code: store.studies.progress(study, code) for code in study.raters}
    return {code: (one.done, one.dealt) for code, one in progress.items()}


def answers(store: Store, study: Study) -> list[tuple[Any, ...]]:
    """Every label of a version, without ids: by whom, where, what, when."""
    return [
        (one.rater.id, one.unit, one.target, one.field, one.value, one.at, one.act, one.note)
        for one in store.labels.read(study)
    ]


def test_what_was_answered_counts_and_is_not_asked_again(store: Store, plan: Study) -> None:
    rate(store, plan, R1, "u1", "u2")
    rate(store, plan, R2, "u1")
    before = answers(store, plan)
    rows = store.database.read("SELECT body FROM label UNION ALL SELECT body FROM act UNION ALL SELECT body FROM study")
    later = extend(store, plan, "u3")
    assert later.extends == Predecessor(1, plan.sha)
    assert done(store, later) == {"R1": (2, 3), "R2": (1, 3)}
    assert answers(store, later) == before == answers(store, plan)
    assert [one.carries for one in store.labels.read(later)] == [one.id for one in store.labels.read(plan)]
    assert RatingSession(store, later, R1).next_assignment().unit == "u3"  # type: ignore[union-attr]
    assert RatingSession(store, later, R2).next_assignment().unit == "u2"  # type: ignore[union-attr]
    kept = store.database.read("SELECT body FROM label UNION ALL SELECT body FROM act UNION ALL SELECT body FROM study")
    assert set(rows) <= set(kept), "no row changed"
    assert store.check() == []


def test_old_units_stay_where_they_were_dealt_and_new_ones_come_behind(store: Store, plan: Study) -> None:
    later = extend(store, plan, "u3", "u4")
    for code in ("R1", "R2"):
        old, new = (store.studies.assignments(one, code) for one in (plan, later))
        assert [replace(one, version=1) for one in new[:2]] == old
        assert {one.unit for one in new[2:]} == {"u3", "u4"}
        assert [one.position for one in new] == [0, 1, 2, 3]
    drawn = {code: [one.swap for one in store.studies.assignments(later, code)] for code in later.raters}
    assert drawn == {code: [one.swap for one in store.studies.assignments(later, code)] for code in later.raters}


def test_agreement_over_the_next_version_sees_both(store: Store, plan: Study) -> None:
    rate(store, plan, R1, "u1", "u2")
    rate(store, plan, R2, "u1", "u2", value="not_completed")
    later = extend(store, plan, "u3")

    def numbers(study: Study) -> dict[tuple[str, str], tuple[float | None, int]]:
        return {(one.field, one.statistic): (one.value, one.places) for one in study_agreements(store, study)}

    assert numbers(later) == numbers(plan)
    assert numbers(plan)["state", "percent"] == (0.0, 4)
    for who in (R1, R2):
        rate(store, later, who, "u3")
    assert numbers(plan)["state", "percent"] == (0.0, 4)
    value, places = numbers(later)["state", "percent"]
    assert places == 6
    assert value == pytest.approx(2 / 6)


def test_in_the_version_before_nothing_more_is_said(store: Store, plan: Study, tmp_path: Path) -> None:
    session = RatingSession(store, plan, R1)
    session.open(store.studies.assignments(plan, "R1")[0])
    later = extend(store, plan, "u3")
    with pytest.raises(LabError, match="was extended and goes on as v2"):
        session.answer(OPEN, "completed")
    with pytest.raises(LabError, match="goes on as v2"):
        store.studies.deal(plan, [])
    with pytest.raises(LabError, match="goes on as v2; kits are made of that"):
        make_kit(store, plan, "R1", tmp_path / "R1.db")
    assert store.studies.newest_of(plan) == later
    assert store.studies.extended_by(later) is None
    assert store.studies.is_active_rater("R1")
    store.labels.record_act(Act(uuid7(), later.id, 2, D1, "locked", now()))
    assert not store.studies.is_active_rater("R1"), "who has the old version alone rates in nothing"


def test_undo_goes_back_into_what_was_answered_before(store: Store, plan: Study) -> None:
    session = RatingSession(store, plan, R1)
    session.open(store.studies.assignments(plan, "R1")[0])
    session.answer(OPEN, "completed", details=AnswerDetails(note="first"))
    session.answer(OPEN, "not_completed")
    session.undo()
    later = extend(store, plan, "u3")
    goes_on = RatingSession(store, later, R1)
    sheet = goes_on.open(store.studies.assignments(later, "R1")[0])
    assert (sheet.value(OPEN), sheet.heads[OPEN].note) == ("completed", "first")
    goes_on.undo()
    assert goes_on.sheet is not None
    assert goes_on.sheet.value(OPEN) is None
    assert store.labels.sheet(plan, unit("u1"), "R1").value(OPEN) == "completed"


def test_a_kit_of_the_version_before_is_taken_back_and_counts_in_the_next(
    store: Store, plan: Study, tmp_path: Path
) -> None:
    kit = tmp_path / "R1.db"
    make_kit(store, plan, "R1", kit)
    later = extend(store, plan, "u3")
    with Store.open(kit) as away:
        rate(away, plan, R1, "u1")
    taken = import_kit(store, kit)
    assert (taken.labels, taken.carried) == (3, 3)
    assert done(store, later)["R1"] == (1, 3)
    assert answers(store, later) == answers(store, plan)
    assert import_kit(store, kit).carried == 0
    with Store.open(kit) as away:
        rate(away, plan, R1, "u2")
    assert import_kit(store, kit).carried == 3
    assert done(store, later)["R1"] == (2, 3)
    assert store.check() == []


def test_two_answers_from_a_late_kit_and_from_here_are_a_clash_to_settle(
    store: Store, plan: Study, tmp_path: Path
) -> None:
    kit = tmp_path / "R1.db"
    make_kit(store, plan, "R1", kit)
    later = extend(store, plan, "u3")
    rate(store, later, R1, "u1")
    with Store.open(kit) as away:
        rate(away, plan, R1, "u1", value="not_completed")
    taken = import_kit(store, kit)
    assert ("u1", "open", "state") in taken.clashes
    assert [one.unit for one in store.labels.clashing_assignments(later, "R1")] == ["u1"]


def test_a_kit_of_the_next_version_holds_what_was_answered_before(store: Store, plan: Study, tmp_path: Path) -> None:
    rate(store, plan, R1, "u1")
    rate(store, plan, R2, "u1")
    later = extend(store, plan, "u3")
    made = make_kit(store, later, "R1", tmp_path / "R1.db")
    assert (made.version, made.units, made.labels) == (2, 3, 3)
    with Store.open(tmp_path / "R1.db") as away:
        rate(away, later, R1, "u2", "u3")
        assert {one.rater.id for one in away.labels.read(later)} == {"R1"}
    assert import_kit(store, tmp_path / "R1.db").labels == 6
    assert done(store, later)["R1"] == (3, 3)


def test_a_late_kit_is_refused_whole_where_the_next_version_is_locked(
    store: Store, plan: Study, tmp_path: Path
) -> None:
    kit = tmp_path / "R1.db"
    make_kit(store, plan, "R1", kit)
    later = extend(store, plan, "u3")
    store.labels.record_act(Act(uuid7(), later.id, 2, D1, "locked", now()))
    with Store.open(kit) as away:
        rate(away, plan, R1, "u1")
    with pytest.raises(LabError, match="v2: is locked"):
        import_kit(store, kit)
    assert answers(store, plan) == []


def test_who_withdraws_goes_from_both_versions_and_nothing_comes_back(
    store: Store, plan: Study, tmp_path: Path
) -> None:
    mine, theirs = tmp_path / "R1.db", tmp_path / "R2.db"
    rate(store, plan, R1, "u1")
    rate(store, plan, R2, "u1")
    make_kit(store, plan, "R1", mine)
    make_kit(store, plan, "R2", theirs)
    later = extend(store, plan, "u3")
    withdraw(store, "R1", D1)
    for version in (plan, later):
        assert {one.rater.id for one in store.labels.read(version)} == {"R2"}
        assert {one.rater for one in store.studies.assignments(version)} == {"R2"}
        assert not any(act.rater.id == "R1" for act in store.labels.acts(version))
    with Store.open(mine) as away:
        rate(away, plan, R1, "u2")
    with pytest.raises(LabError, match="R1 has withdrawn"):
        import_kit(store, mine)
    with Store.open(theirs) as away:
        rate(away, plan, R2, "u2")
    assert import_kit(store, theirs).carried == 3
    assert {one.rater.id for one in store.labels.read(later)} == {"R2"}
    assert store.check() == []


def test_a_study_from_which_somebody_withdrew_is_extended_without_them(store: Store, plan: Study) -> None:
    rate(store, plan, R1, "u1", "u2")
    rate(store, plan, R2, "u1")
    withdraw(store, "R2", D1)
    with pytest.raises(LabError, match="field overlap: 2 is not from 1 to 1, the number of raters"):
        extend(store, plan, "u3")
    store.labels.record_act(Act(uuid7(), plan.id, 1, Actor("human", "R4"), "replaced", now(), detail={"for": "R2"}))
    later = extend(store, plan, "u3")
    assert {one.rater for one in store.studies.assignments(later, unit="u3")} == {"R1", "R4"}
    assert done(store, later)["R1"] == (2, 3)


def test_who_left_keeps_what_they_did_and_is_dealt_nothing_new(store: Store, plan: Study) -> None:
    rate(store, plan, R2, "u1")
    for who, kind, other in (("R4", "replaced", "R2"), ("R2", "left", "R4")):
        detail = {"for": other}
        store.labels.record_act(Act(uuid7(), plan.id, 1, Actor("human", who), kind, now(), detail=detail))  # type: ignore[arg-type]
    later = extend(store, plan, "u3")
    assert store.studies.has_left(later, "R2")
    assert {one.rater for one in store.studies.assignments(later, unit="u3")} == {"R1", "R4"}
    assert done(store, later)["R2"] == (1, 2)


def test_copies_that_parted_before_an_extension_are_merged_and_all_of_it_counts(
    store: Store, plan: Study, tmp_path: Path
) -> None:
    rate(store, plan, R1, "u1")
    pack(store.path, tmp_path / "copy.db", images=True)
    later = extend(store, plan, "u3")
    rate(store, later, R1, "u3")
    with Store.open(tmp_path / "copy.db") as copy:
        rate(copy, plan, R2, "u1", "u2")
    shutil.copy(tmp_path / "copy.db", tmp_path / "again.db")
    merge(store, [tmp_path / "copy.db"])
    assert done(store, later) == {"R1": (2, 3), "R2": (2, 3)}
    with Store.open(tmp_path / "again.db") as copy:  # the other way round: the extension comes in
        merge(copy, [store.path])
        assert done(copy, later) == {"R1": (2, 3), "R2": (2, 3)}
        assert sorted(answers(copy, later)) == sorted(answers(store, later))
    merged = merge(store, [tmp_path / "again.db"])
    assert merged.added == {}
    assert merged.clashes == ()
    assert store.check() == []


def test_an_extension_comes_into_a_copy_that_went_on_rating_before_it(
    store: Store, plan: Study, tmp_path: Path
) -> None:
    pack(store.path, tmp_path / "copy.db", images=True)
    later = extend(store, plan, "u3")
    with Store.open(tmp_path / "copy.db") as copy:
        rate(copy, plan, R2, "u1")
        merge(copy, [store.path])
        assert done(copy, later)["R2"] == (1, 3)
        assert copy.check() == []


def test_what_clashes_once_it_was_carried_is_told_of_the_version_that_goes_on_alone(
    store: Store, plan: Study, tmp_path: Path
) -> None:
    pack(store.path, tmp_path / "copy.db", images=True)
    rate(store, plan, R1, "u1")
    later = extend(store, plan, "u3")
    with Store.open(tmp_path / "copy.db") as copy:
        rate(copy, plan, R1, "u1", value="not_completed")
    clashes = merge(store, [tmp_path / "copy.db"]).clashes
    assert clashes
    assert {(clash.study, clash.version, clash.rater) for clash in clashes} == {("trial", later.version, "R1")}
    assert len(clashes) == len(store.labels.sheet(later, store.studies.unit(later, "u1"), "R1", 1).clashes)


def test_extended_twice_a_late_kit_goes_all_the_way(store: Store, plan: Study, tmp_path: Path) -> None:
    kit = tmp_path / "R1.db"
    make_kit(store, plan, "R1", kit)
    third = extend(store, extend(store, plan, "u3"), "u4")
    with Store.open(kit) as away:
        rate(away, plan, R1, "u1")
    import_kit(store, kit)
    assert done(store, third)["R1"] == (1, 4)
    assert third.extends is not None
    assert third.extends.version == 2


def test_nothing_is_carried_from_another_version_than_the_one_that_was_extended(store: Store, plan: Study) -> None:
    here = [unit("u1"), unit("u2")]
    later = extend_study(plan, here, [unit("u3")], D1, now())
    forged = replace(later, extends=Predecessor(1, "0" * 64))
    with pytest.raises(LabError, match="its plan differs"):
        store.extensions.extend(forged, [*here, unit("u3")], [])
    with pytest.raises(LabError, match="its plan differs"):
        store.extensions.extend(
            replace(later, protocol=replace(plan.protocol, title="Other", unit="step")), [*here, unit("u3")], []
        )
    assert store.studies.versions(plan.id) == [1], "nothing was kept"


def test_a_unit_that_is_not_the_same_word_for_word_is_not_carried(store: Store, plan: Study) -> None:
    rate(store, plan, R1, "u1", "u2")
    other = [unit("u1", question="reworded"), unit("u2"), unit("u3")]
    later = extend_study(plan, other[:2], other[2:], D1, now())
    carried = store.extensions.extend(later, other, [])
    assert carried.labels == 3
    assert {one.unit for one in store.labels.read(later)} == {"u2"}


def test_where_there_is_no_going_back_nothing_is_put_among_what_was_asked(store: Store) -> None:
    plan = frozen(store, [unit("u1", cluster="ines")], replace(NODES, forward=True))
    extend_study(plan, [unit("u1", cluster="ines")], [unit("u2", cluster="bo")], D1, now())
    with pytest.raises(LabError, match="has no going back"):
        extend_study(plan, [unit("u1", cluster="ines")], [unit("u2", cluster="ines")], D1, now())


def test_carrying_again_carries_nothing(store: Store, plan: Study) -> None:
    rate(store, plan, R1, "u1")
    later = extend(store, plan, "u3")
    with store.database.writing() as db:
        assert not copy_rows(db, later)


def test_a_link_of_the_version_before_leads_on(store: Store, plan: Study) -> None:
    from lab.studies.links import LinkRefused, check_link, enter_link, knows, links_of, make_link

    made = make_link(store, plan, "R1", by="D1")
    browser = enter_link(store, plan, made.link)
    later = extend(store, plan, "u3")
    with pytest.raises(LinkRefused) as refused:
        check_link(store, plan, links_of(store, plan)[0])
    assert refused.value.why == "extended"
    (link,) = links_of(store, later)
    assert (link.id, link.secret_sha, link.version) == (made.link.id, made.link.secret_sha, 2)
    check_link(store, later, link)
    assert knows(link, browser)
