"""hitlab metrics --study: its runs alone, its own questions as measures, and one word about success in each rate."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from annotators.protocols import protocol
from lab.cli.main import main
from lab.core.run.run_records import Imported, number_events
from lab.core.run.step import Action, Proposed
from lab.core.run.trace import AnyEvent, Ended, Started, Step
from lab.core.study.label import Act
from lab.core.study.protocol import Field, Option, Protocol
from lab.core.study.study import Play, Study, Unit
from lab.core.task.task import Actor, Task
from lab.core.values.ids_and_clock import now, uuid7
from store.store import Store
from tests.rated import Answer, rated

Hitlab = Callable[..., Any]
RATE = Field("rate", "How far?", "interval", least=0, most=10)


@pytest.fixture
def hitlab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Hitlab:
    for kind in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))
    monkeypatch.setenv("HITLAB_DB", str(tmp_path / "lab.db"))

    def call(*args: str) -> Any:
        assert main(args) == 0, capsys.readouterr().err
        out = capsys.readouterr().out
        return json.loads(out) if "--json" in args else out

    return call


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as store:
        yield store


def a_run(id: str, score: float | None, agent: str = "one", task: str = "lunch") -> Imported:
    asked = Task(task, "general", instruction="Order lunch")
    events: list[AnyEvent] = [Started(trace=id, task=asked, agent=Actor("model", agent), at=now())]
    events += [Step(index=0, proposed=Proposed(Action("click", (1, 2)))), Ended(status="completed", score=score)]
    return Imported(number_events(events), {}, [])


def lock(store: Store, plan: Study) -> None:
    store.labels.record_act(Act(uuid7(), plan.id, plan.version, Actor("human", "D1"), "locked", now()))


def numbers(told: Any, group: int = 0) -> dict[tuple[str, str, str, str], Any]:
    return {
        (one["paper"], one["metric"], one.get("part", ""), one.get("version", "")): one
        for one in told["groups"][group]["numbers"]
    }


QUESTIONS = [
    (Field("solved", "Was it solved?", "flag"), True, False),
    (Field("outcome", "How did it end?", "nominal", (Option("passed"), Option("failed"), Option("unclear"))), "passed",
     "failed"),
    (Field("success", "Did it?", "nominal", (Option("yes"), Option("no"))), "yes", "no"),
]  # fmt: skip


@pytest.mark.parametrize(("field", "good", "bad"), QUESTIONS, ids=[field.id for field, _, _ in QUESTIONS])
def test_a_question_of_ones_own_about_success_is_what_success_rates_are_made_of(
    hitlab: Hitlab, store: Store, field: Field, good: Any, bad: Any
) -> None:
    """Scores say that all runs succeeded; people say one of two, are split on a third, and saw no other."""
    for at in range(6):
        store.runs.add(a_run(f"r{at}", 1.0, f"agent{at % 2}"))
    units = [Unit(f"u{at}", runs=(f"r{at}",)) for at in range(3)]
    words = {"R1": (good, bad, good), "R2": (good, bad, bad)}
    said = {
        who: {f"u{at}": {("", field.id): value, ("", "rate"): at * 3 + turn} for at, value in enumerate(values)}
        for turn, (who, values) in enumerate(words.items())
    }
    plan = rated(store, units, Protocol("own", "Own", "run", (field, RATE)), said, id="mine")
    lock(store, plan)
    told = hitlab("metrics", "--study", "mine", "--json")
    assert (told["runs"], told["left_out"]) == (3, {"not of the study": 3})
    assert told["rated"] == (
        f"by most of R1, R2 in mine v1, 2 runs; success is what {field.id} says; not settled, in no rate of it: 1 run"
    )
    found = numbers(told)
    for paper in ("knowu", "memgui"):
        assert (found[paper, "SR", "", "paper"]["value"], found[paper, "SR", "", "paper"]["n"]) == (0.5, 2)
    own = found["study", field.id, "yes" if good is True else good, ""]
    assert (own["value"], own["n"], own["unit"]) == (0.5, 2, "share")
    assert own["left_out"] == [["no majority", 1]]
    assert (found["study", "rate", "mean", ""]["value"], found["study", "rate", "mean", ""]["n"]) == (3.5, 3)
    by = hitlab("metrics", "--study", "mine", "--by", "agent", "--json")
    assert [numbers(by, at)["study", "rate", "mean", ""]["value"] for at in (0, 1)] == [3.5, 3.5]
    assert [numbers(by, at)["study", "rate", "mean", ""]["n"] for at in (0, 1)] == [2, 1]
    alone = hitlab("metrics", "--study", "mine", "--rater", "R2", "--json")
    assert numbers(alone)["knowu", "SR", "", "paper"]["value"] == pytest.approx(1 / 3)
    assert "The study's own questions" in hitlab("metrics", "--study", "mine")


def test_a_study_that_asks_nothing_about_success_leaves_scores_as_they_are(hitlab: Hitlab, store: Store) -> None:
    for at in range(3):
        store.runs.add(a_run(f"r{at}", float(at > 0)))
    plan = rated(
        store,
        [Unit("u0", runs=("r0",)), Unit("u1", runs=("r1",))],
        Protocol("own", "Own", "run", (RATE,)),
        {"R1": {"u0": {("", "rate"): 2}, "u1": {("", "rate"): Answer(missing="cannot_judge")}}},
        id="mine",
    )
    lock(store, plan)
    told = hitlab("metrics", "--study", "mine", "--json")
    assert "it asks nothing that a paper's number reads" in told["rated"]
    assert numbers(told)["knowu", "SR", "", "paper"]["value"] == 0.5
    assert numbers(told)["study", "rate", "mean", ""]["value"] == 2.0


def test_of_a_played_study_every_answer_counts_and_its_runs_are_those_that_were_played(
    hitlab: Hitlab, store: Store
) -> None:
    task = Task("lunch", "general", instruction="Order lunch")
    units = [
        Unit("see", play=Play(task), cluster="lunch"),
        Unit("blind", play=Play(task, mirror=False), cluster="lunch"),
    ]
    after = {("", "realism"): "4", ("", "effort"): "2", ("", "wish"): "5"}
    said = {"P1": {"see": after}, "P2": {"see": {**after, ("", "wish"): "2"}, "blind": after}}
    plan = rated(store, units, protocol("play"), said, id="plays")
    for who, unit, id in (("P1", "see", "r1"), ("P2", "see", "r2"), ("P2", "blind", "r3")):
        store.runs.add(a_run(id, 1.0))
        detail = {"run": id, "status": "completed"}
        store.labels.record_act(Act(uuid7(), plan.id, 1, Actor("human", who), "played", now(), unit, detail=detail))
    store.runs.add(a_run("other", 0.0))
    lock(store, plan)
    told = hitlab("metrics", "--study", "plays", "--json")
    assert (told["runs"], told["left_out"]) == (3, {"not of the study": 1})
    wish = numbers(told)["study", "wish", "mean", ""]
    assert (wish["value"], wish["n"], wish["of"]) == (4.0, 3, "answers")
    assert numbers(told)["knowu", "SR", "", "paper"]["value"] == 1.0


def test_a_report_of_plays_tells_both_scores_of_a_run_and_the_rule(hitlab: Hitlab, store: Store) -> None:
    """Eight of nine rules held: the run came with .82, and where rules alone decide it counts 0."""
    task = Task("lunch", "general", instruction="Order lunch")
    plan = rated(store, [Unit("see", play=Play(task), cluster="lunch")], protocol("play"), {"P1": {}}, id="plays")
    one = a_run("r1", 0.82)
    ended = Ended(status="completed", score=0.82, checks=(("a", True), ("b", False)), seq=len(one.events) - 1)
    store.runs.add(one._replace(events=[*one.events[:-1], ended]))
    detail = {"run": "r1", "status": "completed"}
    store.labels.record_act(Act(uuid7(), plan.id, 1, Actor("human", "P1"), "played", now(), "see", detail=detail))
    assert "0.82" in hitlab("runs", "list")
    found = hitlab("report", "plays", "--json")
    (table,) = [table for section in found["sections"] for table in section.get("tables", ()) if table["id"] == "users"]
    values = {row[0]: row[1]["agreement"].get("value") for row in table["rows"] if isinstance(row[1], dict)}
    assert (values["Average score"], values["Average score, as in hitlab runs"]) == (0.0, 0.82)
    assert "where rules alone decide a task, it is 1 if all of them held, else 0" in " ".join(table["notes"])
