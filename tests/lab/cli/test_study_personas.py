"""Studies of runs that name a person and do not hold them: KnowU-Bench's profiles, and what is told without."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from lab.cli.main import main
from lab.core.run.run_records import Imported, number_events
from lab.core.run.step import Action, Proposed, Question, Reply
from lab.core.run.trace import Answered, AnyEvent, Asked, Ended, Source, Started, Step
from lab.core.study.study import UnitText
from lab.core.task.task import Actor, Persona, Task
from store.store import Store
from tests.studied_runs import SCREEN

PROFILE = """\
user_profile:
  identity: {full_name: Mei Otto, age: 61}
  preferences: {likes: blue, shops: [Jingdian, "[red]Taodian[/red]"]}
"""
PERSONAL, PROACTIVE = "BuyCoffeePreferenceAskUserTask", "ContactSaverTask"


def asked(id: str, task: str, person: str, *, persona: Persona | None = None) -> Imported:
    """An imported run that failed, with one question and its reply."""
    proposed = Proposed(Action("ask_user", text="Which colour?"))
    question = Question("q0", "ask", "Which colour?")
    reply = Reply("q0", "Blue.", Actor("model", "u"))
    start = Started(
        trace=id,
        task=Task(task, "general", instruction="Do it.", persona=person),
        agent=Actor("model", "m"),
        persona=persona,
        source=Source("knowu", "there", "0" * 64, "m"),
    )
    events: list[AnyEvent] = [
        start,
        Asked(index=0, question=question, proposed=proposed),
        Answered(index=0, reply=reply),
        Step(index=0, before=SCREEN, proposed=proposed, question=question, reply=reply),
        Ended(status="completed", score=0.0),
    ]
    return Imported(number_events(events), {}, [])


RUNS = [
    asked("p1", PERSONAL, "mei"),
    asked("p2", PROACTIVE, "mei"),
    asked("p3", PERSONAL, "nobody"),
    asked("p4", PERSONAL, "own", persona=Persona("own", "Own", {"likes": "green"})),
    asked("p5", PERSONAL, "../mei"),
    asked("p6", "NobodyKnowsTask", "mei"),
]


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    monkeypatch.chdir(tmp_path)
    with Store.open(tmp_path / "lab.db") as store:
        store.runs.add_all(RUNS)
    return tmp_path / "lab.db"


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    """As KnowU-Bench keeps them: `user_profile` beside `user_logs`."""
    folder = tmp_path / "knowu bench" / "user_profile"
    folder.mkdir(parents=True)
    (folder / "mei.yaml").write_text(PROFILE)
    (folder.parent / "mei.yaml").write_text("not: a profile that a name with dots in it may reach")
    logs = folder.parent / "user_logs"
    logs.mkdir()
    for name, did in (("mei", "bought tea"), ("mei_noise_25pct", "read the news")):
        entry = {"time": "2026-01-01T08:10:00+08:00", "location": "home", "action": did, "label": "x", "category": "y"}
        (logs / f"{name}.json").write_text(json.dumps([entry]))
    return folder


def frozen(db: Path, capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, Any]:
    code = main(["study", "new", *args, "--raters", "a,b", "--db", str(db), "--json"])
    return code, json.loads(capsys.readouterr().out)


def given(db: Path, study: str) -> dict[str, dict[str, UnitText]]:
    with Store.open(db) as store:
        units = store.studies.units(store.studies.study(study))
        return {unit.runs[0]: {one.title: one for one in unit.given} for unit in units}


def test_a_folder_without_a_profile_freezes_nothing(
    db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    code, out = frozen(db, capsys, "knowu-5b", "--runs", "all", "--profiles", str(tmp_path / "empty"), "--name", "b")
    assert code == 1
    assert "holds no profile" in out["message"]


def test_profile_and_log_stand_beside_runs_that_only_name_a_person(
    db: Path, profiles: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = frozen(db, capsys, "knowu-5b", "--runs", "all", "--profiles", str(profiles), "--name", "b")
    assert code == 0
    assert [(one["study"], one["units"]) for one in out["studies"]] == [("b-personalized", 4), ("b-proactive", 1)]
    assert [(one["id"], one["why"]) for one in out["skipped"]] == [
        ("p6", "of a task whose kind nothing tells, and personalized and proactive ones are asked about")
    ]
    beside = given(db, "b-personalized")
    assert "Jingdian" in beside["p1"]["Profile"].text
    assert [line.split(") ")[-1] for line in beside["p1"]["Before"].items] == ["read the news"]
    assert "category" not in str(beside["p1"])
    assert beside["p3"] == beside["p4"] == beside["p5"] == {}, "unknown, told by the run itself, and a path"
    assert given(db, "b-proactive")["p2"].keys() == {"Profile", "Before"}
    personal = out["studies"][0]["told"]
    assert personal == [
        "2 of the runs have neither profile nor log to be shown beside them; they name ../mei, nobody"
        " (--profiles FOLDER has KnowU-Bench's)"
    ]
    assert out["studies"][1]["told"] == []


@pytest.mark.parametrize(("log", "did"), [("clean", ["bought tea"]), ("noise", ["read the news"]), ("none", None)])
def test_the_history_is_chosen(
    db: Path, profiles: Path, capsys: pytest.CaptureFixture[str], log: str, did: list[str] | None
) -> None:
    (profiles.parent / "mei.yaml").unlink()
    words = ("--runs", "p1", "--profiles", str(profiles.parent), "--log", log, "--name", "b")
    assert frozen(db, capsys, "failure-mode-knowu-personalized", *words)[0] == 0
    before = given(db, "b")["p1"].get("Before")
    assert (before and [line.split(") ")[-1] for line in before.items]) == did


def test_a_protocol_that_shows_nobody_is_given_nobody_unless_the_study_shows_them(
    db: Path, profiles: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("success", "--runs", "p1", "--profiles", str(profiles))
    assert frozen(db, capsys, *words, "--name", "hidden")[0] == 0
    assert given(db, "hidden")["p1"] == {}
    assert frozen(db, capsys, *words, "--name", "shown", "--show", "persona")[0] == 0
    assert given(db, "shown")["p1"].keys() == {"Profile"}


def test_replies_are_held_against_a_profile_from_the_folder(
    db: Path, profiles: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = frozen(db, capsys, "reply-support", "--runs", "p1", "p3", "--profiles", str(profiles), "--name", "r")
    assert (code, out["studies"][0]["units"]) == (0, 1)
    titles = ["Question", "Reply", "What was asked", "Profile"]
    assert list(given(db, "r")["p1"]) == titles
    code, out = frozen(db, capsys, "reply-support", "--runs", "p3", "--name", "r2")
    assert (code, "--profiles" in out["hint"]) == (1, True)


@pytest.mark.parametrize(("written", "words"), [
    (None, "is no folder"), ("user_profile: 7", "field user_profile"), ("{", "mei.yaml"), (PROFILE, "has no noise log"),
])  # fmt: skip
def test_a_folder_that_is_wrong_is_told_in_a_sentence(
    db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], written: str | None, words: str
) -> None:
    folder = tmp_path / "wrong"
    if written is not None:
        folder.mkdir()
        (folder / "mei.yaml").write_text(written)
    code, out = frozen(db, capsys, "knowu-5b", "--runs", "p1", "--profiles", str(folder))
    assert code == 1
    assert words in f"{out['error']}: {out['message']}"
    with Store.open(db) as store:
        assert store.studies.lines() == []


def test_a_plan_may_name_the_folder_beside_it(db: Path, profiles: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = profiles.parent / "mine.yaml"
    plan.write_text("preset: knowu-5b\nruns: [p1]\nprofiles: user_profile\nlog: clean\n")
    assert frozen(db, capsys, str(plan))[0] == 0
    assert given(db, "knowu-5b")["p1"].keys() == {"Profile", "Before"}


def test_a_folder_of_that_name_in_the_working_folder_is_no_persona(
    db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mei").mkdir()
    (tmp_path / "nobody").write_text("user_profile: {identity: {full_name: Wrong}}")
    code, _ = frozen(db, capsys, "knowu-5b", "--runs", "p1", "p3", "--name", "b")
    assert code == 0
    assert given(db, "b") == {"p1": {}, "p3": {}}


def test_what_comes_next_names_the_file_that_was_named(
    db: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    named = tmp_path / "my lab.db"
    db.rename(named)

    def next_of(*args: str, file: str | None = str(named)) -> list[str]:
        assert main(["study", *args, *(["--db", file] if file else [])]) == 0
        (line,) = [line for line in capsys.readouterr().out.splitlines() if "next: " in line]
        return shlex.split(line.partition("next: ")[2])

    tail = ["--db", str(named)]
    assert next_of("new", "success", "--runs", "all", "--raters", "a,b") == [
        "hitlab", "study", "deal", "success", *tail,
    ]  # fmt: skip
    assert next_of("deal", "success") == ["hitlab", "study", "rate", "success", "--person", "a", *tail]
    assert next_of("replace", "success", "a", "--by", "c")[-4:] == ["--person", "c", *tail]
    monkeypatch.setenv("HITLAB_DB", str(named))
    assert next_of("deal", "success", file=None) == ["hitlab", "study", "rate", "success", "--person", "a"]
