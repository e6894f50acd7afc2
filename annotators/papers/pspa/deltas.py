"""How much better runs get: PSPA-Bench's long-term metrics, later minus first and with minus without experience."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence

import msgspec

from annotators.papers.pspa.run_values import RunValues
from lab.core.measured_run import MeasuredRun

Changes = tuple[list[float], tuple[tuple[str, int], ...]]
"""Each pair's change, and how many runs were left out, by reason."""
MEMORY = "model+memory:"
"""How the id of an agent begins that keeps what it learned; the same without it is `model:`."""


def later_minus_first(runs: Sequence[RunValues], metric: str) -> Changes:
    """The last run's value minus the first's for each agent, task and person with two runs or more (Table 6).

    Runs stand in the order of their attempts, and of their beginnings within one. Those without a value are not in it,
    so first and last are of those that have one.
    """
    out: dict[str, int] = defaultdict(int)
    series: dict[Hashable, list[tuple[tuple[int, str, str], float]]] = defaultdict(list)
    for case, value in _known(runs, metric, out):
        key = (case.agent.kind, case.agent.identity, case.task.id, _person(case))
        series[key].append(((case.attempt, case.started, case.id), value))
    differences = []
    for one in series.values():
        if len(one) < 2:
            out["without another by the same agent for the same task and person"] += 1
        else:
            differences.append(max(one)[1] - min(one)[1])
    return differences, tuple(out.items())


def with_minus_without(runs: Sequence[RunValues], metric: str) -> Changes:
    """The value with experience minus that without, for each task and person of an agent that has both (3.2).

    The trait `experience` of a task says which a run is (`with`, `without`), else its agent does: `model+memory:NAME`
    with, `model:NAME` without. Several runs of one side count by their mean; of an agent with memory only those after
    its first attempt do where there are any, since in the first it has nothing yet to remember.
    """
    out: dict[str, int] = defaultdict(int)
    sides: dict[Hashable, dict[bool, list[tuple[bool, float]]]] = defaultdict(lambda: {True: [], False: []})
    for case, value in _known(runs, metric, out):
        side = experienced(case)
        if side is None:
            out["with nothing told of experience"] += 1
        else:
            sides[_agent(case), case.task.id, _person(case)][side].append((_beginner(case), value))
    differences = []
    for one in sides.values():
        if one[True] and one[False]:
            later_values = [value for beginner, value in one[True] if not beginner] or [value for _, value in one[True]]
            if len(later_values) < len(one[True]):
                out["before there was anything to remember"] += len(one[True]) - len(later_values)
            differences.append(_mean(later_values) - _mean([value for _, value in one[False]]))
        else:
            out["with no such run on the other side"] += len(one[True]) + len(one[False])
    return differences, tuple(out.items())


def experienced(case: MeasuredRun) -> bool | None:
    """Whether a run was made with experience; None where nothing tells."""
    experience = case.task.traits.get("experience", "").strip().casefold()
    if experience in ("with", "without"):
        return experience == "with"
    if case.agent.id.startswith(MEMORY):
        return True
    return False if case.agent.id.startswith("model:") else None


def _beginner(case: MeasuredRun) -> bool:
    return case.attempt == 1 and case.agent.id.startswith(MEMORY) and not case.task.traits.get("experience")


def _known(runs: Iterable[RunValues], metric: str, out: dict[str, int]) -> Iterable[tuple[MeasuredRun, float]]:
    for case, values in runs:
        value = values[metric]
        if isinstance(value, str):
            out[value] += 1
        else:
            yield case, value


def _agent(case: MeasuredRun) -> str:
    """The agent with and without its memory as one."""
    agent = case.agent
    if agent.id.startswith(MEMORY):
        agent = msgspec.structs.replace(agent, id=f"model:{agent.id.removeprefix(MEMORY)}")
    return agent.identity


def _person(case: MeasuredRun) -> str:
    return case.persona.id if case.persona else case.task.persona


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
