"""A judge's answers shown first to a half at random: who sees them, what that does, and what counts without them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from annotators.agreement.ratings.fields import ratings_of
from annotators.assignment import deal, shows_prelabel
from annotators.report.prelabel_section import sections
from annotators.validation.anchoring import anchoring
from annotators.validation.study_validation import judged_fields
from lab.cli.main import main
from lab.core.errors import LabError
from lab.core.study.label import Act
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.report import Number
from lab.core.study.study import Study, Unit
from lab.core.study.study_progress import Share
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.progress.study_data import load_study_data
from lab.studies.progress.study_progress import ProgressReader
from lab.studies.rating.rating_session import RatingSession
from store.copies.kit_export import make_kit
from store.store import Store
from tests.studies import label, study

DONE = Protocol(
    "done", "Done?", "run", (Field("state", "Was it completed?", "nominal", (Option("completed"), Option("not"))),)
)
UNITS = 40
JUDGE = Actor("model", "zjudge")


@pytest.fixture
def judged(tmp_path: Path) -> Iterator[tuple[Store, Study, list[Unit]]]:
    """A study that a judge answered whole: `completed` everywhere."""
    units = [Unit(f"u{i:02}", runs=(f"r{i}",)) for i in range(UNITS)]
    plan = study(units, DONE, raters=("R1", "R2"), overlap=2, prelabel=JUDGE.id)
    with Store.open(tmp_path / "lab.db") as store:
        store.studies.freeze(plan, units)
        for one in units:
            word = label(plan, one, "", "state", "completed", rater=JUDGE, config_sha="c" * 64)
            store.labels.record(plan, one, word)
            store.labels.hand_in(plan, one, Act(uuid7(), plan.id, 1, JUDGE, "commit", now(), one.id))
        yield store, plan, units


def rate(store: Store, plan: Study) -> dict[bool, list[tuple[str, str, str]]]:
    """Both people rate all: who sees the judge's answer takes it over; else R1 differs at every third, R2 at every
    fourth unit. What each said of what, by whether they saw it; an answer takes 2 seconds where it was seen, else 5."""
    given: dict[bool, list[tuple[str, str, str]]] = {True: [], False: []}
    for rater, every in (("R1", 3), ("R2", 4)):
        desk = RatingSession(store, plan, Actor("human", rater))
        while (assignment := desk.next_assignment()) is not None:
            opened = desk.open(assignment)
            (spot,) = opened.spots
            seen = bool(desk.prelabels)
            assert seen is assignment.prelabel
            own = "not" if int(assignment.unit[1:]) % every == 0 else "completed"
            value = desk.prelabels[spot].value if seen else own
            at = now()
            shown_at = datetime.fromisoformat(at) - timedelta(seconds=2 if seen else 5)
            word = label(
                plan, opened.unit, "", "state", value, rater=desk.person, at=at,
                shown_at=shown_at.isoformat(timespec="microseconds"),
            )  # fmt: skip
            store.labels.record(plan, opened.unit, word)
            desk.refresh()
            desk.commit()
            given[seen].append((assignment.unit, rater, value))
    return given


def call(*words: str) -> int:
    try:
        return main([*words])
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 1


# -- who sees it ---------------------------------------------------------------------------------------------------


def test_a_half_is_drawn_for_each_unit_and_rater_and_never_of_the_pilot() -> None:
    units = [Unit(f"u{i}", pilot=i < 50) for i in range(450)]
    plan = study(units, DONE, raters=("R1", "R2"), overlap=2, prelabel="j", repeats=0.1)
    dealt = deal(plan, units)
    shown = {(one.rater, one.unit) for one in dealt if one.prelabel}
    for rater in plan.raters:
        assert 160 <= sum(who == rater for who, _ in shown) <= 240
    both = sum(("R1", unit.id) in shown and ("R2", unit.id) in shown for unit in units)
    assert 70 <= both <= 130  # a quarter: the one's draw tells nothing of the other's
    assert not any(one.prelabel for one in dealt if one.stage != "main")
    assert deal(plan, units) == dealt
    assert not any(one.prelabel for one in deal(study(units, DONE, raters=("R1", "R2"), overlap=2), units))
    assert shows_prelabel(plan, "R1", "u60", "main") == (("R1", "u60") in shown)


def test_it_is_dealt_once_the_judge_has_answered_all(
    judged: tuple[Store, Study, list[Unit]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, plan, units = judged
    other = study(units, DONE, id="other", prelabel="nobody")
    store.studies.freeze(other, units)
    db = ("--db", str(store.database.path))
    assert call("study", "deal", "other", *db) == 1
    assert "nobody has not judged 40 of its units yet" in capsys.readouterr().err
    assert store.studies.assignments(other) == []
    assert call("study", "deal", plan.id, *db) == 0
    assert {one.prelabel for one in store.studies.assignments(plan)} == {True, False}
    with pytest.raises(LabError, match="a kit holds none"):
        make_kit(store, plan, "R1", tmp_path / "kit.db")
    assert not (tmp_path / "kit.db").exists()


def test_a_person_is_no_judge_to_be_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("study", "new", "success", "--runs", "all", "--raters", "R1,R2", "--prelabel", "R2")
    assert call(*words, "--db", str(tmp_path / "lab.db")) != 0
    assert "field prelabel: R2 is one of its people" in capsys.readouterr().err


# -- what it does --------------------------------------------------------------------------------------------------


def test_anchoring_is_told_by_halves_and_left_out_of_all_else(
    judged: tuple[Store, Study, list[Unit]], capsys: pytest.CaptureFixture[str]
) -> None:
    store, plan, _ = judged
    db = ("--db", str(store.database.path))
    assert call("study", "deal", plan.id, *db) == 0
    given = rate(store, plan)
    studied = load_study_data(store, plan)
    (found,) = anchoring(studied.with_prelabelled, JUDGE.id, studied.prelabelled)
    assert (found.shown.answers, found.hidden.answers) == (len(given[True]), len(given[False]))
    assert found.shown.same.value == 1.0
    alone = sum(value == "completed" for _, _, value in given[False]) / len(given[False])
    assert found.hidden.same.value == pytest.approx(alone)
    assert found.same.value == pytest.approx(1 - alone)
    assert found.same.low is not None
    assert 0 < found.same.low < 1 - alone
    assert found.shown.seconds.value == pytest.approx(2)
    assert found.hidden.seconds.value == pytest.approx(5)
    assert found.seconds.value == pytest.approx(-3)

    people = ratings_of(studied, "state")
    kept = {(unit, rater) for unit, rater, _ in given[False]}
    there = {
        (people.places[row].unit, people.raters[column])
        for row, column in zip(*people.is_given.nonzero(), strict=True)
    }  # fmt: skip
    assert there == kept
    assert people.missing.by_place() == {}
    (judge,) = judged_fields(studied, JUDGE.id)
    both = {unit for unit, _ in kept if {(unit, "R1"), (unit, "R2")} <= kept}
    assert judge.validation.confusion.counts.sum() <= len({unit for unit, _ in kept})
    assert judge.persons[0].agreement.value is not None
    assert len(both) > 3

    (section,) = sections(studied)
    assert section.title == "Answers of zjudge shown first"
    assert f"The {len(given[True]):,} answers that were given on" in section.says[1]
    (table,) = section.tables
    cells = [cell for row in table.rows for cell in row if isinstance(cell, Number)]
    assert [cell.agreement.places for cell in cells[:4]] == [len(given[True])] * 2 + [len(given[False])] * 2
    capsys.readouterr()
    assert call("report", plan.id, "--json", *db) == 0
    first = capsys.readouterr().out
    assert call("report", plan.id, "--json", *db) == 0
    assert capsys.readouterr().out == first
    assert any(one["title"] == "Answers of zjudge shown first" for one in json.loads(first)["sections"])


def test_how_far_one_is_apart_from_the_rest_leaves_out_what_was_given_with_the_judges_in_sight(
    judged: tuple[Store, Study, list[Unit]],
) -> None:
    store, plan, units = judged
    store.studies.deal(plan, deal(plan, units))
    given = rate(store, plan)
    own = {rater: {unit: value for unit, who, value in given[False] if who == rater} for rater in plan.raters}
    both = own["R1"].keys() & own["R2"].keys()
    apart = Share(sum(own["R1"][unit] != own["R2"][unit] for unit in both), len(both))
    read = ProgressReader(store).read(plan)
    assert {one.rater: one.apart for one in read.raters} == {"R1": apart, "R2": apart}
    assert 0 < len(both) < UNITS
    (judge,) = read.judges
    assert judge.apart.n <= len(own["R1"].keys() | own["R2"].keys()) < UNITS
