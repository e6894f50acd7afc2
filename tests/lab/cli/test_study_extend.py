"""`hitlab study extend`: what is added, dealt and carried, what is refused, what is said of the version before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.cli.main import main
from lab.core.study.label import Act
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from store.store import Store
from tests.lab.cli.test_study_dealt import rate
from tests.studied_runs import Call, run


@pytest.fixture
def store(call: Call, tmp_path: Path) -> Store:
    """The file, with a study `s` of four runs by three people, two for each run, dealt."""
    words = ("--runs", "a1", "a2", "b1", "b2", "--raters", "a,b,c", "--name", "s", "--overlap", "2", "--pilot", "1")
    assert call("new", "success", *words)[0] == 0
    assert call("deal", "s")[0] == 0
    return Store.open(tmp_path / "lab.db")


def test_runs_are_added_dealt_by_the_same_rules_and_what_was_answered_counts(call: Call, store: Store) -> None:
    study = store.studies.study("s")
    (first, *_) = store.studies.assignments(study, "a")
    rate(store, study, first)
    before = {code: len(store.studies.assignments(study, code)) for code in "abc"}
    code, done = call("extend", "s", "--runs", "all")
    assert code == 0
    assert (done["version"], done["extends"], done["units"], done["new"], done["already"]) == (2, 1, 7, 3, 4)
    assert (done["labels"], done["carried"], sum(done["dealt"].values())) == (1, sum(before.values()), 6)
    assert [one["why"] for one in done["skipped"]] == ["not ended"]
    later = store.studies.study("s")
    assert later.sha == done["sha"]
    for rater in "abc":
        dealt = store.studies.assignments(later, rater)
        assert [one.stage for one in dealt[before[rater] :]] == ["main"] * done["dealt"][rater]
    new = {"c1", "d1", "d2"}
    assert all(len(store.studies.assignments(later, unit=unit)) == 2 for unit in new)
    assert store.studies.progress(later, "a").done == 1
    people = {one["rater"]: one for one in call("status", "s")[1]["raters"]}
    assert (people["a"]["done"], people["a"]["dealt"]) == (1, before["a"] + done["dealt"]["a"])
    assert call("deal", "s")[1]["new"] == 0
    assert call("show", "s")[1]["plan"]["extends"] == {"version": 1, "sha": study.sha}


def test_the_version_before_says_as_what_the_study_goes_on(call: Call, store: Store) -> None:
    call("extend", "s", "--runs", "all")
    for words in (
        ("open", "s@1", "--as", "a"), ("kit", "s@1", "--rater", "a", "--out", "a.db"), ("links", "s@1"),
        ("lock", "s@1", "--even-so"), ("replace", "s@1", "a", "--by", "d"), ("deal", "s@1"),
        ("extend", "s@1", "--runs", "all"),
    ):  # fmt: skip
        code, told = call(*words, as_json=False)
        assert code == 1, words
        assert "v2" in told, words
    assert call("status", "s@1")[1]["version"] == 1
    told = call("extend", "s", "--runs", "all", as_json=False)[1]
    assert "has all of these already; nothing was done" in told
    assert store.studies.versions("s") == [1, 2]


def test_what_is_told_names_what_is_new_carried_and_dealt(call: Call, store: Store) -> None:
    told = call("extend", "s", "--runs", "c1", "a1", as_json=False)[1]
    assert "s v2 extends v1: 1 run more, 5 in all; 1 named were in it already" in told
    assert "its links lead on, and its kits are taken back as before" in told
    assert "next: hitlab study rate s --person" in told
    assert "extends   v1" in call("show", "s", as_json=False)[1]


def test_a_study_that_is_not_dealt_is_extended_and_then_dealt_whole(call: Call) -> None:
    call("new", "success", "--runs", "a1", "a2", "--raters", "a,b", "--name", "t")
    done = call("extend", "t", "--runs", "c1")[1]
    assert (done["dealt"], done["carried"]) == ({}, 0)
    assert call("deal", "t")[1]["new"] == 6


def test_runs_without_screens_are_added_only_even_so(call: Call, store: Store) -> None:
    store.runs.add(run("blank", blank=3))
    code, told = call("extend", "s", "--runs", "blank", as_json=False)
    assert (code, "neither pictures nor words" in told) == (1, True)
    assert store.studies.versions("s") == [1]
    assert call("extend", "s", "--runs", "blank", "--even-so")[0] == 0


def test_a_study_that_is_played_takes_no_further_task(call: Call) -> None:
    assert call("new", "knowu-5c", "--tasks", "usual_lunch", "--raters", "a,b", "--name", "p")[0] == 0
    code, told = call("extend", "p", "--tasks", "way_home", as_json=False)
    assert code == 1
    assert "is played: order and conditions are balanced over all of its tasks" in told


def test_nothing_named_and_an_archived_study_are_refused(call: Call, store: Store) -> None:
    code, told = call("extend", "s", as_json=False)
    assert (code, "names nothing to add" in told) == (2, True)
    call("archive", "s")
    code, told = call("extend", "s", "--runs", "all", as_json=False)
    assert (code, "is archived" in told) == (1, True)


def test_a_locked_study_stays_locked_and_its_next_version_is_open(call: Call, store: Store) -> None:
    study = store.studies.study("s")
    store.labels.record_act(Act(uuid7(), "s", 1, Actor("human", "D1"), "locked", now()))
    assert call("extend", "s", "--runs", "c1")[0] == 0
    assert store.studies.locked(study)
    assert not store.studies.locked(store.studies.study("s"))


def test_a_late_kit_says_where_its_answers_count(
    call: Call, store: Store, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert call("kit", "s", "--rater", "a", "--out", str(tmp_path / "a.db"))[0] == 0
    call("extend", "s", "--runs", "c1")
    with Store.open(tmp_path / "a.db") as away:
        study = away.studies.study("s")
        rate(away, study, away.studies.assignments(study, "a")[0])
    code, taken = call("take", str(tmp_path / "a.db"))
    assert (code, taken["version"], taken["newest"], taken["labels"], taken["carried"]) == (0, 1, 2, 1, 1)
    assert store.studies.progress(store.studies.study("s"), "a").done == 1
    told = call("take", str(tmp_path / "a.db"), as_json=False)[1]
    assert "count in v2, as which the study goes on" in told
    assert main(["labels", "s", "--json"]) == 0
    labels = json.loads(capsysbinary.readouterr().out)["labels"]
    assert [one["rater"] for one in labels] == ["a"]
