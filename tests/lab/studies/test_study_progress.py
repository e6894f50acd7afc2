"""How far a study is: each number by hand, who straggles, and that reading on gives what reading all gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotators.adjudication import adjudication_queue
from annotators.raters import raters_of
from lab.core.errors import LabError
from lab.core.study.study import Gold, Study, Unit
from lab.core.study.study_progress import NOTHING, RaterProgress, Share, StudyProgress
from lab.studies.progress.study_data import load_study_data
from lab.studies.progress.study_progress import ProgressReader, check_whole, running_studies
from store.copies.kit_export import make_kit
from store.store import Store
from tests.watched import DAY, HOUR, answered, begun, did, handed_in, moment, units, when


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def read(store: Store, study: Study, at: float = HOUR) -> StudyProgress:
    return ProgressReader(store).read(study, moment(at))


def person(progress: StudyProgress, code: str) -> RaterProgress:
    return next(one for one in progress.raters if one.rater == code)


def test_a_study_that_nobody_began_has_counts_and_nothing_else(store: Store) -> None:
    progress = read(store, begun(store, 4))
    assert (progress.state, progress.at) == ("running", when(HOUR))
    assert progress.raters[0] == RaterProgress("R1", 4, 0, 4, 0)
    assert (progress.total.dealt, progress.total.left, progress.total.pace, progress.total.until) == (
        12,
        12,
        None,
        None,
    )
    assert progress.judges == ()
    assert all(one.differ == NOTHING for one in progress.fields)


def test_each_person_is_told_by_what_they_did(store: Store) -> None:
    study = begun(store, 5)
    for at, unit in enumerate(("u0", "u1", "u2")):
        handed_in(store, study, "R1", unit, 100 + 20 * at, seconds=(10, 12, 20)[at])
    answered(store, study, "R1", "u3", 200)
    did(store, study, "R2", "consent", 50, sha="x")
    progress = read(store, study)
    one = person(progress, "R1")
    assert (one.dealt, one.done, one.left, one.begun) == (5, 3, 2, 4)
    assert (one.pace, one.work_left, one.seen) == (12.0, 24.0, when(200))
    assert person(progress, "R2").consent == when(50)
    assert person(progress, "R2").work_left is None
    total = progress.total
    assert (total.done, total.left, total.pace, total.seen) == (3, 12, 12.0, when(200))
    assert total.work_left == 12 * 12.0, "who has no pace yet is counted with everybody's"


def test_until_is_known_for_all_or_for_nobody(store: Store) -> None:
    study = begun(store, 4, raters=("R1", "R2"))
    for rater in study.raters:
        handed_in(store, study, rater, "u0", 1 * DAY)
    handed_in(store, study, "R1", "u1", 2 * DAY)
    progress = read(store, study, 3 * DAY)
    assert person(progress, "R1").until == when(5 * DAY)  # two items in two days, two left
    assert person(progress, "R2").until is None
    assert progress.total.until is None
    handed_in(store, study, "R2", "u1", 2 * DAY)
    handed_in(store, study, "R2", "u2", 2.5 * DAY)
    assert read(store, study, 3 * DAY).total.until == when(5 * DAY)


def test_a_pilot_is_scored_as_labels_scores_it(store: Store) -> None:
    gold = (Gold("", "ok", "y"),)
    study = begun(store, 0, of=[*units(2, pilot=True, gold=gold), Unit("u2", ("r2",))], bar=0.9)
    handed_in(store, study, "R1", "u0", 10, "y")
    handed_in(store, study, "R1", "u1", 20, "n")
    answered(store, study, "R2", "u0", 30, "n")
    did(store, study, "R1", "held", 21, share=0.5, bar=0.9)
    progress = read(store, study)
    assert person(progress, "R1").pilot == Share(1, 2)
    assert person(progress, "R2").pilot == NOTHING, "it is not handed in"
    assert person(progress, "R1").held
    assert (progress.total.held, progress.bar, progress.total.pilot) == (1, 0.9, Share(1, 2))


def test_disagreement_is_that_of_adjudication_and_of_raters(store: Store) -> None:
    study = begun(store, 4)
    said = {"R1": "yyyn", "R2": "yynn", "R3": "yny"}
    for rater, words in said.items():
        for at, word in enumerate(words):
            handed_in(store, study, rater, f"u{at}", 100.0 * at + int(rater[1]), word)
    answered(store, study, "judge", "u0", 9, "n", kind="model", cost=0.25)
    answered(store, study, "judge", "u3", 9, "n", kind="model", cost=0.5)
    did(store, study, "R1", "reopen", 1000, "u0")
    answered(store, study, "R1", "u0", 1010, True, field="odd")
    answered(store, study, "R1", "u0", 1011, "because", field="why")
    did(store, study, "R1", "commit", 1020, "u0")
    progress = read(store, study)
    fields = {one.field: one.differ for one in progress.fields}
    assert fields == {"ok": Share(2, 4), "odd": Share(1, 4)}
    studied = load_study_data(store, study)
    assert sum(one.count for one in fields.values()) == len(adjudication_queue(studied, locked=True).open)
    rest = {one.rater: one.rest for one in raters_of(studied)}
    apart = {one.rater: one.apart for one in progress.raters} | {one.judge: one.apart for one in progress.judges}
    for name, one in apart.items():
        assert one.n == rest[name].places
        assert rest[name].value is not None
        assert one.share == pytest.approx(1 - (rest[name].value or 0))
    assert person(progress, "R1").flags == 1
    (judge,) = progress.judges
    assert (judge.answered, judge.units, judge.cost) == (2, 4, 0.75)
    assert progress.total.cost == 0.75
    assert progress.total.differ == Share(3, 5), "a flag that nobody raised is no agreement of all questions"


def test_a_judge_whose_cost_is_not_stored_has_none(store: Store) -> None:
    study = begun(store, 2)
    answered(store, study, "judge", "u0", 9, "n", kind="model")
    assert [one.cost for one in read(store, study).judges] == [None]
    assert read(store, study).total.cost is None


def test_who_left_has_nothing_left_to_do(store: Store) -> None:
    study = begun(store, 3)
    goes_on: dict[str, Any] = {"for": "R1"}
    did(store, study, "R4", "replaced", 10, **goes_on)
    did(store, study, "R1", "left", 10, **{**goes_on, "for": "R4"})
    progress = read(store, study)
    assert [one.rater for one in progress.raters] == ["R1", "R2", "R3", "R4"]
    assert (person(progress, "R1").replaced, person(progress, "R1").left) == (True, 0)
    assert progress.total.people == 3


def test_who_did_not_consent_has_not_left(store: Store) -> None:
    study = begun(store, 3)
    did(store, study, "R1", "left", 10, why="did not consent")
    assert not person(read(store, study), "R1").replaced


# -- stragglers --------------------------------------------------------------------------------------------------


def three_sittings(store: Store, study: Study, rater: str, begin: float = 0.0, gap: float = 12 * HOUR) -> None:
    """Three items, each in a sitting of its own."""
    for at in range(3):
        handed_in(store, study, rater, f"u{at}", begin + at * gap + 10)


def test_quiet_is_longer_than_three_of_ones_own_gaps_and_than_a_day(store: Store) -> None:
    study = begun(store, 9, raters=("R1",))
    three_sittings(store, study, "R1")
    last = 24 * HOUR + 10
    usual = 12 * HOUR - 10
    assert person(read(store, study, last + 3 * usual - 60), "R1").straggler == ()
    assert person(read(store, study, last + 3 * usual + 60), "R1").straggler == ("quiet",)
    assert read(store, study, last + 3 * usual + 60).total.stragglers == 1


def test_who_sits_down_every_two_hours_is_not_quiet_over_night(store: Store) -> None:
    study = begun(store, 9, raters=("R1",))
    three_sittings(store, study, "R1", gap=2 * HOUR)
    last = 4 * HOUR + 10
    assert person(read(store, study, last + 23 * HOUR), "R1").straggler == ()
    assert person(read(store, study, last + 25 * HOUR), "R1").straggler == ("quiet",)


def test_who_had_too_few_sittings_is_held_against_the_others(store: Store) -> None:
    study = begun(store, 9, raters=("R1", "R2"))
    handed_in(store, study, "R2", "u0", 10)
    assert person(read(store, study, 30 * DAY), "R2").straggler == (), "no gap of anybody's is known"
    three_sittings(store, study, "R1", begin=30 * DAY)
    assert person(read(store, study, 31 * DAY), "R2").straggler == ("quiet",)


def test_behind_is_less_than_half_of_the_others(store: Store) -> None:
    study = begun(store, 10)
    for rater, many in (("R1", 4), ("R2", 6), ("R3", 2)):
        for at in range(many):
            handed_in(store, study, rater, f"u{at}", 20 * at + 10)
    assert [one.straggler for one in read(store, study).raters] == [(), (), ("behind",)]
    handed_in(store, study, "R3", "u2", 500)
    assert [one.straggler for one in read(store, study).raters] == [(), (), ()], "3 of 10 is more than half of 5"


def test_nobody_is_behind_before_the_others_have_done_a_fifth_or_of_two(store: Store) -> None:
    study = begun(store, 10)
    for rater in ("R1", "R2"):
        handed_in(store, study, rater, "u0", 10)
    assert person(read(store, study), "R3").straggler == ()
    two = begun(store, 4, raters=("R1", "R2"), id="two")
    for at in range(4):
        handed_in(store, two, "R1", f"u{at}", 20 * at + 10)
    assert person(read(store, two), "R2").straggler == ()


def test_who_is_held_or_done_does_not_straggle(store: Store) -> None:
    study = begun(store, 3)
    for rater in ("R1", "R2"):
        three_sittings(store, study, rater)
    did(store, study, "R3", "held", 100)
    progress = read(store, study, 90 * DAY)
    assert [one.straggler for one in progress.raters] == [(), (), ()]


# -- reading on --------------------------------------------------------------------------------------------------


def test_one_reader_tells_the_same_as_a_new_one_whatever_comes_in(store: Store) -> None:
    gold = (Gold("", "ok", "y"),)
    study = begun(store, 0, of=[*units(1, pilot=True, gold=gold), *units(4)[1:]])
    reader = ProgressReader(store)

    def same(at: float) -> None:
        assert reader.read(study, moment(at)) == ProgressReader(store).read(study, moment(at))

    same(0)
    handed_in(store, study, "R1", "u0", 100)
    same(100)
    did(store, study, "R1", "opened", 150, "u1")
    same(200)
    answered(store, study, "R1", "u1", 210)
    same(220)
    handed_in(store, study, "R2", "u1", 300, "n")
    did(store, study, "R1", "commit", 310, "u1")
    same(400)
    assert reader.read(study, moment(400)).fields[0].differ == Share(1, 1)
    did(store, study, "R2", "held", 500)
    same(500)
    same(40 * DAY)
    begun(store, 2, id="other")
    same(40 * DAY)


def test_what_was_erased_is_not_told_again(store: Store) -> None:
    study = begun(store, 3)
    for rater in ("R1", "R2"):
        handed_in(store, study, rater, "u0", 10)
    reader = ProgressReader(store)
    assert person(reader.read(study, moment(20)), "R2").done == 1
    from lab.core.task.task import Actor
    from store.erasing.withdrawal import withdraw

    withdraw(store, "R2", Actor("human", "boss"))
    after = reader.read(study, moment(20))
    assert after == ProgressReader(store).read(study, moment(20))
    gone = person(after, "R2")
    assert (gone.withdrawn, gone.done, gone.pace, gone.seen) == (True, 0, None, None)


def test_states(store: Store) -> None:
    study = begun(store, 1)
    assert [one.id for one in running_studies(store)] == ["trial"]
    for rater in study.raters:
        handed_in(store, study, rater, "u0", 10)
    assert read(store, study).state == "done"
    did(store, study, "boss", "locked", 20)
    assert read(store, study).state == "locked"
    assert running_studies(store) == []
    did(store, study, "boss", "archived", 30)
    assert read(store, study).state == "archived"
    assert read(store, begun(store, 1, raters=(), id="nobody")).state == "not dealt"


def test_a_kit_is_not_watched(store: Store, tmp_path: Path) -> None:
    study = begun(store, 1, of=[Unit("u0")])
    check_whole(store, "study")
    make_kit(store, study, "R1", tmp_path / "R1.db")
    with Store.open(tmp_path / "R1.db") as kit, pytest.raises(LabError, match="this file is a kit of R1"):
        check_whole(kit, "study")
