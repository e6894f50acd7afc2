"""PSPA-Bench's numbers, each worked out by hand from the paper's definition (2.3, 3.2, E.1)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from annotators.papers.metrics import PaperNumber, context_of
from annotators.papers.pspa.metrics import measure
from lab.core.run.measured_run import MeasuredRun, MeasuredStep
from lab.core.run.step import Action, Usage
from lab.core.task.task import Actor, Persona, Task, Tdg, TdgNode

F = "flexible"


def node(id: str, kind: str = "fixed", requires: Sequence[str] = (), *paths: Sequence[TdgNode]) -> TdgNode:
    return TdgNode(id, id, "", kind, tuple(requires), tuple(map(tuple, paths)))  # type: ignore[arg-type]


def chain(*nodes: TdgNode) -> Tdg:
    return Tdg(nodes, tuple((a.id, b.id) for a, b in pairwise(nodes)))


GRAPH = chain(node("open"), node("way", F, (), [node("a", F)], [node("b"), node("c", F)]), node("end"))
TASK = Task("shop", "personalized", instruction="Buy it", tdg=GRAPH, traits={"complexity": "low"})
PLAIN = Task(
    "plain", "personalized", instruction="Do it", tdg=chain(node("x"), node("y")), traits={"complexity": "high"}
)
DOES = [
    MeasuredStep(Action("click", at=(10 * i, 0)), Action("click", at=(10 * i, 0)), size=(100, 100)) for i in range(4)
]


def run(id: str, task: Task = TASK, agent: str = "model:m", **told: Any) -> MeasuredRun:
    return MeasuredRun(id, task, Actor("model", agent), told.pop("acts", DOES), told.pop("status", "completed"), **told)


def numbers(*cases: MeasuredRun) -> dict[tuple[str, str], PaperNumber]:
    return {(one.metric, one.part): one for one in measure(cases, context_of(cases))}


ALL = {"open": 0, "a": 1, "b": None, "c": None, "end": 3}
"""open, a, end: 3 of 3, flexible 1 of 1."""
HALF = {"open": 0, "a": None, "b": 1, "c": None, "end": None}
"""open, b of open, b, c, end: 2 of 4 (path a has 1 of 3), flexible 0 of 1."""


def test_apr_and_ppr_are_means_over_runs() -> None:
    found = numbers(run("1", nodes=ALL), run("2", nodes=HALF), run("3"), run("4", PLAIN, nodes={"x": 0, "y": None}))
    apr, ppr = found["APR", ""], found["PPR", ""]
    assert apr.value == pytest.approx((3 / 3 + 2 / 4 + 1 / 2) / 3)
    assert (apr.n, apr.of, apr.left_out) == (3, "runs", (("not rated", 1),))
    assert ppr.value == (1 / 1 + 0 / 1) / 2
    assert dict(ppr.left_out) == {"not rated": 1, "without a flexible node on the path": 1}
    assert found["APR", "complexity low"].value == (3 / 3 + 2 / 4) / 2
    assert found["APR", "complexity high"].value == 1 / 2
    assert ("PPR", "complexity high") not in found


def test_the_papers_two_texts_on_dependencies_stand_side_by_side() -> None:
    """Path a: a1, then a2 which requires `login`; path b: b1. Nobody logged in.

    Algorithm 1 counts raw matches: a1 and a2 are 2, b1 is 1, so path a, 2 of 3 with `login`. Prompt 2 lets a2 fall
    first: 1 and 1, and b is shorter, so path b: `login`, b1, 1 of 2, its only flexible node completed.
    """
    way = node("way", "fixed", (), [node("a1"), node("a2", "flexible", ["login"])], [node("b1", "flexible")])
    task = Task("t", "personalized", instruction="x", tdg=chain(node("login"), way))
    found = numbers(run("1", task, nodes={"login": None, "a1": 1, "a2": 2, "b1": 3}))
    assert (found["APR", ""].value, found["PPR", ""].value) == (1 / 2, 1 / 1)
    assert (found["APR of raw matches", ""].value, found["PPR of raw matches", ""].value) == (2 / 3, 1 / 1)
    # by checklist `way` is an item on path b, completed by b1, and not flexible: 2 of 3, 1 of 1
    assert (found["APR by checklist", ""].value, found["PPR by checklist", ""].value) == (2 / 3, 1 / 1)


def test_a_node_that_nobody_rated_is_not_a_node_that_was_not_completed() -> None:
    found = numbers(run("1", nodes={"open": 0, "a": 1}), run("2", nodes={"open": 0, "b": 1, "c": 2, "end": 3}))
    assert found["APR", ""].value == 1
    assert found["APR", ""].left_out == (("with a node unrated that would count", 1),)


def test_a_node_that_nobody_rated_counts_where_it_could_change_the_path() -> None:
    """a of one path is not completed and b of the other unrated: 1 of 3 or 2 of 3, and nobody knows which."""
    way = chain(node("open"), node("way", "fixed", (), [node("a"), node("x")], [node("b"), node("y")]))
    task = Task("t", "personalized", instruction="x", tdg=way)
    unsure = run("1", task, nodes={"open": 0, "a": None, "x": None, "y": None})
    sure = run("2", task, nodes={"open": 0, "a": 1, "x": 2})
    found = numbers(unsure, sure)
    assert (found["APR", ""].value, found["APR", ""].n) == (1, 1)
    assert found["APR", ""].left_out == (("with a node unrated that would count", 1),)
    needs = chain(node("open"), node("way", "fixed", ["open"], [node("a")], [node("b")]))
    found = numbers(run("3", Task("t", "personalized", instruction="x", tdg=needs), nodes={"a": 1, "b": None}))
    assert (found["APR", ""].value, found["TCR by nodes", ""].value) == (None, None)


def test_waiting_that_nobody_told_or_that_is_more_than_all_is_no_number() -> None:
    found = numbers(
        run("1", seconds=60.0, waited=None), run("2", seconds=10.0, waited=20.0), run("3", seconds=9.0, waited=9.0)
    )
    assert found["CT", ""].value == pytest.approx((60 + 10 + 9) / 3)
    assert (found["CT without waiting", ""].value, found["CT without waiting", ""].n) == (0, 1)
    assert dict(found["CT without waiting", ""].left_out) == {
        "without the person's times": 1, "with more waiting than time": 1,
    }  # fmt: skip


def test_completion_time_with_and_without_the_persons_waiting() -> None:
    """(60 + 100) / 2 and ((60 - 20) + (100 - 0)) / 2."""
    found = numbers(
        run("1", seconds=60, waited=20), run("2", seconds=100, waited=0), run("3"), run("4", status="open", seconds=1)
    )
    assert found["CT", ""].value == 80
    assert found["CT without waiting", ""].value == 70
    assert dict(found["CT", ""].left_out) == {"without times": 1, "not ended": 1}


def test_cost_per_task_is_of_runs_with_a_known_price() -> None:
    """(0.02 + 0.04) / 2; one run tells none, one only that of one of its two calls."""
    tokens = [step._replace(usage=Usage(9, 1, cost=cost)) for step, cost in zip(DOES, (0.5, None), strict=False)]
    found = numbers(
        run("1", usage=Usage(cost=0.02)), run("2", usage=Usage(cost=0.04)), run("3", usage=Usage(9, 9)),
        run("4", usage=Usage(9, 1, cost=0.5), acts=tokens),
    )  # fmt: skip
    cpt = found["CPT", ""]
    assert cpt.value == pytest.approx(0.03)
    assert (cpt.n, cpt.unit) == (2, "usd")
    assert dict(cpt.left_out) == {"without a known price": 1, "with a price for a part only": 1}


def test_a_price_that_the_source_tells_of_the_whole_run_is_whole() -> None:
    """Of two calls one has a price, 0.5: where the source says 0.9 of both that counts, where it says nothing none."""
    tokens = [step._replace(usage=Usage(None, 1, cost=cost)) for step, cost in zip(DOES, (0.5, None), strict=False)]
    found = numbers(run("1", usage=Usage(9, 1, cost=0.9), acts=tokens), run("2", usage=Usage(cost=0.5), acts=tokens))
    assert (found["CPT", ""].value, found["CPT", ""].n) == (0.9, 1)
    assert found["CPT", ""].left_out == (("with a price for a part only", 1),)


def test_later_minus_first_goes_by_attempts_and_then_by_beginning() -> None:
    """m: attempts 1, 2, 3 take 90, 50, 30: 30 - 90. n: begun on the 1st and 2nd, 40 and 50: 50 - 40. Mean -25."""
    found = numbers(
        run("3", attempt=3, seconds=30.0), run("1", attempt=1, seconds=90.0), run("2", attempt=2, seconds=50.0),
        run("5", agent="n", started="2026-01-02", seconds=50.0),
        run("4", agent="n", started="2026-01-01", seconds=40.0),
        run("6", agent="alone", seconds=7.0),
    )  # fmt: skip
    change = found["ΔCT", "later minus first"]
    assert (change.value, change.n, change.of) == (((30 - 90) + (50 - 40)) / 2, 2, "pairs")
    assert change.left_out == (("without another by the same agent for the same task and person", 1),)


def test_later_minus_first_never_pairs_two_people_tasks_or_agents() -> None:
    found = numbers(
        run("1", seconds=1.0, persona=Persona("p", "P")), run("2", seconds=2.0, persona=Persona("q", "Q")),
        run("3", PLAIN, seconds=3.0), run("4", agent="n", seconds=4.0),
    )  # fmt: skip
    change = found["ΔCT", "later minus first"]
    assert (change.value, change.undefined) == (None, "no agent did a task for a person twice here")


def test_with_minus_without_is_the_mean_over_tasks_and_people() -> None:
    """3.2: p has 1 - 1/2, q (another person of the same task) 1/2 - 1; their mean is 0. For CT: (30-50 + 20-30) / 2."""
    with_it = "model+memory:m"
    found = numbers(
        run("1", agent=with_it, persona=Persona("p", "P"), nodes=ALL, seconds=30.0),
        run("2", persona=Persona("p", "P"), nodes=HALF, seconds=50.0),
        run("3", agent=with_it, persona=Persona("q", "Q"), nodes=HALF, seconds=20.0),
        run("4", persona=Persona("q", "Q"), nodes=ALL, seconds=30.0),
        run("5", agent="model:other", nodes=ALL, seconds=10.0), run("6", agent="rule", nodes=ALL, seconds=10.0),
    )  # fmt: skip
    name = "with minus without experience"
    assert (found["ΔAPR", name].value, found["ΔAPR", name].n) == (((1 - 1 / 2) + (1 / 2 - 1)) / 2, 2)
    assert found["ΔPPR", name].value == ((1 - 0) + (0 - 1)) / 2
    assert found["ΔCT", name].value == ((30 - 50) + (20 - 30)) / 2
    assert dict(found["ΔCT", name].left_out) == {
        "with no such run on the other side": 1, "with nothing told of experience": 1,
    }  # fmt: skip


def test_several_runs_of_a_side_count_by_their_mean_and_a_memory_has_nothing_at_first() -> None:
    """With: attempts 2 and 3, (40 + 20) / 2 = 30, not the first's 90; without: (50 + 70) / 2 = 60."""
    agent = "model+memory:m"
    found = numbers(
        *(run(f"w{n}", agent=agent, attempt=n, seconds=s) for n, s in ((1, 90.0), (2, 40.0), (3, 20.0))),
        run("a", seconds=50.0, attempt=1), run("b", seconds=70.0, attempt=2),
    )  # fmt: skip
    change = found["ΔCT", "with minus without experience"]
    assert (change.value, change.n) == (30 - 60, 1)
    assert change.left_out == (("before there was anything to remember", 1),)


def test_a_task_may_say_itself_what_is_with_experience() -> None:
    def told(experience: str) -> Task:
        return Task("shop", "personalized", instruction="Buy it", tdg=GRAPH, traits={"experience": experience})

    found = numbers(
        run("1", told("with"), "Reflexion", seconds=30.0), run("2", told("without"), "Reflexion", seconds=45.0)
    )
    assert found["ΔCT", "with minus without experience"].value == -15


def test_success_signal_and_both_completion_ratios() -> None:
    """Success 1 of 2. TCR: of 4 demonstrated taps the runs have 4 and 3. By nodes: of open, a, end 3 and 1."""
    gold = MeasuredRun("g", TASK, Actor("human", "h"), DOES, "completed", 1.0)
    some = [DOES[0], DOES[2]._replace(proposed=Action("wait")), DOES[2], DOES[3]]
    found = numbers(run("1", score=1.0, nodes=ALL), run("2", score=0.5, nodes=HALF, acts=some), gold, run("3", PLAIN))
    assert (found["Success Signal", ""].value, found["Success Signal", ""].n) == (1 / 2, 2)
    assert found["TCR", ""].value == (4 / 4 + 3 / 4) / 2
    assert found["TCR by nodes", ""].value == (3 / 3 + 1 / 3) / 2
    assert dict(found["TCR", ""].left_out) == {"demonstrated by a person": 1, "whose task nobody has demonstrated": 1}
    assert found["APR", ""].left_out == (("demonstrated by a person", 1), ("not rated", 1))


def test_nothing_is_undefined_without_a_reason_and_no_reason_comes_with_a_number() -> None:
    for cases in ([], [run("1")], [run("1", nodes=ALL, seconds=1.0)]):
        for one in measure(cases, context_of(cases)):
            assert (one.value is None) == bool(one.undefined)
            assert (one.value is None) == (one.n == 0)
