"""Dev and test: a study is split once by whole tasks, examples are of dev, and each number says of which it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from annotators.validation.study_split import draw_split, extend_split
from lab.cli.main import main
from lab.core.run.run_records import Imported
from lab.core.run.trace import Started
from lab.core.study.label import Act
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Study, Unit
from lab.core.task.task import Actor
from lab.core.values.ids_and_clock import now, uuid7
from lab.llm.client import Llm, ModelTerms
from lab.studies.judging.judge_job import job_of
from lab.studies.judging.judge_terms import JudgeTerms
from lab.studies.judging.judging import JudgingJob
from lab.studies.planning.study_split import SPLIT, keep_split, split_of
from store.store import Store
from tests.endpoint import ModelServer, serving
from tests.judges import sheet_brain
from tests.screens.annotate.host import AGENT, FACT, lunch
from tests.studies import frozen, label, study

DONE = Protocol(
    "done", "Was it done?", "run",
    (
        Field("state", "Was it completed?", "nominal", (Option("completed"), Option("not"))),
        Field("why", "Why not?", "text", show_if="state=not"),
    ),
    shows=("instruction", "screens", "actions"), guide={"en": "Look closely."},
)  # fmt: skip
TASKS, RUNS = 5, 2
PERSON = "R7secret"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")


def run_id(task: int, run: int) -> str:
    return f"7777777{task}-0000-7000-8000-00000000000{run}"


def of_task(task: int, run: int) -> Imported:
    made = lunch(run_id(task, run))
    started = made.events[0]
    assert isinstance(started, Started)
    begun = replace(
        started, task=replace(started.task, id=f"task{task}", instruction=f"Order meal number {task}{run}.")
    )
    return Imported([begun, *made.events[1:]], made.images, made.verdicts)


class Judged(NamedTuple):
    """A study, the units that judge `plain` judged of dev and then of test, and what judge `two` was asked."""

    store: Store
    plan: Study
    dev: list[str]
    test: list[str]
    asked: list[str]


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judged]:
    """Ten runs of five tasks, each rated by two people who agree; a judge without examples, and one with two."""
    units = [Unit(f"u{task}{run}", runs=(run_id(task, run),)) for task in range(TASKS) for run in range(RUNS)]
    with Store.open(tmp_path_factory.mktemp("split") / "lab.db") as store:
        store.runs.add_all([of_task(task, run) for task in range(TASKS) for run in range(RUNS)])
        plan = frozen(store, units, DONE, raters=(PERSON, "R2"))
        for n, one in enumerate(units):
            for rater in plan.raters:
                actor = Actor("human", rater)
                done = bool(n % 2)
                store.labels.record(
                    plan, one, label(plan, one, "", "state", "completed" if done else "not", rater=actor)
                )
                if not done:
                    store.labels.record(plan, one, label(plan, one, "", "why", f"why {rater}", rater=actor))
                store.labels.hand_in(plan, one, Act(uuid7(), plan.id, 1, actor, "commit", now(), one.id))
        with pytest.MonkeyPatch.context() as patched, serving(sheet_brain(says)) as server:
            patched.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
            dev = went(store, plan, server, "plain", split="dev", dev_share=0.4)
            test = went(store, plan, server, "plain", split="test")
            before = len(server.requests)
            assert len(went(store, plan, server, "two", examples=2)) == TASKS * RUNS
            asked = [request.text for request in server.requests[before:]]
        yield Judged(store, plan, dev, test, asked)


def job(store: Store, plan: Study, server: ModelServer, name: str, **terms: Any) -> tuple[JudgingJob, Llm]:
    on = ModelTerms(server.base, tries=3, pause=0.001, seconds=30, timeout=20, price_in=1.0, price_out=4.0)
    llm = Llm("openai/tiny", on)
    made = job_of(
        store, plan, name, llm, "sheet", JudgeTerms(**{"concurrency": 1, **terms}), most=2, longest=64, reads=False
    )
    return made, llm


def went(store: Store, plan: Study, server: ModelServer, name: str, **terms: Any) -> list[str]:
    """The units that were judged now."""
    made, llm = job(store, plan, server, name, **terms)
    before = handed(store, plan, name)
    if made.split is not None:
        keep_split(store, plan, made.split, "M1")
    made.sign()
    assert not made.run(llm).failed
    return sorted(handed(store, plan, name) - before)


def handed(store: Store, plan: Study, name: str) -> set[str]:
    return {act.unit for act in store.labels.acts(plan, name) if act.act == "commit"}


def says(item: str, field: str) -> dict[str, Any] | None:
    return {"value": "completed"} if field == "state" else None


def call(*words: str) -> int:
    try:
        return main([*words])
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 1


# -- the split -----------------------------------------------------------------------------------------------------


def tasks_of(unit: Unit) -> list[str]:
    return [f"task{unit.id[1]}"]


@pytest.mark.parametrize("share", [0.2, 0.4, 0.5, 0.8])
def test_whole_tasks_go_to_one_part_and_the_share_is_kept(share: float) -> None:
    units = [Unit(f"u{task}{run}") for task in range(TASKS) for run in range(RUNS)]
    for seed in range(20):
        split = draw_split(study(units, DONE, seed=seed), units, tasks_of, share)
        assert sorted((*split.dev, *split.test)) == sorted(unit.id for unit in units)
        assert not {id[1] for id in split.dev} & {id[1] for id in split.test}
        assert abs(len(split.dev) - share * len(units)) <= 1
        assert split == draw_split(study(units, DONE, seed=seed), list(units), tasks_of, share)


def test_units_that_share_a_cluster_or_a_task_go_together() -> None:
    units = [Unit("a", cluster="x"), Unit("b", cluster="x"), Unit("c", cluster="z"), Unit("d", cluster="y")]
    tasks = {"a": ["one"], "b": ["two"], "c": ["two"], "d": ["three"]}
    for seed in range(10):
        split = draw_split(study(units, DONE, seed=seed), units, lambda unit: tasks[unit.id], 0.5)
        assert {"a", "b", "c"} in ({*split.dev}, {*split.test})


def test_units_that_come_later_go_with_their_task_and_move_no_other() -> None:
    units = [Unit(f"u{task}{run}") for task in range(TASKS) for run in range(RUNS)]
    plan = study(units, DONE)
    split = draw_split(plan, units, tasks_of, 0.5)
    later = extend_split(plan, split, [*units, Unit("u02"), Unit("u90"), Unit("u91")], tasks_of)
    assert set(split.dev) <= set(later.dev)
    assert set(split.test) <= set(later.test)
    assert ("u02" in later.dev) == ("u00" in split.dev)
    assert ("u90" in later.dev) == ("u91" in later.dev)


def test_one_task_alone_cannot_be_split(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        store.runs.add_all([of_task(1, 0), of_task(1, 1)])
        plan = frozen(store, [Unit("a", runs=(run_id(1, 0),)), Unit("b", runs=(run_id(1, 1),))], DONE)
    assert (
        call("judge", plan.id, "--model", "openai/x", "--split", "dev", "--dry-run", "--db", str(tmp_path / "lab.db"))
        == 1
    )
    assert "all of its units are of one task" in capsys.readouterr().err


# -- judging it ----------------------------------------------------------------------------------------------------


def test_a_judge_of_dev_judges_dev_alone_and_a_split_never_changes(
    rated: Judged, capsys: pytest.CaptureFixture[str]
) -> None:
    store, plan = rated.store, rated.plan
    split = split_of(store, plan)
    assert (rated.dev, rated.test) == (sorted(split.dev), sorted(split.test))
    assert len(split.dev) == 0.4 * TASKS * RUNS
    (act,) = store.labels.acts_of(plan, SPLIT)
    assert act.detail["dev"] == list(split.dev)
    db = str(store.database.path)
    words = ("judge", plan.id, "--model", "openai/x", "--split", "dev", "--dev-share", "0.6", "--dry-run", "--db", db)
    assert call(*words) == 2
    assert "was split with 0.4 in dev" in capsys.readouterr().err
    assert store.labels.acts_of(plan, SPLIT) == [act]


def test_examples_are_settled_units_of_dev_and_never_the_one_that_is_judged(rated: Judged) -> None:
    store, plan = rated.store, rated.plan
    split = split_of(store, plan)
    meals = {f"Order meal number {id[1:]}.": id for id in (*split.dev, *split.test)}
    examples = chosen(store, plan)
    assert len(examples) == 2
    assert examples <= set(split.dev)
    for text in rated.asked:
        before, _, own = text.rpartition("End of example")
        (unit,) = [id for meal, id in meals.items() if meal in own]
        assert {id for meal, id in meals.items() if meal in before} == examples - {unit}
        for id in examples - {unit}:
            part = before.partition(f"Order meal number {id[1:]}.")[2].partition("What is right")[2]
            (right, *_) = json.loads(part.strip().splitlines()[0])["answers"]
            assert right == {"item": "", "field": "state", "value": "completed" if is_done(id) else "not"}
        for hidden in (PERSON, AGENT, FACT, "why R2"):
            assert hidden not in text
    assert {is_done(id) for id in examples} == {False, True}


def test_another_set_of_examples_is_another_judge_and_the_same_goes_on(rated: Judged) -> None:
    with serving(sheet_brain(says)) as server:
        same, one, none = (job(rated.store, rated.plan, server, "two", examples=n)[0] for n in (2, 1, 0))
    assert same.config_sha == next(rated.store.labels.read(rated.plan, rater="two")).config_sha
    assert len({same.config_sha, one.config_sha, none.config_sha}) == 3


def is_done(unit: str) -> bool:
    """Whether people say that a unit's run was completed."""
    return bool((int(unit[1]) * RUNS + int(unit[2])) % 2)


def chosen(store: Store, plan: Study) -> set[str]:
    """The examples that judge `two` signed."""
    (text,) = [act.detail["config"] for act in store.labels.acts(plan, "two") if act.act == "sat"]
    return {id for id, _ in json.loads(text)["examples"]}


def test_more_examples_than_are_settled_are_refused(rated: Judged, capsys: pytest.CaptureFixture[str]) -> None:
    store, plan = rated.store, rated.plan
    words = ("judge", plan.id, "--model", "openai/x", "--examples", "50", "--dry-run", "--db", str(store.database.path))
    assert call(*words) == 1
    told = capsys.readouterr().err
    assert "--examples 50: people have settled only 4 units of dev" in told
    assert (
        "settle where they differ (`hitlab labels adjudicate trial`): a unit counts once all of it is settled." in told
    )


# -- validating it -------------------------------------------------------------------------------------------------


def test_each_number_says_of_which_part_it_is(rated: Judged, capsys: pytest.CaptureFixture[str]) -> None:
    store, plan = rated.store, rated.plan
    split = split_of(store, plan)
    db = str(store.database.path)
    assert call("judge", plan.id, "--validate", "--split", "test", "--as", "two", "--json", "--db", db) == 0
    (section,) = json.loads(capsys.readouterr().out)["judges"]
    assert section["title"] == "Judge two, units of test"
    (rates,) = [table for table in section["tables"] if table["id"].endswith("-rates")]
    assert {row[-1] for row in rates["rows"]} == {str(len(split.test))}
    assert call("judge", plan.id, "--validate", "--as", "two", "--db", db) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"of test: {len(split.test)} of {TASKS * RUNS} units" in told
    assert "on the units that its 2 examples came from" in told
    assert call("judge", plan.id, "--validate", "--as", "plain", "--split", "dev", "--db", db) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "may have been worked out on these units" in told
    assert "examples came from" not in told


def test_a_gate_of_a_part_holds_and_compares_the_units_of_that_part_alone(
    rated: Judged, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, plan = rated.store, rated.plan
    whole, part, split = tmp_path / "whole.json", tmp_path / "test.json", split_of(store, plan)
    words = ("judge", plan.id, "--as", "plain", "--db", str(store.database.path))
    assert call(*words, "--gate", str(part), "--split", "test") == 0
    assert {one["unit"] for one in json.loads(part.read_bytes())["answers"]} == {*split.test}
    assert call(*words, "--gate", str(whole)) == 0
    capsys.readouterr()
    assert call(*words, "--gate", str(whole), "--split", "test", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert {field["items"] for field in told["fields"]} == {len(split.test)}
    assert call(*words, "--gate", str(whole), "--validate") == 2
    assert "a gate is held by a command of its own" in capsys.readouterr().err


def test_a_gate_tells_what_has_no_answer_any_more(
    rated: Judged, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, split = tmp_path / "gate.json", split_of(rated.store, rated.plan)
    words = ("judge", rated.plan.id, "--as", "plain", "--db", str(rated.store.database.path), "--gate", str(file))
    assert call(*words) == 0
    assert call(*words) == 0
    assert "not compared" not in capsys.readouterr().out
    kept = json.loads(file.read_bytes())
    lost = [{**kept["answers"][0], "target": "lost", "unit": unit} for unit in (*split.dev[:2], *split.test[:1])]
    file.write_text(json.dumps({**kept, "answers": [*kept["answers"], *lost]}))
    for part, places in (("dev", "2 places"), ("test", "1 place")):
        assert call(*words, "--split", part) == 0
        told = capsys.readouterr().out
        assert f"not compared  {lost[0]['field']}: {places} of the file: plain gave no answer there" in told
    assert call(*words, "--json") == 0
    assert json.loads(capsys.readouterr().out)["not_compared"] == {lost[0]["field"]: 3}


@pytest.mark.parametrize("ask", [("--validate",), ("--as", "J1", "--gate", "gate.json")])
def test_a_study_that_is_not_split_has_no_parts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, ask: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open(tmp_path / "lab.db") as store:
        plan = frozen(store, [Unit("a"), Unit("b")], DONE)
    assert call("judge", plan.id, *ask, "--split", "test", "--db", str(tmp_path / "lab.db")) == 1
    assert "is not split into dev and test yet" in capsys.readouterr().err
    assert not (tmp_path / "gate.json").exists()


def test_the_command_says_of_which_part_all_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        store.runs.add_all([of_task(task, 0) for task in range(2)])
        plan = frozen(store, [Unit(f"u{task}0", runs=(run_id(task, 0),)) for task in range(2)], DONE)
    words = (
        "judge",
        plan.id,
        "--model",
        "openai/tiny",
        "--as",
        "first",
        "--split",
        "dev",
        "--db",
        str(tmp_path / "lab.db"),
    )
    with serving(sheet_brain(lambda item, field: {"value": "completed"} if field == "state" else None)) as server:
        monkeypatch.setenv("HITLAB_MODEL_BASE", server.base)
        assert call(*words) == 0
        assert "first judged 1 of 1 sheet of trial v1, units of dev (method sheet)" in capsys.readouterr().out
        assert call(*words) == 0
        assert capsys.readouterr().out == "first has judged all of trial v1, units of dev.\n"
