"""The parts of a run that are labelled individually, from its task, without what is right there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from lab.core.design import SECTIONS, Design, Subject, subject_of
from lab.core.errors import LabError
from lab.core.measured_run import MeasuredRun
from lab.core.protocol import Protocol
from lab.core.study import Target
from lab.core.task import Task, TdgNode


def designed(task: Task, designs: Mapping[Subject, Design]) -> Task:
    """Return the task with the parts of its frozen design, if there is one, in place of its own."""
    design = designs.get(subject_of(task))
    if design is None:
        return task
    parts = {name: part for name in SECTIONS if _has_content(part := getattr(design, name))}
    return replace(task, **parts)


def _has_content(part: object) -> bool:
    return bool(getattr(part, "nodes", None) or getattr(part, "criteria", None) or (isinstance(part, tuple) and part))


def targets_of(protocol: Protocol, case: MeasuredRun, task: Task) -> tuple[Target, ...]:
    """Return the targets of a run. Raise `LabError`, with the run, if its task has none."""
    match protocol.targets:
        case "tdg nodes":
            targets, lacks = nodes_of(task), "graph"
        case "information units":
            targets, lacks = [*_information(task)], "information units"
        case "branches":
            targets, lacks = [*_branches(case, task)], "decision points"
        case "criteria":
            targets, lacks = [Target(one.id, one.ask, weight=one.weight) for one in task.rubric.criteria], "rubric"
        case "steps":
            return _steps(protocol, case)
        case _:
            return ()
    if not targets:
        one = "them" if lacks.endswith("s") else "one"
        raise LabError(f"run {case.id}", f"its task {task.id} has no {lacks}.", f"`hitlab tasks design` drafts {one}.")
    return tuple(targets)


def nodes_of(task: Task) -> list[Target]:
    """Return the nodes of a graph at which something is done.

    A node that only holds alternatives is replaced by theirs.
    """
    nodes = [*_nodes(task.tdg.nodes, "")]
    node_ids = {target.id for target in nodes}
    # Dependencies on nodes that only hold alternatives are dropped along with them.
    return [replace(one, requires=tuple(id for id in one.requires if id in node_ids)) for one in nodes]


def _nodes(nodes: tuple[TdgNode, ...], way: str) -> Iterator[Target]:
    for node in nodes:
        for place, path in enumerate(node.alternatives):
            letter = chr(ord("A") + place) if place < 26 else str(place + 1)
            yield from _nodes(path, f"{way}{node.name}, way {letter}: ")
        if not node.alternatives:
            yield Target(node.id, f"{way}{node.name}", node.description, node.kind, requires=node.requires)


def _information(task: Task) -> Iterator[Target]:
    for unit in task.units:
        texts = (unit.value, f"seen in {unit.source}" * bool(unit.source), f"used in {unit.used}" * bool(unit.used))
        detail = " · ".join(part for part in texts if part)
        yield Target(unit.id, unit.name, detail, "explicit" if unit.explicit else "implicit")


def _branches(case: MeasuredRun, task: Task) -> Iterator[Target]:
    for branch in task.branches:
        if len(branch.options) < 2:
            raise LabError(
                f"run {case.id}",
                f"decision point {branch.id!r} of its task {task.id} has fewer than two ways to choose from.",
                "`hitlab tasks design` adds them.",
            )
        yield Target(branch.id, branch.ask, kind=f"depth {branch.depth}", options=branch.options)


def _steps(protocol: Protocol, case: MeasuredRun) -> tuple[Target, ...]:
    if not case.steps:
        raise LabError(f"run {case.id}", "has no step.")
    with_thoughts = "thoughts" in protocol.shows
    return tuple(
        Target(f"step-{place + 1}", (step.instruction if with_thoughts else "") or f"Step {place + 1}", step=place)
        for place, step in enumerate(case.steps)
    )
