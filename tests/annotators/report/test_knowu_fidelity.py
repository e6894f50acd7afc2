"""Simulator fidelity: shadows beside the people they were asked with, models with own runs; counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from annotators.papers.knowu.fidelity_table import sections
from annotators.papers.knowu.reply_table import sections as reply_sections
from annotators.papers.knowu.user_table import sections as user_sections
from annotators.protocols import protocol
from lab.core.run.run_records import Imported, number_events
from lab.core.run.shadow_answer import ShadowAnswer
from lab.core.run.step import Action, Proposed, Question, Reply
from lab.core.run.trace import AnyEvent, Conditions, Ended, Started, Step
from lab.core.study.agreement import Agreement
from lab.core.study.label import Act
from lab.core.study.report import Number, Section, Table
from lab.core.study.study import Play, Study, Unit
from lab.core.task.task import Actor, Task
from lab.studies.progress.study_data import load_study_data
from store.store import Store
from tests.rated import rated

TASKS = [Task(f"t{at}", "proactive", traits={"warranted": "yes"}) for at in range(3)]
P1 = Actor("human", "P1")
M1, M2 = Actor("model", "M1", "one"), Actor("model", "model:two", "two")
SHADE = "model:shade"
AT = "2026-05-01T10:00:{:02d}.000000+00:00"
Decided = Literal["accept", "reject"] | None


def run(id: str, task: Task, by: Actor, replies: Sequence[tuple[str, Decided]], seconds: int) -> Imported:
    """A run with a proposal for each reply, every one of which took so long."""
    user = by if by.kind == "human" else Actor("model", f"model:{by.name}", by.name)
    conditions = Conditions("participant", mirror=False)
    agent = Actor("script", "playbook")
    events: list[AnyEvent] = [Started(trace=id, task=task, agent=agent, user=user, conditions=conditions)]
    for at, (text, decision) in enumerate(replies):
        question = Question(f"q{at}", "propose", "Shall I?")
        reply = Reply(f"q{at}", text, user, decision, AT.format(0), None, AT.format(seconds))
        proposed = Proposed(Action("ask_user", text="Shall I?"))
        events.append(Step(index=at, proposed=proposed, question=question, reply=reply))
    return Imported(number_events([*events, Ended(status="completed", score=1.0)]), {}, [])


def played(store: Store, study: Study, by: Actor, unit: str, run: str) -> None:
    for hour, status in enumerate(("open", "completed"), 11):
        at = f"2026-05-01T{hour}:00:00+00:00"
        detail = {"run": run, "status": status}
        store.labels.record_act(Act(f"{run}-{hour}", study.id, 1, by, "played", at, unit, detail=detail))


def shade(run: str, index: int, text: str, decision: Decided, **more: Any) -> ShadowAnswer:
    by = Actor("model", SHADE, "shade")
    times: dict[str, Any] = {"shown_at": AT.format(0), "sent_at": AT.format(1)} if "missing" not in more else {}
    return ShadowAnswer(
        f"{run}-{index}-{SHADE}", run, f"q{index}", index, by, AT.format(5), text, decision, **times, **more
    )


PEOPLE: dict[str, list[tuple[str, Decided]]] = {
    "t0": [("Yes please", "accept"), ("abcd", "reject")],
    "t1": [("no", "reject"), ("at noon", None)],
    "t2": [("ok", "accept")],
}
SHADOW: dict[str, list[tuple[str, Decided]]] = {
    "t0": [("YES  please", "accept"), ("abcd", "accept")],
    "t1": [("no", "reject"), ("at noon", None)],
}


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture
def study(store: Store) -> Study:
    units = [
        Unit(f"{task.id}-{user}", play=Play(task, user=user, mirror=False), cluster=task.id)
        for task in TASKS
        for user in ("person", "model")
    ]
    plan = rated(store, units, protocol("play"), {"P1": {}}, id="users", shadows=(SHADE, "model:late"))
    for task in TASKS:
        store.runs.add(run(f"p-{task.id}", task, P1, PEOPLE[task.id], 4))
        played(store, plan, P1, f"{task.id}-person", f"p-{task.id}")
        for model, text in ((M1, "fine"), (M2, "a longer answer")):
            id = f"{model.name}-{task.id}"
            store.runs.add(run(id, task, model, [(text, "accept")], 2))
            played(store, plan, model, f"{task.id}-model", id)
        for at, (text, decision) in enumerate(SHADOW.get(task.id, ())):
            store.shadows.record(shade(f"p-{task.id}", at, text, decision))
    store.shadows.record(shade("p-t2", 0, "", None, missing="no_answer", why="away"))
    return plan


def table(found: Sequence[Section], id: str) -> Table:
    (one,) = [table for section in found for table in section.tables if table.id == id]
    return one


def values(found: Sequence[Section], id: str) -> dict[str, dict[str, Any]]:
    one = table(found, id)
    return {
        str(row[0]): {
            name: (cell.agreement.undefined or cell.agreement.value) if isinstance(cell, Number) else cell
            for name, cell in zip(one.columns, row, strict=True)
        }
        for row in one.rows
    }


def number(found: Sequence[Section], row: str, column: str) -> Agreement:
    one = table(found, "fidelity")
    cell = next(line for line in one.rows if line[0] == row)[one.columns.index(column)]
    assert isinstance(cell, Number)
    return cell.agreement


def test_a_shadow_is_compared_question_by_question_with_the_person(store: Store, study: Study) -> None:
    found = sections(load_study_data(store, study))
    told = values(found, "fidelity")[SHADE]
    assert told["How"] == "shadow, the same questions"
    assert told["Replies"] == "4 of 5 (1 no answer)"
    # accept/accept, reject/accept, reject/reject, none/none: agreed 3/4, by chance (1*2 + 2*1 + 1*1) / 16
    assert told["Decision, kappa"] == pytest.approx((0.75 - 5 / 16) / (1 - 5 / 16))
    kappa = number(found, SHADE, "Decision, kappa")
    assert (kappa.places, kappa.traces, kappa.reasons, kappa.missing) == (4, 2, {"no_answer": 1}, 0.2)
    assert kappa.low is not None or kappa.no_interval
    assert told["Length ratio"] == pytest.approx((11 + 4 + 2 + 7) / (10 + 4 + 2 + 7))
    assert told["Similarity"] == 1.0
    assert told["Seconds"] == 1.0
    assert told["Seconds, people"] == 4.0
    assert number(found, SHADE, "Seconds").places == 4
    assert told["Supported"].startswith("no study of reply support")


def test_a_shadow_that_never_answered_is_a_row_of_reasons(store: Store, study: Study) -> None:
    told = values(sections(load_study_data(store, study)), "fidelity")["model:late"]
    assert told["Replies"] == "0 of 5 (5 not asked)"
    assert told["Decision, kappa"] == "no proposal that both answered"
    assert told["Length ratio"] == "no reply of both"
    assert told["Seconds"] == "no reply tells its times"


def test_a_model_with_runs_of_its_own_is_not_paired_and_says_so(store: Store, study: Study) -> None:
    found = sections(load_study_data(store, study))
    told = values(found, "fidelity")
    assert list(told) == ["model:late", SHADE, "M1", "model:two"]
    assert told["M1"]["How"] == "runs of its own"
    assert told["M1"]["Decision, kappa"] == told["M1"]["Similarity"] == "not asked the same questions"
    people = (10 + 4 + 2 + 7 + 2) / 5
    assert told["M1"]["Length ratio"] == pytest.approx(4 / people)
    assert told["model:two"]["Length ratio"] == pytest.approx(15 / people)
    assert number(found, "M1", "Length ratio").places == 3 + 5
    assert (told["M1"]["Seconds"], told["M1"]["Seconds, people"]) == (2.0, 4.0)


def test_models_are_conditions_of_their_own(store: Store, study: Study) -> None:
    columns = table(user_sections(load_study_data(store, study)), "users").columns
    assert columns == ("", "person, no mirror", "M1", "model:two")


def test_support_is_by_people_where_they_settled_any_and_else_by_a_judge(store: Store, study: Study) -> None:
    units = [
        Unit("p-t0@1.1", runs=("p-t0",), hidden={"by": "human"}),
        Unit("p-t0@1.2", runs=("p-t0",), hidden={"by": SHADE, "shadow": "yes"}),
        Unit("p-t1@1.1", runs=("p-t1",), hidden={"by": SHADE, "shadow": "yes"}),
        Unit("one-t0@1.1", runs=("one-t0",), hidden={"by": "model"}),
        Unit("two-t0@1.1", runs=("two-t0",), hidden={"by": "model"}),
        Unit("elsewhere@1", runs=("r-of-none",), hidden={"by": "human"}),
    ]
    supported = ["supported", "contradicts", "supported", "not_in_profile", "supported", "supported"]
    said: dict[Any, Any] = {
        "model:J": {unit.id: {("", "support"): value} for unit, value in zip(units, supported, strict=True)},
        "R1": {units[1].id: {("", "support"): "supported"}},
    }
    replies = rated(store, units, protocol("reply-support"), said, id="replies", raters=("R1",))
    told = values(sections(load_study_data(store, study, beside=["replies"])), "fidelity")
    assert told[SHADE]["Supported"] == 1.0, "people settled one, and nobody else counts"
    assert told["M1"]["Supported"] == 0.0
    assert told["model:two"]["Supported"] == 1.0
    rows = table(sections(load_study_data(store, study, beside=["replies"])), "fidelity-support").rows
    assert [(row[0], row[1], row[2]) for row in rows] == [
        ("people", "judge J", "1"), (f"{SHADE}, shadow", "people", "1"), (f"{SHADE}, shadow", "judge J", "2"),
        ("M1", "judge J", "1"), ("model:two", "judge J", "1"),
    ]  # fmt: skip
    judged = table(reply_sections(load_study_data(store, replies)), "support-judges")
    assert [(row[0], row[2]) for row in judged.rows] == [
        ("model:one", "1"), (f"{SHADE}, shadow", "2"), ("model:two", "1"), ("person", "1"), ("person, no mirror", "1"),
    ]  # fmt: skip


def test_a_study_of_people_alone_has_no_such_section(store: Store) -> None:
    units = [Unit("t0-person", play=Play(TASKS[0], mirror=False), cluster="t0")]
    plan = rated(store, units, protocol("play"), {"P1": {}}, id="users")
    store.runs.add(run("p-t0", TASKS[0], P1, PEOPLE["t0"], 4))
    played(store, plan, P1, "t0-person", "p-t0")
    assert sections(load_study_data(store, plan)) == []
