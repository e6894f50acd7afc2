"""Kits of studies that are played: runs that were made in a kit come back with their pictures, once they are over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lab.cli.main import main
from lab.core.errors import LabError
from lab.core.run.run_records import Blob
from lab.core.run.step import Action, Observation, Proposed
from lab.core.run.trace import Ended, Started, Step
from lab.core.study.label import Act
from lab.core.study.protocol import Field, Protocol
from lab.core.study.rating_sheet import FieldReference
from lab.core.study.study import Assignment, Gold, Play, Study, Unit
from lab.core.task.task import Actor, Branch, Criterion, GoldenStep, InformationUnit, Rubric, Task, Tdg, TdgNode
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.rating.rating_session import RatingSession
from store.copies.kit_export import make_kit
from store.copies.kit_import import import_kit
from store.store import Store
from tests.studies import R1, R2, study, unit

EASE = Field("ease", "How easy was it?", "interval", per="unit", least=1, most=7, step=1)
PLAY = Protocol("play", "Play", "task to play", (EASE,))
TASK = Task("lunch", "general", instruction="Order lunch.")
UNITS = [Unit("p1", play=Play(TASK)), Unit("p2", play=Play(TASK, mirror=False))]
SCREEN = Blob(b"\x89PNG a screen", "image/png")


@pytest.fixture
def plan(store: Store) -> Study:
    plan = study(UNITS, PLAY)
    store.studies.freeze(plan, UNITS)
    dealt = [Assignment("trial", 1, rater, i, one.id) for rater in ("R1", "R2") for i, one in enumerate(UNITS)]
    store.studies.deal(plan, dealt)
    return store.studies.study("trial")


@pytest.fixture
def kit(store: Store, plan: Study, tmp_path: Path) -> Path:
    make_kit(store, plan, "R1", tmp_path / "R1.db")
    return tmp_path / "R1.db"


def did(plan: Study, kind: Any, of: str, detail: dict[str, Any], run: int = 1) -> Act:
    return Act(uuid7(), plan.id, plan.version, R1, kind, now(), of, run, detail)


def play(path: Path, plan: Study, of: str = "p1", *, over: bool = True, user: Actor = R1) -> str:
    """Plays a unit as far as to its end, and answers what is asked after it."""
    run = uuid7()
    with Store.open(path) as store:
        store.labels.record_act(did(plan, "played", of, {"run": run, "status": "open"}))
        store.runs.append_event(run, Started(trace=run, task=TASK, agent=Actor("script", "rule"), user=user, seq=0))
        seen = Observation(SCREEN.sha256, (10, 10))
        step = Step(index=0, proposed=Proposed(Action("wait")), before=seen, seq=1)
        store.runs.append_event(run, step, {SCREEN.sha256: SCREEN})
    return finish(path, plan, run, of) if over else run


def finish(path: Path, plan: Study, run: str, of: str = "p1") -> str:
    with Store.open(path) as store:
        store.runs.append_event(run, Ended(status="completed", score=1.0, seq=2))
        store.labels.record_act(did(plan, "played", of, {"run": run, "status": "completed"}))
        desk = RatingSession(store, plan, R1)
        at = next(one for one in store.studies.assignments(plan, "R1") if one.unit == of)
        desk.open(at)
        desk.answer(FieldReference("", "ease"), 6)
        desk.commit()
    return run


def test_a_run_that_was_played_in_a_kit_comes_back_whole(store: Store, plan: Study, kit: Path) -> None:
    run = play(kit, plan)
    taken = import_kit(store, kit)
    assert (taken.runs, taken.labels, taken.acts) == (1, 1, 4)
    with Store.open(kit, readonly=True) as other:
        assert list(store.runs.events(run)) == list(other.runs.events(run))
    assert store.runs.blob(SCREEN.sha256) == SCREEN
    assert store.studies.progress(plan, "R1").done == 1
    again = import_kit(store, kit)
    assert (again.runs, again.labels, again.acts) == (0, 0, 0)
    assert store.check() == []


def test_what_a_task_is_rated_by_is_in_no_kit_and_in_the_run_that_comes_back(store: Store, tmp_path: Path) -> None:
    graph = Tdg((TdgNode("pay", "zqgraph"),))
    design: dict[str, Any] = {"tdg": graph, "golden": (GoldenStep("zqgolden"),), "golden_steps": 7, "rule_weight": 0.5}
    design |= {"units": (InformationUnit("u", "zqunit"),), "branches": (Branch("b", "zqbranch"),)}
    task = replace(TASK, **design, rubric=Rubric((Criterion("c", "zqrubric"),)))
    plan = study([unit := Unit("p1", play=Play(task))], PLAY)
    store.studies.freeze(plan, [unit])
    store.studies.deal(plan, [Assignment("trial", 1, "R1", 0, "p1")])
    make_kit(store, plan, "R1", tmp_path / "R1.db")
    assert b"zq" not in (tmp_path / "R1.db").read_bytes()
    run = play(tmp_path / "R1.db", store.studies.study("trial"))
    assert [import_kit(store, tmp_path / "R1.db").runs for _ in "12"] == [1, 0]
    assert store.runs.trace(run).task == task


def test_a_run_that_goes_on_comes_when_it_is_over(store: Store, plan: Study, kit: Path) -> None:
    run = play(kit, plan, over=False)
    assert (import_kit(store, kit).runs, store.runs.has_run(run), store.labels.acts(plan, "R1")) == (0, False, [])
    finish(kit, plan, run)
    assert (import_kit(store, kit).runs, store.runs.has_run(run)) == (1, True)
    assert [act.act for act in store.labels.acts(plan, "R1")].count("played") == 2


def test_a_play_that_was_dealt_again_is_dealt_here_too(store: Store, plan: Study, kit: Path) -> None:
    with Store.open(kit) as other:
        other.labels.record_act(did(plan, "interrupted", "p1", {"run": "gone"}))
        other.studies.deal(plan, [Assignment("trial", 1, "R1", 2, "p1", run=2)])
        other.labels.record_act(did(plan, "commit", "p1", {"interrupted": "gone"}))
    store.studies.deal(plan, [Assignment("trial", 1, "R1", 2, "p2", run=2)])  # meanwhile its place was taken here
    assert import_kit(store, kit).repeated_plays == 1
    assert [(one.position, one.unit, one.run) for one in store.studies.assignments(plan, "R1")] == [
        (0, "p1", 1), (1, "p2", 1), (2, "p2", 2), (3, "p1", 2),
    ]  # fmt: skip
    assert import_kit(store, kit).repeated_plays == 0
    assert store.check() == []


def test_a_run_with_another_user_is_refused(store: Store, plan: Study, kit: Path) -> None:
    play(kit, plan, user=R2)
    with pytest.raises(LabError, match="was not made with R1"):
        import_kit(store, kit)
    assert store.labels.acts(plan, "R1") == []


def test_a_run_that_nobody_played_stays_in_the_kit(store: Store, plan: Study, kit: Path) -> None:
    with Store.open(kit) as other:
        other.runs.append_event("t", Started(trace="t", task=TASK, agent=Actor("script", "rule"), user=R1, seq=0))
        other.runs.append_event("t", Ended(status="stopped", seq=1))
    assert (import_kit(store, kit).runs, store.runs.has_run("t")) == (0, False)


def test_a_run_that_went_otherwise_here_is_refused(store: Store, plan: Study, kit: Path) -> None:
    run = play(kit, plan)
    store.runs.append_event(run, Started(trace=run, task=TASK, agent=Actor("script", "other"), user=R1, seq=0))
    with pytest.raises(LabError, match="went otherwise"):
        import_kit(store, kit)
    assert store.labels.acts(plan, "R1") == []


# -- from the command line ---------------------------------------------------------------------------------------


def run_cli(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any, str]:
    code = main([*words])
    told = capsys.readouterr()
    return code, json.loads(told.out) if "--json" in words and told.out else told.out, told.err


def test_a_kit_goes_out_and_comes_back_by_commands(
    store: Store, plan: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db, out = ("--db", str(store.path)), tmp_path / "R1.db"
    code, made, _ = run_cli(capsys, "study", "kit", "trial", "--rater", "R1", "--out", str(out), "--json", *db)
    assert (code, made["units"], made["rater"], made["bytes"]) == (0, 2, "R1", out.stat().st_size)
    play(out, plan)
    code, taken, _ = run_cli(capsys, "study", "take", str(out), "--json", *db)
    assert (code, taken["labels"], taken["runs"], taken["clashes"]) == (0, 1, 1, [])
    code, said, _ = run_cli(capsys, "study", "take", str(out), *db)
    assert code == 0
    assert "0 answers" in said
    assert "were here already" in said
    code, _, error = run_cli(capsys, "study", "kit", "trial", "--rater", "R1", "--out", str(out), *db)
    assert code == 1
    assert "is there already" in error
    code, _, error = run_cli(capsys, "study", "take", str(tmp_path / "none.db"), *db)
    assert code == 1
    assert "is not there" in error
    code, _, error = run_cli(capsys, "study", "kit", "trial@7", "--rater", "R1", "--out", str(tmp_path / "x.db"), *db)
    assert code == 1
    assert "trial v7" in error
    with pytest.raises(SystemExit, match="2"):
        main(["study", "kit", "trial", "--rater", "A Name", "--out", str(tmp_path / "x.db"), *db])
    assert "no study code" in capsys.readouterr().err


def test_kits_are_made_by_designers(
    store: Store, plan: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HITLAB_SEAT", "rater")
    for words in (("kit", "trial", "--rater", "R1", "--out", str(tmp_path / "x.db")), ("take", str(tmp_path / "x.db"))):
        code, _, error = run_cli(capsys, "study", *words, "--db", str(store.path))
        assert code == 1
        assert "not there for the seat rater" in error


def test_clashes_are_told_by_the_command(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tests.studies import frozen

    plan = frozen(store, [unit("u1")])
    make_kit(store, plan, "R1", tmp_path / "R1.db")
    for path, value in ((tmp_path / "R1.db", "completed"), (store.path, "not_completed")):
        with Store.open(path) as one:
            desk = RatingSession(one, one.studies.study(plan.id), R1)
            at = desk.next_assignment()
            assert at is not None
            desk.open(replace(at))
            desk.answer(FieldReference("pay", "state"), value)
    code, said, _ = run_cli(capsys, "study", "take", str(tmp_path / "R1.db"), "--db", str(store.path))
    assert code == 0
    assert "state of pay in u1 has two last words" in said


def test_of_a_pilots_item_that_showed_what_is_right_it_says_that_two_words_stay_open(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.merging import say
    from tests.studies import frozen

    one = unit("u1", gold=(Gold("pay", "state", "completed", "it pays"),), pilot=True)
    plan = frozen(store, [one])
    make_kit(store, plan, "R1", tmp_path / "R1.db")
    for path, value in ((tmp_path / "R1.db", "completed"), (store.path, "not_completed")):
        with Store.open(path) as there:
            say(there, there.studies.study(plan.id), one, "R1", FieldReference("pay", "state"), value)
    store.labels.record_act(Act(uuid7(), plan.id, 1, R1, "commit", now(), "u1"))
    said = run_cli(capsys, "study", "take", str(tmp_path / "R1.db"), "--db", str(store.path))[1]
    assert "R1 worked on both copies; it stays open: what is right was shown there" in said
    assert "settles" not in said
