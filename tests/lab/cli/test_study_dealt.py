"""Studies that go on: dealt, followed, opened, a rater replaced or released, and closed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lab.cli.main import main
from lab.core.errors import LabError
from lab.core.settings import UNNAMED
from lab.core.study.label import Act, ActKind, Label
from lab.core.study.rating_sheet import Sheet, answer_to
from lab.core.study.study import Assignment, Study
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.progress.study_progress import ProgressReader
from store.store import Store
from tests.studied_runs import Call, run


@pytest.fixture
def store(call: Call, tmp_path: Path) -> Store:
    """The file, with a study `s` of seven runs by three people, two for each run, not dealt yet."""
    words = ("--runs", "all", "--raters", "a,b,c", "--name", "s", "--overlap", "2", "--repeats", "0.2", "--pilot", "1")
    assert call("new", "success", *words)[0] == 0
    return Store.open(tmp_path / "lab.db")


def signed(study: Study, one: Assignment, value: object = None, **more: Any) -> Label:
    field = next(field for field in study.protocol.fields if field.options)
    said = value or field.options[0].id
    person = Actor("human", one.rater)
    return Label(uuid7(), study.id, 1, one.unit, "", field.id, person, said, one.run, at=now(), **more)


def rate(store: Store, study: Study, one: Assignment, *, commit: bool = True, **said: Any) -> None:
    """Answers one unit as its rater, and hands it in."""
    unit = store.studies.unit(study, one.unit)

    def say(sheet: Sheet) -> Label | None:
        return answer_to(sheet, signed(study, one, **said))

    act(store, study, one.rater, "opened", one.unit, one.run)
    store.labels.record_each(study, unit, Actor("human", one.rater), one.run, [say])
    if commit:
        act(store, study, one.rater, "commit", one.unit, one.run)


def act(store: Store, study: Study, code: str, kind: ActKind, unit: str = "", run: int = 1, **detail: Any) -> None:
    store.labels.record_act(Act(uuid7(), study.id, study.version, Actor("human", code), kind, now(), unit, run, detail))


def test_a_study_made_by_mistake_is_archived_and_comes_back_whole(call: Call, store: Store) -> None:
    call("deal", "s")
    study = store.studies.study("s")
    rate(store, study, store.studies.assignments(study, "a")[0])
    for _ in range(2):
        assert call("archive", "s")[1] == {"study": "s", "version": 1, "archived": True}
    assert call("status")[1] == []
    assert "1 archived; `hitlab study status --archived`" in call("status", as_json=False)[1]
    assert [(line["id"], line["archived"]) for line in call("status", "--all")[1]] == [("s", True)]
    assert not store.studies.is_active_rater("a"), "who rates in nothing else has the whole program again"
    code, refused = call("open", "s", "--as", "a", as_json=False)
    assert code == 1
    assert "study s v1: is archived." in refused
    assert call("restore", "s")[1]["archived"] is False
    (line,) = call("status")[1]
    assert (line["done"], line["archived"]) == (1, False)
    assert store.studies.is_active_rater("a")
    assert [one.act for one in store.labels.acts(study) if one.act in ("archived", "restored")] == [
        "archived",
        "restored",
    ]


def test_dealing_again_deals_nothing(call: Call, store: Store) -> None:
    code, out = call("deal", "s")
    assert (code, out["new"], out["nobodys"]) == (0, sum(map(total, out["raters"])), 0)
    assert [(one["rater"], one["pilot"], one["main"], one["repeat"]) for one in out["raters"]] == [
        (code, 1, 4, 1) for code in "abc"
    ]
    before = store.studies.assignments(store.studies.study("s"))
    assert all(one.at for one in before)
    assert call("deal", "s")[1]["new"] == 0
    assert store.studies.assignments(store.studies.study("s")) == before
    assert "nothing was done" in call("deal", "s", as_json=False)[1]


def total(one: dict[str, int]) -> int:
    return one["pilot"] + one["main"] + one["repeat"]


def test_what_a_rule_answers_is_a_scripts_label_written_once(call: Call, store: Store) -> None:
    call("new", "memgui-failures", "--runs", "all", "--raters", "a,b")
    out = call("deal", "memgui-failures")[1]
    assert (out["nobodys"], out["rule_labels"]) == (2, 2)
    assert call("deal", "memgui-failures")[1]["rule_labels"] == 0
    labels = list(store.labels.read(store.studies.study("memgui-failures")))
    assert {(label.rater, label.value, label.source) for label in labels} == {
        (Actor("script", "rule"), "execution_timeout", "rule")
    }
    assert sorted(label.unit for label in labels) == ["b2", "d2"]
    assert all(label.note and label.protocol_sha and label.guide_sha for label in labels)


def test_plays_by_models_go_to_nobody_and_each_person_plays_each_task_once(call: Call, store: Store) -> None:
    call("new", "knowu-5c", "--tasks", "usual_lunch", "way_home", "train_home", "--raters", "p,q")
    out = call("deal", "knowu-5c")[1]
    assert (out["new"], out["nobodys"]) == (6, 3)
    mine = store.studies.assignments(store.studies.study("knowu-5c"), "p")
    assert sorted(one.unit for one in mine) == [
        f"{task}.person-no-mirror" for task in ("train_home", "usual_lunch", "way_home")
    ]
    assert {one.condition for one in mine} == {"person, no mirror"}


def test_status_tells_how_far_everybody_is_and_never_what_they_said(call: Call, store: Store) -> None:
    call("deal", "s")
    study = store.studies.study("s")
    first, second = store.studies.assignments(study, "a")[:2]
    rate(store, study, first, value="failure", note="zebra")
    rate(store, study, second, commit=False, value="failure")
    act(store, study, "b", "held", share=0.5)
    act(store, study, "c", "consent", sha="x")
    code, out = call("status", "s")
    a, b, c = out["raters"]
    assert (code, out["locked"]) == (0, False)
    assert (a["dealt"], a["done"], a["begun"], a["held"]) == (6, 1, 2, False)
    assert a["seconds"] is not None
    assert (b["held"], b["seconds"], b["consent"]) == (True, None, None)
    assert c["consent"] is not None
    assert [label.value for label in store.labels.read(study)] == ["failure", "failure"]
    for words in (("status", "s"), ("status",)):
        told = call(*words, as_json=False)[1] + json.dumps(call(*words)[1])
        assert "failure" not in told
        assert "zebra" not in told
    listed = call("status")[1]
    assert [(line["id"], line["done"], line["dealt"]) for line in listed] == [("s", 1, 18)]


def test_open_names_what_keeps_somebody_out(call: Call, store: Store) -> None:
    def call_open(*words: str, expected: int = 1) -> str:
        code, text = call("open", *words, as_json=False)
        assert code == expected
        assert len(text.splitlines()) == 1
        return str(text)

    assert "nothing is dealt to a yet" in call_open("s", "--as", "a")
    call("deal", "s")
    assert "there is no terminal here. `hitlab labels add` takes answers" in call_open("s", "--as", "a", expected=2)
    unknown = call_open("s", "--as", "z")
    assert "z is none of its people" in unknown
    assert "a, b" not in unknown, "raters do not learn who the others are"
    assert "is not in" in call_open("nope", "--as", "a")
    code, refused = call("open", "s", "--as", "Ann Lee", as_json=False)
    assert (code, "'Ann Lee' is no study code" in refused) == (2, True)
    assert "s v9: is not in" in call_open("s@9", "--as", "a")
    call("lock", "s", "--even-so")
    assert "is locked" in call_open("s", "--as", "a")


def test_a_participant_opens_no_rating_study(call: Call, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    call("deal", "s")
    monkeypatch.setenv("HITLAB_SEAT", "participant")
    assert "not there for the seat participant" in call("open", "s", "--as", "a", as_json=False)[1]


def test_a_study_is_locked_once_all_is_done_and_then_nothing_changes(call: Call, store: Store) -> None:
    assert "is not dealt yet" in call("lock", "s")[1]["message"]
    call("deal", "s")
    study = store.studies.study("s")
    every = store.studies.assignments(study)
    for one in every[:-1]:
        rate(store, study, one)
    code, refused = call("lock", "s")
    assert (code, refused["message"]) == (1, "is not done: c 1 left.")
    assert not store.studies.locked(study)
    rate(store, study, every[-1])
    assert call("lock", "s") == (0, {"study": "s", "version": 1, "left": 0})
    unit = store.studies.unit(study, every[0].unit)
    with pytest.raises(LabError, match="locked"):
        store.labels.record(study, unit, signed(study, every[0], supersedes=None))
    for words in (("lock", "s"), ("deal", "s"), ("replace", "s", "a", "--by", "d"), ("release", "s", "a")):
        code, refused = call(*words)
        assert (code, refused["message"]) == (1, "is locked; nothing in it changes any more.")
    assert call("status", "s")[1]["locked"] is True
    (act,) = [act for act in store.labels.acts(study) if act.act == "locked"]
    assert act.rater == Actor("human", UNNAMED)


def test_a_study_is_locked_although_somebody_has_something_left_where_that_is_said(call: Call, store: Store) -> None:
    call("deal", "s")
    assert call("lock", "s", "--even-so")[1]["left"] == 18
    (act,) = [act for act in store.labels.acts(store.studies.study("s")) if act.act == "locked"]
    assert act.detail == {"left": {"a": 6, "b": 6, "c": 6}}


def test_a_rater_who_leaves_is_replaced_and_what_they_handed_in_stays(call: Call, store: Store) -> None:
    call("deal", "s")
    study = store.studies.study("s")
    theirs = store.studies.assignments(study, "b")
    for one in theirs[:3]:
        rate(store, study, one)
    handed = {one.unit for one in theirs[:3]}
    code, out = call("replace", "s", "b", "--by", "d")
    assert (code, out["stays"]) == (0, 3)
    fresh = store.studies.assignments(study, "d")
    assert out["dealt"] == len(fresh)
    assert [one.unit for one in fresh if one.stage == "pilot"] == [theirs[0].unit]
    assert [one.unit for one in fresh if one.stage == "main"] == [
        one.unit for one in theirs[3:] if one.stage == "main" and one.unit not in handed
    ]
    assert all(one.run == 2 for one in fresh if one.stage == "repeat")
    assert store.studies.assignments(study, "b") == theirs
    assert len(list(store.labels.read(study, rater="b"))) == 3
    with pytest.raises(LabError, match="b has left the study"):
        rate(store, study, theirs[3])
    rate(store, study, fresh[0])
    people = {one["rater"]: one for one in call("status", "s")[1]["raters"]}
    assert (list(people), people["b"]["left"], people["d"]["done"]) == (["a", "b", "c", "d"], True, 1)
    assert "b has left it" in call("open", "s", "--as", "b", as_json=False)[1]
    assert "no terminal" in call("open", "s", "--as", "d", as_json=False)[1]
    for words, said in (
        (("b", "--by", "d"), "b has left it already"),
        (("a", "--by", "b"), "b has left it."),
        (("a", "--by", "a"), "cannot take their own place"),
        (("z", "--by", "e"), "z is none of its people"),
    ):
        code, refused = call("replace", "s", *words)
        assert (code, said in refused["message"]) == (1, True), refused
    acts = [(act.act, act.rater.id, act.detail) for act in store.labels.acts(study) if act.act in ("left", "replaced")]
    assert acts == [("replaced", "d", {"for": "b", "by": UNNAMED}), ("left", "b", {"for": "d", "by": UNNAMED})]
    for one in [one for who in "acd" for one in store.studies.assignments(study, who)]:
        if (one.unit, one.run) not in {(act.unit, act.run) for act in store.labels.acts(study, one.rater)}:
            rate(store, study, one)
    line, total = store.studies.line("s"), ProgressReader(store).read(study).total
    assert (line.done, line.dealt) == (total.done, total.dealt), "what is left of one is dealt to another, and once"
    assert (total.done, total.left) == (total.dealt, 0)
    assert call("lock", "s")[0] == 0, "who left has nothing left to do"


def test_another_rater_of_the_study_may_take_over_but_rates_nothing_twice(call: Call, store: Store) -> None:
    call("deal", "s")
    study = store.studies.study("s")
    had = {one.unit for one in store.studies.assignments(study, "a")}
    call("replace", "s", "b", "--by", "a")
    mine = store.studies.assignments(study, "a")
    assert len({(one.unit, one.run) for one in mine}) == len(mine)
    assert [one.position for one in mine] == list(range(len(mine)))
    assert {one.unit for one in mine} == had | {one.unit for one in store.studies.assignments(study, "b")}


def test_a_kit_of_who_has_rated_says_what_is_in_it_and_nothing_to_rate(
    call: Call, store: Store, tmp_path: Path
) -> None:
    call("deal", "s")
    study = store.studies.study("s")
    for one in store.studies.assignments(study, "a"):
        rate(store, study, one)
    code, told = call("kit", "s", "--rater", "a", "--out", str(tmp_path / "a.db"), as_json=False)
    assert code == 0
    assert "5 items, 5 runs, 6 answers so far" in told
    assert "to rate" not in told


def test_an_interrupted_play_goes_to_who_replaces(call: Call, store: Store) -> None:
    call("new", "knowu-5c", "--tasks", "usual_lunch", "way_home", "--raters", "p,q")
    call("deal", "knowu-5c")
    study = store.studies.study("knowu-5c")
    one = store.studies.assignments(study, "p")[0]
    act(store, study, "p", "commit", one.unit, interrupted="t1")
    out = call("replace", "knowu-5c", "p", "--by", "r")[1]
    assert (out["stays"], out["dealt"]) == (0, 2)


def test_a_held_rater_is_released(call: Call, store: Store) -> None:
    call("deal", "s")
    study = store.studies.study("s")
    assert "a is not held" in call("release", "s", "a")[1]["message"]
    act(store, study, "a", "held")
    assert store.studies.is_held(study, "a")
    assert call("release", "s", "a") == (0, {"study": "s", "version": 1, "rater": "a"})
    assert not store.studies.is_held(study, "a")


def test_who_withdrew_is_dealt_nothing_and_may_be_replaced(call: Call, store: Store) -> None:
    with store.database.writing() as rows:
        rows.execute("INSERT INTO withdrawal VALUES ('b', '2026-01-01', '{}')")
    out = call("deal", "s")[1]
    assert (out["withdrawn"], [one["rater"] for one in out["raters"]]) == (["b"], ["a", "c"])
    assert "b has withdrawn" in call("open", "s", "--as", "b", as_json=False)[1]
    out = call("replace", "s", "b", "--by", "d")[1]
    assert (out["stays"], out["dealt"]) == (0, 6)
    assert "b has withdrawn" in call("replace", "s", "a", "--by", "b")[1]["message"]
    assert [one["withdrawn"] for one in call("status", "s")[1]["raters"]] == [False, True, False, False]


def test_where_raters_differ_the_cause_is_a_study_of_its_own(call: Call, store: Store) -> None:
    call("deal", "s")
    study = store.studies.study("s")
    both: dict[str, list[Assignment]] = {}
    for one in store.studies.assignments(study):
        if one.run == 1:
            both.setdefault(one.unit, []).append(one)
    differ, agree, *_ = sorted(both)
    for unit, values in ((differ, ("success", "failure")), (agree, ("failure", "failure"))):
        for one, value in zip(both[unit], values, strict=False):
            rate(store, study, one, value=value)
    code, out = call("new", "disagreement-cause", "--earlier", "s", "--raters", "x,y")
    assert (code, out["studies"][0]["units"], out["studies"][0]["items"]) == (0, 1, 1)
    assert [one.runs for one in store.studies.units(store.studies.study("disagreement-cause"))] == [(differ,)]


def test_an_older_version_is_named(call: Call, store: Store) -> None:
    with Store.open(store.path) as other:
        other.runs.add_all([run("f1")])
    call("new", "success", "--runs", "all", "--raters", "a,b,c", "--name", "s")
    assert call("status", "s")[1]["version"] == 2
    assert call("status", "s@1")[1]["version"] == 1
    assert call("deal", "s@v1")[1]["version"] == 1
    code, refused = call("status", "s@x")
    assert (code, refused["message"]) == (2, "version 'x' is no number")


def test_show_tells_the_plan(call: Call, store: Store) -> None:
    out = call("show", "s")[1]
    assert (out["plan"]["id"], out["plan"]["raters"], len(out["units"])) == ("s", ["a", "b", "c"], 7)
    assert sorted(one["stage"] for one in out["units"]).count("pilot") == 1
    text = call("show", "s", as_json=False)[1]
    assert out["sha"] in text
    assert out["guide_sha"][:12] in text


def test_without_studies_the_next_step_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    Store.open(tmp_path / "empty.db").close()
    assert main(["study", "status", "--db", str(tmp_path / "empty.db")]) == 0
    assert "no studies; `hitlab study new PRESET" in capsys.readouterr().out
