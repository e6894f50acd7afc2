"""What `hitlab metrics --explain` tells of PSPA-Bench's and DAC-Bench's numbers: all that can come, nothing else."""

from __future__ import annotations

import pytest

from annotators.papers.metrics import context_of, definitions, measures
from lab.core.run.measured_run import MeasuredRun, MeasuredStep
from lab.core.run.step import Action, Usage
from lab.core.task.task import Actor, Branch, Persona, Task, Tdg, TdgNode

TRAITS = {"complexity": "low", "level": "HL", "platform": "iOS", "language": "EN", "structure": "Sequential"}
TASK = Task(
    "t", "personalized", instruction="Do it", traits=TRAITS, branches=(Branch("b", "?", ("yes", "no"), 2, "yes"),),
    tdg=Tdg((TdgNode("a", "A"), TdgNode("b", "B", kind="flexible"))),
)  # fmt: skip
TAP = Action("click", at=(0, 0))


def run(id: str, who: Actor, attempt: int = 1) -> MeasuredRun:
    """A run of which everything is known."""
    return MeasuredRun(
        id, TASK, who, [MeasuredStep(TAP, TAP)] * 3, "completed", 1.0, persona=Persona("p", "P"), attempt=attempt,
        seconds=9.0, waited=1.0, usage=Usage(9, 9, cost=0.1), nodes={"a": 0, "b": 1}, branches={"b": "yes"},
    )  # fmt: skip


RICH = [
    run("g", Actor("human", "h")),
    *(run(f"m{n}", Actor("model", "model:m"), n) for n in (1, 2)),
    *(run(f"w{n}", Actor("model", "model+memory:m"), n) for n in (1, 2)),
]
PART = [case._replace(nodes=None, usage=None, task=Task("u", "general", instruction="x")) for case in RICH[1:3]]


@pytest.mark.parametrize("paper", ["pspa", "dac"])
def test_every_number_that_can_come_is_defined_and_nothing_else_is(paper: str) -> None:
    texts = definitions([paper])[paper]
    measure = measures([paper])[paper]
    for cases in (RICH, PART, [], RICH[:1]):
        assert {number.metric for number in measure(cases, context_of(cases))} == set(texts)
    never = {number.metric for number in measure(RICH, context_of(RICH)) if number.value is None}
    assert never == {name for name, text in texts.items() if "Never given" in text}


@pytest.mark.parametrize("paper", ["pspa", "dac"])
def test_definitions_are_a_few_whole_sentences(paper: str) -> None:
    for name, text in definitions([paper])[paper].items():
        assert text[0].isupper() or text[0] == "Δ" or text.startswith(name), name
        assert text.endswith("."), name
        assert "  " not in text, name
        assert 1 <= text.count(". ") + 1 <= 6, name
