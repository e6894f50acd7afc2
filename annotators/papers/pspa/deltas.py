"""Improvement of runs: PSPA-Bench's long-term metrics, later minus first and with minus without experience."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence

import msgspec

from annotators.papers.pspa.run_values import RunValues
from lab.core.measured_run import MeasuredRun

Changes = tuple[list[float], tuple[tuple[str, int], ...]]
"""Each pair's change, and the number of runs left out, by reason."""
MEMORY = "model+memory:"
"""Beginning of the id of an agent with memory. Without memory it begins with `model:`."""


def later_minus_first(runs: Sequence[RunValues], metric: str) -> Changes:
    """Return the last run's value minus the first's for each agent, task and person with at least two runs (Table 6).

    Runs are in the order of their attempts, and of their start within one. Runs without a value are left out, so first
    and last are among those that have one.
    """
    out: dict[str, int] = defaultdict(int)
    series: dict[Hashable, list[tuple[tuple[int, str, str], float]]] = defaultdict(list)
    for case, value in _known_values(runs, metric, out):
        key = (case.agent.kind, case.agent.identity, case.task.id, _person(case))
        series[key].append(((case.attempt, case.started, case.id), value))
    differences = []
    for one in series.values():
        if len(one) < 2:
            out["without another by the same agent for the same task and person"] += 1
        else:
            # Entries sort by attempt, start and id.
            differences.append(max(one)[1] - min(one)[1])
    return differences, tuple(out.items())


def with_minus_without(runs: Sequence[RunValues], metric: str) -> Changes:
    """Return the value with experience minus that without, for each agent, task and person with both (3.2).

    The task's trait `experience` states the side of a run (`with`, `without`), else its agent does: `model+memory:NAME`
    with, `model:NAME` without. Several runs of one side count by their mean. For an agent with memory the first attempt
    counts only if it is the only one, because it has nothing yet to remember.
    """
    out: dict[str, int] = defaultdict(int)
    sides: dict[Hashable, dict[bool, list[tuple[bool, float]]]] = defaultdict(lambda: {True: [], False: []})
    for case, value in _known_values(runs, metric, out):
        side = has_experience(case)
        if side is None:
            out["with nothing told of experience"] += 1
        else:
            sides[_agent(case), case.task.id, _person(case)][side].append((_is_first_with_memory(case), value))
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


def has_experience(case: MeasuredRun) -> bool | None:
    """Return True if a run was made with experience; None if unknown."""
    experience = case.task.traits.get("experience", "").strip().casefold()
    if experience in ("with", "without"):
        return experience == "with"
    if case.agent.id.startswith(MEMORY):
        return True
    return False if case.agent.id.startswith("model:") else None


def _is_first_with_memory(case: MeasuredRun) -> bool:
    return case.attempt == 1 and case.agent.id.startswith(MEMORY) and not case.task.traits.get("experience")


def _known_values(runs: Iterable[RunValues], metric: str, out: dict[str, int]) -> Iterable[tuple[MeasuredRun, float]]:
    for case, values in runs:
        value = values[metric]
        if isinstance(value, str):
            out[value] += 1
        else:
            yield case, value


def _agent(case: MeasuredRun) -> str:
    """Return the agent's identity, the same with and without memory."""
    agent = case.agent
    if agent.id.startswith(MEMORY):
        agent = msgspec.structs.replace(agent, id=f"model:{agent.id.removeprefix(MEMORY)}")
    return agent.identity


def _person(case: MeasuredRun) -> str:
    return case.persona.id if case.persona else case.task.persona


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
