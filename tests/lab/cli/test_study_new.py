"""`hitlab study new`: what is frozen, what is left out and why, versions, and every refusal in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.core.settings import UNNAMED
from lab.core.task.design import Design, Revision, subject_of
from lab.core.task.task import Actor, Tdg, TdgNode
from lab.core.values.ids_and_clock import now, uuid7
from store.store import Store
from tests.studied_runs import BARE, SECRET, Call, run


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "lab.db"


def studies(db: Path) -> list[tuple[str, int]]:
    with Store.open(db) as store:
        return sorted((line.id, line.version) for line in store.studies.lines())


def test_a_preset_needs_no_file_and_says_what_was_frozen_and_what_comes_next(call: Call, db: Path) -> None:
    code, out = call("new", "pspa-e3", "--runs", "all", "--raters", "a,b,c")
    assert code == 0
    (one,) = out["studies"]
    assert (one["study"], one["version"], one["new"], one["protocol"], one["overlap"]) == ("pspa-e3", 1, True, "tdg", 3)
    assert (one["units"], one["pilot"], one["raters"]) == (5, 1, ["a", "b", "c"])
    assert one["told"] == ["pilot: 1 of 5, in proportion to 20 of 120"]
    assert {(left["id"], left["why"]) for left in out["skipped"]} == {
        ("d1", "its task has no graph"), ("d2", "its task has no graph"), ("e1", "not ended"),
    }  # fmt: skip
    with Store.open(db) as store:
        study = store.studies.study("pspa-e3")
        assert (study.sha, study.sample_sha) == (one["sha"], one["sample_sha"])
        assert study.by == Actor("human", UNNAMED)
        assert sum(len(unit.targets) for unit in store.studies.units(study)) == one["items"] > 5
        assert study.statistics[0] == "percent"
    code, text = call(
        "new", "pspa-e3", "--runs", "all", "--raters", "a,b", "--overlap", "2", "--name", "x", as_json=False
    )
    assert code == 0
    assert "next: hitlab study deal x" in text
    assert "left out  2: its task has no graph (d1, d2)" in text


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["a1", "b1"], {"a1", "b1"}),
        (["agent:glass", "score<1"], {"a2", "b1", "b2", "c1", "d2"}),
        (["task:lunch status:completed"], {"a1"}),
        (["kind:proactive"], {"c1"}),
        (["all"], {"a1", "a2", "b1", "b2", "c1", "d1", "d2"}),
    ],
)
def test_runs_are_ids_all_or_the_words_of_a_filter(call: Call, db: Path, words: list[str], ids: set[str]) -> None:
    assert call("new", "success", "--runs", *words, "--raters", "a")[0] == 0
    with Store.open(db) as store:
        assert {unit.runs[0] for unit in store.studies.units(store.studies.study("success"))} == ids


def test_the_same_again_does_nothing_and_anything_else_is_a_new_version(call: Call, db: Path) -> None:
    words = ("new", "success", "--runs", "all", "--raters", "a,b")
    first = call(*words)[1]["studies"][0]
    again = call(*words)[1]["studies"][0]
    assert (again["new"], again["version"], again["sha"]) == (False, 1, first["sha"])
    assert "nothing was done" in call(*words, as_json=False)[1]
    code, refused = call(*words, "--seed", "7")
    assert (code, refused["error"]) == (1, "study success")
    assert "--name success a new version" in refused["hint"]
    assert studies(db) == [("success", 1)]
    second = call(*words, "--seed", "7", "--name", "success")[1]["studies"][0]
    assert (second["new"], second["version"], second["differs"]) == (True, 2, ["seed 0 -> 7"])
    assert "differs   from v2: overlap 2 -> 1" in call(
        *words, "--seed", "7", "--name", "success", "--overlap", "1", as_json=False
    )[1]  # fmt: skip
    with Store.open(db) as store:
        assert store.studies.versions("success") == [1, 2, 3]
        assert store.studies.study("success", 1).sha == first["sha"]


def test_each_kind_of_task_that_has_failed_runs_is_a_study_of_its_own(call: Call, db: Path) -> None:
    code, out = call("new", "5b", "--runs", "all", "--raters", "a,b")
    assert code == 0
    assert [(one["study"], one["protocol"], one["units"]) for one in out["studies"]] == [
        ("knowu-5b-personalized", "failure-mode-knowu-personalized", 3),
        ("knowu-5b-proactive", "failure-mode-knowu-proactive", 1),
    ]
    why = {left["id"]: left["why"] for left in out["skipped"]}
    assert why["a1"] == "succeeded, and only failed runs are asked about"
    assert why["d1"] == "of a general task, and personalized and proactive ones are asked about"
    code, out = call("new", "knowu-5b", "--runs", "kind:proactive", "--raters", "a,b")
    assert [one["study"] for one in out["studies"]] == ["knowu-5b"]


def test_a_rule_answers_timeouts_and_nobody_is_asked(call: Call) -> None:
    (one,) = call("new", "memgui-failures", "--runs", "all", "--raters", "a,b")[1]["studies"]
    assert (one["units"], one["mechanical"]) == (5, 2)


def test_a_frozen_design_stands_in_place_of_the_tasks_own_graph(call: Call, db: Path) -> None:
    design = Design(tdg=Tdg((TdgNode("only", "The only node"),)))
    task, asked = subject_of(BARE)
    ids = [uuid7() for _ in range(3)]
    with Store.open(db) as store:
        for at, (act, code) in enumerate((("draft", "p1"), ("submit", "p1"), ("verify", "p2"))):
            before = (ids[at - 1],) if at else ()
            store.designs.append(
                Revision(ids[at], task, asked, 1, act, Actor("human", code), now(), design, supersedes=before)  # type: ignore[arg-type]
            )
    out = call("new", "tdg", "--runs", "task:bare", "--raters", "a")[1]
    assert (out["studies"][0]["units"], out["studies"][0]["items"]) == (2, 2)
    assert out["studies"][0]["told"] == ["2 of the runs by their tasks' frozen designs"]


def test_tasks_to_play_come_under_every_condition(call: Call, db: Path) -> None:
    code, out = call("new", "knowu-5c", "--tasks", "usual_lunch", "way_home", "--raters", "p1,p2")
    (one,) = out["studies"]
    assert (code, one["units"], one["unit"]) == (0, 4, "task to play")
    assert one["told"] == ["2 tasks, each played by: person, no mirror; model"]
    call("new", "knowu-5c", "--tasks", "usual_lunch", "--raters", "p1,p2", "--name", "seen", "--conditions", "person")
    assert "people see none" not in call("show", "seen", as_json=False)[1]
    with Store.open(db) as store:
        study = store.studies.study("knowu-5c")
        assert (study.quiz, set(study.consent)) == (5, {"en", "zh"})
        plays = [unit.play for unit in store.studies.units(study)]
        assert all(play is not None and play.persona is not None and play.persona.facts for play in plays)


def test_instruction_sets_come_from_lines_and_their_methods_stay_hidden(call: Call, db: Path, tmp_path: Path) -> None:
    line = {
        "id": "u1", "context": "Rosa, 61, retired", "A": {"instructions": ["Call Ann"], "method": SECRET},
        "B": {"instructions": ["Mute it"], "method": "base"},
    }  # fmt: skip
    (tmp_path / "sets.jsonl").write_text(json.dumps(line) + "\n")
    words = ("new", "pspa-d2", "--items", str(tmp_path / "sets.jsonl"), "--raters", "a,b,c")
    assert call(*words)[1]["studies"][0]["unit"] == "pair of instruction sets"
    code, shown = call("show", "pspa-d2")
    assert (code, shown["units"][0]["id"]) == (0, "u1")
    assert SECRET not in json.dumps(shown)
    assert SECRET not in call("show", "pspa-d2", as_json=False)[1]
    (tmp_path / "sets.jsonl").write_text(json.dumps({**line, "A": 7}) + "\n")
    code, refused = call(*words, "--name", "other")
    assert (code, "line 1" in refused["error"]) == (1, True)
    assert studies(db) == [("pspa-d2", 1)]


def test_gold_makes_calibration_runs_and_is_checked(call: Call, db: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    words = ("new", "success", "--runs", "all", "--raters", "a", "--gold", str(gold), "--bar", "0.8")
    gold.write_text('{"run": "a1", "field": "outcome", "value": "sucess", "reason": "It is on the table."}\n')
    code, refused = call(*words)
    assert (code, "gold.jsonl, line 1" in refused["error"]) == (1, True)
    assert studies(db) == []
    gold.write_text(json.dumps({"run": "a1", **_option("success"), "reason": "It is on the table."}) + "\n")
    (one,) = call(*words)[1]["studies"]
    assert (one["pilot"], one["units"]) == (1, 7)


def _option(name: str) -> dict[str, str]:
    from annotators.protocols import protocol

    field = next(field for field in protocol(name).fields if field.options)
    return {"field": field.id, "value": field.options[0].id}


def test_only_the_owner_rates_beside_their_own_way(call: Call, db: Path) -> None:
    with Store.open(db) as store:
        store.runs.add_all([run("own", "way_home", by=Actor("human", "u7"))])
    code, out = call("new", "fingertip-rating", "--runs", "task:way_home", "--raters", "u7")
    assert (code, out["studies"][0]["units"]) == (0, 2)
    with Store.open(db) as store:
        units = list(store.studies.units(store.studies.study("fingertip-rating")))
        assert {(unit.owner, unit.runs[1]) for unit in units} == {("u7", "own")}
    code, refused = call("new", "fingertip-rating", "--runs", "task:way_home", "--raters", "u8", "--name", "o")
    assert "its owner u7 is none of the raters" in refused["message"]


def test_only_demonstrations_are_proofread(call: Call, db: Path) -> None:
    with Store.open(db) as store:
        store.runs.add_all([run("own", "way_home", by=Actor("human", "u7"), steps=4)])
    code, out = call("new", "dac", "--runs", "all", "--raters", "a,b")
    (one,) = out["studies"]
    assert (code, one["units"], one["overlap"]) == (0, 1, 2)
    assert {left["why"] for left in out["skipped"]} == {"no demonstration", "not ended"}


def test_a_plan_file_holds_everything(call: Call, db: Path, tmp_path: Path) -> None:
    plan = tmp_path / "mine.yaml"
    plan.write_text(
        "protocol: success\ntitle: Did it work\nraters: [a, b]\nruns: [kind:personalized, score<1]\noverlap: 1\n"
        "blind: [people, raters]\nshows: [thoughts]\nseed: 3\n"
    )
    (one,) = call("new", str(plan))[1]["studies"]
    assert (one["study"], one["title"], one["units"], one["overlap"]) == ("mine", "Did it work", 3, 1)
    with Store.open(db) as store:
        assert {"thoughts", "method", "outcome"} <= set(store.studies.study("mine").visible_parts)
    plan.write_text(plan.read_text().replace("seed: 3", "seed: 4"))
    assert call("new", str(plan))[1]["studies"][0]["version"] == 2


def test_what_is_shown_besides_and_what_is_revealed_is_frozen(call: Call, db: Path) -> None:
    words = ("new", "success", "--runs", "a1", "--raters", "a")
    assert call(*words, "--show", "rubric", "--reveal", "method")[0] == 0
    with Store.open(db) as store:
        study = store.studies.study("success")
        assert {"rubric", "method"} <= set(study.visible_parts)
        assert "method" not in study.blind


def test_a_language_without_a_guide_is_told(call: Call) -> None:
    told = call("new", "success", "--runs", "a1", "--raters", "a", "--locale", "fr")[1]["studies"][0]["told"]
    assert told == ["locale: success has no guide in fr, so people read another"]
    assert call("new", "tdg", "--runs", "a1", "--raters", "a", "--locale", "zh")[1]["studies"][0]["told"] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["pspa-e9", "--runs", "all", "--raters", "a"], "'pspa-e9' is none of dac, fingertip-guess"),
        (["success", "--runs", "all"], "field raters: there is none"),
        (["success", "--runs", "all", "--raters", "ann@mail.org"], "'ann@mail.org' is no study code"),
        (["success", "--runs", "all", "--raters", "Ann Lee,b"], "'Ann Lee' is no study code"),
        (["success", "--runs", "all", "--raters", "a,a"], "--raters names a twice"),
        (["success", "--runs", "all", "--raters", "Anna,anna,ANNA "], "'anna' is 'Anna' but for capitals"),
        (["success", "--runs", "all", "--raters", "a,-"], "'-' is no study code"),
        (["success", "--runs", "all", "--raters", "a,__"], "'__' is no study code"),
        (["success", "--runs", "all", "--raters", "A\u200bnn,b"], "is no study code"),
        (["success", "--runs", "all", "--raters", "../a,b"], "'../a' is no study code"),
        (["success", "--runs", "all", "--raters", "b," + "a" * 5000], "is no study code"),
        (["success", "--raters", "a"], "field runs: there is none"),
        (["success", "--runs", "zz", "--raters", "a"], "run zz: is not in"),
        (["success", "--runs", "a1", "score<1", "--raters", "a"], "names runs and a filter"),
        (["success", "--runs", "a1", "all", "--raters", "a"], "names runs and a filter"),
        (["success", "--runs", "agnt:x", "--raters", "a"], "there is no field 'agnt'"),
        (["success", "--runs", "agent:nobody", "--raters", "a"], "has nothing to ask"),
        (["success", "--runs", "e1", "--raters", "a"], "has nothing to ask (1 left out: not ended)"),
        (
            ["success", "--runs", "all", "--raters", "a", "--overlap", "2"],
            "overlap: 2 is not from 1 to 1, the number of raters",
        ),
        (["pspa-e3", "--runs", "all", "--raters", "a,b"], "overlap: 3 is not from 1 to 2, the number of raters"),
        (["success", "--runs", "all", "--raters", "a", "--pilot", "7"], "7 of 7 leaves nothing to rate"),
        (["success", "--runs", "all", "--raters", "a", "--show", "everything"], "field shows"),
        (["success", "--runs", "all", "--raters", "a", "--reveal", "all"], "--reveal 'all' is none of people"),
        (["success", "--runs", "all", "--raters", "a", "--name", "a/b"], "field name: 'a/b' is no study code"),
        (["success", "--runs", "all", "--raters", "a", "--protocol", "nope"], "protocol 'nope': there is none"),
        (["success", "--runs", "all", "--raters", "a", "--gold", "no.jsonl"], "gold file no.jsonl: is not there"),
        (["success", "--runs", "all", "--raters", "a", "--consent", "no.txt"], "consent file no.txt: is not there"),
        (["nope.yaml"], "plan file nope.yaml: is not there"),
        (["knowu-5c", "--raters", "a,b"], "field tasks: there is none to play"),
        (["knowu-5c", "--tasks", "nope", "--raters", "a,b"], "nope"),
        (["knowu-5c", "--tasks", "usual_lunch", "--raters", "a,b", "--conditions", "dog"], "'dog' is none of person"),
        (["pspa-d2", "--raters", "a,b,c", "--runs", "all"], "field items: pairwise-sets is asked of"),
        (["dac", "--runs", "all", "--raters", "a,b"], "no demonstration"),
        (["disagreement-cause", "--earlier", "nope", "--raters", "a"], "study nope: is not in"),
    ],
)
def test_every_wrong_word_is_one_sentence_and_nothing_is_written(
    call: Call, db: Path, words: list[str], said: str
) -> None:
    code, text = call("new", *words, as_json=False)
    assert code in (1, 2)
    assert said in text
    assert len(text.strip().splitlines()) == 1 + ("--help` says what it takes." in text)
    assert text.startswith("hitlab")
    assert studies(db) == []


def test_who_withdrew_is_in_no_new_study(call: Call, db: Path) -> None:
    with Store.open(db) as store, store.database.writing() as rows:
        rows.execute("INSERT INTO withdrawal VALUES ('b', '2026-01-01', '{}')")
    code, refused = call("new", "success", "--runs", "all", "--raters", "a,b")
    assert (code, refused["message"]) == (1, "field raters: b has withdrawn.")
    assert studies(db) == []


@pytest.mark.parametrize("seat", ["participant", "rater"])
def test_who_rates_plans_no_study(call: Call, seat: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HITLAB_SEAT", seat)
    for words in (("new", "success", "--runs", "all", "--raters", "a"), ("deal", "x"), ("status",), ("show", "x")):
        code, text = call(*words, as_json=False)
        assert code == 1
        assert f"is not there for the seat {seat}" in text


def test_a_strangers_text_is_plain(call: Call, db: Path, tmp_path: Path) -> None:
    plan = tmp_path / "mine.yaml"
    plan.write_text('protocol: success\nraters: [a]\nruns: [all]\ntitle: "\\e[31m[b]red"\n')
    assert call("new", str(plan))[0] == 0
    for words in (("show", "mine"), ("status",)):
        text = call(*words, as_json=False)[1]
        assert "\x1b" not in text
        assert "[b]red" in text


@pytest.mark.parametrize(
    ("blank", "note"),
    [
        (3, "1 of the runs has neither pictures nor words of any screen; raters see actions alone"),
        (1, "1 of the runs lacks some screens, as pictures and as words"),
        (0, None),
    ],
)
def test_runs_whose_screens_were_not_recorded_are_counted_where_screens_are_shown(
    call: Call, db: Path, blank: int, note: str | None
) -> None:
    with Store.open(db) as store:
        store.runs.add(run("blank", "usual_lunch", blank=blank))
    words = ("new", "success", "--runs", "a1", "blank", "--raters", "a,b")
    told = call(*words, *(["--even-so"] if blank == 3 else []))[1]["studies"][0]["told"]
    assert told == ([note] if note else [])


def test_runs_of_which_nobody_would_see_a_screen_are_frozen_only_where_that_is_said(call: Call, db: Path) -> None:
    with Store.open(db) as store:
        store.runs.add(run("blank", "usual_lunch", blank=3))
    words = ("new", "success", "--runs", "a1", "blank", "--raters", "a,b")
    code, refused = call(*words)
    assert code == 1
    assert "1 run has neither pictures nor words of any screen" in refused["message"]
    assert "--force" in refused["hint"]
    assert call("status")[1] == [] or not call("status")[1]["studies"]
    assert call(*words, "--even-so")[0] == 0
    assert call(*words)[0] == 0, "what is frozen as exactly this is not asked for again"


def test_the_texts_that_are_to_be_judged_stand_in_the_plan_that_a_judge_reads(call: Call, tmp_path: Path) -> None:
    items = tmp_path / "guesses.jsonl"
    pair = {"A": "Order milk tea", "B": "Order a drink"}
    items.write_text(json.dumps({"user": "u7", **pair}) + "\n")
    assert call("new", "same-intent", "--items", str(items), "--raters", "a,b")[0] == 0
    (unit,) = call("show", "same-intent")[1]["units"]
    assert [(one["side"], one["text"]) for one in unit["given"]] == [("A", "Order milk tea"), ("B", "Order a drink")]


def test_a_played_study_says_to_how_many_people_a_task_goes(call: Call) -> None:
    words = ("--raters", "P1,P2", "--name", "teas")
    code, text = call(
        "new", "play", "--tasks", "usual_lunch", "way_home", "--conditions", "person", "script", *words, as_json=False
    )
    goes_to = "by        P1, P2; each task by 2 of them, by a person once, under one of the conditions that people play"
    assert (code, goes_to in text) == (0, True)
    code, text = call("show", "teas", as_json=False)
    assert (code, goes_to in text) == (0, True)


@pytest.mark.parametrize(
    ("protocol", "planned"),
    [
        ("success", ("percent", "ac1", "alpha nominal")),
        ("completion-rating", ("alpha interval", "mae")),
        ("rubric", ("alpha interval", "mae")),
        ("intent-guess", ()),
    ],
)
def test_a_study_whose_plan_names_no_statistics_plans_those_of_its_kinds_of_questions(
    call: Call, db: Path, protocol: str, planned: tuple[str, ...]
) -> None:
    assert call("new", protocol, "--runs", "all", "--raters", "a,b", "--even-so")[0] == 0
    with Store.open(db) as store:
        assert set(store.studies.study(protocol).statistics) >= set(planned)
        assert bool(store.studies.study(protocol).statistics) is bool(planned)
        assert "alpha nominal" in planned or "alpha nominal" not in store.studies.study(protocol).statistics
