"""Examples for every method: each question that decides a sheet tells them, with what is right in its words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from annotators.protocols import protocol
from annotators.units.runs import nodes_of
from lab.core.study.label import Act
from lab.core.study.study import Target, Unit
from lab.core.task.task import Actor, Task, Tdg, TdgNode
from lab.core.values.ids_and_clock import now, uuid7
from store.store import Store
from tests.endpoint import Said, serving
from tests.judges import judged
from tests.lab.studies.test_judge_split import PERSON, of_task, run_id
from tests.screens.annotate.host import AGENT, FACT
from tests.studies import frozen, label

GRAPH = Tdg((TdgNode("open", "Open the dish"), TdgNode("pay", "Pay")), (("open", "pay"),))
PIECES = (Target("one", "The price in shop one", kind="explicit"),)


class Case(NamedTuple):
    """A protocol, what people say at each place of every unit, and the example's answer as its method gives it.

    `deciding` are words of each question that decides the sheet; of the others none has an example.
    """

    protocol: str
    says: dict[tuple[str, str], Any]
    right: str
    deciding: tuple[str, ...]
    unit: dict[str, Any] = {}


CASES = [
    Case(
        "tdg", {("open", "state"): "completed", ("pay", "state"): "not_completed"},
        '{"item":"pay","field":"state","value":"not_completed"}',
        ("For which item each step was effective",),
        {"targets": tuple(nodes_of(Task("lunch", "general", tdg=GRAPH))), "tdg": GRAPH},
    ),
    Case("success", {("", "outcome"): "failure"}, '{"decision":"failure"}',
         ('"uncertain"}', "required_steps", "You asked for the screens")),
    Case(
        "information-units", {("one", "use"): "wrong"},
        '{"answers":[{"item":"one","field":"use","value":"wrong"}]}', ("The last screens",),
        {"targets": PIECES},
    ),
    Case("failure-mode-memgui", {("", "primary"): "knowledge_deficiency"}, '{"primary":"knowledge_deficiency"}',
         ("The reasons",)),
]  # fmt: skip
ANSWER = {
    "steps": [{"step": step, "item": "", "reason": "r"} for step in range(1, 9)],
    "answers": [
        {"item": item, "field": field, "value": value, "reason": "r"}
        for item, field, value in (
            ("open", "state", "completed"), ("pay", "state", "completed"), ("one", "use", "correct"),
        )
    ],
    "decision": "uncertain", "required_steps": [1], "action_description": "It taps.", "ui_description": "A list.",
    "modes": [{"mode": mode, "applies": False, "reason": "r"} for mode in (
        "intent_misunderstanding", "knowledge_deficiency", "process_memory_hallucination",
        "output_memory_hallucination", "partial_memory_hallucination", "other",
    )],
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.protocol)
def test_questions_that_decide_tell_examples_in_the_words_of_the_method(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    units = [Unit(f"u{task}0", runs=(run_id(task, 0),), **case.unit) for task in range(4)]
    with Store.open(tmp_path / "lab.db") as store, serving(lambda request: Said(json.dumps(ANSWER))) as server:
        store.runs.add_all([of_task(task, 0) for task in range(4)])
        plan = frozen(store, units, protocol(case.protocol), raters=(PERSON, "R2"))
        for one in units:
            for rater in plan.raters:
                actor = Actor("human", rater)
                for (target, field), value in case.says.items():
                    said = label(plan, one, target, field, value, rater=actor, evidence=f"{one.runs[0]}@1")
                    store.labels.record(plan, one, said)
                store.labels.hand_in(plan, one, Act(uuid7(), plan.id, 1, actor, "commit", now(), one.id))
        judged(store, plan, server, examples=1, dev_share=0.5, most=3)
    for hidden in (PERSON, AGENT, FACT):
        assert all(hidden not in one.text for one in server.requests)
    parted = [one.text.rpartition("End of example 1") for one in server.requests]
    (example,) = {_meal(before) for before, end, _ in parted if end}
    for before, end, own in parted:
        decides = any(words in own for words in case.deciding)
        assert bool(end) == (decides and _meal(own) != example), own[-300:]
        if end:
            assert case.right in before.partition("What is right\n")[2].partition("\n")[0]
    for words in case.deciding:
        assert any(words in own for _, end, own in parted if end), words


def _meal(text: str) -> str:
    """Of which run a text tells: each has a number in its instruction."""
    return text.partition("Order meal number ")[2][:2]
