"""A study's agents: two of them apart, beside ppi-python and by hand; a judge's own family; the longer side."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from annotators.report.judge_section import sections
from annotators.study_data import StudyData
from annotators.validation.prediction_powered import corrected_difference, labelled_units
from annotators.validation.study_agents import family_of
from annotators.validation.study_validation import JudgedField, judged_fields
from lab.core.codec import encode
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.agreement import IntervalTerms
from lab.core.study.label import Act
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Study, Unit, UnitText
from lab.core.task.task import Actor, Task
from lab.core.values.ids_and_clock import now, uuid7
from lab.studies.progress.study_data import load_study_data
from store.store import Store
from tests.studies import frozen, label

DONE = Protocol(
    "done", "Done?", "run", (Field("state", "Was it completed?", "nominal", (Option("completed"), Option("not"))),)
)
BETTER = Protocol(
    "better", "Which?", "pair of texts",
    (Field("overall", "Which?", "nominal", (Option("A"), Option("B"), Option("tie")), sided=True),),
)  # fmt: skip
TASKS, LABELLED = 60, 30
AGENTS = {"gpt-agent": 0.7, "other-agent": 0.5}


def says(store: Store, plan: Study, one: Unit, actor: Actor, value: Any) -> None:
    config = "c" * 64 if actor.kind == "model" else ""
    field = plan.protocol.fields[0].id
    store.labels.record(plan, one, label(plan, one, "", field, value, rater=actor, config_sha=config))
    store.labels.hand_in(plan, one, Act(uuid7(), plan.id, 1, actor, "commit", now(), one.id))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[tuple[bool, bool]]]]:
    """Two agents at 60 tasks: what is true and what the judge says, which is kinder to the first; and the study."""
    dice = random.Random(3)
    units = [Unit(f"{agent}-{task:02}", runs=(f"{agent}-{task:02}",)) for task in range(TASKS) for agent in AGENTS]
    truth: dict[str, list[tuple[bool, bool]]] = {agent: [] for agent in AGENTS}
    with Store.open(tmp_path_factory.mktemp("agents") / "lab.db") as store:
        plan = frozen(store, units, DONE, raters=("R1",), overlap=1)
        judge = Actor("model", "j")
        config = encode({"model": "openai/gpt-9", "method": "sheet"}).decode()
        store.labels.record_act(Act(uuid7(), plan.id, 1, judge, "sat", now(), detail={"config": config}))
        for task in range(TASKS):
            hard = dice.random()
            for at, (agent, rate) in enumerate(AGENTS.items()):
                done = hard < rate
                said = done if dice.random() < 0.85 else at == 0
                truth[agent].append((done, said))
                one = units[2 * task + at]
                says(store, plan, one, judge, "completed" if said else "not")
                if task < LABELLED:
                    says(store, plan, one, Actor("human", "R1"), "completed" if done else "not")
        global _studied
        _studied = load_study_data(store, plan, IntervalTerms("bootstrap", resamples=50))
        _studied.case = _case
        yield truth


_studied: StudyData


def _case(run: str) -> MeasuredRun:
    agent, _, task = run.rpartition("-")
    return MeasuredRun(run, Task(f"task{task}", "general"), Actor("model", agent), (), "done")


def one() -> JudgedField:
    (found,) = judged_fields(_studied, "j")
    return found


def arrays(truth: list[tuple[bool, bool]]) -> tuple[np.ndarray, np.ndarray]:
    people = np.array([float(done) for done, _ in truth])
    people[LABELLED:] = np.nan
    return np.array([float(said) for _, said in truth]), people


def test_two_agents_apart_are_paired_by_tasks(told: dict[str, list[tuple[bool, bool]]]) -> None:
    ((category, apart),) = one().agents
    assert (category, apart.one, apart.other, apart.paired) == ("completed", "gpt-agent", "other-agent", True)
    assert (apart.items, apart.labelled) == ((TASKS, TASKS), (LABELLED, LABELLED))
    units = [labelled_units(*arrays(told[agent])) for agent in AGENTS]
    expected = corrected_difference(units[0], units[1], paired=True)
    assert apart.found.corrected == expected.corrected
    loose = corrected_difference(units[0], units[1])
    assert expected.corrected.low is not None
    assert loose.corrected.low is not None
    assert expected.corrected.low > loose.corrected.low
    judge = [np.mean([said for _, said in told[agent]]) for agent in AGENTS]
    assert apart.found.judge.value == pytest.approx(judge[0] - judge[1])


def test_their_difference_is_that_of_the_papers_own_program(told: dict[str, list[tuple[bool, bool]]]) -> None:
    ppi = pytest.importorskip("ppi_py", reason="ppi-python is not installed (pip install 'hitlab[test]')")
    values = []
    for agent in AGENTS:
        judge, people = arrays(told[agent])
        slope = np.polyfit(judge[:LABELLED], people[:LABELLED], 1)[0]
        parts = people[:LABELLED], judge[:LABELLED], judge[LABELLED:]
        values.append(float(np.squeeze(ppi.ppi_mean_pointestimate(*parts, lam=slope * (1 - LABELLED / TASKS)))))
    assert one().agents[0][1].found.corrected.value == pytest.approx(values[0] - values[1], abs=1e-9)


def test_kindness_to_its_own_family_is_told_where_models_are_known(told: dict[str, list[tuple[bool, bool]]]) -> None:
    ((category, found),) = one().family
    assert category == "completed"
    beyond = {agent: np.mean([s - d for d, s in rows[:LABELLED]]) for agent, rows in told.items()}
    assert found.own.value == pytest.approx(beyond["gpt-agent"])
    assert found.others.value == pytest.approx(beyond["other-agent"])
    assert (found.own_units, found.other_units) == (LABELLED, LABELLED)
    unknown = _studied.with_units([unit.id for unit in _studied.units])
    unknown.case = lambda run: _case(run)._replace(agent=Actor("script", "playbook"))
    (without,) = judged_fields(unknown, "j")
    assert without.family == []


@pytest.mark.parametrize(
    ("model", "family"),
    [("openai/gpt-4.1-mini", "gpt"), ("claude-x", "claude"), ("Qwen2.5-VL", "qwen"), ("", ""), ("7b", "")],
)
def test_a_family_is_the_first_word_of_a_models_name(model: str, family: str) -> None:
    assert family_of(model) == family


def test_a_report_has_these_tables_with_their_n(told: dict[str, list[tuple[bool, bool]]]) -> None:
    (section,) = sections(_studied)
    tables = {table.id.rpartition("-")[2]: table for table in section.tables}
    assert {"agents", "family"} <= tables.keys()
    ((name, *_, how, items, labelled),) = tables["agents"].rows
    assert (name, how, items, labelled) == ("gpt-agent minus other-agent", "paired", "60 and 60", "30 and 30")
    assert [row[-1] for row in tables["family"].rows] == ["30", "30", "60"]


def test_the_longer_side_is_told_of_pairs(tmp_path_factory: pytest.TempPathFactory) -> None:
    dice = random.Random(5)
    units, right = [], []
    for at in range(40):
        long = "AB"[at % 2]
        texts = (
            UnitText("one", "word " * (9 if long == "A" else 3), side="A"),
            UnitText("other", "word " * (9 if long == "B" else 3), side="B"),
        )
        units.append(Unit(f"p{at:02}", given=texts))
        right.append("AB"[dice.random() < 0.5])
    with Store.open(tmp_path_factory.mktemp("pairs") / "lab.db") as store:
        plan = frozen(store, units, BETTER, raters=("R1",), overlap=1)
        for at, unit in enumerate(units):
            says(store, plan, unit, Actor("human", "R1"), right[at])
            says(store, plan, unit, Actor("model", "j"), "AB"[at % 2])  # always the longer one
        studied = load_study_data(store, plan, IntervalTerms("bootstrap", resamples=50))
        (found,) = judged_fields(studied, "j")
        (section,) = sections(studied)
    assert found.length is not None
    assert (found.length.wrong_where_short.value, found.length.wrong_where_long.value) == (1.0, 0.0)
    agree = sum(right[at] == "AB"[at % 2] for at in range(40)) / 40
    assert found.length.longer.value == pytest.approx(1 - agree)
    assert any(table.id.endswith("-length") for table in section.tables)


def test_classes_and_parts_are_counted() -> None:
    from annotators.report.judge_section import counts_table
    from annotators.validation.rates import Confusion

    seen = Confusion(("a", "b", "c"), np.array([[5, 1, 0], [2, 7, 1], [0, 0, 4]]), 0, 0)
    table = counts_table("j", "state", ("a", "b", "c"), [("all", seen)])
    assert [row[1:] for row in table.rows] == [
        ("5", "1", "2", "12", "20"), ("7", "3", "1", "9", "20"), ("4", "0", "1", "15", "20"),
    ]  # fmt: skip
