"""What `hitlab metrics --explain` tells of the three benchmarks that agents run in: all that can come, nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from annotators.papers.metrics import MetricTerms, context_of, definitions, measures
from lab.core.run.measured_run import MeasuredRun, MeasuredStep
from lab.core.run.run_records import Verdict
from lab.core.run.step import Action, Question, Reply, Usage
from lab.core.run.trace import Source
from lab.core.task.task import Actor, Persona, Task

TAP = MeasuredStep(Action("click", at=(1, 2)), Action("click", at=(1, 2)), usage=Usage(9, 9, cost=0.1, seconds=1.0))
ASKED = MeasuredStep(
    Action("ask_user", text="Shall I?"),
    Action("ask_user", text="Shall I?"),
    question=Question("q", "propose", "Shall I?"),
    reply=Reply("q", "no", Actor("human", "P1"), decision="reject"),
)
MODEL = Actor("model", "m")


def run(task: Task, *steps: MeasuredStep, score: float | None = 1.0, age: int = 25, **more: object) -> MeasuredRun:
    case = MeasuredRun(
        task.id, task, MODEL, steps or (TAP, TAP), "completed", score, persona=Persona(f"p{age}", "P", {"age": age}),
        seconds=9.0, waited=1.0, usage=Usage(9, 9, cost=0.1),
    )  # fmt: skip
    return case._replace(**more)  # type: ignore[arg-type]


def own(name: str, kind: str, instruction: str = "Do it", **traits: str) -> Task:
    return Task(name, kind, instruction=instruction, golden_steps=2, traits=traits)  # type: ignore[arg-type]


RICH = [
    run(own("shown", "personalized"), agent=Actor("human", "p25")),
    run(own("elder", "personalized"), agent=Actor("human", "p60"), age=60),
    run(own("shown", "personalized", **{"lambda": "1", "difficulty": "easy", "memory": "yes"}), checks=(("x", True),)),
    run(own("plain", "general", memory="no")),
    *(run(own("hard", "general", memory="yes"), score=0.0, attempt=attempt) for attempt in (1, 2, 3)),
    run(own("guessed", "proactive", "", intent="a coffee", warranted="yes"), ASKED, marks={"sr1": 1.0}),
    run(own("quiet", "proactive", "", warranted="no"), TAP),
    run(own("needed", "proactive", "", warranted="yes"), TAP),
    run(Task("SomeAskUserTask", "general", instruction="Do it"), ASKED, source=Source("knowu")),
    run(
        own("table", "general", memory="yes"),
        score=0.0,
        source=Source("memgui"),
        verdicts=(Verdict("irr", 50, extra={"evaluation_method": "llm_analysis", "irr_percentage": 50}),),
    ),
]
BARE = [run(Task("t", "general", instruction="x"), usage=None, seconds=None, score=None)]


def vectors(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0, float(len(text))] for text in texts]


def names(paper: str, cases: Sequence[MeasuredRun], *, valued: bool = False) -> set[str]:
    """The metrics that come, each number of attempts under one name."""
    numbers = measures([paper])[paper](cases, context_of(cases, MetricTerms(embed=vectors, embedder="tiny")))
    told = {number.metric for number in numbers if not valued or number.value is not None}
    return {re.sub(r"^pass@\d+$", "pass@k", name) for name in told}


@pytest.mark.parametrize("paper", ["knowu", "memgui", "fingertip"])
def test_every_number_that_can_come_is_defined_and_nothing_else_is(paper: str) -> None:
    texts = definitions([paper])[paper]
    assert names(paper, RICH, valued=True) == set(texts)
    for cases in (RICH, RICH[:1], RICH[2:3], BARE, []):
        assert names(paper, cases) <= set(texts)


@pytest.mark.parametrize("paper", ["knowu", "memgui", "fingertip"])
def test_definitions_are_a_few_whole_sentences_that_say_where(paper: str) -> None:
    measured = measures([paper])[paper](RICH, context_of(RICH))
    versions = {re.sub(r"@\d+$", "@k", one.metric): set[str]() for one in measured}
    for one in measured:
        versions[re.sub(r"@\d+$", "@k", one.metric)].add(one.version)
    for name, text in definitions([paper])[paper].items():
        assert text.endswith("."), name
        assert "  " not in text, name
        assert 1 <= len(re.findall(r"\.(?= [A-Z*`]|$)", text)) <= 5, name
        assert re.search(r"\((.*, )?[A-Z]?[.\d]*\d|\.py\b|log viewer", text), name
        if {"paper", "script"} <= versions.get(name, set()):
            assert "*paper*" in text, name
            assert "*script*" in text, name
