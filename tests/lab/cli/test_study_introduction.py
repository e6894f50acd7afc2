"""`study new --introduction` and `--practice`: what comes before the first item, and a run that counts nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.core.study.label import Act
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from store.copies.kit_export import make_kit
from store.store import Store
from tests.studied_runs import Call


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "lab.db"


def gold(tmp_path: Path, *runs: str) -> str:
    lines = [{"run": run, "field": "outcome", "value": "success", "reason": f"why {run}"} for run in runs]
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def test_a_new_study_has_the_whole_introduction_unless_it_says_otherwise(call: Call, db: Path) -> None:
    for name, words in (("a", []), ("b", ["--introduction", "skippable"]), ("c", ["--introduction", "none"])):
        code, out = call("new", "success", "--runs", "all", "--raters", "R1", "--name", name, *words)
        assert code == 0
        assert out["studies"][0]["introduction"] == (words[1] if words else "full")
    with Store.open(db) as store:
        assert [store.studies.study(name).introduction for name in "abc"] == ["full", "skippable", "none"]
    assert call("new", "success", "--runs", "all", "--raters", "R1", "--name", "c", "--introduction", "full")[1][
        "studies"
    ][0]["differs"] == ["introduction none -> full"]


def test_a_played_study_has_none(call: Call) -> None:
    out = call("new", "knowu-5c", "--tasks", "usual_lunch", "--raters", "P1,P2")[1]
    assert out["studies"][0]["introduction"] == "none"


def test_a_run_of_the_study_to_practise_on_is_dealt_to_nobody_and_in_each_kit(
    call: Call, db: Path, tmp_path: Path
) -> None:
    words = ["--gold", gold(tmp_path, "a1", "a2"), "--practice", "a1"]
    code, out = call("new", "success", "--runs", "all", "--raters", "R1,R2", "--overlap", "2", "--even-so", *words)
    assert code == 0
    (one,) = out["studies"]
    assert (one["practice"], one["pilot"]) == (1, 1)
    assert call("deal", "success")[0] == 0
    with Store.open(db) as store:
        study = store.studies.study("success")
        assert study.practice == "a1"
        dealt = {one.unit for one in store.studies.assignments(study)}
        assert dealt == {unit.id for unit in store.studies.units(study)} - {"a1"}
        assert [one.unit for one in store.studies.assignments(study, "R1", stage="pilot")] == ["a2"]
        make_kit(store, study, "R1", tmp_path / "R1.db")
    with Store.open(tmp_path / "R1.db") as kit:
        unit = kit.studies.unit(kit.studies.study("success"), "a1")
        assert unit.practice
        assert unit.gold[0].reason == "why a1"
        assert kit.runs.has_run("a1")
    shown = call("show", "success")[1]
    assert {one["id"]: one["stage"] for one in shown["units"]} | {"a1": "practice", "a2": "pilot"} == {
        one["id"]: one["stage"] for one in shown["units"]
    }
    told = call("new", "success", "--runs", "all", "--raters", "R1", "--even-so", "--name", "x", *words, as_json=False)[
        1
    ]
    assert "1 to practise on" in told


@pytest.mark.parametrize(
    ("practice", "why"),
    [
        ("zz", "field practice: zz is none of what is asked about"),
        ("b1", "field practice: nothing tells what is right in b1"),
        ("a", "field practice: a fits 2 of what is asked about"),
    ],
)
def test_a_practice_that_is_none_is_refused(call: Call, tmp_path: Path, practice: str, why: str) -> None:
    words = ["--gold", gold(tmp_path, "a1"), "--practice", practice]
    code, out = call("new", "success", "--runs", "all", "--raters", "R1", "--even-so", *words)
    assert code != 0
    assert why in str(out)


def test_a_protocol_of_one_s_own_is_refused_where_its_practice_cannot_be_made(call: Call, tmp_path: Path) -> None:
    from annotators.protocols import file_of

    mine = tmp_path / "mine.yaml"
    mine.write_text(file_of("success").read_text(encoding="utf-8").replace("task: evening", "task: evning"), "utf-8")
    code, out = call("new", str(mine), "--runs", "all", "--raters", "R1", "--even-so")
    assert code != 0
    words = ["new", "success", "--protocol", str(mine), "--runs", "all", "--raters", "R1", "--even-so"]
    code, out = call(*words)
    assert code != 0
    assert "did you mean evening" in str(out)
    assert call(*words, "--introduction", "none")[0] == 0


def test_who_passed_practice_is_told_beside_the_pilot_and_in_the_report(call: Call, db: Path) -> None:
    assert call("new", "success", "--runs", "all", "--raters", "R1,R2", "--even-so")[0] == 0
    assert call("deal", "success")[0] == 0
    with Store.open(db) as store:
        study = store.studies.study("success")
        for rater, right in (("R1", 1), ("R2", 0)):
            for kind, detail in (("guide_shown", {}), ("practice_done", {"right": right, "of": 1})):
                person = Actor("human", rater)
                store.labels.record_act(Act(uuid7(), study.id, study.version, person, kind, now(), detail=detail))  # type: ignore[arg-type]
    from lab.studies.progress.study_data import load_study_data

    with Store.open(db) as store:
        from annotators.introductions import introduction_lines

        data = load_study_data(store, store.studies.study("success"))
        lines = introduction_lines(data.acts)
        assert [(one.rater, one.passed, one.places) for one in lines] == [("R1", True, 1), ("R2", False, 1)]
        from annotators.report.sample_section import sections

        tables = {table.id: table for section in sections(data) for table in section.tables}
    table = tables["introductions"]
    assert [row[0] for row in table.rows] == ["R1", "R2"]
    assert [row[2] for row in table.rows] == ["1 of 1", "0 of 1"]
    assert "1 of 2 raters" in table.notes[0]
