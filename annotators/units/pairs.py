"""Units that are two runs of one task, side by side. The agents are among the hidden texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import msgspec

from lab.core.errors import LabError
from lab.core.run.agent_names import shortest_names
from lab.core.run.measured_run import MeasuredRun
from lab.core.study.protocol import Protocol
from lab.core.study.study import Unit
from lab.core.task.design import subject_of
from lab.core.task.task import Actor


def pair_units(protocol: Protocol, cases: Sequence[MeasuredRun], pairs: Sequence[tuple[str, str]] = ()) -> list[Unit]:
    """Return the named pairs, else every two runs of one task by different agents, in the runs' order."""
    by_id = {case.id: case for case in cases}
    if pairs:
        return [_pair_unit(*(_run_named(protocol, by_id, id) for id in pair)) for pair in pairs]
    keys = [(subject_of(case.task), method_of(case)) for case in cases]
    return [
        _pair_unit(cases[a], cases[b])
        for a, b in combinations(range(len(cases)), 2)
        if keys[a][0] == keys[b][0] and keys[a][1] != keys[b][1]
    ]


def method_of(case: MeasuredRun) -> str:
    """Return a run's agent as designers distinguish it. Its text is the same in every study."""
    return _method(case).identity


def method_names(cases: Iterable[MeasuredRun]) -> dict[str, str]:
    """Return the shortest unambiguous name of each run's agent, by `method_of`."""
    return shortest_names(map(_method, cases))


def units_by_method(cases: Mapping[str, MeasuredRun]) -> dict[str, set[str]]:
    """Return the units of each agent's runs by its shortest name, sorted by name."""
    names, units = method_names(cases.values()), defaultdict[str, set[str]](set)
    for unit, case in cases.items():
        units[names[method_of(case)]].add(unit)
    return dict(sorted(units.items()))


def _method(case: MeasuredRun) -> Actor:
    """Return a run's agent, with the model name of its source if the agent itself has none."""
    model = case.source.model if case.source is not None else ""
    return case.agent if case.agent.model else msgspec.structs.replace(case.agent, model=model)


def _run_named(protocol: Protocol, by_id: dict[str, MeasuredRun], id: str) -> MeasuredRun:
    if id not in by_id:
        raise LabError(f"study by {protocol.id}", f"run {id} of a pair is not among the runs.")
    return by_id[id]


def _pair_unit(a: MeasuredRun, b: MeasuredRun) -> Unit:
    if a.id == b.id:
        raise LabError(f"run {a.id}", "is paired with itself.")
    if subject_of(a.task) != subject_of(b.task):
        raise LabError(f"run {b.id}", f"is of task {b.task.id}, and {a.id} of {a.task.id}; a pair is of one task.")
    return Unit(f"{a.id}+{b.id}", runs=(a.id, b.id), cluster=a.task.id, hidden={"A": method_of(a), "B": method_of(b)})
